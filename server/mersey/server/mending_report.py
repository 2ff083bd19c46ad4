"""The report of a comparison of log and archive, in lines of text that say what would help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from mersey.log.reconcile import Comparison

_LISTED_MAX: Final = 3

REPAIR: Final = "mersey reconcile --repair copies missing ends to the short side"
REFILL: Final = "mersey restore fills this log from the archive"
NEW_LOG: Final = "mersey restore --log makes a new log from the archive and keeps the old one beside it"
NEW_ARCHIVE: Final = (
    "mersey restore --archive makes a new archive from the log and keeps the old one beside it"
)


def report(found: Comparison) -> Iterator[str]:
    """Yield the lines; the last begins with ``OK`` or ``DIFFERENT``."""
    yield (
        f"log: {counted(found.last, 'position')}, made at {found.log.created}; "
        f"archive: complete up to position {found.position}; "
        f"{counted(found.streams, 'stream')}, {counted(found.same, 'entry')} alike"
    )
    if not found.same_log and found.position:
        yield f"the archive is a copy of another log, made at {found.copied.created}"
    for lost in found.lost:
        span = (
            f"position {lost.first}" if lost.first == lost.last else f"positions {lost.first} to {lost.last}"
        )
        yield f"the log can't give out {span}"
    yield from map(str, found.short)
    yield from map(str, found.differences)
    for stream, fault in found.rows.items():
        yield f"{stream}: {fault}"
    for stream, fault in found.set_aside.items():
        yield f"{stream}: set aside, alike on both sides: {fault}"
    if found.moved:
        yield f"at another position than the archive says: {counted(found.moved, 'entry')}"
    if found.equal:
        what = f"{counted(found.same, 'entry')} of {counted(found.streams, 'stream')}"
        yield f"OK log and archive hold the same: {what}"
        return
    for advice in _advice(found):
        yield f"  {advice}"
    yield "DIFFERENT log and archive do not hold the same"


def _advice(found: Comparison) -> Iterator[str]:
    sides = {difference.sound for difference in found.differences}
    if found.lost or "archive" in sides:
        yield NEW_LOG
    if "log" in sides or found.rows:
        yield NEW_ARCHIVE
    if None in sides:
        yield "of two histories none is chosen here: keep copies of both stores, and ask who played"
    if found.short_on("log") and not found.same_log:
        yield REFILL
    elif found.short or found.moved or not found.same_log:
        yield REPAIR


def counted(number: int, thing: str) -> str:
    """Return so many things.

    >>> counted(1, "stream"), counted(2, "entry")
    ('1 stream', '2 entries')
    """
    if number == 1:
        return f"1 {thing}"
    return f"{number} {thing.removesuffix('y')}ies" if thing.endswith("y") else f"{number} {thing}s"


def listed(items: Sequence[str]) -> str:
    """Return the first items of a list, and how many more there are.

    >>> listed(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    more = len(items) - _LISTED_MAX
    return ", ".join(items[:_LISTED_MAX]) + (f" and {more} more" if more > 0 else "")
