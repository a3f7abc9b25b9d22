# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""World files in, specs out, and back; `read_world` is the way in, `dump_world` the way out.

Nothing here simulates, and no spec field is named here: what a tag means stands in the specs.
"""

from mvsim_core.xmlfile.entry import read_vehicle, read_world
from mvsim_core.xmlfile.writing import dump_world

__all__ = ["dump_world", "read_vehicle", "read_world"]
