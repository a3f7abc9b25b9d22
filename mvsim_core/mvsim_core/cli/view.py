# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim view`: simulate a world and show it in the browser."""

from __future__ import annotations

import contextlib
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mvsim_core.cli.bus import MOST_PORTS
from mvsim_core.cli.options import Seed, Twist, Var, World, command, variables
from mvsim_core.heap import settle_heap

if TYPE_CHECKING:
    from mvsim_core.world.world import World as RunningWorld

#: Port of the viewer if none is given; where it is taken, the next free one is used.
VIEW_PORT = 8080

Browser = Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser.")]


def view(  # noqa: PLR0913 (one argument for each option)
    world: World,
    time: Annotated[
        float | None,
        typer.Option(help="Simulated seconds; default: until Ctrl-C.", min=0.0),
    ] = None,
    realtime_factor: Annotated[
        str, typer.Option(metavar="F|max", help="Simulated seconds per second, or max.")
    ] = "1",
    twist: Twist = None,
    seed: Seed = 0,
    var: Var = None,
    port: Annotated[
        int,
        typer.Option(
            help="TCP port; where it is taken the next free one. 0: any.", min=0, max=MOST_PORTS
        ),
    ] = VIEW_PORT,
    bind: Annotated[
        str, typer.Option(help="Address that the viewer is bound to; it has no password.")
    ] = "127.0.0.1",
    browser: Browser = True,
    paused: Annotated[bool, typer.Option("--paused", help="Start paused.")] = False,
) -> None:
    """Simulate a world and show it in the browser (docs/viewer.md)."""
    from mvsim_core import load_world
    from mvsim_core.cli.report import print_problems
    from mvsim_core.cli.run import real_time_factor

    factor = real_time_factor(realtime_factor)
    running = load_world(world, variables=variables(var), seed=seed)
    print_problems(running.warnings)
    command(running, twist)
    watch(
        running,
        time,
        factor,
        port=port,
        bind=bind,
        browser=browser,
        paused=paused,
        on_demand=True,
    )


def watch(  # noqa: PLR0913 (the options of a viewer)
    running: RunningWorld,
    seconds: float | None,
    factor: float | None,
    *,
    bus: Any = None,
    port: int = VIEW_PORT,
    bind: str = "127.0.0.1",
    browser: bool = True,
    paused: bool = False,
    on_demand: bool = False,
) -> None:
    """Simulate a world and show it, until a time or Ctrl-C.

    Args:
        running: The world.
        seconds: Simulated time at which to stop [s]; None: never.
        factor: Simulated seconds per second; None: as fast as possible.
        bus: A message bus whose requests are served, and which publishes after each step.
        port: As of the viewer, like all others.
        bind: See there.
        browser: See there.
        paused: Whether it starts paused.
        on_demand: See there.
    """
    from mvsim_core.viewer import Simulation, Viewer

    controls = Simulation(factor, paused=paused)
    with Viewer(
        running,
        controls=controls,
        port=port,
        bind=bind,
        browser=browser,
        requests=None if bus is None else bus.requests,
        on_demand=on_demand,
    ) as viewer:
        print(f"viewer: {viewer.url}", flush=True)
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
