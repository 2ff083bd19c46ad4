"""The first connection to NATS: silent while it is tried, and one line that helps where it fails."""

from __future__ import annotations

import asyncio
import logging

import pytest

from mersey.log.connection import NatsConnection
from mersey.log.embedded import EmbeddedNats
from mersey.log.ports import LogUnavailable


async def test_attempts_are_not_told_one_by_one_and_the_error_says_what_to_check(
    caplog: pytest.LogCaptureFixture, unused_tcp_port: int
) -> None:
    with caplog.at_level(logging.INFO, logger="mersey"), pytest.raises(LogUnavailable) as caught:
        await NatsConnection.open(f"nats://127.0.0.1:{unused_tcp_port}", within_s=0.5)

    said = str(caught.value)
    assert caplog.messages == []
    assert said.startswith(f"NATS at nats://127.0.0.1:{unused_tcp_port}: no connection within 0.5 s (")
    assert said.endswith(
        "check that a NATS server runs there, and the address given as --nats or MERSEY_NATS"
    )
    assert "\n" not in said


async def test_a_refused_login_names_user_and_password_and_not_the_address(
    caplog: pytest.LogCaptureFixture, nats_server: EmbeddedNats
) -> None:
    with (
        caplog.at_level(logging.INFO, logger="mersey.log.connection"),
        pytest.raises(LogUnavailable) as caught,
    ):
        await NatsConnection.open(nats_server.url, user="app", password="wrong", within_s=60)

    assert caplog.messages == []
    assert "check the user and the password" in str(caught.value)
    assert "--nats" not in str(caught.value)


async def test_a_connection_that_is_lost_later_is_told(
    caplog: pytest.LogCaptureFixture, nats_server: EmbeddedNats
) -> None:
    connection = await NatsConnection.open(nats_server.url, user="app", password=nats_server.credentials.app)
    with caplog.at_level(logging.WARNING, logger="mersey.log.connection"):
        await nats_server.stop()
        async with asyncio.timeout(10):
            while not caplog.messages:
                await asyncio.sleep(0.01)
    await connection.close()
