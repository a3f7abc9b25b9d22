# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Logs of a world: which files, which columns, which rows, and that the numbers are right."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mvsim_core import World, load_world
from mvsim_core.errors import LogError, UnknownName
from mvsim_core.recording import read_log
from tests.physics.worlds import car, cart, twist_pid, world

WARD = """<friction class="wardiagnemma"><mu>0.8</mu><R1>0.05</R1><R2>0.02</R2></friction>"""
ELLIPSE = '<friction class="ellipse"/>'
COMMON = {
    *("Timestamp", "force_z", "friction_x", "friction_y", "torque", "velocity_x", "velocity_y"),
    *("wheel_pos_x", "wheel_pos_y"),
}
#: What is documented for each model beyond the common columns.
MODELS = {
    "default": {
        *("F_friction_lon", "actual_wheel_alpha", "desired_wheel_alpha"),
        *("desired_wheel_w_impulse", "motor_torque", "wheel_lateral_friction"),
        "wheel_long_friction",
    },
    "wardiagnemma": {
        *("F_rr", "actual_wheel_alpha", "desired_wheel_alpha", "motor_torque"),
        "wheel_long_friction",
    },
    "ellipse": {
        *("actual_wheel_alpha", "motor_torque", "slip_angle", "slip_ratio", "vel_w_x", "vel_w_y"),
        *("wheel_ground_point_vel", "wheel_lateral_friction", "wheel_long_friction"),
    },
}
POSE = (
    *("Timestamp", "dqw", "dqx", "dqy", "odo_x", "odo_y", "odo_yaw"),
    *("q0x", "q1y", "q2z", "q3yaw", "q4pitch", "q5roll"),
)


def two_robots() -> World:
    """Return a world with a default and a Ward-Iagnemma robot that drive."""
    w = load_world(
        text=world(
            cart("r1", controller=twist_pid()),
            cart("r2", pose="0 4 0", controller=twist_pid(), ground=WARD),
        )
    )
    for robot in w.vehicles.values():
        robot.set_twist(0.6, 0.0, 0.4)
    return w


def test_files_names_and_header(tmp_path: Path) -> None:
    """One file a vehicle and one a wheel, counted from 1; names, then units behind a #."""
    w = two_robots()
    files = w.start_logging(tmp_path / "new" / "folder")
    assert w.logging
    ends = [path.name.split("-", 1)[1] for path in files]
    assert ends == [
        *("mvsim_r1_pose.csv", "mvsim_r1_wheel_1.csv", "mvsim_r1_wheel_2.csv"),
        *("mvsim_r2_pose.csv", "mvsim_r2_wheel_1.csv", "mvsim_r2_wheel_2.csv"),
    ]
    assert all(path.name.startswith("session_") for path in files)
    w.run(0.05)
    assert w.stop_logging() == files
    assert not w.logging
    lines = files[0].read_text().splitlines()
    assert tuple(lines[0].split(",")) == POSE
    assert lines[1] == "# s,rad/s,m/s,m/s,m,m,rad,m,m,m,rad,rad,rad"
    assert len(lines) == 2 + 10
    table = np.genfromtxt(files[0], delimiter=",", names=True)
    assert table.dtype.names == POSE
    assert table["Timestamp"] == pytest.approx(w.dt * np.arange(1, 11))


@pytest.mark.parametrize("model", list(MODELS))
def test_documented_columns_of_each_model(tmp_path: Path, model: str) -> None:
    ground = f'<friction class="{model}"/>'
    w = load_world(text=world(cart(ground=ground)))
    _, wheel, _ = w.start_logging(tmp_path)
    w.step()
    w.stop_logging()
    columns = list(read_log(wheel).values)
    assert set(columns) >= COMMON | MODELS[model]
    assert columns[1:] == sorted(columns[1:])  # capitals first, as users know it


def test_pid_columns_are_on_the_first_wheel(tmp_path: Path) -> None:
    w = two_robots()
    _, first, second, *_ = w.start_logging(tmp_path)
    w.run(1.0)
    w.stop_logging()
    log = read_log(first).values
    assert not [name for name in read_log(second).values if name.startswith("pid")]
    assert log["pid_sp_vel_l"][-1] == pytest.approx(0.6 - 0.5 * 0.4)
    assert log["pid_sp_vel_r"][-1] == pytest.approx(0.6 + 0.5 * 0.4)
    assert log["pid_error_r"] == pytest.approx(log["pid_sp_vel_r"] - log["pid_act_vel_r"])
    assert log["pid_torque_l"] == pytest.approx(log["torque"])
    assert log["pid_feedforward"][-1] == 0.0


