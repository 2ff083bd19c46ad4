"""A seat's stream when the server says things in an awkward order, or goes away."""

from __future__ import annotations

import asyncio

import pytest

from client.scripted import answer, news, scripted, update
from mersey.client.channel import MerseyClient
from mersey.client.errors import RefusedError, UnavailableError
from mersey.client.wire import RawUpdate
from mersey.v1 import table_pb2

CHOSEN = '{"type":"stock_chosen","seat":1}'
ENDED = '{"type":"game_ended","totals":[1],"places":[1]}'

Commands = list[table_pb2.PlayCommand]
Responses = list[table_pb2.PlayResponse | None]


def acts(commands: Commands) -> list[str]:
    return [command.act.command_id for command in commands if command.HasField("act")]


async def test_an_answer_that_comes_after_the_end_of_the_game_is_waited_for() -> None:
    def script(commands: Commands) -> Responses:
        if not acts(commands):
            return [news(update(1, CHOSEN))]
        return [news(update(2, ENDED)), answer("last", 2)]

    async with scripted(script) as (_, address), MerseyClient(address) as client, client.play("t") as seat:
        acted = await asyncio.wait_for(seat.act("stock", command_id="last"), 20)
        seen = [moment.updates[0].version async for moment in seat.moments()]
        with pytest.raises(RefusedError, match="No game is running"):
            await seat.act("stock")

    assert (acted.version, seen) == (2, [1, 2])


async def test_a_command_without_an_answer_is_sent_again_with_the_same_id() -> None:
    def breaks(commands: Commands) -> Responses:
        return [None] if acts(commands) else [news(update(1, CHOSEN))]

    def answers(commands: Commands) -> Responses:
        return [answer(command_id, 2) for command_id in acts(commands)] + [news(update(2, ENDED))]

    async with scripted(breaks, answers) as (service, address), MerseyClient(address) as client:
        async with client.play("t") as seat:
            acted = await asyncio.wait_for(seat.act("stock", command_id="mine"), 20)
        again = service.commands[1]

    assert acted.version == 2
    assert [acts(commands) for commands in service.commands] == [["mine"], ["mine"]]
    assert again[0].watch.after_version == 1


async def test_a_command_that_the_server_could_not_settle_is_sent_again() -> None:
    def unsure(commands: Commands) -> Responses:
        failure = table_pb2.Failure(code=14, reason="OUTCOME_UNKNOWN", message="Not known.")
        return [
            table_pb2.PlayResponse(answers=[table_pb2.Answer(command_id=each, failure=failure)])
            for each in acts(commands)
        ]

    def answers(commands: Commands) -> Responses:
        return [answer(command_id, 1) for command_id in acts(commands)]

    async with (
        scripted(unsure, answers) as (service, address),
        MerseyClient(address) as client,
        client.play("t") as seat,
    ):
        await asyncio.wait_for(seat.act("stock", command_id="mine"), 20)

    assert [acts(commands) for commands in service.commands] == [["mine"], ["mine"]]


async def test_a_gap_is_closed_by_resuming_and_a_repeat_is_dropped() -> None:
    def gap(commands: Commands) -> Responses:
        return [news(update(1, CHOSEN)), news(update(3, CHOSEN))]

    def rest(commands: Commands) -> Responses:
        return [news(update(1, CHOSEN), update(2, CHOSEN), update(3, CHOSEN), update(4, ENDED))]

    async with (
        scripted(gap, rest) as (service, address),
        MerseyClient(address) as client,
        client.play("t") as seat,
    ):
        moments = [moment async for moment in seat.moments()]

    assert [each.version for moment in moments for each in moment.updates] == [1, 2, 3, 4]
    assert [moment.stale for moment in moments] == [False, True, False]
    assert [commands[0].watch.after_version for commands in service.commands] == [0, 1]


async def test_a_heartbeat_ahead_of_the_updates_makes_the_moment_stale() -> None:
    def script(commands: Commands) -> Responses:
        return [news(update(1, CHOSEN)), news(head=3), news(update(2, CHOSEN), update(3, ENDED))]

    async with scripted(script) as (_, address), MerseyClient(address) as client, client.play("t") as seat:
        stale = [moment.stale async for moment in seat.moments()]

    assert stale == [False, True, False]


async def test_an_event_of_an_unknown_kind_is_passed_on_with_its_version() -> None:
    def script(commands: Commands) -> Responses:
        return [news(update(1, '{"type":"sung","song":"la"}'), update(2, ENDED))]

    async with scripted(script) as (_, address), MerseyClient(address) as client, client.play("t") as seat:
        updates = [each async for moment in seat.moments() for each in moment.updates]

    assert updates[0] == RawUpdate(1, 0, "sung", b'{"type":"sung","song":"la"}')


async def test_a_server_that_stays_away_ends_the_play_and_whoever_waits_for_an_answer() -> None:
    async with (
        scripted(lambda commands: [None]) as (_, address),
        MerseyClient(address, patience_s=0.1) as client,
        client.play("t") as seat,
    ):
        with pytest.raises(UnavailableError, match="gone"):
            await asyncio.wait_for(seat.act("stock"), 20)
        with pytest.raises(UnavailableError, match="gone"):
            async for _ in seat.moments():
                pass
        with pytest.raises(UnavailableError, match="gone"):
            await seat.act("stock")


async def test_a_table_that_may_not_be_seen_ends_the_play() -> None:
    failure = table_pb2.Failure(code=9, reason="NOT_NOW", message="Not now.")
    ended = table_pb2.TableUpdates(name="tables/t", ended=failure)

    async with (
        scripted(lambda commands: [table_pb2.PlayResponse(tables=[ended])]) as (_, address),
        MerseyClient(address) as client,
        client.play("t") as seat,
    ):
        with pytest.raises(RefusedError, match="Not now"):
            async for _ in seat.moments():
                pass
