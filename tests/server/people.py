"""People of the tests: a token, and the raw messages that they send with it; no SDK in between."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Sequence
from typing import Any

import grpc
import grpc.aio
import msgspec
from google.rpc import error_details_pb2, status_pb2

from mersey.client.strategies.chance import ChanceStrategy
from mersey.client.strategies.turn import Draw, Turn
from mersey.client.wire import action_to_proto, choices_from_proto, view_from_proto
from mersey.rules.ruleset_file import load_ruleset, ruleset_text
from mersey.v1 import action_pb2, replay_pb2_grpc, table_pb2, table_pb2_grpc

_ids = itertools.count(1)


def new_id() -> str:
    """Return a command id that no other command of the tests has."""
    return f"test-{next(_ids)}"


def one_round(rules: str = "contract") -> str:
    """Return the file of a rule set cut down to its first round: a game that is soon over."""
    head, *rounds = ruleset_text(rules).split("[[rounds]]")
    return f"{head}[[rounds]]{rounds[0]}[melds]{rounds[-1].split('[melds]')[1]}"


class Person:
    """Somebody with a token."""

    def __init__(self, channel: grpc.aio.Channel, token: str | None) -> None:
        self.tables = table_pb2_grpc.TableServiceStub(channel)
        self.replays = replay_pb2_grpc.ReplayServiceStub(channel)
        self.metadata = () if token is None else (("authorization", f"Bearer {token}"),)

    async def ask(self, method: str, **fields: Any) -> Any:
        """Call a method of either service by its name; the command id is a new one unless given."""
        request = getattr(self._module(method), f"{method}Request")
        if "command_id" in request.DESCRIPTOR.fields_by_name:
            fields.setdefault("command_id", new_id())
        return await self._stub(method)(request(**fields), metadata=self.metadata)

    def stream(self, method: str, **fields: Any) -> Any:
        """Start a call that is answered by a stream."""
        request = getattr(self._module(method), f"{method}Request")
        return self._stub(method)(request(**fields), metadata=self.metadata)

    def _module(self, method: str) -> Any:
        from mersey.v1 import replay_pb2

        return table_pb2 if hasattr(table_pb2, f"{method}Request") else replay_pb2

    def _stub(self, method: str) -> Any:
        return getattr(self.tables if hasattr(self.tables, method) else self.replays, method)

    async def open_table(self, bots: Sequence[str] = (), **fields: Any) -> str:
        """Open a table, of one round unless told otherwise, seat bots, and return its name."""
        if "rules" not in fields:
            fields.setdefault("rules_toml", one_round())
        name: str = (await self.ask("CreateTable", **fields)).table.name
        if bots:
            await self.ask("AddBots", name=name, strategies=bots)
        return name

    async def play_text(self, table: str, text: str, **fields: Any) -> Any:
        """Play an action in the notation."""
        return await self.ask("Act", name=table, action=action_pb2.Action(text=text), **fields)

    async def watch_all(self, table: str, after: int = 0, **fields: Any) -> list[table_pb2.Update]:
        """Return all updates of a table after a version, once it is finished."""
        stream = self.stream("Watch", name=table, after_version=after, **fields)
        return [update async for response in stream for update in response.updates]

    async def play_by_chance(self, table: str) -> None:
        """Play this person's seat till the table is finished."""
        async for response in self.stream("Watch", name=table, with_turns=True):
            if response.HasField("turn"):
                await self._move(table, response.turn)

    async def _move(self, table: str, turn: table_pb2.Turn) -> None:
        seen, can = view_from_proto(turn.view), choices_from_proto(turn.choices)
        action = ChanceStrategy().choose(Turn(seen, can, load_ruleset("contract")), Draw("test", seen))
        try:
            await self.ask("Act", name=table, action=action_to_proto(action), seen_version=seen.version)
        except grpc.aio.AioRpcError as error:
            if error.code() != grpc.StatusCode.FAILED_PRECONDITION:
                raise  # an answer of somebody else has settled the offer in the meantime


def reason_of(error: grpc.aio.AioRpcError) -> str:
    """Return the reason of the error's ErrorInfo."""
    return info_of(error).reason


def info_of(error: grpc.aio.AioRpcError) -> error_details_pb2.ErrorInfo:
    """Return the error's ErrorInfo; one without has none of this project's."""
    for detail in details_of(error):
        info = error_details_pb2.ErrorInfo()
        if detail.Unpack(info):
            return info
    raise AssertionError(f"no ErrorInfo in {error!r}")


def details_of(error: grpc.aio.AioRpcError) -> Any:
    """Return the details of the error's google.rpc.Status."""
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            status = status_pb2.Status.FromString(value)
            assert status.code == error.code().value[0]
            return status.details
    raise AssertionError(f"no status details in {error!r}")


def events_of(updates: Sequence[table_pb2.Update]) -> list[dict[str, Any]]:
    """Return the events in updates, as JSON says them."""
    return [msgspec.json.decode(update.json)["event"] for update in updates]


async def until(condition: Any) -> None:
    """Return once ``condition()`` is true."""
    while not condition():
        await asyncio.sleep(0.005)


async def first_of(stream: AsyncIterator[Any], wanted: Any) -> Any:
    """Return the first message of a stream for which ``wanted`` is true."""
    async for message in stream:
        if wanted(message):
            return message
    raise AssertionError("the stream ended without it")
