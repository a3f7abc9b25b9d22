# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A viewer in a thread, and pages of a real browser that looks at it."""

from __future__ import annotations

import logging
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from mvsim_core import World, load_world
from mvsim_core.viewer import Simulation, TimeBar, Viewer

LOG = logging.getLogger("browser")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
#: Software rendering: test machines have no GPU.
OPTIONS = (
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
)
SIZE = {"width": 640, "height": 560}
#: Pixels of the picture per pixel of the page: few are drawn fast.
COARSE = 0.4
#: Time [ms] in which viser's client sends one change of all fields and buttons, the last one.
THROTTLE = 60.0
#: A browser that draws in software takes its time [s].
PATIENCE = 40.0


def executable() -> str:
    """Return the browser of this machine; skips the test where there is none."""
    pytest.importorskip("playwright", reason="playwright is not installed")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser: none of {', '.join(BROWSERS)} is installed")
    return found


def wait_for(condition: Callable[[], bool], what: str, patience: float = PATIENCE) -> None:
    """Wait until something is so."""
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end, f"after {patience} s still not: {what}"
        time.sleep(0.02)


class Running:
    """A viewer whose simulation runs in a thread of its own.

    Attributes:
        world: The world; only looked at from the test's thread.
        viewer: The viewer.
    """

    def __init__(self, text: str, controls: Simulation | TimeBar | None = None) -> None:
        self.world: World = load_world(text=text)
        self.viewer = Viewer(
            self.world, controls=controls or Simulation(1.0), port=0, on_demand=True
        )
        self.errors: list[BaseException] = []
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.viewer.run()
        except BaseException as error:
            self.errors.append(error)
            raise

    def stop(self) -> None:
        """End it; an error in its thread is one of the test."""
        self.viewer.close()
        self._thread.join(10.0)
        assert not self._thread.is_alive()
        assert not self.errors


class Page:
    """A page that shows a viewer.

    Attributes:
        page: Of playwright.
        faults: Errors of the page.
    """

    def __init__(self, browser: Any, url: str) -> None:
        self.page = browser.new_page(viewport=SIZE, device_scale_factor=COARSE)
        self.page.set_default_timeout(1000.0 * PATIENCE)
        self.faults: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", lambda line: LOG.warning(line.text))  # shown if the test fails
        self.page.goto(url)
        self.page.wait_for_selector("text=Selected")
        self.wait_until_drawn()  # the panel is laid out once more with its first frame

    def click(self, text: str) -> None:
        """Click a button."""
        self._click(self.page.get_by_text(text, exact=True).first)

    def tab(self, name: str) -> None:
        """Go to a tab."""
        tab = self.page.get_by_role("tab", name=name)
        self._click_until(tab, lambda: tab.get_attribute("aria-selected") == "true")

    def check(self, label: str) -> None:
        """Click a check box."""
        label_of = self.page.locator("label", has_text=re.compile(f"^{label}$")).first
        box = self.page.locator(f"[id='{label_of.get_attribute('for')}']")
        before = box.is_checked()
        self._click_until(label_of, lambda: box.is_checked() != before)
        self.page.wait_for_timeout(THROTTLE)

    def _click(self, target: Any) -> None:
        """Click on what no longer moves, as it does while parts of the panel above it grow."""
        before = None
        while (place := target.bounding_box()) != before:
            before = place
            self.wait_until_drawn()
        target.click(force=True)

    def _click_until(self, target: Any, done: Callable[[], bool]) -> None:
        """Click until it has an effect; the place may still move while the mouse does."""
        for _ in range(3):
            self._click(target)
            for _ in range(20):
                if done():
                    return
                self.page.wait_for_timeout(THROTTLE)
        raise AssertionError(f"no effect of a click: {target}")

    def fill(self, label: str, value: str) -> None:
        """Type into the field beside a label."""
        box = self._beside(label)
        box.fill(value)
        box.press("Enter")
        box.blur()
        self.page.wait_for_timeout(THROTTLE)

    def value(self, label: str) -> str:
        """Return what is in the field beside a label."""
        return str(self._beside(label).input_value())

    def _beside(self, label: str) -> Any:
        row = f"xpath=//*[normalize-space(text())='{label}']/ancestor::*[.//input][1]//input"
        return self.page.locator(row).last

    def wait_until_drawn(self) -> None:
        """Wait for two frames: what came before is drawn, and the mouse meets it."""
        frames = "new Promise(f => requestAnimationFrame(() => requestAnimationFrame(f)))"
        self.page.evaluate(frames)

    def close(self) -> None:
        """Close it."""
        self.page.close()


@contextmanager
def chromium() -> Iterator[Any]:
    """Give a browser."""
    path = executable()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(OPTIONS))
        yield browser
        browser.close()
