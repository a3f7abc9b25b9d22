# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The formulas inside `$f{...}`: numbers in, one number out, nothing else reachable.

A grammar of its own, not Python's: the files are written for ExprTk, where `^` is a power, `=`
compares, `if(c, a, b)` is a function that evaluates only one branch, names ignore case and
`2x` multiplies. All values are floats in full precision; conditions are 1 and 0.

Precedence, weakest first: `?:`, or / xor / nor, and / nand, comparisons, `+ -`, `* / %`,
signs, `^`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

from mvsim_core.errors import suggestion
from mvsim_core.xmlfile.formula_functions import (
    ADD,
    AND,
    COMPARE,
    CONSTANTS,
    FUNCTIONS,
    MULTIPLY,
    OR,
    WORDS,
    Function,
    Operator,
    Operators,
    power,
    random_functions,
)

MAX_LENGTH = 10_000
MAX_DEPTH = 30
#: Formulas kept after parsing, and the longest of them.
MAX_KEPT = 1000
MAX_KEPT_LENGTH = 200

Lookup = Callable[[str], float | None]
Thunk = Callable[[], float]

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_.]*)"
    r"|(?P<sign><=|>=|==|!=|<>|&&|\|\||[-+*/%^()\[\],?:<>=&|!]))"
)


class ExpressionError(Exception):
    """The formula is wrong; the text says how."""


class _Token(NamedTuple):
    kind: str
    text: str


class Formulas:
    """Evaluates formulas; what was parsed once is kept, since loops evaluate the same again."""

    def __init__(self, random: Random) -> None:
        """Use `random` for rand, randn and unifrnd; randomize gives it a new seed."""
        self._functions = {**FUNCTIONS, **random_functions(random)}
        self._parsed: dict[str, _Formula] = {}

    def evaluate(self, text: str, lookup: Lookup) -> float:
        """Return the value of a formula, or raise ExpressionError.

        `lookup` returns the value of a variable, or None; variables go before constants and
        functions.
        """
        if len(text) > MAX_LENGTH:
            raise ExpressionError(f"a formula may have at most {MAX_LENGTH} characters")
        formula = self._parsed.get(text)
        if formula is None or not formula.renew(lookup):
            formula = self._parse(text, lookup)
        try:
            value = formula.value()
        except ZeroDivisionError:
            raise ExpressionError("division by zero") from None
        except OverflowError:
            raise ExpressionError("the result is too large") from None
        except ValueError:
            raise ExpressionError("a function is called outside its domain") from None
        if not math.isfinite(value):
            raise ExpressionError(f"the result is {value}, not a finite number")
        return value

    def _parse(self, text: str, lookup: Lookup) -> _Formula:
        parser = _Parser(_tokens(text), lookup, self._functions)
        formula = _Formula(parser.whole(), parser.asked, parser.found)
        if len(text) <= MAX_KEPT_LENGTH:
            if len(self._parsed) >= MAX_KEPT:
                self._parsed.clear()
            self._parsed[text] = formula
        return formula


@dataclass(slots=True)
class _Formula:
    """A parsed formula: what it asks `lookup` for, in order, and what it found."""

    value: Thunk
    asked: list[str]
    found: list[float | None]

    def renew(self, lookup: Lookup) -> bool:
        """Ask anew; return False if other names than before are variables, so it reads anew."""
        for i, name in enumerate(self.asked):
            found = lookup(name)
            if (found is None) != (self.found[i] is None):
                return False
            self.found[i] = found
        return True


def _tokens(text: str) -> list[_Token]:
    tokens = []
    position = 0
    end = len(text.rstrip())
    while position < end:
        found = _TOKEN.match(text, position)
        if found is None or found.lastgroup is None:
            raise ExpressionError(f"unexpected {text[position:end].strip()[:20]!r}")
        tokens.append(_Token(found.lastgroup, found.group(found.lastgroup)))
        position = found.end()
    tokens.append(_Token("end", ""))
    return tokens


