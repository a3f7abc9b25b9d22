# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Widgets of a simulation's controls and of the time bar of a recording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mvsim_core.viewer.fields import Field
from mvsim_core.viewer.simulation import Simulation
from mvsim_core.viewer.time_bar import TimeBar

if TYPE_CHECKING:
    from mvsim_core.viewer.viewer import Viewer

PAUSE, RUN, STEP, RESET = "Pause", "Run", "Step", "Reset"
SLOWEST, FASTEST = 0.1, 10.0
LARGEST_SEED = 2**31 - 1


class SimulationWidgets:
    """Time, pause, step, reset, speed, seed."""

    def __init__(self, viewer: Viewer) -> None:
        """Make the widgets."""
        self._viewer = viewer
        gui, controls = viewer.server.gui, self._controls
        self._text = gui.add_markdown("")
        self._buttons = gui.add_button_group("Simulation", (PAUSE, STEP, RESET))
        self._buttons.on_click(self._on_button)
        self._chosen = 1.0
        speed = gui.add_slider("Speed", SLOWEST, FASTEST, 0.1, self._speed())
        most = gui.add_checkbox(
            "As fast as possible", controls.factor is None, hint="Pay no heed to the wall clock"
        )
        self._fields = (
            Field(viewer, speed, self._speed, controls.set_factor),
            Field(viewer, most, lambda: controls.factor is None, self._set_most),
        )
        self._seed = gui.add_number("Seed", viewer.world.seed, min=0, max=LARGEST_SEED, step=1)
        restart = gui.add_button("Restart with this seed")
        restart.on_click(self._on_restart)
        for label, key, work in (
            ("Pause or run", "space", self._toggle),
            ("One step", "N", lambda: self._controls.step(viewer)),
            ("Reset", "R", lambda: self._controls.reset(viewer)),
        ):
            command = gui.add_command(label, hotkey=key)
            command.on_trigger(lambda event, work=work: viewer.submit(work, event.client))
        self.update()

    @property
    def _controls(self) -> Simulation:
        controls = self._viewer.controls
        assert isinstance(controls, Simulation)
        return controls

    def update(self) -> None:
        """Show time, state and rate."""
        controls, world = self._controls, self._viewer.world
        state = "paused" if controls.paused else f"{controls.rate:.2f} x real time"
        text = f"**{world.time:.3f} s** · {state} · seed {world.seed}"
        if self._text.content != text:
            self._text.content = text
        options = (RUN if controls.paused else PAUSE, STEP, RESET)
        if tuple(self._buttons.options) != options:
            self._buttons.options = options
        for field in self._fields:
            field.update()

    def _speed(self) -> float:
        """Return the speed on the slider, which stays while it is as fast as possible."""
        factor = self._controls.factor
        if factor is not None:
            self._chosen = min(max(factor, SLOWEST), FASTEST)
        return self._chosen

    def _set_most(self, most: bool) -> None:
        self._controls.set_factor(None if most else self._speed())

    async def _on_button(self, event: Any) -> None:
        button, controls, viewer = event.target.value, self._controls, self._viewer
        work = {
            PAUSE: lambda: controls.pause(True),
            RUN: lambda: controls.pause(False),
            STEP: lambda: controls.step(viewer),
            RESET: lambda: controls.reset(viewer),
        }[button]
        viewer.submit(work, event.client)

    def _toggle(self) -> None:
        self._controls.pause(not self._controls.paused)

    async def _on_restart(self, event: Any) -> None:
        seed = int(self._seed.value)
        viewer = self._viewer
        viewer.submit(lambda: self._controls.reset(viewer, seed), event.client)


class TimeBarWidgets:
    """Time, play, slider, speed."""

    def __init__(self, viewer: Viewer) -> None:
        """Make the widgets."""
        self._viewer = viewer
        gui, bar = viewer.server.gui, self._bar
        self._text = gui.add_markdown("")
        self._play = gui.add_button_group("Recording", (PAUSE, "Start"))
        self._play.on_click(self._on_button)
        length = max(bar.duration, 1e-3)
        time = gui.add_slider("Time s", 0.0, length, min(0.01, length), bar.time)
        speed = gui.add_slider("Speed", SLOWEST, FASTEST, 0.1, self._speed())
        self._fields = (
            Field(viewer, time, lambda: bar.time, bar.seek),
            Field(viewer, speed, self._speed, lambda speed: setattr(bar, "speed", speed)),
        )
        command = gui.add_command("Pause or play", hotkey="space")
        command.on_trigger(
            lambda event: viewer.submit(
                lambda: self._bar.play(not self._bar.playing), event.client
            )
        )
        self.update()

    @property
    def _bar(self) -> TimeBar:
        bar = self._viewer.controls
        assert isinstance(bar, TimeBar)
        return bar

    def update(self) -> None:
        """Show the time."""
        bar = self._bar
        state = f"{bar.speed:g} x real time" if bar.playing else "paused"
        text = f"**{bar.time:.2f} s** of {bar.duration:.2f} s · {state}"
        if self._text.content != text:
            self._text.content = text
        for field in self._fields:
            field.update()
        options = (PAUSE if bar.playing else "Play", "Start")
        if tuple(self._play.options) != options:
            self._play.options = options

    def _speed(self) -> float:
        return min(max(self._bar.speed, SLOWEST), FASTEST)

    async def _on_button(self, event: Any) -> None:
        button, bar = event.target.value, self._bar
        work = {
            PAUSE: lambda: bar.play(False),
            "Play": lambda: bar.play(True),
            "Start": lambda: bar.seek(0.0),
        }[button]
        self._viewer.submit(work, event.client)
