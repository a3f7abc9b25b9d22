# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim run`: simulate a world without ROS and watch it in the terminal."""

from __future__ import annotations

import sys
import time as wall
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mvsim_core.cli.bus import PORT
from mvsim_core.cli.command import wrong
from mvsim_core.cli.options import (
    MOST_PORTS,
    VIEWER_PORT,
    RealtimeFactor,
    Seed,
    Time,
    Twist,
    Var,
    ViewerPort,
    World,
    loaded,
    real_time_factor,
)
from mvsim_core.cli.view import can_show, serve, watch
from mvsim_core.heap import settle_heap, without_collections

if TYPE_CHECKING:
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    from mvsim_core.cli.keyboard import Keyboard
    from mvsim_core.world.world import World as RunningWorld

REFRESH = 0.1  # s of wall time between two pictures of the status
SHOWN = 12  # vehicles in the status
BAR = 40  # characters of the progress bar
KEYS = "WASD/arrows, space: stop, tab: next vehicle, Q: quit"


def run(  # noqa: PLR0913 (one argument for each option)
    world: World,
    time: Time = None,
    realtime_factor: RealtimeFactor = "1",
    twist: Twist = None,
    log: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Log each vehicle and wheel to files.")
    ] = None,
    log_every: Annotated[int, typer.Option(metavar="N", help="Log every N-th step.", min=1)] = 1,
    log_format: Annotated[
        str, typer.Option(metavar="csv|npz|parquet", help="File format of the log.")
    ] = "csv",
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Record ROS 2 messages to an MCAP file.")
    ] = None,
    seed: Seed = 0,
    var: Var = None,
    server: Annotated[
        bool, typer.Option("--server", help="Start the message bus (docs/message_bus.md).")
    ] = False,
    port: Annotated[
        int, typer.Option(help="TCP port of the message bus; 0: any.", min=0, max=MOST_PORTS)
    ] = PORT,
    bind: Annotated[
        str,
        typer.Option(help="Address that the message bus is bound to; it has no password."),
    ] = "127.0.0.1",
    keyboard: Annotated[
        bool, typer.Option("--keyboard", help="Drive by W, A, S, D or the arrows, tab and space.")
    ] = False,
    view: Annotated[
        bool, typer.Option("--view", help="Show it in the browser too (docs/viewer.md).")
    ] = False,
    view_port: ViewerPort = VIEWER_PORT,
) -> None:
    """Simulate a world without ROS and watch it in the terminal."""
    from mvsim_core.cli.report import counted

    factor = real_time_factor(realtime_factor)
    if view and keyboard:
        raise wrong("--keyboard", "the viewer has its own keys: leave out --keyboard or --view")
    files: list[Path] = []
    with ExitStack() as stack:
        stack.enter_context(without_collections())
        viewer = stack.enter_context(serve(world, port=view_port)) if view else None
        running = loaded(world, var, seed, twist)
        if log is not None:
            running.start_logging(log, log_every, log_format)
        bus = stack.enter_context(_Bus(running, port, bind)) if server else None
        stack.callback(lambda: files.extend(running.stop_logging()))
        recorder = None
        if record is not None:
            from mvsim_core.bags import record as start_recording

            recorder = start_recording(running, record, wake_sensors=server)
            stack.callback(recorder.close)
        if viewer is not None:
            watch(running, time, factor, viewer, bus=bus, on_demand=server)
        else:
            keys = stack.enter_context(_keyboard(running)) if keyboard else None
            simulate(running, time, factor, bus, keys)
    if running.log_error is not None:
        raise running.log_error
    if files:
        print(f"log: {counted(len(files), 'file')} in {files[0].parent}")
    if recorder is not None:
        from mvsim_core.cli.record import recorded

        print(recorded(recorder))


