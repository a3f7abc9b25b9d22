# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What all verbs have in common: checks of their options, `-h`, errors of usage in one line."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import typer
from typer.core import TyperCommand

#: Base of all errors of usage: typer has click inside, or imports it, by its version.
UsageError: type[Any] = typer.BadParameter.__mro__[1]
SEPARATOR = "\x1f"  # of the words of one option; ASCII has a character for that
HELP = {"help_option_names": ["-h", "--help"]}


class Command(TyperCommand):
    """A verb that refuses numbers which are not finite, and an option that is given twice."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words after the verb.

        Raises:
            typer.BadParameter: A number is not finite, or an option is given twice.
        """
        words = self._joined(args)
        rest: list[str] = super().parse_args(ctx, list(words))
        if not ctx.resilient_parsing:
            self._refuse_repeated(ctx, words)
            for param in self._params:
                for number in _numbers(ctx.params.get(param.name)):
                    if not math.isfinite(number):
                        text = f"expected a finite number, got {number}"
                        raise typer.BadParameter(text, ctx=ctx, param=param)
        return rest

    @property
    def _params(self) -> Iterable[Any]:
        return self.params

    def _joined(self, args: list[str]) -> list[str]:
        """Join the words of an option that may be repeated and takes several, as typer has none.

        Such an option is a list of texts with several words in its metavar; see `words_of`.
        """
        counts = {
            option: len(param.metavar.split())
            for param in self._params
            if param.param_type_name == "option"
            and param.multiple
            and " " in (param.metavar or "")
            for option in param.opts
        }
        joined: list[str] = []
        rest = iter(args)
        for word in rest:
            joined.append(word)
            if word == "--":
                break
            if word in counts:
                joined.append(SEPARATOR.join(islice(rest, counts[word])))
        return [*joined, *rest]

    def _refuse_repeated(self, ctx: Any, words: list[str]) -> None:
        """Refuse an option with one value that is given twice: only the last would count."""
        order: Sequence[Any] = self.make_parser(ctx).parse_args(args=words)[2]
        for param, count in Counter(order).items():
            single = param.param_type_name == "option" and not param.multiple
            switch = param.is_flag and not param.secondary_opts if single else True
            if count > 1 and not switch:
                raise typer.BadParameter("given twice; it takes one value", ctx=ctx, param=param)


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, float):
        yield value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _numbers(each)


class App(typer.Typer):
    """A group of verbs, whose help shows units such as [m] as they are."""

    def __init__(self, **settings: Any) -> None:
        """Take the settings of `typer.Typer`."""
        usual = {"no_args_is_help": True, "rich_markup_mode": None, "context_settings": HELP}
        super().__init__(**{**usual, **settings})

    def command(self, name: str | None = None, **settings: Any) -> Callable[..., Any]:
        """Return what adds a function as a verb."""
        return super().command(name, **{"cls": Command, **settings})


def words_of(option: str) -> list[str]:
    """Return the words of one use of an option that takes several and may be repeated."""
    return option.split(SEPARATOR)


def wrong(option: str, text: str) -> Exception:
    """Return an error of usage about an option or argument."""
    return typer.BadParameter(text, param_hint=f"'{option}'")


def usage_line(error: Any) -> str:
    """Return an error of usage as one line: the verb, the option, what is expected."""
    text = " ".join(error.format_message().split()).removeprefix("Invalid value: ")
    verb = error.ctx.command_path if getattr(error, "ctx", None) else "mvsim"
    return f"error: {text[:1].lower()}{text[1:]} ({verb} -h lists the options)"
