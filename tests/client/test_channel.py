"""The SDK against a real server: commands, errors, parts, watching, and connections that break."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import grpc
import grpc.aio
import msgspec
import pytest

from client.cutter import Cutter
from mersey.client.bot import play_bot, seat_at
from mersey.client.channel import MerseyClient
from mersey.client.errors import (
    DeniedError,
    InvalidError,
    MovedOnError,
    NotFoundError,
    RefusedError,
    UnavailableError,
)
from mersey.client.strategies.chance import ChanceStrategy
from mersey.client.strategies.greedy import GreedyStrategy
from mersey.client.transport import Backoff, error_from_rpc
from mersey.client.wire import RawUpdate
from mersey.game.events import GameEnded
from mersey.game.seen import Update
from mersey.rules.refusals import NotationError
from mersey.server.node import Node
from server.people import one_round


async def table_of_bots(host: MerseyClient, bots: int, **fields: str) -> str:
    """Return a table of one round with so many bots of the server."""
    table = (await host.create_table(rules_toml=one_round(), **fields)).table
    if bots:
        await host.add_bots(table, ["greedy"] * bots)
    return table


async def test_a_table_is_opened_listed_and_closed(host: MerseyClient) -> None:
    table = await host.create_table("bga", seats=3, spectators="none", archived=True)

    assert (table.state, table.rules.id, len(table.seats), table.free) == ("seating", "bga", 3, 3)
    assert table.table in [open_table.table async for open_table in host.list_tables()]
    done = await host.close_table(table.table)
    assert done.durability == "archived"
    assert (await host.get_table(table.table)).finished


async def test_a_seat_is_taken_with_a_part_that_is_opened_when_the_table_is_full(
    host: MerseyClient, player: MerseyClient
) -> None:
    table = await table_of_bots(host, 2)
    seated = await player.take_seat(table)
    await host.take_seat(table, part=b"")
    await host.start_game(table)
    view = await player.view(table)

    assert view.you == seated.seat
    given = [(seat.committed, seat.shown) for seat in view.seats if seat is not None]
    assert given.count((True, True)) == 1
    assert given.count((False, False)) == 3


async def test_the_start_waits_for_a_part_that_is_not_open_yet(
    host: MerseyClient, player: MerseyClient
) -> None:
    table = await table_of_bots(host, 3)
    await player.take_seat(table)
    part = player._parts.pop(table)  # so that it is opened here and not before
    start = asyncio.create_task(host.start_game(table, parts_s=60))
    for _ in range(10):
        assert (await host.view(table)).step == "seating"
    player._parts[table] = part
    await player.open_part(table)
    await start

    assert [(seat.committed, seat.shown) for seat in (await host.view(table)).seats if seat][3] == (
        True,
        True,
    )


async def test_the_start_does_not_wait_for_ever_for_a_part_that_nobody_opens(
    host: MerseyClient, player: MerseyClient
) -> None:
    table = await table_of_bots(host, 3)
    await player.take_seat(table)
    player._parts.clear()  # a client that lost its part
    await host.start_game(table, parts_s=0.05)
    view = await host.view(table)

    assert view.round == 1
    assert [(seat.committed, seat.shown) for seat in view.seats if seat][3] == (True, False)


async def test_a_seat_is_given_back(host: MerseyClient, player: MerseyClient) -> None:
    table = await table_of_bots(host, 0)
    await player.take_seat(table, seat=2)
    assert await seat_at(player, table) == 2
    await player.leave_seat(table)

    assert await seat_at(player, table) is None


async def test_a_refusal_carries_its_code_and_section_and_leaves_no_trace(
    host: MerseyClient, player: MerseyClient
) -> None:
    table = await table_of_bots(host, 3)
    seat = (await player.take_seat(table, part=b"")).seat
    await host.start_game(table)
    before = await player.view(table)
    with pytest.raises(RefusedError) as refused:
        await player.act(table, "lay X on 1")

    assert refused.value.code in ("not_your_turn", "must_draw_first", "buy_window_open")
    assert refused.value.section in ("5", "6")
    assert seat == before.you
    with pytest.raises(RefusedError, match="started"):
        await host.take_seat(table)


async def test_what_is_no_action_is_refused_before_it_is_sent(player: MerseyClient) -> None:
    with pytest.raises(NotationError, match="not an action"):
        await player.act("anything", "sing")


async def test_errors_have_types(node: Node, host: MerseyClient) -> None:
    table = (await host.create_table()).table
    with pytest.raises(NotFoundError):
        await host.get_table("nosuchtable")
    with pytest.raises(InvalidError) as invalid:
        await host.create_table("contract", seats=9)
    assert "4" in str(invalid.value)
    with pytest.raises(NotFoundError):
        await host.create_table("whist")
    async with MerseyClient(node.address, "not a token") as stranger:
        with pytest.raises(DeniedError):
            await stranger.get_table(table)
    with pytest.raises(RefusedError, match="taken"):
        await host.start_game(table)


@pytest.mark.parametrize("code", [grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN])
def test_a_word_of_the_transport_about_a_broken_connection_is_no_answer(code: grpc.StatusCode) -> None:
    nothing = grpc.aio.Metadata()
    broken = grpc.aio.AioRpcError(code, nothing, nothing, details="Internal error from Core")

    assert isinstance(error_from_rpc(broken), UnavailableError)


async def test_a_cancellation_that_grpc_has_lost_ends_the_waiting_for_a_server() -> None:
    async def call() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        await Backoff(None).wait(UnavailableError(14, "", "the connection broke in that very moment"))

    calling = asyncio.create_task(call())
    await asyncio.sleep(0)
    calling.cancel()

    with pytest.raises(asyncio.CancelledError):
        await calling


async def test_an_exact_action_on_a_table_that_moved_on_says_where_it_is(
    host: MerseyClient, player: MerseyClient
) -> None:
    table = await table_of_bots(host, 3)
    await player.take_seat(table, part=b"")
    await host.start_game(table)
    with pytest.raises(MovedOnError) as moved:
        await player.act(table, "pass", seen_version=1, only_at=True)

    assert moved.value.head_version > 1


async def test_the_same_command_id_gets_the_first_answer_again(
    host: MerseyClient, player: MerseyClient
) -> None:
    table = (await host.create_table(rules_toml=one_round(), command_id="the-table")).table
    again = (await host.create_table(rules_toml=one_round(), command_id="the-table")).table
    first = await player.take_seat(table, part=b"", command_id="sit")
    second = await player.take_seat(table, part=b"", command_id="sit")

    assert (again, second) == (table, first)


async def test_nobody_there_is_said_at_once(unused_tcp_port: int) -> None:
    async with MerseyClient(f"127.0.0.1:{unused_tcp_port}", patience_s=0.0) as client:
        with pytest.raises(UnavailableError, match="no server answers at"):
            await client.connect(0.2)
        with pytest.raises(UnavailableError):
            await client.get_table("t")


async def test_a_whole_game_of_bots_over_the_wire_is_watched_to_its_end(
    node: Node, host: MerseyClient
) -> None:
    table = await table_of_bots(host, 2)
    tokens = [node.issue_token(name, "player") for name in ("East", "West")]
    async with MerseyClient(node.address, tokens[0]) as east, MerseyClient(node.address, tokens[1]) as west:
        bots = [
            asyncio.create_task(play_bot(east, table, GreedyStrategy(), "e")),
            asyncio.create_task(play_bot(west, table, ChanceStrategy(), "w")),
        ]
        async for moment in host.follow(table):
            if (await host.get_table(table)).free == 0:
                assert not moment.stale
                break
        await host.start_game(table)
        updates = [update async for update in host.watch(table)]
        played = await asyncio.gather(*bots)
        again = await play_bot(east, table, GreedyStrategy(), "e")

    assert [update.version for update in updates] == list(range(1, len(updates) + 1))
    assert isinstance(updates[-1].event, GameEnded)
    assert sorted(bot.seat for bot in played) == [2, 3]
    assert all(bot.actions for bot in played)
    assert played[0].view.places == updates[-1].event.places
    assert (again.seat, again.actions) == (played[0].seat, 0)


async def test_a_seat_that_is_cut_off_again_and_again_plays_each_action_once_and_misses_nothing(
    node: Node, host: MerseyClient
) -> None:
    table = (await host.create_table("contract", seed="cut off")).table
    await host.add_bots(table, ["greedy"] * 3)
    port = int(node.address.rpartition(":")[2])
    cuts = [40, 900, 3_000, 3_500, 7_000, 9_001, 12_003, 15_007, 20_011, 31_013]
    async with Cutter(port, cuts) as cutter:
        token = node.issue_token("Cut off", "player")
        async with MerseyClient(cutter.address, token) as client:
            await client.take_seat(table, part=b"")
            await host.start_game(table)
            ids: list[str] = []
            seen: list[Update | RawUpdate] = []
            async with client.play(table) as seat:
                async for moment in seat.moments():
                    seen += moment.updates
                    turn = moment.turn
                    if turn is None or not seat.is_current(turn):
                        continue
                    ids.append(f"a{len(ids)}")
                    action = next(choice.actions[0] for choice in reversed(turn.choices.legal))
                    if turn.choices.actions("pass"):
                        action = turn.choices.actions("pass")[0]
                    acted = await seat.act(action, seen_version=turn.view.version, command_id=ids[-1])
                    assert acted.version > turn.view.version
                    if len(ids) == 60:
                        break
        assert cutter.cuts >= 5
    uncut = [update async for update in _until(host, table, len(seen))]

    assert [update.version for update in seen] == [update.version for update in uncut]
    assert len(set(ids)) == len(ids) == 60


async def _until(client: MerseyClient, table: str, version: int) -> AsyncIterator[Update | RawUpdate]:
    async for update in client.watch(table):
        yield update
        if update.version == version:
            return


async def test_a_watch_that_is_cut_anywhere_is_the_uncut_watch(node: Node, host: MerseyClient) -> None:
    table = await table_of_bots(host, 4)
    await host.start_game(table)
    uncut = [update async for update in host.watch(table)]
    port = int(node.address.rpartition(":")[2])
    token = node.issue_token("Watcher", "spectator")
    async with (
        Cutter(port, [100, 2_000, 5_000, 9_000, 20_000]) as cutter,
        MerseyClient(cutter.address, token) as client,
    ):
        seen = [update async for update in client.watch(table)]
        assert cutter.cuts >= 3

    assert seen == uncut


async def test_the_record_of_a_running_game_is_not_given_out(host: MerseyClient) -> None:
    table = await table_of_bots(host, 0)
    with pytest.raises(RefusedError, match="once the game has ended"):
        await anext(host.get_record(table))


async def test_a_game_that_is_over_is_found_and_verified(host: MerseyClient) -> None:
    table = await table_of_bots(host, 4, seed="found")
    await host.start_game(table)
    updates = [update async for update in host.watch(table)]
    games = [game async for game in host.list_games()]
    found = next(game for game in games if game.table == table)

    assert (found.state, found.version, len(found.places)) == ("ended", len(updates), 4)
    assert (await host.view_at(table, everything=True)).step == "game_over"
    assert (await host.view_at(table, 12, seat=1)).you == 1
    commits = [commit async for commit in host.get_record(table)]
    assert commits[0].startswith(b"{")
    assert sum(len(msgspec.json.decode(commit)["events"]) for commit in commits) == len(updates)
    verified = await host.verify_game(table)
    assert (verified.ok, verified.fault_commit) == (True, 0)
    with pytest.raises(RefusedError):
        await host.act(table, "stock")
