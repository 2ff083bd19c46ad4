"""What a log must promise, the errors of a log, and the one way to append through a fault.

LogError (a MerseyError)
├── LostRace         another commit of the stream came first; read on and decide again
├── LogFull          no room is left; nothing was appended
├── LogRefused       the log will never take these bytes; nothing was appended
├── LogUnavailable   the log can't be reached; nothing was sent
├── OutcomeUnknown   it may have been appended, now or later; to be retried with the same command id
├── LogReplaced      the log is not the one that was followed, or has lost its end
└── LogHole          the log can't give out an entry that it took: its store is damaged

Nothing counts as logged before ``append`` has returned: the log has then acknowledged the bytes, which are on
disk (one server with ``sync_interval: always``) or on a majority of the replicas.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Final, Protocol

import msgspec

from mersey.log.commit import Commit, CommitError, decode
from mersey.rules.refusals import MerseyError

PATIENCE_S: Final = 1.6
"""How long an append is tried before its outcome is told as unknown.

Who waits can do better than the server: try again with the same command id, here or at another node.
"""

_TRY_S: Final = 0.5
"""A try is not begun with less time left: it could be cut off while the commit is on its way."""

_PAUSE_FIRST_S: Final = 0.02
_PAUSE_MAX_S: Final = 0.5


class LogError(MerseyError):
    """What can go wrong with a log."""


class LostRace(LogError):
    """Another commit of the stream came first."""


class LogFull(LogError):
    """No room is left in the log; nothing was appended."""


class LogRefused(LogError):
    """The log will never take these bytes; nothing was appended."""


class LogUnavailable(LogError):
    """The log can't be reached or read now; nothing was sent."""


class OutcomeUnknown(LogError):
    """The commit may have been appended, or may yet be: retry with the same command id."""


class LogReplaced(LogError):
    """The log is not the one that was followed, or has lost its end."""


class LogHole(LogError):
    """The log can't give out entries that it took, those from position ``first`` to ``last``."""

    def __init__(self, first: int, last: int) -> None:
        self.first = first
        self.last = last
        where = f"position {first}" if first == last else f"positions {first} to {last}"
        super().__init__(
            f"the log's store is damaged: it can't give out {where}: mersey reconcile says what is lost"
        )


class Entry(msgspec.Struct, frozen=True):
    """One message of the log: the bytes of a commit and where they stand."""

    position: int
    stream: str
    data: bytes


class Incarnation(msgspec.Struct, frozen=True):
    """Which log this is: a log that was deleted and made anew has another creation time."""

    name: str
    created: str


class Log(Protocol):
    """An ordered record of all streams, one position for each commit, ascending from 1."""

    @property
    def incarnation(self) -> Incarnation:
        """Which log this is."""

    async def append(self, stream: str, data: bytes, after: int) -> int:
        """Append ``data`` once, if the stream's last commit stands at ``after`` (0: it has none).

        Returns its position once the log has acknowledged it.

        Raises:
            LostRace: the stream's last commit stands elsewhere.
            LogError: as its subclass says.
        """

    def follow(self, after: int) -> AsyncGenerator[Entry, None]:
        """Yield all entries after a position, for ever, in order, none left out and none twice.

        It waits out a log that can't be reached.

        Raises:
            LogReplaced: what was followed is not there any more.
            LogHole: entries are missing between two others.
        """

    async def tail(self, stream: str, after: int) -> list[Entry]:
        """Return the stream's entries after a position, as whoever orders the log holds them.

        Raises:
            LogUnavailable: it can't be read now.
        """

    async def last_position(self) -> int:
        """Return the position of the log's last entry, 0 when it is empty.

        Raises:
            LogUnavailable: it can't be read now.
        """


async def append_once(log: Log, data: bytes, after: int, *, patience_s: float = PATIENCE_S) -> int:
    """Append the commit ``data`` through faults, never twice; return where its command stands in the log.

    After each doubt the stream's tail is searched for the commit's command. Only the same bytes with the same
    expected position are ever sent again, which the log takes once at most (design, section 2).

    Raises:
        LostRace: the stream moved on without the command: decide again, with the same command id.
        OutcomeUnknown: time is up and the commit may still arrive.
        LogUnavailable: time is up and nothing was ever sent, or the log ends before ``after``.
        LogFull, LogRefused: nothing was appended.
    """
    appending = _Appending(log, data, after, patience_s)
    try:
        async with asyncio.timeout(patience_s):
            return await appending.run()
    except TimeoutError:
        raise appending.verdict() from None


class _Appending:
    """One commit on its way into the log."""

    def __init__(self, log: Log, data: bytes, after: int, patience_s: float) -> None:
        self._log = log
        self._data = data
        self._after = after
        self._commit = decode(data)
        self._ends_s = asyncio.get_running_loop().time() + patience_s
        self._in_doubt = False
        self._last: LogError = LogUnavailable("no answer")

    async def run(self) -> int:
        """Return the position, or raise what is known when there is no time for another try."""
        loop, pause_s = asyncio.get_running_loop(), _PAUSE_FIRST_S
        while True:
            position = await self._try()
            if position is not None:
                return position
            if loop.time() + pause_s + _TRY_S > self._ends_s:
                raise self.verdict() from self._last
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _PAUSE_MAX_S)

    async def _try(self) -> int | None:
        """Return the command's position after one more try, None if the stream has not moved."""
        doubt_before = self._in_doubt
        self._in_doubt = True  # holds if time is up while the commit is on its way
        try:
            return await self._log.append(self._commit.stream, self._data, self._after)
        except LogUnavailable as error:
            self._last, self._in_doubt = error, doubt_before
            if not doubt_before:
                return None
        except LostRace as error:
            self._last, self._in_doubt = error, doubt_before
        except LogFull as error:
            self._last, self._in_doubt = error, doubt_before
            if not doubt_before:
                raise
        except OutcomeUnknown as error:
            self._last = error
        return await self._settle()

    async def _settle(self) -> int | None:
        """Return where the commit's command stands; None while the stream has not moved."""
        stream = self._commit.stream
        try:
            tail = await self._log.tail(stream, self._after)
        except LogUnavailable:
            return None
        for entry in tail:
            if _is_of_command(entry.data, self._commit):
                return entry.position
        if tail:
            raise LostRace(f"{stream} moved on from position {self._after} to {tail[-1].position}")
        return None

    def verdict(self) -> LogError:
        """Return what is known of the commit now."""
        stream = self._commit.stream
        if self._in_doubt:
            return OutcomeUnknown(f"{stream}: no word from the log in time ({self._last})")
        if isinstance(self._last, LostRace):
            return LogUnavailable(f"{stream}: the log holds no commit at position {self._after}")
        return self._last


def _is_of_command(data: bytes, commit: Commit) -> bool:
    try:
        other = decode(data)
    except CommitError:
        return False
    return (other.actor, other.command_id) == (commit.actor, commit.command_id)