def test_pid_columns_of_a_car_belong_to_its_driven_wheels(tmp_path: Path) -> None:
    pid = '<controller class="twist_front_steer_pid"><KP>500</KP></controller>'
    w = load_world(text=world(car(drive="front", controller=pid)))
    w.vehicles["r1"].set_twist(1.0)
    _, *wheels = w.start_logging(tmp_path)
    w.run(0.1)
    w.stop_logging()
    assert read_log(wheels[0]).values["pid_torque_l"] == pytest.approx(
        read_log(wheels[2]).values["torque"]
    )


@pytest.mark.parametrize("every", [1, 7])
@pytest.mark.parametrize("format", ["csv", "npz", "parquet"])
def test_rows_are_the_state_of_their_ticks(tmp_path: Path, every: int, format: str) -> None:
    """More steps than one buffer holds."""
    if format == "parquet":
        pytest.importorskip("pyarrow")
    w = two_robots()
    pose, wheel, *_ = w.start_logging(tmp_path, every, format)
    robot = w.vehicles["r1"]
    rows = []
    for _ in range(700):
        w.step()
        if w.ticks % every == 0:
            side = robot.wheels[0]
            rows.append((w.time, *robot.pose, *robot.twist, side.omega, side.torque, side.fx))
    w.stop_logging()
    want = np.array(rows).T
    log, spin = read_log(pose).values, read_log(wheel).values
    names = ("Timestamp", "q0x", "q1y", "q2z", "q5roll", "q4pitch", "q3yaw", "dqx", "dqy", "dqw")
    got = [*(log[n] for n in names), *(spin[n] for n in ("omega", "torque", "friction_x"))]
    for name, a, b in zip((*names, "omega", "torque", "fx"), got, want, strict=True):
        assert a == pytest.approx(b, rel=1e-12, abs=1e-12), name
    assert read_log(pose).units["q0x"] == "m"


def test_wheel_dynamics_can_be_checked_from_the_log(tmp_path: Path) -> None:
    """I α = τ - R F, and where nothing slips α is the wished one."""
    w = load_world(text=world(cart(controller=twist_pid())))
    w.vehicles["r1"].set_twist(0.5)
    _, wheel, _ = w.start_logging(tmp_path)
    w.run(0.5)
    w.stop_logging()
    log = read_log(wheel).values
    inertia, radius = 0.5 * 4 * 0.2**2, 0.2
    residual = log["motor_torque"] - radius * log["wheel_long_friction"]
    assert inertia * log["actual_wheel_alpha"] == pytest.approx(residual, abs=1e-7)
    assert log["actual_wheel_alpha"] == pytest.approx(log["desired_wheel_alpha"], abs=1e-6)
    assert log["desired_wheel_w_impulse"] == pytest.approx(log["desired_wheel_alpha"] * w.dt)


def test_ground_drag_is_logged(tmp_path: Path) -> None:
    w = load_world(text=world(cart(vel="1 0 0", ground=WARD)))
    _, wheel, _ = w.start_logging(tmp_path)
    w.step()
    w.stop_logging()
    load = 23 * 9.81 / 2
    want = -load * (0.05 * (1 - np.exp(-50)) + 0.02)
    assert read_log(wheel).values["F_rr"] == pytest.approx([want])


def test_new_session_and_reset_begin_new_files(tmp_path: Path) -> None:
    w = two_robots()
    first = w.start_logging(tmp_path)
    w.run(0.05)
    second = w.new_log_session()
    w.run(0.1)
    w.reset()
    w.step()
    w.stop_logging()
    assert not set(first) & set(second)
    assert len(list(tmp_path.iterdir())) == 3 * len(first)
    assert read_log(first[0]).time == pytest.approx(w.dt * np.arange(1, 11))
    assert read_log(second[0]).time == pytest.approx(w.dt * np.arange(11, 31))


def test_vehicles_that_come_and_go(tmp_path: Path) -> None:
    w = two_robots()
    w.start_logging(tmp_path)
    w.run(0.05)
    w.add_vehicle(cart("r3", pose="0 8 0"))
    w.remove("r1")
    w.run(0.05)
    files = w.stop_logging()
    assert {path.name.split("mvsim_")[1].split("_")[0] for path in files} == {"r2", "r3"}
    rows = {log.vehicle: len(log.time) for log in map(read_log, tmp_path.glob("*_pose.csv"))}
    assert rows == {"r1": 10, "r2": 20, "r3": 10}
    assert [log.wheel for log in map(read_log, files[:3])] == [0, 1, 2]


