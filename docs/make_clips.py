# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the moving pictures of README and gallery: python docs/make_clips.py [NAME...].

Each clip is an animated WebP of a world of `worlds/`: what a camera beside it sees, its caption,
and in a corner the newest scan of a planar lidar. `overview` is all of them one after the other.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from mvsim_core import World, load_world
from mvsim_core.rendering.picture import View

WORLDS = Path(__file__).parents[1] / "worlds"
IMAGES = Path(__file__).parent / "images"
SIZE = (640, 360)
#: Each picture is drawn so much larger and shrunk.
FINER = 2
#: Pictures a second, and quality of WebP.
RATE, QUALITY = 12, 45
#: Side of the corner for scans [pixel], and what it spans [m].
CORNER, SPAN = 104, 16.0
Drive = Callable[[World, float], None]


@dataclass(frozen=True)
class Clip:
    """A scene.

    Attributes:
        world: Name of the world.
        caption: What is to be seen.
        eye: Place of the camera [m], relative to `vehicle` if there is one.
        at: What it looks at [m], likewise.
        drive: Commands the vehicles, called with the world and the time before each picture.
        seconds: Length.
        skip: Seconds that are simulated before.
        vehicle: Whom the camera follows, without turning; "": it stands still.
        scan: Vehicle and sensor whose scan is drawn, if any.
        variables: Those of the world file.
    """

    world: str
    caption: str
    eye: tuple[float, float, float]
    at: tuple[float, float, float]
    drive: Drive
    seconds: float = 3.5
    skip: float = 0.0
    vehicle: str = ""
    scan: tuple[str, str] | None = None
    variables: tuple[tuple[str, str], ...] = ()


def along(name: str, vx: float, wz: float, vy: float = 0.0) -> Drive:
    """Return a drive with one command for one vehicle."""

    def drive(world: World, _: float) -> None:
        world.vehicles[name].set_twist(vx, vy, wz)

    return drive


def over_the_ramp(world: World, _: float) -> None:
    """Steer the car with its trailers towards the line y = 12, which leads over the ramps."""
    car = world.vehicles["wagon1"]
    bearing = math.atan2(12.0 - car.pose.y, 4.0) - car.pose.yaw
    car.set_ackermann(speed=2.5, steering=max(-0.5, min(0.5, 1.2 * bearing)))


def sideways(world: World, time: float) -> None:
    """Drive the platform along a circle without turning it."""
    world.vehicles["r1"].set_twist(0.8 * math.cos(time), 0.8 * math.sin(time), 0.0)


def everyone(world: World, _: float) -> None:
    """Let each vehicle drive a circle of its own."""
    for number, robot in enumerate(world.vehicles.values()):
        if "twist" in robot.accepts:
            robot.set_twist(0.6, 0.0, 0.5 - 0.07 * number)


CLIPS = {
    "warehouse": Clip(
        "warehouse", "Pushes a pallet: contact and friction", (-3.2, -0.4, 2.8), (1.2, 0.1, 0.2),
        along("r1", 0.8, 0.06), seconds=4.0, vehicle="r1", scan=("r1", "laser"),
    ),
    "trailers": Clip(
        "trailers", "A car with two trailers climbs a ramp", (2.2, -6.0, 2.8), (-1.0, 0.0, 0.3),
        over_the_ramp, skip=5.0, seconds=4.0, vehicle="wagon1",
    ),
    "mecanum": Clip(
        "mecanum", "Mecanum wheels with rollers: it moves without turning", (-3.4, -4.6, 5.6),
        (0.1, 0.3, 0.2), sideways, scan=("r1", "laser"),
    ),
    "field": Clip(
        "field", "Skid steering, with lidars, camera, IMU and GNSS", (-4.0, -2.6, 2.2),
        (1.5, 0.6, 0.4), along("r1", 1.2, -0.05), vehicle="r1", scan=("r1", "laser"),
    ),
    "multi_robot": Clip(
        "multi_robot", "Each robot with a namespace and a tf of its own", (0.0, -10.5, 9.0),
        (0.0, -0.6, 0.0), everyone, variables=(("ROBOTS", "16"),),
    ),
}  # fmt: skip


