# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Text of a world file to values of a spec (SI, radians) and back.

A `Converter` reads and writes one notation. It has no names, files or lines: a text that does not
fit raises ValueError with the rule alone ("must be a number"); the reader adds the rest. NaN and
infinities are errors here, so that all values of a file are finite.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Context, Decimal, InvalidOperation
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from mvsim_core.geometry.poses import Pose, Twist

T = TypeVar("T")

Point2 = tuple[float, float]
Point3 = tuple[float, float, float]
Matrix = tuple[tuple[float, ...], ...]


class Color(NamedTuple):
    """Red, green, blue, opacity, each 0 to 1."""

    r: float
    g: float
    b: float
    a: float = 1.0

    @classmethod
    def hex(cls, text: str) -> Color:
        """Return the colour of `#RRGGBB` or `#RRGGBBAA`."""
        digits = text.strip().removeprefix("#")
        return cls(*(int(digits[i : i + 2], 16) / 255 for i in range(0, len(digits), 2)))


class Keyframe(NamedTuple):
    """One pose of an animation: time [s] from its start, offset from the initial pose."""

    time: float
    pose: Pose


@dataclass(frozen=True, slots=True)
class Converter(Generic[T]):
    """One notation: `kind` is its name in the documentation, `unit` the unit in the file.

    `path` marks texts that name a "file" or a "uri" and are resolved by the reader; `exact` means
    that every value can be written so that it reads back the same; `notice` returns a warning
    about a text that is accepted but easily misread, or "".
    """

    kind: str
    read: Callable[[str], T]
    write: Callable[[T], str]
    unit: str = ""
    path: Literal["", "file", "uri", "output"] = ""
    exact: bool = True
    notice: Callable[[str], str] | None = None


_SIGNS = re.compile(r"^((?:[+-]\s*)+)(?=[\d.])")
_SEPARATORS = re.compile(r"[\s,;]+")
_WORD = re.compile(r"[^\s,;]+")
_DEGREE = Decimal("0.017453292519943295769236907684886127134428718885417254560972")  # rad
_WIDE, _LONG = Context(prec=60), Context(prec=25)


#: Largest number of a file, far beyond all that makes sense in SI units: products of such numbers
#: are finite, and the physics computes with them.
MOST_NUMBER = 1e15


class OutOfRange(ValueError):  # noqa: N818 (reads better where it is raised)
    """A number is larger than all that a file may contain."""


def number(text: str) -> float:
    """Return the float that `text` spells; `--3` is 3, as in `-$f{...}`."""
    try:
        value = float(text)
    except ValueError:
        value = _signed(text.strip())
    if "_" in text:
        raise ValueError("must be a number without '_'")
    if -MOST_NUMBER <= value <= MOST_NUMBER:
        return value
    if not math.isfinite(value):
        raise ValueError("must be a finite number")
    raise OutOfRange(f"must be within ±{MOST_NUMBER:g}")


def _signed(text: str) -> float:
    """Return the float that `text` spells with several signs, or blanks after its sign."""
    signs = _SIGNS.match(text)
    if signs is None:
        raise ValueError("must be a number")
    minus = signs.group(1).count("-") % 2
    try:
        return float(("-" if minus else "") + text[signs.end() :])
    except ValueError:
        raise ValueError("must be a number") from None


def angle(text: str) -> float:
    """Return the radians of a number of degrees.

    A text with more digits than a float holds is converted before it is rounded. So each angle
    has a text that reads back the same; with degrees rounded to 53 bits that would not hold.
    """
    value = math.radians(number(text))
    if len(text) <= 17 or sum(map(str.isdigit, text)) <= 17:
        return value
    try:
        return float(_WIDE.multiply(Decimal(text.strip()), _DEGREE))
    except InvalidOperation:
        return value


def numbers(text: str) -> tuple[float, ...]:
    """Return the floats of a list separated by blanks, commas or semicolons."""
    words = [word for word in _SEPARATORS.split(text.strip()) if word]
    return tuple(number(word) for word in words)


def angles(text: str) -> tuple[float, ...]:
    """Return the radians of a list of degrees."""
    try:
        return tuple(angle(word) for word in _WORD.findall(text))
    except OutOfRange:
        raise
    except ValueError:
        raise ValueError("must be numbers") from None


def show(value: float) -> str:
    """Return the shortest text that reads back as `value`; whole numbers have no point."""
    return repr(float(value) + 0.0).removesuffix(".0")  # + 0.0 turns -0.0 into 0.0


def show_angle(value: float) -> str:
    """Return the degrees of an angle [rad], with as many digits as `angle` needs for it."""
    degrees = math.degrees(value)
    for rounded in (float(f"{degrees:.15g}"), degrees):
        text = show(rounded)
        if angle(text) == value:
            return text
    return str(_LONG.divide(Decimal(value), _DEGREE))


