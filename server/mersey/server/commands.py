"""The one command path: decide, append, wait until the log has come round, answer (design 1 and 2)."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from typing import Final, Literal
from weakref import WeakValueDictionary

import msgspec

from mersey.game.commands import Command, OpenTable
from mersey.game.decide import decide
from mersey.log.commit import SALT_BYTES
from mersey.log.ports import PATIENCE_S, Log, LogUnavailable, LostRace, OutcomeUnknown, append_once
from mersey.log.table_commit import write_table_commit
from mersey.server.clock import Clock
from mersey.server.faults import ServiceCode, ServiceFault
from mersey.server.follower import Follower
from mersey.server.table import Done, Table
from mersey.server.tables import Tables, readable

CATCH_UP_S: Final = 5.0
"""How long a command waits for this node to see what its sender has seen elsewhere."""


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """A command as it comes in: who gives it, under which id, at which table, at which version."""

    table: str
    actor: str
    command_id: str
    command: Command
    seen_version: int = 0
    only_at: bool = False


class Answer(msgspec.Struct, frozen=True):
    """What an accepted command led to, this time or an earlier time: versions ``first`` to ``last``."""

    table: Table
    first: int
    last: int
    durability: Literal["logged", "archived"]
    is_new: bool = True
    """Whether this very call carried it out, as far as it knows."""


class Commands:
    """Carries out orders; the log, the clock and the salt are handed in."""

    def __init__(
        self,
        log: Log,
        follower: Follower,
        tables: Tables,
        clock_ms: Clock,
        salt: Callable[[], bytes] = lambda: secrets.token_bytes(SALT_BYTES),
    ) -> None:
        self._log = log
        self._follower = follower
        self._tables = tables
        self._clock_ms = clock_ms
        self._salt = salt
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def table(self, name: str) -> Table:
        """Return a table that the log holds, even if this node was behind.

        Raises:
            TableRefusal: there is none.
            ServiceFault: its record can't be read.
        """
        table = await self._tables.find(name)
        if table is None:
            await self._follower.catch_up()
            table = await self._tables.find(name)
        return readable(table)

    async def carry_out(self, order: Order) -> Answer:
        """Return what ``order`` led to, now or when it came before.

        Raises:
            Refusal, TableRefusal: by the rules or the table; nothing has changed.
            ServiceFault: id used for something else, other version than asked for, table unreadable.
            LogError: it was not appended, or that is not known.
        """
        lock = self._locks.setdefault(order.table, asyncio.Lock())
        async with lock:  # spares lost races within this node; what is right does not depend on it
            return await self._carry_out(order)

    async def _carry_out(self, order: Order) -> Answer:
        mine = 0
        while True:
            table = await self._current(order)
            done = table.done(order.actor, order.command_id)
            if done is not None:
                return await self._answer(table, done, order, is_new=done.position == mine)
            _check_version(table, order)
            at = table.head
            events = decide(table.game, order.actor, order.command)
            _, data = write_table_commit(
                at,
                at_ms=max(self._clock_ms(), at.at_ms),
                actor=order.actor,
                command_id=order.command_id,
                command=order.command,
                events=events,
                salt=self._salt(),
            )
            try:
                mine = await append_once(self._log, data, at.position)
            except LostRace:
                await self._passed_beyond(at.position, order.table)
            else:
                await self._passed(mine, order.table)

    async def _current(self, order: Order) -> Table:
        """Return the table, not before it shows what the sender has seen; a new one for an opening."""
        if isinstance(order.command, OpenTable):
            table = await self._tables.find(order.table)
            if table is None:
                return Table(order.table)
            return readable(table)
        table = await self.table(order.table)
        if order.seen_version > table.head.version:
            await self._follower.catch_up()
            if order.seen_version > table.head.version:
                raise ServiceFault(ServiceCode.VERSION_AHEAD, head_version=table.head.version)
        return table

    async def _passed(self, position: int, name: str) -> None:
        """Return once tables show ``position``, where the command stands in the log."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._follower.passed(position)
        except TimeoutError:
            raise OutcomeUnknown(f"table {name}: logged at {position}, but not seen in time") from None

    async def _passed_beyond(self, position: int, name: str) -> None:
        """Return once the table has moved on from ``position``; the log says that it has."""
        try:
            async with asyncio.timeout(CATCH_UP_S):
                await self._follower.catch_up()
        except TimeoutError:
            raise LogUnavailable(f"table {name}: behind the log for {CATCH_UP_S:.0f} s") from None

    async def _answer(self, table: Table, done: Done, order: Order, *, is_new: bool) -> Answer:
        if not _is_same(done.command, order.command):
            raise ServiceFault(ServiceCode.COMMAND_ID_REUSED)
        if not table.game.archived:
            return Answer(table, done.first, done.last, "logged", is_new)
        await self._follower.archived(done.position)
        return Answer(table, done.first, done.last, "archived", is_new)


def _check_version(table: Table, order: Order) -> None:
    if order.only_at and order.seen_version != table.head.version:
        raise ServiceFault(ServiceCode.VERSION_MISMATCH, head_version=table.head.version)


def _is_same(recorded: Command, asked: Command) -> bool:
    """Return whether a command says what the recorded one said; a drawn link is the server's own part."""
    if (
        isinstance(recorded, OpenTable)
        and isinstance(asked, OpenTable)
        and recorded.chance == asked.chance == "drawn"
    ):
        asked = msgspec.structs.replace(asked, link=recorded.link)
    return recorded == asked
