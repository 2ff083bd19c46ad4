"""Puts the ``mersey`` command together and runs it: errors become one line, here and nowhere else."""

from __future__ import annotations

import os
import sys
from importlib.metadata import entry_points
from typing import Final, NoReturn

import typer
from rich.markup import escape

from mersey.client.cli import EXIT_ERROR, EXIT_INTERRUPTED, bot, play, rules, scenario
from mersey.rules.refusals import MerseyError

ENTRY_POINTS: Final = "mersey.commands"

ROOM_COMMANDS: Final = {
    "serve": "server",
    "demo": "server",
    "replay": "server",
    "verify": "server",
    "export": "server",
    "reconcile": "server",
    "restore": "server",
    "backup": "server",
    "bench": "server",
}
"""The commands of other rooms, and the extra that brings each: what is not installed says so."""


class NotInstalledError(MerseyError):
    """A command of a room that is not installed here."""


def build_app() -> typer.Typer:
    """Return the command with all groups that are installed here."""
    app = typer.Typer(
        name="mersey",
        help="Liverpool and Contract Rummy: rules, server, bots, replay and proof.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    for group in (play, bot, rules, scenario):
        group.register(app)
    reason = _join_rooms(app)
    here = _names(app)
    for name in ROOM_COMMANDS:
        if name not in here:
            _stand_for(app, name, reason)
    return app


def run() -> None:
    """Run the command and exit: 0, 1 with one line for an error, 2 for wrong usage, 130 for Ctrl-C."""
    try:
        build_app()(prog_name="mersey")
    except MerseyError as error:
        _fail(str(error))
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "mersey":
            raise  # a fault of ours, not an extra that is missing
        _fail(f"{error}: pip install 'mersey[server]'")
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    finally:
        _flush()


def _fail(message: str) -> NoReturn:
    print(f"mersey: error: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(EXIT_ERROR)


def _join_rooms(app: typer.Typer) -> str:
    """Let each installed room register its commands; return why one could not, if so."""
    reason = ""
    for entry_point in entry_points(group=ENTRY_POINTS):
        try:
            entry_point.load()(app)
        except ModuleNotFoundError as error:
            reason = f" ({error})"
    return reason


def _names(app: typer.Typer) -> set[str]:
    named = {group.name for group in app.registered_groups}
    for command in app.registered_commands:
        named.add(command.name or (command.callback.__name__.replace("_", "-") if command.callback else None))
    return {name for name in named if isinstance(name, str)}


def _stand_for(app: typer.Typer, name: str, reason: str) -> None:
    """Add a command that says what to install for the real one, whatever arguments it gets."""
    install = f"pip install 'mersey[{ROOM_COMMANDS[name]}]'"

    @app.command(
        name,
        help=escape(f"Not installed here: {install}"),
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )
    def missing() -> None:
        raise NotInstalledError(f"'{name}' is not installed here: {install}{reason}")


def _flush() -> None:
    """Write out what is left; a reader that has gone (``mersey … | head``) is no error."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
