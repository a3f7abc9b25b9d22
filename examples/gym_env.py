# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A world as an environment for reinforcement learning, with the interface of gymnasium.

A robot with a lidar learns to drive to a goal among boxes. Needs numpy only; with gymnasium
installed, spaces and base class are gymnasium's own:

    python examples/gym_env.py       a baseline drives ten episodes and prints its returns
"""

from __future__ import annotations

import importlib.util
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_core import load_world

Observation = npt.NDArray[np.float32]

PERIOD = 0.1  # s, between actions
MAX_STEPS = 400
SIZE = 5.0  # m, half the side of the arena
RAYS, RANGE = 36, 6.0
MAX_SPEED, MAX_TURN = 1.0, 1.5  # m/s, rad/s
ARRIVED = 0.4  # m
BOXES = 8

WORLD = f"""<mvsim_world version="1.0">
  <simul_timestep>0.01</simul_timestep>
  <walls><shape>
    <pt>{-SIZE} {-SIZE}</pt><pt>{SIZE} {-SIZE}</pt><pt>{SIZE} {-SIZE}</pt><pt>{SIZE} {SIZE}</pt>
    <pt>{SIZE} {SIZE}</pt><pt>{-SIZE} {SIZE}</pt><pt>{-SIZE} {SIZE}</pt><pt>{-SIZE} {-SIZE}</pt>
  </shape></walls>
  <for var="i" from="1" to="{BOXES}">
    <block name="box${{i}}">
      <shape><pt>-.3 -.3</pt><pt>.3 -.3</pt><pt>.3 .3</pt><pt>-.3 .3</pt></shape>
      <static>true</static><zmax>1</zmax><init_pose>$f{{10+i}} 20 0</init_pose>
    </block>
  </for>
  <vehicle name="robot">
    <dynamics class="differential">
      <l_wheel pos="0 0.18" mass="0.5" width="0.05" diameter="0.2"/>
      <r_wheel pos="0 -0.18" mass="0.5" width="0.05" diameter="0.2"/>
      <chassis mass="10" zmin="0.05" zmax="0.4">
        <shape><pt>-.2 -.15</pt><pt>.2 -.15</pt><pt>.2 .15</pt><pt>-.2 .15</pt></shape>
      </chassis>
      <controller class="twist_pid"><KP>5</KP><KI>20</KI><max_torque>8</max_torque></controller>
    </dynamics>
    <kinematics class="2WDiff"><max_speed>{MAX_SPEED}</max_speed></kinematics>
    <init_pose>0 0 0</init_pose>
    <sensor class="laser" name="lidar">
      <fov_degrees>360</fov_degrees><nrays>{RAYS}</nrays><max_range>{RANGE}</max_range>
      <sensor_period>{PERIOD}</sensor_period><pose_3d>0 0 0.3 0 0 0</pose_3d>
      <range_std_noise>0.01</range_std_noise>
    </sensor>
  </vehicle>
