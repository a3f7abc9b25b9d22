# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""One world with something of everything, and hashes of all that it holds after 400 steps.

    python -m tests.golden.state_hash            prints the hashes as JSON
    python -m tests.golden.state_hash --write    stores them for this machine's architecture

Write them again when a change of the physics is meant to change numbers, and say so in the commit:
the differing entries name the fields that changed.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mvsim_core import World, load_world
from mvsim_core.world.data import TABLES
from tests.physics.worlds import block, car, cart, friction, twist_pid, world

STORED = Path(__file__).parent / "state_hash.json"
STEPS = 400
#: Values are rounded to this before they are hashed for storage: compilers and math libraries
#: differ in the last bit, about 1e-16 of values that are below 1e3.
GRAIN = 1e-9

Hashes = dict[str, str]

SENSORS = """
  <sensor class="laser" name="laser1"><pose_3d>0.2 0 0.3 0 0 0</pose_3d>
    <fov_degrees>270</fov_degrees><nrays>91</nrays><sensor_period>0.1</sensor_period>
    <range_std_noise>0.01</range_std_noise></sensor>
  <sensor class="imu" name="imu1"><pose_3d>0.1 0.2 0 0 0 0</pose_3d>
    <sensor_period>0.05</sensor_period></sensor>
  <sensor class="gnss" name="gps1"><pose_3d>0 0 0.5 0 0 0</pose_3d>
    <sensor_period>0.2</sensor_period><horizontal_std_noise>1</horizontal_std_noise></sensor>
  <sensor class="wheel_encoders" name="wheels"><sensor_period>0.05</sensor_period></sensor>"""
SCANNER = """
  <sensor class="lidar3d" name="scanner"><pose_3d>0 0 0.8 0 0 0</pose_3d>
    <sensor_period>0.2</sensor_period><vert_fov_degrees>30</vert_fov_degrees>
    <vert_nrays>4</vert_nrays><horz_nrays>60</horz_nrays><range_std_noise>0.01</range_std_noise>
  </sensor>"""
WARD = """<friction class="wardiagnemma"><mu>0.8</mu><C_damping>0.05</C_damping><A_roll>50</A_roll>
  <R1>0.0075</R1><R2>0.02</R2></friction>"""
ELLIPSE = """<friction class="ellipse"><C_damping>0.02</C_damping></friction>"""
CIRCLE = friction(mu=0.6, c=0.02, rr=0.01).replace(
    "</friction>", "<friction_circle>true</friction_circle></friction>"
)
PID = twist_pid(20, 10, 30)
STEERING = (
    '<controller class="twist_front_steer_pid"><KP>300</KP><KI>90</KI>'
    "<max_torque>500</max_torque></controller>"
)
GEARS = '<drivetrain type="torsen_4wd"/>'
MECANUM = f"""<vehicle name="slider"><dynamics class="mecanum"><chassis mass="20"/>{PID}</dynamics>
  {friction(mu=0.9, rr=0.01)}<init_pose>-6 6 10</init_pose></vehicle>"""
GROUND = """
  <element class="horizontal_plane"><x_min>-30</x_min><x_max>12</x_max><y_min>-30</y_min>
    <y_max>30</y_max></element>
  <element class="elevation_map"><resolution>3</resolution>
    <elevation_data_matrix>[0 0 0 0; 0 0.3 0.2 0; 0 0.6 -0.2 0; 0.1 0.4 0.8 0]
    </elevation_data_matrix>
    <corner_min_x>12</corner_min_x><corner_min_y>-5</corner_min_y></element>
  <element class="property_region"><property_name>friction_mu</property_name>
    <value_double>0.1</value_double><x_min>-9</x_min><x_max>-4</x_max><y_min>-9</y_min>
    <y_max>-4</y_max></element>
  <element class="vertical_plane"><x0>-9</x0><y0>9</y0><x1>9</x1><y1>9</y1>
    <thickness>0.2</thickness></element>
  <georeference><latitude>36.9</latitude><longitude>-2.3</longitude><height>100</height>
  </georeference>"""
JOINTS = """
  <joint type="weld" body_a="loaded" body_b="load"/>
  <joint type="revolute" body_a="loaded" body_b="trailer" anchor_a="-1 0" anchor_b="1 0"/>
  <joint type="distance" body_a="free1" body_b="free2" max_length="2" stiffness="80" damping="2"/>
  <joint type="revolute" name="elbow" body_a="base" body_b="arm" anchor_a="0.6 0"
    anchor_b="-0.6 0" kp="40" kd="20" target_angle_deg="50"/>"""
