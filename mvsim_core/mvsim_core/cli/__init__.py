# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The command line: `mvsim VERB`, one verb a module.

A verb's module declares its options and imports what it needs only when it runs, so that
`mvsim --help` and `mvsim check` start at once. Exit codes: 0 fine, 1 the run or check failed,
2 wrong usage.
"""

from __future__ import annotations

import sys

import typer

from mvsim_core.cli import bench, bus, check, info, maps, plot, render, run, schema, view

app = typer.Typer(
    name="mvsim",
    help="Simulate ground vehicles described in world files.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("run")(run.run)
app.command("view")(view.view)
app.command("launch")(run.launch)
app.command("check")(check.check)
app.command("info")(info.info)
app.command("bench")(bench.bench)
app.command("render")(render.render)
app.command("map")(maps.make_map)
app.command("schema")(schema.schema)
app.command("plot")(plot.plot)
app.command("server")(bus.server)
app.add_typer(bus.node_app, name="node")
app.add_typer(bus.topic_app, name="topic")
app.add_typer(bus.service_app, name="service")


def main() -> None:
    """Run the command line; errors that a user can cause end it with one message."""
    from mvsim_core.errors import MvsimError, WorldFileError
    from mvsim_core.progress import reporting

    try:
        with reporting(_print_progress):
            app()
    except WorldFileError as error:
        from mvsim_core.cli.report import print_problems

        print_problems(error.problems)
        sys.exit(1)
    except MvsimError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output went away, as `head` does
        sys.exit(0)


def _print_progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
