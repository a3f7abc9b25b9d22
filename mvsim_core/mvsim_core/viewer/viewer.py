# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The viewer: a web server that shows a world in browsers and takes their requests."""

from __future__ import annotations

import threading
import time as wall
from collections.abc import Callable
from typing import Any

from mvsim_core import progress
from mvsim_core.errors import MvsimError
from mvsim_core.viewer.panel import Panel
from mvsim_core.viewer.server import PORT, Server
from mvsim_core.viewer.simulation import Simulation
from mvsim_core.viewer.stage import Stage
from mvsim_core.viewer.time_bar import TimeBar
from mvsim_core.world.request_queue import RequestQueue
from mvsim_core.world.world import World

#: Most updates a second.
MOST_UPDATES = 30
#: Wall time that one call spends on the browsers' requests [s].
BUDGET = 0.02


class Viewer:
    """Shows a world in browsers; a context manager that closes itself.

    Callbacks of the web server run in threads of their own. They only append to `requests`; all
    that touches the world is done in the thread that calls `after_step`, `wait` or `run`.

    Args:
        world: What is shown.
        controls: A `Simulation` or a `TimeBar`; None: a simulation as fast as possible, which
            its caller steps.
        port: TCP port; where it is taken, the next free one. 0: any.
        bind: Address; there is no password.
        browser: Whether to open a browser.
        server: A server that runs already, with its own port, address and browser.
        requests: The queue that takes the browsers' requests, if the caller has one.
        on_demand: Whether sensors that are not shown compute nothing.

    Attributes:
        world: What is shown.
        controls: As above.
        requests: As above.
        port: The port that it got.
        url: Where browsers find it.
        stage: The scene of the world; see `Stage`.
    """

    def __init__(  # noqa: PLR0913 (the options of a server)
        self,
        world: World,
        *,
        controls: Simulation | TimeBar | None = None,
        port: int = PORT,
        bind: str = "127.0.0.1",
        browser: bool = False,
        server: Server | None = None,
        requests: RequestQueue | None = None,
        on_demand: bool = False,
    ) -> None:
        """Start the server and build the scene.

        Raises:
            MvsimError: viser is not installed, or the address cannot be used.
        """
        self.world = world
        self.controls = Simulation(None) if controls is None else controls
        self.requests = RequestQueue() if requests is None else requests
        self._closed = False
        self._blank = False
        self._ended: Callable[[], bool] | None = None
        self._on_demand = on_demand
        self._watchers: set[int] = set()
        self._lock = threading.Lock()
        self._next = 0.0
        self._period = 1.0 / min(MOST_UPDATES, max(world.spec.gui.refresh_fps, 1))
        own = Server(port=port, bind=bind, browser=browser) if server is None else server
        self._server, self.server = own, own.viser
        self.port, self.url = own.port, own.url
        self.server.gui.reset()  # what it said while the world was loaded
        with self.server.atomic():
            self.stage = Stage(self)
            self.panel = Panel(self)
        self.stage.cameras.start()
        self.server.on_client_connect(self._on_connect)
        self.server.on_client_disconnect(self._on_disconnect)

    # ------------------------------------------------------------ in the loop
    def after_step(self) -> None:
        """Serve the browsers after a step; return when the next one is to be made.

        While a browser has paused the simulation it does not return.
        """
        if self._watchers and not self._blank:
            self.stage.note_readings()
        self.serve()
        if isinstance(self.controls, Simulation):
            self.controls.hold(self)

    def serve(self) -> None:
        """Do what browsers ask for, and show them the world if it is time; never waits."""
        self.requests.process(BUDGET)
        self._update_if_due()

    def wait(self, seconds: float) -> None:
        """Serve the browsers for some wall time at most, or until one has asked for something."""
        if self.requests.wait(seconds):
            self.requests.process(BUDGET)
        self._update_if_due()

    def run(
        self,
        seconds: float | None = None,
        *,
        after_step: Callable[[], None] | None = None,
        ended: Callable[[], bool] | None = None,
    ) -> None:
        """Step the world, or play the recording, until the end or until it is closed.

        Args:
            seconds: Simulated time at which to stop [s]; None: never.
            after_step: Called after each step of the world.
            ended: Returns whether to stop; it is also asked while the simulation is paused.
        """
        self._ended = ended
        if isinstance(self.controls, TimeBar):
            self.controls.run(self)
            return
        self.serve()
        with progress.reporting_too(self.notify):  # the world can be seen meanwhile
            self.world.load_kernels()
        self.controls.hold(self)
        while not self.closed and (seconds is None or self.world.time < seconds - 1e-9):
            self.world.step()
            if after_step is not None:
                after_step()
            self.after_step()

    def update(self) -> None:
        """Show the world as it is now."""
        self._next = wall.perf_counter() + self._period
        self.panel.driving.check()
        with self.server.atomic():
            self.stage.update()
        self.panel.update()

    def _update_if_due(self) -> None:
        if self._blank:
            return
        if not self._watchers:
            if self.panel.driving.active:
                self.panel.driving.check()
            return
        if wall.perf_counter() >= self._next:
            self.update()

    @property
    def closed(self) -> bool:
        """Whether it was closed, or the run that it shows is to end."""
        return self._closed or (self._ended is not None and self._ended())

    @property
    def watchers(self) -> int:
        """Number of browsers that look."""
        return len(self._watchers)

    # ------------------------------------------------------------ what browsers ask for
    def submit(self, work: Callable[[], None], client: Any = None) -> None:
        """Do work between two steps, from any thread; a browser sees what is wrong with it."""
        self.requests.submit(lambda: self._do(work, client))

    def _do(self, work: Callable[[], None], client: Any) -> None:
        try:
            work()
        except (MvsimError, ValueError) as error:
            self.notify(str(error), client)
        self._next = 0.0  # show at once what came of it

    def notify(self, text: str, client: Any = None) -> None:
        """Show a message in one browser, or in all."""
        clients = self.server.get_clients().values() if client is None else [client]
        for one in clients:
            one.add_notification("MVSim", text, auto_close_seconds=8.0, color="red")

    def _on_connect(self, client: Any) -> None:
        with self._lock:
            self._watchers = self._watchers | {client.client_id}
        self.submit(self._greet)

    def _on_disconnect(self, client: Any) -> None:
        with self._lock:
            self._watchers = self._watchers - {client.client_id}
        self.submit(self._part)

    def _greet(self) -> None:
        if self._blank:
            return
        self.stage.refresh()
        self.panel.update(everything=True)

    def _part(self) -> None:
        if self._blank:
            return
        self.panel.driving.stop()
        if self.panel.edit is not None:
            self.panel.edit.let_go()
        if not self._watchers:
            self.stage.release_sensors()

    # ------------------------------------------------------------ worlds come and go
    @property
    def on_demand(self) -> bool:
        """Whether sensors that are not shown compute nothing."""
        return self._on_demand

    def blank(self) -> None:
        """Show nothing until there is another world."""
        if not self._blank:
            self._blank = True
            self.panel.driving.forget()
            self.stage.remove()
            self.server.gui.reset()

    def shows(self, stage: Stage) -> bool:
        """Return whether a stage is the one that is shown, and not of a world that is gone."""
        return not self._blank and self.stage is stage

    def set_world(self, world: World) -> None:
        """Show another world; that before may be gone already."""
        self.blank()
        self._blank = False
        self.world = world
        self.stage = Stage(self)
        self.panel = Panel(self)
        self.stage.cameras.start()
        self._next = 0.0

    def close(self) -> None:
        """Disconnect all browsers and stop the server."""
        if self._closed:
            return
        self._closed = True
        if not self._blank:
            self.stage.release_sensors()
        self._server.close()

    def __enter__(self) -> Viewer:
        """Return self."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close it."""
        self.close()