def frames_of(clip: Clip) -> Iterator[Image.Image]:
    """Yield the pictures of a clip."""
    world = load_world(WORLDS / f"{clip.world}.world.xml", seed=1, variables=dict(clip.variables))
    steps = max(1, round(1.0 / RATE / world.dt))
    for number in range(round(clip.skip * RATE)):
        clip.drive(world, number / RATE)
        world.run(steps * world.dt)
    for number in range(round(clip.seconds * RATE)):
        clip.drive(world, clip.skip + number / RATE)
        world.run(steps * world.dt)
        yield finished(world, clip)
    world.close()


def finished(world: World, clip: Clip) -> Image.Image:
    """Return the picture of a world now, with caption and scan."""
    base = np.zeros(3)
    if clip.vehicle:
        pose = world.vehicles[clip.vehicle].pose
        base = np.array((pose.x, pose.y, pose.z))
    eye, at = (tuple(float(v) for v in base + np.array(place)) for place in (clip.eye, clip.at))
    view = View(eye, at, math.radians(50.0), 0.1)  # type: ignore[arg-type]
    large = (FINER * SIZE[0], FINER * SIZE[1])
    picture = Image.fromarray(world.picture(view, large)).resize(SIZE)
    draw = ImageDraw.Draw(picture, "RGBA")
    draw.rectangle((0, SIZE[1] - 26, SIZE[0], SIZE[1]), fill=(15, 20, 30, 170))
    draw.text((10, SIZE[1] - 22), clip.caption, fill="white", font=ImageFont.load_default(15))
    if clip.scan is not None:
        add_scan(draw, world.vehicles[clip.scan[0]].sensors[clip.scan[1]].last)
    return picture


def add_scan(draw: Any, scan: Any) -> None:
    """Draw a scan in the upper right corner, the robot in its middle, x ahead is up."""
    left, top = SIZE[0] - CORNER - 8, 8
    draw.rectangle((left, top, left + CORNER, top + CORNER), fill=(15, 20, 30, 190))
    if scan is None:
        return
    angles = scan.fan.angle_min + scan.fan.angle_increment * np.arange(len(scan.ranges))
    seen = np.isfinite(scan.ranges) & (scan.ranges < 0.5 * SPAN)
    scale = CORNER / SPAN
    across = left + 0.5 * CORNER - scale * scan.ranges[seen] * np.sin(angles[seen])
    down = top + 0.5 * CORNER - scale * scan.ranges[seen] * np.cos(angles[seen])
    inside = (abs(across - left - 0.5 * CORNER) < 0.5 * CORNER) & (
        abs(down - top - 0.5 * CORNER) < 0.5 * CORNER
    )
    for x, y in zip(across[inside], down[inside], strict=True):
        draw.rectangle((x, y, x + 1, y + 1), fill=(255, 120, 60, 255))
    middle_x, middle_y = left + 0.5 * CORNER, top + 0.5 * CORNER
    draw.polygon(
        [(middle_x - 4, middle_y + 4), (middle_x + 4, middle_y + 4), (middle_x, middle_y - 6)],
        fill=(90, 200, 255, 255),
    )


def save(frames: list[Image.Image], name: str) -> None:
    """Write an animated WebP."""
    path = IMAGES / f"clip_{name}.webp"
    frames[0].save(
        path,
        save_all=True,
        append_images=frames[1:],
        duration=round(1000 / RATE),
        loop=0,
        quality=QUALITY,
        method=6,
    )
    sys.stdout.write(f"{path.name}: {len(frames)} pictures, {path.stat().st_size} bytes\n")


def main(*names: str) -> None:
    """Draw clips, all of them without names."""
    wanted = names or (*CLIPS, "overview")
    clips = {
        name: list(frames_of(clip))
        for name, clip in CLIPS.items()
        if name in wanted or "overview" in wanted
    }
    for name, frames in clips.items():
        if name in wanted:
            save(frames, name)
    if "overview" in wanted:
        save([frame for frames in clips.values() for frame in frames], "overview")


if __name__ == "__main__":
    main(*sys.argv[1:])
