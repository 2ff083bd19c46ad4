"""The command path: ids, retries, races within one server, exactness, seats and roles."""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import hashlib

import grpc
import grpc.aio
import msgspec
import pytest

from mersey.server.node import Node
from mersey.v1 import table_pb2
from server.people import Person, events_of, info_of, one_round, reason_of

REFUSED = grpc.StatusCode.FAILED_PRECONDITION


@dataclasses.dataclass
class Seated:
    """A running table and its people by seat."""

    name: str
    people: list[Person]

    async def active(self) -> int:
        view = await self.people[0].ask("GetView", name=self.name)
        return int(msgspec.json.decode(view.json)["active"])


async def seated(node: Node, channel: grpc.aio.Channel, count: int = 4, **fields: object) -> Seated:
    """Return a running table of ``count`` people."""
    people = [Person(channel, node.issue_token(f"P{seat}", "host")) for seat in range(count)]
    name = await people[0].open_table(**fields)
    for person in people:
        await person.ask("TakeSeat", name=name)
    await people[0].ask("StartGame", name=name)
    return Seated(name, people)


async def offered(node: Node, channel: grpc.aio.Channel, count: int = 4, **fields: object) -> Seated:
    """Return a running table whose active player has chosen the stock."""
    table = await seated(node, channel, count, **fields)
    await table.people[await table.active()].play_text(table.name, "stock")
    return table


async def outcomes(*calls: object) -> list[object]:
    """Return what each call answered or raised."""
    return await asyncio.gather(*calls, return_exceptions=True)  # type: ignore[call-overload, no-any-return]


async def test_a_command_sent_again_gets_its_first_answer(node: Node, channel: grpc.aio.Channel) -> None:
    table = await seated(node, channel)
    active = table.people[await table.active()]
    first = await active.play_text(table.name, "stock", command_id="once")
    await table.people[(await table.active() + 1) % 4].play_text(table.name, "pass")

    again = await active.play_text(table.name, "stock", command_id="once")

    assert again == first
    assert first.durability == table_pb2.DURABILITY_LOGGED
    assert [event["type"] for event in events_of(first.updates)] == ["stock_chosen", "discard_offered"]


async def test_an_id_used_for_another_command_is_refused(node: Node, channel: grpc.aio.Channel) -> None:
    table = await seated(node, channel)
    active = table.people[await table.active()]
    await active.play_text(table.name, "stock", command_id="once")

    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await active.play_text(table.name, "take", command_id="once")

    assert reason_of(refused.value) == "COMMAND_ID_REUSED"


async def test_a_refused_command_leaves_no_trace_and_its_id_is_free(
    node: Node, channel: grpc.aio.Channel
) -> None:
    table = await seated(node, channel)
    active = table.people[await table.active()]
    before = await active.ask("GetTable", name=table.name)

    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await active.play_text(table.name, "pass", command_id="early")
    after = await active.ask("GetTable", name=table.name)
    taken = await active.play_text(table.name, "take", command_id="early")

    assert (refused.value.code(), reason_of(refused.value)) == (REFUSED, "NO_BUY_WINDOW")
    assert info_of(refused.value).metadata["section"] == "6"
    assert after == before
    assert taken.version == before.version + 1


async def test_two_players_may_use_one_id_each_for_their_own(node: Node, channel: grpc.aio.Channel) -> None:
    table = await offered(node, channel)
    buyers = [(await table.active() + step) % 4 for step in (1, 2)]

    for seat in buyers:
        await table.people[seat].play_text(table.name, "pass", command_id="same")


async def test_fifty_equal_claims_make_one_buy_and_get_one_answer(
    node: Node, channel: grpc.aio.Channel
) -> None:
    table = await offered(node, channel)
    buyer = table.people[(await table.active() + 1) % 4]

    answers = await outcomes(*(buyer.play_text(table.name, "buy", command_id="mine") for _ in range(50)))

    assert answers == [answers[0]] * 50
    assert not isinstance(answers[0], BaseException)
    assert await kinds(buyer, table.name, "buy_wanted", "discard_bought") == [1, 1]


