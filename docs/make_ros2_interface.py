# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables of docs/ros2_interface.md from the tables in the code.

Run `python docs/make_ros2_interface.py docs/ros2_interface.md` after changes of parameters, topics
or services.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from mvsim_core.bags.topics import INPUTS, OUTPUTS, Topic
from mvsim_ros2.parameters.settings import PARAMETERS, REPLACED, Settings
from mvsim_ros2.services.server import ACTION_HELP, OTHER_SERVICES, SERVICES
from mvsim_ros2.services.vehicle_services import VEHICLE_SERVICES

_BLOCK = re.compile(r"(<!-- table: (\w+) -->\n)(?:\|.*\n)*(<!-- end -->)")


def parameters_table() -> str:
    """Return the parameters as a Markdown table."""
    rows = [
        (f"`{f.name}`", f"`{_shown(f.default)}`", _rule(f.name), PARAMETERS[f.name].help)
        for f in fields(Settings)
    ]
    return _table(("parameter", "default", "must be", "meaning"), rows)


def replaced_table() -> str:
    """Return the replacements of parameters of the C++ node as a Markdown table."""
    rows = [(f"`{name}`", what) for name, what in REPLACED.items()]
    return _table(("parameter of the C++ node", "here"), rows)


def inputs_table() -> str:
    """Return the subscribed topics as a Markdown table."""
    rows = [(f"`{t.name}`", t.type_name, str(t.depth), t.help) for t in INPUTS]
    return _table(("topic", "type", "depth", "meaning"), rows)


def outputs_table() -> str:
    """Return the published topics as a Markdown table."""
    columns = ("topic", "in the C++ node", "type", "QoS", "frame", "content")
    return _table(columns, [_output_row(topic) for topic in OUTPUTS])


def services_table() -> str:
    """Return the services and the action as a Markdown table."""
    rows = [(f"`{s.name}`", s.type, s.help) for s in (*SERVICES, *OTHER_SERVICES)]
    rows.append(("`simulate_steps`", "SimulateSteps (action)", ACTION_HELP))
    return _table(("service", "type in simulation_interfaces", "here"), rows)


def vehicle_services_table() -> str:
    """Return the services of each vehicle as a Markdown table."""
    rows = [(f"`{s.name}`", s.type, s.help) for s in VEHICLE_SERVICES]
    return _table(("service", "type", "here"), rows)


def _output_row(topic: Topic) -> tuple[str, ...]:
    durability = "transient local" if topic.latched else "volatile"
    return (
        f"`{topic.name}`",
        f"`{topic.mvsim_name}`" if topic.mvsim_name else "",
        topic.type_name,
        f"{durability}, depth {topic.depth}",
        topic.frame,
        topic.help,
    )


TABLES: Mapping[str, Callable[[], str]] = {
    "parameters": parameters_table,
    "replaced": replaced_table,
    "inputs": inputs_table,
    "outputs": outputs_table,
    "services": services_table,
    "vehicle_services": vehicle_services_table,
}


def update_tables(text: str) -> str:
    """Return a document with its tables replaced by the present ones.

    Raises:
        KeyError: It names a table that does not exist.
    """
    return _BLOCK.sub(lambda m: m[1] + TABLES[m[2]]() + "\n" + m[3], text)


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value).replace("'", '"')


def _rule(name: str) -> str:
    info = PARAMETERS[name]
    return f"{info.limits}; can be set while running" if info.live else info.limits


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    text = "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
    return text.replace("<", "&lt;")


def main(arguments: list[str] | None = None) -> int:
    """Update the tables of the documents named on the command line."""
    for name in sys.argv[1:] if arguments is None else arguments:
        path = Path(name)
        path.write_text(update_tables(path.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
