"""Whole games over gRPC: with the server's bots, with raw clients, and what is left of them."""

from __future__ import annotations

import asyncio

import grpc.aio

from mersey.log.archive_reader import ArchiveReader
from mersey.log.commit import decode
from mersey.server.node import Node
from mersey.v1 import table_pb2
from server.people import Person, events_of


async def record_of(person: Person, table: str) -> list[bytes]:
    stream = person.stream("GetRecord", name=table)
    return [commit async for response in stream for commit in response.commits]


async def test_the_servers_bots_play_a_whole_contract_game_that_verifies(host: Person) -> None:
    table = await host.open_table(["chance", "greedy", "greedy", "greedy"], rules="contract")
    await host.ask("StartGame", name=table)

    updates = await host.watch_all(table)

    events = events_of(updates)
    assert [update.version for update in updates] == list(range(1, len(updates) + 1))
    assert [event["type"] for event in events].count("round_ended") == 7
    assert events[-1]["type"] == "game_ended"
    verified = await host.ask("VerifyGame", name=table)
    assert verified.ok, verified.fault
    (game,) = [game for game in (await host.ask("ListGames", page_size=200)).games if game.name == table]
    assert game.state == table_pb2.TABLE_STATE_ENDED
    assert (list(game.totals), list(game.places)) == (events[-1]["totals"], events[-1]["places"])
    assert game.version == len(updates)


async def test_four_raw_clients_play_a_game_to_its_end(node: Node, channel: grpc.aio.Channel) -> None:
    people = [Person(channel, node.issue_token(f"Player {seat}", "player")) for seat in range(4)]
    table = await people[0].open_table()
    seats = [(await person.ask("TakeSeat", name=table)).seat for person in people]
    assert seats == [0, 1, 2, 3]
    await people[0].ask("StartGame", name=table)

    await asyncio.gather(*(person.play_by_chance(table) for person in people))

    assert (await people[0].ask("VerifyGame", name=table)).ok
    shown = await people[2].ask("GetTable", name=table)
    assert shown.state == table_pb2.TABLE_STATE_ENDED
    assert [seat.display_name for seat in shown.seats] == [f"Player {seat}" for seat in range(4)]


async def test_one_two_way_stream_plays_a_seat_among_bots(node: Node, channel: grpc.aio.Channel) -> None:
    from mersey.v1 import action_pb2

    person = Person(channel, node.issue_token("Ann", "host"))
    table = await person.open_table(["chance"] * 3)
    await person.ask("TakeSeat", name=table)
    await person.ask("StartGame", name=table)
    call = person.tables.Play(metadata=person.metadata)
    watch = table_pb2.PlayCommand(watch=table_pb2.WatchRequest(name=table, with_turns=True))
    await call.write(table_pb2.PlayRequest(commands=[watch]))

    versions, answers, asked, last = [], 0, 0, ""
    while '"game_ended"' not in last:
        response = await call.read()
        answers += len(response.answers)
        for answer in response.answers:
            assert answer.WhichOneof("outcome") == "done" or answer.failure.code == 9, answer
        for part in response.tables:
            for update in part.updates:
                versions.append(update.version)
                last = update.json
            if part.HasField("turn"):
                asked += 1
                legal = part.turn.choices.legal[-1]
                act = table_pb2.ActRequest(
                    name=table,
                    command_id=f"{asked}",
                    action=legal.forms[0].action,
                    seen_version=part.turn.view.version,
                )
                await call.write(table_pb2.PlayRequest(commands=[table_pb2.PlayCommand(act=act)]))
    call.cancel()

    assert versions == list(range(1, len(versions) + 1))
    assert answers >= asked - 1 > 5
    assert isinstance(legal.forms[0].action, action_pb2.Action)


async def test_the_record_the_archive_and_the_log_hold_the_same_bytes(node: Node, host: Person) -> None:
    table = await host.open_table(["chance"] * 4)
    await host.ask("StartGame", name=table)
    await host.watch_all(table)

    commits = await record_of(host, table)

    stream = table.replace("tables/", "table.")
    with ArchiveReader(node.config.data / "archive.db") as archive:
        entries = list(archive.commits_of(stream))
    assert [entry.data for entry in entries] == commits
    assert [entry.data for entry in await node.log.tail(stream, 0)] == commits
    assert [decode(data).number for data in commits] == list(range(1, len(commits) + 1))
