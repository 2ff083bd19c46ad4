"""Reading the archive, of a server that runs or of one that is stopped; nothing here can change it.

Each page is one query that is read to its end, so that no reader keeps the write-ahead log from shrinking.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Self

import msgspec

from mersey.log.archive_rows import event_rows
from mersey.log.archive_schema import damaged, named_faults, open_for_reading
from mersey.log.commit import CommitError, Head, advance, decode, hash_of, start_of
from mersey.log.ports import Entry

PAGE: Final = 500


class Game(msgspec.Struct, frozen=True):
    """A row of ``games``; what is not known is None."""

    stream: str
    rules: str | None
    rules_hash: str | None
    host: str | None
    status: str | None
    seat_count: int | None
    round: int | None
    opened_at_ms: int | None
    started_at_ms: int | None
    ended_at_ms: int | None


class SeatResult(msgspec.Struct, frozen=True):
    """A row of ``seats`` with its holder's display name; what is not known is None."""

    seat: int
    player: str | None
    name: str | None
    kind: str | None
    total: int | None
    place: int | None


class ArchiveReader:
    """A reader of the archive file ``path``; one thread at a time may use it."""

    def __init__(self, path: Path) -> None:
        """Open the file.

        Raises:
            ArchiveError: it is missing, damaged, foreign or newer; so does every method on damage it meets.
        """
        self.path: Final = path
        self._connection = open_for_reading(path)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        """Return the reader."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()

    def position(self) -> int:
        """Return the log position up to which the archive is complete."""
        return int(self._rows("SELECT position FROM progress")[0][0])

    def head(self, stream: str) -> Head:
        """Return where ``stream`` stands; a stream without commits stands before its first."""
        with named_faults(self.path):
            return read_head(self._connection, self.path, stream)

    def commits_of(self, stream: str, after: int = 0, *, page: int = PAGE) -> Iterator[Entry]:
        """Yield the commits of ``stream`` with a number above ``after``, in order."""
        while True:
            rows = self._rows(
                "SELECT position, bytes, number FROM commits WHERE stream = ? AND number > ? "
                "ORDER BY number LIMIT ?",
                stream,
                after,
                page,
            )
            for position, data, number in rows:
                after = number
                yield Entry(position=position, stream=stream, data=data)
            if len(rows) < page:
                return

    def command(self, stream: str, actor: str, command_id: str) -> int | None:
        """Return the number of the commit that ``actor``'s command led to, however long ago, or None."""
        rows = self._rows(
            "SELECT number FROM commands WHERE stream = ? AND actor = ? AND command_id = ?",
            stream,
            actor,
            command_id,
        )
        return rows[0][0] if rows else None

    def streams(self, after: str = "", *, page: int = PAGE) -> list[str]:
        """Return the names of up to ``page`` streams that come after ``after``, in order of name."""
        rows = self._rows(
            "SELECT DISTINCT stream FROM commits WHERE stream > ? ORDER BY stream LIMIT ?", after, page
        )
        return [stream for (stream,) in rows]

    def set_aside(self, stream: str) -> str | None:
        """Return what is wrong with the stream's first entry that does not follow, or None if all do."""
        rows = self._rows("SELECT fault FROM set_aside WHERE stream = ? ORDER BY position LIMIT 1", stream)
        return rows[0][0] if rows else None

    def rows_fault(self, stream: str) -> str | None:
        """Return where the rows of ``events`` are not what the stream's commits say, None where they are.

        The rows are for SQL; the guards refuse to change them, but whoever owns the file can
        take the guards away.
        """
        rows = self._event_rows(stream)
        for entry in self.commits_of(stream):
            try:
                expected = list(event_rows(decode(entry.data)))
            except CommitError:
                return None  # what stands here is a fault of the commit, and is told as such
            for row in expected:
                if next(rows, None) != row:
                    return f"the row of version {row[1]} in table events is not what commit {row[2]} says"
        extra = next(rows, None)
        return None if extra is None else f"table events has a row of version {extra[1]} that no commit has"

    def _event_rows(self, stream: str) -> Iterator[tuple[object, ...]]:
        after = 0
        while page := self._rows(
            "SELECT stream, version, number, at_ms, kind, seat, body FROM events "
            "WHERE stream = ? AND version > ? ORDER BY version LIMIT ?",
            stream,
            after,
            PAGE,
        ):
            yield from map(tuple, page)
            after = page[-1][1]

    def games(self, before: tuple[int, str] | None = None, *, page: int = PAGE) -> list[Game]:
        """Return up to ``page`` games, the last opened first, from before (opened_at_ms, stream) on."""
        opened_at_ms, stream = before if before is not None else (2**62, "")
        rows = self._rows(
            f"SELECT {', '.join(Game.__struct_fields__)} FROM games WHERE (opened_at_ms, stream) < (?, ?) "
            "ORDER BY opened_at_ms DESC, stream DESC LIMIT ?",
            opened_at_ms,
            stream,
            page,
        )
        return [Game(*row) for row in rows]

    def seats(self, stream: str) -> list[SeatResult]:
        """Return the seats of a game, in order."""
        rows = self._rows(
            "SELECT seat, player, name, kind, total, place FROM seats LEFT JOIN names USING (player) "
            "WHERE stream = ? ORDER BY seat",
            stream,
        )
        return [SeatResult(*row) for row in rows]

    def name(self, player: str) -> str:
        """Return the display name of ``player`` that was copied here, empty where none was."""
        for (name,) in self._rows("SELECT name FROM names WHERE player = ?", player):
            return str(name)
        return ""

    def names(self) -> dict[str, str]:
        """Return all display names that were copied here, by player id."""
        return {player: name for player, name in self._rows("SELECT player, name FROM names")}

    def _rows(self, statement: str, *values: str | int) -> list[sqlite3.Row]:
        with named_faults(self.path):
            rows: list[sqlite3.Row] = self._connection.execute(statement, values).fetchall()
            return rows


def read_head(connection: sqlite3.Connection, path: Path, stream: str) -> Head:
    """Return where ``stream`` stands in the archive ``path``; its last commit is checked against its hash.

    Raises:
        ArchiveError: that commit is damaged.
    """
    row = connection.execute(
        "SELECT position, bytes, hash FROM commits WHERE stream = ? ORDER BY number DESC LIMIT 1", (stream,)
    ).fetchone()
    if row is None:
        return start_of(stream)
    position, data, digest = row
    try:
        commit = decode(data)
    except CommitError as error:
        raise damaged(path, f"position {position}: {error}") from error
    if hash_of(data) != digest:
        raise damaged(path, f"position {position}: bytes and hash differ")
    return advance(start_of(stream), commit, data, position)
