"""Commits that can't be read, a log that is not ours, two nodes on one log, outside readers of the log."""

from __future__ import annotations

import asyncio
from pathlib import Path

import grpc
import grpc.aio
import msgspec
import nats
import pytest

from mersey.log.archive_reader import ArchiveReader
from mersey.log.archive_schema import ArchiveError
from mersey.log.commit import Commit, advance, decode, encode, next_commit, start_of
from mersey.log.connection import NatsConnection
from mersey.log.embedded import EmbeddedNats
from mersey.log.jetstream import JetStreamLog
from mersey.log.ports import LogReplaced
from mersey.server.config import Config, ConfigError
from mersey.server.node import Node
from server.conftest import url_of
from server.people import Person, events_of, first_of, new_id, reason_of, until


async def forge(node: Node, table: str, **changes: object) -> int:
    """Append a commit to a table's stream that no server wrote; return its position."""
    stream = table.replace("tables/", "table.")
    head = start_of(stream)
    for entry in await node.log.tail(stream, 0):
        head = advance(head, decode(entry.data), entry.data, entry.position)
    commit = next_commit(
        head,
        at_ms=head.at_ms,
        actor="forger",
        command_id=new_id(),
        cause=msgspec.Raw(b'{"type":"close"}'),
        events=[msgspec.Raw(b'{"type":"table_closed"}')],
        salt=bytes(16),
    )
    return await node.log.append(stream, encode(msgspec.structs.replace(commit, **changes)), head.position)


FORGED = [
    ({"events": (msgspec.Raw(b'{"type":"moon_rose"}'),)}, "moon_rose"),
    ({"cause": msgspec.Raw(b'{"type":"sing"}')}, "sing"),
    ({"previous": "0" * 64}, "previous"),
    ({"number": 77}, "number"),
    ({"events": (msgspec.Raw(b'{"type":"card_discarded","seat":0,"card":"7S1"}'),)}, "happen"),
]


@pytest.mark.parametrize(("changes", "named"), FORGED)
async def test_a_commit_that_cannot_be_read_stops_its_table_and_no_other(
    changes: dict[str, object], named: str, node: Node, host: Person
) -> None:
    table, other = [await host.open_table(["chance"] * 3) for _ in range(2)]
    watching = aiter(host.stream("Watch", name=table))
    await anext(watching)

    position = await forge(node, table, **changes)

    with pytest.raises(grpc.aio.AioRpcError) as cut:
        await first_of(watching, lambda _: False)
    assert (cut.value.code(), reason_of(cut.value)) == (grpc.StatusCode.UNAVAILABLE, "TABLE_UNAVAILABLE")
    for method in ("TakeSeat", "GetTable", "GetView", "GetViewAt"):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await host.ask(method, name=table)
        assert reason_of(refused.value) == "TABLE_UNAVAILABLE"
        assert f"position {position}" in refused.value.details()
    assert named in cut.value.details()
    await host.ask("TakeSeat", name=other)


async def test_a_table_opened_under_another_name_is_not_served(node: Node, host: Person) -> None:
    table = await host.open_table()
    (opened,) = await node.log.tail(table.replace("tables/", "table."), 0)
    start = start_of("table.elsewhere")
    commit = msgspec.structs.replace(decode(opened.data), stream=start.stream, previous=start.hash)

    await node.log.append(start.stream, encode(commit), 0)

    assert "opens the table" in await details(host, "tables/elsewhere")