async def test_fifty_claims_with_ids_of_their_own_make_one_buy(node: Node, channel: grpc.aio.Channel) -> None:
    table = await offered(node, channel)
    buyer = table.people[(await table.active() + 2) % 4]  # the seat before it has yet to answer

    answers = await outcomes(*(buyer.play_text(table.name, "buy") for _ in range(50)))

    refused = [answer for answer in answers if isinstance(answer, grpc.aio.AioRpcError)]
    assert len(refused) == 49
    assert {reason_of(error) for error in refused} == {"ALREADY_ANSWERED"}
    assert await kinds(buyer, table.name, "buy_wanted") == [1]


async def kinds(person: Person, table: str, *wanted: str) -> list[int]:
    """Return how often each kind of event has come to a table that goes on."""
    head = (await person.ask("GetTable", name=table)).version
    events: list[str] = []
    stream = person.stream("Watch", name=table)
    async for response in stream:
        events += [event["type"] for event in events_of(response.updates)]
        if len(events) >= head:
            break
    stream.cancel()
    return [events.count(kind) for kind in wanted]


async def test_eight_seats_answer_an_offer_at_once_without_an_error(
    node: Node, channel: grpc.aio.Channel
) -> None:
    table = await offered(node, channel, 8, rules="bga", seat_count=8)

    answers = await outcomes(*(person.play_text(table.name, "buy") for person in table.people))

    refused = [answer for answer in answers if isinstance(answer, BaseException)]
    assert all(isinstance(error, grpc.aio.AioRpcError) and error.code() == REFUSED for error in refused)
    assert len(refused) < 8
    assert await kinds(table.people[0], table.name, "discard_bought") == [1]


async def test_only_at_is_played_at_that_version_or_not_at_all(node: Node, channel: grpc.aio.Channel) -> None:
    table = await offered(node, channel)
    first, second = [table.people[(await table.active() + step) % 4] for step in (1, 2)]
    seen = (await first.ask("GetView", name=table.name)).version
    await second.play_text(table.name, "pass", seen_version=seen, only_at=True)

    with pytest.raises(grpc.aio.AioRpcError) as moved_on:
        await first.play_text(table.name, "buy", seen_version=seen, only_at=True)
    await first.play_text(table.name, "buy", seen_version=seen)

    assert moved_on.value.code() == grpc.StatusCode.ABORTED
    assert info_of(moved_on.value).metadata["head_version"] == str(seen + 1)


async def test_a_version_that_nobody_has_yet_is_not_judged(node: Node, channel: grpc.aio.Channel) -> None:
    table = await seated(node, channel)

    with pytest.raises(grpc.aio.AioRpcError) as ahead:
        await table.people[await table.active()].play_text(table.name, "stock", seen_version=10_000)

    assert (ahead.value.code(), reason_of(ahead.value)) == (grpc.StatusCode.UNAVAILABLE, "VERSION_AHEAD")


async def test_create_table_again_meets_its_own_first_commit(host: Person) -> None:
    first = await host.ask("CreateTable", command_id="one", rules="contract")

    again = await host.ask("CreateTable", command_id="one", rules="contract")
    with pytest.raises(grpc.aio.AioRpcError) as other:
        await host.ask("CreateTable", command_id="one", rules="liverpool")

    assert again.table == first.table
    assert reason_of(other.value) == "COMMAND_ID_REUSED"


async def test_the_table_id_is_made_from_the_host_and_the_command_id(host: Person) -> None:
    table = (await host.ask("CreateTable", command_id="one", rules="contract")).table

    def lp(text: str) -> bytes:
        return len(text).to_bytes(4, "big") + text.encode()

    digest = hashlib.sha256(lp(table.host) + lp("one")).digest()
    assert table.name == "tables/" + base64.b32encode(digest).decode().lower()[:16]


async def test_add_bots_again_seats_nobody_twice(host: Person) -> None:
    table = await host.open_table()
    first = await host.ask("AddBots", name=table, command_id="b", strategies=["chance", "greedy"])

    again = await host.ask("AddBots", name=table, command_id="b", strategies=["chance", "greedy"])
    with pytest.raises(grpc.aio.AioRpcError) as other:
        await host.ask("AddBots", name=table, command_id="b", strategies=["chance", "chance"])
    with pytest.raises(grpc.aio.AioRpcError) as more:
        await host.ask("AddBots", name=table, command_id="b", strategies=["chance", "greedy", "chance"])
    with pytest.raises(grpc.aio.AioRpcError) as full:
        await host.ask("AddBots", name=table, strategies=["chance"] * 3)
    await host.ask("AddBots", name=table, strategies=["chance"])
    with pytest.raises(grpc.aio.AioRpcError) as nearly:
        await host.ask("AddBots", name=table, strategies=["chance"] * 2)

    assert again == first
    assert list(first.seats) == [0, 1]
    assert reason_of(other.value) == reason_of(more.value) == "COMMAND_ID_REUSED"
    assert reason_of(full.value) == "TABLE_FULL"
    assert [info_of(error.value).metadata["fact"] for error in (full, nearly)] == [
        "2 seats are free",
        "1 seat is free",
    ]