class _Parser:
    """Recursive descent; every method returns a thunk, so that `if` can skip a branch."""

    def __init__(
        self, tokens: list[_Token], lookup: Lookup, functions: Mapping[str, Function]
    ) -> None:
        self.tokens = tokens
        self.position = 0
        self.depth = 0
        self.lookup = lookup
        self.functions = functions
        self.asked: list[str] = []
        self.found: list[float | None] = []

    def whole(self) -> Thunk:
        if self.tokens[0].kind == "end":
            raise ExpressionError("the formula is empty")
        value = self.ternary()
        if self.tokens[self.position].kind != "end":
            raise ExpressionError(f"unexpected {self.tokens[self.position].text!r}")
        return value

    def take(self, *texts: str) -> str:
        """Return the next token's text and go on if it is one of `texts`, else ""."""
        token = self.tokens[self.position]
        text = token.text.lower()
        if token.kind in ("sign", "name") and text in texts:
            self.position += 1
            return text
        return ""

    def expect(self, text: str) -> None:
        if not self.take(text):
            got = self.tokens[self.position].text or "the end"
            raise ExpressionError(f"expected {text!r}, got {got!r}")

    def deeper(self, part: Callable[[], Thunk]) -> Thunk:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ExpressionError(f"nested deeper than {MAX_DEPTH} levels")
        value = part()
        self.depth -= 1
        return value

    def ternary(self) -> Thunk:
        value = self.deeper(self.disjunction)
        if self.take("?"):
            yes = self.deeper(self.ternary)
            self.expect(":")
            value = _choice(value, yes, self.deeper(self.ternary))
        return value

    def disjunction(self) -> Thunk:
        return self.chain(self.conjunction, OR)

    def conjunction(self) -> Thunk:
        return self.chain(self.comparison, AND)

    def comparison(self) -> Thunk:
        return self.chain(self.sum, COMPARE)

    def sum(self) -> Thunk:
        return self.chain(self.product, ADD)

    def product(self) -> Thunk:
        first = self.signed()
        rest: list[tuple[Operator, Thunk]] = []
        while True:
            operator = self.take(*MULTIPLY)
            if not operator and not self.starts_operand():
                return _joined(first, rest) if rest else first
            # Without an operator: 2x, 2(a + b), (a)(b)
            rest.append((MULTIPLY[operator or "*"], self.signed()))

    def chain(self, operand: Callable[[], Thunk], operators: Operators) -> Thunk:
        """Return operands joined by operators of equal rank, from left to right."""
        first = operand()
        rest = []
        while operator := self.take(*operators):
            rest.append((operators[operator], operand()))
        return _joined(first, rest) if rest else first

    def starts_operand(self) -> bool:
        token = self.tokens[self.position]
        if token.kind == "name":
            return token.text.lower() not in WORDS
        return token.kind == "number" or token.text in ("(", "[")

    def signed(self) -> Thunk:
        negative = False
        while sign := self.take("-", "+"):
            negative ^= sign == "-"
        value = self.power()
        return (lambda: -value()) if negative else value

    def power(self) -> Thunk:
        base = self.operand()
        if self.take("^"):
            return _joined(base, [(power, self.deeper(self.signed))])
        return base

    def operand(self) -> Thunk:
        token = self.tokens[self.position]
        self.position += 1
        if token.kind == "number":
            number = float(token.text)
            return lambda: number
        if token.kind == "name":
            return self.named(token.text)
        for opening, closing in (("(", ")"), ("[", "]")):
            if token.text == opening:
                value = self.ternary()
                self.expect(closing)
                return value
        if token.text == "!":
            return _negation(self.deeper(self.operand))
        raise ExpressionError(f"unexpected {token.text!r}" if token.text else "it ends too early")

    def named(self, name: str) -> Thunk:
        value = self.lookup(name)
        self.asked.append(name)
        self.found.append(value)
        if value is not None:
            return _variable(self.found, len(self.found) - 1)
        key = name.lower()
        if key == "not":
            return _negation(self.deeper(self.operand))
        if key in CONSTANTS:
            return _constant(CONSTANTS[key])
        if key == "if" or key in self.functions:
            return self.call(key)
        known = (*self.functions, *CONSTANTS, "if", "not")
        raise ExpressionError(f"unknown name {name!r}{suggestion(key, known)}")

    def call(self, key: str) -> Thunk:
        self.expect("(")
        arguments = []
        if not self.take(")"):
            arguments.append(self.ternary())
            while self.take(","):
                arguments.append(self.ternary())
            self.expect(")")
        if key == "if":
            _count("if", len(arguments), 3, 3)
            return _choice(*arguments)
        least, most, function = self.functions[key]
        _count(key, len(arguments), least, most)
        return lambda: float(function(*(argument() for argument in arguments)))


def _count(name: str, got: int, least: int, most: int) -> None:
    if not least <= got <= most:
        wanted = f"{least}" if least == most else f"at least {least}"
        raise ExpressionError(f"{name}() takes {wanted} argument(s), got {got}")


def _constant(value: float) -> Thunk:
    return lambda: value


def _variable(found: list[Any], index: int) -> Thunk:
    return lambda: found[index]


def _choice(condition: Thunk, yes: Thunk, no: Thunk) -> Thunk:
    return lambda: yes() if condition() != 0.0 else no()


def _negation(value: Thunk) -> Thunk:
    return lambda: float(value() == 0.0)


def _joined(first: Thunk, rest: list[tuple[Operator, Thunk]]) -> Thunk:
    def value() -> float:
        result = first()
        for operator, operand in rest:
            result = operator(result, operand())
        return result

    return value
