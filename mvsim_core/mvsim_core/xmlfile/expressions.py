# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Formulas in `$f{...}`: a parser and evaluator for arithmetic on numbers, and nothing else.

The grammar is that of ExprTk, which the original uses, not Python's: `^` is a power, `=` compares,
`if(c, a, b)` is a function that evaluates only one branch, names ignore case and `2x` multiplies.
All values are floats in full precision; conditions are 1 and 0.

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
from mvsim_core.xmlfile.budget import CHARACTER, FORMULA, PARSED_CHARACTER, Budget

MAX_LENGTH = 10_000
MAX_DEPTH = 30
#: Formulas kept after parsing, and the length of the longest of them.
MAX_KEPT = 1000
MAX_KEPT_LENGTH = 2000

Lookup = Callable[[str], float | None]
Thunk = Callable[[], float]
Operator = Callable[[float, float], float]
Operators = dict[str, Operator]


class Function(NamedTuple):
    """A function and the least and greatest number of its arguments."""

    least: int
    most: int
    call: Callable[..., float]


def power(base: float, exponent: float) -> float:
    """Return base^exponent; ValueError if that is not a real number."""
    value: float | complex = base**exponent
    if isinstance(value, complex):
        raise ValueError
    return value


def _root(value: float, degree: float) -> float:
    return power(value, 1.0 / degree)


def _round(value: float) -> float:
    # C rounds halves away from zero, Python rounds them to even.
    return math.copysign(math.floor(abs(value) + 0.5), value)


def _roundn(value: float, digits: float) -> float:
    scale = 10.0 ** math.trunc(digits)
    return _round(value * scale) / scale


def _clamp(low: float, value: float, high: float) -> float:
    return min(max(low, value), high)


def _mean(*values: float) -> float:
    return math.fsum(values) / len(values)


def _sign(value: float) -> float:
    return float((value > 0) - (value < 0))


def _sinc(value: float) -> float:
    return math.sin(value) / value if value else 1.0


def _normal_cdf(value: float) -> float:
    return 0.5 * math.erfc(-value / math.sqrt(2.0))


def random_functions(random: Random) -> dict[str, Function]:
    """Return the functions that draw from, or reseed, a generator."""

    def randomize(seed: float) -> float:
        random.seed(int(seed))
        return 0.0

    return {
        "rand": Function(0, 0, random.random),
        "randn": Function(0, 0, lambda: random.gauss(0.0, 1.0)),
        "unifrnd": Function(2, 2, lambda low, high: low + (high - low) * random.random()),
        "randomize": Function(1, 1, randomize),
    }


# Operators, constants and functions have ExprTk's names. They raise the exceptions of Python's
# math module (ValueError outside a domain, ZeroDivisionError, OverflowError).
OR: Operators = {
    "or": lambda a, b: float(a != 0 or b != 0),
    "||": lambda a, b: float(a != 0 or b != 0),
    "|": lambda a, b: float(a != 0 or b != 0),
    "xor": lambda a, b: float((a != 0) != (b != 0)),
    "nor": lambda a, b: float(a == 0 and b == 0),
    "xnor": lambda a, b: float((a != 0) == (b != 0)),
}
AND: Operators = {
    "and": lambda a, b: float(a != 0 and b != 0),
    "&&": lambda a, b: float(a != 0 and b != 0),
    "&": lambda a, b: float(a != 0 and b != 0),
    "nand": lambda a, b: float(a == 0 or b == 0),
}
COMPARE: Operators = {
    "<": lambda a, b: float(a < b),
    "<=": lambda a, b: float(a <= b),
    ">": lambda a, b: float(a > b),
    ">=": lambda a, b: float(a >= b),
    "=": lambda a, b: float(a == b),
    "==": lambda a, b: float(a == b),
    "!=": lambda a, b: float(a != b),
    "<>": lambda a, b: float(a != b),
}
ADD: Operators = {"+": lambda a, b: a + b, "-": lambda a, b: a - b}
MULTIPLY: Operators = {
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "%": math.fmod,
}
WORDS = frozenset((*OR, *AND))

CONSTANTS = {
    "pi": math.pi,
    "m_pi": math.pi,
    "m_e": math.e,
    "epsilon": 1e-10,  # ExprTk's tolerance for doubles
    "inf": math.inf,
    "true": 1.0,
    "false": 0.0,
}

