"""``mersey play``: play a seat at the terminal, line by line."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from typing import Annotated

import typer

from mersey.client.bot import seat_at
from mersey.client.channel import MerseyClient
from mersey.client.cli.connecting import SERVER_DEFAULT, Server, Token, connected, table_named
from mersey.client.errors import ApiError
from mersey.client.following import Moment
from mersey.client.questions import Questions
from mersey.client.seat_play import SeatPlay
from mersey.client.strategies.catalogue import strategy_named
from mersey.client.strategies.turn import Turn
from mersey.client.table_info import TableInfo
from mersey.client.terminal import (
    Labels,
    event_text,
    help_text,
    labels_of,
    prompt_text,
    read_entry,
    refusal_text,
    table_text,
    wrapped,
)
from mersey.game.display_name import NameRefused, normalised
from mersey.rules.refusals import MerseyError, NotationError
from mersey.rules.ruleset_file import load_ruleset, ruleset_text, shipped


class PlayUsageError(MerseyError):
    """Options that do not go together."""


def register(app: typer.Typer) -> None:
    """Join ``play`` to the command."""
    app.command("play")(play)


def play(
    table: Annotated[
        str, typer.Option("--table", metavar="ID", help="A table that is open; left out: a new one.")
    ] = "",
    rules: Annotated[
        str, typer.Option("--rules", metavar="ID|FILE", help="The rules of a new table.")
    ] = "contract",
    bots: Annotated[int, typer.Option("--bots", min=0, max=7, help="Bots at a new table.")] = 3,
    seats: Annotated[
        int, typer.Option("--seats", min=0, max=8, help="Seats of a new table; 0: you and the bots.")
    ] = 0,
    strategy: Annotated[str, typer.Option("--strategy", help="How the bots play.")] = "greedy",
    name: Annotated[str, typer.Option("--name", help="The name that the others see.")] = "",
    server: Server = SERVER_DEFAULT,
    token: Token = "",
) -> None:
    """Play a seat at the terminal: what the others do is told, what you may do is asked."""
    strategy_named(strategy)
    table = table_named(table) if table else ""
    asyncio.run(_play(table, rules, bots, seats, strategy, _shown_name(name), server, token))


def _shown_name(name: str) -> str:
    """Return the name as it will be kept: looked at before a table is made for it."""
    try:
        return normalised(name) if name else ""
    except NameRefused as error:
        raise PlayUsageError(f"--name: {error}") from None


async def _play(
    table: str, rules: str, bots: int, seats: int, strategy: str, name: str, server: str, token: str
) -> None:
    async with connected(server, token) as client:
        table = table or await _new_table(client, rules, bots, seats, strategy)
        if await seat_at(client, table) is None:
            await client.take_seat(table, display_name=name)
        lines = Lines()
        starter = asyncio.create_task(_start_when_full(client, table))
        try:
            async with client.play(table, (await client.get_table(table)).version) as seat:
                await Table(client, seat, lines).play()
        finally:
            starter.cancel()
            await asyncio.gather(starter, return_exceptions=True)


async def _new_table(client: MerseyClient, rules: str, bots: int, seats: int, strategy: str) -> str:
    ruleset = load_ruleset(rules)
    seats = seats or max(bots + 1, ruleset.players[0])
    if bots >= seats:
        raise PlayUsageError(f"--bots {bots}: leaves you no seat of {seats}")
    toml = "" if rules in shipped() else ruleset_text(rules)
    info = await client.create_table(rules, rules_toml=toml, seats=seats)
    if bots:
        await client.add_bots(info.table, [strategy] * bots)
    typer.echo(f"Table {info.table}: {ruleset.title}, {seats} seats, {bots} bot{'s' * (bots != 1)}")
    if seats - bots > 1:
        typer.echo(f"Others join with: mersey play --table {info.table} --token TOKEN")
    return info.table


async def _start_when_full(client: MerseyClient, table: str) -> None:
    """Start the game once every seat is taken, where this player is the table's host."""
    with contextlib.suppress(ApiError):  # another player's table: its host starts it
        async for moment in client.follow(table):
            info = await client.get_table(table)
            if info.state != "seating":
                return
            if not info.free and not moment.stale:
                await client.start_game(table)
                return


