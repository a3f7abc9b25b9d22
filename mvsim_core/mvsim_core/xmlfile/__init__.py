# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""World files in, specs out; `read_world` is the way in.

Nothing here simulates, and no spec field is named here: what a tag means stands in the specs.
"""

from mvsim_core.xmlfile.entry import read_vehicle, read_world

__all__ = ["read_vehicle", "read_world"]