_MANY = 1000
FUNCTIONS: dict[str, Function] = {
    **{
        name: Function(1, 1, getattr(math, name))
        for name in (
            *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "sin", "sinh"),
            *("tan", "tanh", "exp", "expm1", "log10", "log1p", "log2", "sqrt", "erf", "erfc"),
            *("trunc", "ceil", "floor"),
        )
    },
    "abs": Function(1, 1, abs),
    "atan2": Function(2, 2, math.atan2),
    "avg": Function(1, _MANY, _mean),
    "clamp": Function(3, 3, _clamp),
    "cot": Function(1, 1, lambda x: 1.0 / math.tan(x)),
    "csc": Function(1, 1, lambda x: 1.0 / math.sin(x)),
    "deg2grad": Function(1, 1, lambda x: x / 0.9),
    "deg2rad": Function(1, 1, math.radians),
    "equal": Function(2, 2, lambda a, b: float(math.isclose(a, b, rel_tol=1e-10))),
    "frac": Function(1, 1, lambda x: math.fmod(x, 1.0)),
    "grad2deg": Function(1, 1, lambda x: x * 0.9),
    "hypot": Function(2, 2, math.hypot),
    "iclamp": Function(
        3,
        3,
        lambda low, x, high: x if not low < x < high else (low if x - low < high - x else high),
    ),
    "inrange": Function(3, 3, lambda low, x, high: float(low <= x <= high)),
    "int": Function(1, 1, math.trunc),
    "log": Function(1, 1, math.log),
    "logn": Function(2, 2, math.log),
    "max": Function(1, _MANY, lambda *values: max(values)),
    "mean": Function(1, _MANY, _mean),
    "min": Function(1, _MANY, lambda *values: min(values)),
    "mod": Function(2, 2, math.fmod),
    "mul": Function(1, _MANY, lambda *values: math.prod(values)),
    "ncdf": Function(1, 1, _normal_cdf),
    "not_equal": Function(2, 2, lambda a, b: float(not math.isclose(a, b, rel_tol=1e-10))),
    "pow": Function(2, 2, power),
    "rad2deg": Function(1, 1, math.degrees),
    "root": Function(2, 2, _root),
    "round": Function(1, 1, _round),
    "roundn": Function(2, 2, _roundn),
    "sec": Function(1, 1, lambda x: 1.0 / math.cos(x)),
    "sgn": Function(1, 1, _sign),
    "sinc": Function(1, 1, _sinc),
    "sum": Function(1, _MANY, lambda *values: math.fsum(values)),
}

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_.]*)"
    r"|(?P<sign><=|>=|==|!=|<>|&&|\|\||[-+*/%^()\[\],?:<>=&|!]))"
)


class ExpressionError(Exception):
    """The formula is wrong; the message has the reason."""


class _Token(NamedTuple):
    kind: str
    text: str


class Formulas:
    """Evaluates formulas and keeps them parsed, since loops evaluate the same ones again."""

    def __init__(self, random: Random, budget: Budget | None = None) -> None:
        """Use `random` for rand, randn and unifrnd; randomize sets its seed.

        Work is counted in `budget`; None: in one of its own.
        """
        self._budget = budget or Budget()
        self._functions = {**FUNCTIONS, **random_functions(random)}
        self._parsed: dict[str, _Formula] = {}

    def evaluate(self, text: str, lookup: Lookup) -> float:
        """Return the value of a formula, or raise ExpressionError or BudgetError.

        `lookup` returns the value of a variable, or None; variables hide constants and
        functions of the same name.
        """
        if len(text) > MAX_LENGTH:
            raise ExpressionError(f"a formula may have at most {MAX_LENGTH} characters")
        self._budget.spend(FORMULA + CHARACTER * len(text))
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

    def column(
        self, text: str, is_turning: Callable[[str], bool], turns: range
    ) -> list[float] | None:
        """Return the values of a formula in turns of a loop; None: evaluate it turn by turn.

        The formula was evaluated in a turn before, and no other variable has changed since.

        Args:
            text: The formula.
            is_turning: Returns whether a name is that of the loop's variable.
            turns: The values of that.
        """
        formula = self._parsed.get(text)
        if formula is None:
            return None
        places = [i for i, name in enumerate(formula.names) if is_turning(name)]
        values, found = formula.values, []
        try:
            for turn in map(float, turns):
                for place in places:
                    values[place] = turn
                found.append(formula.value())
        except (ZeroDivisionError, OverflowError, ValueError):
            return None
        return found if all(map(math.isfinite, found)) else None

    def _parse(self, text: str, lookup: Lookup) -> _Formula:
        self._budget.spend(PARSED_CHARACTER * len(text))
        parser = _Parser(_tokens(text), lookup, self._functions)
        formula = _Formula(parser.whole(), parser.names, parser.values)
        if len(text) <= MAX_KEPT_LENGTH:
            if len(self._parsed) >= MAX_KEPT:
                self._parsed.clear()
            self._parsed[text] = formula
        return formula


@dataclass(slots=True)
class _Formula:
    """A parsed formula: the names it looks up, in order, and their values."""

    value: Thunk
    names: list[str]
    values: list[float | None]

    def renew(self, lookup: Lookup) -> bool:
        """Look up the names again; return False if the formula has to be parsed again.

        That is so if other names than before are variables.
        """
        for i, name in enumerate(self.names):
            found = lookup(name)
            if (found is None) != (self.values[i] is None):
                return False
            self.values[i] = found
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
    """Recursive descent; every method returns a thunk, so that `if` evaluates one branch only."""

    def __init__(
        self, tokens: list[_Token], lookup: Lookup, functions: Mapping[str, Function]
    ) -> None:
        self.tokens = tokens
        self.position = 0
        self.depth = 0
        self.lookup = lookup
        self.functions = functions
        self.names: list[str] = []
        self.values: list[float | None] = []

    def whole(self) -> Thunk:
        if self.tokens[0].kind == "end":
            raise ExpressionError("the formula is empty")
        value = self.ternary()
        if self.tokens[self.position].kind != "end":
            raise ExpressionError(f"unexpected {self.tokens[self.position].text!r}")
        return value

    def take(self, *texts: str) -> str:
        """Consume the next token if it is one of `texts` and return its text, else ""."""
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
        """Return operands joined by operators of equal precedence, from left to right."""
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
        raise ExpressionError(f"unexpected {token.text!r}" if token.text else "unexpected end")

    def named(self, name: str) -> Thunk:
        value = self.lookup(name)
        self.names.append(name)
        self.values.append(value)
        if value is not None:
            return _variable(self.values, len(self.values) - 1)
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
        wanted = f"{least}" if least == most else f"{least} to {most}"
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
