# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The world file format, from the declarations of the specs: as text, Markdown and XSD."""

from mvsim_core.schema.elements import Element, Entry, elements
from mvsim_core.schema.markdown import as_markdown
from mvsim_core.schema.plain import as_text
from mvsim_core.schema.xsd import as_xsd

__all__ = ["Element", "Entry", "as_markdown", "as_text", "as_xsd", "elements"]
