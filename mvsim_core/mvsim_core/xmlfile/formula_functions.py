# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The operators, constants and functions of formulas, named as ExprTk names them.

All take and return floats. They raise what Python's mathematics raises (ValueError outside a
domain, ZeroDivisionError, OverflowError); the evaluator turns that into messages.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import NamedTuple

Operator = Callable[[float, float], float]
Operators = dict[str, Operator]


class Function(NamedTuple):
    """A function and how many arguments it takes, at least and at most."""

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
