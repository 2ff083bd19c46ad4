"""The archive's writer: one thread that copies the log into SQLite, many entries to a transaction.

It is an exact copy: what can't be read or does not follow is kept too, in ``set_aside``, together with all
that comes after it in its stream, and the position at fault is named to who asks (`Archive.faults`). The log
position is part of each transaction, so that after a crash the archive says itself where to go on.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import queue
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Self

import msgspec

from mersey.log.archive_reader import read_head
from mersey.log.archive_rows import EventRow, Projection, event_rows, no_rows, upsert
from mersey.log.archive_schema import ArchiveBlocked, ArchiveError, named_faults, open_for_writing
from mersey.log.commit import (
    Commit,
    CommitError,
    Head,
    advance,
    check_follows,
    hash_of,
)
from mersey.log.ports import Entry, Incarnation

_GROUP_ENTRIES_MAX: Final = 2000
_HEADS_MAX: Final = 100_000

_logger = logging.getLogger(__name__)


CommitTransaction = Callable[[sqlite3.Connection], None]
"""Commits a transaction, which is on disk when it returns."""


def commit_transaction(connection: sqlite3.Connection) -> None:
    """Commit the transaction."""
    connection.execute("COMMIT")


class _Job(msgspec.Struct, frozen=True):
    entries: Sequence[Entry]
    names: Mapping[str, str]
    done: asyncio.Future[None]
    loop: asyncio.AbstractEventLoop


class Archive:
    """The archive of one server, open for writing; its methods belong to the event loop."""

    def __init__(
        self, path: Path, connection: sqlite3.Connection, project: Projection, commit: CommitTransaction
    ) -> None:
        self._transaction = _Transaction(path, connection, project, commit)
        self._connection = connection
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="mersey-archive", daemon=True)
        self._failed: ArchiveError | None = None
        self._is_closed = False
        self.path: Final = path

    @classmethod
    def open(
        cls,
        path: Path,
        incarnation: Incarnation,
        project: Projection = no_rows,
        commit: CommitTransaction = commit_transaction,
    ) -> Self:
        """Open or make the archive at ``path``, which copies the log of that ``incarnation``.

        Raises:
            ArchiveError: the file can't be used, or is a copy of another log; it says what to do.
        """
        connection = open_for_writing(path)
        try:
            with named_faults(path):
                _belong_together(path, connection, incarnation)
        except BaseException:
            connection.close()
            raise
        self = cls(path, connection, project, commit)
        self._thread.start()
        return self

    def position(self) -> int:
        """Return the log position up to which the archive is complete."""
        return self._transaction.position

    def faults(self) -> Mapping[str, str]:
        """Return for each stream that has entries set aside what is wrong with the first of them."""
        return dict(self._transaction.faults)

    async def write(self, entries: Sequence[Entry]) -> None:
        """Return once ``entries`` are on disk; those at or before the archive's position are there already.

        They come in the log's order, and so do the calls. Calls that wait together share a transaction.

        Raises:
            ArchiveBlocked: none of them was written; they may be given again.
            ArchiveError: they could not be written; nothing more is, until the archive is opened anew.
        """
        await self._submit(entries, {})

    async def put_names(self, names: Mapping[str, str]) -> None:
        """Copy display names, by player id; an empty name takes the player out.

        Raises:
            ArchiveError: they could not be written.
        """
        await self._submit((), names)

    async def close(self) -> None:
        """Write what was given, and close the file."""
        self._is_closed = True
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)
        self._connection.close()

    async def _submit(self, entries: Sequence[Entry], names: Mapping[str, str]) -> None:
        if self._is_closed:
            raise ArchiveError(f"{self.path}: closed")
        loop = asyncio.get_running_loop()
        job = _Job(entries=entries, names=names, done=loop.create_future(), loop=loop)
        self._jobs.put(job)
        await job.done

    def _work(self) -> None:
        while (group := self._next_group()) is not None:
            fault = self._failed or self._write(group)
            for loop in {job.loop for job in group}:
                jobs = [job for job in group if job.loop is loop]
                with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
                    loop.call_soon_threadsafe(_settle, jobs, fault)

    def _write(self, group: Sequence[_Job]) -> ArchiveError | None:
        """Write all jobs of ``group`` or none, and return why none."""
        try:
            self._transaction.write(group)
        except ArchiveBlocked as error:
            return error
        except ArchiveError as error:
            _logger.critical("%s", error)
            self._failed = error
        except Exception as error:  # a thread that ended in silence would leave all its callers waiting
            _logger.critical("%s: nothing more is archived", self.path, exc_info=True)
            self._failed = ArchiveError(f"{self.path}: {type(error).__name__}: {error}: see the log")
        return self._failed

    def _next_group(self) -> list[_Job] | None:
        """Return the jobs that wait, at least one; None at the end."""
        job = self._jobs.get()
        if job is None:
            return None
        group, count = [job], len(job.entries)
        while count < _GROUP_ENTRIES_MAX:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                break
            if job is None:
                self._jobs.put(None)
                break
            group.append(job)
            count += len(job.entries)
        return group


def _settle(jobs: Sequence[_Job], error: ArchiveError | None) -> None:
    for job in jobs:
        if job.done.cancelled():
            continue
        if error is None:
            job.done.set_result(None)
        else:
            job.done.set_exception(type(error)(str(error)))


def _belong_together(path: Path, connection: sqlite3.Connection, log: Incarnation) -> None:
    """Raise ArchiveError unless the archive is new or a copy of this very log."""
    position, name, created = connection.execute(
        "SELECT position, log_name, log_created FROM progress"
    ).fetchone()
    if position == 0 and not created:
        connection.execute("UPDATE progress SET log_name = ?, log_created = ?", (log.name, log.created))
    elif (name, created) != (log.name, log.created):
        raise ArchiveError(
            f"{path}: a copy of the log {name} made at {created}, but this log was made at {log.created}: "
            "mersey restore fills this log from the archive; or start the server with the log of before"
        )


class _Rows(msgspec.Struct):
    """What one transaction adds."""

    commits: list[tuple[str, int, int, bytes, str]] = []
    events: list[EventRow] = []
    commands: list[tuple[str, str, str, int]] = []
    set_aside: list[tuple[int, str, bytes, str, str]] = []
    accepted: list[Commit] = []


class _Transaction:
    """Writes groups of entries; it belongs to the writer's thread, which alone changes its figures."""

    def __init__(
        self, path: Path, connection: sqlite3.Connection, project: Projection, commit: CommitTransaction
    ) -> None:
        self._path = path
        self._connection = connection
        self._project = project
        self._commit = commit
        self._heads: dict[str, Head] = {}
        with named_faults(path):
            self.position: int = connection.execute("SELECT position FROM progress").fetchone()[0]
            self.faults: dict[str, str] = dict(
                connection.execute("SELECT stream, fault FROM set_aside ORDER BY position DESC")
            )

    def write(self, group: Sequence[_Job]) -> None:
        """Write all jobs of ``group``, or none."""
        faults, heads, position = dict(self.faults), dict[str, Head](), self.position
        rows = _Rows()
        with named_faults(self._path):
            for job in group:
                for entry in job.entries:
                    if entry.position > position:
                        self._add(entry, rows, faults, heads)
                        position = entry.position
            self._store(rows, position, group)
        if len(self._heads) > _HEADS_MAX:
            self._heads.clear()
        self._heads.update(heads)
        self.faults, self.position = faults, position

    def _add(self, entry: Entry, rows: _Rows, faults: dict[str, str], heads: dict[str, Head]) -> None:
        stream, digest = entry.stream, hash_of(entry.data)
        if stream not in faults:
            head = heads.get(stream) or self._head(stream)
            try:
                commit = check_follows(head, entry.data)
                events = list(event_rows(commit))
            except CommitError as error:
                faults[stream] = f"position {entry.position}: {error}"
                _logger.error("%s at %s; the stream is set aside from there on", stream, faults[stream])
            else:
                rows.commits.append((stream, commit.number, entry.position, entry.data, digest))
                rows.events += events
                rows.commands.append((stream, commit.actor, commit.command_id, commit.number))
                rows.accepted.append(commit)
                heads[stream] = advance(head, commit, entry.data, entry.position)
                return
        rows.set_aside.append((entry.position, stream, entry.data, digest, faults[stream]))

    def _head(self, stream: str) -> Head:
        if stream in self._heads:
            return self._heads[stream]
        return read_head(self._connection, self._path, stream)

    def _store(self, rows: _Rows, position: int, group: Sequence[_Job]) -> None:
        execute, executemany = self._connection.execute, self._connection.executemany
        execute("BEGIN IMMEDIATE")
        try:
            executemany("INSERT INTO commits VALUES (?, ?, ?, ?, ?)", rows.commits)
            executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", rows.events)
            executemany(_INSERT_COMMAND, rows.commands)
            executemany("INSERT INTO set_aside VALUES (?, ?, ?, ?, ?)", rows.set_aside)
            for commit in rows.accepted:
                for row in self._project(commit):
                    execute(*upsert(row))
            for job in group:
                _put_names(self._connection, job.names)
            execute("UPDATE progress SET position = ?", (position,))
            self._commit(self._connection)
        except BaseException:
            if self._connection.in_transaction:
                execute("ROLLBACK")
            raise


_INSERT_COMMAND: Final = (
    "INSERT INTO commands SELECT ?1, ?2, ?3, ?4 WHERE NOT EXISTS "
    "(SELECT 1 FROM commands WHERE stream = ?1 AND actor = ?2 AND command_id = ?3)"
)
"""The first commit of a command stays the one that answers for it."""


def _put_names(connection: sqlite3.Connection, names: Mapping[str, str]) -> None:
    connection.executemany("DELETE FROM names WHERE player = ?", [(player,) for player in names])
    connection.executemany(
        "INSERT INTO names VALUES (?, ?)", [(player, name) for player, name in names.items() if name]
    )
