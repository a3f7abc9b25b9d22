# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A video of a navigation policy, seen from above; the goal is the green ring.

    python examples/navigation_video.py [navigation.npz] [-o navigation.mp4] [--seeds 1000000 3]

Needs PyAV (`pip install av`) and OpenGL, which may be in software.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import gymnasium
import numpy as np
from navigation_policy import Policy

import mvsim_core.envs  # noqa: F401 (registers)

QUALITY = "26"  # of H.264, smaller is better and larger as a file


def write_video(
    file: Path,
    act: Callable[[Any], Any],
    options: dict[str, Any],
    *,
    seeds: Iterable[int],
    fps: int = 20,
) -> list[bool]:
    """Write one episode for each seed, at the double speed of reality if steps take 0.1 s.

    Args:
        file: Where to, .mp4.
        act: Returns (n, 2) actions for (n, width) observations.
        options: Of the environment.
        seeds: Of the episodes.
        fps: Agent steps, which are pictures, a second.

    Returns:
        Which episodes ended at the goal.
    """
    env = gymnasium.make("mvsim/Navigation-v0", render_mode="rgb_array", **options)
    arrived = []
    with av.open(str(file), "w") as container:
        stream = container.add_stream("libx264", rate=Fraction(fps))
        stream.width, stream.height, stream.pix_fmt = 640, 480, "yuv420p"
        stream.options = {"crf": QUALITY}
        for seed in seeds:
            seen, _ = env.reset(seed=seed)
            over, info = False, {"success": False}
            while not over:
                seen, _, ended, cut, info = env.step(act(seen[None])[0])
                over = ended or cut
                frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(env.render()), "rgb24")
                container.mux(stream.encode(frame))
            arrived.append(bool(info["success"]))
        container.mux(stream.encode(None))
    env.close()
    return arrived


def main() -> None:
    """Write the video of a policy that train_navigation.py has trained."""
    parser = argparse.ArgumentParser()
    here = Path(__file__).parent
    parser.add_argument("policy", type=Path, nargs="?", default=here / "navigation.npz")
    parser.add_argument("-o", "--out", type=Path, default=Path("navigation.mp4"))
    parser.add_argument("--seeds", type=int, nargs=2, default=(1_000_000, 3))
    given = parser.parse_args()
    from train_navigation import OPTIONS

    policy = Policy.load(given.policy)
    first, count = given.seeds
    arrived = write_video(given.out, policy.act, OPTIONS, seeds=range(first, first + count))
    print(f"{given.out}: {sum(arrived)} of {count} arrive")


if __name__ == "__main__":
    main()
