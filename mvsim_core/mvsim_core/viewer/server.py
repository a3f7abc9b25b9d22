# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The web server of a viewer, which can show its page before there is a world."""

from __future__ import annotations

import contextlib
import io
import os
import socket
import sys
import webbrowser
from collections.abc import Iterator, Sequence
from typing import Any

from mvsim_core.errors import MvsimError
from mvsim_core.viewer.client_files import UnknownClientError, client_files
from mvsim_core.viewer.origins import Origins
from mvsim_core.viewer.sky import set_sky
from mvsim_core.viewer.warm_up import warm_up

PORT = 8080
HINT = "the viewer needs viser: pip install 'mvsim_core[view]'"


class Server:
    """A running web server; a context manager that stops itself.

    It is quick to start, so that a browser can load the page while the world is loaded; a `Viewer`
    that takes it then fills the page.

    Args:
        port: TCP port; where it is taken, the next free one. 0: any.
        bind: Address; there is no password.
        browser: Whether to open a browser.
        notice: What the page says until there is a world; Markdown.
        hosts: Further names under which browsers reach it; see `Origins`.

    Attributes:
        viser: The server of viser.
        port: The port that it got.
        url: Where browsers find it.
    """

    def __init__(
        self,
        *,
        port: int = PORT,
        bind: str = "127.0.0.1",
        browser: bool = False,
        notice: str = "",
        hosts: Sequence[str] = (),
    ) -> None:
        """Start it.

        Raises:
            MvsimError: viser is not installed, or the address cannot be used.
        """
        self.viser = _started(bind, port, Origins(bind, hosts))
        self.port: int = self.viser.get_port()
        self.url = f"http://{_shown(bind)}:{self.port}"
        self._closed = False
        set_sky(self.viser)
        warm_up(self.viser)
        if notice:
            self.viser.gui.add_markdown(notice)
        if browser and has_display():
            webbrowser.open(self.url)

    def close(self) -> None:
        """Disconnect all browsers and stop."""
        if self._closed:
            return
        self._closed = True
        with contextlib.redirect_stdout(io.StringIO()):
            self.viser.stop()

    def __enter__(self) -> Server:
        """Return self."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close it."""
        self.close()


def has_display() -> bool:
    """Return whether a browser would open a window, and not take over a terminal."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _started(bind: str, port: int, origins: Origins) -> Any:
    """Return a running server of viser."""
    try:
        import viser
    except ImportError:
        raise MvsimError(HINT) from None
    try:  # viser tries a thousand ports at an address that it cannot use, and then waits
        family = socket.AF_INET6 if ":" in bind else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.bind((bind, 0))
    except OSError as error:
        raise MvsimError(f"the viewer cannot use the address {bind!r}: {error}") from None
    with contextlib.redirect_stdout(io.StringIO()), _guarded(origins):
        server = viser.ViserServer(host=bind, port=port, verbose=False, label="MVSim")
    server.gui.configure_theme(
        show_logo=False, show_share_button=False, brand_color=(40, 96, 170), dark_mode=False
    )
    return server


@contextlib.contextmanager
def _guarded(origins: Origins) -> Iterator[None]:
    """Let a server of viser that is started meanwhile ask `origins`, and serve `ClientFiles`.

    viser has no setting for that. Its server runs when its constructor returns, so the function
    that it calls is replaced for so long, and for it alone.
    """
    from websockets.asyncio import server as library

    original = library.serve

    def serve(handler: Any, *args: Any, **options: Any) -> Any:
        answer: Any = options.get("process_request")
        if getattr(answer, "__module__", "").startswith("viser."):
            with contextlib.suppress(UnknownClientError):  # then viser serves its page as it is
                answer = client_files().answered_before(answer)
            options["process_request"] = origins.asked_before(answer)
        return original(handler, *args, **options)

    library.serve = serve  # type: ignore[assignment, misc]
    try:
        yield
    finally:
        library.serve = original  # type: ignore[misc]


def _shown(bind: str) -> str:
    """Return the host that a browser on this machine is sent to."""
    return {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(bind, f"[{bind}]" if ":" in bind else bind)
