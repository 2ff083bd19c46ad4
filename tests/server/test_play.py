"""The two-way stream: commands in order, answers by id, many tables, failures that do not end it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
import grpc.aio
import msgspec

from mersey.server.node import Node
from mersey.v1 import action_pb2, table_pb2
from server.people import Person


class Stream:
    """A ``Play`` stream and what has come of it."""

    def __init__(self, person: Person) -> None:
        self.call = person.tables.Play(metadata=person.metadata)
        self.answers: list[table_pb2.Answer] = []
        self.tables: list[table_pb2.TableUpdates] = []

    async def say(self, *commands: table_pb2.PlayCommand) -> None:
        await self.call.write(table_pb2.PlayRequest(commands=commands))

    async def hear(self) -> None:
        response = await self.call.read()
        assert response is not grpc.aio.EOF, await self.call.code()
        self.answers += response.answers
        self.tables += response.tables

    async def answered(self, count: int) -> list[table_pb2.Answer]:
        while len(self.answers) < count:
            await self.hear()
        return self.answers

    async def of_table(self, name: str) -> table_pb2.TableUpdates:
        """Return the next word of a table."""
        while True:
            for at, part in enumerate(self.tables):
                if part.name == name:
                    return self.tables.pop(at)
            await self.hear()


@asynccontextmanager
async def stream_of(person: Person) -> AsyncIterator[Stream]:
    stream = Stream(person)
    yield stream
    stream.call.cancel()


def act(name: str, command_id: str, text: str) -> table_pb2.PlayCommand:
    action = action_pb2.Action(text=text)
    return table_pb2.PlayCommand(act=table_pb2.ActRequest(name=name, command_id=command_id, action=action))


def watch(name: str, after: int = 0) -> table_pb2.PlayCommand:
    return table_pb2.PlayCommand(watch=table_pb2.WatchRequest(name=name, after_version=after))


def unwatch(name: str) -> table_pb2.PlayCommand:
    return table_pb2.PlayCommand(unwatch=table_pb2.Unwatch(name=name))


async def tables_of_a_cutter(node: Node, channel: grpc.aio.Channel, count: int) -> tuple[Person, list[str]]:
    """Return somebody who is to act, and is alone to act, at ``count`` running tables."""
    names, people = [], [Person(channel, node.issue_token(f"P{seat}", "host")) for seat in range(4)]
    while len(names) < count:
        name = await people[0].open_table()
        for person in people:
            await person.ask("TakeSeat", name=name)
        await people[0].ask("StartGame", name=name)
        view = msgspec.json.decode((await people[0].ask("GetView", name=name)).json)
        if view["active"] == 0:
            names.append(name)
    return people[0], names


async def test_commands_of_one_message_are_carried_out_in_order(
    node: Node, channel: grpc.aio.Channel
) -> None:
    person, (name,) = await tables_of_a_cutter(node, channel, 1)
    async with stream_of(person) as stream:
        await stream.say(
            act(name, "1", "take"), act(name, "2", "take"), act(name, "1", "take"), act(name, "3", "x")
        )
        first, second, again, malformed = await stream.answered(4)

    assert [answer.command_id for answer in stream.answers] == ["1", "2", "1", "3"]
    assert first.done.updates[0].version == first.done.version
    assert (second.failure.reason, second.failure.code) == ("ALREADY_DRAWN", 9)
    assert second.failure.metadata["section"] == "5"
    assert again == first
    assert malformed.failure.reason == "INVALID_ARGUMENT"
    assert "action.text" in malformed.failure.metadata


async def test_many_tables_share_a_stream(node: Node, channel: grpc.aio.Channel) -> None:
    person, names = await tables_of_a_cutter(node, channel, 3)
    async with stream_of(person) as stream:
        await stream.say(*map(watch, names))
        parts = [await stream.of_table(name) for name in names]
        await stream.say(*(act(name, name[-8:], "stock") for name in names))
        moved = [await stream.of_table(name) for name in names]
        answers = await stream.answered(3)

    assert {answer.command_id for answer in answers} == {name[-8:] for name in names}
    for part, after in zip(parts, moved, strict=True):
        assert [update.version for update in part.updates] == list(range(1, part.head_version + 1))
        assert after.updates[0].version == part.head_version + 1


async def test_a_table_is_left_and_watched_again_from_a_version(
    node: Node, channel: grpc.aio.Channel
) -> None:
    person, (name,) = await tables_of_a_cutter(node, channel, 1)
    async with stream_of(person) as stream:
        await stream.say(watch(name))
        part = await stream.of_table(name)
        await stream.say(unwatch(name), act(name, "1", "stock"), watch(name, part.head_version))
        again = await stream.of_table(name)

    assert again.updates[0].version == part.head_version + 1


async def test_a_watch_that_cannot_be_had_ends_and_the_stream_goes_on(
    node: Node, channel: grpc.aio.Channel
) -> None:
    person, (name,) = await tables_of_a_cutter(node, channel, 1)
    async with stream_of(person) as stream:
        await stream.say(
            watch("tables/none"), watch(name, 10_000), table_pb2.PlayCommand(), act(name, "1", "take")
        )
        missing, ahead = await stream.of_table("tables/none"), await stream.of_table(name)
        answers = await stream.answered(2)

    assert (missing.ended.reason, missing.ended.code) == ("NO_SUCH_TABLE", 5)
    assert ahead.ended.reason == "VERSION_AHEAD"
    assert {answer.WhichOneof("outcome") for answer in answers} == {"failure", "done"}


async def test_a_quiet_stream_beats_for_each_table(node: Node, channel: grpc.aio.Channel) -> None:
    person, (name,) = await tables_of_a_cutter(node, channel, 1)
    async with stream_of(person) as stream:
        await stream.say(watch(name))
        head = (await stream.of_table(name)).head_version
        beat = await stream.of_table(name)

    assert (list(beat.updates), beat.head_version) == ([], head)


async def test_a_stream_ends_once_the_client_has_said_all_and_heard_the_answers(
    node: Node, channel: grpc.aio.Channel
) -> None:
    person, (name,) = await tables_of_a_cutter(node, channel, 1)
    async with stream_of(person) as stream:
        await stream.say(act(name, "1", "take"))
        await stream.call.done_writing()
        await stream.answered(1)

        assert await stream.call.read() is grpc.aio.EOF
        assert await stream.call.code() == grpc.StatusCode.OK
