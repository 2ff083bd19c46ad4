"""A bot: a program that plays one seat of a table to the end, by a strategy, over gRPC."""

from __future__ import annotations

from typing import NamedTuple

from mersey.client.channel import MerseyClient
from mersey.client.errors import DeniedError, MovedOnError, RefusedError
from mersey.client.seat_play import SeatPlay
from mersey.client.strategies.turn import Draw, Strategy, Turn, due_now
from mersey.game.seen import TableView


class BotPlayed(NamedTuple):
    """What a bot did: its seat, how many actions it played, the table at the end."""

    seat: int
    actions: int
    view: TableView


async def seat_at(client: MerseyClient, table: str) -> int | None:
    """Return the seat that this client holds at a table, None where it has none."""
    try:
        return (await client.view(table)).you
    except DeniedError:  # a table that is shown to nobody without a seat
        return None


async def play_bot(client: MerseyClient, table: str, strategy: Strategy, seed: str) -> BotPlayed:
    """Play a seat by ``strategy`` until the game is over; take one first if this client has none.

    A bot gives no part to the deal. With the same ``seed`` and the same cards it plays the same.

    Raises:
        ApiError: no seat is free, or the server does not go on.
    """
    seat = await seat_at(client, table)
    if seat is None:
        seat = (await client.take_seat(table, part=b"")).seat
    actions = 0
    async with client.play(table) as play:
        async for turn in play.turns():
            if due_now(turn.view):
                actions += await _play_turn(play, turn, strategy, seed)
    return BotPlayed(seat, actions, await client.view(table))


async def _play_turn(play: SeatPlay, turn: Turn, strategy: Strategy, seed: str) -> bool:
    """Play one action; return False where the table had moved on, and the next turn tells."""
    action = strategy.choose(turn, Draw(seed, turn.view))
    try:
        await play.act(action, seen_version=turn.view.version, only_at=True)
    except MovedOnError:
        return False
    except RefusedError:
        if play.is_current(turn):
            raise
        return False
    return True
