"""All tables of this node: running ones folded in memory, finished ones folded anew when asked for."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from mersey.game.refusals import TableCode, TableRefusal
from mersey.log.archive import Archive
from mersey.log.archive_reader import ArchiveReader
from mersey.log.table_commit import stream_of
from mersey.server.faults import ServiceCode, ServiceFault
from mersey.server.table import Table

FINISHED_KEPT_MAX: Final = 64
"""How many finished tables stay in memory."""

_KIND: Final = "table."
_OVER: Final = frozenset({"ended", "closed"})

_logger = logging.getLogger(__name__)


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Load much that stays: without looking for garbage in it meanwhile, nor ever after."""
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        gc.enable()


class Tables:
    """The tables, by id. The follower applies commits; all others read."""

    def __init__(self, archive: Archive, *, kept_max: int = FINISHED_KEPT_MAX) -> None:
        self._archive = archive
        self._reader = ArchiveReader(archive.path)
        self._reading = asyncio.Lock()
        self._kept_max = kept_max
        self._tables: dict[str, Table] = {}
        self._finished: OrderedDict[str, None] = OrderedDict()
        self._pins: dict[str, int] = {}
        self.changed: Callable[[Table], None] = lambda table: None
        """Called after each commit of a table."""

    def close(self) -> None:
        """Let go of the archive."""
        self._reader.close()

    def __iter__(self) -> Iterator[Table]:
        """Return the tables in memory."""
        return iter(tuple(self._tables.values()))

    async def load_running(self) -> None:
        """Fold every table whose game has not ended, from the archive."""
        before = None
        with _no_collection():
            while page := await asyncio.to_thread(self._reader.games, before):
                running = [game.stream.removeprefix(_KIND) for game in page if game.status not in _OVER]
                async with self._reading:
                    self._tables.update(await asyncio.to_thread(self._fold_all, running))
                before = (page[-1].opened_at_ms or 0, page[-1].stream)

    def _fold_all(self, names: Sequence[str]) -> dict[str, Table]:
        return {name: self._fold(name) for name in names}

    async def follow(self, table: str) -> Table:
        """Return the table whose next commit has arrived, new if it is its first."""
        return self._tables.get(table) or await self._load(table, keep_empty=True)

    async def find(self, table: str) -> Table | None:
        """Return the table as folded so far, None where this node knows of none."""
        found = self._tables.get(table) or await self._load(table)
        if found.id in self._finished:
            self._finished.move_to_end(found.id)
        return found if found.head.number or found.fault else None

    def applied(self, table: Table) -> None:
        """Take note of a table that a commit has changed."""
        if table.is_finished:
            self._finished[table.id] = None
            self._forget_oldest()
        self.changed(table)

    def pin(self, table: Table) -> Callable[[], None]:
        """Keep ``table`` in memory until the returned function is called."""
        self._pins[table.id] = self._pins.get(table.id, 0) + 1

        def unpin() -> None:
            self._pins[table.id] -= 1
            if not self._pins[table.id]:
                del self._pins[table.id]

        return unpin

    def _forget_oldest(self) -> None:
        """Drop finished tables that nobody watches and that the archive holds whole."""
        for name in tuple(self._finished):
            if len(self._finished) <= self._kept_max:
                return
            table = self._tables.get(name)
            if table is None or (name not in self._pins and table.head.position <= self._archive.position()):
                self._tables.pop(name, None)
                del self._finished[name]

    async def _load(self, name: str, *, keep_empty: bool = False) -> Table:
        """Return the table from memory, else folded from the archive; empty if that has none of it.

        Whatever is not in memory is whole in the archive, or has no commit yet.
        """
        async with self._reading:
            table = self._tables.get(name)
            if table is None:
                table = await asyncio.to_thread(self._fold, name)
                if keep_empty or table.head.number or table.fault:
                    self._tables[name] = table
                if table.is_finished:
                    self._finished[name] = None
                    self._forget_oldest()
            return table

    def _fold(self, name: str) -> Table:
        table = Table(name)
        for entry in self._reader.commits_of(stream_of(name)):
            table.restore(entry)
            if table.fault:
                _logger.error("table %s can't be served: %s", name, table.fault)
                return table
        fault = self._reader.set_aside(stream_of(name))
        if fault:
            table.set_fault(fault)
        return table


def readable(table: Table | None) -> Table:
    """Return ``table`` where there is one and its record can be read.

    Raises:
        TableRefusal: there is no such table.
        ServiceFault: its record can't be read; the position is named.
    """
    if table is None:
        raise TableRefusal(TableCode.NO_SUCH_TABLE)
    if table.fault:
        raise ServiceFault(ServiceCode.TABLE_UNAVAILABLE, table.fault, fault=table.fault)
    return table
