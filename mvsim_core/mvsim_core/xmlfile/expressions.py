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
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from mvsim_core.errors import suggestion

MAX_LENGTH = 10_000
MAX_DEPTH = 30

Lookup = Callable[[str], float | None]
Thunk = Callable[[], float]
Operator = Callable[[float, float], float]

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


class _Function(NamedTuple):
    least: int
    most: int
    call: Callable[..., float]


def evaluate(text: str, lookup: Lookup, random: Random) -> float:
    """Return the value of a formula, or raise ExpressionError.

    `lookup` returns the value of a variable, or None; variables go before constants and
    functions. `random` feeds rand, randn and unifrnd, and is reseeded by randomize.
    """
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"a formula may have at most {MAX_LENGTH} characters")
    parser = _Parser(_tokens(text), lookup, random)
    try:
        value = parser.whole()()
    except ZeroDivisionError:
        raise ExpressionError("division by zero") from None
    except OverflowError:
        raise ExpressionError("the result is too large") from None
    except ValueError:
        raise ExpressionError("a function is called outside its domain") from None
    if not math.isfinite(value):
        raise ExpressionError(f"the result is {value}, not a finite number")
    return value


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

    def __init__(self, tokens: list[_Token], lookup: Lookup, random: Random) -> None:
        self.tokens = tokens
        self.position = 0
        self.depth = 0
        self.lookup = lookup
        self.functions = {**_FUNCTIONS, **_random_functions(random)}

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
        return self.chain(self.conjunction, _OR)

    def conjunction(self) -> Thunk:
        return self.chain(self.comparison, _AND)

    def comparison(self) -> Thunk:
        return self.chain(self.sum, _COMPARE)

    def sum(self) -> Thunk:
        return self.chain(self.product, _ADD)

    def product(self) -> Thunk:
        first = self.signed()
        rest: list[tuple[Operator, Thunk]] = []
        while True:
            operator = self.take(*_MULTIPLY)
            if not operator and not self.starts_operand():
                return _joined(first, rest) if rest else first
            # Without an operator: 2x, 2(a + b), (a)(b)
            rest.append((_MULTIPLY[operator or "*"], self.signed()))

    def chain(self, operand: Callable[[], Thunk], operators: _Operators) -> Thunk:
        """Return operands joined by operators of equal rank, from left to right."""
        first = operand()
        rest = []
        while operator := self.take(*operators):
            rest.append((operators[operator], operand()))
        return _joined(first, rest) if rest else first

    def starts_operand(self) -> bool:
        token = self.tokens[self.position]
        if token.kind == "name":
            return token.text.lower() not in _WORDS
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
            return _joined(base, [(_power, self.deeper(self.signed))])
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
        if value is not None:
            return _constant(value)
        key = name.lower()
        if key == "not":
            return _negation(self.deeper(self.operand))
        if key in _CONSTANTS:
            return _constant(_CONSTANTS[key])
        if key == "if" or key in self.functions:
            return self.call(key)
        known = (*self.functions, *_CONSTANTS, "if", "not")
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


def _power(base: float, exponent: float) -> float:
    value: float | complex = base**exponent
    if isinstance(value, complex):
        raise ValueError
    return value


def _root(value: float, degree: float) -> float:
    return _power(value, 1.0 / degree)


def _round(value: float) -> float:
    # Halves away from zero, as C does; Python rounds them to even.
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


def _random_functions(random: Random) -> dict[str, _Function]:
    def randomize(seed: float) -> float:
        random.seed(int(seed))
        return 0.0

    return {
        "rand": _Function(0, 0, random.random),
        "randn": _Function(0, 0, lambda: random.gauss(0.0, 1.0)),
        "unifrnd": _Function(2, 2, lambda low, high: low + (high - low) * random.random()),
        "randomize": _Function(1, 1, randomize),
    }


_Operators = dict[str, Operator]

