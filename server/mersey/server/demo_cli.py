"""``mersey demo``: watch bots play whole games on a server of their own."""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
import signal
import sys
from pathlib import Path
from typing import Annotated, Final

import typer
import uvloop
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from mersey.client.cli.saying import say
from mersey.client.lines import columns_of, hung
from mersey.replay.turns import Kind, Line
from mersey.rules.ruleset_file import load_ruleset, ruleset_text
from mersey.server.config import DATA_DEFAULT, Config
from mersey.server.demo import Demo, Finished, play_demo, seats_for
from mersey.server.node import Node

_STYLES: dict[Kind, str] = {"round": "bold cyan", "turn": "", "result": "green", "game": "bold green"}
_CHECK_INDENT: Final = 6


def demo(
    rules: Annotated[str, typer.Option(metavar="ID|FILE", help="The rule set.")] = "contract",
    seed: Annotated[str | None, typer.Option(help="The same seed plays the same game.")] = None,
    seats: Annotated[int | None, typer.Option(help="How many bots (default: four where allowed).")] = None,
    games: Annotated[int, typer.Option(min=1, max=1000, help="How many games, one after the other.")] = 1,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", help="The data folder (MERSEY_DATA; default: mersey-data)."),
    ] = None,
) -> None:
    """Watch bots play a whole game through a real server, and see where its record is."""
    logging.basicConfig(level=logging.ERROR)  # advice for whoever runs a server is for ``serve``
    ruleset = load_ruleset(rules)
    told = Demo(rules=ruleset, rules_toml=ruleset_text(rules), seats=seats_for(ruleset, seats), seed=seed)
    config = Config.read(os.environ, data=data, listen="127.0.0.1:0")
    try:
        finished = uvloop.run(_play(config, told, games))
    except asyncio.CancelledError:
        raise typer.Exit(128 + signal.SIGTERM) from None
    _tell_where(config, finished)
    if not all(game.verified.ok for game in finished):
        raise typer.Exit(1)


class _Screen:
    """The account on a terminal: lines, and under them a bar over the rounds."""

    def __init__(self, progress: Progress, title: str) -> None:
        self._progress = progress
        self._task = progress.add_task(title, total=None)

    def line(self, line: Line) -> None:
        """Show one line of the account."""
        text = "\n".join(hung(line.text, line.indent, columns_of(sys.stdout)))
        self._progress.console.print(text, style=_STYLES[line.kind], highlight=False, markup=False)

    def rounds(self, over: int, of: int) -> None:
        """Show how many rounds are over."""
        self._progress.update(self._task, completed=over, total=of)


async def _play(config: Config, told: Demo, games: int) -> list[Finished]:
    playing = asyncio.current_task()
    assert playing is not None, "a coroutine runs in a task"
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, playing.cancel)
    console = Console(soft_wrap=True)  # the lines are parted here, not there: a pipe's not at all
    finished = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("rounds"))
    async with Node(config) as node:
        say(f"{told.rules.title}: {told.seats} bots play through the server on {node.address}", 2)
        with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
            for number in range(1, games + 1):
                screen = _Screen(progress, f"Game {number} of {games}")
                finished.append(await play_demo(node, told, number, screen))
    return finished


def _tell_where(config: Config, finished: list[Finished]) -> None:
    for game in finished:
        verdict = "verified" if game.verified.ok else f"NOT verified, commit {game.verified.fault_commit}"
        typer.echo(f"\nGame {game.table} is {verdict}:")
        for check in game.verified.checks if game.verified.ok else (game.verified.fault,):
            say(f"  {check}", _CHECK_INDENT)
    folder = config.data
    data = "" if str(folder) == DATA_DEFAULT else f" --data {shlex.quote(str(folder))}"
    mersey = shlex.quote(sys.argv[0]) if sys.argv[0].endswith("mersey") else "mersey"
    typer.echo()
    say(f"The record: {folder / 'archive.db'} (SQLite) and {folder / 'nats'} (JetStream).", 12)
    typer.echo(f"Step through it:  {mersey} replay last{data}")
    typer.echo(f"Prove it:         {mersey} verify last{data}")
