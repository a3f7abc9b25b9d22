# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A node under random use for a long time: does it stay as it is?

`python -m tests.soak.soak --minutes 30` runs a node at full speed while vehicles are driven,
spawned, deleted and moved, and the simulation is reset, paused and stepped. It prints a line every
few seconds and ends with 1 if the clock went back, a service failed for no reason, the node wrote
an error, or its memory grew. A short run of the same is test_soak.py.
"""

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import LaserScan
from simulation_interfaces.msg import EntityState, SimulationState
from tf2_msgs.msg import TFMessage

from tests.conftest import DomainPool
from tests.ros.node_process import START, NodeProcess, Observer, eventually, nanoseconds
from tests.ros.service_client import Client, placed
from tests.ros.worlds import crowded

#: Most vehicles that are there beside those of the world file.
MOST = 4
#: Names of spawned vehicles that come again and again; some get a name of their own.
POOL = [f"s{i}" for i in range(MOST)]
#: Wall time [s] between two actions.
PAUSE = 0.02
#: Allowed growth of the memory after the warm-up.
GROWTH = 0.05


@dataclass(frozen=True, slots=True)
class Sample:
    """What was seen at one moment.

    Attributes:
        wall: Time since the start [s].
        sim: Simulated time [s].
        resident: Resident memory of the node without shared memory [MB].
        shared: Resident shared memory, the buffers of the middleware [MB].
    """

    wall: float
    sim: float
    resident: float
    shared: float


@dataclass
class Watch:
    """What must never happen, and what has happened.

    Attributes:
        now: Newest /clock [ns].
        backward: Times the clock went back.
        scans: Number of scans that came.
        done: How often each action was done.
        refused: Answers that should not have been.
    """

    now: int = 0
    backward: int = 0
    scans: int = 0
    done: dict[str, int] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    def clock(self, message: Clock) -> None:
        """Take a /clock."""
        stamp = nanoseconds(message.clock)
        self.backward += stamp < self.now
        self.now = stamp

    def scan(self, message: LaserScan) -> None:
        """Take a scan."""
        self.scans += 1

    def other(self, message: bytes) -> None:
        """Take something else, so that it is published."""


class Users:
    """A client that makes random requests of all kinds.

    Args:
        node: Where clients and publishers live.
        watch: What happens is noted there.
        seed: Of the choices.
    """

    def __init__(self, node: Node, watch: Watch, seed: int) -> None:
        self._node = node
        self._watch = watch
        self._client = Client(node)
        self._random = random.Random(seed)
        self._spawned: set[str] = set()
        self._unique = 0
        self._drivers: dict[str, Any] = {}
        self._actions: dict[Callable[[], Any], int] = {
            self.drive: 60,
            self.look: 10,
            self.spawn: 8,
            self.delete: 6,
            self.move: 10,
            self.reset: 2,
            self.pause: 2,
            self.tune: 2,
        }

    def act(self) -> None:
        """Do something."""
        (action,) = self._random.choices(list(self._actions), list(self._actions.values()))
        action()
        name = action.__name__
        self._watch.done[name] = self._watch.done.get(name, 0) + 1

    def drive(self) -> None:
        """Send a velocity to a random robot."""
        name = self._random.choice(["r1", "car", *self._spawned])
        if name not in self._drivers:
            self._drivers[name] = self._node.create_publisher(Twist, f"/{name}/cmd_vel", 10)
        command = Twist()
        command.linear.x = self._random.uniform(-0.5, 1.0)
        command.angular.z = self._random.uniform(-1.0, 1.0)
        self._drivers[name].publish(command)

    def look(self) -> None:
        """Ask where all are."""
        answer = self._client.call("GetEntitiesStates")
        self._expect("look", answer.result)
        missing = self._spawned - set(answer.entities)
        if missing:
            self._watch.refused.append(f"look: {missing} are gone")

    def spawn(self) -> None:
        """Add a vehicle, one time in ten with a name that never was."""
        free = [name for name in POOL if name not in self._spawned]
        if len(self._spawned) >= MOST or not free:
            return
        name = self._random.choice(free)
        if self._random.random() < 0.1:
            self._unique += 1
            name = f"unique_{self._unique}"
        kind = self._random.choice(["courier", "car"])
        answer = self._client.spawn(name, kind, *self._place())
        self._expect(f"spawn {name}", answer.result)
        self._spawned.add(name)

    def delete(self) -> None:
        """Take a vehicle out."""
        if not self._spawned:
            return
        name = self._random.choice(sorted(self._spawned))
        self._expect(f"delete {name}", self._client.call("DeleteEntity", entity=name).result)
        self._forget({name})

    def move(self) -> None:
        """Put something elsewhere."""
        name = self._random.choice(["r1", "car", "crate", *self._spawned])
        state = EntityState(pose=placed(*self._place()).pose)
        answer = self._client.call("SetEntityState", entity=name, state=state)
        self._expect(f"move {name}", answer.result)

    def reset(self) -> None:
        """Reset, with or without what was spawned."""
        scope = self._random.choice([0, 2, 4, 6])
        self._expect(f"reset {scope}", self._client.reset(scope))
        if scope != 2:
            self._forget(set(self._spawned))

    def pause(self) -> None:
        """Pause, make some steps, play."""
        client = self._client
        self._expect("pause", client.state(SimulationState.STATE_PAUSED))
        self._expect("step", client.call("StepSimulation", steps=20).result)
        self._expect("play", client.state(SimulationState.STATE_PLAYING))

    def tune(self) -> None:
        """Change a rate."""
        answer = self._client.set("publish_rate", self._random.choice([20.0, 50.0, 100.0]))
        if not answer.successful:
            self._watch.refused.append(f"tune: {answer.reason}")

    def _forget(self, names: set[str]) -> None:
        self._spawned -= names
        for name in names & self._drivers.keys():
            self._node.destroy_publisher(self._drivers.pop(name))

    def _place(self) -> tuple[float, float]:
        return self._random.uniform(-4.5, 4.5), self._random.uniform(-3.5, 3.5)

    def _expect(self, what: str, result: Any) -> None:
        if result.result != result.RESULT_OK:
            self._watch.refused.append(f"{what}: {result.result} {result.error_message}")


def memory(pid: int) -> tuple[float, float]:
    """Return the resident memory of a process [MB], without and of shared memory."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    values = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith("Rss")}
    anonymous, files, shared = (int(values[f"Rss{kind}"]) for kind in ("Anon", "File", "Shmem"))
    return (anonymous + files) / 1024.0, shared / 1024.0


