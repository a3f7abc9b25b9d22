# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Whatever a world publishes can be placed on its map, at its stamp, within a second."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sensor_msgs.msg import LaserScan

from tests.conftest import ROOT, DomainPool
from tests.physics.worlds import cart, world
from tests.ros.consumers.topic_recorder import SECOND, recorded_from_start
from tests.ros.worlds import all_sensors

pytestmark = pytest.mark.ros

WORLDS = sorted((ROOT / "worlds").glob("*.world.xml"))
EVERYTHING = "a sensor of each class"
NAMESAKES = "sensors called like frames and like each other"
LASER = '<sensor class="laser" name="{}"><sensor_period>0.1</sensor_period></sensor>'
FIXED = "map"


def namesakes(folder: Path) -> Path:
    """Return a world whose sensors have the names of frames, and of each other."""
    own = "".join(map(LASER.format, ("odom", "laser")))
    fixed = "".join(map(LASER.format, ("odom", "base_link", "map", "laser", "laser_2")))
    file = folder / "namesakes.world.xml"
    file.write_text(world(cart().replace("</vehicle>", f"{own}</vehicle>"), fixed))
    return file


def own_world(name: str) -> Callable[[Path], Path]:
    """Return what returns one of the project's worlds."""
    return lambda folder: ROOT / "worlds" / name


@pytest.mark.parametrize("name", [EVERYTHING, NAMESAKES, *(path.name for path in WORLDS)])
def test_every_frame_leads_to_the_map_at_every_stamp(
    domain_pool: DomainPool, tmp_path: Path, name: str
) -> None:
    file = {EVERYTHING: all_sensors, NAMESAKES: namesakes}.get(name, own_world(name))(tmp_path)
    with recorded_from_start(domain_pool, file, 1.2) as (observer, begin):
        mentioned = observer.mentions()
        scans = {t: observer.all(t) for t, kind in observer.topics.items() if kind is LaserScan}
        buffers = observer.trees()
    assert buffers
    for tree in buffers.values():
        for frame in tree.frames:
            tree.pose(frame, FIXED, None)
    checked = 0
    for topic, frames in mentioned.items():
        own = [tree for before, tree in buffers.items() if topic.startswith(before)]
        for tree in own or buffers.values():
            for frame, stamp in frames:
                assert frame, topic
                first, last = tree.span(frame, FIXED)
                assert first <= begin + 0.05 * SECOND, frame
                assert last >= begin + SECOND, frame
                if stamp is None or first <= stamp <= begin + SECOND:
                    tree.pose(frame, FIXED, stamp)  # a LookupError is an extrapolation
                    checked += 1
                else:  # started before the first transform, as sweeps may, or near the end
                    assert stamp >= begin or frame == FIXED, topic
    assert checked > 100
    for messages in scans.values():
        for scan in messages[:-1]:  # a costmap needs the last ray's place too
            late = (len(scan.ranges) - 1) * scan.time_increment
            assert late < 0.1
            assert np.isfinite(late)
