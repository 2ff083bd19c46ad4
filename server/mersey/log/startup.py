"""What is checked before a server appends: that log and archive belong together, and how safe the log is."""

from __future__ import annotations

import asyncio
import urllib.request
from collections.abc import Sequence
from typing import Final

import msgspec

from mersey.log.archive_copies import ArchiveCopies
from mersey.log.connection import NatsConnection
from mersey.log.jetstream import JetStreamLog
from mersey.log.ports import LogReplaced
from mersey.log.stream_config import LogMisconfigured

VERSION_MIN: Final = (2, 10, 0)
"""Up to 2.9.20 a cluster could accept two appends that expected the same position (nats-server #4320)."""

_MONITOR_S: Final = 2.0
_ANSWER_BYTES_MAX: Final = 2**20


async def check_belongs(log: JetStreamLog, archive: ArchiveCopies) -> None:
    """Return if the log holds all that the archive has copied of it, and can give out its end.

    Raises:
        LogHole: the log's store is damaged.
        LogReplaced: the log has lost its end, or holds something else there.
        LogUnavailable: it can't be read now.
    """
    await log.check_whole()
    position = archive.position()
    last = await log.last_position()
    if last < position:
        raise LogReplaced(
            f"the log ends at position {last}, but {archive.path} holds it up to {position}: the log has "
            "lost its end, and nothing may be appended until mersey restore has filled it from the archive"
        )
    copy = next(archive.copies(position - 1), None)
    if copy is None:
        return
    entry = await log.entry_at(position)
    if entry is None or (entry.stream, entry.data) != (copy.stream, copy.data):
        raise LogReplaced(
            f"the log does not hold at position {position} what {archive.path} copied from there: it has "
            "lost its end and gone on without it, or is damaged: mersey reconcile says how they differ"
        )


def check_version(connection: NatsConnection) -> None:
    """Raise LogMisconfigured if the NATS server is too old to keep appends apart."""
    found = connection.client.connected_server_version
    if (found.major, found.minor, found.patch) < VERSION_MIN:
        raise LogMisconfigured(
            f"nats-server {found.major}.{found.minor}.{found.patch} can take two commits for one position: "
            f"use {'.'.join(map(str, VERSION_MIN))} or newer"
        )


class _JetStreamConfig(msgspec.Struct):
    sync_always: bool = False


class _JetStream(msgspec.Struct):
    config: _JetStreamConfig | None = None


class _Varz(msgspec.Struct):
    server_id: str
    server_name: str = ""
    jetstream: _JetStream = msgspec.field(default_factory=_JetStream)


async def unverified_because(monitors: Sequence[str], connection: NatsConnection) -> str:
    """Return why it is not known that the log is on disk when it acknowledges; empty where it is known.

    Args:
        monitors: the monitoring URLs of the NATS servers, such as ``http://127.0.0.1:8222``.
        connection: the connection to one of them.
    """
    if not monitors:
        return "JetStream does not tell its sync_interval: name its monitoring with --nats-monitor URL"
    asked = [asyncio.to_thread(_varz, url) for url in monitors]
    found: list[_Varz] = []
    for url, told in zip(monitors, await asyncio.gather(*asked, return_exceptions=True), strict=True):
        if isinstance(told, BaseException):
            return f"{url} does not answer as a NATS monitor ({told})"
        if told.jetstream.config is None or not told.jetstream.config.sync_always:
            return f"sync_interval of {told.server_name or url} is not always: set it in its jetstream block"
        found.append(told)
    if connection.server_id not in {told.server_id for told in found}:
        return "the NATS server that we use is none of those behind --nats-monitor: name them all"
    return ""


def _varz(url: str) -> _Varz:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(f"{url.rstrip('/')}/varz", timeout=_MONITOR_S) as answer:
        return msgspec.json.decode(answer.read(_ANSWER_BYTES_MAX), type=_Varz)
