"""The demo: a server of its own, bots that play whole games on it over gRPC, and their account.

Everything is real: the log is JetStream, the archive SQLite, the bots are clients with
tokens of their own. What the demo leaves in the data folder is what any server leaves.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from typing import Final, Protocol

import msgspec

from mersey.client.bot import play_bot
from mersey.client.channel import MerseyClient
from mersey.client.strategies.greedy import GreedyStrategy
from mersey.client.table_info import Verified
from mersey.client.wire import RawUpdate
from mersey.replay.turns import Line, Turns
from mersey.rules.ruleset import RuleSet
from mersey.server.config import ConfigError
from mersey.server.node import Node

NAMES: Final = ("Ann", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal")
"""What the bots are called, by seat."""


class Demo(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be played: ``seats`` None means the fewest the rules allow, but four where they may be."""

    rules: RuleSet
    rules_toml: str
    seats: int
    seed: str | None = None
    """The same seed gives the same game, and the record says that its chance was given."""


class Screen(Protocol):
    """Where the account goes."""

    def line(self, line: Line) -> None:
        """Show one line of the account."""

    def rounds(self, over: int, of: int) -> None:
        """Show how many rounds are over."""


class Finished(msgspec.Struct, frozen=True):
    """A game that was played to its end, and what the server proved of it."""

    table: str
    verified: Verified


def seats_for(rules: RuleSet, asked: int | None) -> int:
    """Return the number of seats: as asked, else four where the rules allow it.

    Raises:
        ConfigError: the rule set is not for that number.
    """
    fewest, most = rules.players
    if asked is None:
        return min(max(4, fewest), most)
    if not fewest <= asked <= most:
        raise ConfigError(f"--seats: {rules.id} is for {rules.players_said}, not {asked}")
    return asked


async def play_demo(node: Node, demo: Demo, number: int, screen: Screen) -> Finished:
    """Play game ``number`` of the demo, from an empty table to its verified end.

    Where it is cancelled the table is closed: its bots live here, and nobody would go on with it.
    """
    seed = None if demo.seed is None else f"{demo.seed}/{number}"
    names = NAMES[: demo.seats]
    async with AsyncExitStack() as stack:
        host = await stack.enter_async_context(MerseyClient(node.address, node.host_token))
        opened = await host.create_table(rules_toml=demo.rules_toml, seats=demo.seats, seed=seed or "")
        bots = []
        for name in names:
            token = node.issue_token(name, "player")
            bot = await stack.enter_async_context(MerseyClient(node.address, token))
            await bot.take_seat(opened.table, display_name=name, part=b"")
            bots.append(bot)
        try:
            await _play_through(host, bots, opened.table, demo, seed or opened.table, screen)
        except asyncio.CancelledError:
            await host.close_table(opened.table)
            raise
        return Finished(opened.table, await host.verify_game(opened.table))


async def _play_through(
    host: MerseyClient, bots: Sequence[MerseyClient], table: str, demo: Demo, seed: str, screen: Screen
) -> None:
    async with asyncio.TaskGroup() as group:
        for bot in bots:
            group.create_task(play_bot(bot, table, GreedyStrategy(), seed))
        await host.start_game(table)
        async for line, turns in _account(host, table, NAMES[: demo.seats]):
            screen.line(line)
            screen.rounds(turns.rounds_over, len(demo.rules.rounds))


async def _account(
    client: MerseyClient, table: str, names: tuple[str, ...]
) -> AsyncIterator[tuple[Line, Turns]]:
    turns = Turns(names)
    async for update in client.watch(table):
        if not isinstance(update, RawUpdate):
            for line in turns.feed(update.event):
                yield line, turns
