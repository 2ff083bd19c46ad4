"""Watching one table: a stream of what the caller may see, from a version on (design section 7)."""

from __future__ import annotations

import asyncio
from typing import Final

from mersey.client.wire import table_id
from mersey.server.auth import Caller
from mersey.server.commands import Commands
from mersey.server.edge import Method, Sink, server_stream
from mersey.server.faults import ServiceCode, ServiceFault
from mersey.server.raw import repeated
from mersey.server.reach import Reach
from mersey.server.services import fields
from mersey.server.services.cursor import Cursor, News
from mersey.server.stopping import Stopping, wait_within
from mersey.server.tables import Tables
from mersey.v1 import table_pb2

HEARTBEAT_S: Final = 10.0


class Watching:
    """The ``Watch`` method."""

    def __init__(
        self,
        commands: Commands,
        tables: Tables,
        stopping: Stopping,
        reach: Reach,
        heartbeat_s: float = HEARTBEAT_S,
    ) -> None:
        self._commands = commands
        self._tables = tables
        self._stopping = stopping
        self._reach = reach
        self._heartbeat_s = heartbeat_s

    def methods(self) -> dict[str, Method]:
        """Return the method by its name."""
        return {"Watch": server_stream(table_pb2.WatchRequest, self.watch)}

    async def watch(self, caller: Caller, request: table_pb2.WatchRequest, sink: Sink) -> None:
        """Send all updates after a version, then each as it comes; a heartbeat where none does.

        Raises:
            ServiceFault: stopping or too slow, with the version to resume from.
        """
        table = await self._commands.table(table_id(request.name))
        after = fields.version(request.after_version, "after_version")
        cursor = Cursor(table, caller.sub, after, with_turns=request.with_turns)
        changed = asyncio.Event()
        unpin = self._tables.pin(table)
        table.listeners.add(changed.set)
        sent = after
        try:
            with self._stopping.telling(changed.set), self._reach.telling(changed.set):
                while True:
                    changed.clear()
                    news = cursor.take()
                    await sink.send(_message(news, self._reach.is_away))
                    sent = cursor.version
                    if cursor.is_at_end:
                        return
                    if sent == news.head_version:
                        await wait_within(changed, self._heartbeat_s)
                    if self._stopping.is_set:
                        raise ServiceFault(ServiceCode.STOPPING)
        except ServiceFault as fault:
            raise with_resume(fault, sent) from None
        finally:
            table.listeners.discard(changed.set)
            unpin()


def _message(news: News, log_away: bool) -> bytes:
    rest = table_pb2.WatchResponse(head_version=news.head_version, turn=news.turn, log_away=log_away)
    return repeated(table_pb2.WatchResponse.UPDATES_FIELD_NUMBER, news.bodies) + rest.SerializeToString()


def with_resume(fault: ServiceFault, version: int) -> ServiceFault:
    """Return ``fault`` with the version after which to resume."""
    return ServiceFault(fault.code, fault.fact, **(dict(fault.facts) | {"after_version": str(version)}))
