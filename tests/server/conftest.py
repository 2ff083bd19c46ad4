"""One real server for all tests of this folder that do not stop or break it, and one event loop for all."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import grpc.aio
import pytest
import pytest_asyncio

from mersey.log.connection import NatsConnection
from mersey.log.directory import create_bucket
from mersey.log.embedded import EmbeddedNats
from mersey.log.stream_config import create_stream
from mersey.server.config import Config
from mersey.server.node import Node
from server.people import Person

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the asynchronous tests of this folder in one event loop, that of the shared server."""
    for item in items:
        if item.path.is_relative_to(HERE) and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def node(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Node]:
    """A server with embedded NATS."""
    async with Node(Config(data=tmp_path_factory.mktemp("node") / "data", heartbeat_s=0.2)) as node:
        yield node


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def channel(node: Node) -> AsyncIterator[grpc.aio.Channel]:
    """A connection to the shared server."""
    async with grpc.aio.insecure_channel(node.address) as channel:
        yield channel


@pytest.fixture
def host(node: Node, channel: grpc.aio.Channel) -> Person:
    """A host whom no other test knows."""
    return Person(channel, node.issue_token("Host", "host"))


@pytest_asyncio.fixture(loop_scope="session")
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


def url_of(server: EmbeddedNats) -> str:
    """Return the URL of a NATS server with the password of the server's own user."""
    return server.url.replace("://", f"://app:{server.credentials.app}@")