_OR: _Operators = {
    "or": lambda a, b: float(a != 0 or b != 0),
    "||": lambda a, b: float(a != 0 or b != 0),
    "|": lambda a, b: float(a != 0 or b != 0),
    "xor": lambda a, b: float((a != 0) != (b != 0)),
    "nor": lambda a, b: float(a == 0 and b == 0),
    "xnor": lambda a, b: float((a != 0) == (b != 0)),
}
_AND: _Operators = {
    "and": lambda a, b: float(a != 0 and b != 0),
    "&&": lambda a, b: float(a != 0 and b != 0),
    "&": lambda a, b: float(a != 0 and b != 0),
    "nand": lambda a, b: float(a == 0 or b == 0),
}
_COMPARE: _Operators = {
    "<": lambda a, b: float(a < b),
    "<=": lambda a, b: float(a <= b),
    ">": lambda a, b: float(a > b),
    ">=": lambda a, b: float(a >= b),
    "=": lambda a, b: float(a == b),
    "==": lambda a, b: float(a == b),
    "!=": lambda a, b: float(a != b),
    "<>": lambda a, b: float(a != b),
}
_ADD: _Operators = {"+": lambda a, b: a + b, "-": lambda a, b: a - b}
_MULTIPLY: _Operators = {
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "%": math.fmod,
}
_WORDS = frozenset((*_OR, *_AND))

_CONSTANTS = {
    "pi": math.pi,
    "m_pi": math.pi,
    "m_e": math.e,
    "epsilon": 1e-10,  # ExprTk's tolerance for doubles
    "inf": math.inf,
    "true": 1.0,
    "false": 0.0,
}

_MANY = 1000
_FUNCTIONS: dict[str, _Function] = {
    **{
        name: _Function(1, 1, getattr(math, name))
        for name in (
            *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "sin", "sinh"),
            *("tan", "tanh", "exp", "expm1", "log10", "log1p", "log2", "sqrt", "erf", "erfc"),
            *("trunc", "ceil", "floor"),
        )
    },
    "abs": _Function(1, 1, abs),
    "atan2": _Function(2, 2, math.atan2),
    "avg": _Function(1, _MANY, _mean),
    "clamp": _Function(3, 3, _clamp),
    "cot": _Function(1, 1, lambda x: 1.0 / math.tan(x)),
    "csc": _Function(1, 1, lambda x: 1.0 / math.sin(x)),
    "deg2grad": _Function(1, 1, lambda x: x / 0.9),
    "deg2rad": _Function(1, 1, math.radians),
    "equal": _Function(2, 2, lambda a, b: float(math.isclose(a, b, rel_tol=1e-10))),
    "frac": _Function(1, 1, lambda x: math.fmod(x, 1.0)),
    "grad2deg": _Function(1, 1, lambda x: x * 0.9),
    "hypot": _Function(2, 2, math.hypot),
    "iclamp": _Function(
        3,
        3,
        lambda low, x, high: x if not low < x < high else (low if x - low < high - x else high),
    ),
    "inrange": _Function(3, 3, lambda low, x, high: float(low <= x <= high)),
    "int": _Function(1, 1, math.trunc),
    "log": _Function(1, 1, math.log),
    "logn": _Function(2, 2, math.log),
    "max": _Function(1, _MANY, lambda *values: max(values)),
    "mean": _Function(1, _MANY, _mean),
    "min": _Function(1, _MANY, lambda *values: min(values)),
    "mod": _Function(2, 2, math.fmod),
    "mul": _Function(1, _MANY, lambda *values: math.prod(values)),
    "ncdf": _Function(1, 1, _normal_cdf),
    "not_equal": _Function(2, 2, lambda a, b: float(not math.isclose(a, b, rel_tol=1e-10))),
    "pow": _Function(2, 2, _power),
    "rad2deg": _Function(1, 1, math.degrees),
    "root": _Function(2, 2, _root),
    "round": _Function(1, 1, _round),
    "roundn": _Function(2, 2, _roundn),
    "sec": _Function(1, 1, lambda x: 1.0 / math.cos(x)),
    "sgn": _Function(1, 1, _sign),
    "sinc": _Function(1, 1, _sinc),
    "sum": _Function(1, _MANY, lambda *values: math.fsum(values)),
}
