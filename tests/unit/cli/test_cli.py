# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The command line, as a user calls it."""

import csv
import gc
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mvsim_core import World
from tests.unit.cli.conftest import Outcome

WORLD = """<mvsim_world>
  <simul_timestep>0.01</simul_timestep>
  <variable name="N" value="1"/>
  <georeference><latitude>36.8</latitude><longitude>-2.4</longitude></georeference>
  <vehicle:class name="rover">
    <dynamics class="differential"><controller class="twist_ideal"/></dynamics>
    <sensor class="laser" name="scan"/>
  </vehicle:class>
  <for var="i" from="1" to="${N}">
    <vehicle name="r${i}" class="rover"><init_pose>0 $f{3*i} 0</init_pose></vehicle>
  </for>
  <block name="b1"><init_pose>9 9 0</init_pose><masss>1</masss></block>
</mvsim_world>
"""


@pytest.fixture
def world(tmp_path: Path) -> str:
    file = tmp_path / "w.world.xml"
    file.write_text(WORLD)
    return str(file)


def test_check(mvsim: Callable[..., Outcome], world: str) -> None:
    code, out, err = mvsim("check", "--quick", world)
    assert code == 0
    assert out == f"{world}: 0 errors, 1 warning\n"
    assert err == (
        "warning: w.world.xml:12: <block>: unknown element <masss> is ignored. Did you mean"
        " 'mass'?\n"
    )


def test_check_opens_maps_and_meshes(mvsim: Callable[..., Outcome], tmp_path: Path) -> None:
    (tmp_path / "map.png").write_text("no picture")
    file = tmp_path / "m.world.xml"
    file.write_text(
        '<mvsim_world><element class="occupancy_grid"><file>map.png</file></element></mvsim_world>'
    )
    assert mvsim("check", "--quick", str(file))[0] == 0
    code, out, err = mvsim("check", str(file))
    assert code == 1
    assert out.endswith("1 error, 0 warnings\n")
    assert "map.png" in err
    assert "Traceback" not in err


def test_strict(mvsim: Callable[..., Outcome], world: str) -> None:
    assert mvsim("check", "--quick", "--strict", world)[0] == 1


def test_hints_are_shown_and_are_no_errors(mvsim: Callable[..., Outcome], tmp_path: Path) -> None:
    file = tmp_path / "g.world.xml"
    file.write_text("<mvsim_world>\n<gui win_w='900'/></mvsim_world>")
    expected = "hint: g.world.xml:2: <gui>: win_w is accepted and has no effect: the browser"
    for options in ((), ("--quick",)):
        code, out, err = mvsim("check", "--strict", *options, str(file))
        assert (code, out) == (0, f"{file}: 0 errors, 0 warnings, 1 hint\n")
        assert err.startswith(expected)
    code, out, _ = mvsim("check", "--json", str(file))
    (result,) = json.loads(out)["worlds"]
    assert (code, result["warnings"], result["hints"]) == (0, 0, 1)
    assert mvsim("info", str(file))[1].endswith("1 hint; mvsim check prints them\n")
    assert "hint" not in "".join(mvsim("run", str(file), "--time", "0.1")[1:])


