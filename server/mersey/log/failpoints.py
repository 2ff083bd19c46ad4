"""Fail points: places in the command path and the archive where a test ends the process or loses a word.

They are off unless ``MERSEY_FAILPOINTS`` names them, ``point[:nth][:action]`` with commas between: at the
nth time (the first, unless given) that the process passes the point, the action happens, once. A server
without them runs code without them: `FailingLog` and `failing_commit` are put in only where one is on.
"""

from __future__ import annotations

import logging
import os
import signal
import sqlite3
from collections.abc import AsyncGenerator, Callable, Mapping
from types import MappingProxyType
from typing import Final, Self

import msgspec

from mersey.log.ports import Entry, Incarnation, Log, OutcomeUnknown
from mersey.rules.refusals import MerseyError

VARIABLE: Final = "MERSEY_FAILPOINTS"

BEFORE_APPEND: Final = "before-append"
AFTER_APPEND: Final = "after-append"
LOST_ACK: Final = "lost-ack"
BEFORE_ARCHIVE_COMMIT: Final = "before-archive-commit"
AFTER_ARCHIVE_COMMIT: Final = "after-archive-commit"
ACK_BEFORE_APPEND: Final = "ack-before-append"

KILL: Final = "kill"
LOSE: Final = "lose"

POINTS: Final = MappingProxyType(
    {
        BEFORE_APPEND: KILL,
        AFTER_APPEND: KILL,
        LOST_ACK: LOSE,
        BEFORE_ARCHIVE_COMMIT: KILL,
        AFTER_ARCHIVE_COMMIT: KILL,
        ACK_BEFORE_APPEND: KILL,
    }
)
"""The points, with what happens at each.

``lost-ack`` throws the log's acknowledgement away, so that the outcome is unknown. ``ack-before-append`` is a
planted bug, for proof that a drill can fail: a command is answered without being logged, and then the process
is killed.
"""

ACTS: Final = "fail point %s acts"
"""What is logged before a point acts."""

_logger = logging.getLogger(__name__)


class FailpointError(MerseyError):
    """A fail point that does not exist; the message names those that do."""


class Armed(msgspec.Struct):
    """A fail point that is on: how many times more it is passed until it acts; 0: it has acted."""

    point: str
    left: int


class Failpoints:
    """The fail points that are on in this process."""

    def __init__(self, armed: list[Armed]) -> None:
        self._armed = armed

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Self:
        """Return the fail points that ``MERSEY_FAILPOINTS`` names; say loudly that they are on.

        >>> bool(Failpoints.read({})), bool(Failpoints.read({"MERSEY_FAILPOINTS": "lost-ack:3"}))
        (False, True)

        Raises:
            FailpointError: one does not exist, or its number or action can't be.
        """
        named = environment.get(VARIABLE, "")
        armed = [_parse(part.strip()) for part in named.split(",") if part.strip()]
        if armed:
            _logger.critical("FAIL POINTS ARE ON, this server will kill itself or lose words: %s", named)
        return cls(armed)

    def __bool__(self) -> bool:
        """Return whether any is on."""
        return bool(self._armed)

    def has(self, point: str) -> bool:
        """Return whether ``point`` is on and has not acted yet."""
        return any(armed.point == point and armed.left for armed in self._armed)

    def acts(self, point: str) -> bool:
        """Take note that ``point`` is passed, and return whether it acts this time."""
        hit = False
        for armed in self._armed:
            if armed.point == point and armed.left:
                armed.left -= 1
                hit = hit or not armed.left
        if hit:
            _logger.critical(ACTS, point)
        return hit

    def kill_at(self, point: str) -> None:
        """Take note that ``point`` is passed, and end this process at once if it acts this time."""
        if self.acts(point):
            kill_this_process()


NO_FAILPOINTS: Final = Failpoints([])
"""What a server runs with unless it is told otherwise."""


def kill_this_process() -> None:
    """End this process as a pulled plug would: nothing is flushed, closed or said."""
    os.kill(os.getpid(), signal.SIGKILL)
    while True:  # the signal may reach another thread first
        signal.pause()


def _parse(text: str) -> Armed:
    point, *rest = text.split(":")
    if point not in POINTS:
        raise FailpointError(f"{VARIABLE}: there is no point {point!r}: one of {', '.join(POINTS)}")
    nth = rest.pop(0) if rest and rest[0].isdecimal() else "1"
    if not 1 <= int(nth) < 10**9 or rest not in ([], [POINTS[point]]):
        raise FailpointError(f"{VARIABLE}: {text!r} must be {point}[:N][:{POINTS[point]}] with N from 1 on")
    return Armed(point, int(nth))


class FailingLog:
    """A log whose appends pass the fail points; all else is the log's own."""

    def __init__(self, log: Log, points: Failpoints) -> None:
        self._log = log
        self._points = points

    @property
    def incarnation(self) -> Incarnation:
        """Which log this is."""
        return self._log.incarnation

    async def append(self, stream: str, data: bytes, after: int) -> int:
        """Append as the log does, if the process lives on; see `Log.append`."""
        self._points.kill_at(BEFORE_APPEND)
        position = await self._log.append(stream, data, after)
        self._points.kill_at(AFTER_APPEND)
        if self._points.acts(LOST_ACK):
            raise OutcomeUnknown(f"{stream}: the acknowledgement is thrown away at a fail point")
        return position

    def follow(self, after: int) -> AsyncGenerator[Entry, None]:
        """Yield all entries after a position; see `Log.follow`."""
        return self._log.follow(after)

    async def tail(self, stream: str, after: int) -> list[Entry]:
        """Return the stream's entries after a position; see `Log.tail`."""
        return await self._log.tail(stream, after)

    async def last_position(self) -> int:
        """Return the position of the last entry; see `Log.last_position`."""
        return await self._log.last_position()


def failing_commit(points: Failpoints) -> Callable[[sqlite3.Connection], None]:
    """Return what commits a transaction of the archive and passes the fail points before and after."""

    def commit(connection: sqlite3.Connection) -> None:
        points.kill_at(BEFORE_ARCHIVE_COMMIT)
        connection.execute("COMMIT")
        points.kill_at(AFTER_ARCHIVE_COMMIT)

    return commit
