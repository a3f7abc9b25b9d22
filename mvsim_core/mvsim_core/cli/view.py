# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim view`: simulate a world and show it in the browser."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mvsim_core.cli.options import (
    VIEWER_PORT,
    Browser,
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
from mvsim_core.heap import settle_heap

if TYPE_CHECKING:
    from mvsim_core.viewer import Server
    from mvsim_core.world.world import World as RunningWorld

NOTICE = "Loading **{}** ... The first time its kernels are compiled, in up to two minutes."


def view(  # noqa: PLR0913 (one argument for each option)
    world: World,
    time: Time = None,
    realtime_factor: RealtimeFactor = "1",
    twist: Twist = None,
    seed: Seed = 0,
    var: Var = None,
    port: ViewerPort = VIEWER_PORT,
    bind: Annotated[
        str, typer.Option(help="Address that the viewer is bound to; it has no password.")
    ] = "127.0.0.1",
    host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Further name under which browsers reach it, such as a proxy's; may be repeated.",
            show_default=False,
        ),
    ] = None,
    browser: Browser = True,
    paused: Annotated[bool, typer.Option("--paused", help="Start paused.")] = False,
) -> None:
    """Simulate a world and show it in the browser (docs/viewer.md)."""
    factor = real_time_factor(realtime_factor)
    with serve(world, port=port, bind=bind, browser=browser, hosts=host or ()) as server:
        running = loaded(world, var, seed, twist)
        watch(running, time, factor, server, paused=paused, on_demand=True)


def serve(
    file: Path,
    *,
    port: int = VIEWER_PORT,
    bind: str = "127.0.0.1",
    browser: bool = True,
    hosts: Sequence[str] = (),
) -> Server:
    """Start the viewer's server: a browser loads its page while the world is loaded.

    Args:
        file: What is to be shown. If it does not exist, no browser is opened.
        port: As of the server, like all others.
        bind: See there.
        browser: See there.
        hosts: See there.
    """
    from mvsim_core.viewer.server import Server

    there = file.is_file()
    notice = NOTICE.format(file.name)
    server = Server(port=port, bind=bind, browser=browser and there, notice=notice, hosts=hosts)
    if there:
        print(f"viewer: {server.url}", flush=True)
    return server


def watch(  # noqa: PLR0913 (what is shown, by what, and how)
    running: RunningWorld,
    seconds: float | None,
    factor: float | None,
    server: Server,
    *,
    bus: Any = None,
    paused: bool = False,
    on_demand: bool = False,
) -> None:
    """Simulate a world and show it, until a time or Ctrl-C.

    Args:
        running: The world.
        seconds: Simulated time at which to stop [s]; None: never.
        factor: Simulated seconds per second; None: as fast as possible.
        server: What shows it.
        bus: A message bus whose requests are served, and which publishes after each step.
        paused: Whether it starts paused.
        on_demand: As of the viewer.
    """
    from mvsim_core.viewer import Simulation, Viewer

    with Viewer(
        running,
        controls=Simulation(factor, paused=paused),
        server=server,
        requests=None if bus is None else bus.requests,
        on_demand=on_demand,
    ) as viewer:
        settle_heap()
        with contextlib.suppress(KeyboardInterrupt):  # the way to end it without --time
            if bus is None:
                viewer.run(seconds)
            else:
                viewer.run(seconds, after_step=bus.after_step, ended=lambda: bool(bus.stopped))
    print(f"simulated {running.time:.2f} s, {running.ticks} steps of {running.dt * 1e3:g} ms")


def can_show() -> bool:
    """Return whether the package that the viewer needs is installed."""
    return find_spec("viser") is not None
