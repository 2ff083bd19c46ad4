"""A watch of a finished table ends by itself, at once: it waits for no heartbeat."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from mersey.client.channel import MerseyClient
from mersey.server.config import Config
from mersey.server.node import Node


@pytest.mark.parametrize("watching", ["live", "late"])
async def test_a_watch_ends_with_the_last_event(tmp_path: Path, watching: str) -> None:
    async with (
        Node(Config(data=tmp_path / "data", heartbeat_s=3600)) as node,
        MerseyClient(node.address, node.host_token) as host,
    ):
        table = (await host.create_table("contract", seed="end")).table
        if watching == "late":
            await host.close_table(table)
        updates = host.watch(table)
        kinds = [type((await anext(updates)).event).__name__]
        if watching == "live":
            await host.close_table(table)
        async with asyncio.timeout(60):
            kinds += [type(update.event).__name__ async for update in updates]
        assert kinds == ["TableOpenedSeen", "LinkOpened", "TableClosed"]
