# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A world with every sensor under random use for many steps: does its memory stay as it is?

`nice -n 10 python -m tests.soak.core --steps 200000` drives, spawns, removes and moves vehicles,
and restores and resets the world, while all sensors read, cameras too. It prints a line every few
thousand steps and ends with 1 if memory grew. `--minutes` ends it earlier.
"""

import argparse
import os
import random
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from mvsim_core import World, load_world
from tests.ros.worlds import all_sensors
from tests.soak.soak import GROWTH, Sample, growth, memory

#: Most vehicles that are there beside those of the world file.
MOST = 4


class Use:
    """Random use of a world.

    Args:
        world: The world.
        seed: Of the choices.
    """

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self._random = random.Random(seed)
        self._spec = world.spec.vehicles[0]
        self._kept = world.state()

    def act(self) -> None:
        """Do something."""
        actions = (self.drive, self.spawn, self.remove, self.move, self.keep, self.restore)
        (action,) = self._random.choices((*actions, self.world.reset), (30, 6, 5, 5, 2, 2, 1))
        action()

    def drive(self) -> None:
        """Give a vehicle a velocity."""
        vehicle = self.world.vehicles[self._random.choice(sorted(self.world.vehicles))]
        vehicle.set_twist(self._random.uniform(-0.5, 1.0), 0.0, self._random.uniform(-1.0, 1.0))

    def spawn(self) -> None:
        """Add a vehicle with all sensors."""
        free = [name for name in map("s{}".format, range(MOST)) if name not in self.world.vehicles]
        if free:
            self.world.add_vehicle(self._spec, name=free[0], pose=(*self._place(), 0.5))

    def remove(self) -> None:
        """Take one of them out."""
        there = [name for name in self.world.vehicles if name.startswith("s")]
        if there:
            self.world.remove(self._random.choice(there))

    def move(self) -> None:
        """Put a vehicle elsewhere."""
        vehicle = self.world.vehicles[self._random.choice(sorted(self.world.vehicles))]
        vehicle.teleport(*self._place(), 0.0)

    def keep(self) -> None:
        """Take a snapshot."""
        self._kept = self.world.state()

    def restore(self) -> None:
        """Go back to the last snapshot."""
        self.world.restore(self._kept)

    def _place(self) -> tuple[float, float]:
        return self._random.uniform(-8.0, 2.0), self._random.uniform(-6.0, 6.0)


def soak(
    steps: int, seconds: float, seed: int, report: Callable[[int, Sample], None], every: int
) -> list[Sample]:
    """Step a world under random use.

    Args:
        steps: Number of steps.
        seconds: Longest time [s].
        seed: Of the choices.
        report: Called with each sample and the number of steps.
        every: Steps between samples.

    Returns:
        The samples; their simulated time goes back with resets.
    """
    samples: list[Sample] = []
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of vehicles that are put into others
        world = load_world(all_sensors(Path(folder)))
        use = Use(world, seed)
        for step in range(steps + 1):
            if step % every == 0:
                wall = time.monotonic() - begin
                samples.append(Sample(wall, world.time, *memory(os.getpid())))
                report(step, samples[-1])
                if wall > seconds:
                    break
            if step % 20 == 0:
                use.act()
            world.step()
        world.close()
    return samples


def main() -> int:
    """Soak for the steps that are given on the command line."""
    parser = argparse.ArgumentParser(description="Step a world with all sensors for long.")
    parser.add_argument("--steps", type=int, default=200_000)
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    def show(step: int, sample: Sample) -> None:
        sys.stdout.write(f"{sample.wall:7.0f} s  {step} steps  {sample.resident:6.1f} MB\n")
        sys.stdout.flush()

    every = max(1, options.steps // 100)
    samples = soak(options.steps, 60.0 * options.minutes, options.seed, show, every)
    grown = growth(samples)
    sys.stdout.write(f"memory grew by {100 * grown:.1f} %\n")
    return 1 if grown > GROWTH else 0


if __name__ == "__main__":
    sys.exit(main())
