# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""How the simulation is doing, as diagnostic_msgs."""

from __future__ import annotations

from dataclasses import dataclass

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from std_msgs.msg import Header

#: Below this share of the wanted real-time factor the simulation counts as too slow.
SLOW = 0.95


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast the simulation runs.

    Attributes:
        factor: Achieved simulated seconds per second.
        wanted: Wanted ones; 0: as fast as possible.
        step_time: Mean wall time of a step, publishing included [s].
        given_up: Wall time by which the simulation has fallen behind since the start [s].
        sim_time: Simulated time [s].
        vehicles: Number of vehicles.
        missed: How often it has fallen behind, so that deadlines were dropped.
        state: Whether it plays, pauses, …
    """

    factor: float
    wanted: float
    step_time: float
    given_up: float
    sim_time: float
    vehicles: int
    missed: int = 0
    state: str = "playing"

    @property
    def slow(self) -> bool:
        """Whether the wanted factor is missed."""
        return self.state == "playing" and self.wanted > 0.0 and self.factor < SLOW * self.wanted

    def __str__(self) -> str:
        """Return the pace in a few words."""
        wanted = f"{self.wanted:.4g}" if self.wanted > 0.0 else "max"
        note = "" if self.state == "playing" else f"{self.state}, "
        return f"{note}real-time factor {self.factor:.3g} (wanted {wanted})"


def pace_message(pace: Pace, name: str, stamp: Time) -> DiagnosticArray:
    """Return the pace of the node `name`."""
    values = {
        "real_time_factor": f"{pace.factor:.6g}",
        "wanted_real_time_factor": f"{pace.wanted:.6g}" if pace.wanted > 0.0 else "max",
        "step_time_ms": f"{pace.step_time * 1e3:.6g}",
        "dropped_deadlines": str(pace.missed),
        "given_up_s": f"{pace.given_up:.6g}",
        "simulated_time_s": f"{pace.sim_time:.9g}",
        "vehicles": str(pace.vehicles),
        "state": pace.state,
    }
    status = DiagnosticStatus(
        level=DiagnosticStatus.WARN if pace.slow else DiagnosticStatus.OK,
        name=f"{name}: simulation",
        message=str(pace),
        hardware_id=name,
        values=[KeyValue(key=key, value=value) for key, value in values.items()],
    )
    return DiagnosticArray(header=Header(stamp=stamp), status=[status])