async def test_bytes_that_no_server_can_read_are_archived_all_the_same(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with Node(Config(data=data)) as node, grpc.aio.insecure_channel(node.address) as channel:
        host = Person(channel, node.host_token)
        table = await host.open_table()
        position = await forge(node, table, events=(msgspec.Raw(b'{"type":"moon_rose"}'),))
        await forge_noise(node, "table.noise")
        assert f"position {position + 1}" in await details(host, "tables/noise")

    with ArchiveReader(data / "archive.db") as archive:
        kept = list(archive.commits_of(table.replace("tables/", "table.")))
        assert kept[-1].position == position
        assert archive.position() == position + 1
        assert archive.set_aside("table.noise")
    async with Node(Config(data=data)) as node, grpc.aio.insecure_channel(node.address) as channel:
        host = Person(channel, node.host_token)
        for name in (table, "tables/noise"):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await host.ask("GetTable", name=name)
            assert reason_of(refused.value) == "TABLE_UNAVAILABLE"
        assert f"position {position}" in await details(host, table)
        await host.open_table()


async def forge_noise(node: Node, stream: str) -> None:
    await node.log.append(stream, b"\x00 no commit at all", 0)


async def details(host: Person, table: str) -> str:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await host.ask("GetTable", name=table)
    return refused.value.details() or ""


async def test_two_nodes_that_race_on_one_table_make_one_history(
    outside_nats: EmbeddedNats, tmp_path: Path
) -> None:
    url, keys = url_of(outside_nats), tmp_path / "keys"
    configs = [Config(data=tmp_path / name, nats=url, keys=keys) for name in ("one", "two")]
    async with Node(configs[0]) as one, Node(configs[1]) as two:
        channels = [grpc.aio.insecure_channel(node.address) for node in (one, two)]
        tokens = [one.issue_token(f"P{seat}", "host") for seat in range(4)]
        here, there = ([Person(channel, token) for token in tokens] for channel in channels)
        table = await here[0].open_table(["chance"] * 1)
        racing = [side[seat].ask("TakeSeat", name=table) for seat in (1, 2, 3) for side in (here, there)]
        taken = await asyncio.gather(*racing, return_exceptions=True)
        seats = [answer.seat for answer in taken if not isinstance(answer, BaseException)]
        assert sorted(seats) == [1, 2, 3]
        await there[0].ask("StartGame", name=table)

        await asyncio.gather(
            *(side[seat].play_by_chance(table) for seat in (1, 2, 3) for side in (here, there))
        )

        histories = [await side[1].watch_all(table) for side in (here, there)]
        assert histories[0] == histories[1]
        assert (await there[0].ask("VerifyGame", name=table)).ok
        for channel in channels:
            await channel.close()
    entries = [await archived(config.data, table) for config in configs]
    assert entries[0] == entries[1]


async def archived(data: Path, table: str) -> list[bytes]:
    with ArchiveReader(data / "archive.db") as archive:
        return [entry.data for entry in archive.commits_of(table.replace("tables/", "table."))]


async def test_two_nodes_play_a_bots_seat_once(outside_nats: EmbeddedNats, tmp_path: Path) -> None:
    url, keys = url_of(outside_nats), tmp_path / "keys"
    configs = [Config(data=tmp_path / name, nats=url, keys=keys) for name in ("one", "two")]
    async with Node(configs[0]) as one, Node(configs[1]), grpc.aio.insecure_channel(one.address) as channel:
        host = Person(channel, one.issue_token("Host", "host"))
        table = await host.open_table(["chance"] * 4)
        await host.ask("StartGame", name=table)
        await host.watch_all(table)

        assert (await host.ask("VerifyGame", name=table)).ok


async def test_an_outside_client_of_nats_sees_each_commit_with_its_events(
    outside_nats: EmbeddedNats, tmp_path: Path
) -> None:
    config = Config(data=tmp_path / "data", nats=url_of(outside_nats))
    seen: list[Commit] = []
    outside = await nats.connect(url_of(outside_nats))

    async def see(message: object) -> None:
        seen.append(decode(message.data))  # type: ignore[attr-defined]

    await outside.subscribe("mersey.log.0.table.*", cb=see)
    await outside.flush()
    async with Node(config) as node, grpc.aio.insecure_channel(node.address) as channel:
        host = Person(channel, node.host_token)
        table = await host.open_table(["chance"] * 4)
        await host.ask("StartGame", name=table)
        updates = await host.watch_all(table)
        await until(lambda: sum(len(commit.events) for commit in seen) == len(updates))
    await outside.close()

    kinds = [msgspec.json.decode(event)["type"] for commit in seen for event in commit.events]
    hidden = ("buy_wanted", "buy_passed")
    assert ["answered" if kind in hidden else kind for kind in kinds] == [
        event["type"] for event in events_of(updates)
    ]
    assert {commit.stream for commit in seen} == {table.replace("tables/", "table.")}


async def test_an_archive_of_another_log_is_refused(outside_nats: EmbeddedNats, tmp_path: Path) -> None:
    async with Node(Config(data=tmp_path / "data")) as node:
        assert node.address

    with pytest.raises(ArchiveError, match="a copy of the log"):
        async with Node(Config(data=tmp_path / "data", nats=url_of(outside_nats))):
            pass


async def test_a_log_that_has_lost_its_end_is_refused(outside_nats: EmbeddedNats, tmp_path: Path) -> None:
    config = Config(data=tmp_path / "data", nats=url_of(outside_nats))
    connection = await NatsConnection.open(url_of(outside_nats))
    log = await JetStreamLog.open(connection)
    from mersey.log.archive import Archive
    from mersey.log.ports import Entry

    config.data.mkdir()
    archive = Archive.open(config.data / "archive.db", log.incarnation)
    await archive.write([Entry(position=5, stream="table.lost", data=b"gone")])
    await archive.close()
    await connection.close()

    with pytest.raises(LogReplaced, match="lost its end"):
        async with Node(config):
            pass


async def test_a_port_in_use_is_named(node: Node, tmp_path: Path) -> None:
    host, _, port = node.address.rpartition(":")

    with pytest.raises(ConfigError, match=f"{node.address}: can't listen there"):
        async with Node(Config(data=tmp_path / "data", host=host, port=int(port))):
            pass
