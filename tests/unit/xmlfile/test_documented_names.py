# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Names of older documents of the format, which are read as those of today."""

import math

import pytest

from tests.unit.xmlfile.reading import ORIGIN, warnings, world

VEHICLE = f"<vehicle>{{}}{ORIGIN}</vehicle>"
DYNAMICS = '<dynamics class="{}">{}<controller class="{}"><KP>9</KP></controller></dynamics>'


@pytest.mark.parametrize(
    ("name", "today"),
    [
        ("car_ackermann", "ackermann"),
        ("ackermann_drivetrain", "ackermann_drivetrain"),
        ("car_ackermann_drivetrain", "ackermann_drivetrain"),
    ],
)
@pytest.mark.parametrize(
    ("controller", "current"),
    [("twist_pid", "twist_front_steer_pid"), ("front_steer_pid", "front_steer_pid")],
)
def test_classes_of_cars(name: str, today: str, controller: str, current: str) -> None:
    body = VEHICLE.format(DYNAMICS.format(name, "", controller))
    (vehicle,) = world(body).vehicles
    assert (vehicle.dynamics.kind, vehicle.dynamics.controller.kind) == (today, current)
    assert warnings(body) == []


@pytest.mark.parametrize("kind", ["open", "torsen"])
@pytest.mark.parametrize("driven", ["front", "rear", "4wd"])
def test_drivetrains(kind: str, driven: str) -> None:
    splits = "".join(
        f"<{name}_split>0.4</{name}_split><{name}_bias>1.7</{name}_bias>"
        for name in ("front_rear", "front_left_right", "rear_left_right")
    )
    tag = f'<drivetrain type="{kind}_{driven}">{splits}</drivetrain>'
    assert warnings(VEHICLE.format(DYNAMICS.format("ackermann_drivetrain", tag, "raw"))) == []


def test_options_of_the_window() -> None:
    """A viewer draws by them: projection, forces and their scale."""
    body = (
        "<gui><ortho>true</ortho><show_forces>true</show_forces><force_scale>0.02</force_scale>"
        "<cam_distance>30</cam_distance><fov_deg>45</fov_deg></gui>"
    )
    gui = world(body).gui
    assert (gui.ortho, gui.show_forces, gui.force_scale) == (True, True, 0.02)
    assert (gui.cam_distance, gui.fov) == pytest.approx((30.0, math.radians(45)))
    assert warnings(body) == []
