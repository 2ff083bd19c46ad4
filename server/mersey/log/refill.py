"""Copying ends verbatim: what the log lacks from the archive, what the archive lacks from the log."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import islice
from typing import Final

from mersey.log.archive import Archive
from mersey.log.archive_copies import ArchiveCopies, Copy
from mersey.log.ports import Log, LogError, LogHole
from mersey.log.reconcile import Comparison, Progress
from mersey.log.walk import Lost, ReadableLog, walk

_BATCH: Final = 100


class RefillStopped(LogError):
    """The log could not be filled to the end; what was appended stays, and the rest can be tried again."""


async def refill(log: Log, copies: ArchiveCopies, found: Comparison, progress: Progress) -> int:
    """Append to the log what it lacks, in the archive's order, byte for byte; return how many entries.

    Each append names where its stream must end, so that nothing is appended twice, and nothing at all where
    somebody else appends meanwhile. Ends of streams that differ are left out.

    Raises:
        RefillStopped: the log refused or did not answer; it can be called again after a new comparison.
        ArchiveError: the archive can't be read.
    """
    wanted = _wanted(found)
    count = sum(missing for _, missing in wanted.values())
    if not count:
        return 0
    ends = {stream: found.ends.get(stream, (0, 0))[1] for stream in wanted}
    missing = _missing(copies, wanted)
    position, done = found.last, 0
    while batch := list(islice(missing, _BATCH)):
        appends = []
        for copy in batch:
            # One connection keeps the order, so each position is known before the log has answered.
            position += 1
            appends.append(log.append(copy.stream, copy.data, ends[copy.stream]))
            ends[copy.stream] = position
        results = await asyncio.gather(*appends, return_exceptions=True)
        done += sum(isinstance(result, int) for result in results)
        for result in results:
            if isinstance(result, LogError):
                raise RefillStopped(
                    f"the log was filled up to entry {done} of {count}: {result}: run the command again"
                ) from result
            if isinstance(result, BaseException):
                raise result
        progress(done, count)
    return done


def _wanted(found: Comparison) -> dict[str, tuple[int, int]]:
    """Return for each stream whose end the log lacks how many entries it has, and how many are missing."""
    differing = {difference.stream for difference in found.differences}
    return {
        short.stream: (short.has, short.missing)
        for short in found.short_on("log")
        if short.stream not in differing
    }


def _missing(copies: ArchiveCopies, wanted: dict[str, tuple[int, int]]) -> Iterator[Copy]:
    """Yield the entries that are missing, in order of their positions in the archive."""
    to_pass = {stream: has for stream, (has, _) in wanted.items()}
    for copy in copies.copies():
        left = to_pass.get(copy.stream)
        if left is None:
            continue
        if left:
            to_pass[copy.stream] = left - 1
        else:
            yield copy


async def catch_up(log: ReadableLog, archive: Archive, progress: Progress) -> int:
    """Write into the archive what the log holds after the archive's position; return how many entries.

    Raises:
        LogHole: the log can't give out an entry; what stands before it is archived.
        LogError: the log can't be read.
        ArchiveError: the archive can't be written.
    """
    last, start = await log.last_position(), archive.position()
    waiting, done = [], 0
    try:
        async for item in walk(log, last, after=start):
            if isinstance(item, Lost):
                raise LogHole(item.first, item.last)
            waiting.append(item)
            done += 1
            if len(waiting) >= _BATCH:
                await archive.write(waiting)
                progress(done, last - start)
                waiting = []
    finally:
        await archive.write(waiting)
    progress(done, last - start)
    return done
