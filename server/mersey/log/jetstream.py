"""The log on NATS JetStream.

It is followed by an ordered push consumer in memory: each delivery carries the consumer's own count, so
that anything lost on the way shows as a gap, and heartbeats carry the last count, so that a lost end shows
too. On a gap, a reconnect or silence a new consumer starts after the last entry that was passed on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from typing import Final, Self

import nats.errors
import nats.js.errors
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.js import api

from mersey.log.connection import APPEND_S, NatsConnection
from mersey.log.ports import (
    Entry,
    Incarnation,
    LogFull,
    LogHole,
    LogRefused,
    LogReplaced,
    LogUnavailable,
    LostRace,
    OutcomeUnknown,
)
from mersey.log.stream_config import STREAM, STREAM_NOT_FOUND, SUBJECT_PREFIX, LogMisconfigured, check

_STALE: Final = frozenset({10071, 10164})
_FULL: Final = frozenset({10077})
_NO_MESSAGE: Final = 10037
_HEARTBEAT_S: Final = 1.0
_SILENCE_S: Final = 2.5
_RETRY_S: Final = 0.1
_RETRY_MAX_S: Final = 2.0

_logger = logging.getLogger(__name__)


class JetStreamLog:
    """A `Log` on the stream ``mersey_log_0`` of a NATS server or cluster."""

    def __init__(self, connection: NatsConnection, incarnation: Incarnation, request_s: float) -> None:
        self._connection = connection
        self._request_s = request_s
        self._is_heard = True
        self.incarnation: Final = incarnation

    @classmethod
    async def open(
        cls, connection: NatsConnection, *, replicas: int = 1, request_s: float = APPEND_S
    ) -> Self:
        """Return the log of this server, whose configuration has been checked.

        Raises:
            LogMisconfigured: the stream is missing or could lose commits; the settings are named.
            LogUnavailable: the server does not answer.
        """
        try:
            info = await connection.js.stream_info(STREAM)
        except nats.js.errors.APIError as error:
            if error.err_code == STREAM_NOT_FOUND:
                raise LogMisconfigured(
                    f"stream {STREAM} is missing: its NATS admin makes it with mersey nats-setup"
                ) from error
            raise LogUnavailable(f"JetStream: {error.description}") from error
        except nats.errors.Error as error:
            raise LogUnavailable("JetStream does not answer") from error
        check(info.config, replicas)
        return cls(connection, _incarnation_of(info), request_s)

    @property
    def is_away(self) -> bool:
        """Whether the log is known not to be reached now, so that what was followed of it may be behind."""
        return not (self._connection.is_up and self._is_heard)

    async def append(self, stream: str, data: bytes, after: int) -> int:
        """Append ``data`` if the stream's last commit stands at ``after``; see `Log.append`."""
        await self._connection.until_up(self._request_s)
        try:
            ack = await self._connection.js.publish(
                SUBJECT_PREFIX + stream,
                data,
                timeout=self._request_s,
                headers={
                    api.Header.EXPECTED_LAST_SUBJECT_SEQUENCE.value: str(after),
                    api.Header.EXPECTED_STREAM.value: STREAM,
                },
            )
        except nats.js.errors.APIError as error:
            raise _append_error(stream, error) from error
        except nats.errors.MaxPayloadError as error:
            raise LogRefused(f"{stream}: a commit of {len(data)} bytes is more than NATS takes") from error
        except (nats.errors.ConnectionClosedError, nats.errors.OutboundBufferLimitError) as error:
            raise LogUnavailable(f"{stream}: no connection to NATS") from error
        except (nats.errors.Error, nats.js.errors.Error, OSError) as error:
            raise OutcomeUnknown(f"{stream}: {type(error).__name__} while appending") from error
        return ack.seq

    async def tail(self, stream: str, after: int) -> list[Entry]:
        """Return the stream's entries after a position, read from the stream's leader; see `Log.tail`."""
        entries: list[Entry] = []
        while (entry := await self._next_of(stream, after)) is not None:
            entries.append(entry)
            after = entry.position
        return entries

    async def _next_of(self, stream: str, after: int) -> Entry | None:
        await self._connection.until_up(self._request_s)
        try:
            found = await self._connection.js.get_msg(
                STREAM, seq=after + 1, subject=SUBJECT_PREFIX + stream, next=True
            )
        except nats.js.errors.APIError as error:
            if error.err_code == _NO_MESSAGE:
                return None
            raise LogUnavailable(f"{stream}: {error.description}") from error
        except (nats.errors.Error, nats.js.errors.Error, OSError) as error:
            raise LogUnavailable(f"{stream}: {type(error).__name__} while reading the log") from error
        return Entry(position=found.seq or 0, stream=stream, data=found.data or b"")

    async def entry_at(self, position: int) -> Entry | None:
        """Return the entry at a position; None where the log holds none, or none that it can read.

        Raises:
            LogUnavailable: it can't be read now.
        """
        await self._connection.until_up(self._request_s)
        try:
            found = await self._connection.js.get_msg(STREAM, seq=position)
        except nats.js.errors.APIError as error:
            if error.err_code == _NO_MESSAGE:
                return None
            raise LogUnavailable(f"position {position}: {error.description}") from error
        except (nats.errors.Error, nats.js.errors.Error, OSError) as error:
            raise LogUnavailable(f"position {position}: {type(error).__name__}") from error
        stream = (found.subject or "").removeprefix(SUBJECT_PREFIX)
        return Entry(position=position, stream=stream, data=found.data or b"")

    async def check_whole(self) -> None:
        """Raise LogHole if the log counts fewer entries than its positions, or can't read its last one.

        A hole in the middle, which JetStream's counts may hide, is met by `follow`.
        """
        state = (await self._info()).state
        if state.last_seq and state.messages != state.last_seq:
            raise LogHole(state.messages + 1 if state.first_seq == 1 else 1, state.last_seq)
        if state.last_seq and await self.entry_at(state.last_seq) is None:
            raise LogHole(state.last_seq, state.last_seq)

    async def last_position(self) -> int:
        """Return the position of the last entry; see `Log.last_position`."""
        return (await self._info()).state.last_seq

    async def _info(self) -> api.StreamInfo:
        await self._connection.until_up(self._request_s)
        try:
            return await self._connection.js.stream_info(STREAM)
        except nats.js.errors.APIError as error:
            if error.err_code == STREAM_NOT_FOUND:
                raise LogReplaced(f"stream {STREAM} is gone") from error
            raise LogUnavailable(f"JetStream: {error.description}") from error
        except (nats.errors.Error, nats.js.errors.Error, OSError) as error:
            raise LogUnavailable(f"JetStream: {type(error).__name__}") from error

    async def follow(self, after: int) -> AsyncGenerator[Entry, None]:
        """Yield all entries after a position, for ever; see `Log.follow`."""
        pause_s = _RETRY_S
        while not self._connection.is_closed:
            run = _Following(self._connection, after)
            try:
                await self._check_holds(after)
                async with run:
                    self._is_heard = True
                    while (entry := await run.next_entry()) is not None:
                        if entry.position != after + 1:
                            raise LogHole(after + 1, entry.position - 1)
                        after, pause_s = entry.position, _RETRY_S
                        yield entry
            except (LogUnavailable, nats.errors.Error, nats.js.errors.Error, OSError) as error:
                self._is_heard = False
                _logger.warning("following the log from %d: %s; trying again", after, error)
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, _RETRY_MAX_S)

    async def _check_holds(self, after: int) -> None:
        """Raise LogReplaced if this is another log than before, or one that ends before ``after``."""
        info = await self._info()
        if _incarnation_of(info) != self.incarnation:
            raise LogReplaced(f"stream {STREAM} was made anew since this server started")
        if info.state.last_seq < after:
            raise LogReplaced(f"the log ends at {info.state.last_seq}, before position {after}")


