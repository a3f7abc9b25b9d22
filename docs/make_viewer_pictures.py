# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Takes the pictures of docs/viewer.md: python docs/make_viewer_pictures.py docs/images [NAME...].

Needs viser, playwright and Chromium, which may draw in software.
"""

from __future__ import annotations

import io
import shutil
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

from mvsim_core import World, load_world
from mvsim_core.rendering.context import release_context
from mvsim_core.rendering.picture import View
from mvsim_core.viewer import Simulation, Viewer

WORLDS = Path(__file__).resolve().parents[1] / "worlds"
SIZE = {"width": 1280, "height": 800}
TALL = {"width": 1280, "height": 1060}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
)
QUALITY = 82
#: How long a browser that draws in software may need for anything [ms].
PATIENCE = 300_000
#: Two frames: what came before them is drawn.
FRAMES = "new Promise(f => requestAnimationFrame(() => requestAnimationFrame(f)))"
#: Whether the curves, if there are any, have their size.
CURVES = "[...document.querySelectorAll('.uplot canvas')].every((c) => c.clientHeight > 100)"


def overview(world: World, viewer: Viewer) -> str:
    """Show a whole world."""
    drive(world, 3.0)
    viewer.stage.cameras.overview()
    return "View"


def follow(world: World, viewer: Viewer) -> str:
    """Follow a vehicle, with its trail."""
    viewer.stage.overlays["Trails"].shown = True
    drive(world, 8.0, viewer)
    viewer.stage.cameras.behind(viewer.stage.selected)
    viewer.stage.cameras.follow(viewer.stage.selected)
    return "Drive"


def sensors(world: World, viewer: Viewer) -> str:
    """Show readings: a cloud, a picture, a scan."""
    viewer.stage.sensors.set_shown("Lidar area", True)
    drive(world, 2.0, viewer)
    viewer.stage.cameras.behind(viewer.stage.selected)
    return "View"


def forces(world: World, viewer: Viewer) -> str:
    """Push a crate with a robot."""
    for name in ("Wheel forces", "Contact forces"):
        viewer.stage.overlays[name].shown = True
        viewer.stage.overlays[name].scale = 0.04
    robot = world.vehicles["courier1"]
    crate = world.blocks["crate_1"]
    pose = crate.pose
    robot.teleport(pose.x - 0.9, pose.y, 0.0)
    robot.set_twist(0.6, 0.0, 0.0)
    world.run(1.6)
    viewer.stage.cameras.look(
        View((pose.x - 0.3, pose.y - 2.6, 1.5), (pose.x + 0.2, pose.y, 0.2), 0.9, 0.05)
    )
    return "View"


def vehicle(world: World, viewer: Viewer) -> str:
    """Show the numbers and curves of a vehicle."""
    for k in range(8):
        world.vehicles["r1"].set_twist(0.3 + 0.3 * (k % 2), 0.0, 0.4 - 0.2 * (k % 3))
        run(world, viewer, 1.0)
    viewer.stage.cameras.behind("r1")
    return "Vehicle"


#: Name of the picture, world, what is done before it is taken; it returns the tab.
PICTURES: dict[str, tuple[str, Callable[[World, Viewer], str]]] = {
    "overview": ("warehouse", overview),
    "follow": ("mecanum", follow),
    "sensors": ("field", sensors),
    "forces": ("two_robots", forces),
    "vehicle": ("depot", vehicle),
}


def drive(world: World, seconds: float, viewer: Viewer | None = None) -> None:
    """Let all vehicles drive in arcs."""
    for robot in world.vehicles.values():
        if "twist" in robot.accepts:
            robot.set_twist(0.6, 0.0, 0.25)
    run(world, viewer, seconds)


def run(world: World, viewer: Viewer | None, seconds: float) -> None:
    """Simulate, with samples for curves and trails."""
    for k in range(round(seconds / world.dt)):
        world.step()
        if viewer is not None and k % 10 == 0:
            viewer.stage.note_readings()
            viewer.panel.vehicle.sample()
            viewer.stage.overlays["Trails"].update()


def take(browser: Any, name: str, folder: Path) -> None:
    """Take one picture."""
    file, prepare = PICTURES[name]
    opened: list[Viewer] = []

    def serve() -> None:  # cameras belong to one thread
        world = load_world(WORLDS / f"{file}.world.xml")
        with Viewer(world, controls=Simulation(1.0, paused=True), port=0) as viewer:
            opened.append(viewer)
            viewer.run()
        release_context()

    thread = threading.Thread(target=serve)
    thread.start()
    while not opened:
        time.sleep(0.1)
    (viewer,) = opened
    try:
        page = browser.new_page(viewport=TALL if name == "vehicle" else SIZE)
        page.set_default_timeout(PATIENCE)
        page.goto(viewer.url)
        page.wait_for_selector("text=Selected")
        wait_until_drawn(page)
        tab: list[str] = []
        viewer.submit(lambda: tab.append(prepare(viewer.world, viewer)))
        while not tab:
            time.sleep(0.1)
        page.get_by_role("tab", name=tab[0]).click()
        page.add_style_tag(content=".mantine-Notifications-root {display: none}")
        wait_until_drawn(page)
        if name == "vehicle":
            page.wait_for_selector(".uplot canvas")
        page.wait_for_function(CURVES)
        wait_until_drawn(page)
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        picture.save(folder / f"viewer_{name}.jpg", quality=QUALITY)
        page.close()
    finally:
        viewer.close()
        thread.join()


def wait_until_drawn(page: Any) -> None:
    """Wait until messages that are on their way have come, and are drawn."""
    for _ in range(3):
        time.sleep(1.0)
        page.evaluate(FRAMES)


def main() -> None:
    """Take those that are named, or all."""
    from playwright.sync_api import sync_playwright

    folder, names = Path(sys.argv[1]), sys.argv[2:] or list(PICTURES)
    path = next(filter(None, map(shutil.which, BROWSERS)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(OPTIONS))
        for name in names:
            take(browser, name, folder)
        browser.close()


if __name__ == "__main__":
    main()
