# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The viewer in a real browser: what is clicked, typed and dragged is done to the simulation."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

import pytest

from mvsim_core.rendering.picture import View
from tests.unit.viewer.browser import SIZE, Page, Running, chromium, wait_for
from tests.unit.viewer.worlds import SMALL

pytest.importorskip("viser", reason="viser is not installed")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    running = Running(SMALL)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def page(browser: Any, running: Running) -> Iterator[Page]:
    page = Page(browser, running.viewer.url)
    yield page
    assert page.faults == []
    page.close()


@pytest.fixture(autouse=True)
def from_the_start(running: Running) -> None:
    """Each test finds the world at its start, and running in real time."""

    def reset() -> None:
        controls = running.viewer.controls
        controls.reset(running.viewer)
        controls.pause(False)
        controls.set_factor(1.0)
        running.viewer.stage.select("r1")

    done: list[bool] = []
    running.viewer.submit(lambda: done.append(not reset()))
    wait_for(lambda: bool(done), "the reset")


def test_pause_step_and_run(page: Page, running: Running) -> None:
    world = running.world
    page.click("Pause")
    wait_for(lambda: running.viewer.controls.paused, "paused")
    ticks = world.ticks
    time.sleep(0.3)
    assert world.ticks == ticks
    page.click("Step")
    wait_for(lambda: world.ticks == ticks + 1, "one step")
    time.sleep(0.2)
    assert world.ticks == ticks + 1
    page.page.keyboard.press("n")
    wait_for(lambda: world.ticks == ticks + 2, "one more step, by its key")
    page.click("Run")
    wait_for(lambda: world.ticks > ticks + 20, "going on")
    page.page.keyboard.press("Space")
    wait_for(lambda: running.viewer.controls.paused, "paused by the space bar")


def test_reset_and_restart_with_another_seed(page: Page, running: Running) -> None:
    world = running.world
    wait_for(lambda: world.time > 0.5, "half a second")
    running.viewer.submit(lambda: world.vehicles["r1"].teleport(2.0, -1.0, 0.0))
    page.click("Reset")
    wait_for(lambda: world.vehicles["r1"].pose.x < 0.1, "the start")
    assert world.seed == 0
    page.fill("Seed", "42")
    page.click("Restart with this seed")
    wait_for(lambda: world.seed == 42, "the other seed")
    assert world.time < 5.0


def test_speed(page: Page, running: Running) -> None:
    world = running.world

    def rate() -> float:
        before, start = world.time, time.perf_counter()
        time.sleep(1.0)
        return (world.time - before) / (time.perf_counter() - start)

    page.fill("Speed", "0.2")
    wait_for(lambda: running.viewer.controls.factor == 0.2, "the factor 0.2")
    time.sleep(0.3)
    assert rate() < 0.3
    page.check("As fast as possible")
    wait_for(lambda: running.viewer.controls.factor is None, "as fast as possible")
    assert rate() > 0.3  # much more, if the machine is not busy
    page.check("As fast as possible")
    page.fill("Speed", "1")
    wait_for(lambda: running.viewer.controls.factor == 1.0, "the factor 1")


@pytest.mark.parametrize(("key", "turns"), [("w", False), ("ArrowUp", False), ("a", True)])
def test_drive_by_key(page: Page, running: Running, key: str, turns: bool) -> None:
    robot = running.world.vehicles["r1"]
    page.page.keyboard.down(key)
    wait_for(lambda: (robot.twist.wz if turns else robot.twist.vx) > 0.3, "driving")
    page.page.keyboard.up(key)
    wait_for(lambda: abs(robot.twist.vx) + abs(robot.twist.wz) < 0.05, "stopped")
    pose = robot.pose
    assert (pose.yaw if turns else pose.x) > 0.005


def test_keys_drive_only_if_asked_and_not_while_typing(page: Page, running: Running) -> None:
    robot = running.world.vehicles["r1"]
    page.tab("Edit")
    box = page._beside("Name")
    box.click()
    page.page.keyboard.down("w")
    time.sleep(0.5)
    page.page.keyboard.up("w")
    assert robot.pose.x == pytest.approx(0.0, abs=1e-6)
    assert page.value("Name") != ""
    box.fill("")
    box.blur()
    page.tab("Drive")
    page.check("Keys drive")
    page.page.wait_for_selector('#mvsim-drive[data-keys="0"]', state="attached")
    page.page.keyboard.down("w")
    time.sleep(0.5)
    page.page.keyboard.up("w")
    assert robot.pose.x == pytest.approx(0.0, abs=1e-6)
    page.check("Keys drive")
    page.page.wait_for_selector('#mvsim-drive[data-keys="1"]', state="attached")


def test_joystick(page: Page, running: Running) -> None:
    robot = running.world.vehicles["r1"]
    page.tab("Drive")
    pad = page.page.locator("#mvsim-pad").bounding_box()
    middle = (pad["x"] + 0.5 * pad["width"], pad["y"] + 0.5 * pad["height"])
    mouse = page.page.mouse
    mouse.move(*middle)
    mouse.down()
    mouse.move(middle[0], middle[1] + 0.4 * pad["height"])
    wait_for(lambda: robot.twist.vx < -0.3, "driving backwards")
    mouse.up()
    wait_for(lambda: abs(robot.twist.vx) < 0.05, "stopped")


def test_gamepad(page: Page, running: Running) -> None:
    robot = running.world.vehicles["r1"]
    real = "window.realPads = window.realPads || navigator.getGamepads.bind(navigator);"
    stick = "[{connected: true, axes: [0, -1, 0, 0.05]}]"
    page.page.evaluate(f"{real} navigator.getGamepads = () => {stick}")
    wait_for(lambda: robot.twist.vx > 0.3, "driving")
    assert abs(robot.twist.wz) < 0.05
    page.page.evaluate("navigator.getGamepads = window.realPads")
    wait_for(lambda: abs(robot.twist.vx) < 0.05, "stopped")