def launch(
    world: World,
    headless: Annotated[
        bool, typer.Option("--headless", help="Do not show it in the browser.")
    ] = False,
    realtime_factor: RealtimeFactor = "1",
    full_profiler: Annotated[
        bool, typer.Option("--full-profiler", help="Print the time of each phase at the end.")
    ] = False,
    verbosity: Annotated[
        str, typer.Option("--verbosity", "-v", help="DEBUG, INFO, WARN or ERROR.")
    ] = "INFO",
    port: Annotated[
        int, typer.Option("--port", "-p", help="TCP port; 0: any.", min=0, max=MOST_PORTS)
    ] = PORT,
) -> None:
    """Simulate a world with the message bus and show it, as MVSim's command does."""
    from mvsim_core import load_world
    from mvsim_core.cli.report import print_problems

    level = verbosity.strip().upper()
    if level not in ("DEBUG", "INFO", "WARN", "ERROR"):
        raise wrong("--verbosity", f"expected DEBUG, INFO, WARN or ERROR, got {verbosity!r}")
    factor = real_time_factor(realtime_factor.strip())
    with ExitStack() as stack:
        shown = not headless and can_show()
        viewer = stack.enter_context(serve(world)) if shown else None
        running = load_world(world, preload=False)
        if level != "ERROR":
            print_problems(running.warnings)
        bus = stack.enter_context(_Bus(running, port, "127.0.0.1"))
        if viewer is None:
            simulate(running, None, factor, bus)
        else:
            watch(running, None, factor, viewer, bus=bus, on_demand=True)
    if full_profiler:
        for phase, seconds in running.profile.items():
            print(f"{phase:12} {seconds:10.3f} s")


def _keyboard(running: RunningWorld) -> Keyboard:
    from mvsim_core.cli.keyboard import Keyboard

    return Keyboard(running)


class _Bus:
    """The message bus of a run: its requests are served between steps."""

    def __init__(self, running: RunningWorld, port: int, bind: str) -> None:
        """Start it."""
        from mvsim_core.comms.bus import WorldBus
        from mvsim_core.world.request_queue import RequestQueue

        self.stopped = False
        self.requests = RequestQueue()
        self._bus = WorldBus(
            running, self.requests.submit, self._stop, port=port, bind=bind, on_demand=True
        )
        for problem in self._bus.node.problems:
            print(f"warning: {problem}", file=sys.stderr)
        print(f"message bus: server at {bind}:{self._bus.port}", flush=True)

    def _stop(self) -> None:
        self.stopped = True

    def after_step(self) -> None:
        """Publish what is due."""
        self._bus.after_step()

    def __enter__(self) -> _Bus:
        """Return self."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close it; the answer to a request to stop is sent first."""
        self._bus.close()


class _Status:
    """Simulated time and wall time of a run."""

    def __init__(
        self, running: RunningWorld, ticks: int | None = None, keys: Keyboard | None = None
    ) -> None:
        self.running = running
        self.ticks = ticks  # of the whole run
        self.keys = keys
        self.start = wall.perf_counter()
        self.spent = 0.0
        self.preloaded = False

    @property
    def elapsed(self) -> float:
        """Wall seconds since the start."""
        return wall.perf_counter() - self.start

    def preload(self) -> None:
        """Load the kernels of all steps that may come, in time that does not count."""
        self.preloaded = True
        begin = wall.perf_counter()
        self.running.load_kernels()
        self.start += wall.perf_counter() - begin

    def table(self) -> Table:
        """Return the status as it is shown while the simulation runs."""
        from rich.table import Table

        table = Table.grid(padding=(0, 2))
        ratio = self.running.time / max(self.elapsed, 1e-9)
        table.add_row("time", f"{self.running.time:.2f} s", f"{ratio:.2f} x real time")
        if self.ticks:
            table.add_row("", *self._progress(self.ticks))
        for line in vehicle_lines(self.running):
            table.add_row(*line)
        if self.keys is not None:
            table.add_row("driving", self.keys.status(), KEYS)
        return table

    def _progress(self, ticks: int) -> tuple[ProgressBar, str]:
        """Return a bar of the simulated time, and the wall time that is left."""
        from rich.progress_bar import ProgressBar

        done = self.running.ticks
        left = self.elapsed * (ticks - done) / max(done, 1)
        bar = ProgressBar(total=ticks, completed=done, width=BAR)
        return bar, f"{done / ticks:.0%}, {left:.0f} s left"

    def summary(self) -> str:
        """Return the summary of the run."""
        world = self.running
        elapsed = max(self.elapsed, 1e-9)
        cost = self.spent / max(world.ticks, 1) * 1e6
        return (
            f"simulated {world.time:.2f} s in {elapsed:.2f} s"
            f" ({world.time / elapsed:.1f} x real time), {world.ticks} steps of"
            f" {world.dt * 1e3:g} ms, {cost:.0f} us a step"
        )


