"""What must wait for the follower and the archive does, and what need not does not."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import grpc.aio
import pytest

from mersey.game.commands import Close, OpenTable, TakeSeat
from mersey.game.refusals import TableCode, TableRefusal
from mersey.log.archive import Archive
from mersey.log.memory import MemoryLog
from mersey.rules.ruleset_file import load_ruleset
from mersey.server.commands import Commands, Order
from mersey.server.config import Config
from mersey.server.follower import Follower
from mersey.server.node import Node
from mersey.server.projection import project
from mersey.server.tables import Tables
from mersey.v1 import table_pb2
from server.people import Person


class Parts:
    """A follower on a log in memory, and what stands around it."""

    def __init__(self, log: MemoryLog, path: Path) -> None:
        self.archive = Archive.open(path, log.incarnation, project)
        self.tables = Tables(self.archive)
        self.follower = Follower(log, self.archive, self.tables, lambda error: None)
        self.now_ms = 1000
        self.commands = Commands(log, self.follower, self.tables, lambda: self.now_ms)

    async def close(self) -> None:
        await self.follower.stop()
        self.tables.close()
        await self.archive.close()


def opening(table: str) -> Order:
    command = OpenTable(table, load_ruleset("contract"), 4, "ab" * 32, table)
    return Order(table=table, actor="p-1", command_id="c", command=command)


async def test_a_table_opened_elsewhere_is_waited_for(tmp_path: Path) -> None:
    log = MemoryLog()
    one, two = Parts(log, tmp_path / "one.db"), Parts(log, tmp_path / "two.db")
    await one.follower.start()
    await one.commands.carry_out(opening("t1"))

    asked = asyncio.create_task(two.commands.table("t1"))
    await asyncio.sleep(0)
    await two.follower.start()

    assert (await asked).head.version == 1
    with pytest.raises(TableRefusal) as refused:
        await two.commands.table("t2")
    assert refused.value.code is TableCode.NO_SUCH_TABLE
    await one.close()
    await two.close()


async def test_the_recorded_time_never_goes_back(tmp_path: Path) -> None:
    parts = Parts(MemoryLog(), tmp_path / "one.db")
    await parts.follower.start()
    await parts.commands.carry_out(opening("t1"))
    parts.now_ms = 10

    seat = Order(table="t1", actor="p-1", command_id="d", command=TakeSeat())
    answer = await parts.commands.carry_out(seat)

    assert answer.table.head.at_ms == 1000
    await parts.close()


async def test_finished_tables_leave_memory_and_come_back_whole(tmp_path: Path) -> None:
    log = MemoryLog()
    archive = Archive.open(tmp_path / "one.db", log.incarnation, project)
    tables = Tables(archive, kept_max=2)
    follower = Follower(log, archive, tables, lambda error: None)
    commands = Commands(log, follower, tables, lambda: 1000)
    await follower.start()
    for number in range(6):
        await commands.carry_out(opening(f"t{number}"))
        close = Order(table=f"t{number}", actor="p-1", command_id="close", command=Close())
        await follower.archived((await commands.carry_out(close)).table.head.position)

    assert len(list(tables)) <= 3
    again = await commands.carry_out(opening("t0"))
    assert (again.first, again.last, again.table.game.step) == (1, 1, "closed")
    await follower.stop()
    tables.close()
    await archive.close()


async def test_only_an_answer_that_asks_for_it_waits_for_the_archive(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with Node(Config(data=data)) as node, grpc.aio.insecure_channel(node.address) as channel:
        host = Person(channel, node.host_token)
        await host.ask("ListGames")
        block = sqlite3.connect(data / "archive.db", isolation_level=None)
        block.execute("BEGIN IMMEDIATE")
        waiting = asyncio.create_task(host.ask("CreateTable", rules="contract", archived=True))
        while not (await host.ask("ListTables")).tables:
            pass

        logged = await host.ask("CreateTable", rules="contract")
        was_done = waiting.done()
        block.execute("ROLLBACK")
        block.close()

        assert (logged.durability, was_done) == (table_pb2.DURABILITY_LOGGED, False)
        assert (await waiting).durability == table_pb2.DURABILITY_ARCHIVED
