# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The command line: `mvsim VERB`, one verb a module.

A verb's module declares its options and imports what it needs only when it runs, so that
`mvsim --help` and `mvsim check` start at once. Exit codes: 0 fine, 1 the run or check failed,
2 wrong usage.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from mvsim_core.cli import (
    batch,
    bench,
    bus,
    check,
    info,
    maps,
    plot,
    record,
    render,
    replay,
    run,
    schema,
    tune,
    view,
    worlds,
)
from mvsim_core.cli.command import App, UsageError, usage_line

app = App(name="mvsim", pretty_exceptions_enable=False)
app.command("run")(run.run)
app.command("view")(view.view)
app.command("launch")(run.launch)
app.command("record")(record.record)
app.command("replay")(replay.replay)
app.command("check")(check.check)
app.command("info")(info.info)
app.command("tune")(tune.tune)
app.command("batch")(batch.batch)
app.command("bench")(bench.bench)
app.command("render")(render.render)
app.command("map")(maps.make_map)
app.command("schema")(schema.schema)
app.command("worlds")(worlds.worlds)
app.command("plot")(plot.plot)
app.command("server")(bus.server)
app.add_typer(bus.node_app, name="node")
app.add_typer(bus.topic_app, name="topic")
app.add_typer(bus.service_app, name="service")


def _print_version(wanted: bool) -> None:
    if wanted:
        from mvsim_core import __version__

        print(f"mvsim {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Simulate ground vehicles described in world files."""


def main() -> None:
    """Run the command line; errors that a user can cause end it with one message."""
    # before numpy is imported: its threads for products of matrices, which are not used here,
    # wait busily for 0.1 s of processor time when they are started
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from mvsim_core.cli.bars import progress_shown
    from mvsim_core.errors import MvsimError, WorldFileError

    try:
        with progress_shown():
            code = app(prog_name="mvsim", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()
        else:
            print(usage_line(error), file=sys.stderr)
        sys.exit(2)
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
