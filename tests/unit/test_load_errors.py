# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Whatever is wrong with a world, loading it raises a MvsimError that names file and line."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mvsim_core import BuildError, MvsimError, WorldFileError, load_world, read_world
from mvsim_core.assembly import limits
from mvsim_core.assembly.guard import building
from mvsim_core.elements import occupancy_grid, point_files
from mvsim_core.errors import LogError
from mvsim_core.meshes.readers import MeshError, read_mesh
from mvsim_core.sensors import SENSORS
from mvsim_core.specs.params import NOWHERE, Where
from mvsim_core.xmlfile import loader

ROBOT = """<vehicle name="r1"><init_pose>0 0 0</init_pose>
  <dynamics class="differential">{dynamics}<chassis mass="10">{chassis}</chassis>
    <controller class="twist_pid"/></dynamics>{more}</vehicle>"""
#: Each raised an exception of Python or of a library.
BAD = {
    "wheel too small": ROBOT.format(
        dynamics="<l_wheel pos='0 1' diameter='1e-300'/>", chassis="", more=""
    ),
    "wheel too large": ROBOT.format(
        dynamics="<l_wheel pos='0 1' diameter='1e300'/>", chassis="", more=""
    ),
    "wheel too far": ROBOT.format(dynamics="<l_wheel pos='1e300 1e300'/>", chassis="", more=""),
    "steering": "<vehicle><init_pose>0 0 0</init_pose><dynamics class='ackermann'>"
    "<f_wheels_x>1e300</f_wheels_x><controller class='twist_front_steer_pid'/></dynamics>"
    "</vehicle>",
    "shape": ROBOT.format(
        dynamics="",
        chassis="<shape><pt>0 0</pt><pt>1e-200 0</pt><pt>0 1e-200</pt></shape>",
        more="",
    ),
    "noise": ROBOT.format(
        dynamics="",
        chassis="",
        more="<sensor class='imu'><angular_velocity_std_noise>1e308</angular_velocity_std_noise>"
        "</sensor>",
    ),
    "period": ROBOT.format(
        dynamics="",
        chassis="",
        more="<sensor class='laser'><sensor_period>1e308</sensor_period></sensor>",
    ),
    "rate": ROBOT.format(
        dynamics="", chassis="", more="<sensor class='laser'><rate_hz>1e-308</rate_hz></sensor>"
    ),
    "gravity": "<gravity>1e308</gravity>",
    "place": "<block><init_pose>1e300 0 0</init_pose></block>",
    "log": f"<vehicle name='{'n' * 300}'><init_pose>0 0 0</init_pose>"
    "<dynamics class='differential'/><auto_start_recording>true</auto_start_recording></vehicle>",
}


