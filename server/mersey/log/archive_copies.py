"""The archive as an exact second copy of the log: its entries by stream and by position, sound or not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from mersey.log.archive_reader import ArchiveReader
from mersey.log.ports import Incarnation

PAGE: Final = 500

_COPIES: Final = (
    "SELECT position, stream, bytes, hash FROM (SELECT position, stream, bytes, hash FROM commits "
    "WHERE position > ?1 ORDER BY position LIMIT ?2) UNION ALL "
    "SELECT position, stream, bytes, hash FROM (SELECT position, stream, bytes, hash FROM set_aside "
    "WHERE position > ?1 ORDER BY position LIMIT ?2) ORDER BY position LIMIT ?2"
)


class Copy(msgspec.Struct, frozen=True):
    """An entry of the log as the archive keeps it."""

    position: int
    stream: str
    data: bytes
    hash: str
    """What was written beside the bytes as their SHA-256."""


class ArchiveCopies(ArchiveReader):
    """Reads what the archive copied, commits and entries set aside alike."""

    def incarnation(self) -> Incarnation:
        """Return the log that was copied; both fields are empty in an archive that has copied none."""
        name, created = self._rows("SELECT log_name, log_created FROM progress")[0]
        return Incarnation(name=name, created=created)

    def totals(self) -> dict[str, int]:
        """Return how many entries of each stream there are."""
        rows = self._rows(
            "SELECT stream, count(*) FROM (SELECT stream FROM commits "
            "UNION ALL SELECT stream FROM set_aside) GROUP BY stream"
        )
        return {stream: count for stream, count in rows}

    def copies(self, after: int = 0, upto: int = 2**62, *, page: int = PAGE) -> Iterator[Copy]:
        """Yield all entries after one position up to another, in order."""
        while rows := self._rows(_COPIES, after, page):
            for row in rows:
                if row[0] > upto:
                    return
                yield Copy(*row)
            after = rows[-1][0]

    def copies_of(self, stream: str, after: int, limit: int) -> list[Copy]:
        """Return up to ``limit`` entries of a stream after its first ``after``; those set aside come last."""
        found = self._rows(
            "SELECT position, stream, bytes, hash FROM commits WHERE stream = ? AND number > ? "
            "ORDER BY number LIMIT ?",
            stream,
            after,
            limit,
        )
        if len(found) < limit:
            (commits,) = self._rows("SELECT count(*) FROM commits WHERE stream = ?", stream)[0]
            found += self._rows(
                "SELECT position, stream, bytes, hash FROM set_aside WHERE stream = ? "
                "ORDER BY position LIMIT ? OFFSET ?",
                stream,
                limit - len(found),
                max(after - commits, 0),
            )
        return [Copy(*row) for row in found]

    def faults(self) -> dict[str, str]:
        """Return for each stream that has entries set aside what is wrong with the first of them."""
        rows = self._rows("SELECT stream, fault FROM set_aside ORDER BY position DESC")
        return {stream: fault for stream, fault in rows}