@pytest.mark.parametrize("format", ["csv", "npz"])
def test_one_vehicle_is_paused_and_goes_on_in_its_file(tmp_path: Path, format: str) -> None:
    """Also while another vehicle comes, so that all files are bound again."""
    w = two_robots()
    files = w.start_logging(tmp_path, format=format)
    w.run(0.05)
    w.log_vehicle("r1", on=False)
    assert (w.logs_vehicle("r1"), w.logs_vehicle(w.vehicles["r2"])) == (False, True)
    w.add_vehicle(cart("r3", pose="0 8 0"))
    assert w.logs_vehicle("r3")
    w.run(0.05)
    w.log_vehicle("r1")
    w.run(0.05)
    w.log_vehicle("r1", on=False)
    assert set(files) < set(w.stop_logging())
    r1, r2 = (read_log(files[k]).time for k in (0, 3))
    assert r2 == pytest.approx(w.dt * np.arange(1, 31))
    assert r1 == pytest.approx(w.dt * np.r_[1:11, 21:31])
    assert len(read_log(files[1]).time) == 20
    assert not list(tmp_path.glob("*.part"))


def test_vehicles_to_log_are_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By name or handle at the start; a log for one starts where its `log_path` says."""
    w = two_robots()
    files = w.start_logging(tmp_path / "a", vehicles=[w.vehicles["r2"]])
    w.add_vehicle(cart("r3", pose="0 8 0"))
    w.step()
    assert len(files) == len(w.stop_logging()) == 3
    assert {read_log(path).vehicle for path in files} == {"r2"}
    assert not w.logs_vehicle("r2")
    w.log_vehicle("r1", on=False)
    assert not w.logging
    monkeypatch.chdir(tmp_path)
    w.log_vehicle("r1")
    w.run(0.05)
    w.reset()  # the choice stays
    w.step()
    assert {read_log(path).vehicle for path in w.stop_logging()} == {"r1"}
    rows = sorted(len(read_log(path).time) for path in tmp_path.glob("session_*_r1_pose.csv"))
    assert rows == [1, 10]
    for call in (w.log_vehicle, w.logs_vehicle, w.clear_log):
        with pytest.raises(UnknownName, match="unknown entity 'r9'"):
            call("r9")
    with pytest.raises(UnknownName, match="unknown entity 'r9'"):
        w.start_logging(vehicles=["r9"])
    assert not w.logging
    (tmp_path / "file").write_text("")
    monkeypatch.chdir(tmp_path)
    bad = load_world(text=world(cart("r1", extra="<log_path>file/</log_path>")))
    with pytest.raises(LogError, match="cannot write the log"):
        bad.log_vehicle("r1")
    assert not bad.logging


@pytest.mark.parametrize("format", ["csv", "npz"])
def test_clear_discards_the_rows_so_far(tmp_path: Path, format: str) -> None:
    """Of one vehicle, of a paused one and of all; more steps than a buffer holds."""
    w = two_robots()
    files = w.start_logging(tmp_path, format=format)
    w.run(1.5)
    w.clear_log("r1")
    w.run(0.05)
    w.log_vehicle("r1", on=False)
    w.stop_logging()
    assert read_log(files[0]).time == pytest.approx(w.dt * np.arange(301, 311))
    assert len(read_log(files[3]).time) == 310
    w.clear_log()  # nothing is logged: no effect
    assert len(read_log(files[3]).time) == 310
    files = w.start_logging(tmp_path, format=format)
    w.run(0.05)
    w.log_vehicle("r1", on=False)
    w.clear_log()
    w.run(0.01)
    w.stop_logging()
    assert [len(read_log(files[k]).time) for k in (0, 1, 3, 4)] == [0, 0, 2, 2]


def test_log_path_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a folder with a slash, else a prefix; recording starts by itself when asked for."""
    monkeypatch.chdir(tmp_path)
    auto = "<auto_start_recording>true</auto_start_recording><log_path>{}</log_path>"
    w = load_world(
        text=world(
            cart("r1", extra=auto.format("runs/first_")),
            cart("r2", pose="0 4 0", extra=auto.format("runs/deep/")),
            cart("r3", pose="0 8 0"),
        )
    )
    assert not list(tmp_path.iterdir()), "a world that is only looked at leaves no files"
    w.run(0.05)
    w.stop_logging()
    (one,) = (tmp_path / "runs").glob("session_*-first_mvsim_r1_pose.csv")
    (two,) = (tmp_path / "runs" / "deep").glob("session_*-mvsim_r2_pose.csv")
    assert len(read_log(one).time) == len(read_log(two).time) == 10
    assert not list(tmp_path.rglob("*r3*"))


