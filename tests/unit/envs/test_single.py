# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Environments of one agent: gymnasium's checks, spaces, seeds, snapshots, options."""

from __future__ import annotations

import math
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import mvsim_core.envs  # noqa: F401 (registers)
from mvsim_core import BuildError, UnknownName
from mvsim_core.envs import Randomization, TaskState
from mvsim_core.envs.single import NavigationEnv
from tests.unit.envs.worlds import IDS, OPTIONS, WORLD

EACH = pytest.mark.parametrize(("name", "options"), OPTIONS, ids=IDS)


def make(name: str, **options: Any) -> Any:
    return gymnasium.make(f"mvsim/{name}-v0", **options)


@EACH
def test_gymnasiums_own_check(name: str, options: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(name, **options).unwrapped, skip_render_check=True)


@EACH
def test_observations_stay_within_their_space(name: str, options: dict[str, Any]) -> None:
    env = make(name, **options)
    rng = np.random.default_rng(0)
    observation, _ = env.reset(seed=4)
    for _ in range(60):
        assert env.observation_space.contains(observation)
        action = rng.uniform(-1.5, 1.5, 2).astype(np.float32)
        observation, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            observation, _ = env.reset()


@EACH
def test_the_same_seed_gives_the_same_bytes(name: str, options: dict[str, Any]) -> None:
    def run(env: Any, seed: int) -> list[bytes]:
        found = [env.reset(seed=seed)[0].tobytes()]
        for k in range(12):
            observation, reward, *_ = env.step(np.array([0.4, 0.2 * math.sin(k)], np.float32))
            found += [observation.tobytes(), np.float64(reward).tobytes()]
        return [*found, env.reset()[0].tobytes()]  # the second episode follows from the seed too

    env = make(name, **options).unwrapped
    first = run(env, 5)
    assert run(env, 6) != first
    assert run(env, 5) == first
    assert run(make(name, **options).unwrapped, 5) == first


@EACH
def test_a_snapshot_continues_to_the_byte(name: str, options: dict[str, Any]) -> None:
    vary = Randomization(friction=(0.4, 0.9), mass=(0.8, 1.3), lidar_noise=(0.0, 0.05))
    env = make(name, randomization=vary, **options).unwrapped
    other = make(name, randomization=vary, **options).unwrapped
    env.reset(seed=2)
    act = np.array([0.5, 0.3], np.float32)
    for _ in range(5):
        env.step(act)
    kept = env.state()

    def onward(it: Any) -> list[bytes]:
        return [it.step(act)[0].tobytes() for _ in range(8)]

    want = onward(env)
    env.restore(kept)
    assert onward(env) == want
    other.reset(seed=77)
    other.restore(kept)
    assert onward(other) == want


def test_units_of_navigation() -> None:
    env = make("Navigation", rays=8, obstacles=0, scaled=False).unwrapped
    env.reset(seed=1)
    core = env.core
    copy = core.agents.batch[0]
    copy.vehicles["robot"].teleport(1.0, -1.0, math.pi / 2)
    core.task.goal[:] = (4.0, 3.0)
    for _ in range(12):
        observation, *_ = env.step(np.array([0.0, 0.6], np.float32))
    yaw = copy.vehicles["robot"].pose.yaw
    part = {field: observation[s] for field, s in core.observations.slices.items()}
    assert part["goal_distance"] == pytest.approx(5.0, abs=1e-3)
    bearing = math.atan2(4.0, 3.0) - yaw
    assert part["goal_cos"] == pytest.approx(math.cos(bearing), abs=1e-3)
    assert part["goal_sin"] == pytest.approx(math.sin(bearing), abs=1e-3)
    assert part["turn_rate"] == pytest.approx(0.6, abs=0.01)  # rad/s
    assert abs(part["speed"]) < 0.01
    angles = yaw - math.pi + 2 * math.pi * np.arange(8) / 8
    half = core.task.half
    walls = np.minimum(
        (half - np.sign(np.cos(angles)) * 1.0) / np.abs(np.cos(angles)),
        (half + np.sign(np.sin(angles)) * 1.0) / np.abs(np.sin(angles)),
    )
    assert part["ranges"] == pytest.approx(np.minimum(walls, 6.0), abs=0.12)  # walls are thick
    for _ in range(15):
        observation, *_ = env.step(np.array([0.7, 0.0], np.float32))
    assert observation[core.observations.slices["speed"]] == pytest.approx(0.7, abs=0.02)  # m/s
    scaled = make("Navigation", rays=8, obstacles=0).unwrapped
    scaled.restore(env.state())
    assert scaled.core.observe()[0] * core_one(scaled) == pytest.approx(observation, abs=1e-4)