def _show_all(values: tuple[float, ...]) -> str:
    return " ".join(show(value) for value in values)


def _integer(text: str) -> int:
    text = text.strip()
    if re.fullmatch(r"[+-]?0[xX][0-9a-fA-F]+", text):
        return int(text, 16)
    return int(
        number(text)
    )  # existing files compute ray counts that are not whole: (1/rate)/55e-6


def _boolean(text: str) -> bool:
    word = text.strip().lower()
    if word in ("true", "1", "yes", "on"):
        return True
    if word in ("false", "0", "no", "off"):
        return False
    raise ValueError("must be true or false")


def _color(text: str) -> Color:
    if not re.fullmatch(r"#([0-9a-fA-F]{6}|[0-9a-fA-F]{8})", text.strip()):
        raise ValueError("must be a colour like #RRGGBB or #RRGGBBAA")
    return Color.hex(text)


def _write_color(color: Color) -> str:
    parts = color[:3] if color.a == 1.0 else color
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


def _words_of(text: str) -> list[str]:
    """Return the words of a list, which may stand in brackets as MRPT prints its poses."""
    if "[" in text:
        text = text.strip()
        if text.startswith("[") and text.endswith("]"):
            text = text[1:-1]
    return _WORD.findall(text)


def _listed(rule: str, *layouts: str) -> Callable[[str], tuple[float, ...]]:
    """Return a reader of number lists with one of `layouts`; all its errors have the text `rule`.

    In a layout each letter is a number, "a" one in degrees.
    """
    by_size = {len(layout): layout for layout in layouts}

    def read(text: str) -> tuple[float, ...]:
        words = _words_of(text)
        layout = by_size.get(len(words))
        if layout is None:
            raise ValueError(rule)
        try:
            pairs = zip(words, layout, strict=True)
            return tuple([angle(word) if kind == "a" else number(word) for word, kind in pairs])
        except OutOfRange:
            raise
        except ValueError:
            raise ValueError(rule) from None

    return read


def _pose2d(values: tuple[float, ...]) -> Pose:
    x, y, yaw = values
    return Pose(x, y, yaw=yaw)


def _pose3d(values: tuple[float, ...]) -> Pose:
    x, y, z, yaw, pitch, roll = values
    return Pose(x, y, z, roll, pitch, yaw)


def _pose_any(values: tuple[float, ...]) -> Pose:
    return _pose2d(values) if len(values) == 3 else _pose3d(values)


def _write_pose3d(pose: Pose) -> str:
    angles = map(show_angle, (pose.yaw, pose.pitch, pose.roll))
    return " ".join([_show_all(pose[:3]), *angles])


def _write_pose2d(pose: Pose) -> str:
    if pose != Pose(pose.x, pose.y, yaw=pose.yaw):
        return _write_pose3d(pose)
    return f"{_show_all(pose[:2])} {show_angle(pose.yaw)}"


def _order_notice(text: str) -> str:
    if len(_words_of(text)) != 6:
        return ""
    return "six numbers are read as 'x y z yaw pitch roll', angles in degrees"


def _wheel_position(values: tuple[float, ...]) -> tuple[float, ...]:
    return (values[0], values[1], values[2] if len(values) == 3 else 0.0)


def _write_wheel_position(values: tuple[float, ...]) -> str:
    place = _show_all(values[:2])
    return place if values[2] == 0.0 else f"{place} {show_angle(values[2])}"


def _twist(values: tuple[float, ...]) -> Twist:
    vx, vy, wz = values
    return Twist(vx, vy, wz)


def _point3(values: tuple[float, ...]) -> Point3:
    return (values[0], values[1], values[2] if len(values) == 3 else 0.0)


def _points3(text: str) -> tuple[Point3, ...]:
    rule = "must be lines of 'x y z'"
    values = _listed(rule, "x" * len(_words_of(text)))(text)
    if len(values) % 3:
        raise ValueError(rule)
    return tuple(zip(values[::3], values[1::3], values[2::3], strict=True))


def _matrix(text: str) -> Matrix:
    rule = "must be a matrix like [a b; c d] with rows of equal length"
    body = text.strip()
    if body.startswith("[") and body.endswith("]"):
        body = body[1:-1]
    try:
        rows = tuple(numbers(row) for row in re.split(r"[;\n]", body) if row.strip())
    except ValueError:
        raise ValueError(rule) from None
    if not rows or len({len(row) for row in rows}) != 1:
        raise ValueError(rule)
    return rows


def _write_matrix(rows: Matrix) -> str:
    return "[" + "; ".join(_show_all(row) for row in rows) + "]"


