# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What a viewer costs.

`python -m benchmarks.viewer [SECONDS]`, `python -m benchmarks.viewer start [WORLD]`. The first
prints, for worlds of 1, 25 and 100 robots and 0, 1 and 3 browsers, the processor time of
the simulation's process per simulated second at real time, and how often browsers are updated.
The browsers are clients in a process of their own that take all messages and draw nothing, so that
only the simulation's side is measured. The second measures the time from the start of `mvsim view`
to the first picture of the world, and to the last panel, in Chromium, which runs already and has
or has not seen the page before; without WORLD, of a server of viser with nothing of ours.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
import viser
import websockets.asyncio.client as client
from websockets.typing import Subprotocol

from benchmarks.recordings import yard
from mvsim_core.viewer import Simulation, Viewer

ROBOTS = (1, 25, 100)
BROWSERS = (0, 1, 3)
#: A server of viser without anything of ours.
EMPTY = """
import sys, time, numpy, viser
server = viser.ViserServer(host="127.0.0.1", port=int(sys.argv[1]), verbose=False)
server.gui.add_markdown("Selected")
server.scene.add_batched_axes("/axes", numpy.array([[1.0, 0, 0, 0]]), numpy.zeros((1, 3)))
print(f"http://127.0.0.1:{server.get_port()}", flush=True)
time.sleep(1000)
"""
CAMERA: dict[str, object] = {
    "type": "ViewerCameraMessage",
    "wxyz": (1.0, 0.0, 0.0, 0.0),
    "position": (10.0, 0.0, 10.0),
    "fov": 1.0,
    "near": 0.1,
    "far": 100.0,
    "image_height": 600,
    "image_width": 800,
    "look_at": (0.0, 0.0, 0.0),
    "up_direction": (0.0, 0.0, 1.0),
}


def browsers(url: str, count: int, received: Any) -> None:
    """Take all messages of a viewer; `received` counts their bytes."""

    async def one() -> None:
        protocol = Subprotocol(f"viser-v{viser.__version__}")
        async with client.connect(
            url, subprotocols=[protocol], max_size=None, compression=None
        ) as connection:
            await connection.send(msgspec.msgpack.encode(CAMERA))
            async for message in connection:
                received.value += len(message)

    async def every() -> None:
        await asyncio.gather(*(one() for _ in range(count)))

    asyncio.run(every())


def measure(robots: int, count: int, seconds: float) -> dict[str, float]:
    """Return processor time per simulated second [s], updates a second, and megabytes a second."""
    world = yard(robots)
    for vehicle in world.vehicles.values():
        vehicle.set_twist(0.5, 0.0, 0.5)
    updates = 0
    received = multiprocessing.Value("d", 0.0)
    with Viewer(world, controls=Simulation(1.0), port=0, on_demand=False) as viewer:
        update = viewer.update

        def counted() -> None:
            nonlocal updates
            updates += 1
            update()

        viewer.update = counted  # type: ignore[method-assign]
        process = None
        if count:
            url = viewer.url.replace("http", "ws")
            spawn = multiprocessing.get_context("fork")
            process = spawn.Process(target=browsers, args=(url, count, received), daemon=True)
            process.start()
        end = time.monotonic() + 20.0
        while viewer.watchers < count and time.monotonic() < end:
            viewer.wait(0.05)
        viewer.run(world.time + 1.0)
        updates, received.value = 0, 0.0
        cpu, wall, start = time.process_time(), time.perf_counter(), world.time
        viewer.run(world.time + seconds)
        simulated = world.time - start
        elapsed = time.perf_counter() - wall
        result = {
            "cpu": (time.process_time() - cpu) / simulated,
            "updates": updates / elapsed,
            "megabytes": received.value / elapsed / 1e6,
            "factor": simulated / elapsed,
        }
        if process is not None:
            process.terminate()
    return result


#: Visits of a page: browsers keep the compiled form of a script after the second one.
VISITS = 3
#: Time in which a browser puts away what it keeps [s].
PAUSE = 3.0
#: Notes when the page first draws robots.
NOTES = """
window.notes = {};
const note = (name) => { window.notes[name] = window.notes[name] ?? performance.now() / 1000; };
const draw = WebGL2RenderingContext.prototype.drawElementsInstanced;
WebGL2RenderingContext.prototype.drawElementsInstanced = function (...given) {
  draw.apply(this, given);
  if (this.canvas.isConnected) note("robots");
};
"""


