"""Reading a log once from its first entry to its last, damaged or not: what can't be read is named."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final, Protocol

import msgspec

from mersey.log.ports import Entry, Log, LogHole

QUIET_S: Final = 1.0
"""How long a log may be silent before it is asked whether what must come next can be read at all."""


class ReadableLog(Log, Protocol):
    """A log that also says what stands at one position."""

    async def entry_at(self, position: int) -> Entry | None:
        """Return the entry at a position, None where none can be read; see `JetStreamLog.entry_at`."""


class Lost(msgspec.Struct, frozen=True):
    """Positions of the log whose entries it can't give out."""

    first: int
    last: int


async def walk(
    log: ReadableLog, upto: int, *, after: int = 0, quiet_s: float = QUIET_S
) -> AsyncGenerator[Entry | Lost, None]:
    """Yield what stands after one position up to another, in order: each entry, or that it is lost.

    Raises:
        LogUnavailable: the log is silent and does not answer.
        LogReplaced: it is another log now, or ends before ``upto``.
    """
    while after < upto:
        try:
            async with aclosing(log.follow(after)) as entries:
                while after < upto:
                    async with asyncio.timeout(quiet_s):
                        entry = await anext(entries)
                    after = entry.position
                    yield entry
        except LogHole as hole:
            after = min(hole.last, upto)
            yield Lost(hole.first, after)
        except TimeoutError:
            if await log.entry_at(after + 1) is None:
                # Whatever can be read comes by itself: after this silence nothing more does.
                yield Lost(after + 1, upto)
                return