TEXT = world(
    GROUND,
    cart("pusher", "0 0 0", controller=PID, extra=SENSORS + SCANNER),
    block("pushed", "1.3 0.2 10", mass=4, mu=0.3, restitution=0.2),
    cart("hill", "13 -3 80", controller=PID, ground=ELLIPSE, extra=SENSORS),
    cart("ward", "-3 -3 30", vel="1 0.4 20", ground=WARD),
    cart("ice", "-8 -6 0", vel="1 0.3 40", ground=CIRCLE),
    cart("ideal", "-3 7 45", controller='<controller class="twist_ideal"/>', extra=SENSORS),
    car("car", "4 -8 90", controller=STEERING),
    car(
        "geared",
        "-14 0 0",
        controller=f'<controller class="raw"><torque>-300</torque></controller>{GEARS}',
    ).replace('class="ackermann"><drive>rear</drive>', 'class="ackermann_drivetrain">'),
    MECANUM,
    cart("loaded", "6 3 180", controller=PID, ground=friction(mu=0.9)),
    block("load", "6 3 180", mass=6, size=0.3),
    cart("trailer", "8 3 180", ground=friction(mu=0.9)),
    block("free1", "-12 8 0", vel="0.6 0 10", mass=3),
    block("free2", "-10 8 0", vel="-0.3 0.2 0", mass=5),
    block("base", "-2 -12 0", mass=50),
    block("arm", "-0.8 -12 0", mass=5, size=0.8),
    JOINTS,
)


def arrays(sim: World) -> Iterator[tuple[str, Any]]:
    """Yield name and rows of all structured arrays that a step changes."""
    for name in TABLES:
        yield name, getattr(sim.data, name)
    yield "contacts", sim.data.contacts.contacts
    yield "joints", sim.data.contacts.joints.rows


def run() -> tuple[World, dict[str, list[Any]]]:
    """Return the world after all steps and what its sensors read on the way."""
    sim = load_world(text=TEXT, seed=7)
    sim.vehicles["pusher"].set_twist(0.6, 0.0, 0.1)
    sim.vehicles["hill"].set_twist(0.7)
    sim.vehicles["ideal"].set_twist(0.8, 0.0, 0.5)
    sim.vehicles["car"].set_ackermann(1.5, 0.2)
    sim.vehicles["slider"].set_twist(0.4, 0.4, 0.2)
    sim.vehicles["loaded"].set_twist(0.5, 0.0, 0.2)
    readings: dict[str, list[Any]] = {}
    while sim.ticks < STEPS:
        sim.step()
        if sim.ticks == 100:
            sim.add_vehicle(cart("late", controller=PID), pose=(2.0, -4.0, 0.5)).set_twist(0.5)
        if sim.ticks == 150:
            sim.vehicles["ward"].teleport(-5.0, -1.0, 1.0)
        if sim.ticks == 250:
            sim.remove("ice")
            sim.pivots["elbow"].target = -0.4
        for robot in sim.vehicles.values():
            for sensor in robot.sensors.values():
                got = readings.setdefault(sensor.full_name, [])
                if sensor.last is not None and (not got or got[-1] is not sensor.last):
                    got.append(sensor.last)
    return sim, readings


def numbers(value: Any) -> Iterator[Any]:
    """Yield all arrays of numbers in a reading, field by field."""
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from numbers(getattr(value, field.name))
    elif isinstance(value, tuple | list):
        for item in value:
            yield from numbers(item)
    elif value is not None and not isinstance(value, str):
        table = np.asarray(value)
        names = table.dtype.names
        yield from [table] if names is None else (table[name] for name in names)


def rounded(values: Any) -> bytes:
    """Return values as bytes that do not depend on their last bits."""
    table = np.asarray(values)
    if table.dtype.kind != "f":
        return table.astype("<i8").tobytes()
    whole = np.nan_to_num(np.rint(table.astype("f8") / GRAIN), nan=-1.5, posinf=2e18, neginf=-2e18)
    return (whole + 0.0).astype("<f8").tobytes()  # + 0.0: there is no negative zero


def digest(parts: Iterator[bytes]) -> str:
    """Return the first 64 bits of a hash, as text."""
    sha = hashlib.sha256()
    for part in parts:
        sha.update(part)
    return sha.hexdigest()[:16]


def hashes(sim: World, readings: dict[str, list[Any]], *, exact: bool) -> Hashes:
    """Return a hash of each field of each array and of the readings of each sensor."""

    def as_bytes(values: Any) -> bytes:
        return np.ascontiguousarray(values).tobytes() if exact else rounded(values)

    out = {}
    for name, rows in arrays(sim):
        for field in (f for f in rows.dtype.names if not f.startswith("_")):  # no fillers
            out[f"{name}.{field}"] = digest(iter([as_bytes(rows[field])]))
    for name, items in sorted(readings.items()):
        out[f"readings.{name}"] = digest(as_bytes(v) for item in items for v in numbers(item))
    return out


def stored() -> dict[str, Hashes]:
    """Return the stored hashes, by architecture."""
    if not STORED.is_file():
        return {}
    found: dict[str, Hashes] = json.loads(STORED.read_text())
    return found


def main(write: bool) -> None:
    """Run the world; print or store the hashes."""
    sim, readings = run()
    if write:
        table = {**stored(), platform.machine(): hashes(sim, readings, exact=False)}
        STORED.write_text(json.dumps(table, indent=0, sort_keys=True) + "\n")
        return
    out = {kind: hashes(sim, readings, exact=kind == "exact") for kind in ("exact", "rounded")}
    json.dump(out, sys.stdout)


if __name__ == "__main__":
    main("--write" in sys.argv)