def test_check_as_json(mvsim: Callable[..., Outcome], world: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.world.xml"
    bad.write_text("<mvsim_world>\n<gravity>down</gravity></mvsim_world>")
    code, out, err = mvsim("check", "--quick", "--json", world, str(bad))
    assert (code, err) == (1, "")
    first, second = json.loads(out)["worlds"]
    assert (first["errors"], first["warnings"]) == (0, 1)
    assert second["problems"] == [
        {
            "file": str(bad),
            "line": 2,
            "element": "mvsim_world",
            "severity": "error",
            "message": "gravity must be a number [m/s^2], got 'down'",
            "included_from": [],
        }
    ]


def test_info(mvsim: Callable[..., Outcome], world: str) -> None:
    code, out, _ = mvsim("info", world, "--var", "N=3")
    assert code == 0
    for text in (
        "time step 10 ms, gravity 9.81 m/s²",
        "blocks: 1 (no class)",
        "origin at latitude 36.8°, longitude -2.4°",
        "twist_ideal",
        "0.00 9.00 0°",
        "1 warning; mvsim check prints them",
    ):
        assert text in out
    assert sum("rover" in line for line in out.splitlines()) == 3


def test_run(mvsim: Callable[..., Outcome], world: str, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    code, out, _ = mvsim(
        "run", world, "--time", "2", "--realtime-factor", "max", "--twist", "r1", "0.5", "-0.1",
        "--log", str(logs), "--seed", "4",
    )  # fmt: skip
    assert code == 0
    assert out.startswith("simulated 2.00 s in ")
    assert "200 steps of 10 ms" in out
    (path,) = logs.glob("session_*-mvsim_r1_pose.csv")
    names, _, *rows = csv.reader(path.open())
    assert len(rows) == 200
    last = dict(zip(names, map(float, rows[-1]), strict=True))
    assert last["Timestamp"] == 2
    assert last["q3yaw"] == pytest.approx(-0.2, abs=2e-3)
    assert last["dqx"] == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize(("pace", "calls"), [("1", 1), ("max", 0)])
def test_kernels_of_later_steps_are_loaded_while_a_run_waits(
    mvsim: Callable[..., Outcome],
    world: str,
    monkeypatch: pytest.MonkeyPatch,
    pace: str,
    calls: int,
) -> None:
    """Once, after the first step, and the run does not catch up what that took."""
    ticks = []

    def slow(world: World) -> None:
        ticks.append(world.ticks)
        time.sleep(1.0)

    monkeypatch.setattr(World, "load_kernels", slow)
    code, out, _ = mvsim("run", world, "--time", "0.2", "--realtime-factor", pace)
    assert code == 0
    assert len(ticks) == calls
    assert all(tick == 1 for tick in ticks)
    took = float(out.split(" s in ")[1].split()[0])
    assert took < 0.5
    if pace == "1":
        assert took > 0.15


def test_plot(mvsim: Callable[..., Outcome], world: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    mvsim("run", world, "--time", "1", "--realtime-factor", "max", "--log", str(tmp_path))
    code, out, _ = mvsim("plot", str(tmp_path), "-o", str(tmp_path / "png"))
    assert code == 0
    assert [Path(line) for line in out.split()] == sorted((tmp_path / "png").glob("*.png"))
    code, _, err = mvsim("plot", str(tmp_path / "none"))
    assert code == 1
    assert "no such log file" in err


def test_commanding_all(mvsim: Callable[..., Outcome], world: str) -> None:
    code, out, _ = mvsim(
        "run", world, "--time", "1", "--realtime-factor", "max", "--twist", "all", "1", "0",
        "--var", "N=2",
    )  # fmt: skip
    assert code == 0
    assert out.count(" 1.000 m/s") == 2


MIXED = """<mvsim_world>
  <vehicle name="a"><init_pose>0 0 0</init_pose>
    <dynamics class="differential"><controller class="twist_ideal"/></dynamics></vehicle>
  <vehicle name="b"><init_pose>0 3 0</init_pose>
    <dynamics class="differential"><controller class="twist_ideal"/></dynamics></vehicle>
  <vehicle name="t"><init_pose>0 6 0</init_pose>
    <dynamics class="differential"><controller class="raw"/></dynamics></vehicle>
</mvsim_world>"""


def test_several_commands_and_all_the_others(
    mvsim: Callable[..., Outcome], tmp_path: Path
) -> None:
    file = tmp_path / "mixed.world.xml"
    file.write_text(MIXED)
    go = ("run", str(file), "--time", "1", "--realtime-factor", "max")
    code, out, err = mvsim(*go, "--twist", "a", "1", "0", "--twist", "b", "-0.5", "0.25")
    assert (code, err) == (0, "")
    a, b, t = out.splitlines()[1:]
    assert " 1.000 m/s   0.000 rad/s" in a
    assert "-0.500 m/s   0.250 rad/s" in b
    assert " 0.000 m/s" in t
    code, out, err = mvsim(*go, "--twist", "all", "1", "0", "--twist", "b", "2", "0")
    assert (code, err) == (0, "--twist all: not for t, which take no twist\n")
    assert [line.split(" m/s")[0].split()[-1] for line in out.splitlines()[1:]] == [
        "1.000", "2.000", "0.000",
    ]  # fmt: skip
    code, _, err = mvsim(*go, "--twist", "t", "1", "0")
    assert code == 1
    assert err == (
        "error: t: controller 'raw' of a 'differential' vehicle takes no twist command;"
        " it takes: torque\n"
    )


def test_variables_of_the_whole_file_may_be_set(
    mvsim: Callable[..., Outcome], tmp_path: Path
) -> None:
    """In a formula, in a branch that is not read, in a class that is not used, in an include."""
    (tmp_path / "part.xml").write_text('<block name="${INCLUDED|b}"/>')
    file = tmp_path / "v.world.xml"
    file.write_text("""<mvsim_world>
      <if condition="false"><include file="x${BRANCH}.xml"/></if>
      <vehicle:class name="c">
        <init_pose>$f{2*sin(formula) + 1} ${CLASS} 0</init_pose> </vehicle:class>
      <include file="part.xml"/> <variable name="SET" value="3"/> <!-- COMMENT -->
    </mvsim_world>""")
    for name in ("BRANCH", "FORMULA", "CLASS", "INCLUDED", "SET"):
        assert mvsim("check", "--quick", str(file), "--var", f"{name}=1")[0] == 0, name
    code, _, err = mvsim("check", "--quick", str(file), "--var", "COMMENT=1")
    assert code == 1
    assert "the file uses no variable 'COMMENT'" in err


def test_no_collection_looks_at_a_running_world(mvsim: Callable[..., Outcome], world: str) -> None:
    gc.unfreeze()
    mvsim("run", world, "--time", "0.1", "--realtime-factor", "max")
    assert gc.get_freeze_count() > 10_000
    gc.unfreeze()


def test_pace(mvsim: Callable[..., Outcome], world: str) -> None:
    start = time.perf_counter()
    assert mvsim("run", world, "--time", "1", "--realtime-factor", "2")[0] == 0
    assert time.perf_counter() - start >= 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--twist", "r9", "1", "0"], "unknown vehicle 'r9'"),
        (["--twist", "r1", "nan", "0"], "two finite numbers"),
        (["--twist", "r1", "1"], "got 'r1 1'"),
        (["--twist", "r1", "1", "0", "--twist", "r1", "2", "0"], "'r1' is commanded twice"),
        (["--realtime-factor", "fast"], "the real-time factor must be a number > 0 or max"),
        (["--realtime-factor", "0"], "the real-time factor must be a number > 0 or max"),
        (["--realtime-factor", "nan"], "the real-time factor must be a number > 0 or max"),
        (["--time", "-1"], "--time"),
        (["--var", "N"], "expected NAME=VALUE, got 'N'"),
        (["--frobnicate"], "--frobnicate"),
        (["--keyboard"], "expected a terminal as input"),
    ],
)
def test_wrong_usage(
    mvsim: Callable[..., Outcome], world: str, arguments: list[str], message: str
) -> None:
    code, _, err = mvsim("run", world, "--time", "0.1", *arguments)
    assert code == 2
    assert message in " ".join(err.replace("│", " ").split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "missing.world.xml"], "error: cannot read"),
        (["info", "missing.world.xml"], "error: cannot read"),
        (["check", "missing.world.xml"], "error: cannot read"),
        (["run", "{world}", "--time", "1", "--log", "/proc/none"], "error: cannot write the log"),
        (["run", "{world}", "--var", "M=2"], "the file uses no variable 'M'"),
        (["check", "{world}", "--var", "NN=2"], "no variable 'NN'. Did you mean 'N'? Known: N"),
    ],
)
def test_bad_input(
    mvsim: Callable[..., Outcome], world: str, arguments: list[str], message: str
) -> None:
    code, _, err = mvsim(*(argument.replace("{world}", world) for argument in arguments))
    assert code == 1
    assert message in err
    assert "Traceback" not in err


def test_no_verb(mvsim: Callable[..., Outcome]) -> None:
    code, out, err = mvsim("--help")
    assert code == 0
    for verb in ("run", "check", "info", "plot"):
        assert verb in out + err
    assert mvsim("frobnicate")[0] == 2


def process(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "mvsim_core.cli", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_ctrl_c_ends_a_run_well(world: str, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    running = process("run", world, "--log", str(logs))
    deadline = time.monotonic() + 120
    while not list(logs.glob("*.csv")) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 0
    assert out.startswith("simulated ")
    assert "Traceback" not in err


def test_reading_needs_no_kernels() -> None:
    """The verbs that only read start without numba, the solver and the XML library."""
    code = (
        "import sys; import mvsim_core.cli, mvsim_core.xmlfile;"
        "print(sorted({'numba', 'pyb2d3', 'scipy', 'PIL'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
