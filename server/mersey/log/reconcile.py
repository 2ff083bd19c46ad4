"""Comparing log and archive, stream by stream, by their bytes and hashes; nothing here changes either.

Both hold the same entries of each stream in the same order, or one of them is short, or they differ. Where
they differ, the chain says whose bytes are at fault: a commit must follow the one before it, and the next one
must name its hash; the archive also has a hash beside the bytes. Where both sides hold, there are two
histories, and nobody but a person can choose between them (design, section 2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, Literal

import msgspec

from mersey.log.archive_copies import ArchiveCopies, Copy
from mersey.log.commit import CommitError, Head, advance, check_follows, decode, hash_of, start_of
from mersey.log.ports import Incarnation
from mersey.log.walk import Lost, ReadableLog, walk

_CHUNK: Final = 500
_HASH_BESIDE: Final = "they are not those of the hash beside them"

Side = Literal["log", "archive"]

Progress = Callable[[int, int], None]
"""Is told how many entries have been looked at, and how many there are."""


class Difference(msgspec.Struct):
    """The first place where a stream differs, and what speaks against each side's bytes there."""

    stream: str
    number: int
    """1 for the stream's first entry: the number of the commit, unless it is no commit."""
    faults: dict[Side, str]
    more: int = 0
    """How many further entries of the stream differ."""

    @property
    def sound(self) -> Side | None:
        """Whose bytes nothing speaks against, where that is one side and not both."""
        match sorted(self.faults):
            case ["archive"]:
                return "log"
            case ["log"]:
                return "archive"
            case _:
                return None

    def __str__(self) -> str:
        """Return the difference in one line."""
        where = f"{self.stream}: differs at commit {self.number}"
        if self.more:
            where += f" (and at {self.more} more)"
        if not self.faults:
            return f"{where}: both sides' bytes hold: two histories"
        said = "; ".join(f"the {side}'s bytes are at fault: {fault}" for side, fault in self.faults.items())
        return f"{where}: {said}" + (f"; the {self.sound}'s bytes hold" if self.sound else "")


class Short(msgspec.Struct, frozen=True):
    """A stream of which one side lacks the end."""

    stream: str
    side: Side
    """Which side is short."""
    has: int
    missing: int
    position: int
    """Of the first entry that is missing, on the other side."""

    def __str__(self) -> str:
        """Return the fact in one line."""
        return f"{self.stream}: the {self.side} ends after commit {self.has}, {self.missing} more are missing"


class Comparison(msgspec.Struct):
    """What was found."""

    log: Incarnation
    copied: Incarnation
    """The log that the archive says it is a copy of."""
    position: int
    """Up to which the archive is complete, as it says."""
    last: int
    """The log's last position."""
    streams: int = 0
    same: int = 0
    """How many entries are the same on both sides."""
    moved: int = 0
    """How many of those stand at another position than the archive says."""
    short: list[Short] = []
    differences: list[Difference] = []
    lost: list[Lost] = []
    """Positions that the log can't give out."""
    set_aside: dict[str, str] = {}
    """For each stream that both sides hold alike, but which does not follow: what is wrong, and where."""
    rows: dict[str, str] = {}
    """For each stream whose rows for SQL are not what its commits say: where."""
    ends: dict[str, tuple[int, int]] = {}
    """For each stream in the log: how many entries it has there, and the position of the last."""

    @property
    def same_log(self) -> bool:
        """Whether the archive is a copy of this very log."""
        return self.log == self.copied

    @property
    def equal(self) -> bool:
        """Whether both sides hold the same, at the same positions."""
        return self.same_log and not (self.moved or self.short or self.differences or self.lost or self.rows)

    def short_on(self, side: Side) -> list[Short]:
        """Return the streams of which ``side`` lacks the end."""
        return [short for short in self.short if short.side == side]


async def compare(log: ReadableLog, copies: ArchiveCopies, progress: Progress) -> Comparison:
    """Return how log and archive differ; nobody may append to either in the meantime.

    Raises:
        LogError: the log can't be read.
        ArchiveError: the archive can't be read.
    """
    last = await log.last_position()
    found = Comparison(log.incarnation, copies.incarnation(), copies.position(), last)
    comparing = _Comparing(found, copies)
    waiting: list[_Taken] = []
    async for item in walk(log, last):
        if isinstance(item, Lost):
            found.lost.append(item)
            waiting += comparing.lost(item)
        else:
            waiting.append(_Taken(item.stream, item.position, item.data))
        if len(waiting) >= _CHUNK:
            comparing.take(waiting)
            progress(waiting[-1].position, last)
            waiting = []
    comparing.take(waiting)
    comparing.finish()
    found.rows = {stream: fault for stream in copies.totals() if (fault := copies.rows_fault(stream))}
    progress(last, last)
    return found


class _Taken(msgspec.Struct, frozen=True):
    """What the log gave out at a position: None where it can't."""

    stream: str
    position: int
    data: bytes | None


class _Stream(msgspec.Struct):
    """A stream as far as it was compared."""

    head: Head | None
    """Where the common history stands; None where it can't be followed further."""
    count: int = 0
    extra: int = 0
    """How many entries of the log the archive lacks."""
    extra_from: int = 0
    position: int = 0
    suspects: tuple[str, str] | None = None
    """The hashes on either side of the entry before, where they differ: the next entry names one of them."""
    difference: Difference | None = None