async def test_a_table_can_ask_that_answers_wait_for_the_archive(host: Person, node: Node) -> None:
    from mersey.log.archive_reader import ArchiveReader

    answer = await host.ask("CreateTable", rules="contract", archived=True)

    assert answer.durability == table_pb2.DURABILITY_ARCHIVED
    with ArchiveReader(node.config.data / "archive.db") as archive:
        assert archive.head(answer.table.name.replace("tables/", "table.")).number == 1


async def test_a_given_seed_gives_the_same_game_and_says_so(host: Person) -> None:
    hands = []
    for _ in range(2):
        table = await host.open_table(["chance"] * 4, seed="four aces")
        await host.ask("StartGame", name=table)
        updates = events_of(await host.watch_all(table))
        assert updates[0]["chance"] == "given"
        hands.append([event for event in updates if event["type"] not in ("table_opened", "seat_taken")])

    assert hands[0] == hands[1]


async def test_only_a_host_gives_the_seed_that_tells_every_card(
    node: Node, channel: grpc.aio.Channel
) -> None:
    player = Person(channel, node.issue_token("Eve", "player"))
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await player.open_table([], seed="four aces")
    assert reason_of(refused.value) == "PERMISSION_DENIED"
    assert await player.open_table([])


async def test_a_player_cannot_do_what_is_the_hosts(
    host: Person, node: Node, channel: grpc.aio.Channel
) -> None:
    player = Person(channel, node.issue_token("Eve", "player"))
    table = await host.open_table(["chance"] * 4)

    for method in ("StartGame", "CloseTable"):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await player.ask(method, name=table)
        assert reason_of(refused.value) == "NOT_THE_HOST"
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await player.ask("AddBots", name=table, strategies=["chance"])
    assert reason_of(refused.value) == "NOT_THE_HOST"


@pytest.mark.parametrize("role", ["spectator", "auditor"])
async def test_who_only_watches_gives_no_commands(
    role: str, host: Person, node: Node, channel: grpc.aio.Channel
) -> None:
    watcher = Person(channel, node.issue_token("Eve", role))  # type: ignore[arg-type]
    table = await host.open_table()

    for method, fields in (
        ("CreateTable", {"rules": "contract"}),
        ("TakeSeat", {"name": table}),
        ("StartGame", {"name": table}),
        ("CloseTable", {"name": table}),
    ):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await watcher.ask(method, **fields)
        assert reason_of(refused.value) == "PERMISSION_DENIED"


async def test_seats_are_taken_left_and_taken_again(host: Person) -> None:
    table = await host.open_table()
    part = bytes(range(32))
    commitment = hashlib.sha256(part).digest()

    taken = await host.ask("TakeSeat", name=table, seat=2, commitment=commitment, display_name="Zoë")
    with pytest.raises(grpc.aio.AioRpcError) as twice:
        await host.ask("TakeSeat", name=table, seat=3)
    with pytest.raises(grpc.aio.AioRpcError) as wrong:
        await host.ask("OpenEntropy", name=table, part=bytes(32))
    await host.ask("OpenEntropy", name=table, part=part)
    shown = await host.ask("GetTable", name=table)
    await host.ask("LeaveSeat", name=table)
    left = await host.ask("GetTable", name=table)

    assert taken.seat == 2
    assert (reason_of(twice.value), reason_of(wrong.value)) == ("ALREADY_SEATED", "ENTROPY_MISMATCH")
    assert (shown.seats[2].display_name, left.seats[2].player) == ("Zoë", "")


