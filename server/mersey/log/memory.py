"""A log in memory, for fast tests: the promises of `Log`, except that nothing outlives the process."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator
from typing import Final

from mersey.log.ports import Entry, Incarnation, LogFull, LogReplaced, LostRace


class MemoryLog:
    """A `Log` that holds its entries in a list; ``bytes_max`` is when it is full."""

    def __init__(self, bytes_max: int = 2**30) -> None:
        self.incarnation: Final = Incarnation(name="memory", created=uuid.uuid4().hex)
        self._entries: list[Entry] = []
        self._last: dict[str, int] = {}
        self._bytes_left = bytes_max
        self._grown = asyncio.Event()

    async def append(self, stream: str, data: bytes, after: int) -> int:
        """Append ``data`` if the stream's last commit stands at ``after``; see `Log.append`."""
        last = self._last.get(stream, 0)
        if last != after:
            raise LostRace(f"{stream}: expected position {after}, its last commit is at {last}")
        if len(data) > self._bytes_left:
            raise LogFull("the log is full")
        self._bytes_left -= len(data)
        entry = Entry(position=len(self._entries) + 1, stream=stream, data=data)
        self._entries.append(entry)
        self._last[stream] = entry.position
        self._grown.set()
        self._grown = asyncio.Event()
        return entry.position

    async def follow(self, after: int) -> AsyncGenerator[Entry, None]:
        """Yield all entries after a position, for ever; see `Log.follow`."""
        if after > len(self._entries):
            raise LogReplaced(f"the log ends at {len(self._entries)}, before position {after}")
        while True:
            grown = self._grown
            for entry in self._entries[after:]:
                after = entry.position
                yield entry
            if after >= len(self._entries):
                await grown.wait()

    async def tail(self, stream: str, after: int) -> list[Entry]:
        """Return the stream's entries after a position; see `Log.tail`."""
        return [entry for entry in self._entries[after:] if entry.stream == stream]

    async def last_position(self) -> int:
        """Return the position of the last entry; see `Log.last_position`."""
        return len(self._entries)
