"""A TCP proxy on loopback that cuts its connections after so many bytes of the server's, one number each."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Self


class Cutter:
    """Passes bytes on; the n-th connection is cut after so many bytes of the server's, later ones never."""

    def __init__(self, port: int, after: Iterable[int]) -> None:
        self._server_port = port
        self._left = list(after)
        self._tasks: set[asyncio.Task[None]] = set()
        self.cuts = 0

    async def __aenter__(self) -> Self:
        self._listener = await asyncio.start_server(self._client, "127.0.0.1", 0)
        self.address = f"127.0.0.1:{self._listener.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._listener.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._listener.wait_closed()

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        limit = self._left.pop(0) if self._left else None
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._server_port)
        up = asyncio.create_task(_pass_on(reader, server_writer, None))
        down = asyncio.create_task(_pass_on(server_reader, writer, limit))
        try:
            await asyncio.wait({up, down}, return_when=asyncio.FIRST_COMPLETED)
            self.cuts += limit is not None and down.done()
        except asyncio.CancelledError:
            pass  # asyncio's streams would log a handler that ends so
        finally:
            for half in (up, down):
                half.cancel()
            await asyncio.gather(up, down, return_exceptions=True)
            for side in (writer, server_writer):
                side.close()
            await asyncio.gather(writer.wait_closed(), server_writer.wait_closed(), return_exceptions=True)
            self._tasks.discard(task)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limit: int | None) -> None:
    passed = 0
    while data := await reader.read(65536):
        passed += len(data)
        if limit is not None and passed > limit:
            writer.write(data[: len(data) // 2])
            await writer.drain()
            return
        writer.write(data)
        await writer.drain()
