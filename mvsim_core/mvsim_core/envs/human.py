# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`render_mode="human"`: an environment in a browser, by the viewer, in the same process."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from mvsim_core.envs.core import Core
from mvsim_core.errors import MvsimError
from mvsim_core.viewer import Simulation, Viewer
from mvsim_core.viewer.server import has_display

GOAL, GREEN = 0.2, (40, 220, 60)  # m, radius of the ball that marks a goal; its colour


class EpisodeControls(Simulation):
    """Pause, step and speed of an environment; what else happens in it is up to the agent."""

    def reset(self, viewer: Viewer, seed: int | None = None) -> None:
        """Refuse.

        Raises:
            MvsimError: Always.
        """
        raise MvsimError("the environment resets itself when an episode ends")

    def add_vehicle(
        self, viewer: Viewer, text: str, name: str | None, pose: tuple[float, float, float]
    ) -> str:
        """Refuse.

        Raises:
            MvsimError: Always.
        """
        raise MvsimError("an environment has the vehicles of its task")

    def remove(self, viewer: Viewer, name: str) -> None:
        """Refuse.

        Raises:
            MvsimError: Always.
        """
        raise MvsimError("an environment has the vehicles of its task")


class HumanView:
    """The first copy of an environment in a browser, at the speed of real time.

    Attributes:
        viewer: The viewer.
    """

    def __init__(self, core: Core, *, browser: bool = True) -> None:
        """Start the viewer.

        Args:
            core: The environment.
            browser: Whether to open a browser; without a display its address is printed.

        Raises:
            MvsimError: viser is not installed.
        """
        self._core = core
        self.viewer = Viewer(core.agents.world, controls=EpisodeControls(1.0), browser=browser)
        self._marks: list[Any] = []
        if browser and not has_display():
            sys.stderr.write(f"the environment is shown at {self.viewer.url}\n")

    def show(self) -> None:
        """Show the environment as it is; return when its next step is to be made."""
        core, viewer = self._core, self.viewer
        viewer.world.restore(core.agents.batch[0].state())
        self._mark_goals()
        viewer.after_step()

    def _mark_goals(self) -> None:
        core, stage = self._core, self.viewer.stage
        goals = core.task.goals(core.agents.of_copies(np.zeros(1, np.int64)))
        x0, y0, z0 = stage.nodes.origin
        for k, (x, y) in enumerate(goals.tolist()):
            place = (x - x0, y - y0, GOAL - z0)
            if k == len(self._marks):
                scene = self.viewer.server.scene
                self._marks.append(
                    scene.add_icosphere(f"/goals/{k}", radius=GOAL, color=GREEN, position=place)
                )
            elif tuple(self._marks[k].position) != place:
                self._marks[k].position = place

    def close(self) -> None:
        """Close the viewer."""
        self.viewer.close()
