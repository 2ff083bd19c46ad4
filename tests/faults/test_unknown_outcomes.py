"""Appends whose outcome is unknown: resolved from the log's own tail, never doubled, never taken for done."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import grpc.aio
import pytest

from mersey.log.commit import decode
from mersey.log.embedded import EmbeddedNats
from mersey.log.failpoints import Failpoints
from mersey.server.config import Config
from mersey.server.node import Node
from server.people import Person, one_round, reason_of


async def ids_logged(node: Node, table: str) -> list[str]:
    """Return the ids of the commands in the log of a table, in order."""
    return [
        decode(entry.data).command_id for entry in await node.log.tail(table.replace("tables/", "table."), 0)
    ]


async def test_a_command_whose_acknowledgement_is_lost_is_answered_and_stands_once(tmp_path: Path) -> None:
    points = Failpoints.read({"MERSEY_FAILPOINTS": ",".join(f"lost-ack:{nth}" for nth in range(1, 200))})
    async with (
        Node(Config(data=tmp_path / "data"), points) as node,
        grpc.aio.insecure_channel(node.address) as channel,
    ):
        host = Person(channel, node.host_token)
        name = (await host.ask("CreateTable", command_id="open", rules_toml=one_round())).table.name
        await host.ask("AddBots", name=name, strategies=["chance"] * 3, command_id="bots")
        taken = await host.ask("TakeSeat", name=name, command_id="seat")
        again = await host.ask("TakeSeat", name=name, command_id="seat")

        assert again == taken
        assert await ids_logged(node, name) == ["open", "bots/3", "bots/3", "bots/3", "seat"]


async def test_a_publish_that_arrives_late_does_not_double_its_command(
    outside_nats: EmbeddedNats, tmp_path: Path
) -> None:
    """A stopped process keeps its sockets: what is sent to it arrives when it goes on."""
    url = outside_nats.url.replace("://", f"://app:{outside_nats.credentials.app}@")
    async with (
        Node(Config(data=tmp_path / "data", nats=url)) as node,
        grpc.aio.insecure_channel(node.address) as channel,
    ):
        host = Person(channel, node.host_token)
        name = await host.open_table()
        os.kill(outside_nats.pid, signal.SIGSTOP)
        try:
            for _ in range(2):
                with pytest.raises(grpc.aio.AioRpcError) as unknown:
                    await host.ask("TakeSeat", name=name, command_id="seat")
                assert unknown.value.code() == grpc.StatusCode.UNAVAILABLE
                assert reason_of(unknown.value) == "OUTCOME_UNKNOWN"
        finally:
            os.kill(outside_nats.pid, signal.SIGCONT)

        await host.ask("TakeSeat", name=name, command_id="seat")

        assert (await ids_logged(node, name))[1:] == ["seat"]
        assert (await host.ask("GetTable", name=name)).version == 2
