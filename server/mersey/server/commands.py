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
from mersey.log.ports import Log, LogUnavailable, LostRace, OutcomeUnknown, append_once
from mersey.log.table_commit import write_table_commit
from mersey.server.clock import Clock
from mersey.server.faults import ServiceCode, ServiceFault
from mersey.server.follower import Follower
from mersey.server.table import Done, Table
from mersey.server.tables import Tables, readable

ANSWER_S: Final = 1.8
"""How long a call waits for the log in all; then it is answered with what is known."""

_APPEND_MIN_S: Final = 0.05
_REST_S: Final = 0.1
"""What is left of the time when an append gives up, so that its own word on the outcome is heard."""


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
            await self._catch_up(name)
            table = await self._tables.find(name)
        return readable(table)

    async def carry_out(self, order: Order) -> Answer:
        """Return what ``order`` led to, now or when it came before.

        Raises:
            Refusal, TableRefusal: by the rules or the table; nothing has changed.
            ServiceFault: id used for something else, other version than asked for, table unreadable.
            ArchiveBlocked: this node's archive can't be written, so that it takes no command.
            LogError: it was not appended, or that is not known.
        """
        ends_s = asyncio.get_running_loop().time() + ANSWER_S
        lock = self._locks.setdefault(order.table, asyncio.Lock())
        try:
            async with asyncio.timeout_at(ends_s):
                await lock.acquire()  # spares lost races within this node; what is right needs no lock
        except TimeoutError:
            raise LogUnavailable(f"table {order.table}: commands before this one wait for the log") from None
        try:
            table, done, is_new = await self._carry_out(order, ends_s)
        finally:
            lock.release()
        return await self._answer(table, done, order, is_new=is_new)

    async def _carry_out(self, order: Order, ends_s: float) -> tuple[Table, Done, bool]:
        mine = 0
        while True:
            table = await self._current(order, ends_s)
            done = table.done(order.actor, order.command_id)
            if done is not None:
                return table, done, done.position == mine
            _check_version(table, order)
            if self._follower.blocked is not None:
                raise self._follower.blocked
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
                mine = await append_once(self._log, data, at.position, patience_s=_patience_s(ends_s))
            except LostRace:
                await self._catch_up(order.table, ends_s)
            else:
                await self._passed(mine, order.table, ends_s)

    async def _current(self, order: Order, ends_s: float) -> Table:
        """Return the table, not before it shows what the sender has seen; a new one for an opening."""
        if isinstance(order.command, OpenTable):
            table = await self._tables.find(order.table)
            if table is None:
                return Table(order.table)
            return readable(table)
        table = await self.table(order.table)
        if order.seen_version > table.head.version:
            await self._catch_up(order.table, ends_s)
            if order.seen_version > table.head.version:
                raise ServiceFault(ServiceCode.VERSION_AHEAD, head_version=table.head.version)
        return table

    async def _passed(self, position: int, name: str, ends_s: float) -> None:
        """Return once tables show ``position``, where the command stands in the log."""
        try:
            async with asyncio.timeout_at(ends_s):
                await self._follower.passed(position)
        except TimeoutError:
            raise OutcomeUnknown(f"table {name}: logged at {position}, but not seen in time") from None

    async def _catch_up(self, name: str, ends_s: float | None = None) -> None:
        """Return once this node shows all that the log holds now."""
        try:
            async with asyncio.timeout_at(ends_s or asyncio.get_running_loop().time() + ANSWER_S):
                await self._follower.catch_up()
        except TimeoutError:
            raise LogUnavailable(f"table {name}: this node is behind the log") from None

    async def _answer(self, table: Table, done: Done, order: Order, *, is_new: bool) -> Answer:
        if not _is_same(done.command, order.command):
            raise ServiceFault(ServiceCode.COMMAND_ID_REUSED)
        if not table.game.archived:
            return Answer(table, done.first, done.last, "logged", is_new)
        await self._follower.archived(done.position)
        return Answer(table, done.first, done.last, "archived", is_new)


def _patience_s(ends_s: float) -> float:
    """Return how long an append may be tried so that its caller is answered at ``ends_s``."""
    return max(ends_s - _REST_S - asyncio.get_running_loop().time(), _APPEND_MIN_S)


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
