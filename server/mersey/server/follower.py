"""The follower: reads the log in its order, folds each commit into its table, hands it to the archive.

There is one on each node, and it is the only one that changes a table, wakes a watcher or fills the archive
(design section 1). A command's answer waits here until the follower has passed the command's position.
"""

from __future__ import annotations

import asyncio
import bisect
import contextlib
import logging
from collections.abc import Callable, Sequence
from typing import Final

from mersey.log.archive import Archive
from mersey.log.archive_schema import ArchiveBlocked
from mersey.log.ports import Entry, Log, LogReplaced
from mersey.rules.refusals import MerseyError
from mersey.server.tables import Tables

_TABLE: Final = "table."
_YIELD_EVERY: Final = 100
_BEHIND_MAX: Final = 20_000
"""How many entries the archive may be behind before the follower waits for it."""

_BLOCKED_PAUSE_S: Final = 0.5
"""How long an archive that can't be written is left alone before the next try."""

_logger = logging.getLogger(__name__)


class _Positions:
    """A position that only grows, and those who wait for it to reach theirs."""

    def __init__(self, start: int) -> None:
        self.now = start
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._count = 0

    async def reach(self, position: int) -> None:
        if position <= self.now:
            return
        future = asyncio.get_running_loop().create_future()
        self._count += 1
        bisect.insort(self._waiting, (position, self._count, future))
        await future

    def advance(self, position: int) -> None:
        self.now = position
        while self._waiting and self._waiting[0][0] <= position:
            _, _, future = self._waiting.pop(0)
            if not future.done():
                future.set_result(None)

    def fail(self, error: Exception) -> None:
        waiting, self._waiting = self._waiting, []
        for _, _, future in waiting:
            if not future.done():
                future.set_exception(error)


class Follower:
    """Follows ``log`` into ``tables`` and ``archive`` until it is stopped or something is beyond repair."""

    def __init__(
        self, log: Log, archive: Archive, tables: Tables, failed: Callable[[MerseyError], None]
    ) -> None:
        self._log = log
        self._archive = archive
        self._tables = tables
        self._failed = failed
        self._passed = _Positions(archive.position())
        self._archived = _Positions(archive.position())
        self._backlog: list[Entry] = []
        self._more = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self.failure: MerseyError | None = None
        self.blocked: ArchiveBlocked | None = None
        """Why the archive can't be written now; what it lacks is kept, and written when it can be again."""

    @property
    def position(self) -> int:
        """The position of the last entry that tables show."""
        return self._passed.now

    async def start(self) -> None:
        """Start to follow, and return once all that the log holds now has been passed.

        Raises:
            LogReplaced: the log ends before the archive: it has lost its end.
        """
        last = await self._log.last_position()
        if last < self._archive.position():
            raise LogReplaced(
                f"the log ends at position {last}, but {self._archive.path} holds it up to "
                f"{self._archive.position()}: the log has lost its end, and nothing may be appended until it "
                "is restored"
            )
        self._tasks = [asyncio.create_task(self._follow()), asyncio.create_task(self._fill_archive())]
        await self.passed(last)

    async def stop(self) -> None:
        """Stop to follow; what was passed is handed to the archive first."""
        if not self._tasks:
            return
        follow, fill = self._tasks
        follow.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await follow
        if self.failure is None and self.blocked is None:  # what the archive lacks is in the log
            with contextlib.suppress(ArchiveBlocked):
                await self._archived.reach(self._passed.now)
        fill.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await fill

    async def passed(self, position: int) -> None:
        """Return once tables show all entries up to ``position``."""
        self._check()
        await self._passed.reach(position)

    async def archived(self, position: int) -> None:
        """Return once the archive holds all entries up to ``position``.

        Raises:
            ArchiveBlocked: it can't be written now.
        """
        self._check()
        if self.blocked is not None and position > self._archived.now:
            raise self.blocked
        await self._archived.reach(position)

    async def catch_up(self) -> None:
        """Return once all that the log holds now is shown."""
        await self.passed(await self._log.last_position())

    def _check(self) -> None:
        if self.failure is not None:
            raise self.failure

    def _fail(self, error: MerseyError) -> None:
        self.failure = error
        self._passed.fail(error)
        self._archived.fail(error)
        self._failed(error)

    async def _follow(self) -> None:
        try:
            count = 0
            async for entry in self._log.follow(self._passed.now):
                await self._pass(entry)
                count += 1
                if count % _YIELD_EVERY == 0:
                    await asyncio.sleep(0)
        except MerseyError as error:
            _logger.critical("the log can't be followed: %s", error)
            self._fail(error)
        except Exception as error:  # a follower that ended in silence would leave every command waiting
            _logger.critical("the log can't be followed", exc_info=True)
            self._fail(LogReplaced(f"the log can't be followed: {type(error).__name__}"))

    async def _pass(self, entry: Entry) -> None:
        table = None
        if entry.stream.startswith(_TABLE):
            table = await self._tables.follow(entry.stream.removeprefix(_TABLE))
            table.apply(entry)
            if table.fault:
                _logger.error("table %s can't be served: %s", table.id, table.fault)
        self._backlog.append(entry)
        self._more.set()
        self._passed.advance(entry.position)
        if table is not None:
            self._tables.applied(table)
        while len(self._backlog) > _BEHIND_MAX:
            with contextlib.suppress(ArchiveBlocked):
                await self._archived.reach(entry.position)

    async def _fill_archive(self) -> None:
        """Write all that waits, again and again: what comes in the meantime shares the next transaction."""
        try:
            while True:
                await self._more.wait()
                self._more.clear()
                entries, self._backlog = self._backlog, []
                if entries:
                    await self._write(entries)
                    self._archived.advance(entries[-1].position)
        except MerseyError as error:
            self._fail(error)

    async def _write(self, entries: Sequence[Entry]) -> None:
        """Write ``entries`` to the archive, again and again while it can't be written."""
        while True:
            try:
                await self._archive.write(entries)
            except ArchiveBlocked as error:
                if self.blocked is None:
                    _logger.critical("commands are refused until the archive can be written: %s", error)
                    self.blocked = error
                    self._archived.fail(error)
                await asyncio.sleep(_BLOCKED_PAUSE_S)
            else:
                if self.blocked is not None:
                    _logger.critical("the archive can be written again, commands are taken again")
                    self.blocked = None
                return
