"""A server with many tables starts soon, and keeps the running ones in memory and no others."""

from __future__ import annotations

import time
from pathlib import Path

import grpc.aio
import pytest

from faults.bulk import fill
from faults.conftest import SOAK_S, WHOLE_SOAK_S
from faults.played import copied, greedy_game, many
from mersey.log.archive import Archive
from mersey.log.ports import Incarnation
from mersey.log.table_commit import fold_commits
from mersey.replay.verify import verify_commits
from mersey.rules.ruleset_file import ruleset_text
from mersey.server.drill.process import ServerProcess
from mersey.server.table import FINISHED
from mersey.server.tables import Tables
from server.people import Person, one_round

WHOLE = SOAK_S >= WHOLE_SOAK_S
TABLES = 10_000 if WHOLE else 1_000
GAMES = 200 if WHOLE else 20
"""How many games are really played; every other one breaks off in the middle."""


def models() -> list[tuple[bytes, ...]]:
    whole = [(ruleset_text(rules), seats) for rules, seats in (("bga-short", 2), ("bga", 3), ("contract", 4))]
    kinds = whole if WHOLE else [(one_round("bga-short"), 2), (one_round("contract"), 4)]
    return [
        greedy_game(*kinds[number // 2 % len(kinds)], number, upto=1.0 if number % 2 else number % 19 / 20)
        for number in range(GAMES)
    ]


def memory_kib(pid: int) -> int:
    """Return the memory that a process holds."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


async def started(data: Path, words: Path) -> tuple[ServerProcess, float, int]:
    """Start a server; return it, the seconds that this took, and its memory in KiB."""
    server = ServerProcess(data, words)
    before_s = time.monotonic()
    await server.start()
    return server, time.monotonic() - before_s, memory_kib(server.pid)


@pytest.mark.soak
@pytest.mark.timeout(3000)
async def test_many_tables_start_and_only_running_ones_are_kept(tmp_path: Path) -> None:
    data, words = tmp_path / "data", tmp_path / "server.log"
    played = models()
    running = {f"copy{number}" for number in range(TABLES) if is_running(played[number % len(played)])}
    assert 0.4 < len(running) / TABLES < 0.6
    assert verify_commits(copied(played[1], "copy1"), "copy1").fault is None
    commits, log = await fill(data, many(played, TABLES))

    empty, empty_s, empty_kib = await started(tmp_path / "none", words)
    await empty.stop()
    server, start_s, kib = await started(data, words)
    async with grpc.aio.insecure_channel(server.address) as channel:
        host = Person(channel, (data / "host.token").read_text().strip())
        shown = await host.ask("GetTable", name=f"tables/{min(running)}")
    await server.stop()
    print(
        f"{TABLES} tables ({len(running)} running) of {commits} commits, from {GAMES} played games: start in "
        f"{start_s:.1f} s ({empty_s:.1f} s empty), {(kib - empty_kib) / len(running):.0f} KiB a running table"
    )

    model = played[int(min(running).removeprefix("copy")) % len(played)]
    assert shown.version == fold_commits(model).version
    assert {table.id for table in await loaded(data, log)} == running


def is_running(commits: tuple[bytes, ...]) -> bool:
    return fold_commits(commits).step not in FINISHED


async def loaded(data: Path, log: Incarnation) -> Tables:
    """Return the tables as a start folds them from the archive, without a server."""
    archive = Archive.open(data / "archive.db", log)
    tables = Tables(archive)
    await tables.load_running()
    tables.close()
    await archive.close()
    return tables
