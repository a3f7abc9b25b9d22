# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The viewer without a browser: pace, time bar, driving, what is shown of sensors and forces."""

from __future__ import annotations

import asyncio
import math
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from mvsim_core import MvsimError, load_world, progress
from mvsim_core.viewer import Simulation, TimeBar, Viewer
from mvsim_core.viewer.drive_page import MARK, Stick, stick_of
from mvsim_core.viewer.edit_tab import on_floor
from mvsim_core.viewer.readings import reading_line, sensors_text, vehicle_text
from mvsim_core.viewer.vehicle_sources import sources_of
from tests.unit.viewer.worlds import SMALL

pytest.importorskip("viser", reason="viser is not installed")
WORLDS = Path(__file__).resolve().parents[3] / "worlds"


@pytest.fixture
def viewer() -> Iterator[Viewer]:
    with Viewer(load_world(text=SMALL), port=0) as viewer:
        yield viewer


# ------------------------------------------------------------------ pace
class WallClock:
    """A clock that goes on only while the viewer waits, and when it is put on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        clock = SimpleNamespace(perf_counter=lambda: self.now)
        monkeypatch.setattr("mvsim_core.viewer.simulation.wall", clock)
        monkeypatch.setattr(Viewer, "wait", lambda viewer, seconds: self.put_on(seconds + 1e-6))

    def put_on(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    return WallClock(monkeypatch)


@pytest.mark.parametrize("factor", [1.0, 5.0])
def test_pace(clock: WallClock, factor: float) -> None:
    world = load_world(text=SMALL)
    with Viewer(world, controls=Simulation(factor), port=0) as viewer:
        viewer.run(0.5 * factor)
        assert clock.now == pytest.approx(0.5, abs=0.02)
        assert world.time == pytest.approx(0.5 * factor, abs=0.02)


@pytest.mark.parametrize(("stands_still", "caught_up"), [(0.15, 0.15), (5.0, 0.0)])
def test_what_a_machine_stands_still_for_long_is_not_caught_up(
    clock: WallClock, stands_still: float, caught_up: float
) -> None:
    world = load_world(text=SMALL)
    with Viewer(world, controls=Simulation(1.0), port=0) as viewer:
        viewer.run(0.2)
        clock.put_on(stands_still)
        viewer.run(0.6)
        assert clock.now == pytest.approx(0.6 + stands_still - caught_up, abs=0.02)


def test_a_speed_that_is_not_positive_is_refused() -> None:
    for factor in (0.0, -1.0, math.nan):
        with pytest.raises(ValueError, match="must be positive"):
            Simulation(factor)


def test_the_world_can_be_seen_before_the_kernels_of_its_steps_are_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """That may take minutes the first time; browsers say so."""
    notes: list[str] = []
    seen: list[tuple[int, bool]] = []
    world = load_world(text=SMALL, preload=False)
    with Viewer(world, controls=Simulation(None), port=0) as viewer:
        monkeypatch.setattr(viewer, "notify", notes.append)

        def load() -> None:
            seen.append((world.ticks, viewer.stage.selected != ""))
            progress.announce_once("compiling")

        monkeypatch.setattr(world, "load_kernels", load)
        viewer.run(0.05)
    assert seen == [(0, True)]
    assert notes == ["compiling"]


def test_a_loop_of_its_own_is_held_while_it_is_paused() -> None:
    world = load_world(text=SMALL)
    with world.view(port=0) as viewer:
        done = threading.Event()

        def loop() -> None:
            for _ in range(50):
                world.step()
                viewer.after_step()
            done.set()

        viewer.controls.pause(True)
        thread = threading.Thread(target=loop)
        thread.start()
        assert not done.wait(0.3)
        assert world.ticks == 1
        viewer.submit(lambda: viewer.controls.step(viewer, 3))
        time.sleep(0.3)
        assert world.ticks == 4
        viewer.submit(lambda: viewer.controls.pause(False))
        assert done.wait(5.0)
        thread.join()


def test_a_reset_does_not_upset_the_pace(clock: WallClock, viewer: Viewer) -> None:
    world = viewer.world
    viewer.controls.set_factor(1.0)
    viewer.run(0.3)
    viewer.controls.reset(viewer, 7)
    assert (world.ticks, world.seed) == (0, 7)
    start = clock.now
    viewer.run(0.3)
    assert clock.now - start == pytest.approx(0.3, abs=0.02)


def test_errors_of_requests_do_not_stop_the_simulation(viewer: Viewer) -> None:
    viewer.submit(lambda: viewer.world.remove("unknown"))
    viewer.serve()
    viewer.run(0.1)
    assert viewer.world.ticks >= 10


# ------------------------------------------------------------------ time bar
def test_time_bar() -> None:
    world = load_world(text=SMALL)
    robot, seen = world.vehicles["r1"], []

    def seek(time: float) -> None:
        seen.append(time)
        robot.teleport(0.1 * time, 0.0, 0.0)

    bar = TimeBar(0.6, seek, speed=2.0)
    with Viewer(world, controls=bar, port=0) as viewer:
        thread = threading.Thread(target=viewer.run)
        thread.start()
        time.sleep(0.8)
        assert not bar.playing
        assert seen[0] == 0.0
        assert seen[-1] == bar.time == 0.6
        assert seen == sorted(seen)
        viewer.submit(lambda: bar.seek(0.25))
        time.sleep(0.2)
        assert robot.pose.x == pytest.approx(0.025)
        viewer.submit(lambda: bar.seek(9.0))
        time.sleep(0.2)
        assert seen[-1] == 0.6
        viewer.close()
        thread.join(5.0)
    assert viewer.panel.edit is None  # a recording cannot be edited
    assert world.ticks == 0


# ------------------------------------------------------------------ driving
def test_texts_of_browsers_are_not_trusted() -> None:
    assert stick_of(MARK + '{"f":1,"t":-0.5,"s":0,"n":3}') == Stick(1.0, -0.5, 0.0)
    for text in (
        "",
        MARK,
        MARK + "{}",
        MARK + "[1]",
        MARK + '{"f":2,"t":0,"s":0}',
        MARK + '{"f":NaN,"t":0,"s":0}',
        MARK + '{"f":[],"t":0,"s":0}',
        MARK + '{"f":"1e999","t":0,"s":0}',
        '{"f":1,"t":0,"s":0}',
    ):
        assert stick_of(text) is None


@pytest.mark.parametrize("world", ["two_robots", "mecanum", "trailers", "depot"])
def test_each_kind_of_vehicle_can_be_driven(world: str) -> None:
    loaded = load_world(WORLDS / f"{world}.world.xml")
    with Viewer(loaded, port=0) as viewer:
        for name, vehicle in loaded.vehicles.items():
            if name.startswith("trailer"):
                continue
            viewer.stage.select(name)
            start = vehicle.pose
            viewer.panel.driving.steer(Stick(forward=1.0))
            for _ in range(round(0.5 / loaded.dt)):
                loaded.step()
            moved = np.hypot(vehicle.pose.x - start.x, vehicle.pose.y - start.y)
            assert moved > 0.05, name
            viewer.panel.driving.stop()


# ------------------------------------------------------------------ dragging
def test_dragging(viewer: Viewer) -> None:
    edit, robot = viewer.panel.edit, viewer.world.vehicles["r1"]
    assert edit is not None
    edit._drag.value = True
    viewer.serve()
    gizmo = edit.gizmo
    assert gizmo.position[:2].tolist() == [0.0, 0.0]
    assert gizmo.position[2] > 0.3  # above the robot, which would take the mouse

    def drag(phase: str, x: float, yaw: float) -> None:
        gizmo.position = (x, 1.0, 0.0)
        gizmo.wxyz = (math.cos(0.5 * yaw), 0.0, 0.0, math.sin(0.5 * yaw))
        asyncio.run(edit._on_drag(SimpleNamespace(target=gizmo, phase=phase, client=None)))
        viewer.serve()

    for phase, x, yaw in (("start", 0.2, 0.0), ("update", 0.8, 0.0), ("update", 1.5, 2.0)):
        drag(phase, x, yaw)
        assert robot.pose[:2] == pytest.approx((x, 1.0))
        assert robot.pose.yaw == pytest.approx(yaw)
        edit.follow()
        assert gizmo.position[0] == x  # the hand moves the handles, not the robot
    drag("end", 1.5, 2.0)
    robot.teleport(-2.0, 0.0, 0.0)
    edit.follow()
    assert gizmo.position[:2].tolist() == [-2.0, 0.0]
    viewer.stage.select("box")
    assert edit.gizmo.position[:2].tolist() == [2.0, 2.0]
    viewer.world.remove("box")
    viewer.update()
    viewer.stage.select("")
    assert edit.gizmo is None


# ------------------------------------------------------------------ layers
def test_forces_are_those_of_the_world() -> None:
    text = SMALL.replace("<gui>", "<gui><show_forces>true</show_forces>")
    world = load_world(text=text)
    with Viewer(world, port=0) as viewer:
        robot = world.vehicles["r1"]
        robot.set_twist(1.0)
        world.run(0.1)
        viewer.update()
        arrows = viewer.stage.overlays["Wheel forces"].node.points
        drawn = (arrows[:, 1] - arrows[:, 0]) / world.spec.gui.force_scale
        forces = np.array([(w.fx, w.fy, 0.0) for w in robot.wheels])
        assert drawn == pytest.approx(forces, rel=1e-3, abs=1e-3)
        assert arrows[:, 0, 1].tolist() == pytest.approx([0.2, -0.2], abs=0.01)


def test_forces_of_contacts() -> None:
    text = SMALL.replace("<init_pose>2 2 0", "<init_pose>0.8 0 0")
    world = load_world(text=text)
    with Viewer(world, port=0) as viewer:
        viewer.stage.overlays["Contact forces"].shown = True
        world.vehicles["r1"].set_twist(1.0)
        while not world.vehicles["r1"].in_collision:
            world.step()
        world.run(0.2)
        viewer.update()
        (contact, *_) = [c for c in world.contacts if c.impulse > 0.0]
        arrows = viewer.stage.overlays["Contact forces"].node.points
        assert len(arrows) == 2 * len([c for c in world.contacts if c.impulse / world.dt > 0.05])
        force = np.linalg.norm(arrows[0, 1] - arrows[0, 0]) / world.spec.gui.force_scale
        assert force == pytest.approx(contact.impulse / world.dt, rel=1e-3)


def test_points_of_a_scan_are_where_the_wall_is(viewer: Viewer) -> None:
    world = viewer.world
    world.vehicles["r1"].set_twist(1.0, 0.0, 0.3)
    viewer._watchers = {0}
    viewer.update()
    for _ in range(60):
        world.step()
        viewer.after_step()
    viewer.update()
    (points,) = [n for n in viewer.stage.sensors.views["r1/laser"].nodes if "points" in n.name]
    places = points.points
    ahead = np.abs(places[:, 1]) < 1.0
    # half a point nearer, so that the wall does not cut it
    assert places[ahead, 0] == pytest.approx(np.full(ahead.sum(), 3.975), abs=0.02)
    assert places[:, 2] == pytest.approx(np.full(len(places), 0.2), abs=1e-3)


def test_trails(viewer: Viewer) -> None:
    world = viewer.world
    trails = viewer.stage.overlays["Trails"]
    trails.shown = True
    world.vehicles["r1"].set_twist(1.0)
    for _ in range(10):
        world.run(0.2)
        trails._drawn = 0.0
        trails.update()
    way = trails.node.points
    assert way[0, 0, 0] == pytest.approx(0.0, abs=0.3)
    assert way[-1, 1, 0] == pytest.approx(world.vehicles["r1"].pose.x, abs=0.1)
    world.reset()
    trails.update()
    assert not trails.node.visible


def test_following_shifts_the_world(viewer: Viewer) -> None:
    cameras = viewer.stage.cameras
    robot = viewer.world.vehicles["r1"]
    cameras.follow("r1")
    robot.teleport(2.0, 1.0, 0.0)
    viewer.update()
    assert cameras.shift.tolist() == [-2.0, -1.0, 0.0]
    assert viewer.stage.place(np.zeros(3)).tolist() == [2.0, 1.0, 0.0]
    viewer.world.remove("r1")
    viewer.update()
    assert cameras.followed == "r2"  # which is selected now
    viewer.world.remove("r2")
    viewer.update()
    assert cameras.followed == ""


def test_gui_of_the_file() -> None:
    gui = "<gui><ortho>true</ortho> <follow_vehicle>r2</follow_vehicle>"
    gui += "<show_sensor_points>false</show_sensor_points>"
    world = load_world(text=SMALL.replace("<gui>", gui))
    with Viewer(world, port=0) as viewer:
        stage = viewer.stage
        assert (stage.selected, stage.cameras.followed) == ("r2", "r2")
        assert stage.cameras.parallel
        start = viewer.server.initial_camera
        assert start.fov < 0.1
        assert start.look_at == pytest.approx((0.0, -3.0, 0.0))
        assert np.linalg.norm(start.position - start.look_at) > 100.0
        assert not stage.sensors.shown["Lidar points"]


# ------------------------------------------------------------------ texts
@pytest.mark.parametrize("world", ["warehouse", "depot", "field", "two_robots"])
def test_readings_of_all_sensors_are_a_line(world: str) -> None:
    loaded = load_world(WORLDS / f"{world}.world.xml")
    loaded.run(0.3)
    for vehicle in loaded.vehicles.values():
        for sensor in vehicle.sensors.values():
            line = reading_line(sensor)
            assert "\n" not in line
            assert len(line) < 200
            assert "Reading" not in line
        assert "nan" not in vehicle_text(vehicle)
        assert sensors_text(vehicle.sensors).count("\n") == max(len(vehicle.sensors) - 1, 0)


def test_vehicles_that_can_be_added() -> None:
    world = load_world(WORLDS / "two_robots.world.xml")
    sources = sources_of(world)
    assert {"courier", "wagon", "jackal"} <= sources.keys()
    added = world.add_vehicle(sources["jackal"], pose=(5.0, 5.0, 0.0))
    assert added.pose.x == 5.0
    assert sources_of(load_world(text="<mvsim_world/>")) == {}


def test_where_a_look_meets_the_floor() -> None:
    eye, at = np.array([0.0, 0.0, 10.0]), np.array([5.0, 0.0, 5.0])
    assert on_floor(eye, at, 0.0).tolist() == [10.0, 0.0, 0.0]
    assert on_floor(at, eye, 0.0) is eye


# ------------------------------------------------------------------ server
def test_what_is_wrong_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    world = load_world(text=SMALL)
    with pytest.raises(MvsimError, match=r"the viewer cannot use the address '203.0.113.1'"):
        Viewer(world, bind="203.0.113.1", port=0)
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(MvsimError, match=r"pip install 'mvsim_core\[view\]'"):
        Viewer(world, port=0)


def test_a_port_that_is_taken(viewer: Viewer) -> None:
    with Viewer(load_world(text=SMALL), port=viewer.port) as other:
        assert other.port > viewer.port
        assert other.url == f"http://127.0.0.1:{other.port}"
