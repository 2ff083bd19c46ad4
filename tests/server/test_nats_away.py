"""The log away, full, or back; the archive's disk full: what is answered meanwhile, and nothing is lost."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc

from mersey.log.archive_reader import ArchiveReader
from mersey.log.commit import decode
from mersey.log.connection import NatsConnection
from mersey.log.jetstream import JetStreamLog
from mersey.log.setup import set_up
from mersey.server.auth import Keys
from mersey.server.config import Config
from mersey.server.health import COMMANDS
from mersey.server.node import Node
from outside import OutsideNats, one_nats
from server.people import Person, details_of, first_of, new_id, reason_of

WITHIN_S = 8.0
"""How long an answer may take here: well above what is promised, as the machine of the tests may be busy, and
below what an unbounded wait would take."""

AWAY = {"LOG_UNAVAILABLE", "OUTCOME_UNKNOWN"}


class Answers(Person):
    """Somebody who hangs up when an answer takes too long."""

    async def ask(self, method: str, **fields: Any) -> Any:
        async with asyncio.timeout(WITHIN_S):
            return await super().ask(method, **fields)

    async def insist(self, method: str, **fields: Any) -> Any:
        """Ask again, with the same command id, until the answer is another than "not now"."""
        while True:
            try:
                return await self.ask(method, **fields)
            except grpc.aio.AioRpcError as error:
                if error.code() not in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED):
                    raise
                await asyncio.sleep(retry_s(error))


def retry_s(error: grpc.aio.AioRpcError) -> float:
    """Return the wait that the error's RetryInfo asks for; each error that passes has one."""
    for detail in details_of(error):
        info = error_details_pb2.RetryInfo()
        if detail.Unpack(info):
            seconds: float = info.retry_delay.ToTimedelta().total_seconds()
            assert 0 < seconds <= 5
            return seconds
    raise AssertionError(f"no RetryInfo in {error!r}")


async def refused(call: Any) -> grpc.aio.AioRpcError:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return caught.value


@asynccontextmanager
async def served(folder: Path, server: OutsideNats) -> AsyncIterator[tuple[Node, grpc.aio.Channel]]:
    config = Config(data=folder / "data", nats=server.app_url, heartbeat_s=0.1)
    async with Node(config) as node, grpc.aio.insecure_channel(node.address) as channel:
        yield node, channel


async def health(channel: grpc.aio.Channel, service: str) -> int:
    stub = health_pb2_grpc.HealthStub(channel)
    return int((await stub.Check(health_pb2.HealthCheckRequest(service=service))).status)


async def until_health(channel: grpc.aio.Channel, service: str, status: int) -> None:
    async for said in health_pb2_grpc.HealthStub(channel).Watch(
        health_pb2.HealthCheckRequest(service=service)
    ):
        if said.status == status:
            return


async def logged_ids(server: OutsideNats, table: str) -> Counter[str]:
    connection = await NatsConnection.open(server.app_url)
    log = await JetStreamLog.open(connection)
    entries = await log.tail(table.replace("tables/", "table."), 0)
    await connection.close()
    return Counter(decode(entry.data).command_id for entry in entries)


SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


@pytest.mark.parametrize("fault", ["killed", "frozen"])
async def test_while_nats_is_away_commands_are_put_off_and_all_else_goes_on(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mersey.server.names.KEPT_S", 0.0)  # so that names are asked for
    async with one_nats(tmp_path / "nats") as server, served(tmp_path, server) as (node, channel):
        people = [Answers(channel, node.issue_token(f"P{seat}", "host")) for seat in range(4)]
        table = await people[0].open_table()
        await people[0].ask("TakeSeat", name=table)
        stream = aiter(people[0].stream("Watch", name=table))
        await anext(stream)
        await (server.kill() if fault == "killed" else asyncio.to_thread(server.freeze))

        ids = [new_id() for _ in range(3)]
        seats = [
            person.ask("TakeSeat", name=table, command_id=own)
            for person, own in zip(people[1:], ids, strict=True)
        ]
        for error in await asyncio.gather(*(refused(seat) for seat in seats)):
            assert error.code() is grpc.StatusCode.UNAVAILABLE
            assert reason_of(error) in AWAY
            assert retry_s(error)
        unknown = await refused(people[0].ask("GetView", name="tables/elsewhere"))
        assert unknown.code() is grpc.StatusCode.UNAVAILABLE
        away = await first_of(stream, lambda message: message.log_away)
        assert away.head_version == 2
        await until_health(channel, COMMANDS, NOT_SERVING)
        assert await health(channel, "") == SERVING
        for method in ("GetView", "GetTable", "GetViewAt", "ListTables", "ListGames"):
            await people[0].ask(method, **({} if method.startswith("List") else {"name": table}))
        shown = await people[0].ask("GetTable", name=table)
        assert shown.seats[0].display_name == "P0"
        assert reason_of(await refused(people[0].ask("ListChoices", name="tables/none"))) in AWAY
        await people[0].ask("ListChoices", name=table)

        await (server.start() if fault == "killed" else asyncio.to_thread(server.thaw))

        taken = await asyncio.gather(
            *(
                person.insist("TakeSeat", name=table, command_id=own)
                for person, own in zip(people[1:], ids, strict=True)
            )
        )
        assert sorted(answer.seat for answer in taken) == [1, 2, 3]
        await first_of(stream, lambda message: message.head_version == 5 and not message.log_away)
        await until_health(channel, COMMANDS, SERVING)
        counts = await logged_ids(server, table)
        assert [counts[own] for own in ids] == [1, 1, 1]
        assert sum(counts.values()) == 5
        assert not node.failed.done()


async def test_a_full_log_refuses_in_words_and_goes_on_once_its_limit_is_raised(tmp_path: Path) -> None:
    async with (
        one_nats(tmp_path / "nats", max_bytes=2**16) as server,
        served(tmp_path, server) as (node, channel),
    ):
        host, tables = Answers(channel, node.issue_token("Host", "host")), []
        while True:
            own = new_id()
            try:
                tables.append((await host.ask("CreateTable", rules="contract", command_id=own)).table.name)
            except grpc.aio.AioRpcError as error:
                full = error
                break
        assert (full.code(), reason_of(full)) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "LOG_FULL")
        assert retry_s(full)
        assert await node.log.last_position() == len(tables) > 0
        assert len((await host.ask("ListTables")).tables) == len(tables)

        admin = await server.admin()
        await set_up(admin, replicas=1, max_bytes=2**20)
        await admin.close()

        made = await host.insist("CreateTable", rules="contract", command_id=own)
        again = await host.ask("CreateTable", rules="contract", command_id=own)
        assert again == made
        assert made.table.name not in tables
        assert await node.log.last_position() == len(tables) + 1


