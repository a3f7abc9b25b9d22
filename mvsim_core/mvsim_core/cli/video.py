# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Videos of a running world or of a recording, by PyAV."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvsim_core import progress
from mvsim_core.cli.command import wrong
from mvsim_core.errors import MvsimError

if TYPE_CHECKING:
    from mvsim_core.cli.sources import Source
    from mvsim_core.rendering.picture import View

#: Quality of H.264, smaller is better; 18 is called visually lossless.
QUALITY = "20"


def write_video(
    source: Source,
    look: Callable[[], View],
    size: tuple[int, int],
    file: Path,
    seconds: float,
    fps: int,
) -> int:
    """Write a picture of each 1 / fps of simulated or recorded time; return how many.

    Args:
        source: What is simulated, or was recorded.
        look: Called for the view of each picture.
        size: Width and height [pixel]; H.264 wants both even.
        file: Where to, .mp4.
        seconds: Length [s].
        fps: Pictures a second.

    Raises:
        MvsimError: PyAV is missing, the file cannot be written.
    """
    if size[0] % 2 or size[1] % 2:
        raise wrong("--size", f"width and height must be even, got {size[0]}x{size[1]}")
    if seconds <= 0.0:
        raise wrong("--time", "a video needs a length: --time SECONDS")
    try:
        av: Any = importlib.import_module("av")
    except ImportError as error:
        raise MvsimError(f"videos need PyAV ({error}): pip install av") from None
    progress.restart()
    count = max(round(seconds * fps), 1)
    try:
        with av.open(str(file), "w") as container:
            stream = container.add_stream("libx264", rate=Fraction(fps))
            stream.width, stream.height = size
            stream.pix_fmt = "yuv420p"
            stream.options = {"crf": QUALITY}
            for k in range(count):
                source.reach(k / fps)
                picture = source.world.picture(look(), size)
                frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
                container.mux(stream.encode(frame))
                progress.count("writing pictures", k + 1, count)
            container.mux(stream.encode(None))
        progress.end_count()
    except OSError as error:
        raise MvsimError(f"{file}: cannot be written ({error.strerror or error})") from None
    return count