@pytest.mark.parametrize("case", BAD)
def test_every_failure_names_file_and_line(case: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.world.xml"
    path.write_text(f"<mvsim_world>\n{BAD[case]}\n</mvsim_world>")
    with pytest.raises(MvsimError, match=r"^bad\.world\.xml:\d+: <?\w"):
        load_world(path)


def test_numbers_beyond_all_reason_are_said_to_be(tmp_path: Path) -> None:
    text = "<mvsim_world><block><init_pose>1e16 0 0</init_pose></block></mvsim_world>"
    with pytest.raises(WorldFileError, match=r"init_pose must be within ±1e\+15.*got '1e16 0 0'"):
        load_world(text=text)
    load_world(text=text.replace("1e16", "1e5"))


def test_a_yaml_file_that_is_nested_for_ever(tmp_path: Path) -> None:
    element = "<element class='occupancy_grid'><file>{}</file></element>"
    for content in ("[" * 50_000, "a: " + "x" * 200_000):
        (tmp_path / "map.yaml").write_text(content)
        (tmp_path / "w.xml").write_text(f"<mvsim_world>{element.format('map.yaml')}</mvsim_world>")
        with pytest.raises(BuildError, match=r"w\.xml:1: <element>: .*(nested too|longer than)"):
            load_world(tmp_path / "w.xml")


def test_a_texture_bomb_is_a_plain_colour(tmp_path: Path) -> None:
    Image.new("1", (20_000, 20_000)).save(tmp_path / "big.png")
    text = f"""<mvsim_world><element class="horizontal_plane"><texture>{tmp_path}/big.png</texture>
      </element>{ROBOT.format(dynamics="", chassis="", more="<sensor class='lidar3d'/>")}
      </mvsim_world>"""
    (warning,) = (w for w in load_world(text=text).warnings if "texture" in str(w))
    assert "more than 64 million pixels" in str(warning)


def test_a_sensor_that_fails_to_be_made_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(SENSORS.get("imu"), "__init__", fail)
    text = ROBOT.format(dynamics="", chassis="", more="\n<sensor class='imu' name='i'/>")
    with pytest.raises(BuildError, match=r"line 4: <sensor>: 'i' cannot be built \(ZeroDiv"):
        load_world(text=f"<mvsim_world>{text}</mvsim_world>")


@pytest.mark.parametrize("error", [OverflowError(), RecursionError("deep"), OSError(36, "long")])
def test_nothing_but_public_errors_leaves(error: Exception) -> None:
    wanted = rf"w\.xml:3: <x>: .*{type(error).__name__}"
    with pytest.raises(BuildError, match=wanted) as caught, building(Where("/a/w.xml", 3), "x"):
        raise error
    assert caught.value.__cause__ is error
    with pytest.raises(WorldFileError), building(NOWHERE, "x"):
        raise WorldFileError(())


def test_amounts_are_counted_before_anything_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    laser = "<sensor class='laser' name='{}'><nrays>10000000</nrays></sensor>"
    lasers = "".join(map(laser.format, range(3)))
    text = f"<mvsim_world>{ROBOT.format(dynamics='', chassis='', more=lasers)}</mvsim_world>"
    with pytest.raises(BuildError, match=r"30000000 rays and pixels.* at most 20000000"):
        load_world(text=text)
    wheel = "<for var='i' from='1' to='201'><wheel pos='$f{i/10} 0'/></for>"
    text = f"""<mvsim_world><vehicle><init_pose>0 0 0</init_pose><dynamics class="wheels">{wheel}
      <controller class="twist_pid"/></dynamics></vehicle></mvsim_world>"""
    with pytest.raises(BuildError, match=r"<dynamics>: 'veh1' has 201 wheels, at most 200"):
        load_world(text=text)
    monkeypatch.setattr(limits, "MOST_BODIES", 2)
    blocks = "<for var='i' from='1' to='3'><block><init_pose>$f{2*i} 0 0</init_pose></block></for>"
    with pytest.raises(BuildError, match="3 vehicles, blocks and actors, at most 2"):
        load_world(text=f"<mvsim_world>{blocks}</mvsim_world>")
    planes = "<element class='vertical_plane'/>" * 3
    monkeypatch.setattr(limits, "MOST_ELEMENTS", 2)
    with pytest.raises(BuildError, match="3 elements, at most 2"):
        load_world(text=f"<mvsim_world>{planes}</mvsim_world>")
    monkeypatch.setattr(loader, "MOST_ELEMENTS", 2)
    with pytest.raises(WorldFileError, match="more than 2 elements"):
        load_world(text=f"<mvsim_world>{planes}</mvsim_world>")


def test_a_log_that_cannot_be_written_ends_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    recorded = "<log_path>file/</log_path><auto_start_recording>true</auto_start_recording>"
    text = ROBOT.format(dynamics="", chassis="", more=recorded)
    world = load_world(text=f"<mvsim_world>{text}</mvsim_world>")
    with pytest.warns(UserWarning, match="cannot write the log .*; this log ends at"):
        world.run(0.1)
    assert world.log_error is not None
    assert not world.logging
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        world.run(0.1)


def test_loops_are_counted_before_they_run() -> None:
    loops = "".join(f"<for var='i{k}' from='1' to='1000'>" for k in range(6))
    text = f"<mvsim_world>{loops}<block/>{'</for>' * 6}</mvsim_world>"
    with pytest.raises(WorldFileError, match="line 1: <for>: all loops together have more than"):
        read_world(text=text)
    few = "<for var='i' from='1' to='3'><for var='j' from='5' to='4'><x/></for><block/></for>"
    assert len(read_world(text=f"<mvsim_world>{few}</mvsim_world>")[0].blocks) == 3


@pytest.mark.parametrize(
    ("loops", "accepted"),
    [
        ("<for var='i' from='1' to='150001'><block/></for>", False),
        ("<for var='i' from='1' to='10001'><vehicle/></for>", False),
        ("<for var='i' from='1' to='50001'><actor/><block/><block/></for>", False),
        ("<for var='i' from='1' to='101'><for var='k' from='0' to='99'><vehicle/></for></for>", 0),
        ("<for var='i' from='1' to='30000'><if condition='0'><block/></if></for>", True),
        ("<for var='i' from='1' to='-9'><for var='k' from='1' to='30000'><block/></for></for>", 1),
    ],
)
def test_bodies_are_counted_before_they_are_read(loops: str, accepted: bool) -> None:
    text = f"<mvsim_world>{loops}</mvsim_world>"
    if accepted:
        assert not read_world(text=text)[0].blocks
        return
    with pytest.raises(WorldFileError, match="line 1: <for>: the world has more than"):
        read_world(text=text)


def test_a_log_whose_name_is_too_long_is_refused_with_its_vehicle() -> None:
    more = "<auto_start_recording>true</auto_start_recording>"
    text = ROBOT.format(dynamics="", chassis="", more=more).replace('"r1"', f'"{"n" * 300}"')
    with pytest.raises(
        LogError, match=r"^line 1: <vehicle>: cannot write the log of 'n{60}': File name too long$"
    ):
        load_world(text=f"<mvsim_world>{text}</mvsim_world>")


def test_formulas_of_a_file_have_a_budget() -> None:
    formula = f"$f{{{'+'.join(['i'] * 4000)}}}"
    text = f"""<mvsim_world><for var="i" from="1" to="1000"><variable name="q" value="{formula}"/>
      </for></mvsim_world>"""
    with pytest.raises(WorldFileError, match="formulas of the file together take too long"):
        load_world(text=text)


def test_loops_lists_and_formulas_share_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each for itself is below its limit: turns, points, substitutions, short formulas."""
    monkeypatch.setattr("mvsim_core.xmlfile.budget.LIMIT", 160_000)
    world = "<mvsim_world><walls><shape>{}</shape></walls></mvsim_world>"
    load_world(text=world.format("<pt>1 2</pt><pt>3 4</pt>" * 400))
    for point in ("<pt>1 2</pt>", "<pt>${i} 0</pt>", "<pt>$f{i} 0</pt>"):
        loop = f"<for var='i' from='1' to='TURNS'>{point}{point}</for>"
        load_world(text=world.format(loop.replace("TURNS", "200")))
        with pytest.raises(WorldFileError, match="lists and formulas of the file together take"):
            load_world(text=world.format(loop.replace("TURNS", "900")))


@pytest.mark.parametrize("code", ["utf-8", "utf-16"])
def test_models_that_declare_entities_are_refused(tmp_path: Path, code: str) -> None:
    bomb = "".join(f'<!ENTITY e{k + 1} "{10 * f"&e{k};"}">' for k in range(9))
    document = (
        f'<?xml version="1.0" encoding="{code}"?><!DOCTYPE COLLADA [<!ENTITY e0 "x">{bomb}]>'
    )
    (tmp_path / "m.dae").write_bytes(f"{document}<COLLADA>&e9;</COLLADA>".encode(code))
    with pytest.raises(MeshError, match="must not declare a document type or entities"):
        read_mesh(tmp_path / "m.dae")


def test_bodies_are_counted_while_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mvsim_core.xmlfile.loader.MOST_BODIES", 3)
    monkeypatch.setattr("mvsim_core.xmlfile.loader.MOST_VEHICLES", 1)
    block = "<if condition='1'><block><init_pose>${i} 0 0</init_pose></block></if>"
    loop = f"<for var='i' from='1' to='90000'>{block}</for>"
    for text in (loop, 2 * ROBOT.format(dynamics="", chassis="", more="").replace("r1", "")):
        with pytest.raises(
            WorldFileError, match="more than 10000 vehicles, or 150000 vehicles, bl"
        ):
            load_world(text=f"<mvsim_world>{text}</mvsim_world>")


def test_a_map_of_noise_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(occupancy_grid, "MOST_BOXES", 10)
    Image.fromarray(np.indices((8, 8)).sum(0).astype(np.uint8) % 2 * 255).save(tmp_path / "m.png")
    path = tmp_path / "w.world.xml"
    path.write_text(
        "<mvsim_world>\n<element class='occupancy_grid'><file>m.png</file></element></mvsim_world>"
    )
    with pytest.raises(BuildError, match=r"w\.world\.xml:2: .*make 32 boxes, at most 10 are"):
        load_world(path)


def test_of_a_huge_cloud_some_points_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(point_files, "MOST_POINTS", 10)
    (tmp_path / "p.txt").write_text("\n".join(f"{k} 0 0" for k in range(25)))
    points, warning = point_files.read_cloud(tmp_path / "p.txt", 3)
    assert points[:, 0].tolist() == [0, 3, 6, 9, 12, 15, 18, 21, 24]
    assert "one of 3 of its 25 points is used, at most 10" in warning
