"""Whether this node reaches the log: looked at all the time, told to streams and to health checks."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Final

LOOK_S: Final = 0.2
"""How often the node looks."""

_logger = logging.getLogger(__name__)


class Reach:
    """What was seen last; whoever listens is told of each change."""

    def __init__(self, is_away: Callable[[], bool]) -> None:
        self.is_away = False
        """Whether the log can't be reached, so that what this node shows may be behind."""
        self._look = is_away
        self._listeners: set[Callable[[], None]] = set()

    async def watch(self) -> None:
        """Look for ever."""
        while True:
            is_away = self._look()
            if is_away != self.is_away:
                self.is_away = is_away
                _logger.warning("the log %s", "can't be reached" if is_away else "is reached again")
                for listener in tuple(self._listeners):
                    listener()
            await asyncio.sleep(LOOK_S)

    @contextlib.contextmanager
    def telling(self, listener: Callable[[], None]) -> Iterator[None]:
        """Have ``listener`` called at each change while the block runs."""
        self._listeners.add(listener)
        try:
            yield
        finally:
            self._listeners.discard(listener)
