"""``mersey reconcile``, ``restore`` and ``backup``: compare log and archive, mend them, copy them."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from mersey.log.backup import back_up
from mersey.log.reconcile import Progress as Told
from mersey.server import mending
from mersey.server.config import Config, ConfigError
from mersey.server.mending_report import counted

Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", help="The data folder (MERSEY_DATA; default: mersey-data)."),
]
Nats = Annotated[
    str | None,
    typer.Option(
        "--nats", metavar="URL", help="A NATS server of your own (MERSEY_NATS; default: one inside)."
    ),
]
ResultT = TypeVar("ResultT")


def register(app: typer.Typer) -> None:
    """Join the commands of this file to ``mersey``."""
    app.command()(reconcile)
    app.command()(restore)
    app.command()(backup)


class _Screen:
    """Lines, and under them bars while something goes on."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def say(self, line: str) -> None:
        """Show a line."""
        self._progress.console.print(line, highlight=False, markup=False)

    def task(self, title: str) -> Told:
        """Show the progress of what begins now."""
        task = self._progress.add_task(title, total=None)

        def tell(done: int, of: int) -> None:
            self._progress.update(task, completed=done, total=of)

        return tell


@contextmanager
def _screen() -> Iterator[_Screen]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(soft_wrap=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield _Screen(progress)


def _run(work: Coroutine[None, None, ResultT]) -> ResultT:
    logging.basicConfig(level=logging.ERROR)  # what is at fault is told in the report
    return asyncio.run(work)


def reconcile(
    data: Data = None,
    nats: Nats = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Copy missing ends, byte for byte, to the side that is short.")
    ] = False,
) -> None:
    """Compare log and archive by their hashes, and name each difference; the server must be stopped."""
    config = Config.read(os.environ, data=data, nats=nats)
    with _screen() as screen:
        equal = _run(mending.reconcile(config, screen, repair=repair))
    if not equal:
        raise typer.Exit(1)


def restore(
    data: Data = None,
    nats: Nats = None,
    source: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="Fill the log from this backup.")
    ] = None,
    new_log: Annotated[
        bool, typer.Option("--log", help="Make a new log from the archive: the old store is damaged.")
    ] = False,
    new_archive: Annotated[
        bool, typer.Option("--archive", help="Make a new archive from the log: the old one is damaged.")
    ] = False,
) -> None:
    """Fill a log that was lost, or lost its end, from the archive; the server must be stopped."""
    if [source is not None, new_log, new_archive].count(True) > 1:
        raise ConfigError("say one of --from, --log and --archive")
    config = Config.read(os.environ, data=data, nats=nats)
    with _screen() as screen:
        if new_archive:
            _run(mending.restore_archive(config, screen))
        elif new_log:
            _run(mending.renew_log(config, screen))
        else:
            _run(mending.restore_log(config, screen, source=source))


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where the backup goes: a new file.")],
    data: Data = None,
) -> None:
    """Copy the archive, as it stands now, to one file and check it; a server may go on meanwhile."""
    config = Config.read(os.environ, data=data)
    with _screen() as screen:
        made = back_up(config.data / "archive.db", file, screen.task("checking"))
    typer.echo(
        f"{file}: {counted(made.entries, 'entry')} of {counted(made.streams, 'stream')}, "
        f"up to log position {made.position}, each checked"
    )
    typer.echo("The keys in the data folder are not in it: keep a copy of them too.")
