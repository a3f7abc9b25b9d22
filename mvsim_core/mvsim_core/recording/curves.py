# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The standard plots of a vehicle's log: pose, velocity, torque, slip, friction.

matplotlib is optional and only needed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvsim_core.errors import LogError
from mvsim_core.recording.reading import Log, read_log

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".csv", ".npz", ".parquet")
WIDTH, HEIGHT, DPI = 11.0, 13.0, 100

#: Title, axis label, and columns with their labels, of plots over time.
_POSE_PANELS = (
    (
        "Heading",
        "rad",
        {"q3yaw": "yaw", "odo_yaw": "odometry", "q4pitch": "pitch", "q5roll": "roll"},
    ),
    ("Velocity in the vehicle frame", "m/s, rad/s", {"dqx": "vx", "dqy": "vy", "dqw": "wz"}),
)
#: The same for wheels, with one curve per wheel: title, axis label, column.
_WHEEL_PANELS = (
    ("Motor torque", "N m", "torque"),
    ("Slip ratio", "1", "slip_ratio"),
    ("Slip angle", "rad", "slip_angle"),
    ("Friction along the vehicle", "N", "friction_x"),
    ("Friction across the vehicle", "N", "friction_y"),
)


def draw_logs(paths: Iterable[Path], folder: Path | None = None) -> list[Path]:
    """Draw one figure for each vehicle and session and return the files.

    Args:
        paths: Log files, or folders whose logs are all drawn.
        folder: Folder of the figures; None: beside the logs.

    Raises:
        LogError: There are no logs, a log cannot be read, or matplotlib is missing.
    """
    logs = [read_log(path) for path in _files(paths)]
    groups: dict[tuple[Path, str, str], list[Log]] = {}
    for log in logs:
        groups.setdefault((log.path.parent, log.session, log.vehicle), []).append(log)
    pictures = []
    for (home, session, vehicle), tables in groups.items():
        target = folder or home
        try:
            target.mkdir(parents=True, exist_ok=True)
            pictures.append(target / f"{session}{vehicle}.png")
            draw_vehicle(vehicle, tables, pictures[-1])
        except OSError as error:
            raise LogError(f"cannot write {target}: {error.strerror}") from None
    return pictures


def draw_vehicle(name: str, tables: Sequence[Log], picture: Path) -> None:
    """Draw the plots of one vehicle from its tables into a PNG file.

    Raises:
        LogError: matplotlib is missing.
    """
    figure_class = _figure_class()
    figure = figure_class(figsize=(WIDTH, HEIGHT), layout="constrained")
    figure.suptitle(name)
    axes = figure.subplots(4, 2)
    pose = next((log for log in tables if log.wheel == 0), None)
    wheels = sorted((log for log in tables if log.wheel > 0), key=lambda log: log.wheel)
    panels = list(axes.flat)
    if pose is not None:
        _draw_path(panels[0], pose)
        for axis, (title, label, columns) in zip(panels[1:3], _POSE_PANELS, strict=True):
            for column, text in columns.items():
                if column in pose.values:
                    axis.plot(pose.time, pose.values[column], label=text)
            _finish(axis, title, label)
    for axis, (title, label, column) in zip(panels[3:], _WHEEL_PANELS, strict=True):
        for log in wheels:
            if column in log.values:
                axis.plot(log.time, log.values[column], label=f"wheel {log.wheel}", lw=1.0)
        _finish(axis, title, label)
    for axis in panels:
        axis.set_visible(bool(axis.lines))
    figure.savefig(picture, dpi=DPI)


def _draw_path(axis: Axes, pose: Log) -> None:
    axis.plot(pose.values["q0x"], pose.values["q1y"], label="path")
    x, y = pose.values["q0x"], pose.values["q1y"]
    if len(x):
        axis.plot(x[:1], y[:1], "o", color="black", ms=5, label="start")
    axis.set_aspect("equal", adjustable="datalim")
    _finish(axis, "Path in the world", "y [m]")
    axis.set_xlabel("x [m]")


def _finish(axis: Axes, title: str, label: str) -> None:
    axis.set_title(title, fontsize=10)
    axis.set_xlabel("time [s]")
    axis.set_ylabel(label if "[" in label else f"[{label}]")
    axis.grid(alpha=0.3)
    if axis.lines:
        axis.legend(fontsize=8, loc="best")


def _files(paths: Iterable[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(
                p for p in path.iterdir() if p.suffix in SUFFIXES and "mvsim_" in p.name
            )
            if not inside:
                raise LogError(f"{path}: no logs in this folder")
            found += inside
        else:
            found.append(path)
    return found


def _figure_class() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise LogError("plots need matplotlib: pip install matplotlib") from None
    return Figure
