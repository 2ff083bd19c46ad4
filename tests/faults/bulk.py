"""A data folder filled in bulk: log and archive as a server leaves them, but not synced for each commit."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

from mersey.log.archive import Archive
from mersey.log.connection import NatsConnection
from mersey.log.directory import create_bucket
from mersey.log.embedded import find_binary
from mersey.log.jetstream import JetStreamLog
from mersey.log.ports import Entry, Incarnation
from mersey.log.stream_config import SUBJECT_PREFIX, create_stream
from mersey.server.projection import project

CHUNK = 10_000
LOG_BYTES = 2**34


@contextlib.asynccontextmanager
async def unsynced_nats(folder: Path) -> AsyncIterator[NatsConnection]:
    """Start a nats-server on the store of an embedded one to be: without users, without a sync for each."""
    folder.mkdir(parents=True)
    store = {"store_dir": str(folder / "store"), "max_file_store": 2**43}
    configuration = folder / "bulk.conf"
    configuration.write_text(
        json.dumps({"listen": "127.0.0.1:-1", "ports_file_dir": str(folder), "jetstream": store})
    )
    child = await asyncio.create_subprocess_exec(
        str(find_binary()), "-c", str(configuration), stderr=asyncio.subprocess.DEVNULL
    )
    try:
        ports = folder / f"nats-server_{child.pid}.ports"
        while not (ports.exists() and (told := ports.read_text())):
            assert child.returncode is None, "the nats-server runs"
            await asyncio.sleep(0.01)
        connection = await NatsConnection.open(json.loads(told)["nats"][0])
        yield connection
        await connection.close()
    finally:
        child.terminate()
        await child.wait()
        configuration.unlink()


async def fill(data: Path, entries: Iterable[Entry]) -> tuple[int, Incarnation]:
    """Write ``entries`` to log and archive of a new data folder; return their number and the log's name."""
    async with unsynced_nats(data / "nats") as connection:
        await create_stream(connection, max_bytes=LOG_BYTES)
        await create_bucket(connection)
        log = await JetStreamLog.open(connection)
        archive = Archive.open(data / "archive.db", log.incarnation, project)
        count = 0
        for chunk in _chunks(entries):
            archiving = asyncio.create_task(archive.write(chunk))
            for entry in chunk:
                await connection.client.publish(SUBJECT_PREFIX + entry.stream, entry.data)
            await connection.client.flush(60)
            count += len(chunk)
            while await log.last_position() < count:
                await asyncio.sleep(0.01)
            await archiving
        await archive.close()
    return count, log.incarnation


def _chunks(entries: Iterable[Entry]) -> Iterable[tuple[Entry, ...]]:
    entries = iter(entries)
    while chunk := tuple(itertools.islice(entries, CHUNK)):
        yield chunk
