"""Real NATS servers for the tests of the log."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mersey.log.connection import NatsConnection
from mersey.log.embedded import EmbeddedNats
from mersey.log.jetstream import JetStreamLog
from mersey.log.stream_config import create_stream

LOG_BYTES = 2**20


@pytest.fixture
async def nats_server(tmp_path: Path) -> AsyncIterator[EmbeddedNats]:
    """A NATS server without a log."""
    server = EmbeddedNats(tmp_path / "nats")
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


@pytest.fixture
async def admin(nats_server: EmbeddedNats) -> AsyncIterator[NatsConnection]:
    """A connection that may make streams."""
    connection = await NatsConnection.open(
        nats_server.url, user="admin", password=nats_server.credentials.admin
    )
    yield connection
    await connection.close()


@pytest.fixture
async def connection(nats_server: EmbeddedNats, admin: NatsConnection) -> AsyncIterator[NatsConnection]:
    """A connection of the server's own user to a NATS server that holds the log, of a megabyte."""
    await create_stream(admin, max_bytes=LOG_BYTES)
    opened = await NatsConnection.open(nats_server.url, user="app", password=nats_server.credentials.app)
    yield opened
    await opened.close()


@pytest.fixture
async def jetstream_log(connection: NatsConnection) -> JetStreamLog:
    """An empty log on JetStream."""
    return await JetStreamLog.open(connection)