def test_a_browser_that_goes_silent_stops_the_robot_and_may_come_back(
    page: Page, running: Running
) -> None:
    robot = running.world.vehicles["r1"]
    page.page.keyboard.down("w")
    wait_for(lambda: robot.twist.vx > 0.3, "driving")
    page.page.evaluate("window.stop(); for (let k = 0; k < 10000; k++) clearInterval(k)")
    wait_for(lambda: abs(robot.twist.vx) < 0.05, "stopped", 5.0)
    (before,) = running.viewer.server.get_clients()
    page.page.reload()
    page.page.wait_for_selector("text=Selected")
    wait_for(lambda: [*running.viewer.server.get_clients()] != [before], "another client")
    wait_for(lambda: running.viewer.watchers == 1, "one browser")
    page.tab("Vehicle")
    page.page.wait_for_selector("text=differential")
    page.tab("View")


def test_type_a_pose(page: Page, running: Running) -> None:
    robot = running.world.vehicles["r1"]
    page.tab("Edit")
    for label, value in (("x m", "-2.5"), ("y m", "1.5"), ("yaw °", "90")):
        page.fill(label, value)
    page.click("Set pose")
    wait_for(lambda: robot.pose.x == -2.5, "the pose")
    assert (robot.pose.y, robot.pose.yaw) == pytest.approx((1.5, 0.5 * math.pi))


def test_drag_with_the_mouse(page: Page, running: Running) -> None:
    viewer, robot = running.viewer, running.world.vehicles["r1"]
    (client,) = viewer.server.get_clients().values()
    page.tab("Edit")
    page.check("Drag with the mouse")
    wait_for(lambda: viewer.panel.edit.gizmo is not None, "handles for dragging")
    # from above; panel and notices do not cover the way
    above = View((1.6, 0.699, 5.0), (1.6, 0.7, 0.0), 1.0, 0.05)
    viewer.submit(lambda: viewer.stage.cameras.look(above, client))
    gizmo = viewer.panel.edit.gizmo
    square = 1.7 / 7.0 * gizmo.scale  # middle of the handle that moves it in x and y
    height = gizmo.position[2]
    mouse = page.page.mouse

    def grasped() -> bool:
        mouse.up()
        mouse.move(*pixel(above, square, square, height))
        page.wait_until_drawn()
        mouse.down()
        page.wait_until_drawn()
        return bool(viewer.panel.edit.dragging)

    wait_for(grasped, "the handle to be drawn and grasped")
    for step in (1, 2, 3, 4):
        mouse.move(*pixel(above, square + 0.2 * step, square - 0.15 * step, height))
    wait_for(lambda: abs(robot.pose.x - 0.8) < 0.05, "dragged")
    mouse.up()
    assert robot.pose.y == pytest.approx(-0.6, abs=0.05)
    assert robot.pose.yaw == pytest.approx(0.0, abs=1e-6)
    page.check("Drag with the mouse")
    wait_for(lambda: viewer.panel.edit.gizmo is None, "no handles")


def pixel(view: View, x: float, y: float, z: float) -> tuple[float, float]:
    """Return where a point [m] is in the page, seen from above."""
    focal = 0.5 * SIZE["height"] / math.tan(0.5 * view.fov)
    scale = focal / (view.eye[2] - z)
    right, up = scale * (x - view.at[0]), scale * (y - view.at[1])
    return 0.5 * SIZE["width"] + right, 0.5 * SIZE["height"] - up


def test_spawn_and_remove(page: Page, running: Running) -> None:
    world = running.world
    page.tab("Edit")
    page.fill("Name", "guest")
    page.click("Add where I look")
    wait_for(lambda: "guest" in world.vehicles, "the new vehicle")
    wait_for(lambda: running.viewer.stage.selected == "guest", "selected")
    assert abs(world.vehicles["guest"].pose.z) < 1e-6
    wait_for(lambda: page.value("Name") == "", "the field to be empty again")
    page.fill("Name", "guest")
    page.click("Add where I look")
    page.page.wait_for_selector("text=there is already something called 'guest'")
    page.click("Remove the selected")
    wait_for(lambda: "guest" not in world.vehicles, "its removal")
    page.fill("Name", "")


def test_sensors_compute_only_while_they_are_shown(page: Page, running: Running) -> None:
    laser = running.world.vehicles["r2"].sensors["laser"]
    page.tab("View")

    def reads() -> bool:
        before = laser.last
        time.sleep(0.5)
        return laser.last is not before

    wait_for(reads, "readings")
    page.check("Lidar points")
    wait_for(lambda: not reads(), "no readings")
    page.check("Lidar points")
    wait_for(reads, "readings again")


def test_two_browsers(page: Page, browser: Any, running: Running) -> None:
    viewer = running.viewer
    wait_for(lambda: viewer.watchers == 1, "one browser")
    page.page.set_viewport_size({"width": 600, "height": 300})  # two draw on one machine
    other = Page(browser, viewer.url)
    wait_for(lambda: viewer.watchers == 2, "two browsers")
    other.click("Pause")
    wait_for(lambda: running.viewer.controls.paused, "paused")
    page.page.wait_for_selector("text=paused")
    page.click("Run")
    wait_for(lambda: not running.viewer.controls.paused, "going on")
    assert other.faults == []
    other.close()
    wait_for(lambda: viewer.watchers == 1, "one browser again")
