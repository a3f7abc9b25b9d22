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
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from mvsim_core.cli.command import App, UsageError, usage_line

#: Where verbs are declared, in the order of the help: a module of this folder, and its function.
VERBS = {
    "run": "run:run",
    "view": "view:view",
    "launch": "run:launch",
    "record": "record:record",
    "replay": "replay:replay",
    "check": "check:check",
    "info": "info:info",
    "tune": "tune:tune",
    "batch": "batch:batch",
    "bench": "bench:bench",
    "render": "render:render",
    "map": "maps:make_map",
    "schema": "schema:schema",
    "worlds": "worlds:worlds",
    "plot": "plot:plot",
    "server": "bus:server",
}
#: Likewise verbs that have verbs of their own, and their `App`.
GROUPS = {"node": "bus:node_app", "topic": "bus:topic_app", "service": "bus:service_app"}


def _print_version(wanted: bool) -> None:
    if wanted:
        from mvsim_core import __version__

        print(f"mvsim {__version__}")
        raise typer.Exit


def mvsim(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Simulate ground vehicles described in world files."""


def app_of(names: Sequence[str] = (*VERBS, *GROUPS)) -> App:
    """Return the command line with some verbs: to declare all takes 40 ms of each start."""
    app = App(name="mvsim", pretty_exceptions_enable=False)
    app.callback()(mvsim)
    for name in names:
        if name in VERBS:
            app.command(name)(_declared(VERBS[name]))
        else:
            app.add_typer(_declared(GROUPS[name]), name=name)
    return app


def _declared(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(f"mvsim_core.cli.{module}"), name)


def main() -> None:
    """Run the command line; errors that a user can cause end it with one message."""
    # before numpy is imported: its threads for products of matrices, which are not used here,
    # wait busily for 0.1 s of processor time when they are started
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from mvsim_core.cli.bars import progress_shown
    from mvsim_core.errors import MvsimError, WorldFileError

    verb = sys.argv[1] if len(sys.argv) > 1 else ""
    app = app_of([verb]) if verb in VERBS or verb in GROUPS else app_of()
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
