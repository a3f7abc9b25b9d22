# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""States of vehicles and readings of sensors as text for panels."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import numpy as np

#: Fields of readings that say nothing new in a line of text.
_LEFT_OUT = frozenset({"tick", "time", "fan", "things", "places", "sectors"})
#: Longest array of which all numbers are shown.
_SHORT = 4


def reading_line(sensor: Any) -> str:
    """Return the newest reading of a sensor in a line."""
    reading = sensor.last
    if reading is None:
        return "no reading yet"
    special = _LINES.get(sensor.kind)
    text = special(reading) if special is not None else _any(reading)
    return f"{reading.time:.2f} s: {text}"


def _scan(reading: Any) -> str:
    ranges = np.asarray(reading.ranges)
    seen = ranges[np.isfinite(ranges)]
    if not len(seen):
        return f"{len(ranges)} rays, nothing seen"
    return f"{len(seen)} of {len(ranges)} rays, {seen.min():.2f} to {seen.max():.2f} m"


def _cloud(reading: Any) -> str:
    return f"{len(reading.points)} points, {reading.rings} rings"


def _picture(reading: Any) -> str:
    shapes = []
    for name in ("rgb", "depth", "left", "right"):
        image = getattr(reading, name, None)
        if image is not None:
            shapes.append(f"{name} {image.shape[1]} x {image.shape[0]}")
    return ", ".join(shapes)


def _imu(reading: Any) -> str:
    turn, force = reading.angular_velocity, reading.linear_acceleration
    return f"{_numbers(turn)} rad/s, {_numbers(force)} m/s²"


def _gnss(reading: Any) -> str:
    if math.isnan(reading.latitude):
        return "no fix"
    return f"{reading.latitude:.7f}°, {reading.longitude:.7f}°, {reading.altitude:.2f} m"


def _bumper(reading: Any) -> str:
    pressed = [s for s, p in zip(reading.sectors, reading.pressed, strict=True) if p]
    return "pressed: " + ", ".join(pressed) if pressed else "not pressed"


def _any(reading: Any) -> str:
    """Return all short fields of a reading of a kind that is not known here."""
    parts = []
    names = [field.name for field in fields(reading)] if hasattr(reading, "__slots__") else []
    for name in names:
        value = getattr(reading, name, None)
        if name in _LEFT_OUT or value is None or "covariance" in name:
            continue
        if isinstance(value, float | int | str):
            parts.append(f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}")
        elif isinstance(value, np.ndarray) and value.ndim == 1 and value.size <= _SHORT:
            parts.append(f"{name} {_numbers(value)}")
    return ", ".join(parts) or type(reading).__name__


def _numbers(values: Any) -> str:
    return "(" + ", ".join(f"{v:.3f}" for v in np.asarray(values).tolist()) + ")"


_LINES: dict[str, Any] = {
    "laser": _scan,
    "lidar3d": _cloud,
    "camera": _picture,
    "rgbd_camera": _picture,
    "stereo_camera": _picture,
    "imu": _imu,
    "gnss": _gnss,
    "bumper": _bumper,
}


def escaped(text: str) -> str:
    """Return text that Markdown and HTML show as it is."""
    for mark in "\\`*_{}[]<>()#+-!|~$":
        text = text.replace(mark, f"&#{ord(mark)};")
    return text


def vehicle_text(vehicle: Any) -> str:
    """Return pose, twist, target and wheels of a vehicle as Markdown."""
    pose, twist, target = vehicle.pose, vehicle.twist, vehicle.target
    notes = [vehicle.kind]
    for flag, word in (
        (vehicle.in_collision, "in collision"),
        (vehicle.held, "held"),
        (vehicle.command_expired, "command expired"),
    ):
        if flag:
            notes.append(f"**{word}**")
    lines = [
        f"**{escaped(vehicle.name)}** · " + " · ".join(notes),
        "",
        "| | x | y | yaw |",
        "|---|--:|--:|--:|",
        f"| pose m, ° | {pose.x:.3f} | {pose.y:.3f} | {_degrees(pose.yaw):.1f} |",
        f"| twist m/s, °/s | {twist.vx:.3f} | {twist.vy:.3f} | {math.degrees(twist.wz):.1f} |",
        f"| target | {target.vx:.3f} | {target.vy:.3f} | {math.degrees(target.wz):.1f} |",
    ]
    if abs(pose.z) > 5e-4 or abs(pose.roll) > 5e-4 or abs(pose.pitch) > 5e-4:
        roll, pitch = math.degrees(pose.roll), math.degrees(pose.pitch)
        lines.append(f"| z m, roll, pitch ° | {pose.z:.3f} | {roll:.1f} | {pitch:.1f} |")
    lines += ["", "| wheel | rad/s | N m | N fwd | N side | steer ° |", "|--|--:|--:|--:|--:|--:|"]
    for number, w in enumerate(vehicle.wheels, 1):
        steer = math.degrees(w.steering)
        spin = f"{w.omega:.2f} | {w.torque:.2f} | {w.fx:.1f} | {w.fy:.1f}"
        lines.append(f"| {number} | {spin} | {steer:.1f} |")
    return "\n".join(lines)


def _degrees(angle: float) -> float:
    return math.degrees(math.remainder(angle, math.tau))


def body_text(handle: Any, kind: str) -> str:
    """Return pose and speed of a block or an actor as Markdown."""
    pose, twist = handle.pose, handle.twist
    return (
        f"**{escaped(handle.name)}** · {kind}\n\n"
        f"x {pose.x:.3f} m, y {pose.y:.3f} m, yaw {_degrees(pose.yaw):.1f}°,"
        f" {math.hypot(twist.vx, twist.vy):.3f} m/s"
    )


def sensors_text(sensors: dict[str, Any]) -> str:
    """Return the newest readings of sensors as Markdown."""
    return "\n".join(
        f"- **{escaped(name)}** ({sensor.kind}) {reading_line(sensor)}"
        for name, sensor in sensors.items()
    )
