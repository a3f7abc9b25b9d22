# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Mutations of world files that know their structure: elements, attributes, numbers, names."""

import random
import re
from collections.abc import Sequence

from tests.unit.xmlfile.test_fuzz import KINDS, TAGS

#: An opening or closing tag, or an empty element.
TAG = re.compile(r"<(/?)([A-Za-z_][\w:.-]*)([^<>]*?)(/?)>")
NUMBER = re.compile(r"(?<![\w.#])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])")
VALUE = re.compile(r"\"[^\"<>]*\"|>[^<>]+<")
CLASS = re.compile(r"\b(?:class|type)=\"([^\"<>]*)\"")
NUMBERS = (
    *("0", "-1", "1", "2", "0.5", "1e-3", "1e-9", "1e-300", "1e3", "1e5", "1e6", "1e9", "1e15"),
    *("1e300", "-1e30", "1e999", "nan", "inf", "-0.0", "2147483648", "9" * 40, "0x10", "1,5"),
)
WORDS = (
    *("", " ", "true", "maybe", "0 0 0", "1 2 3 4 5 6", "#ff0000", "[1 2;3 4]", "nan nan nan"),
    *("${N}", "${N|1}", "$f{rand()}", "$f{1/0}", "$f{9^9^9}", "${", "$f{1+}", "%s", "\x01"),
    *("none.png", "map.png", "test.world.xml", "http://localhost:1/x.dae", "package://a/b"),
    *("a" * 300, "../x", "\N{SNOWMAN}", "&amp;", "&x;", "<", "]]>", "<!--"),
)
#: What only the reader of texts from clients may get: they would reach files of the user.
HOSTILE = (
    *("$env{MVSIM_FUZZ_SECRET}", "${MVSIM_FUZZ_SECRET}", "$(echo $MVSIM_FUZZ_SECRET)", "/", "~"),
    *("$(touch written_by_a_command)", "/etc/passwd", "/proc/self/environ", "/proc/kmsg"),
    *("file:///etc/hostname", "../../../../etc/passwd", "secret.txt", "../secret/secret.txt"),
    *("/dev/zero", "/dev/random", "/tmp/written_by_a_world"),
)


class Mutator:
    """Changes texts of worlds; the same seed gives the same changes.

    Args:
        seed: Of the choices.
        texts: Worlds from which elements are taken.
        words: Values that are put in.
    """

    def __init__(self, seed: int, texts: Sequence[str], words: Sequence[str] = WORDS) -> None:
        self.random = random.Random(seed)
        self._texts = list(texts)
        self._words = words
        self._changes = (
            *([self.number] * 6 + [self.scale] * 6 + [self.value] * 3 + [self.kind] * 3),
            *(self.remove, self.repeat, self.splice, self.splice, self.loop, self.add, self.add),
            *(self.truncate, self.byte),
        )

    def world(self) -> str:
        """Return a world with one to six changes."""
        text = self.random.choice(self._texts)
        for _ in range(self.random.choice((1, 1, 1, 2, 3, 6))):
            text = self.random.choice(self._changes)(text)
        return text

    def word(self) -> str:
        """Return a value of any kind."""
        return self.random.choice((*self._words, *NUMBERS))

    def number(self, text: str) -> str:
        """Replace a number by one that is extreme."""
        return self._replace(NUMBER, text, lambda found: self.random.choice(NUMBERS))

    def scale(self, text: str) -> str:
        """Multiply a number by a factor."""
        factor = self.random.choice((-1.0, 0.1, 0.5, 0.9, 1.1, 2.0, 10.0, 100.0))
        return self._replace(NUMBER, text, lambda found: f"{float(found) * factor:g}")

    def value(self, text: str) -> str:
        """Replace the content of an attribute or of an element."""
        return self._replace(VALUE, text, lambda found: found[0] + self.word() + found[-1])

    def kind(self, text: str) -> str:
        """Replace a class."""
        return self._replace(CLASS, text, lambda found: f'class="{self.random.choice(KINDS)}"')

    def remove(self, text: str) -> str:
        """Take an element out."""
        begin, end = self._element(text)
        return text[:begin] + text[end:]

    def repeat(self, text: str) -> str:
        """Repeat an element some times."""
        begin, end = self._element(text)
        times = self.random.choice((1, 1, 2, 20)) if end - begin < 3000 else 1
        return text[:end] + text[begin:end] * times + text[end:]

    def splice(self, text: str) -> str:
        """Put an element of another world in."""
        other = self.random.choice(self._texts)
        begin, end = self._element(other)
        place = self._element(text)[1]
        return text[:place] + other[begin:end] + text[place:]

    def loop(self, text: str) -> str:
        """Repeat an element by a loop."""
        begin, end = self._element(text)
        top = self.random.choice(("1", "3", "30", "1000", "1e18", "-1", "nan"))
        inside = f'<for var="i" from="1" to="{top}">{text[begin:end]}</for>'
        return text[:begin] + inside + text[end:]

    def add(self, text: str) -> str:
        """Put an element with a known name in."""
        place = self._element(text)[1]
        tag = self.random.choice(TAGS)
        attribute = f' {self.random.choice(TAGS)}="{self.word()}"' if self._often() else ""
        return f"{text[:place]}<{tag}{attribute}>{self.word()}</{tag}>{text[place:]}"

    def truncate(self, text: str) -> str:
        """Cut the end off."""
        return text[: self.random.randrange(len(text) + 1)]

    def byte(self, text: str) -> str:
        """Overwrite a character."""
        place = self.random.randrange(len(text) + 1)
        return text[:place] + self.random.choice("<>/=\"'&$}{ \x00\ufffe") + text[place + 1 :]

    def _often(self) -> bool:
        return self.random.random() < 0.3

    def _replace(self, pattern: re.Pattern[str], text: str, change: object) -> str:
        places = list(pattern.finditer(text))
        if not places or not callable(change):
            return text
        found = self.random.choice(places)
        return text[: found.start()] + str(change(found.group())) + text[found.end() :]

    def _element(self, text: str) -> tuple[int, int]:
        """Return begin and end of an element; the top one is not chosen."""
        spans: list[tuple[int, int]] = []
        waiting: list[tuple[str, int]] = []
        for found in TAG.finditer(text):
            closing, name, _, empty = found.groups()
            if empty:
                spans.append(found.span())
            elif not closing:
                waiting.append((name, found.start()))
            elif waiting and waiting[-1][0] == name and len(waiting) > 1:
                spans.append((waiting.pop()[1], found.end()))
        return self.random.choice(spans) if spans else (len(text), len(text))
