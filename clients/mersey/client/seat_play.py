"""Playing a seat over the two-way stream: turns come down, actions go up, a broken stream is taken up.

One task reads the stream. What it reads are moments, for whoever iterates, and
answers, for whoever waits in ``act``. When the stream breaks, the next one begins
after the last version received, and every command without an answer is sent again.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Final, NamedTuple, Self

import grpc
import grpc.aio

from mersey.client.errors import FAILED_PRECONDITION, UNAVAILABLE, UnavailableError, error_of
from mersey.client.following import AWAY, Moment
from mersey.client.session import GapError, PendingCommand, TableSession
from mersey.client.strategies.turn import Turn
from mersey.client.table_info import TableInfo
from mersey.client.transport import NewId, Transport, away, error_from_rpc
from mersey.client.wire import (
    Durability,
    RawUpdate,
    action_to_proto,
    choices_from_proto,
    durability_from_proto,
    error_from_failure,
    failure_from_proto,
    table_name,
    updates_from_proto,
    view_from_proto,
)
from mersey.game.events import GameEnded, TableClosed
from mersey.game.seen import Update
from mersey.rules.actions import Action
from mersey.rules.notation import parse_action
from mersey.rules.refusals import RULE, Code
from mersey.v1 import table_pb2

_NOT_RUNNING: Final = Code.GAME_NOT_RUNNING

_Outbox = asyncio.Queue[table_pb2.PlayRequest | None]
"""What waits to be sent on one stream; None ends it."""


class Acted(NamedTuple):
    """The answer to an action: the version after it, how safe it is, what it caused as the seat sees it."""

    version: int
    durability: Durability
    updates: tuple[Update | RawUpdate, ...]


def acted_from_proto(message: table_pb2.ActResponse) -> Acted:
    """Return the answer in a message."""
    return Acted(
        message.version, durability_from_proto(message.durability), updates_from_proto(message.updates)
    )


class SeatPlay:
    """A seat at one table, played over a stream of its own: ``async with client.play(table) as seat``."""

    def __init__(
        self,
        transport: Transport,
        info: TableInfo,
        new_id: NewId,
        after_version: int,
    ) -> None:
        self.table: Final = info.table
        self.rules: Final = info.rules
        self._transport = transport
        self._new_id = new_id
        self._session = TableSession(info.table, after_version)
        self._moments: asyncio.Queue[Moment | None] = asyncio.Queue()
        self._answers: dict[str, asyncio.Future[Acted]] = {}
        self._outbox: _Outbox = asyncio.Queue()
        self._acted = 0
        self._is_behind = False
        self._over = info.finished and after_version >= info.version
        self._ended: Exception | None = None
        self._reader: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Begin to read."""
        self._reader = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *_: object) -> None:
        """End the stream; what was acknowledged stands."""
        if self._reader is not None:
            self._reader.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await self._reader

    @property
    def version(self) -> int:
        """The version of the last update received."""
        return self._session.version

    @property
    def stale(self) -> bool:
        """Whether more is known to have happened than what has come, or may have."""
        return self._session.stale or self._is_behind

    async def moments(self) -> AsyncIterator[Moment]:
        """Yield what comes, until the game is over or the table closed.

        Raises:
            ApiError: the server does not go on; ``UnavailableError`` where it stays away.
        """
        assert self._reader is not None, "a seat is played within 'async with'"
        while (moment := await self._moments.get()) is not None:
            yield moment
        await self._reader

    async def turns(self) -> AsyncIterator[Turn]:
        """Yield each position in which the seat is asked, unless it has changed meanwhile."""
        async for moment in self.moments():
            if moment.turn is not None and self.is_current(moment.turn):
                yield moment.turn

    def is_current(self, turn: Turn) -> bool:
        """Return whether nothing is known to have happened since ``turn``."""
        return turn.view.version >= max(self._session.version, self._acted)

    async def act(
        self,
        action: Action | str,
        *,
        seen_version: int = 0,
        only_at: bool = False,
        command_id: str | None = None,
    ) -> Acted:
        """Play an action, given as a value or in the notation, and return its answer.

        It is sent again with the same id after each reconnect until it is answered.

        Raises:
            NotationError: the text is no action.
            ApiError: it was refused (``RefusedError``), or the server does not go on.
        """
        if isinstance(action, str):
            action = parse_action(action)
        command = self._session.send(
            PendingCommand(command_id or self._new_id(), action, seen_version, only_at)
        )
        answer = self._answers.get(command.command_id)
        if answer is None:
            answer = asyncio.get_running_loop().create_future()
            self._answers[command.command_id] = answer
            if self._ended is not None:
                self._give_up(self._ended)
            else:
                self._outbox.put_nowait(self._request([], [command]))
        return await answer

    # The reader

    @property
    def _done(self) -> bool:
        """Whether the game is over and nobody waits for an answer any more."""
        return self._over and not self._answers

    async def _read(self) -> None:
        """Read streams, one after the other, until the game is over or the server's answer is final."""
        backoff = self._transport.backoff()
        try:
            while not self._done:
                try:
                    await self._read_stream(backoff.reset)
                except (UnavailableError, GapError) as error:
                    self._moments.put_nowait(AWAY)
                    await backoff.wait(error)
            self._ended = error_of(FAILED_PRECONDITION, _NOT_RUNNING.upper(), RULE[_NOT_RUNNING][1])
        except Exception as error:
            self._ended = error
            self._give_up(error)
            raise
        finally:
            self._moments.put_nowait(None)

    async def _read_stream(self, answered: Callable[[], None]) -> None:
        watch = table_pb2.WatchRequest(
            name=table_name(self.table), after_version=self._session.version, with_turns=True
        )
        outbox: _Outbox = asyncio.Queue()
        self._outbox = outbox
        outbox.put_nowait(self._request([watch], self._session.pending))
        stream = self._transport.tables.Play(_taken_from(outbox), metadata=self._transport.metadata)
        try:
            async for response in stream:
                self._is_behind = response.log_away
                if response.log_away and self._transport.has_others:
                    raise away()
                answered()
                self._take(response)
                if self._done:
                    return
        except grpc.aio.AioRpcError as error:
            raise error_from_rpc(error) from None
        finally:
            stream.cancel()
            outbox.put_nowait(None)  # else gRPC's task that takes from it would wait for ever
        raise UnavailableError(UNAVAILABLE, "", "the server ended the stream")

    def _request(
        self, watches: Iterable[table_pb2.WatchRequest], commands: Iterable[PendingCommand]
    ) -> table_pb2.PlayRequest:
        acts = [
            table_pb2.ActRequest(
                name=table_name(self.table),
                command_id=command.command_id,
                seen_version=command.seen_version,
                only_at=command.only_at,
                action=action_to_proto(command.action),
            )
            for command in commands
        ]
        return table_pb2.PlayRequest(
            commands=[
                *(table_pb2.PlayCommand(watch=watch) for watch in watches),
                *(table_pb2.PlayCommand(act=act) for act in acts),
            ]
        )

    def _take(self, response: table_pb2.PlayResponse) -> None:
        for answer in response.answers:
            self._settle(answer)
        for news in response.tables:
            if news.name == table_name(self.table):
                if news.HasField("ended"):
                    raise error_from_failure(failure_from_proto(news.ended))
                self._hear(news)

    def _settle(self, message: table_pb2.Answer) -> None:
        if message.HasField("failure"):
            failure = error_from_failure(failure_from_proto(message.failure))
            if isinstance(failure, UnavailableError):
                raise failure  # not known to be done: it stays pending and is sent again
            outcome: Acted | Exception = failure
        else:
            outcome = acted_from_proto(message.done)
            self._acted = max(self._acted, message.done.version)
        self._session.settle(message.command_id)
        waiting = self._answers.pop(message.command_id, None)
        if waiting is None or waiting.done():
            return
        if isinstance(outcome, Exception):
            waiting.set_exception(outcome)
        else:
            waiting.set_result(outcome)

    def _hear(self, news: table_pb2.TableUpdates) -> None:
        new = self._session.receive(updates_from_proto(news.updates))
        self._session.hear(news.head_version)
        turn = None
        if news.HasField("turn"):
            turn = Turn(view_from_proto(news.turn.view), choices_from_proto(news.turn.choices), self.rules)
        self._moments.put_nowait(Moment(new, turn, self.stale))
        self._over = self._over or any(_ends(update) for update in new)

    def _give_up(self, error: Exception) -> None:
        for command_id, waiting in self._answers.items():
            self._session.settle(command_id)
            if not waiting.done():
                waiting.set_exception(error)
        self._answers.clear()


async def _taken_from(outbox: _Outbox) -> AsyncIterator[table_pb2.PlayRequest]:
    while (request := await outbox.get()) is not None:
        yield request


def _ends(update: Update | RawUpdate) -> bool:
    return isinstance(update, Update) and isinstance(update.event, GameEnded | TableClosed)
