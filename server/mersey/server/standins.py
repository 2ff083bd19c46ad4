"""Stand-ins: the seats that the server plays, each from nothing but what that seat sees.

Every node plays them; a command's id is made from the table's version, so that two nodes that play the same
move make one. Whoever loses that race stays a little behind, and the other plays on alone until it stops.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Final

from mersey.client.strategies.turn import Draw, Strategy, Turn, due_now
from mersey.game.choices import choices, due
from mersey.game.refusals import TableRefusal
from mersey.game.view import seat_viewer, view
from mersey.log.ports import LogError
from mersey.rules.refusals import Refusal
from mersey.server.commands import Commands, Order
from mersey.server.faults import ServiceFault
from mersey.server.table import Table

BEHIND_S: Final = 0.05
"""How long a node that lost a race leaves the table's next move to the others."""

_RETRY_S: Final = 1.0

_logger = logging.getLogger(__name__)


class StandIns:
    """Plays the seats that have a strategy, on every table of this node."""

    def __init__(self, commands: Commands, strategies: Mapping[str, Strategy]) -> None:
        self._commands = commands
        self._strategies = strategies
        self._playing: dict[str, asyncio.Task[None]] = {}
        self._is_stopping = False

    def look(self, table: Table) -> None:
        """Play on at ``table`` if one of its bots is asked; called after each of its commits."""
        if table.id in self._playing or self._is_stopping or self._next(table) is None:
            return
        task = asyncio.create_task(self._play(table))
        self._playing[table.id] = task
        task.add_done_callback(lambda _: self._ended(table))

    async def stop(self) -> None:
        """Stop to play."""
        self._is_stopping = True
        tasks = tuple(self._playing.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _ended(self, table: Table) -> None:
        self._playing.pop(table.id, None)
        self.look(table)  # a commit may have come between the last look and the end

    def _next(self, table: Table) -> int | None:
        """Return the seat of the bot that is to act now, if it is a bot's turn."""
        if table.fault:
            return None
        game = table.game
        for seat in due(game):
            held = game.seats[seat]
            strategy = held.strategy if held else None
            if strategy in self._strategies and due_now(view(game, seat_viewer(seat))):
                return seat
        return None

    async def _play(self, table: Table) -> None:
        behind = False
        # Asked for as well, as asyncio.wait_for in nats-py loses a cancellation that meets an answer.
        while not self._is_stopping and (seat := self._next(table)) is not None:
            version = table.head.version
            if behind:
                await asyncio.sleep(BEHIND_S)
                if table.head.version != version:
                    continue
            try:
                behind = not await self._move(table, seat)
            except (Refusal, TableRefusal, ServiceFault):
                behind = True  # another node has moved in the meantime
                if table.head.version == version:
                    _logger.exception("table %s: the bot on seat %d found no move", table.id, seat)
                    return
            except LogError as error:
                _logger.warning("table %s: the bot on seat %d waits: %s", table.id, seat, error)
                await asyncio.sleep(_RETRY_S)
            except Exception:  # a fault of a strategy stops its table, not the server
                _logger.exception("table %s: the bot on seat %d has failed", table.id, seat)
                return

    async def _move(self, table: Table, seat: int) -> bool:
        """Play one action of ``seat``, and return whether it was this node's."""
        game = table.game
        held = game.seats[seat]
        assert held is not None, "somebody sits there"
        assert held.strategy is not None, "it is a bot's seat"
        seen = view(game, seat_viewer(seat))
        action = self._strategies[held.strategy].choose(
            Turn(seen, choices(game, seat), game.ruleset), Draw(game.deal_id, seen)
        )
        answer = await self._commands.carry_out(
            Order(
                table=table.id,
                actor=held.player,
                command_id=f"v{game.version}",
                command=action,
                seen_version=game.version,
                only_at=True,
            )
        )
        return answer.is_new
