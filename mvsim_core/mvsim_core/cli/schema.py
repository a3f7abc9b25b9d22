# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim schema`: the world file format, from the declarations that read it."""

from __future__ import annotations

from typing import Annotated

import typer


def schema(
    element: Annotated[
        str, typer.Argument(help="Only this element or class.", show_default=False)
    ] = "",
    markdown: Annotated[bool, typer.Option("--markdown", help="As a document.")] = False,
    xsd: Annotated[bool, typer.Option("--xsd", help="As an XML schema, for editors.")] = False,
) -> None:
    """Print the world file format with that of plug-ins: elements, units, defaults, rules."""
    from mvsim_core.schema import as_markdown, as_text, as_xsd

    if markdown and xsd:
        raise typer.BadParameter("choose one of --markdown and --xsd")
    if element and (markdown or xsd):
        raise typer.BadParameter("--markdown and --xsd print the whole format")
    if markdown:
        print(as_markdown(plugins=True), end="")
    elif xsd:
        print(as_xsd(plugins=True), end="")
    else:
        print(as_text(element), end="")