def growth(samples: list[Sample]) -> float:
    """Return by which part the memory grew.

    Compared are the second and third tenth of the time, when all is warm, and the last two.
    """
    begin, end = samples[0].wall, samples[-1].wall
    early = [s.resident for s in samples if 0.1 <= (s.wall - begin) / (end - begin) <= 0.3]
    late = [s.resident for s in samples if (s.wall - begin) / (end - begin) >= 0.8]
    return statistics.median(late) / statistics.median(early) - 1.0


def soak(
    seconds: float, seed: int, report: Callable[[Sample, Watch], None], period: float
) -> tuple[list[Sample], Watch, str]:
    """Run a node for some wall time [s] under random use.

    Args:
        seconds: Wall time [s].
        seed: Of the choices.
        report: Called with each sample.
        period: Wall time [s] between samples.

    Returns:
        The samples, what happened, and what the node wrote.
    """
    pool = DomainPool()
    domain = pool.take()
    with tempfile.TemporaryDirectory() as folder:
        node = NodeProcess(domain, crowded(Path(folder)), realtime_factor="max")
        observer = Observer(domain)
        watch = Watch()
        try:
            observer.node.create_subscription(Clock, "/clock", watch.clock, 1000)
            for name in ("r1", *POOL):
                observer.node.create_subscription(LaserScan, f"/{name}/scan", watch.scan, 100)
            for topic, kind in (("/r1/odom", Odometry), ("/r1/tf", TFMessage)):
                observer.node.create_subscription(kind, topic, watch.other, 1000, raw=True)
            eventually(lambda: watch.now, "/clock", START)
            samples = _use(
                Users(observer.node, watch, seed), node, watch, (seconds, period), report
            )
            code, _ = node.interrupt()
            if code != 0:
                watch.refused.append(f"exit code {code}")
            return samples, watch, node.output
        finally:
            observer.close()
            node.close()
            pool.close()


def _use(
    users: Users,
    node: NodeProcess,
    watch: Watch,
    times: tuple[float, float],
    report: Callable[[Sample, Watch], None],
) -> list[Sample]:
    seconds, period = times
    samples: list[Sample] = []
    begin = time.monotonic()
    while (wall := time.monotonic() - begin) < seconds:
        users.act()
        time.sleep(PAUSE)
        if wall >= period * len(samples):
            samples.append(Sample(wall, watch.now * 1e-9, *memory(node.process.pid)))
            report(samples[-1], watch)
    return samples


def faults(watch: Watch, output: str) -> list[str]:
    """Return what should not have been, in words."""
    found = list(watch.refused)
    if watch.backward:
        found.append(f"the clock went back {watch.backward} times")
    found += [line for line in output.splitlines() if "[ERROR]" in line or "Traceback" in line]
    return found


def main() -> int:
    """Soak for the time that is given on the command line."""
    parser = argparse.ArgumentParser(description="Run a node for long under random use.")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    def show(sample: Sample, watch: Watch) -> None:
        done = " ".join(f"{name} {count}" for name, count in sorted(watch.done.items()))
        sys.stdout.write(
            f"{sample.wall:7.0f} s  simulated {sample.sim / 3600:6.3f} h"
            f"  memory {sample.resident:6.1f} + {sample.shared:5.1f} MB"
            f"  scans {watch.scans}  {done}\n"
        )
        sys.stdout.flush()

    samples, watch, output = soak(60.0 * options.minutes, options.seed, show, period=10.0)
    found = faults(watch, output)
    grown = growth(samples)
    if grown > GROWTH:
        found.append("memory grew")
    sys.stdout.write(f"{output}\nmemory grew by {100 * grown:.1f} %\n")
    sys.stdout.writelines(f"FAULT {line}\n" for line in found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
