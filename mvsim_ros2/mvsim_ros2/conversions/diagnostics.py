# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Run statistics of the simulation to diagnostic_msgs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from std_msgs.msg import Header

#: Fraction of the wanted real-time factor below which the simulation is too slow.
SLOW = 0.95


@dataclass(frozen=True, slots=True)
class RunStatistics:
    """Statistics of the stepping loop over the last second.

    Attributes:
        factor: Achieved real-time factor.
        wanted: Wanted real-time factor; 0: as fast as possible.
        step_time: Mean wall time of a step, publishing included [s].
        lost_time: Wall time [s] of delays since the start that were dropped, not caught up.
        sim_time: Simulated time [s].
        vehicles: Number of vehicles.
        dropped_deadlines: Number of such delays.
        state: Playing, paused, …
    """

    factor: float
    wanted: float
    step_time: float
    lost_time: float
    sim_time: float
    vehicles: int
    dropped_deadlines: int = 0
    state: str = "playing"

    @property
    def slow(self) -> bool:
        """Whether the wanted factor is not achieved."""
        return self.state == "playing" and self.wanted > 0.0 and self.factor < SLOW * self.wanted

    def __str__(self) -> str:
        """Return state and real-time factor in words."""
        wanted = f"{self.wanted:.4g}" if self.wanted > 0.0 else "max"
        state = "" if self.state == "playing" else f"{self.state}, "
        return f"{state}real-time factor {self.factor:.3g} (wanted {wanted})"


#: Most changed names in one message.
MOST_NAMES = 50
#: Nothing to report, by name.
NO_FAULTS: Mapping[str, str] = {}


def diagnostics_message(
    statistics: RunStatistics,
    name: str,
    stamp: Time,
    faults: Mapping[str, str] = NO_FAULTS,
    renamed: Mapping[str, str] = NO_FAULTS,
) -> DiagnosticArray:
    """Return the run statistics of the node `name`, and an error for each of `faults`.

    Args:
        statistics: Of the last second.
        name: The node's.
        stamp: Of the message.
        faults: Why entities were taken out of the world, by name.
        renamed: Topic tokens that differ from the names of vehicles and sensors, by name.
    """
    wanted = f"{statistics.wanted:.6g}" if statistics.wanted > 0.0 else "max"
    values = {
        "real_time_factor": f"{statistics.factor:.6g}",
        "wanted_real_time_factor": wanted,
        "step_time_ms": f"{statistics.step_time * 1e3:.6g}",
        "dropped_deadlines": str(statistics.dropped_deadlines),
        "given_up_s": f"{statistics.lost_time:.6g}",
        "simulated_time_s": f"{statistics.sim_time:.9g}",
        "vehicles": str(statistics.vehicles),
        "state": statistics.state,
    }
    names = sorted(renamed)[:MOST_NAMES]
    values |= {f"topic name of {each}": renamed[each] for each in names}
    status = DiagnosticStatus(
        level=DiagnosticStatus.WARN if statistics.slow else DiagnosticStatus.OK,
        name=f"{name}: simulation",
        message=str(statistics),
        hardware_id=name,
        values=[KeyValue(key=key, value=value) for key, value in values.items()],
    )
    errors = [
        DiagnosticStatus(
            level=DiagnosticStatus.ERROR,
            name=f"{name}: {entity}",
            message=f"taken out of the world: {text}",
            hardware_id=name,
        )
        for entity, text in faults.items()
    ]
    return DiagnosticArray(header=Header(stamp=stamp), status=[status, *errors])
