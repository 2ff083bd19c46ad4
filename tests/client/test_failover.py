"""Several servers of one log: when one is away, everything goes on at the next, with the same command ids."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from mersey.client.channel import MerseyClient
from mersey.client.errors import UNAVAILABLE, NotFoundError, UnavailableError
from mersey.client.transport import Backoff, Transport
from mersey.server.config import Config
from mersey.server.node import Node
from outside import free_ports, one_nats
from server.people import one_round

NOBODY = "127.0.0.1:1"


async def test_a_server_that_is_not_there_is_passed_over(node: Node) -> None:
    async with MerseyClient(f"{NOBODY}, {node.address}", node.issue_token("Ann", "host")) as client:
        await client.connect()
        table = (await client.create_table(rules_toml=one_round())).table
        await client.add_bots(table, ["greedy"] * 4)
        await client.start_game(table)
        versions = [update.version async for update in client.watch(table)]

        assert versions == list(range(1, len(versions) + 1))
        assert (await client.verify_game(table)).ok


async def test_only_what_is_away_is_passed_over(node: Node) -> None:
    async with MerseyClient(f"{node.address},{NOBODY}", node.issue_token("Ann", "host")) as client:
        for _ in range(2):
            with pytest.raises(NotFoundError):
                await client.get_table("nowhere")
        await client.create_table()


async def test_where_no_server_answers_it_is_said_of_all() -> None:
    async with MerseyClient(f"{NOBODY},127.0.0.1:2", patience_s=0.1) as client:
        with pytest.raises(UnavailableError, match=rf"no server answers at {NOBODY},127\.0\.0\.1:2"):
            await client.connect()
        with pytest.raises(UnavailableError):
            await client.get_table("any")


async def test_a_seat_and_a_watcher_go_on_at_the_next_server_when_theirs_stops(tmp_path: Path) -> None:
    async with one_nats(tmp_path / "nats") as nats:
        ports = free_ports(2)
        configs = [
            Config(
                data=tmp_path / name, nats=nats.app_url, keys=tmp_path / "keys", port=port, heartbeat_s=0.1
            )
            for name, port in zip("ab", ports, strict=True)
        ]
        async with Node(configs[1]) as second:
            first = Node(configs[0])
            await first.__aenter__()
            both = f"{first.address},{second.address}"
            async with MerseyClient(both, second.issue_token("Ann", "host")) as ann:
                table = (await ann.create_table(rules_toml=one_round())).table
                await ann.take_seat(table, part=b"")
                await ann.add_bots(table, ["greedy"] * 3)
                watching = asyncio.create_task(versions_of(ann, table))
                await ann.start_game(table)
                async with ann.play(table) as seat:
                    left = False
                    async for turn in seat.turns():
                        if not left:
                            left = True
                            await first.__aexit__()
                        await seat.act(turn.choices.legal[-1].actions[0], seen_version=turn.view.version)
                        if turn.view.version > 60:
                            break
                await ann.close_table(table)
                versions = await watching
                assert versions == list(range(1, len(versions) + 1))
                assert (await ann.verify_game(table)).ok


async def versions_of(client: MerseyClient, table: str) -> list[int]:
    return [update.version async for update in client.watch(table)]


async def test_calls_that_fail_together_go_on_by_one_server() -> None:
    transport = Transport("a:1,b:1,c:1", "")
    calls = [transport.backoff() for _ in range(5)]
    error = UnavailableError(UNAVAILABLE, "", "away")

    await asyncio.gather(*(call.wait(error) for call in calls))
    assert transport._at == 1
    await calls[0].wait(error)
    assert transport._at == 2
    await calls[1].wait(error)
    assert transport._at == 2
    await transport.close()


async def test_a_lone_server_is_left_alone_as_long_as_it_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def wait(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("mersey.client.transport.asyncio.sleep", wait)
    busy = UnavailableError(UNAVAILABLE, "LOG_FULL", "full", {"retry_ms": "5000"})

    await Backoff(60.0).wait(busy)
    await Backoff(60.0, 0, lambda at: at + 1).wait(busy)

    assert 2.5 <= waits[0] <= 5.0
    assert waits[1] < 0.1