@contextmanager
def files_limited_to(pid: int, size: int) -> Iterator[None]:
    """Let no file that the process ``pid`` writes grow beyond ``size`` bytes: what a full disk does to it."""
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


@asynccontextmanager
async def serving(folder: Path, server: OutsideNats) -> AsyncIterator[tuple[int, str]]:
    """Run ``mersey serve`` as a process; give its id and address."""
    with (folder / "errors").open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "mersey.client.cli", "serve"),
            *("--data", str(folder / "data"), "--listen", "127.0.0.1:0", "--keys", str(folder / "keys")),
            stdout=subprocess.PIPE,
            stderr=errors,
            env=os.environ | {"MERSEY_NATS": server.app_url, "PYTHONUNBUFFERED": "1"},
        )
    assert process.stdout is not None
    try:
        said = (await process.stdout.readline()).decode()
        yield process.pid, said.split("serves on ")[1].split(",")[0]
    finally:
        process.terminate()
        await process.communicate()
    assert process.returncode == 0


async def test_a_full_disk_under_the_archive_refuses_in_words_and_nothing_is_lost(tmp_path: Path) -> None:
    archive = tmp_path / "data" / "archive.db"
    async with one_nats(tmp_path / "nats") as server, serving(tmp_path, server) as (pid, address):
        async with grpc.aio.insecure_channel(address) as channel:
            host = Answers(channel, Keys.open(tmp_path / "keys").issue("Host", "host"))
            tables = [await host.open_table() for _ in range(2)]
            stream = aiter(host.stream("Watch", name=tables[0]))
            await anext(stream)
            await host.ask("ListGames")
            with files_limited_to(pid, archive.with_name("archive.db-wal").stat().st_size):
                while True:
                    own = new_id()
                    try:
                        made = await host.ask("CreateTable", rules="contract", archived=True, command_id=own)
                        tables.append(made.table.name)
                    except grpc.aio.AioRpcError as error:
                        blocked = error
                        break
                assert (blocked.code(), reason_of(blocked)) == (
                    grpc.StatusCode.UNAVAILABLE,
                    "ARCHIVE_BLOCKED",
                )
                assert retry_s(blocked)
                await until_health(channel, COMMANDS, NOT_SERVING)
                refusal = await refused(host.ask("TakeSeat", name=tables[0]))
                assert reason_of(refusal) == "ARCHIVE_BLOCKED"
                await host.ask("GetView", name=tables[0])
                assert len((await host.ask("ListGames")).games) == len(tables)
                assert "commands are refused until" in (tmp_path / "errors").read_text()

            made = await host.insist("CreateTable", rules="contract", archived=True, command_id=own)
            tables.append(made.table.name)
            seat = await host.insist("TakeSeat", name=tables[0])
            await first_of(stream, lambda message: message.head_version == seat.version)
            await until_health(channel, COMMANDS, SERVING)
            assert len((await host.ask("ListGames")).games) == len(set(tables))
        assert "can be written again" in (tmp_path / "errors").read_text()
        connection = await NatsConnection.open(server.app_url)
        log = await JetStreamLog.open(connection)
        for table in tables:
            stream_name = table.replace("tables/", "table.")
            entries = await log.tail(stream_name, 0)
            with ArchiveReader(archive) as reader:
                while reader.position() < await log.last_position():
                    await asyncio.sleep(0.01)
                assert list(reader.commits_of(stream_name)) == entries
        await connection.close()