def core_one(env: Any) -> Any:
    return env.core.observations.one


def test_units_of_cars() -> None:
    env = make("Racing", scaled=False).unwrapped
    assert env.action_space.high == pytest.approx([8.0, math.radians(35)])
    env.reset(seed=3)
    for _ in range(6):
        observation, reward, *_ = env.step(np.array([4.0, 0.2], np.float32))
    part = {field: observation[s] for field, s in env.core.observations.slices.items()}
    assert part["steering"] == pytest.approx(0.2, abs=1e-6)  # rad
    car = env.core.agents.batch[0].vehicles["robot"]
    assert part["speed"] == pytest.approx(car.twist.vx, abs=0.1)
    assert part["turn_rate"] == pytest.approx(car.twist.wz, abs=0.05)
    track = env.core.task.track
    pose = car.pose
    away = np.hypot(*(track.points - [pose.x, pose.y]).T)
    assert abs(part["offset"]) == pytest.approx(away.min(), abs=0.2)
    assert reward == pytest.approx(part["speed"] * 0.05 * part["heading_cos"], abs=0.04)


def test_a_trailer_hangs_on_its_car_when_an_episode_begins() -> None:
    env = make("TrailerParking", scaled=False).unwrapped
    for seed in range(5):
        observation, _ = env.reset(seed=seed)
        part = {field: observation[s] for field, s in env.core.observations.slices.items()}
        assert 3.0 <= part["trailer_x"] <= 7.0
        assert part["hitch"] == pytest.approx(0.0, abs=1e-6)
        for _ in range(4):
            observation, _, ended, _, _ = env.step(np.array([-0.4, 0.0], np.float32))
        assert not ended
        assert observation[0] < part["trailer_x"]  # it was pushed back


def test_arrival_and_collision_end_an_episode() -> None:
    env = make("Navigation", rays=0).unwrapped
    env.reset(seed=0)
    env.core.agents.batch[0].vehicles["robot"].teleport(0.0, 0.0, 0.0)
    env.core.task.goal[:] = (0.6, 0.0)
    for _ in range(8):
        _, reward, terminated, _, info = env.step(np.array([1.0, 0.0], np.float32))
        if terminated:
            break
    assert (terminated, info["success"], info["collision"]) == (True, True, False)
    assert reward > 10.0
    env.reset(seed=0)
    env.core.task.goal[:] = (-3.0, 0.0)
    env.core.agents.batch[0].vehicles["robot"].teleport(4.0, 0.0, 0.0)
    for _ in range(12):
        _, reward, terminated, _, info = env.step(np.array([1.0, 0.0], np.float32))
        if terminated:
            break
    assert (terminated, info["success"], info["collision"]) == (True, False, True)
    assert reward < -9.0


def test_the_reward_of_a_users_world() -> None:
    seen: list[TaskState] = []

    def reward(state: TaskState) -> Any:
        seen.append(state)
        return state.speed, state.time > 0.35

    env = make("World", world=WORLD, reward=reward, vehicle="r").unwrapped
    env.reset(seed=1)
    results = [env.step(np.array([0.5, 0.0], np.float32)) for _ in range(4)]
    assert [r[2] for r in results] == [False, False, False, True]
    assert results[-1][1] == pytest.approx(0.5, abs=0.15)
    assert seen[-1].pose[0, 0] > seen[-1].before[0, 0]
    assert seen[-1].ranges is not None
    assert seen[-1].ranges.shape == (1, 16)
    env = make("World", world=WORLD, reward=lambda state: np.zeros(3)).unwrapped
    env.reset(seed=1)
    with pytest.raises(BuildError, match=r"reward: expected arrays of shape \(1,\)"):
        env.step(np.zeros(2, np.float32))


