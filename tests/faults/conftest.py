"""What the tests of faults share: budgets from the environment, a NATS server that no node owns."""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mersey.log.connection import NatsConnection
from mersey.log.directory import create_bucket
from mersey.log.embedded import EmbeddedNats
from mersey.log.stream_config import create_stream

SOAK_S = float(os.environ.get("MERSEY_SOAK_S", "10"))
"""How long the soak lasts; 600 is a whole one."""

WHOLE_SOAK_S = 600.0


@pytest.fixture
def seed() -> str:
    """A seed, drawn anew unless MERSEY_SEED names one; printed, so that a failure can be run again."""
    seed = os.environ.get("MERSEY_SEED") or secrets.token_hex(4)
    print(f"MERSEY_SEED={seed}")
    return seed


@pytest.fixture
async def outside_nats(tmp_path: Path) -> AsyncIterator[EmbeddedNats]:
    """A NATS server that no node owns, with the log and the bucket of names."""
    server = EmbeddedNats(tmp_path / "nats")
    await server.start()
    admin = await NatsConnection.open(server.url, user="admin", password=server.credentials.admin)
    await create_stream(admin, max_bytes=2**26)
    await create_bucket(admin)
    await admin.close()
    yield server
    await server.stop()
