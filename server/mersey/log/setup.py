"""The admin's one-time set-up of an outside NATS server or cluster, and raising the log's limit later."""

from __future__ import annotations

import asyncio
from typing import Final

import nats.errors
import nats.js.errors

from mersey.log.connection import NatsConnection
from mersey.log.directory import create_bucket
from mersey.log.ports import LogUnavailable
from mersey.log.stream_config import NOT_NOW, STREAM, LogMisconfigured, check, create_stream

READY_S: Final = 20.0
"""How long JetStream is waited for: the servers of a new cluster have to choose their leaders first."""

MAX_BYTES_DEFAULT: Final = 2**30
"""The limit of a new log unless another is asked for: about a million commits."""

_PAUSE_S: Final = 0.1


async def set_up(connection: NatsConnection, *, replicas: int, max_bytes: int | None = None) -> int:
    """Make the log's stream and the bucket of names where they are missing; return the log's ``max_bytes``.

    Done again it changes nothing, except that a log that is there gets the ``max_bytes`` given.

    Args:
        connection: of the admin; the server's own user may not do this.
        replicas: how many servers hold each commit: 1 alone, 3 in a cluster.
        max_bytes: the log's limit; None: that of the log that is there, or the default for a new one.

    Raises:
        LogMisconfigured: NATS refuses, or the stream that is there can't be the log; each fault is named.
        LogUnavailable: JetStream does not answer in time.
    """
    loop = asyncio.get_running_loop()
    ends_s = loop.time() + READY_S
    while True:
        try:
            await _answers(connection)
            await create_stream(connection, max_bytes=max_bytes or MAX_BYTES_DEFAULT, replicas=replicas)
            await create_bucket(connection, replicas=replicas)
            return await _limit(connection, replicas, max_bytes)
        except LogUnavailable as error:
            if loop.time() > ends_s:
                raise LogUnavailable(
                    f"{error}: is JetStream on in this NATS server, has its cluster a leader, "
                    "and is this user its admin?"
                ) from error
        await asyncio.sleep(_PAUSE_S)


async def _answers(connection: NatsConnection) -> None:
    """Raise LogUnavailable unless JetStream answers."""
    try:
        await connection.js.account_info()
    except (nats.errors.Error, nats.js.errors.Error) as error:
        raise LogUnavailable("JetStream does not answer") from error


async def _limit(connection: NatsConnection, replicas: int, max_bytes: int | None) -> int:
    """Return the log's limit, changed to ``max_bytes`` if that is given."""
    try:
        found = (await connection.js.stream_info(STREAM)).config
        check(found, replicas)
        if max_bytes is not None and found.max_bytes != max_bytes:
            found = (await connection.js.update_stream(found.evolve(max_bytes=max_bytes))).config
    except nats.js.errors.APIError as error:
        if (error.code or 0) >= NOT_NOW:
            raise LogUnavailable(f"JetStream: {error.description}") from error
        raise LogMisconfigured(f"NATS refuses to alter the stream {STREAM}: {error.description}") from error
    except nats.errors.Error as error:
        raise LogUnavailable("JetStream does not answer") from error
    return found.max_bytes or 0
