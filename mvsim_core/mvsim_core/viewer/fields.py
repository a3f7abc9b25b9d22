# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Check boxes, sliders and lists whose value both browsers and the simulation change."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mvsim_core.viewer.viewer import Viewer


class Field:
    """Keeps a widget and a value of the simulation equal.

    A change in a browser is in the widget at once, in the simulation only after the next step.
    Meanwhile the widget must not be set back to the older value of the simulation, so it is set
    only when that has changed, and once after each request, which may have been refused.

    Args:
        viewer: The viewer whose widget it is.
        widget: Handle of viser's widget.
        value: Returns the value of the simulation; called in the thread that steps the world.
        change: Changes it as a browser asks; called in that thread.
    """

    def __init__(
        self,
        viewer: Viewer,
        widget: Any,
        value: Callable[[], Any],
        change: Callable[[Any], object],
    ) -> None:
        """Take the requests of browsers."""
        self.widget = widget
        self._viewer = viewer
        self._stage = viewer.stage
        self._value = value
        self._change = change
        self._shown: Any = value()
        widget.on_update(self._on_update)

    def update(self) -> None:
        """Show a value that has changed in the simulation."""
        if self._value() != self._shown:
            self.show()

    def show(self) -> None:
        """Show the value of the simulation, whatever the widget shows."""
        self._shown = self._value()
        self.widget.value = self._shown

    async def _on_update(self, event: Any) -> None:
        """Take a change; a coroutine, as viser calls others in a thread, maybe after `update`."""
        if event.client is None:  # set by `update`
            return
        asked = event.target.value
        if isinstance(asked, float) and not math.isfinite(asked):  # no slider sends that
            self._viewer.submit(self._set_back)
        else:
            self._viewer.submit(lambda: self._take(asked), event.client)

    def _set_back(self) -> None:
        if self._viewer.shows(self._stage):
            self.show()

    def _take(self, asked: Any) -> None:
        if not self._viewer.shows(self._stage):  # asked for in a world that is gone
            return
        try:
            self._change(asked)
        finally:
            self._shown = asked  # what the browser shows until the next `update`