class Lines:
    """What is typed, as lines; read by a thread, for a terminal can't be waited for otherwise."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        threading.Thread(target=self._read, daemon=True, name="mersey-lines").start()

    def _read(self) -> None:
        with contextlib.suppress(RuntimeError, ValueError, OSError):  # the loop, or the terminal, has gone
            for line in sys.stdin:
                self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
            self._loop.call_soon_threadsafe(self._lines.put_nowait, None)

    async def next(self) -> str | None:
        """Return the next line, None at the end of what is typed."""
        return await self._lines.get()


class Table:
    """A seat played by a person: tells what comes, asks for what is due."""

    def __init__(self, client: MerseyClient, seat: SeatPlay, lines: Lines) -> None:
        self._client = client
        self._seat = seat
        self._lines = lines
        self._info: TableInfo | None = None
        self._labels: Labels = {}
        self._turn: Turn | None = None
        self._questions = Questions()
        self._away = False

    async def play(self) -> None:
        """Play until the game is over, or the player leaves."""
        await self._learn_names()
        await self._show()
        moments = self._seat.moments()
        coming = asyncio.ensure_future(anext(moments, None))
        typed = asyncio.ensure_future(self._lines.next())
        try:
            while True:
                done, _ = await asyncio.wait({coming, typed}, return_when=asyncio.FIRST_COMPLETED)
                if coming in done:
                    moment = coming.result()
                    if moment is None:
                        break
                    await self._tell(moment)
                    coming = asyncio.ensure_future(anext(moments, None))
                if typed in done:
                    line = typed.result()
                    if line is None or not await self._do(line):
                        return
                    typed = asyncio.ensure_future(self._lines.next())
        finally:
            await _cancel(coming, typed)
        await self._show()

    async def _learn_names(self) -> None:
        self._info = await self._client.get_table(self._seat.table)
        self._labels = labels_of(self._info, await seat_at(self._client, self._seat.table))

    async def _show(self) -> None:
        view = await self._client.view(self._seat.table)
        _print(table_text(view, self._seat.rules, self._labels))
        self._questions.shown(view)
        if self._turn is not None:
            _print(prompt_text(self._turn.view, self._turn.choices))

    async def _tell(self, moment: Moment) -> None:
        if moment.updates and self._info is not None and self._info.free:
            await self._learn_names()
        self._say_away(moment.stale and not moment.updates)
        for update in moment.updates:
            _print(event_text(update, self._labels, self._seat.rules))
        if moment.updates:
            self._turn = None
        if moment.turn is not None and self._seat.is_current(moment.turn):
            self._turn = moment.turn
            _print(self._questions.lines(moment.turn, self._labels))

    def _say_away(self, away: bool) -> None:
        if away and not self._away:
            typer.echo("The server is away, or ahead of what has come; waiting for it.")
            self._questions.repeat()
        self._away = away

    async def _do(self, line: str) -> bool:
        """Do what a line says; return False where the player leaves."""
        choices = self._turn.choices if self._turn else None
        try:
            entry = read_entry(line, choices)
        except NotationError as error:
            _print(wrapped(f"{error} (? for help)"))
            return True
        if entry.wish == "quit":
            typer.echo(f"Your seat is kept: mersey play --table {self._seat.table}")
            return False
        if entry.wish == "help":
            _print(help_text(choices))
        elif entry.action is None:
            await self._show()
        else:
            try:
                await self._seat.act(entry.action, seen_version=self._turn.view.version if self._turn else 0)
            except ApiError as error:
                _print(wrapped(refusal_text(error)))
        return True


def _print(lines: list[str]) -> None:
    for line in lines:
        typer.echo(line)


async def _cancel(*waiting: asyncio.Future[Moment | None] | asyncio.Future[str | None]) -> None:
    for future in waiting:
        future.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
