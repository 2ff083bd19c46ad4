"""The word that the server is stopping, for the streams that must end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Stopping:
    """Set once; whoever listens is told."""

    def __init__(self) -> None:
        self.is_set = False
        self._listeners: set[Callable[[], None]] = set()

    def set(self) -> None:
        """Say that the server is stopping."""
        self.is_set = True
        for listener in tuple(self._listeners):
            listener()

    @contextmanager
    def telling(self, listener: Callable[[], None]) -> Iterator[None]:
        """Have ``listener`` called when the server stops, while the block runs."""
        self._listeners.add(listener)
        try:
            yield
        finally:
            self._listeners.discard(listener)


async def wait_within(event: asyncio.Event, seconds: float) -> None:
    """Return when ``event`` is set, or the time is over."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return
