# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of the reader's tests."""

from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a sensor and a vehicle that includes it with arguments."""
    (tmp_path / "defs").mkdir()
    (tmp_path / "defs" / "scan.sensor.xml").write_text(
        '<sensor class="laser" name="${sensor_name|scan}">'
        "<pose_3d>${sensor_x|0} 0 ${sensor_z|0.1} 0 0 0</pose_3d>"
        "<visual><model_uri>${MVSIM_CURRENT_FILE_DIRECTORY}/scan.dae</model_uri></visual>"
        "<sensor_period>$f{1.0/${sensor_rate|10}}</sensor_period></sensor>"
    )
    (tmp_path / "defs" / "rover.vehicle.xml").write_text(
        '<vehicle:class name="rover"><dynamics class="differential">'
        '<controller class="${controller|twist_ideal}"/></dynamics>'
        '<if condition="${with_scan|true}"><include file="scan.sensor.xml"'
        ' sensor_x="$f{-0.5*0.2}" sensor_rate="${rate|20}" sensor_name="${NAME}_scan"/></if>'
        "</vehicle:class>"
    )
    return tmp_path
