"""The players of a drill: bots that keep a journal, and outlive the server that they play on.

They are ordinary clients of the SDK, which sends a command again, under its id, until it is answered. Every
seat that is asked answers at once, so that answers to an offer race with each other as people's do.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from importlib.resources import files
from typing import Final

import msgspec

from mersey.client.channel import MerseyClient
from mersey.client.errors import ApiError, RefusedError
from mersey.client.seat_play import SeatPlay
from mersey.client.strategies.chance import ChanceStrategy
from mersey.client.strategies.turn import Draw, Turn
from mersey.server.auth import Keys
from mersey.server.drill.journal import Journal

SEATS: Final = 3

_CALL_S: Final = 30.0
"""Longer than a server takes to come back: a call is ended by the connection, not by the clock."""


class Drilled(msgspec.Struct, frozen=True):
    """What all bots of a drill share."""

    address: str
    keys: Keys
    journal: Journal
    seed: str
    closing: asyncio.Event
    """Set when nothing new is to be sent."""


class _Player:
    """One player: a client, a player id, command ids of its own."""

    def __init__(self, shared: Drilled, name: str) -> None:
        token = shared.keys.issue(name, "host")
        self.id: Final = shared.keys.caller(token).sub
        self.client: Final = MerseyClient(shared.address, token, call_s=_CALL_S, patience_s=None)
        self._ids = itertools.count(1)

    def new_id(self) -> str:
        """Return the id of the player's next command."""
        return f"c{next(self._ids)}"


async def play_games(shared: Drilled, number: int) -> None:
    """Play one game after the other, at one table at a time, until the drill closes or this is cancelled."""
    async with contextlib.AsyncExitStack() as stack:
        players = [_Player(shared, f"Bot {number}.{seat}") for seat in range(SEATS)]
        for player in players:
            await stack.enter_async_context(player.client)
        try:
            while not shared.closing.is_set():
                await _play_game(shared, players)
        except ApiError as error:
            shared.journal.faults.append(f"a client was told: {type(error).__name__}: {error}")


async def _play_game(shared: Drilled, players: list[_Player]) -> None:
    journal, host = shared.journal, players[0]
    told = journal.send(host.id, host.new_id())
    rules = (files("mersey.server.drill") / "drill.toml").read_text("utf-8")
    opened = await host.client.create_table(rules_toml=rules, seats=SEATS, command_id=told.command_id)
    told.table = table = opened.table
    journal.accept(told, 1)
    for player in players:
        if shared.closing.is_set():
            return
        told = journal.send(player.id, player.new_id(), table)
        seated = await player.client.take_seat(table, part=b"", command_id=told.command_id)
        journal.accept(told, seated.version)
    if shared.closing.is_set():
        return
    told = journal.send(host.id, host.new_id(), table)
    started = await host.client.start_game(table, command_id=told.command_id)
    journal.accept(told, started.version)
    async with asyncio.TaskGroup() as group:
        for player in players:
            group.create_task(_play_seat(shared, player, table))


async def _play_seat(shared: Drilled, player: _Player, table: str) -> None:
    async with player.client.play(table) as seat:
        async for turn in seat.turns():
            if shared.closing.is_set():
                return
            await _act(shared, player, seat, turn)


async def _act(shared: Drilled, player: _Player, seat: SeatPlay, turn: Turn) -> None:
    action = ChanceStrategy().choose(turn, Draw(shared.seed, turn.view))
    told = shared.journal.send(player.id, player.new_id(), seat.table)
    try:
        acted = await seat.act(action, seen_version=turn.view.version, command_id=told.command_id)
    except RefusedError:  # another seat's answer has settled the offer in the meantime
        shared.journal.refuse(told)
    else:
        shared.journal.accept(told, acted.version)