class _Following:
    """One consumer of the log from a position on, until something shows that it can't be trusted further."""

    def __init__(self, connection: NatsConnection, after: int) -> None:
        self._connection = connection
        self._after = after
        self._counted = 0
        self._arrived: asyncio.Queue[Msg | None] = asyncio.Queue()
        self._subscription: Subscription | None = None
        self._forget = connection.when_reconnected(lambda: self._arrived.put_nowait(None))

    async def __aenter__(self) -> Self:
        inbox = self._connection.client.new_inbox()
        self._subscription = await self._connection.client.subscribe(
            inbox, cb=self._arrived.put, pending_msgs_limit=-1, pending_bytes_limit=-1
        )
        await self._connection.js.add_consumer(
            STREAM,
            api.ConsumerConfig(
                deliver_subject=inbox,
                deliver_policy=api.DeliverPolicy.BY_START_SEQUENCE,
                opt_start_seq=self._after + 1,
                ack_policy=api.AckPolicy.NONE,
                max_deliver=1,
                flow_control=True,
                idle_heartbeat=_HEARTBEAT_S,
                mem_storage=True,
                num_replicas=1,
            ),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        self._forget()
        if self._subscription is not None and not self._connection.is_closed:
            await self._subscription.unsubscribe()  # the server drops a consumer that nobody listens to

    async def next_entry(self) -> Entry | None:
        """Return the next entry, or None when a new consumer is needed."""
        while (message := await self._next()) is not None:
            if message.subject.startswith(SUBJECT_PREFIX):
                return self._counted_entry(message)
            if not await self._is_status_in_order(message):
                return None
        return None

    def _counted_entry(self, message: Msg) -> Entry | None:
        sequence = message.metadata.sequence
        if sequence.consumer != self._counted + 1:
            _logger.warning("a gap after position %d on the way from the log: reading again", self._after)
            return None
        self._counted, self._after = sequence.consumer, sequence.stream
        stream = message.subject[len(SUBJECT_PREFIX) :]
        return Entry(position=sequence.stream, stream=stream, data=message.data)

    async def _next(self) -> Msg | None:
        if not self._arrived.empty():
            return self._arrived.get_nowait()
        try:
            async with asyncio.timeout(_SILENCE_S):
                return await self._arrived.get()
        except TimeoutError:
            return None

    async def _is_status_in_order(self, message: Msg) -> bool:
        """Answer flow control, and return whether a heartbeat's count is ours."""
        headers = message.headers or {}
        if message.reply:
            await self._connection.client.publish(message.reply)
            return True
        stalled = headers.get(api.Header.CONSUMER_STALLED)
        if stalled is not None:
            await self._connection.client.publish(stalled)
        last = headers.get(api.Header.LAST_CONSUMER)
        return last is None or int(last) == self._counted


def _incarnation_of(info: api.StreamInfo) -> Incarnation:
    return Incarnation(name=info.config.name or "", created=str(info.created))


def _append_error(stream: str, error: nats.js.errors.APIError) -> Exception:
    """Return what a refused append means; only a refusal that names its cause has surely left nothing."""
    if error.err_code in _STALE:
        return LostRace(f"{stream}: {error.description}")
    if error.err_code in _FULL:
        return LogFull("the log has reached its max_bytes: its NATS admin has to raise it")
    if error.code == 400:
        return LogRefused(f"{stream}: {error.description}")
    return OutcomeUnknown(f"{stream}: {error.description}")
