"""A real gRPC server whose ``Play`` and ``Watch`` say what a test has written down."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import grpc
import grpc.aio

from mersey.rules.ruleset import ruleset_bytes
from mersey.rules.ruleset_file import load_ruleset
from mersey.v1 import table_pb2, table_pb2_grpc

Script = Callable[[list[table_pb2.PlayCommand]], Sequence[table_pb2.PlayResponse | None]]
"""What a stream answers to the commands received so far on it; None ends the stream as unavailable."""


class Scripted(table_pb2_grpc.TableServiceServicer):
    """Plays the n-th stream by the n-th script, the last one for all later streams."""

    def __init__(self, scripts: Sequence[Script]) -> None:
        self._scripts = list(scripts)
        self.commands: list[list[table_pb2.PlayCommand]] = []
        """What each stream received."""

    async def GetTable(self, request: Any, context: Any) -> table_pb2.Table:
        """Return a table that is running."""
        return table_pb2.Table(
            name=request.name,
            state=table_pb2.TABLE_STATE_RUNNING,
            rules="contract",
            rules_json=ruleset_bytes(load_ruleset("contract")).decode(),
        )

    async def Play(self, requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
        """Answer every request by the script."""
        script = self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0]
        received: list[table_pb2.PlayCommand] = []
        self.commands.append(received)
        async for request in requests:
            received += request.commands
            for answer in script(received):
                if answer is None:
                    await context.abort(grpc.StatusCode.UNAVAILABLE, "gone")
                yield answer


@contextlib.asynccontextmanager
async def scripted(*scripts: Script) -> AsyncIterator[tuple[Scripted, str]]:
    """Give a server that plays these scripts, and its address."""
    server = grpc.aio.server()
    service = Scripted(scripts)
    table_pb2_grpc.add_TableServiceServicer_to_server(service, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield service, f"127.0.0.1:{port}"
    finally:
        await server.stop(None)
        await asyncio.sleep(0)


def update(version: int, event: str) -> table_pb2.Update:
    """Return an update with this event in JSON."""
    return table_pb2.Update(version=version, json=f'{{"version":{version},"at_ms":0,"event":{event}}}')


def news(*updates: table_pb2.Update, head: int = 0) -> table_pb2.PlayResponse:
    """Return a response with updates of table t."""
    last = updates[-1].version if updates else 0
    return table_pb2.PlayResponse(
        tables=[table_pb2.TableUpdates(name="tables/t", updates=updates, head_version=head or last)]
    )


def answer(command_id: str, version: int) -> table_pb2.PlayResponse:
    """Return a response that says done."""
    done = table_pb2.ActResponse(version=version)
    return table_pb2.PlayResponse(answers=[table_pb2.Answer(command_id=command_id, done=done)])
