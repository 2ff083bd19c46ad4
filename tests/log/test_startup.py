"""What a start checks of an outside NATS server: its age, and whether its durability is known."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from mersey.log import startup
from mersey.log.connection import NatsConnection
from mersey.log.embedded import find_binary
from mersey.log.startup import check_version, unverified_because
from mersey.log.stream_config import LogMisconfigured

Monitored = tuple[NatsConnection, str]


@pytest.fixture
async def monitored(tmp_path: Path) -> AsyncIterator[Callable[[object], asyncio.Future[Monitored]]]:
    """Start NATS servers with monitoring, given their JetStream settings."""
    started: list[tuple[subprocess.Popen[bytes], NatsConnection]] = []

    async def start(**jetstream: object) -> Monitored:
        folder = tmp_path / str(len(started))
        folder.mkdir()
        settings = {
            "listen": "127.0.0.1:-1",
            "http": "127.0.0.1:-1",
            "ports_file_dir": str(folder),
            "jetstream": {"store_dir": str(folder), **jetstream},
        }
        (folder / "nats.conf").write_text(json.dumps(settings))
        child = subprocess.Popen(
            [find_binary(), "-c", folder / "nats.conf"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        ports = folder / f"nats-server_{child.pid}.ports"
        while not (ports.exists() and ports.read_text().strip()):
            await asyncio.sleep(0.01)
        told = json.loads(ports.read_text())
        connection = await NatsConnection.open(told["nats"][0])
        started.append((child, connection))
        return connection, told["monitoring"][0]

    yield start
    for child, connection in started:
        await connection.close()
        child.terminate()
        child.wait()


async def test_durability_is_known_where_the_monitor_says_that_each_write_is_synced(monitored) -> None:
    connection, url = await monitored(sync_interval="always")

    assert await unverified_because([url], connection) == ""
    assert "--nats-monitor" in await unverified_because([], connection)


async def test_durability_is_unverified_where_writes_wait_for_their_sync(monitored) -> None:
    connection, url = await monitored(sync_interval="1m")
    _, other = await monitored(sync_interval="always")

    assert "not always" in await unverified_because([url], connection)
    assert "not always" in await unverified_because([other, url], connection)


async def test_the_monitor_of_another_server_proves_nothing(monitored) -> None:
    connection, _ = await monitored(sync_interval="always")
    _, other = await monitored(sync_interval="always")

    assert "none of those behind" in await unverified_because([other], connection)


async def test_a_monitor_that_does_not_answer_proves_nothing(monitored) -> None:
    connection, _ = await monitored(sync_interval="always")

    assert "does not answer as a NATS monitor" in await unverified_because(["http://127.0.0.1:1"], connection)


async def test_a_nats_server_that_mixes_up_appends_is_refused(
    monitored, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection, _ = await monitored()
    check_version(connection)

    found = connection.client.connected_server_version
    monkeypatch.setattr(startup, "VERSION_MIN", (found.major, found.minor + 1, 0))
    with pytest.raises(LogMisconfigured, match=r"can take two commits for one position: use 2\.\d+\.0"):
        check_version(connection)