def test_a_step_pays_only_for_a_copy(tmp_path: Path) -> None:
    """A row of 25 vehicles costs a step less than stepping; the rest is another thread's work."""
    carts = [cart(f"r{k}", f"0 {3 * k} 0", controller=twist_pid()) for k in range(25)]
    w = load_world(text=world(*carts))
    w.run(0.1)
    stepping = best_of_ten(lambda _: w.step())
    w.start_logging(tmp_path)
    assert w._recorder is not None
    assert best_of_ten(w._recorder.record) < stepping


def best_of_ten(call: Callable[[int], None]) -> float:
    """Return the seconds of ten calls when nothing else gets in their way."""
    spans = []
    for _ in range(40):
        start = time.perf_counter()
        for tick in range(10):
            call(tick)
        spans.append(time.perf_counter() - start)
    return min(spans)


def test_a_world_that_is_dropped_leaves_complete_files(tmp_path: Path) -> None:
    w = two_robots()
    pose, *_ = w.start_logging(tmp_path, format="npz")
    w.run(0.05)
    del w
    gc.collect()
    assert len(read_log(pose).time) == 10
    assert not list(tmp_path.glob("*.part"))


def test_bad_arguments_and_places(tmp_path: Path) -> None:
    w = two_robots()
    with pytest.raises(LogError, match="unknown log format 'xls'; known: csv, npz, parquet"):
        w.start_logging(tmp_path, format="xls")
    with pytest.raises(LogError, match="every must be a whole number of ticks >= 1, got 0"):
        w.start_logging(tmp_path, every=0)
    (tmp_path / "file").write_text("")
    with pytest.raises(LogError, match="cannot write the log"):
        w.start_logging(tmp_path / "file")
    with pytest.raises(LogError, match="call start_logging first"):
        w.new_log_session()
    assert not w.logging
    w.step()


def test_bad_logs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="no such log file"):
        read_log(tmp_path / "none.csv")
    for name, text in (("a.csv", "x,y\n1,2\n"), ("b.csv", "")):
        (tmp_path / name).write_text(text)
        with pytest.raises(LogError, match="not a log: it has no column 'Timestamp'"):
            read_log(tmp_path / name)
    for name, text in (("c.npz", "junk"), ("d.csv", "Timestamp,q0x\n# s,m\n0.1,zwei\n")):
        (tmp_path / name).write_text(text)
        with pytest.raises(LogError, match="cannot be read as a log"):
            read_log(tmp_path / name)


def test_logs_of_the_original_can_be_read(tmp_path: Path) -> None:
    """They have blanks after the commas and no units."""
    path = tmp_path / "session_1-mvsim_r1_pose.csv"
    path.write_text("Timestamp, q0x\n0.005, 1.5\n0.01, 2.5\n")
    log = read_log(path)
    assert log.values["q0x"].tolist() == [1.5, 2.5]
    assert log.units == {}
    assert (log.session, log.vehicle, log.wheel) == ("session_1-mvsim_", "r1", 0)


@pytest.mark.parametrize("kind", ["carts", "car"])
def test_a_live_log_shows_what_a_file_would_hold(tmp_path: Path, kind: str) -> None:
    """Each step, each table, each column, also when a vehicle has gone and arrays have moved."""
    if kind == "carts":
        w = two_robots()
    else:
        steer = '<controller class="twist_front_steer_pid"/>'
        w = load_world(text=world(car("r1", drive="front", controller=steer, ground=ELLIPSE)))
        w.vehicles["r1"].set_ackermann(1.0, 0.3)
    live = {name: vehicle.live_log() for name, vehicle in w.vehicles.items()}
    rows: dict[tuple[str, str], list[np.ndarray]] = {
        (name, table): [] for name, log in live.items() for table in log.columns
    }
    files = w.start_logging(tmp_path, format="npz")
    for step in range(60):
        w.step()
        for name, table in rows:
            rows[name, table].append(live[name].row(table))
        if step == 30 and kind == "carts":
            w.remove("r1")
            rows = {key: each for key, each in rows.items() if key[0] == "r2"}
    w.stop_logging()
    for (name, table), values in rows.items():
        (path,) = [path for path in files if path.name.endswith(f"mvsim_{name}_{table}.npz")]
        log = read_log(path)
        assert live[name].columns[table] == tuple(log.values)
        for k, (column, written) in enumerate(log.values.items()):
            assert np.array_equal([row[k] for row in values], written), column