def vehicle_lines(running: RunningWorld) -> list[tuple[str, str, str]]:
    """Return name, pose and speed of the vehicles, of the first `SHOWN` at most."""
    lines = []
    for vehicle in list(running.vehicles.values())[:SHOWN]:
        pose, twist = vehicle.pose, vehicle.twist
        where = f"x {pose.x:8.3f}  y {pose.y:8.3f}  yaw {pose.yaw:7.3f}"
        speed = f"{twist.vx:6.3f} m/s  {twist.wz:6.3f} rad/s"
        hit = "  in collision" if vehicle.in_collision else ""
        lines.append((vehicle.name, where, speed + hit))
    more = len(running.vehicles) - SHOWN
    if more > 0:
        lines.append((f"and {more} more", "", ""))
    return lines


def simulate(
    running: RunningWorld,
    seconds: float | None,
    factor: float | None,
    bus: _Bus | None = None,
    keys: Keyboard | None = None,
) -> None:
    """Step a world for some simulated seconds (None: until Ctrl-C), and show its status."""
    from rich.console import Console
    from rich.live import Live

    console = Console(highlight=False)
    ticks = None if seconds is None else round(seconds / running.dt)
    status = _Status(running, ticks, keys)

    def goes_on() -> bool:
        ended = (bus and bus.stopped) or (keys and keys.quit)
        return (ticks is None or running.ticks < ticks) and not ended

    settle_heap()
    # Without a terminal there is no live picture, only the summary.
    live = Live(console=console, auto_refresh=False, transient=True)
    try:
        if console.is_terminal:
            live.start()
        while goes_on():
            if keys is not None:
                keys.follow()
            _until_refresh(running, goes_on, factor, status, bus)
            if live.is_started:
                live.update(status.table(), refresh=True)
    except KeyboardInterrupt:
        pass  # the way to end a run without --time
    finally:
        live.stop()
    console.print(status.summary(), soft_wrap=True)
    for line in vehicle_lines(running):
        console.print("  ".join(line).rstrip(), markup=False, soft_wrap=True)


def _until_refresh(
    running: RunningWorld,
    goes_on: Callable[[], bool],
    factor: float | None,
    status: _Status,
    bus: _Bus | None,
) -> None:
    """Step until it is time for the next picture, in pace with the wall clock."""
    picture = status.elapsed + REFRESH
    while goes_on() and status.elapsed < picture:
        if bus is not None:
            bus.requests.process()
        if factor is not None:
            ahead = running.time / factor - status.elapsed
            if ahead > 0.0:
                if not status.preloaded:
                    status.preload()
                    continue
                _sleep(min(ahead, REFRESH), bus)
                continue
        begin = wall.perf_counter()
        running.step()
        if bus is not None:
            bus.after_step()
        status.spent += wall.perf_counter() - begin


def _sleep(seconds: float, bus: _Bus | None) -> None:
    """Wait, or until a request on the message bus is to be served."""
    if bus is None:
        wall.sleep(seconds)
    else:
        bus.requests.wait(seconds)
