"""Health, by the standard service: each service by its name, and one name for taking commands.

``SERVING`` for "", TableService and ReplayService means that calls are answered: a node that can't reach the
log goes on to show tables and games. Whether it takes commands now is the health of ``mersey.commands``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

import grpc.aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

COMMANDS: Final = "mersey.commands"
"""Its health says whether the node can append to the log and copy it: for who routes players by it."""

_LOOK_S: Final = 0.2
_SERVING: Final = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING: Final = health_pb2.HealthCheckResponse.NOT_SERVING


class Health:
    """The health service of ``server``; ``takes_commands`` is asked all the time."""

    def __init__(self, server: grpc.aio.Server, takes_commands: Callable[[], bool]) -> None:
        self._servicer = health.aio.HealthServicer()  # type: ignore[attr-defined]  # the stubs lack it
        self._takes_commands = takes_commands
        self._watcher: asyncio.Task[None] | None = None
        health_pb2_grpc.add_HealthServicer_to_server(self._servicer, server)

    async def start(self, services: tuple[str, ...]) -> None:
        """Say of each of ``services`` that it serves, and begin to watch over commands."""
        for service in services:
            await self._servicer.set(service, _SERVING)
        self._watcher = asyncio.create_task(self._watch())

    async def stop(self) -> None:
        """Say that nothing is served any more."""
        if self._watcher is not None:
            self._watcher.cancel()
            await asyncio.wait([self._watcher])
        await self._servicer.enter_graceful_shutdown()

    async def _watch(self) -> None:
        told: bool | None = None
        while True:
            takes = self._takes_commands()
            if takes != told:
                await self._servicer.set(COMMANDS, _SERVING if takes else _NOT_SERVING)
                told = takes
            await asyncio.sleep(_LOOK_S)
