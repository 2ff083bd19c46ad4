"""A TCP proxy on loopback that can lose what a server says, or all that passes."""

from __future__ import annotations

import asyncio
from typing import Self


class Proxy:
    """Passes bytes on between one server and its clients, until it is told to lose a reply."""

    def __init__(self, port: int) -> None:
        self._server_port = port
        self._lose = b""
        self._open = asyncio.Event()
        self._open.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.lost = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._listener = await asyncio.start_server(self._client, "127.0.0.1", 0)
        self.port: int = self._listener.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._listener.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._listener.wait_closed()

    def lose_reply(self, holding: bytes) -> None:
        """Lose the next reply that holds these bytes, and cut that connection."""
        self._lose = holding

    def cut(self) -> None:
        """Pass nothing on any more, in either direction; connections seem to stand."""
        self._open.clear()

    def mend(self) -> None:
        """Pass on again, what waited first."""
        self._open.set()

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._server_port)
        except BaseException:
            await _closed(writer)
            raise
        up = asyncio.create_task(self._pass_on(reader, server_writer, is_reply=False))
        down = asyncio.create_task(self._pass_on(server_reader, writer, is_reply=True))
        try:
            await asyncio.wait({up, down}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            pass  # asyncio's streams would log a handler that ends so
        finally:
            for half in (up, down):
                half.cancel()
            await asyncio.gather(up, down, return_exceptions=True)
            await _closed(writer, server_writer)
            self._tasks.discard(task)

    async def _pass_on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_reply: bool
    ) -> None:
        while data := await reader.read(65536):
            if is_reply and self._lose and self._lose in data:
                self._lose = b""
                self.lost.set()
                return
            await self._open.wait()
            writer.write(data)
            await writer.drain()


async def _closed(*writers: asyncio.StreamWriter) -> None:
    for writer in writers:
        writer.close()
    await asyncio.gather(*(writer.wait_closed() for writer in writers), return_exceptions=True)
