# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The viewer of the node: what browsers ask for is done as services do it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mvsim_core import Pose
from mvsim_core.viewer import Simulation as Controls
from mvsim_core.viewer import Viewer
from mvsim_ros2.simulation.resources import VehicleSource
from mvsim_ros2.simulation.sim_state import PAUSED, PLAYING, StepRequest
from mvsim_ros2.simulation.spawning import DEFAULT, SpawnRequest

if TYPE_CHECKING:
    from mvsim_ros2.runtime.runner import Runner
    from mvsim_ros2.simulation.simulation import Simulation

#: Start of the names of vehicles that browsers add without a name.
BASE_NAME = "veh"


class NodeControls(Controls):
    """Controls of a simulation that the node steps.

    Args:
        simulation: The simulation.
        runner: What steps it.
        set_factor: Sets the parameter of the real-time factor; 0: as fast as possible.
    """

    def __init__(
        self, simulation: Simulation, runner: Runner, set_factor: Callable[[float], None]
    ) -> None:
        """Hold them."""
        super().__init__(None)
        self._simulation = simulation
        self._runner = runner
        self._set_factor = set_factor

    @property
    def factor(self) -> float | None:
        """Simulated seconds per second; None: as fast as possible."""
        return self._runner.pacer.factor or None

    @property
    def paused(self) -> bool:
        """Whether no steps are made now."""
        return not self._simulation.sim_state.playing

    def pause(self, paused: bool) -> None:
        """Pause, or play."""
        if paused != self.paused:
            self._simulation.set_state(PAUSED if paused else PLAYING)

    def step(self, viewer: Viewer, steps: int = 1) -> None:
        """Make some steps; a simulation that plays is paused first."""
        self.pause(True)
        self._simulation.sim_state.start_steps(StepRequest(steps, lambda reason: None))

    def set_factor(self, factor: float | None) -> None:
        """Set the parameter of the real-time factor."""
        self._set_factor(factor or 0.0)

    def reset(self, viewer: Viewer, seed: int | None = None) -> None:
        """Reset as the service does, with another seed if one is given."""
        if seed is not None:
            self._simulation.require_world().reset(seed)
        self._simulation.reset(DEFAULT)

    def add_vehicle(
        self, viewer: Viewer, text: str, name: str | None, pose: tuple[float, float, float]
    ) -> str:
        """Spawn a vehicle and return its name."""
        x, y, yaw = pose
        source = VehicleSource(text, BASE_NAME)
        request = SpawnRequest(source=source, pose=Pose(x=x, y=y, yaw=yaw), name=name or "")
        return self._simulation.spawn(request)

    def remove(self, viewer: Viewer, name: str) -> None:
        """Delete a vehicle or a block."""
        self._simulation.delete(name)

    def hold(self, viewer: Viewer) -> None:
        """Do not wait: the node paces its steps."""
        self._measure(viewer.world.time)


class NodeViewer:
    """The viewer of a node, whose world may be replaced.

    Args:
        simulation: What is shown.
        controls: What browsers do to it.
        port: TCP port.
        address: Address that it is bound to.
        browser: Whether to open a browser.
    """

    def __init__(
        self,
        simulation: Simulation,
        controls: NodeControls,
        *,
        port: int,
        address: str,
        browser: bool,
    ) -> None:
        """Start it."""
        self._simulation = simulation
        self._viewer = Viewer(
            simulation.world,
            controls=controls,
            port=port,
            bind=address,
            browser=browser,
            requests=simulation.sim_state.requests,
            on_demand=True,
        )

    @property
    def url(self) -> str:
        """Where browsers find it."""
        return self._viewer.url

    def world_changed(self) -> None:
        """Show the present world, or nothing; in the stepping thread."""
        if self._simulation.has_world:
            self._viewer.set_world(self._simulation.world)
        else:
            self._viewer.blank()

    def after_step(self) -> None:
        """Serve browsers after a step."""
        self._viewer.after_step()

    def idle(self) -> None:
        """Serve browsers while no steps are made."""
        self._viewer.serve()

    def close(self) -> None:
        """Stop it."""
        self._viewer.close()
