"""Watching: resume without gap or repeat, heartbeats, turns, who may see what, slow readers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import grpc
import grpc.aio
import msgspec
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from mersey.server.config import Config
from mersey.server.node import Node
from mersey.v1 import table_pb2
from server.people import Person, events_of, first_of, info_of, one_round, reason_of, until


async def take_all(stream: AsyncIterator[table_pb2.WatchResponse], received: list[table_pb2.Update]) -> None:
    """Add all updates of a stream to ``received`` until it ends."""
    async for response in stream:
        received += response.updates


async def read_to_the_end(call: grpc.aio.StreamStreamCall[object, object]) -> None:
    """Read a stream until it ends or fails."""
    while await call.read() is not grpc.aio.EOF:
        pass


async def finished(host: Person, **fields: object) -> str:
    table = await host.open_table(["chance"] * 4, **fields)
    await host.ask("StartGame", name=table)
    await host.watch_all(table)
    return table


async def test_a_stream_cut_anywhere_and_resumed_is_the_stream_uncut(host: Person) -> None:
    table = await finished(host, seed="cut")
    whole = await host.watch_all(table)

    for cut in range(1, len(whole), len(whole) // 15):
        assert await host.watch_all(table, after=cut) == whole[cut:]


async def test_what_came_live_is_what_a_catch_up_gives(host: Person) -> None:
    table = await host.open_table(["chance"] * 4)
    live = asyncio.create_task(host.watch_all(table))
    await host.ask("StartGame", name=table)

    assert await live == await host.watch_all(table)


async def test_a_stream_resumed_again_and_again_in_a_running_game_misses_nothing(host: Person) -> None:
    table = await host.open_table(["chance"] * 4)
    await host.ask("StartGame", name=table)

    versions: list[int] = []
    while (await host.ask("GetTable", name=table)).version > len(versions):
        stream = host.stream("Watch", name=table, after_version=len(versions))
        got = await anext(aiter(stream))
        stream.cancel()
        versions += [update.version for update in got.updates]

    assert versions == list(range(1, len(versions) + 1))


async def test_a_quiet_stream_beats_with_the_head_version(host: Person) -> None:
    table = await host.open_table()
    stream = aiter(host.stream("Watch", name=table))

    first, beat, again = [await anext(stream) for _ in range(3)]

    assert [update.version for update in first.updates] == [1]
    assert (list(beat.updates), beat.head_version, again.head_version) == ([], 1, 1)


async def test_a_turn_comes_with_view_and_choices_when_the_seat_is_asked(
    node: Node, channel: grpc.aio.Channel
) -> None:
    people = [Person(channel, node.issue_token(f"P{seat}", "host")) for seat in range(4)]
    table = await people[0].open_table()
    for person in people:
        await person.ask("TakeSeat", name=table)
    await people[0].ask("StartGame", name=table)
    seat = msgspec.json.decode((await people[0].ask("GetView", name=table)).json)["active"]
    host = people[seat]

    response = await first_of(
        host.stream("Watch", name=table, with_turns=True), lambda response: response.HasField("turn")
    )
    quiet = aiter(people[(seat + 1) % 4].stream("Watch", name=table, with_turns=True))
    beats = [await anext(quiet) for _ in range(2)]

    assert not any(beat.HasField("turn") for beat in beats)
    turn = response.turn
    assert turn.choices.seat == msgspec.json.decode(turn.view.json)["you"] == seat
    assert turn.view.version == turn.choices.version == response.head_version
    assert turn.choices == (await host.ask("ListChoices", name=table)).choices
    assert turn.view == await host.ask("GetView", name=table)


async def test_a_seat_sees_its_own_cards_and_no_others(
    host: Person, node: Node, channel: grpc.aio.Channel
) -> None:
    table = await host.open_table(["chance"] * 3)
    seat = (await host.ask("TakeSeat", name=table)).seat
    spectator = Person(channel, node.issue_token("Eve", "auditor"))
    await host.ask("StartGame", name=table)

    own = msgspec.json.decode((await host.ask("GetView", name=table)).json)
    other = msgspec.json.decode((await spectator.ask("GetView", name=table)).json)

    assert (own["you"], len(own["hand"]), own["hands"]) == (seat, own["seats"][seat]["cards"], None)
    assert (other["you"], other["hand"], other["hands"]) == (None, None, None)
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await host.ask("GetViewAt", name=table, seat=(seat + 1) % 4)
    assert reason_of(error.value) == "RECORD_NOT_OPEN"
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await spectator.ask("GetViewAt", name=table, open=True)
    assert reason_of(error.value) == "RECORD_NOT_OPEN"


async def test_spectators_are_shown_as_much_as_the_table_says(
    host: Person, node: Node, channel: grpc.aio.Channel
) -> None:
    eve = Person(channel, node.issue_token("Eve", "spectator"))
    shown = {}
    for value in (2, 3, 4):
        table = await host.open_table(["chance"] * 3, spectators=value)
        await host.ask("TakeSeat", name=table)
        await host.ask("StartGame", name=table)
        stream = eve.stream("Watch", name=table)
        response = await anext(aiter(stream))
        shown[value] = events_of(response.updates)[-1]["type"]
        stream.cancel()
        seating_end = 5
        if value == table_pb2.SPECTATORS_LIVE:
            assert response.head_version > seating_end
            continue
        assert response.head_version == seating_end
        assert (await eve.ask("GetView", name=table)).version == seating_end
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await eve.ask("GetViewAt", name=table, version=seating_end + 1)
        assert reason_of(error.value) == "NO_SUCH_VERSION"
    table = await host.open_table(spectators=table_pb2.SPECTATORS_NONE)
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await eve.ask("GetView", name=table)

    assert (shown[3], shown[4]) == ("seat_taken", "seat_taken")
    assert reason_of(error.value) == "NO_SPECTATORS"


async def test_a_late_spectator_is_shown_all_once_the_game_is_over(
    host: Person, node: Node, channel: grpc.aio.Channel
) -> None:
    eve = Person(channel, node.issue_token("Eve", "spectator"))
    table = await host.open_table(["chance"] * 4, spectators=table_pb2.SPECTATORS_AFTER_GAME)
    watching = asyncio.create_task(eve.watch_all(table))
    await host.ask("StartGame", name=table)

    assert len(await watching) == (await host.ask("GetTable", name=table)).version


async def test_a_finished_game_is_shown_open_and_from_every_seat(host: Person) -> None:
    table = await finished(host, rules_toml=one_round())

    dealt = await first_version(host, table, "hands_dealt")
    views = [
        msgspec.json.decode((await host.ask("GetViewAt", name=table, version=dealt, seat=seat)).json)
        for seat in range(4)
    ]
    opened = msgspec.json.decode((await host.ask("GetViewAt", name=table, version=dealt, open=True)).json)

    assert [sorted(view["hand"]) for view in views] == [sorted(hand) for hand in opened["hands"]]
    assert [view["hands"] for view in views] == [None] * 4


async def first_version(host: Person, table: str, kind: str) -> int:
    updates = await host.watch_all(table)
    return next(
        update.version
        for update, event in zip(updates, events_of(updates), strict=True)
        if event["type"] == kind
    )


async def test_who_does_not_read_is_cut_with_a_place_to_resume_from(
    tmp_path_factory: pytest.TempPathFactory, caplog: pytest.LogCaptureFixture
) -> None:
    config = Config(data=tmp_path_factory.mktemp("slow") / "data", write_s=0.3, heartbeat_s=0.001)
    async with Node(config) as node, grpc.aio.insecure_channel(node.address) as channel:
        small = grpc.aio.insecure_channel(
            node.address, [("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 1024)]
        )
        host, slow = Person(channel, node.host_token), Person(small, node.host_token)
        table = await host.open_table(["chance"] * 4)
        stream = slow.stream("Watch", name=table)
        await host.ask("StartGame", name=table)
        whole = await host.watch_all(table)
        await until(lambda: "too_slow" in caplog.text)

        received: list[table_pb2.Update] = []
        with pytest.raises(grpc.aio.AioRpcError) as cut:
            await take_all(stream, received)
        await small.close()
        rest = await host.watch_all(table, after=len(received))

    assert (cut.value.code(), reason_of(cut.value)) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_SLOW")
    assert 0 <= int(info_of(cut.value).metadata["after_version"]) <= len(received) < len(whole)
    assert received + rest == whole


async def test_a_stopping_server_ends_streams_with_a_place_to_resume_from(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    config = Config(data=tmp_path_factory.mktemp("stopping") / "data", grace_s=0.3)
    async with Node(config) as node:
        channel = grpc.aio.insecure_channel(node.address)
        host = Person(channel, node.host_token)
        table = await host.open_table()
        stream = host.stream("Watch", name=table)
        await anext(aiter(stream))
        play = host.tables.Play(metadata=host.metadata)
        watch = table_pb2.PlayCommand(watch=table_pb2.WatchRequest(name=table))
        await play.write(table_pb2.PlayRequest(commands=[watch]))
        await play.read()
        health = aiter(health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest()))
        assert (await anext(health)).status == health_pb2.HealthCheckResponse.SERVING

    assert (await anext(health)).status == health_pb2.HealthCheckResponse.NOT_SERVING
    with pytest.raises(grpc.aio.AioRpcError) as ended:
        await anext(aiter(stream))
    assert (ended.value.code(), reason_of(ended.value)) == (grpc.StatusCode.UNAVAILABLE, "STOPPING")
    assert info_of(ended.value).metadata["after_version"] == "1"
    with pytest.raises(grpc.aio.AioRpcError) as ended:
        await read_to_the_end(play)
    assert reason_of(ended.value) == "STOPPING"
    await channel.close()
