# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""No step waits for a kernel: all are loaded at load and at spawn.

Counted in processes of their own, for here other tests have loaded them. A kernel that is compiled
within a step counts like one that is read from the cache.
"""

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from mvsim_core import load_world
from tests.golden.state_hash import TEXT, Hashes, hashes
from tests.physics.worlds import cart, twist_pid
from tests.ros.worlds import all_sensors

ROOT = Path(__file__).resolve().parents[2]

COUNT = """
import sys, tempfile, warnings
from pathlib import Path
from numba.core.dispatcher import Dispatcher
from mvsim_core import World, load_world

late, inside = [], [False]
compile_for, step, run = Dispatcher._compile_for_args, World.step, World.run

def counted(kernel, *args, **kw):
    if inside[0]:
        late.append(f"{kernel.py_func.__module__}.{kernel.py_func.__name__}")
    return compile_for(kernel, *args, **kw)

def counting(world):
    before, inside[0] = inside[0], True
    try:
        step(world)
    finally:
        inside[0] = before

def running(world, seconds):
    inside[0] = True
    run(world, seconds)
    inside[0] = False

Dispatcher._compile_for_args, World.step, World.run = counted, counting, running
warnings.simplefilter("ignore")
"""

#: What a world may come to without a spawn: contacts, a push, another height, a ramp, welds, logs,
#: restores.
LATER = """
from tests.physics.worlds import block, cart, twist_pid, world as text_of

lidar = '<sensor class="laser" name="laser"><sensor_period>0.02</sensor_period></sensor>'
ramp = ('<block name="ramp"><init_pose>0 -3 0</init_pose><static>true</static>'
    '<geometry type="ramp" lx="2" ly="2" lz="0.4"/></block>')
text = text_of(cart("r1", controller=twist_pid(), extra=lidar), block("b1", "3 0 0", mu=0.3),
    block("ledge", "0 8 0", extra="<static>true</static>"), ramp)
world = load_world(text=text)
world.step()
kept = world.state()
world.vehicles["r1"].set_twist(1.0)
world.run(3.5)
assert world.blocks["b1"].pose.x > 3.1, world.blocks["b1"].pose
world.teleport("r1", 0.0, -3.0, 0.0)
world.run(0.05)
world.teleport("r1", 2.3, 0.0, 0.0)
world.run(0.05)
world.weld("r1", "b1")
world.run(0.05)
world.teleport("r1", 0.0, 8.0, 0.0, 1.0)
world.run(0.05)
with tempfile.TemporaryDirectory() as folder:
    world.start_logging(folder)
    world.run(0.05)
    world.close()
world.restore(kept)
world.run(0.05)
world.reset()
world.run(0.05)
batch = world.replicate(3)
world.vehicles["r1"].set_twist(1.0)
world.run(0.5)
"""

#: To a world of one wall, one robot after the other comes: each kind of dynamics, controller,
#: friction and sensor, so that each is the first of something.
SPAWN = """
from mvsim_core.xmlfile import read_world_file
from tests.golden.state_hash import TEXT
from tests.ros.worlds import GEOREFERENCE, all_sensors
from tests.unit.sensors.test_company import WORLD

with tempfile.TemporaryDirectory() as folder:
    files = (None, TEXT), (None, WORLD), (all_sensors(Path(folder)), None)
    specs = [v for path, text in files for v in read_world_file(path, text=text)[0].vehicles]
world = load_world(text=f"<mvsim_world>{GEOREFERENCE}<element class='vertical_plane'><x0>4</x0>"
    "<y0>-5</y0><x1>4</x1><y1>5</y1></element></mvsim_world>")
world.step()
for k, spec in enumerate(specs):
    robot = world.add_vehicle(spec, name=f"v{k}", pose=(-4.0 * k, 0.0, 0.1))
    world.run(0.25)
    assert all(s.last for s in robot.sensors.values()), [s.name for s in robot.sensors.values()]
"""


#: More bodies than one thread advances.
MANY = """
blocks = "".join(block(f"b{i}", f"{3 * (i % 50)} {3 * (i // 50)} 0", mu=0.3) for i in range(2100))
world = load_world(text=text_of(blocks))
world.run(0.02)
"""


#: A world that is loaded without kernels it does not need yet: those of its first step come with
#: that, all others when they are asked for.
POSTPONED = """
from tests.physics.worlds import block, cart, twist_pid, world as text_of

laser = '<sensor class="laser" name="laser"><sensor_period>0.1</sensor_period></sensor>'
robot = cart("r1", controller=twist_pid(), extra=laser)
world = load_world(text=text_of(robot, block("b1", "2.0 0 0")), preload=False)
world.step()
first = set(late)
assert "mvsim_core.world.step.integrate_kernel" in first, first
assert "mvsim_core.solver.solve.contacts_kernel" not in first
late.clear()
world.load_kernels()
world.teleport("r1", 1.2, 0.0, 0.0)
world.vehicles["r1"].set_twist(1.0)
world.run(0.4)
assert world.contacts
"""


@pytest.mark.parametrize(
    "code", [f"{LATER}{SPAWN}{MANY}", POSTPONED], ids=["at load", "when asked for"]
)
def test_no_step_loads_a_kernel(code: str):
    done = subprocess.run(
        [sys.executable, "-c", f"{COUNT}{code}print(*late)"],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def driven(preload: bool, at: int | None, **file: Any) -> list[Hashes]:
    """Return what a world came to, then after a reset, a restore and a spawn, and as copies.

    Its kernels are loaded at a step `at`; None: each when it is needed, or with the world.
    """
    world = load_world(**file, preload=preload)
    for vehicle in world.vehicles.values():
        if "twist" in vehicle.accepts:
            vehicle.set_twist(0.5)
    readings: dict[str, list[Any]] = {}
    for tick in range(60):
        if tick == at:
            world.load_kernels()
        world.step()
        for sensor in world.new_readings:
            readings.setdefault(sensor.full_name, []).append(sensor.last)
    assert readings
    found = [hashes(world, readings, exact=True)]
    kept = world.state()
    world.reset()
    world.run(0.1)
    found.append(hashes(world, {}, exact=True))
    world.restore(kept)
    world.add_vehicle(cart("late", controller=twist_pid()), pose=(-30.0, -30.0, 0.5)).set_twist(
        0.5
    )
    world.run(0.1)
    found.append(hashes(world, {}, exact=True))
    batch = world.replicate(2)
    batch.run(0.1)
    for copy in batch:
        world.restore(batch.state_of(copy))
        found.append(hashes(world, {}, exact=True))
    return found


@pytest.mark.parametrize("sensors", [False, True], ids=["something of all", "all sensors"])
def test_kernels_that_are_loaded_later_change_no_number(tmp_path: Path, sensors: bool):
    file: Any = {"path": all_sensors(tmp_path)} if sensors else {"text": TEXT}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        at_load = driven(True, None, **file)
        for at in (None, 0, 7):
            assert driven(False, at, **file) == at_load
