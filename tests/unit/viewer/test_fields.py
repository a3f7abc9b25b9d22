# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What browsers change in the panel: no update of the panel undoes it before it was taken."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from mvsim_core import load_world
from mvsim_core.viewer import Simulation, TimeBar, Viewer
from tests.unit.viewer.worlds import SMALL

pytest.importorskip("viser", reason="viser is not installed")


class Later:
    """In place of viser's threads: does what they get when it is asked to."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Any, tuple[Any, ...]]] = []

    def submit(self, work: Any, *args: Any) -> Any:
        self.waiting.append((work, args))
        return SimpleNamespace(add_done_callback=lambda done: None)

    def run(self) -> None:
        while self.waiting:
            work, args = self.waiting.pop(0)
            work(*args)


class Browser:
    """Sends changes of widgets as a browser does."""

    def __init__(self, viewer: Viewer, monkeypatch: pytest.MonkeyPatch) -> None:
        self._gui: Any = viewer.server.gui
        self.threads = Later()
        self.notes: list[str] = []
        client = SimpleNamespace(
            client_id=0, add_notification=lambda title, text, **_: self.notes.append(text)
        )
        monkeypatch.setattr(self._gui, "_thread_executor", self.threads)
        monkeypatch.setattr(self._gui, "_resolve_client", lambda client_id: client)

    @property
    def widgets(self) -> list[Any]:
        return list(self._gui._gui_input_handle_from_uuid.values())

    def widget(self, label: str) -> Any:
        (found,) = (w for w in self.widgets if getattr(w, "label", None) == label)
        return found

    def change(self, widget: Any, value: Any) -> None:
        """Return when viser has taken it."""
        message = SimpleNamespace(uuid=widget._impl.uuid, updates={"value": value})
        update = self._gui._handle_gui_updates(0, message)
        asyncio.run_coroutine_threadsafe(update, self._gui._event_loop).result(10.0)


@pytest.fixture(params=["simulation", "recording"])
def viewer(request: pytest.FixtureRequest) -> Iterator[Viewer]:
    recording = request.param == "recording"
    controls = TimeBar(9.0, lambda time: None) if recording else Simulation(1.0)
    with Viewer(load_world(text=SMALL), controls=controls, port=0) as viewer:
        yield viewer


@pytest.fixture
def browser(viewer: Viewer, monkeypatch: pytest.MonkeyPatch) -> Browser:
    return Browser(viewer, monkeypatch)


def another(widget: Any) -> Any:
    """Return another value of a widget; None: it has none."""
    kind = type(widget).__name__
    if kind == "GuiCheckboxHandle":
        return not widget.value
    if kind in ("GuiSliderHandle", "GuiNumberHandle"):
        return widget.value + widget.step
    if kind == "GuiDropdownHandle":
        return next((o for o in widget.options if o != widget.value), None)
    return None


def test_no_change_is_undone_before_it_was_taken(viewer: Viewer, browser: Browser) -> None:
    """Neither by an update between viser and the world, nor by one that follows."""
    changed = []
    for widget in browser.widgets:
        value = another(widget)
        if value is None:
            continue
        browser.change(widget, value)
        viewer.panel.update(everything=True)
        assert widget.value == value, f"{widget.label}: undone at once"
        browser.threads.run()
        viewer.panel.update(everything=True)
        viewer.serve()
        viewer.panel.update(everything=True)
        assert widget.value == value, f"{widget.label}: lost"
        changed.append(widget.label)
    assert {"Selected", "Speed", "Names", "Lidar rays", "Follow the selected"} <= {*changed}
    assert ("As fast as possible" in changed) == (viewer.panel.edit is not None)


def test_each_of_several_changes_is_taken(viewer: Viewer, browser: Browser) -> None:
    """A value is read when it comes, not when a thread has time."""
    seen: list[bool] = []
    names = viewer.stage.overlays["Names"]
    box = browser.widget("Names")
    viewer.requests.submit(lambda: seen.append(names.shown))
    for shown in (False, True, False):
        browser.change(box, shown)
        viewer.requests.submit(lambda: seen.append(names.shown))
    browser.threads.run()
    viewer.serve()
    assert seen == [True, False, True, False]


def test_what_changes_in_the_simulation_is_shown(viewer: Viewer, browser: Browser) -> None:
    viewer.stage.select("r2")
    viewer.stage.sensors.set_shown("Lidar rays", True)
    viewer.stage.overlays["Trails"].shown ^= True
    viewer.panel.update(everything=True)
    assert browser.widget("Selected").value == "r2"
    assert browser.widget("Lidar rays").value is True
    assert browser.widget("Trails").value == viewer.stage.overlays["Trails"].shown


def test_what_is_refused_is_set_back(
    viewer: Viewer, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(shown: bool) -> None:
        raise ValueError("refused")

    box = browser.widget("Parallel projection")
    (field,) = (f for f in viewer.panel.view._fields if f.widget is box)
    monkeypatch.setattr(field, "_change", refuse)
    browser.change(box, True)
    viewer.serve()
    viewer.panel.update(everything=True)
    assert browser.notes == ["refused"]
    assert box.value is False


@pytest.mark.parametrize("value", [math.nan, math.inf, 0.0, -1.0])
def test_numbers_that_no_slider_sends_stop_nothing(
    viewer: Viewer, browser: Browser, value: float
) -> None:
    labels = "Speed", "Arrows m/N", "Time s"
    sliders = [w for w in browser.widgets if getattr(w, "label", None) in labels]
    for widget in sliders:
        browser.change(widget, value)
    viewer.serve()
    viewer.update()
    viewer.panel.update(everything=True)
    assert all(math.isfinite(widget.value) for widget in sliders)
    if isinstance(viewer.controls, Simulation):
        viewer.run(0.05)
        assert viewer.controls.factor == 1.0
    else:
        assert 0.0 <= viewer.controls.time <= 9.0
        viewer.controls.advance()


def test_a_curve_that_is_not_offered_is_not_drawn(viewer: Viewer, browser: Browser) -> None:
    for name, legend in (("of another page", None), ("Yaw rad", ["yaw"])):
        browser.change(browser.widget("Curve"), name)
        browser.threads.run()
        for _ in range(3):
            viewer.world.run(0.1)
            viewer.serve()
            viewer.panel.update(everything=True)
        plot = viewer.panel.vehicle._plot
        assert (None if plot is None else [s["label"] for s in plot.series[1:]]) == legend


@pytest.mark.parametrize("between", [False, True])
def test_changes_of_a_world_that_is_gone_are_not_those_of_the_next(
    viewer: Viewer, browser: Browser, between: bool
) -> None:
    """Neither if they are served while there is no world, nor when there is another one."""
    for widget in browser.widgets:
        if (value := another(widget)) is not None and widget.label != "As fast as possible":
            browser.change(widget, value)
    if between:
        viewer.blank()
        viewer.serve()
    viewer.set_world(load_world(text=SMALL))
    shown = [(w.label, w.value) for w in browser.widgets if another(w) is not None]
    browser.threads.run()
    viewer.serve()
    viewer.update()
    layers = viewer.stage.overlays, viewer.stage.sensors.shown
    assert layers[0]["Names"].shown
    assert not layers[1]["Lidar rays"]
    now = dict((w.label, w.value) for w in browser.widgets if another(w) is not None)
    of_all = {"Selected", "Speed", "Follow the selected", "Time s"}  # not of the world
    assert now.items() >= {(k, v) for k, v in shown if k not in of_all}


def test_speed_stays_on_its_slider_while_it_is_as_fast_as_possible() -> None:
    with Viewer(load_world(text=SMALL), controls=Simulation(2.0), port=0) as viewer:
        take = viewer.panel.controls._set_most
        take(True)
        assert viewer.controls.factor is None
        take(False)
        assert viewer.controls.factor == 2.0
