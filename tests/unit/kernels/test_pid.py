# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The speed controller against a version of it that is written to be read, not to be fast."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from mvsim_core.controllers.pid import filter_set_point, pid_output, reset_pid
from mvsim_core.state.arrays import GAINS, PID

DT = 0.01
MEMORY = ("integral", "derivative", "previous", "forward", "started", "filter1", "filter2")


NO_LIMIT = (-math.inf, math.inf)


def gains(**values: float) -> np.ndarray:
    """One row of GAINS, without limits unless given."""
    g = np.zeros(1, GAINS)
    g["i_max"] = g["max_torque"] = math.inf
    for name, value in values.items():
        g[name] = value
    return g


def row(**values: float) -> np.ndarray:
    """One row of PID."""
    p = np.zeros(1, PID)
    for name, value in values.items():
        p[name] = value
    return p


@dataclass
class Textbook:
    """PID with a filtered derivative, a limited integral term and back-calculation."""

    kp: float = 0.0
    ki: float = 0.0
    kd: float = 0.0
    n: float = 0.0
    i_max: float = math.inf
    max_torque: float = math.inf
    antiwindup: int = 0
    integral: float = 0.0
    low_pass: float | None = None
    last: float | None = None

    def output(self, error: float, feedforward: float) -> float:
        """Torque after one step."""
        before = self.integral
        term = self.integral + self.ki * error * DT
        self.integral = float(np.clip(term, -self.i_max, self.i_max))
        slope = self.slope(error)
        wish = self.kp * error + self.integral + self.kd * slope + feedforward
        torque = float(np.clip(wish, -self.max_torque, self.max_torque))
        if (wish - torque) * error > 0.0:  # at the limit the integral does not grow
            wish -= self.integral - before
            self.integral = before
            torque = float(np.clip(wish, -self.max_torque, self.max_torque))
        if self.antiwindup and self.kp > 0:
            # tracking time kp / ki: the excess leaks out of the integral, and counts at once
            self.integral += self.ki / self.kp * DT * (torque - wish)
            wish = self.kp * error + self.integral + self.kd * slope + feedforward
            torque = float(np.clip(wish, -self.max_torque, self.max_torque))
        return torque

    def slope(self, error: float) -> float:
        """The error's derivative, through N / (s + N) by backward Euler if N > 0."""
        if self.n > 0:
            if self.low_pass is None:
                self.low_pass = error
            new = (self.low_pass + self.n * DT * error) / (1 + self.n * DT)
            slope, self.low_pass = (new - self.low_pass) / DT, new
            return slope
        slope = 0.0 if self.last is None else (error - self.last) / DT
        self.last = error
        return slope


@pytest.mark.parametrize(
    "settings",
    [
        {"kp": 3.0},
        {"ki": 5.0},
        {"kd": 0.7},
        {"kd": 0.7, "n": 30.0},
        {"kp": 3.0, "ki": 50.0, "i_max": 1.5},
        {"kp": 3.0, "ki": 5.0, "kd": 0.1, "max_torque": 4.0},
        {"kp": 3.0, "ki": 60.0, "kd": 0.1, "n": 20.0, "max_torque": 4.0, "antiwindup": 1},
        {"ki": 60.0, "max_torque": 1.0, "antiwindup": 1},
    ],
)
def test_outputs_are_those_of_the_textbook(settings: dict[str, float]) -> None:
    p, g = row(), gains(**settings)
    book = Textbook(**settings)  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    for k in range(300):
        error = math.sin(0.05 * k) + rng.normal(0, 0.3)
        forward = 0.4 * math.cos(0.02 * k)
        got = pid_output(p[0], g[0], error, forward, NO_LIMIT, DT)
        assert got == pytest.approx(book.output(error, forward))
        assert p["previous"][0] == error
        assert p["forward"][0] == forward
        assert p["started"][0] == 1


@pytest.mark.parametrize(("order", "tau"), [(0, 0.2), (1, 0.2), (2, 0.05)])
def test_set_point_filters_are_exact_for_steps(order: int, tau: float) -> None:
    """1 - a^n after n steps with a = exp(-dt/τ); in cascade 1 - a^n (1 + n (1 - a) )."""
    p, g, a = row(), gains(filter_tau=tau, filter_order=order), math.exp(-DT / tau)
    for k in range(1, 60):
        got = filter_set_point(p[0], g[0], 2.0, DT)
        part = 1.0 - a**k * (1.0 + k * (1.0 - a)) if order == 2 else 1.0 - a**k
        assert got == pytest.approx(2.0 * part)


def test_without_a_time_constant_set_points_pass() -> None:
    p, g = row(), gains(filter_order=2)
    assert filter_set_point(p[0], g[0], 2.0, DT) == 2.0
    assert p.tobytes() == row().tobytes()


def test_a_reset_clears_the_memory_and_nothing_else() -> None:
    p = row(gains=3, last=-0.2, target=0.5)
    for k, name in enumerate(MEMORY, 1):
        p[name] = k
    reset_pid(p[0])
    assert p.tobytes() == row(gains=3, last=-0.2, target=0.5).tobytes()


def test_motor_limits_the_torque() -> None:
    """As the smaller of two limits; the integral does not grow meanwhile."""
    p, g = row(), gains(kp=3.0, ki=5.0, max_torque=4.0)
    assert pid_output(p[0], g[0], 9.0, 0.0, (-7.0, 1.5), DT) == 1.5
    assert pid_output(p[0], g[0], 9.0, 0.0, (-7.0, 7.0), DT) == 4.0
    assert pid_output(p[0], g[0], -9.0, 0.0, (-2.0, 7.0), DT) == -2.0
    assert p["integral"][0] == 0.0
