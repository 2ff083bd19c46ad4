"""``mersey replay``, ``verify`` and ``export``: look at a recorded game, prove it, take it away."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from mersey.client.cli.saying import say
from mersey.game.view import OPEN, SPECTATOR, Viewer, seat_viewer
from mersey.replay.account import account
from mersey.replay.record_file import SUFFIX, write_record
from mersey.replay.report import MEANING_AT, report
from mersey.replay.sources import RecordedGame, SourceError, open_game
from mersey.replay.stepper import ReplayError, Stepper, check_viewer
from mersey.replay.timeline import Timeline, TimelineError
from mersey.replay.verify import verify_commits
from mersey.replay.verify_all import Tally, tables_of, verify_all

Named = Annotated[
    str,
    typer.Argument(metavar="GAME|FILE|last", help="A game's id or its beginning, a record file, or last."),
]
Data = Annotated[
    Path,
    typer.Option("--data", envvar="MERSEY_DATA", help="The server's data folder.", show_default=True),
]
DATA = Path("mersey-data")


def register(app: typer.Typer) -> None:
    """Join the commands of this room to ``mersey``."""
    app.command()(replay)
    app.command()(verify)
    app.command()(export)


def replay(
    name: Named,
    data: Data = DATA,
    seat: Annotated[int | None, typer.Option("--seat", help="As this seat saw it.")] = None,
    is_open: Annotated[bool, typer.Option("--open", help="With all cards open.")] = False,
    dump: Annotated[bool, typer.Option("--dump", help="The whole account at once.")] = False,
    at: Annotated[
        int | None, typer.Option("--at", metavar="VERSION", help="Begin, or end --dump, here.")
    ] = None,
) -> None:
    """Step through a recorded game, or print its account: all cards open once it is over."""
    if seat is not None and is_open:
        raise ReplayError("say --seat or --open, not both")
    game = open_game(name, data)
    timeline = _timeline(game)
    viewer = _viewer(timeline, seat, is_open)
    if dump:
        if at is not None:
            timeline.moment(at)
        for line in account(timeline, viewer, game.names, at):
            typer.echo(line)
        return
    _step(Stepper(timeline, viewer, game.names, 1 if at is None else at))


def _timeline(game: RecordedGame) -> Timeline:
    if game.fault is not None:
        raise SourceError(f"{game.source}: {game.fault} (mersey verify says what is good)")
    try:
        return Timeline.of(game.commits)
    except TimelineError as error:
        raise TimelineError(f"{game.source}: {error}") from error


def _viewer(timeline: Timeline, seat: int | None, is_open: bool) -> Viewer:
    if seat is not None:
        return check_viewer(timeline, seat_viewer(seat))
    if is_open or timeline.is_over:
        return check_viewer(timeline, OPEN)
    typer.echo("The game still runs: its cards are hidden, this is what a spectator sees.", err=True)
    return SPECTATOR


def _step(stepper: Stepper) -> None:
    """Answer the lines of the input till its end; ask for them where somebody sits there."""
    prompt = "replay (? for help)> " if sys.stdin.isatty() else ""
    typer.echo(stepper.page())
    while True:
        try:
            line = input(prompt)
        except EOFError:
            return
        answer = stepper.answer(line)
        if answer.is_last:
            return
        typer.echo(answer.text)


def verify(
    name: Annotated[
        str | None, typer.Argument(metavar="GAME|FILE|last", help="As for replay; or say --all.")
    ] = None,
    data: Data = DATA,
    every: Annotated[bool, typer.Option("--all", help="Every game of the data folder.")] = False,
    processes: Annotated[
        int | None, typer.Option("--processes", min=1, help="With --all: how many work at once.")
    ] = None,
) -> None:
    """Prove a recorded game from its bytes, or name the first commit at fault."""
    if (name is None) != every:
        raise ReplayError("say which game to verify, or --all, and not both")
    if name is None:
        _verify_all(data, processes)
        return
    game = open_game(name, data)
    verdict = verify_commits(game.commits, game.table)
    fault = game.fault or game.rows_fault
    for line in report(verdict, game.source, fault):
        say(line, MEANING_AT if line.startswith(" ") else 2)
    if not verdict.ok or fault is not None or not game.commits:
        raise typer.Exit(1)


def _verify_all(data: Path, processes: int | None) -> None:
    """Verify every game; name those that are not proved, and end with 1 if there is one."""
    tables = tables_of(data)
    console = Console(soft_wrap=True)
    columns = (TextColumn("verifying"), BarColumn(), MofNCompleteColumn(), TextColumn("games"))
    total = Tally()
    with Progress(
        *columns, TimeElapsedColumn(), console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        for checked in progress.track(verify_all(data, tables, processes), total=len(tables)):
            total.add(checked)
            if checked.state != "whole":
                progress.console.print(str(checked), highlight=False, markup=False)
    typer.echo(str(total))
    if not total.ok:
        raise typer.Exit(1)


def export(
    name: Named,
    file: Annotated[Path, typer.Argument(metavar=f"FILE{SUFFIX}", help="Where the record goes.")],
    data: Data = DATA,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write the record of a game that is over to one file."""
    game = open_game(name, data)
    if not _timeline(game).is_over:
        raise ReplayError(
            f"{game.table}: the game still runs; its record is given out once it has ended or is closed"
        )
    write_record(file, game.commits, force=force)
    typer.echo(f"{file}: {len(game.commits)} commits of table {game.table}")
    typer.echo(f"Verify it anywhere: mersey verify {file}")