</mvsim_world>"""


class Box:
    """A stand-in for gymnasium.spaces.Box: an array within bounds."""

    def __init__(self, low: float, high: float, shape: tuple[int, ...]) -> None:
        """Bound all elements by `low` and `high`."""
        self.low, self.high, self.shape = low, high, shape
        self.dtype = np.float32
        self._rng = np.random.default_rng(0)

    def seed(self, seed: int) -> None:
        """Restart the random numbers of `sample`."""
        self._rng = np.random.default_rng(seed)

    def sample(self) -> Observation:
        """Return a random element."""
        return self._rng.uniform(self.low, self.high, self.shape).astype(np.float32)

    def contains(self, x: Observation) -> bool:
        """Tell whether an array is an element."""
        inside = np.all(x >= self.low) and np.all(x <= self.high)
        return x.shape == self.shape and bool(inside)


_Env: Any = object
_Box: Any = Box
if importlib.util.find_spec("gymnasium"):
    import gymnasium

    _Env, _Box = gymnasium.Env, gymnasium.spaces.Box


class NavigationEnv(_Env):  # type: ignore[misc]
    """Drive to a goal without hitting anything.

    Actions: (speed, turn), each -1 … 1 of the greatest. Observations, all -1 … 1: lidar ranges
    over the greatest range, distance of the goal over the arena's diagonal, sine and cosine of its
    bearing, speed and turn over twice the greatest as the wheels measure them. Rewards: metres
    nearer to the goal, 10 for arriving, -10 for a collision.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (gymnasium's declaration)
    render_mode = None

    def __init__(self) -> None:
        """Load the world."""
        self.action_space = _Box(-1.0, 1.0, (2,))
        self.observation_space = _Box(-1.0, 1.0, (RAYS + 5,))
        self._world = load_world(text=WORLD)
        self._robot = self._world.vehicles["robot"]
        self._ticks = round(PERIOD / self._world.dt)
        self._rng = np.random.default_rng(0)
        self._goal = (0.0, 0.0)
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode: new boxes, goal and start; the same for the same seed."""
        if _Env is not object:
            super().reset(seed=seed)
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._world.reset(int(self._rng.integers(2**31)))
        places = self._places(BOXES + 2)
        for box, (x, y) in zip(self._world.blocks.values(), places, strict=False):
            box.teleport(x, y, float(self._rng.uniform(-math.pi, math.pi)))
        self._goal = places[-1]
        self._robot.teleport(*places[-2], float(self._rng.uniform(-math.pi, math.pi)))
        self._steps = 0
        self._advance(0.0, 0.0)  # the first scan
        return self._observe(), {"distance": self._distance()}

    def step(self, action: npt.ArrayLike) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Drive for one period: observation, reward, terminated, truncated, info."""
        speed, turn = np.clip(np.asarray(action, dtype=float), -1.0, 1.0)
        before = self._distance()
        hit = self._advance(float(speed) * MAX_SPEED, float(turn) * MAX_TURN)
        distance = self._distance()
        arrived = distance < ARRIVED
        self._steps += 1
        reward = before - distance + (10.0 if arrived else 0.0) - (10.0 if hit else 0.0)
        info = {"distance": distance, "arrived": arrived, "collision": hit}
        return self._observe(), reward, arrived or hit, self._steps >= MAX_STEPS, info

    def close(self) -> None:
        """Nothing is held outside of Python."""

    def _advance(self, speed: float, turn: float) -> bool:
        self._robot.set_twist(speed, 0.0, turn)
        hit = False
        for _ in range(self._ticks):
            self._world.step()
            hit = hit or self._robot.in_collision
        return hit

    def _places(self, n: int) -> list[tuple[float, float]]:
        """Return random places at least 1.2 m from each other and 0.8 m from the walls."""
        places: list[tuple[float, float]] = []
        while len(places) < n:
            x, y = (float(v) for v in self._rng.uniform(0.8 - SIZE, SIZE - 0.8, 2))
            if all(math.hypot(x - a, y - b) > 1.2 for a, b in places):
                places.append((x, y))
        return places

    def _distance(self) -> float:
        pose = self._robot.pose
        return math.hypot(self._goal[0] - pose.x, self._goal[1] - pose.y)

    def _observe(self) -> Observation:
        pose, twist = self._robot.pose, self._robot.odometry.twist
        bearing = math.atan2(self._goal[1] - pose.y, self._goal[0] - pose.x) - pose.yaw
        ranges = np.clip(self._robot.sensors["lidar"].last.ranges / RANGE, 0.0, 1.0)
        rest = [
            self._distance() / (2.0 * math.sqrt(2.0) * SIZE),
            math.sin(bearing),
            math.cos(bearing),
            twist.vx / (2.0 * MAX_SPEED),
            twist.wz / (2.0 * MAX_TURN),
        ]
        whole = np.concatenate([ranges, rest])
        observation: Observation = np.clip(whole, -1.0, 1.0).astype(np.float32)
        return observation


def baseline(observation: Observation) -> Observation:
    """Return the action of a simple policy: to the goal, where there is room."""
    ranges, (sine, cosine) = observation[:RAYS] * RANGE, observation[RAYS + 1 : RAYS + 3]
    angles = np.linspace(-math.pi, math.pi, RAYS, endpoint=False)
    room = np.minimum.reduce([np.roll(ranges, k) for k in (-2, -1, 0, 1, 2)])
    goal = math.atan2(sine, cosine)
    cost = np.abs(np.angle(np.exp(1j * (angles - goal)))) + 4.0 * (room < 1.0)
    heading = float(angles[np.argmin(cost)])
    ahead = float(room[RAYS // 2])
    speed = max(math.cos(heading), 0.0) * min(1.0, max(ahead - 0.4, 0.1))
    return np.array([speed, np.clip(heading, -1.0, 1.0)], dtype=np.float32)


def episode(env: NavigationEnv, seed: int) -> tuple[float, dict[str, Any]]:
    """Run the baseline for one episode and return the sum of rewards and the last info."""
    observation, info = env.reset(seed=seed)
    total, done = 0.0, False
    while not done:
        observation, reward, terminated, truncated, info = env.step(baseline(observation))
        total, done = total + reward, terminated or truncated
    return total, info


def main() -> None:
    """Let the baseline drive ten episodes."""
    env = NavigationEnv()
    for seed in range(10):
        total, info = episode(env, seed)
        end = "arrived" if info["arrived"] else "collision" if info["collision"] else "time is up"
        print(
            f"episode {seed}: return {total:6.2f}, {end}, {info['distance']:.2f} m from the goal"
        )


if __name__ == "__main__":
    main()
