"""NATS servers of one's own for the tests: started from the very files in ``deploy/``, one or a cluster."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Final

from mersey.log.connection import NatsConnection
from mersey.log.embedded import find_binary
from mersey.log.setup import set_up

DEPLOY: Final = Path(__file__).parent.parent / "deploy"
ADMIN_PASSWORD: Final = "admin-secret"
APP_PASSWORD: Final = "app-secret"
CLUSTER_PASSWORD: Final = "cluster-secret"


def free_ports(count: int) -> list[int]:
    """Return ports that nobody uses now, all different."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()


class OutsideNats:
    """One nats-server; ``routes`` are the cluster ports of all, its own the first, or empty."""

    def __init__(self, folder: Path, name: str = "n1", port: int = 0, routes: Sequence[int] = ()) -> None:
        self.name: Final = name
        self.port: Final = port or free_ports(1)[0]
        self._folder = folder
        self._routes = tuple(routes)
        self._child: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        """Where it listens, without a password."""
        return f"nats://127.0.0.1:{self.port}"

    @property
    def app_url(self) -> str:
        """Where it listens, with the password of Mersey's own user."""
        return f"nats://app:{APP_PASSWORD}@127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Start it, and return once it takes connections."""
        self._folder.mkdir(exist_ok=True)
        configuration = DEPLOY / ("nats-cluster.conf" if self._routes else "nats.conf")
        with (self._folder / "nats.log").open("ab") as output:
            self._child = await asyncio.create_subprocess_exec(
                str(find_binary()),
                "-c",
                str(configuration),
                stdout=output,
                stderr=output,
                env=self._environment(),
            )
        while True:
            assert self._child.returncode is None, (self._folder / "nats.log").read_text()[-2000:]
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.close()
                return
            await asyncio.sleep(0.01)

    def _environment(self) -> dict[str, str]:
        named = {
            "NATS_NAME": self.name,
            "NATS_LISTEN": f"127.0.0.1:{self.port}",
            "NATS_STORE": str(self._folder / "store"),
            "MERSEY_NATS_ADMIN_PASSWORD": ADMIN_PASSWORD,
            "MERSEY_NATS_APP_PASSWORD": APP_PASSWORD,
            "NATS_SYSTEM_PASSWORD": "system-secret",
        }
        if self._routes:
            named |= {
                "NATS_CLUSTER_LISTEN": f"127.0.0.1:{self._routes[0]}",
                "NATS_CLUSTER_PASSWORD": CLUSTER_PASSWORD,
            }
            named |= {
                f"NATS_ROUTE_{number}": f"nats://cluster:{CLUSTER_PASSWORD}@127.0.0.1:{port}"
                for number, port in enumerate(self._routes, 1)
            }
        return os.environ | named

    def freeze(self) -> None:
        """Stop it in mid-air: connections stand, nothing is answered."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self._signal(signal.SIGCONT)

    async def kill(self) -> None:
        """Kill it with -9."""
        self._signal(signal.SIGKILL)
        await self._ended()

    async def stop(self) -> None:
        """Stop it, if it runs."""
        if self._child is not None and self._child.returncode is None:
            self._signal(signal.SIGCONT)
            self._signal(signal.SIGKILL)
        await self._ended()

    def _signal(self, number: signal.Signals) -> None:
        assert self._child is not None, "it has been started"
        self._child.send_signal(number)

    async def _ended(self) -> None:
        if self._child is not None:
            await self._child.wait()

    async def admin(self) -> NatsConnection:
        """Return a connection of the admin's."""
        return await NatsConnection.open(self.url, user="admin", password=ADMIN_PASSWORD)


@contextlib.asynccontextmanager
async def one_nats(folder: Path, *, max_bytes: int = 2**26) -> AsyncIterator[OutsideNats]:
    """Give a NATS server that the admin has set up."""
    server = OutsideNats(folder)
    try:
        await server.start()
        admin = await server.admin()
        await set_up(admin, replicas=1, max_bytes=max_bytes)
        await admin.close()
        yield server
    finally:
        await server.stop()


@contextlib.asynccontextmanager
async def three_nats(folder: Path) -> AsyncIterator[list[OutsideNats]]:
    """Give a cluster of three NATS servers that the admin has set up, each commit on all three."""
    ports, routes = free_ports(3), free_ports(3)
    servers = [
        OutsideNats(
            folder / f"n{place + 1}", f"n{place + 1}", ports[place], (*routes[place:], *routes[:place])
        )
        for place in range(3)
    ]
    try:
        await asyncio.gather(*(server.start() for server in servers))
        admin = await servers[0].admin()
        await set_up(admin, replicas=3, max_bytes=2**26)
        await admin.close()
        yield servers
    finally:
        await asyncio.gather(*(server.stop() for server in servers))
