# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Exposure and rolling shutters of cameras."""

import math

import numpy as np
import pytest

from mvsim_core import load_world
from mvsim_core.sensors.exposure import MEDIUM, exposed, metered
from tests.unit.sensors3d.test_cameras import needs_gl


def test_exposure_scales_light_and_clips_at_white():
    """Levels are square roots of the light."""
    ramp = np.tile(np.arange(256, dtype=np.uint8)[:, None, None], (1, 4, 3))
    assert exposed(ramp, 1.0) is ramp
    brighter = exposed(ramp, 4.0)[:, 0, 0].astype(int)
    assert (brighter == np.minimum(2 * np.arange(256), 255)).all()
    assert (exposed(ramp, 0.25)[::2, 0, 0] == np.arange(128)).all()


@pytest.mark.parametrize("level", [40, 90, 200])
def test_automatic_exposure_gives_a_medium_mean(level):
    flat = np.full((40, 60, 3), level, np.uint8)
    light = (exposed(flat, 1.0, metered(flat)).astype(float) / 255.0) ** 2
    assert light.mean() == pytest.approx(MEDIUM, rel=0.02)
    assert metered(np.zeros((8, 8, 3), np.uint8)) == 16.0


POST = (
    '<block name="post"><init_pose>4 0 0</init_pose><static>true</static><color>#ff0000</color>'
    "<zmin>-5</zmin><zmax>5</zmax><shape><pt>-.1 -.1</pt><pt>.1 -.1</pt><pt>.1 .1</pt>"
    "<pt>-.1 .1</pt></shape></block>"
)


def seen(options, wz, vy=0.0):
    """A reading of a robot at the origin that turns or slides to the left."""
    text = (
        f'<mvsim_world version="1.0"><simul_timestep>0.001</simul_timestep>{POST}'
        '<lights><enable_shadows>false</enable_shadows></lights><vehicle name="r">'
        '<dynamics class="differential"><chassis zmin="0" zmax="0.1"/>'
        '<controller class="twist_ideal"/></dynamics><sensor class="camera" name="c">'
        "<pose_3d>0 0 0.5 -90 0 -90</pose_3d><ncols>200</ncols><nrows>160</nrows><fx>200</fx>"
        f"<fy>200</fy><segmentation>true</segmentation>{options}</sensor></vehicle></mvsim_world>"
    )
    world = load_world(text=text)
    robot = world.vehicles["r"]
    sensor, data = robot.sensors["c"], world.data
    row = data.bodies[sensor.body]
    row["wz"], row["vy"] = wz, vy
    return sensor.measure(data, 0, 0.0)


def middles(mask):
    """Mean column of each row."""
    return np.array([np.flatnonzero(row).mean() for row in mask])


@needs_gl
@pytest.mark.parametrize("lens", ["", "<distortion>-0.05 0 0 0</distortion>"])
def test_a_rolling_shutter_shears_what_a_turning_camera_sees(lens):
    """Row i of n is taken (n - 1 - i) / (n - 1) of the readout time before the last one."""
    readout, wz = 0.05, 1.5
    still = seen(lens + f"<readout_time>{readout}</readout_time>", 0.0)
    turning = seen(lens + f"<readout_time>{readout}</readout_time>", wz)
    earlier = readout * (1.0 - np.arange(160) / 159)
    # The camera turned to the right of where it looks at the end: the post stood to the left.
    shift = -200.0 * np.tan(wz * earlier)
    for name in ("rgb", "segments"):
        before, after = (
            getattr(r, name)[..., 0] > 1.5 * getattr(r, name)[..., 2]
            if name == "rgb"
            else r.segments > 0
            for r in (still, turning)
        )
        error = middles(after) - middles(before) - shift
        assert np.abs(error).max() < (1.2 if lens == "" else 2.5), name
    assert np.abs(shift).max() > 14.0


@needs_gl
def test_a_sliding_camera_shears_near_things_only():
    turning = seen("<readout_time>0.1</readout_time>", 0.0, vy=1.0)
    columns = middles(turning.segments > 0)
    depth = 3.9  # of the post's front
    assert columns[-1] == pytest.approx(99.5, abs=1.0)
    assert columns[0] - columns[-1] == pytest.approx(-200.0 * 0.1 / depth, abs=1.0)
    assert math.isclose(turning.time, 0.0)


@needs_gl
def test_all_colour_cameras_have_the_same_shutters_and_lenses():
    """A camera, the left one of a pair and that of a depth camera at the same place."""
    size = {"ncols": 120, "nrows": 90, "fx": 90, "fy": 90, "cx": 60, "cy": 45}
    lens = {"distortion": "-0.05 0.01 0.002 0.001", "readout_time": 0.04}

    def sensor(kind, name, pose, prefix=""):
        numbers = "".join(
            f"<{prefix}{key}>{value}</{prefix}{key}>" for key, value in (size | lens).items()
        )
        return f'<sensor class="{kind}" name="{name}"><pose_3d>{pose}</pose_3d>{numbers}</sensor>'

    world = load_world(
        text="""<mvsim_world><simul_timestep>0.01</simul_timestep>
        <block name="post"><static>true</static><color>#ff0000</color><zmax>3</zmax>
          <init_pose>3 0.2 0</init_pose></block>
        <element class="vertical_plane"><x0>7</x0><y0>9</y0><x1>7</x1><y1>-9</y1>
          <height>6</height><color>#00ff00</color></element>
        <vehicle name="r"><init_pose>0 0 0</init_pose><dynamics class="differential">
          <controller class="twist_ideal"/></dynamics>"""
        + sensor("camera", "a", "0 0 1 -90 0 -90")
        + sensor("stereo_camera", "b", "0 0 1 -90 0 -90")
        + sensor("rgbd_camera", "d", "0 0 1 0 0 0", "rgb_")
        + "</vehicle></mvsim_world>"
    )
    robot = world.vehicles["r"]
    robot.set_twist(0.0, 0.0, 1.0)
    world.run(0.11)
    sensors = {name: robot.sensors[name] for name in "abd"}
    alone, pair, both = (sensors[name].measure(world.data, 0, 0.0) for name in "abd")
    assert (pair.left == alone.rgb).all()
    assert (both.rgb == alone.rgb).all()
    assert pair.lens == both.rgb_lens == alone.lens
    assert (pair.left != pair.right).any()
    cloud = both.cloud()
    red = (cloud["rgb"] >> 16 > 100) & (cloud["rgb"] & 0xFF < 50)
    green = (cloud["rgb"] >> 8 & 0xFF > 100) & ~red
    seen = cloud["rgb"] > 0
    assert red[seen & (cloud["z"] < 4.0)].mean() > 0.9
    assert green[seen & (cloud["z"] > 5.0)].mean() > 0.9
