# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Formulas in `$f{...}`."""

import math
from contextlib import suppress
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mvsim_core.xmlfile.expressions import MAX_KEPT, ExpressionError, Formulas

VARIABLES = {"iX": 3.0, "ON": 1.0, "rate": 10.0}


def value(text: str) -> float:
    return Formulas(Random(1)).evaluate(text, VARIABLES.get)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1+2*3", 7),
        ("-2^2", -4),
        ("2^3^2", 512),
        ("2^-1", 0.5),
        ("5--3", 8),
        ("-7 % 4", -3),
        ("2iX", 6),
        ("2(iX+1)", 8),
        ("(1+1)(2+1)", 6),
        ("1/2/2", 0.25),
        ("iX = 3", 1),
        ("iX == 3", 1),
        ("iX <> 3", 0),
        ("iX != 3", 0),
        ("if(iX<=3 or iX>=6, 1, 0)", 1),
        ("if(0, 1/0, 2)", 2),
        ("1 > 0 ? 5 : 1/0", 5),
        ("not(ON)", 0),
        ("not ON or 1", 1),
        ("ON and not 0", 1),
        ("1 xor 1", 0),
        ("1 nand 1", 0),
        ("1 && 0 || 1", 1),
        ("!0", 1),
        ("PI", math.pi),
        ("M_PI/2", math.pi / 2),
        ("deg2rad(180)", math.pi),
        ("rad2deg(pi)", 180),
        ("hypot(3,4)", 5),
        ("clamp(0, 5, 1)", 1),
        ("min(3,1,2) + max(1)", 2),
        ("sum(1,2,3) + mul(2,3) + avg(1,3)", 14),
        ("round(2.5) + round(-2.5) + floor(-0.5) + ceil(0.5) + trunc(-1.7)", -1),
        ("roundn(1.2345, 2)", 1.23),
        ("atan2(1, 1)", math.pi / 4),
        ("COS(0)", 1),
        ("(1.0/10)/55.296e-6", 0.1 / 55.296e-6),
        ("sgn(-3) + frac(1.25) + logn(8, 2)", 2.25),
        ("inrange(0, 1, 2) + equal(1, 1)", 2),
        ("pow(2, 10) + root(27, 3)", 1027),
        (".5 + 5. + 1e2", 105.5),
    ],
)
def test_values(text: str, expected: float) -> None:
    assert value(text) == pytest.approx(expected, rel=1e-15)


def test_full_precision() -> None:
    """The original prints six digits, which costs metres in UTM coordinates."""
    assert value("4075432.123 + 0.001") == 4075432.123 + 0.001


def test_random_numbers() -> None:
    formulas = Formulas(Random(1))
    values = [formulas.evaluate("rand()", VARIABLES.get) for _ in range(1000)]
    assert 0 <= min(values) < 0.01 < 0.99 < max(values) < 1
    normal = [formulas.evaluate("randn()", VARIABLES.get) for _ in range(4000)]
    assert abs(sum(normal) / 4000) < 0.06  # 4 sigma of the mean
    uniform = [formulas.evaluate("unifrnd(-3, 5)", VARIABLES.get) for _ in range(1000)]
    assert -3 <= min(uniform) < -2.9 < 4.9 < max(uniform) <= 5


def test_randomize_repeats() -> None:
    formulas = Formulas(Random(1))
    first = [formulas.evaluate(text, VARIABLES.get) for text in ("randomize(2)", "rand()")]
    again = [formulas.evaluate(text, VARIABLES.get) for text in ("randomize(2)", "rand()")]
    assert first == again
    assert first[0] == 0


def test_a_formula_read_before_follows_its_variables() -> None:
    formulas = Formulas(Random(1))
    for x in (1.0, 2.5, -3.0):
        assert formulas.evaluate("2*x + x^2", {"x": x}.get) == 2 * x + x * x


def test_a_name_may_be_a_function_at_one_time_and_a_variable_at_another() -> None:
    formulas = Formulas(Random(1))
    assert formulas.evaluate("floor(2.5)", {}.get) == 2.0
    assert formulas.evaluate("floor(2.5)", {"floor": 10.0}.get) == 25.0
    assert formulas.evaluate("floor(2.5)", {}.get) == 2.0


def test_each_random_expression_draws_its_own_number() -> None:
    draws = iter(range(100))
    formulas = Formulas(Random(1))
    values = [formulas.evaluate("x - x", lambda _: float(next(draws))) for _ in range(3)]
    assert values == [-1.0, -1.0, -1.0]
    assert next(draws) == 6


def test_many_formulas_are_not_kept_for_ever() -> None:
    formulas = Formulas(Random(1))
    for k in range(2 * MAX_KEPT):
        assert formulas.evaluate(f"{k} + 1", {}.get) == k + 1
    assert len(formulas._parsed) <= MAX_KEPT


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the formula is empty"),
        ("1+", "unexpected end"),
        ("(1", "expected ')', got 'the end'"),
        ("1)", "unexpected ')'"),
        ("grill", "unknown name 'grill'"),
        ("hypo(1,2)", "unknown name 'hypo'. Did you mean 'hypot'?"),
        ("hypot(1)", "hypot() takes 2 argument(s), got 1"),
        ("if(1,2)", "if() takes 3 argument(s), got 2"),
        (f"sum({'1,' * 1000}1)", "sum() takes 1 to 1000 argument(s), got 1001"),
        ("sin", "expected '(', got 'the end'"),
        ("1/0", "division by zero"),
        ("1 % 0", "a function is called outside its domain"),
        ("sqrt(-1)", "a function is called outside its domain"),
        ("(-8)^0.5", "a function is called outside its domain"),
        ("9^9^9", "the result is too large"),
        ("1e308*10", "the result is inf, not a finite number"),
        ("'a'", "unexpected \"'a'\""),
        ("__import__(1)", "unknown name '__import__'"),
        ("os.system", "unknown name 'os.system'"),
        ("x := 2", "unknown name 'x'"),
        ("2^" * 500 + "1", "nested deeper than 30 levels"),
        ("1" * 20_000, "a formula may have at most 10000 characters"),
    ],
)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        value(text)
    assert str(caught.value) == message


def test_long_formulas_do_not_exhaust_the_stack() -> None:
    assert value("1" + "+1" * 4000) == 4001
    assert value("-" * 9000 + "1") == 1
    assert value("1 " * 4000) == 1
    assert value("(" * 29 + "1" + ")" * 29) == 1


@given(st.text("0123456789.+-*/%^()[]<>=!&|?:, eiXpandrotfx_ifclamp", max_size=60))
def test_any_text_gives_a_number_or_an_error(text: str) -> None:
    with suppress(ExpressionError):
        assert math.isfinite(value(text))
