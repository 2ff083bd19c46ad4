"""The command path with fail points in it, for tests and drills; see `mersey.log.failpoints`."""

from __future__ import annotations

import asyncio
from typing import Final

from mersey.game.commands import OpenTable
from mersey.game.decide import decide
from mersey.game.events import Event
from mersey.log.commit import SALT_BYTES
from mersey.log.failpoints import ACK_BEFORE_APPEND, FailingLog, Failpoints, kill_this_process
from mersey.log.ports import Entry, Log
from mersey.log.table_commit import stream_of, write_table_commit
from mersey.rules.refusals import MerseyError
from mersey.server.clock import Clock
from mersey.server.commands import Answer, Commands, Order
from mersey.server.follower import Follower
from mersey.server.table import Table
from mersey.server.tables import Tables

_UNTIL_PLUG_S: Final = 0.2
"""How long the planted bug leaves its answer to reach the client."""


class FailingCommands(Commands):
    """A command path that passes the fail points, the planted bug's too."""

    def __init__(
        self, points: Failpoints, log: Log, follower: Follower, tables: Tables, clock_ms: Clock
    ) -> None:
        super().__init__(FailingLog(log, points), follower, tables, clock_ms)
        self._points = points

    async def carry_out(self, order: Order) -> Answer:
        """Carry out ``order``; or, at its fail point, answer it without having logged it."""
        unlogged = None
        if self._points.has(ACK_BEFORE_APPEND) and not isinstance(order.command, OpenTable):
            unlogged = await self._unlogged(order)
        return unlogged or await super().carry_out(order)

    async def _unlogged(self, order: Order) -> Answer | None:
        """Return an answer to an order that is logged nowhere, if it is the one to be lost."""
        table = await self.table(order.table)
        done = table.done(order.actor, order.command_id)
        if done is not None or (order.only_at and order.seen_version != table.head.version):
            return None
        try:
            events = decide(table.game, order.actor, order.command)
        except MerseyError:
            return None
        if not self._points.acts(ACK_BEFORE_APPEND):
            return None
        asyncio.get_running_loop().call_later(_UNTIL_PLUG_S, kill_this_process)
        return await self._pretended(order, events)

    async def _pretended(self, order: Order, events: tuple[Event, ...]) -> Answer:
        pretended = Table(order.table)
        for entry in await self._log.tail(stream_of(order.table), 0):
            pretended.apply(entry)
        at = pretended.head
        _, data = write_table_commit(
            at,
            at_ms=max(self._clock_ms(), at.at_ms),
            actor=order.actor,
            command_id=order.command_id,
            command=order.command,
            events=events,
            salt=bytes(SALT_BYTES),
        )
        pretended.apply(Entry(position=at.position + 1, stream=at.stream, data=data))
        return Answer(pretended, at.version + 1, pretended.head.version, "logged")
