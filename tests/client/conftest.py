"""One real server for the tests of this folder, and one event loop for those that use it."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from mersey.client.channel import MerseyClient
from mersey.server.config import Config
from mersey.server.node import Node

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests of this folder in one event loop, that of the shared server."""
    for item in items:
        if item.path.is_relative_to(HERE) and inspect.iscoroutinefunction(getattr(item, "function", None)):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def node(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Node]:
    """A server with embedded NATS, and heartbeats that a test can wait for."""
    async with Node(Config(data=tmp_path_factory.mktemp("client") / "data", heartbeat_s=0.2)) as node:
        yield node


@pytest_asyncio.fixture(loop_scope="session")
async def host(node: Node) -> AsyncIterator[MerseyClient]:
    """A host whom no other test knows."""
    async with MerseyClient(node.address, node.issue_token("Host", "host")) as client:
        yield client


@pytest_asyncio.fixture(loop_scope="session")
async def player(node: Node) -> AsyncIterator[MerseyClient]:
    """A player whom no other test knows."""
    async with MerseyClient(node.address, node.issue_token("Player", "player")) as client:
        yield client
