# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Domain randomisation: physical parameters that each episode draws."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from mvsim_core.errors import BuildError
from mvsim_core.state.arrays import FloatArray

Range = tuple[float, float]

#: Friction models that take the coefficient of a wheel from its region.
WITH_REGIONS = ("default", "ellipse")


@dataclass(frozen=True, slots=True)
class Randomization:
    """Ranges from which each episode draws, uniformly; None: as the world says.

    Attributes:
        friction: Friction coefficient between wheels and ground [1].
        mass: Factor of the vehicle's mass [1]: as if a load were spread over it like its own mass,
            so that its centre of mass stays where it is.
        lidar_noise: Standard deviation of the lidar's ranges [m].
    """

    friction: Range | None = None
    mass: Range | None = None
    lidar_noise: Range | None = None

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            BuildError: One is empty or not positive.
        """
        for field in fields(self):
            given = getattr(self, field.name)
            least = 0.0 if field.name == "lidar_noise" else 1e-3
            if given is not None and not least <= given[0] <= given[1] < np.inf:
                raise BuildError(
                    f"randomization: {field.name} needs {least:g} <= low <= high, got {given}"
                )

    def drawn(self, draws: FloatArray) -> dict[str, FloatArray]:
        """Return the values of episodes for (m, 3) draws of [0, 1), those that vary."""
        values = {}
        for k, field in enumerate(fields(self)):
            given = getattr(self, field.name)
            if given is not None:
                values[field.name] = given[0] + (given[1] - given[0]) * draws[:, k]
        return values


#: Draws of an episode that a `Randomization` takes.
DRAWS = len(fields(Randomization))
