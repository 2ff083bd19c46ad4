"""Opening an embedded log: streams made by the admin, used by the server's own user."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from mersey.log.connection import NatsConnection
from mersey.log.directory import create_bucket
from mersey.log.embedded import EmbeddedNats
from mersey.log.stream_config import create_stream

LOG_BYTES_MIN: Final = 2**26
LOG_BYTES_MAX: Final = 2**33


def log_bytes_for(folder: Path) -> int:
    """Return a size for a new log in ``folder``: half of what the disk has free, 64 MiB to 8 GiB."""
    return max(LOG_BYTES_MIN, min(LOG_BYTES_MAX, shutil.disk_usage(folder).free // 2))


async def open_embedded(server: EmbeddedNats, *, max_bytes: int) -> NatsConnection:
    """Return a connection of the server's own user to the log and directory of ``server``, made if missing.

    ``max_bytes`` holds for a new log; one that is there keeps its own.

    Raises:
        LogUnavailable: the server does not answer.
        LogMisconfigured: it refuses to make them.
    """
    admin = await NatsConnection.open(server.url, user="admin", password=server.credentials.admin)
    try:
        await create_stream(admin, max_bytes=max_bytes)
        await create_bucket(admin)
    finally:
        await admin.close()
    return await NatsConnection.open(server.url, user="app", password=server.credentials.app)
