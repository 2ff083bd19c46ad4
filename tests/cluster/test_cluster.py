"""Three NATS servers and three nodes: whatever is killed or cut off, games go on and nothing is lost."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import nats.errors
import nats.js.errors
import pytest
import pytest_asyncio

from cluster.nodes import MerseyNode, three_nodes
from cluster.play import Players
from log.proxy import Proxy
from mersey.client.channel import MerseyClient
from mersey.log.archive_reader import ArchiveReader
from mersey.log.commit import Commit, decode
from mersey.log.connection import NatsConnection
from mersey.log.jetstream import JetStreamLog
from mersey.log.ports import Entry
from mersey.log.stream_config import STREAM
from mersey.server.auth import Keys
from outside import ADMIN_PASSWORD, APP_PASSWORD, OutsideNats, three_nats

pytestmark = pytest.mark.asyncio(loop_scope="module")

LEADER_KILLS = 5
TABLES = 2


class Cluster:
    """Everything, and what was measured."""

    def __init__(
        self, nats: list[OutsideNats], nodes: list[MerseyNode], proxies: list[Proxy], keys: Keys
    ) -> None:
        self.nats = nats
        self.nodes = nodes
        self.proxies = proxies
        """Between the last node and NATS."""
        self.players = Players([node.address for node in nodes], keys)
        self.report: list[str] = []

    async def meanwhile(self, what: str, fault: Callable[[], Awaitable[None]]) -> None:
        """Let ``fault`` happen, and return once every table has gone on after it; note the longest pause."""
        ledger = self.players.ledger
        await ledger.until_all_move(self.players.tables)
        ledger.pause_s()
        await fault()
        await ledger.until_all_move(self.players.tables)
        self.players.check_playing()
        self.report.append(f"{what}: longest pause at a table {ledger.pause_s():.1f} s")

    async def leader(self) -> OutsideNats:
        """Return the server that leads the log's stream, once all three hold all of it."""
        connection = await NatsConnection.open(
            *(server.url for server in self.nats), user="admin", password=ADMIN_PASSWORD
        )
        try:
            while True:
                with contextlib.suppress(nats.errors.Error, nats.js.errors.Error):
                    state = (await connection.js.stream_info(STREAM)).cluster
                    replicas = (state.replicas or []) if state else []
                    if state and state.leader and len(replicas) == 2 and all(one.current for one in replicas):
                        return next(server for server in self.nats if server.name == state.leader)
                await asyncio.sleep(0.1)
        finally:
            await connection.close()


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def cluster(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    keys = Keys.open(folder / "keys")
    async with contextlib.AsyncExitStack() as stack:
        servers = await stack.enter_async_context(three_nats(folder))
        proxies = [await stack.enter_async_context(Proxy(server.port)) for server in servers]
        direct = [server.app_url for server in servers]
        through = [f"nats://app:{APP_PASSWORD}@127.0.0.1:{proxy.port}" for proxy in proxies]
        lists = [direct, direct[1:] + direct[:1], through]
        nodes = await stack.enter_async_context(three_nodes(folder, lists))
        made = Cluster(servers, nodes, proxies, keys)
        stack.push_async_callback(made.players.stop)
        for number in range(TABLES):
            await made.players.open_table(twins=number == 0)
        yield made


async def test_the_leader_of_the_log_is_killed_again_and_again(cluster: Cluster) -> None:
    for number in range(1, LEADER_KILLS + 1):
        leader = await cluster.leader()
        await cluster.meanwhile(f"leader kill {number} ({leader.name})", leader.kill)
        await leader.start()
    await cluster.leader()


async def test_a_node_is_killed(cluster: Cluster) -> None:
    node = cluster.nodes[0]
    await cluster.players.open_table(first=0)
    await cluster.meanwhile(f"kill -9 of {node.name}", node.kill)
    await node.start()


async def test_a_node_is_cut_off_from_nats(cluster: Cluster) -> None:
    async def cut() -> None:
        for proxy in cluster.proxies:
            proxy.cut()

    node = cluster.nodes[-1]
    await cluster.players.open_table(first=2)
    await cluster.meanwhile(f"{node.name} cut off", cut)
    for proxy in cluster.proxies:
        proxy.mend()
    head = max(
        told.version for told in cluster.players.ledger.told if told.table == cluster.players.tables[0]
    )
    async with MerseyClient(node.address, cluster.players._keys.issue("Eve", "player")) as client:
        while (await client.get_table(cluster.players.tables[0])).version < head:
            await asyncio.sleep(0.05)


async def test_all_nodes_are_restarted_one_after_the_other(cluster: Cluster) -> None:
    for node in cluster.nodes:

        async def restart(node: MerseyNode = node) -> None:
            await node.stop()
            await node.start()

        await cluster.meanwhile(f"restart of {node.name}", restart)


async def test_nothing_acknowledged_is_lost_or_doubled_and_all_hold_one_history(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    players, ledger = cluster.players, cluster.players.ledger
    await players.close_tables()
    connection = await NatsConnection.open(cluster.nats[0].app_url)
    log = await JetStreamLog.open(connection, replicas=3)
    last = await log.last_position()
    histories = {table: await log.tail(f"table.{table}", 0) for table in players.tables}
    await connection.close()

    logged = {
        (table, commit.command_id): commit.last
        for table, entries in histories.items()
        for commit in map(decode_entry, entries)
    }
    assert sum(map(len, histories.values())) == len(logged), "a command was logged twice"
    lost = [told for told in ledger.told if logged.get((told.table, told.command_id)) != told.version]
    assert lost == []
    assert max(Counter(told.command_id for told in ledger.told).values()) == 1
    for table, entries in histories.items():
        end = decode_entry(entries[-1]).last
        assert ledger.seen[table] == [list(range(1, end + 1))] * len(ledger.seen[table]), "a gap or a repeat"
    for node in cluster.nodes:
        with ArchiveReader(node.archive) as archive:
            while archive.position() < last:
                await asyncio.sleep(0.05)
            for table, entries in histories.items():
                assert list(archive.commits_of(f"table.{table}")) == entries
    async with MerseyClient(cluster.nodes[1].address, players._keys.issue("Eve", "player")) as client:
        for table in players.tables:
            assert (await client.verify_game(table)).ok
    tell(
        capsys,
        [
            *cluster.report,
            f"{len(ledger.told)} commands acknowledged, {len(lost)} lost, 0 doubled; "
            f"{len(logged)} commits in {len(histories)} histories, equal in the log and three archives",
        ],
    )


def decode_entry(entry: Entry) -> Commit:
    return decode(entry.data)


def tell(capsys: pytest.CaptureFixture[str], lines: Sequence[str]) -> None:
    """Show lines in the run's report."""
    with capsys.disabled():
        sys.stdout.write("\n".join(("", *lines, "")))