class _Comparing:
    """A comparison under way."""

    def __init__(self, found: Comparison, copies: ArchiveCopies) -> None:
        self._found = found
        self._copies = copies
        self._set_aside = copies.faults()
        self._streams: dict[str, _Stream] = {}

    def lost(self, lost: Lost) -> Iterator[_Taken]:
        """Yield what the archive says of positions that the log can't give out."""
        if self._found.same_log:
            for copy in self._copies.copies(lost.first - 1, lost.last):
                yield _Taken(copy.stream, copy.position, None)

    def take(self, taken: list[_Taken]) -> None:
        """Compare the next entries of the log with their copies."""
        by_stream: dict[str, list[_Taken]] = {}
        for entry in taken:
            by_stream.setdefault(entry.stream, []).append(entry)
        for name, entries in by_stream.items():
            stream = self._stream(name)
            copies = self._copies.copies_of(name, stream.count, len(entries))
            for index, entry in enumerate(entries):
                self._pair(name, stream, entry, copies[index] if index < len(copies) else None)

    def finish(self) -> None:
        """Compare what only the archive has, and note who is short of what."""
        totals = self._copies.totals()
        for name in sorted(totals.keys() | self._streams.keys()):
            stream = self._stream(name)
            if stream.count:
                self._found.ends[name] = (stream.count, stream.position)
            if stream.extra:
                has = stream.count - stream.extra
                self._found.short.append(Short(name, "archive", has, stream.extra, stream.extra_from))
            elif (total := totals.get(name, 0)) > stream.count:
                self._only_archived(name, stream, total)
            if stream.difference is not None:
                self._found.differences.append(stream.difference)
        self._found.streams = len(self._streams)

    def _stream(self, name: str) -> _Stream:
        return self._streams.setdefault(name, _Stream(start_of(name)))

    def _pair(self, name: str, stream: _Stream, entry: _Taken, copy: Copy | None) -> None:
        stream.count += 1
        stream.position = entry.position
        if copy is None:
            self._judge_suspects(stream, entry.data, None)
            stream.extra += 1
            stream.extra_from = stream.extra_from or entry.position
            return
        self._judge_suspects(stream, entry.data, copy.data)
        faults: dict[Side, str] = {}
        if entry.data is None:
            faults["log"] = f"position {entry.position} can't be read"
        elif entry.data == copy.data:
            self._found.same += 1
            self._found.moved += entry.position != copy.position
        elif fault := _fault(stream.head, entry.data):
            faults["log"] = fault
        if hash_of(copy.data) != copy.hash:
            faults["archive"] = _HASH_BESIDE
        elif entry.data != copy.data and (fault := self._archive_fault(name, stream, copy)):
            faults["archive"] = fault
        if entry.data != copy.data or faults:
            self._differ(name, stream, entry.data, copy, faults)
        good = (
            copy.data if entry.data is None or ("log" in faults and "archive" not in faults) else entry.data
        )
        self._advance(name, stream, good)

    def _archive_fault(self, name: str, stream: _Stream, copy: Copy) -> str:
        """Return how the archive's bytes break the chain, unless it knows of it itself."""
        return "" if name in self._set_aside else _fault(stream.head, copy.data)

    def _differ(
        self, name: str, stream: _Stream, data: bytes | None, copy: Copy, faults: dict[Side, str]
    ) -> None:
        if stream.difference is not None:
            stream.difference.more += 1
            return
        stream.difference = Difference(name, stream.count, faults)
        if data is not None and data != copy.data:
            stream.suspects = (hash_of(data), hash_of(copy.data))

    def _judge_suspects(self, stream: _Stream, data: bytes | None, copied: bytes | None) -> None:
        """Let the entries after the first difference say whose bytes they follow."""
        if stream.suspects is None or stream.difference is None:
            return
        (of_log, of_archive), stream.suspects = stream.suspects, None
        faults = stream.difference.faults
        sides: tuple[tuple[Side, bytes | None, str], ...] = (
            ("log", data, of_log),
            ("archive", copied, of_archive),
        )
        for side, following, digest in sides:
            if side not in faults and following is not None and _previous(following) not in (None, digest):
                faults[side] = "the next commit names another hash"

    def _advance(self, name: str, stream: _Stream, data: bytes) -> None:
        if stream.head is None:
            return
        try:
            commit = check_follows(stream.head, data)
        except CommitError as error:
            if stream.difference is None:
                self._found.set_aside[name] = f"commit {stream.count}: {error}"
            stream.head = None
            return
        stream.head = advance(stream.head, commit, data, stream.position)

    def _only_archived(self, name: str, stream: _Stream, total: int) -> None:
        """Note the end that the log lacks, and where the archive's own bytes do not hold in it."""
        has, first = stream.count, 0
        while stream.count < total:
            for copy in self._copies.copies_of(name, stream.count, _CHUNK):
                first = first or copy.position
                stream.count += 1
                self._judge_suspects(stream, None, copy.data)
                fault = self._archive_fault(name, stream, copy)
                if hash_of(copy.data) != copy.hash:
                    fault = _HASH_BESIDE
                if fault:
                    stream.difference = stream.difference or Difference(
                        name, stream.count, {"archive": fault}
                    )
                self._advance(name, stream, copy.data)
        self._found.short.append(Short(name, "log", has, total - has, first))


def _fault(head: Head | None, data: bytes) -> str:
    """Return what is wrong with ``data`` as the next commit; empty where nothing is, or nothing is known."""
    if head is None:
        return ""
    try:
        check_follows(head, data)
    except CommitError as error:
        return str(error)
    return ""


def _previous(data: bytes) -> str | None:
    try:
        return decode(data).previous
    except CommitError:
        return None
