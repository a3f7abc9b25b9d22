# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The panel beside the scene: time, controls, and tabs for views, driving, vehicles, editing."""

from __future__ import annotations

import time as wall
from typing import TYPE_CHECKING, Any

from mvsim_core.viewer.control_widgets import SimulationWidgets, TimeBarWidgets
from mvsim_core.viewer.drive_page import JOYSTICK, MARK, page, stick_of
from mvsim_core.viewer.driving import Driving
from mvsim_core.viewer.edit_tab import EditTab
from mvsim_core.viewer.fields import Field
from mvsim_core.viewer.simulation import Simulation
from mvsim_core.viewer.vehicle_tab import VehicleTab
from mvsim_core.viewer.view_tab import ViewTab

if TYPE_CHECKING:
    from mvsim_core.viewer.viewer import Viewer

#: Wall time between two updates of texts [s].
PERIOD = 0.2
#: What the list of vehicles says if there is none.
NONE = "(none)"
#: Blocks are in the list of what can be selected if there are no more than this.
MOST_BLOCKS = 100


class Panel:
    """All widgets. Their callbacks run in threads of the server and only submit work.

    Those that read the value of a widget are coroutines: viser calls them at once and in order,
    others from several threads, when the value may be another one.

    Attributes:
        driving: Drives the selected vehicle.
    """

    def __init__(self, viewer: Viewer) -> None:
        """Make the widgets."""
        self._viewer = viewer
        self._next = 0.0
        self.driving = Driving(viewer)
        gui = viewer.server.gui
        simulated = isinstance(viewer.controls, Simulation)
        self.controls: Any = (SimulationWidgets if simulated else TimeBarWidgets)(viewer)
        self._names: list[str] = []
        self._selection = Field(
            viewer, gui.add_dropdown("Selected", [NONE]), self._selected, self._select
        )
        tabs = gui.add_tab_group()
        with tabs.add_tab("View"):
            self.view = ViewTab(viewer)
        with tabs.add_tab("Vehicle") as tab:
            self.vehicle = VehicleTab(viewer, tab)
        self._keys: Any = None
        self.edit: EditTab | None = None
        if simulated:
            with tabs.add_tab("Drive"):
                self._add_driving()
            with tabs.add_tab("Edit"):
                self.edit = EditTab(viewer)
            self._page = gui.add_html(page(keys=True))
            self._field = gui.add_text("Steering", MARK)
            self._field.on_update(self._on_stick)
        self._list_entities()

    def update(self, *, everything: bool = False) -> None:
        """Bring texts up to date, from time to time."""
        if self.edit is not None:
            self.edit.follow()
        now = wall.perf_counter()
        self.vehicle.sample()
        if now < self._next and not everything:
            return
        self._next = now + PERIOD
        self._list_entities()
        self.controls.update()
        self.view.update()
        self.vehicle.update()

    def selection_changed(self) -> None:
        """Show another selected entity."""
        self._list_entities()
        self.vehicle.selection_changed()
        self.view.selection_changed()
        if self.edit is not None:
            self.edit.selection_changed()

    def _list_entities(self) -> None:
        world = self._viewer.world
        names = list(world.vehicles)
        if len(world.blocks) <= MOST_BLOCKS:
            names += list(world.blocks)
        selected = self._viewer.stage.selected
        if selected and selected not in names:
            names.append(selected)
        if names != self._names:
            self._names = names
            self._selection.widget.options = names or [NONE]
            self._selection.show()
        self._selection.update()

    def _selected(self) -> str:
        """Return what the list of entities shows; the first one, if none is selected."""
        return self._viewer.stage.selected or (self._names or [NONE])[0]

    def _select(self, name: str) -> None:
        if name != NONE:
            self._viewer.stage.select(name)

    # ------------------------------------------------------------ driving
    def _add_driving(self) -> None:
        gui, driving = self._viewer.server.gui, self.driving
        self._keys = gui.add_checkbox(
            "Keys drive", True, hint="W A S D or arrows, Q and E sideways"
        )
        self._keys.on_update(self._on_keys)
        gui.add_html(JOYSTICK)
        for label, field, most in (
            ("Speed m/s", "speed", 10.0),
            ("Turn rad/s", "turn", 6.0),
            ("Torque N m", "torque", 50.0),
        ):
            slider = gui.add_slider(label, 0.1, most, 0.1, getattr(driving, field))
            slider.on_update(lambda e, field=field: setattr(driving, field, e.target.value))
        gui.add_markdown("A gamepad drives with its left stick, or turns with its right one.")

    async def _on_keys(self, event: Any) -> None:
        self._page.content = page(keys=event.target.value)

    async def _on_stick(self, event: Any) -> None:
        stick = stick_of(event.target.value)
        if stick is not None:
            self._viewer.submit(lambda: self.driving.steer(stick), event.client)