def _read_rate(text: str) -> float:
    rate = number(text)
    if rate < 1.0 / MOST_NUMBER:
        raise ValueError("must be > 0")
    return 1.0 / rate


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in re.split(r"[\s,]+", text.strip()) if word)


def _keyframe(layout: str, pose: Callable[[tuple[float, ...]], Pose], rule: str) -> Any:
    read = _listed(rule, layout)

    def convert(text: str) -> Keyframe:
        time, *rest = read(text)
        return Keyframe(time, pose(tuple(rest)))

    return convert


def _timed(write: Callable[[Pose], str]) -> Callable[[Keyframe], str]:
    return lambda frame: f"{show(frame.time)} {write(frame.pose)}"


def _then(
    read: Callable[[str], tuple[float, ...]], convert: Callable[[tuple[float, ...]], T]
) -> Callable[[str], T]:
    return lambda text: convert(read(text))


_RULE_2D = "must be 'x y yaw', yaw in degrees"
_RULE_3D = "must be 'x y z yaw pitch roll', angles in degrees"
_RULE_ANY = "must be 'x y yaw' or 'x y z yaw pitch roll', angles in degrees"

TEXT: Converter[str] = Converter("text", str.strip, str)
FILE: Converter[str] = replace(TEXT, kind="path of a local file", path="file")
URI: Converter[str] = replace(TEXT, kind="path or URI", path="uri")
OUTPUT: Converter[str] = replace(TEXT, path="output")
WORDS: Converter[tuple[str, ...]] = Converter("words", _words, " ".join)
NUMBER: Converter[float] = Converter("number", number, show)
INTEGER: Converter[int] = Converter("whole number", _integer, str)
BOOLEAN: Converter[bool] = Converter("true or false", _boolean, lambda v: str(v).lower())
#: Whether files are written.
RECORDING: Converter[bool] = replace(BOOLEAN, path="output")
COLOR: Converter[Color] = Converter("#RRGGBB[AA]", _color, _write_color, exact=False)
DEGREES: Converter[float] = Converter("number", angle, show_angle, "deg")
# Raw torques: forward is negative in the file format and positive in specs.
REVERSED: Converter[float] = Converter(
    "number, negative = forward", lambda text: 0.0 - number(text), lambda v: show(0.0 - v)
)
RATE: Converter[float] = Converter("number", _read_rate, lambda v: show(1.0 / v), "Hz")
NUMBERS: Converter[tuple[float, ...]] = Converter("numbers", numbers, _show_all)
ANGLES: Converter[tuple[float, ...]] = Converter(
    "numbers",
    angles,
    lambda values: " ".join(map(show_angle, values)),
    "deg",
)
MATRIX: Converter[Matrix] = Converter("matrix [a b; c d]", _matrix, _write_matrix)
POINT2: Converter[tuple[float, ...]] = Converter("x y", _listed("must be 'x y'", "xy"), _show_all)
POINT3: Converter[Point3] = Converter(
    "x y [z]", _then(_listed("must be 'x y' or 'x y z'", "xy", "xyz"), _point3), _show_all
)
POINTS3: Converter[tuple[Point3, ...]] = Converter(
    "lines of x y z", _points3, lambda points: "\n".join(_show_all(point) for point in points)
)
POSE3D: Converter[Pose] = Converter(
    "x y z yaw pitch roll", _then(_listed(_RULE_3D, "xyzaaa"), _pose3d), _write_pose3d, "m, deg"
)
POSE2D: Converter[Pose] = Converter(
    "x y yaw",
    _then(_listed(_RULE_ANY, "xya", "xyzaaa"), _pose_any),
    _write_pose2d,
    "m, deg",
    notice=_order_notice,
)
TWIST: Converter[Twist] = Converter(
    "vx vy wz",
    _then(_listed("must be 'vx vy wz', wz in degrees per second", "xya"), _twist),
    lambda v: f"{_show_all(v[:2])} {show_angle(v.wz)}",
    "m/s, deg/s",
)
WHEEL_POSITION: Converter[tuple[float, ...]] = Converter(
    "x y [yaw]",
    _then(_listed("must be 'x y' or 'x y yaw', yaw in degrees", "xy", "xya"), _wheel_position),
    _write_wheel_position,
    "m, deg",
)
TIME_POSE: Converter[Keyframe] = Converter(
    "t x y yaw",
    _keyframe("txya", _pose2d, f"{_RULE_2D[:9]}t {_RULE_2D[9:]}"),
    _timed(_write_pose2d),
    "s, m, deg",
)
TIME_POSE_3D: Converter[Keyframe] = Converter(
    "t x y z yaw pitch roll",
    _keyframe("txyzaaa", _pose3d, f"{_RULE_3D[:9]}t {_RULE_3D[9:]}"),
    _timed(_write_pose3d),
    "s, m, deg",
)
