"""Playing over one stream: commands of many tables up, answers and updates down (design sections 7 and 10).

Commands of one table are carried out in the order in which they came, those of different tables side by side.
One writer sends all that waits in one message, so that a busy stream carries few, large ones.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from mersey.client.wire import failure_to_proto, table_id
from mersey.server.auth import Caller
from mersey.server.commands import Commands
from mersey.server.edge import Method, Sink, two_way_stream
from mersey.server.faults import FieldFault, ServiceCode, ServiceFault
from mersey.server.raw import delimited, repeated
from mersey.server.reach import Reach
from mersey.server.services import fields
from mersey.server.services.cursor import Cursor, News
from mersey.server.services.watch import with_resume
from mersey.server.status import failure_of
from mersey.server.stopping import Stopping, wait_within
from mersey.server.tables import Tables
from mersey.v1 import table_pb2

WAITING_MAX: Final = 256
"""How many commands of a stream may wait; beyond that nothing more is read from it."""

TABLES_MAX: Final = 1000
"""How many tables a stream may watch."""

Act = Callable[[Caller, table_pb2.ActRequest], Awaitable[bytes]]


class Playing:
    """The ``Play`` method; ``act`` plays one action and returns a serialised ``ActResponse``."""

    def __init__(
        self,
        commands: Commands,
        tables: Tables,
        act: Act,
        stopping: Stopping,
        reach: Reach,
        heartbeat_s: float,
    ) -> None:
        self._commands = commands
        self._tables = tables
        self._act = act
        self._stopping = stopping
        self._reach = reach
        self._heartbeat_s = heartbeat_s

    def methods(self) -> dict[str, Method]:
        """Return the method by its name."""
        return {"Play": two_way_stream(table_pb2.PlayRequest, self.play)}

    async def play(self, caller: Caller, requests: AsyncIterator[table_pb2.PlayRequest], sink: Sink) -> None:
        """Carry out what comes, and send what has come of it, until the client has no more to say.

        Raises:
            ServiceFault: stopping, or too slow; the tables are watched again from the versions received.
        """
        stream = _Stream(caller, self._commands, self._tables, self._act, self._reach)
        reader = asyncio.create_task(stream.read(requests))
        reader.add_done_callback(lambda _: stream.wake.set())
        try:
            with self._stopping.telling(stream.wake.set), self._reach.telling(stream.beat):
                while not (reader.done() and stream.is_idle):
                    stream.wake.clear()
                    heartbeat = False
                    if not stream.has_news:
                        await wait_within(stream.wake, self._heartbeat_s)
                        heartbeat = not stream.wake.is_set()
                    if message := stream.message(heartbeat=heartbeat):
                        await sink.send(message)
                    if self._stopping.is_set:
                        raise ServiceFault(ServiceCode.STOPPING)
            await reader
        finally:
            reader.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await reader
            stream.close()


class _Watched:
    """A table that the stream watches."""

    def __init__(self, cursor: Cursor, release: Callable[[], None]) -> None:
        self.cursor = cursor
        self.release = release


class _Stream:
    """What one stream has going: commands on their way, answers that wait, tables that it watches."""

    def __init__(self, caller: Caller, commands: Commands, tables: Tables, act: Act, reach: Reach) -> None:
        self.wake = asyncio.Event()
        self._reach = reach
        self._caller = caller
        self._commands = commands
        self._tables = tables
        self._act = act
        self._room = asyncio.Semaphore(WAITING_MAX)
        self._last: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._answers: list[bytes] = []
        self._ended: list[table_pb2.TableUpdates] = []
        self._watched: dict[str, _Watched] = {}
        self._dirty: dict[str, None] = {}

    @property
    def is_idle(self) -> bool:
        """Whether no command is on its way and nothing waits to be sent."""
        return not self._tasks and not self.has_news

    @property
    def has_news(self) -> bool:
        """Whether there may be something to send."""
        return bool(self._answers or self._dirty or self._ended)

    def close(self) -> None:
        """Drop everything; commands that were appended stand."""
        for task in self._tasks:
            task.cancel()
        for watched in self._watched.values():
            watched.release()
        self._watched.clear()

    def beat(self) -> None:
        """Send a heartbeat at once."""
        self._dirty |= dict.fromkeys(self._watched)
        self.wake.set()

    # Up

    async def read(self, requests: AsyncIterator[table_pb2.PlayRequest]) -> None:
        """Start what comes, each after the one before it at the same table."""
        async for request in requests:
            for command in request.commands:
                await self._room.acquire()
                self._start(command)

    def _start(self, command: table_pb2.PlayCommand) -> None:
        name = _name_of(command)
        task = asyncio.create_task(self._after(self._last.get(name), command))
        self._last[name] = task
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._over(name, done))

    def _over(self, name: str, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if self._last.get(name) is task:
            del self._last[name]
        self._room.release()
        self.wake.set()

    async def _after(self, before: asyncio.Task[None] | None, command: table_pb2.PlayCommand) -> None:
        if before is not None:
            await asyncio.wait([before])
        match command.WhichOneof("command"):
            case "act":
                await self._play(command.act)
            case "watch":
                await self._watch(command.watch)
            case "unwatch":
                self._unwatch(command.unwatch.name)
            case _:
                answer = table_pb2.Answer(failure=_failure(FieldFault({"command": "is missing"})))
                self._put(answer.SerializeToString())

    async def _play(self, request: table_pb2.ActRequest) -> None:
        head = table_pb2.Answer(command_id=request.command_id)
        try:
            done = await self._act(self._caller, request)
        except Exception as error:  # an edge: an answer says what may be said of it
            head.failure.CopyFrom(_failure(error))
            self._put(head.SerializeToString())
        else:
            self._put(
                head.SerializeToString() + repeated(table_pb2.Answer.DONE_FIELD_NUMBER, [delimited(done)])
            )

    def _put(self, answer: bytes) -> None:
        self._answers.append(delimited(answer))
        self.wake.set()

    async def _watch(self, request: table_pb2.WatchRequest) -> None:
        name = request.name
        try:
            after = fields.version(request.after_version, "after_version")
            if len(self._watched) >= TABLES_MAX:
                raise FieldFault({"watch": f"a stream watches at most {TABLES_MAX} tables"})
            table = await self._commands.table(table_id(name))
            cursor = Cursor(table, self._caller.sub, after, with_turns=request.with_turns)
        except Exception as error:  # as above
            self._end(name, error)
            return
        self._unwatch(name)

        def changed() -> None:
            self._dirty[name] = None
            self.wake.set()

        unpin = self._tables.pin(table)
        table.listeners.add(changed)

        def release() -> None:
            table.listeners.discard(changed)
            unpin()

        self._watched[name] = _Watched(cursor, release)
        changed()

    def _unwatch(self, name: str) -> None:
        watched = self._watched.pop(name, None)
        self._dirty.pop(name, None)
        if watched is not None:
            watched.release()

    def _end(self, name: str, error: Exception) -> None:
        self._unwatch(name)
        self._ended.append(table_pb2.TableUpdates(name=name, ended=_failure(error)))
        self.wake.set()

    # Down

    def message(self, *, heartbeat: bool) -> bytes:
        """Return all that waits as one serialised ``PlayResponse``; empty where nothing does."""
        names = list(self._watched) if heartbeat else list(self._dirty)
        self._dirty.clear()
        tables = [body for name in names if (body := self._news(name)) is not None]
        answers, self._answers = self._answers, []
        ended, self._ended = self._ended, []
        tables += [delimited(updates.SerializeToString()) for updates in ended]
        rest = table_pb2.PlayResponse(log_away=self._reach.is_away)
        return (
            repeated(table_pb2.PlayResponse.ANSWERS_FIELD_NUMBER, answers)
            + repeated(table_pb2.PlayResponse.TABLES_FIELD_NUMBER, tables)
            + rest.SerializeToString()
        )

    def _news(self, name: str) -> bytes | None:
        watched = self._watched[name]
        try:
            news = watched.cursor.take()
        except ServiceFault as fault:
            self._end(name, with_resume(fault, watched.cursor.version))
            return None
        if watched.cursor.version < news.head_version:
            self._dirty[name] = None
        return _body(name, news)


def _body(name: str, news: News) -> bytes:
    rest = table_pb2.TableUpdates(name=name, head_version=news.head_version, turn=news.turn)
    updates = repeated(table_pb2.TableUpdates.UPDATES_FIELD_NUMBER, news.bodies)
    return delimited(updates + rest.SerializeToString())


def _failure(error: Exception) -> table_pb2.Failure:
    return failure_to_proto(failure_of(error))


def _name_of(command: table_pb2.PlayCommand) -> str:
    match command.WhichOneof("command"):
        case "act":
            return command.act.name
        case "watch":
            return command.watch.name
        case "unwatch":
            return command.unwatch.name
        case _:
            return ""