async def test_a_closed_table_takes_no_more_commands_and_gives_its_record_out(host: Person) -> None:
    table = await host.open_table(["chance"] * 3)
    with pytest.raises(grpc.aio.AioRpcError) as running:
        await anext(aiter(host.stream("GetRecord", name=table)))
    await host.ask("CloseTable", name=table)

    with pytest.raises(grpc.aio.AioRpcError) as closed:
        await host.ask("TakeSeat", name=table)

    assert reason_of(running.value) == "RECORD_NOT_OPEN"
    assert reason_of(closed.value) == "TABLE_CLOSED"
    assert (await host.ask("VerifyGame", name=table)).ok


async def test_open_tables_are_listed_page_by_page_newest_first(host: Person) -> None:
    opened = [await host.open_table() for _ in range(5)]

    listed, token = [], ""
    while True:
        page = await host.ask("ListTables", page_size=2, page_token=token)
        listed += [table.name for table in page.tables]
        token = page.next_page_token
        if not token:
            break

    assert [name for name in listed if name in opened] == opened[::-1]
    assert len(set(listed)) == len(listed)


MALFORMED = [
    ("CreateTable", {"command_id": "", "rules": "contract"}, "command_id"),
    ("CreateTable", {"command_id": "x" * 65, "rules": "contract"}, "command_id"),
    ("CreateTable", {"command_id": "tab\t", "rules": "contract"}, "command_id"),
    ("CreateTable", {"rules": "contract", "spectators": 99}, "spectators"),
    ("CreateTable", {"rules": "contract", "seed": "x" * 201}, "seed"),
    ("TakeSeat", {"name": "no-table"}, "name"),
    ("TakeSeat", {"name": "tables/x", "commitment": b"short"}, "commitment"),
    ("TakeSeat", {"name": "tables/x", "display_name": "a\u202eb"}, "display_name"),
    ("OpenEntropy", {"name": "tables/x", "part": b"short"}, "part"),
    ("AddBots", {"name": "tables/x"}, "strategies"),
    ("Act", {"name": "tables/x"}, "action"),
    ("Act", {"name": "tables/x", "seen_version": -1, "action": {"text": "stock"}}, "seen_version"),
    ("Act", {"name": "tables/x", "action": {"text": "frobnicate"}}, "action.text"),
    ("Act", {"name": "tables/x", "action": {"discard": {"card": "1Z"}}}, "action.discard.card"),
    ("ListTables", {"page_size": 201}, "page_size"),
    ("ListTables", {"page_token": "%%%"}, "page_token"),
    ("ListGames", {"page_size": -1}, "page_size"),
]


@pytest.mark.parametrize(("method", "fields", "field"), MALFORMED)
async def test_a_malformed_field_is_named(
    method: str, fields: dict[str, object], field: str, host: Person
) -> None:
    from google.rpc import error_details_pb2

    from server.people import details_of

    with pytest.raises(grpc.aio.AioRpcError) as error:
        await host.ask(method, **fields)

    assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert reason_of(error.value) == "INVALID_ARGUMENT"
    bad = error_details_pb2.BadRequest()
    assert any(detail.Unpack(bad) for detail in details_of(error.value))
    assert [violation.field for violation in bad.field_violations] == [field]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"rules": "../../etc/passwd"}, "NO_SUCH_RULES"),
        ({"rules": "canasta"}, "NO_SUCH_RULES"),
        ({}, "NO_SUCH_RULES"),
        ({"rules_toml": "id = 'x'"}, "RULES_INVALID"),
        ({"rules_toml": "][" * 50}, "RULES_INVALID"),
        ({"rules": "contract", "seat_count": 5}, "PLAYERS_OUT_OF_RANGE"),
    ],
)
async def test_a_rule_set_that_cannot_be_played_is_refused(
    fields: dict[str, object], reason: str, host: Person
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await host.ask("CreateTable", **fields)

    assert reason_of(error.value) == reason


async def test_a_house_rule_set_is_played_as_its_file_says(host: Person) -> None:
    table = await host.ask("CreateTable", rules_toml=one_round("liverpool"))

    assert table.table.rules == "liverpool"
    assert '"cut_spread"' in table.table.rules_json


async def test_what_is_not_there_is_not_found(host: Person) -> None:
    for method in ("GetTable", "GetView", "ListChoices", "StartGame", "VerifyGame", "GetViewAt"):
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await host.ask(method, name="tables/nowhere")
        assert (error.value.code(), reason_of(error.value)) == (grpc.StatusCode.NOT_FOUND, "NO_SUCH_TABLE")