#: Whether that can be seen: a page of viser is nearly transparent while it loads its light.
SEEN = """window.notes.robots &&
Number(document.querySelector("canvas").style.opacity || 1) === 1"""


#: Waits until what was drawn is shown: when the next frame after it is asked for.
SHOWN = "new Promise(f => requestAnimationFrame(() => requestAnimationFrame(f)))"


def start(world: str | None) -> None:
    """Print the time from starting `mvsim view` to the first picture of the world, and to panels.

    In a browser that sees the page for the first time, and then in the same one, which has kept
    what it could. Without a world, the same of an empty server of viser, with axes only: what the
    page and the browser need by themselves.
    """
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    options = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader"]
    options.append("--enable-unsafe-swiftshader")
    with socket.socket() as probe:  # browsers keep pages by port too
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    command = [sys.executable, "-c", EMPTY, port]
    if world is not None:
        command = [sys.executable, "-m", "mvsim_core.cli", "view", world]
        command += ["--no-browser", "--port", port]
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as profile:
        browser = playwright.chromium.launch_persistent_context(
            profile,
            executable_path=path,
            args=options,
            viewport={"width": 800, "height": 600},
        )
        browser.add_init_script(NOTES)
        for visit in range(VISITS):
            times = visited(browser, command)
            name = world or "an empty server"
            print(
                f"{name}, visit {visit + 1}: served after {times['served']:.2f} s,"
                f" first picture after {times['picture']:.2f} s,"
                f" with all panels after {times['panels']:.2f} s; processor time:"
                f" simulator {times['simulator']:.2f} s, browser {times['browser']:.2f} s",
                flush=True,
            )
        browser.close()


def visited(browser: Any, command: list[str]) -> dict[str, float]:
    """Return when a new simulation was served and seen, and processor times until then [s]."""
    page = browser.new_page()
    page.goto("about:blank")
    before, begin = processor_times(os.getpid()), time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            seen = first_picture(process, page, begin)
            after = processor_times(os.getpid())
            page.wait_for_timeout(PAUSE * 1e3)
        finally:
            page.close()
            process.terminate()
    simulator = after.pop(process.pid)
    everything = sum(after[pid] - before.get(pid, 0.0) for pid in after)
    return {**seen, "simulator": simulator, "browser": everything}


def processor_times(root: int) -> dict[int, float]:
    """Return the processor time [s] of a process and of all that it started, by pid; on Linux."""
    tick = os.sysconf("SC_CLK_TCK")
    parents: dict[int, int] = {}
    times: dict[int, float] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            fields = path.read_text().rpartition(")")[2].split()
            pid = int(path.parent.name)
            parents[pid], times[pid] = int(fields[1]), (int(fields[11]) + int(fields[12])) / tick
    family = {root}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    return {pid: times[pid] for pid in family}


def first_picture(process: subprocess.Popen[str], page: Any, begin: float) -> dict[str, float]:
    """Return when the page was served, showed the robots, and had all panels [s]."""
    assert process.stdout is not None
    lines = (line.split() for line in process.stdout)
    url = next(words[-1] for words in lines if words and words[-1].startswith("http"))
    times = {"served": time.perf_counter() - begin}
    page.goto(url, wait_until="commit")
    page.wait_for_function(SEEN, polling=20, timeout=120_000)
    page.evaluate(SHOWN)
    times["picture"] = time.perf_counter() - begin
    page.wait_for_selector("text=Selected", timeout=120_000)
    page.evaluate(SHOWN)
    times["panels"] = time.perf_counter() - begin
    return times


def main() -> None:
    """Measure what the command line asks for."""
    if sys.argv[1:2] == ["start"]:
        start(sys.argv[2] if len(sys.argv) > 2 else None)
        return
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    print("robots browsers  cpu [s/s]  updates [1/s]  data [MB/s]  x real time")
    for robots in ROBOTS:
        for count in BROWSERS:
            r = measure(robots, count, seconds)
            print(
                f"{robots:6} {count:8} {r['cpu']:10.3f} {r['updates']:14.1f}"
                f" {r['megabytes']:12.2f} {r['factor']:12.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