def test_parameters_of_episodes_follow_from_the_seed() -> None:
    vary = Randomization(friction=(0.3, 0.9), mass=(0.7, 1.5), lidar_noise=(0.0, 0.1))
    env = make("Navigation", rays=8, randomization=vary).unwrapped
    plain = make("Navigation", rays=8).unwrapped
    plain.reset(seed=0)
    standard = plain.core.agents.batch.data

    def drawn() -> tuple[float, float, float]:
        data = env.core.agents.batch.data
        row = env.core.agents.batch.base.entities["robot"].row
        wheels, body = data.wheels, data.bodies[row]
        carried = wheels["load"].sum() / 9.81 + wheels["mass"].sum()
        assert carried == pytest.approx(body["mass"])  # the wheels carry what it weighs
        factor = body["mass"] / standard.bodies["mass"][row]
        assert body["inertia"] == pytest.approx(factor * standard.bodies["inertia"][row])
        sigma = float(env.core.agents.range_sigma[0])
        return float(wheels["region_mu"][0]), float(factor), sigma

    values = []
    for seed in range(40):
        env.reset(seed=seed)
        values.append(drawn())
    env.reset(seed=7)
    assert drawn() == values[7]
    env.reset()
    assert drawn() not in values
    for column, (low, high) in zip(
        zip(*values, strict=True), (vary.friction, vary.mass, vary.lidar_noise), strict=True
    ):
        assert low <= min(column) < low + 0.15 * (high - low)
        assert high - 0.15 * (high - low) < max(column) <= high


def test_friction_and_mass_that_were_drawn_act() -> None:
    def way(**ranges: Any) -> float:
        env = make("Racing", randomization=Randomization(**ranges)).unwrapped
        env.reset(seed=1)
        total = 0.0
        for _ in range(10):
            _, reward, *_ = env.step(np.array([1.0, 0.0], np.float32))
            total += reward
        return total

    assert way(friction=(0.1, 0.1)) < 0.8 * way()
    assert way(mass=(2.0, 2.0)) < 0.8 * way()


def test_what_does_not_fit_is_refused() -> None:
    for name, options, text in (
        ("Navigation", {"rays": 1}, "rays = 0 or >= 2"),
        ("Navigation", {"frame_skip": 0}, "frame_skip: expected at least 1, got 0"),
        ("Racing", {"laps": 0}, "laps >= 1"),
        ("World", {"world": WORLD, "max_speed": -1.0}, "max_speed and max_turn > 0"),
    ):
        with pytest.raises(BuildError, match=text):
            make(name, **options)
    with pytest.raises(BuildError, match="mass needs"):
        Randomization(mass=(2.0, 1.0))
    with pytest.raises(UnknownName, match="planar lidar"):
        make("World", world=WORLD, lidar="lidra")


def test_an_episode_is_truncated() -> None:
    env = make("Navigation", rays=0, max_episode_steps=3)
    env.reset(seed=1)
    ends = [env.step(np.zeros(2, np.float32))[3] for _ in range(3)]
    assert ends == [False, False, True]


def test_pictures_show_the_robot_and_its_goal() -> None:
    env = make("Navigation", rays=0, render_mode="rgb_array").unwrapped
    env.reset(seed=1)
    first = env.render()
    assert (first.shape, first.dtype) == ((480, 640, 3), np.uint8)
    green = np.argwhere((first == (40, 220, 60)).all(axis=2))
    x, y = env.core.task.goal[0]
    down, right = green.mean(axis=0)
    robot = env.core.agents.batch[0].vehicles["robot"]
    assert np.sign(right - 319.5) == np.sign(x)
    assert np.sign(239.5 - down) == np.sign(y)
    robot.teleport(x, y, 0.0)
    red = np.argwhere((env.render()[:, :, 0] > 150) & (env.render()[:, :, 1] < 60))
    assert red.mean(axis=0) == pytest.approx(green.mean(axis=0), abs=4.0)
    assert make("Navigation", rays=0).unwrapped.render() is None
    with pytest.raises(BuildError, match="render_mode"):
        NavigationEnv(render_mode="ansi")
