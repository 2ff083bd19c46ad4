"""The archive: an exact copy that only grows, whole after a crash, readable without a server."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import msgspec
import pytest

from log.chains import EVENT, a_chain, a_commit, entries_of
from mersey.log import archive_schema
from mersey.log.archive import Archive
from mersey.log.archive_reader import ArchiveReader
from mersey.log.archive_rows import GameRow, ResultRow, Row, SeatRow
from mersey.log.archive_schema import GUARDS, ArchiveError, check_durable, open_for_writing
from mersey.log.commit import Commit, advance, decode, encode, hash_of, start_of
from mersey.log.ports import Entry, Incarnation

LOG = Incarnation(name="mersey_log_0", created="2026-01-01")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "archive.db"


@pytest.fixture
async def archive(path: Path) -> AsyncIterator[Archive]:
    opened = Archive.open(path, LOG)
    yield opened
    await opened.close()


async def filled(path: Path, entries: list[Entry]) -> None:
    archive = Archive.open(path, LOG)
    await archive.write(entries)
    await archive.close()


ENTRIES = entries_of(("table.t1", a_chain(3)), ("table.t2", a_chain(2, "table.t2")))


async def test_commits_and_events_are_there_once_written(archive: Archive, path: Path) -> None:
    await archive.write(ENTRIES)

    with ArchiveReader(path) as reader:
        assert reader.position() == archive.position() == 5
        assert list(reader.commits_of("table.t1", page=2)) == [e for e in ENTRIES if e.stream == "table.t1"]
        assert list(reader.commits_of("table.t1", after=2)) == [ENTRIES[4]]
        assert reader.streams() == ["table.t1", "table.t2"]
        assert reader.streams("table.t1", page=1) == ["table.t2"]
        head = reader.head("table.t1")
        assert (head.number, head.version, head.position, head.hash) == (3, 6, 5, hash_of(ENTRIES[4].data))
        assert reader.head("table.none") == start_of("table.none")
    with sqlite3.connect(path) as raw:
        rows = raw.execute("SELECT * FROM events WHERE stream = 'table.t2' ORDER BY version").fetchall()
    raw.close()
    assert rows == [
        ("table.t2", version, number, at_ms, "stock_drawn", 2, bytes(EVENT).decode())
        for version, number, at_ms in ((1, 1, 5), (2, 1, 5), (3, 2, 10), (4, 2, 10))
    ]


async def test_entries_that_are_there_already_are_passed_over(archive: Archive, path: Path) -> None:
    await archive.write(ENTRIES[:3])
    await archive.write(ENTRIES)

    with ArchiveReader(path) as reader:
        assert reader.position() == 5
        assert len(list(reader.commits_of("table.t1"))) == 3
    assert archive.faults() == {}


async def test_calls_that_wait_together_are_all_written(archive: Archive, path: Path) -> None:
    await asyncio.gather(*(archive.write([entry]) for entry in ENTRIES))

    with ArchiveReader(path) as reader:
        assert reader.position() == 5


async def test_a_command_is_found_for_ever_by_its_stream_and_actor(archive: Archive, path: Path) -> None:
    await archive.write(ENTRIES)

    with ArchiveReader(path) as reader:
        assert reader.command("table.t1", "p1", "c2") == 2
        assert reader.command("table.t1", "p2", "c2") is None
        assert reader.command("table.t2", "p1", "c3") is None


async def test_the_archive_goes_on_where_it_was_closed(path: Path) -> None:
    await filled(path, ENTRIES[:2])
    await filled(path, ENTRIES)

    with ArchiveReader(path) as reader:
        assert reader.head("table.t1").number == 3


@pytest.mark.parametrize(
    "bad",
    [b"rubbish", b'{"v":2}', a_chain(3)[2], a_chain(2, "table.t2")[1]],
    ids=["rubbish", "newer", "gap", "wrong stream"],
)
async def test_what_does_not_follow_is_kept_aside_and_other_streams_go_on(
    archive: Archive, path: Path, bad: bytes
) -> None:
    one, two, _ = a_chain(3)
    other = a_chain(1, "table.t2")[0]
    entries = [
        Entry(position=position, stream=stream, data=data)
        for position, (stream, data) in enumerate(
            [("table.t1", one), ("table.t1", bad), ("table.t1", two), ("table.t2", other)], start=1
        )
    ]

    await archive.write(entries)

    with ArchiveReader(path) as reader:
        assert [entry.data for entry in reader.commits_of("table.t1")] == [one]
        assert [entry.data for entry in reader.commits_of("table.t2")] == [other]
        fault = reader.set_aside("table.t1")
        assert fault is not None
        assert fault.startswith("position 2: ")
        assert reader.set_aside("table.t2") is None
        assert reader.position() == 4
    assert archive.faults() == {"table.t1": fault}
    with sqlite3.connect(path) as raw:
        assert raw.execute("SELECT position, bytes FROM set_aside").fetchall() == [(2, bad), (3, two)]
    raw.close()


async def test_an_event_without_a_kind_sets_its_stream_aside(archive: Archive) -> None:
    data = encode(a_commit(start_of("table.t1"), events=(msgspec.Raw(b'{"seat":1}'),)))

    await archive.write([Entry(position=1, stream="table.t1", data=data)])

    assert "not an event" in archive.faults()["table.t1"]


async def test_faults_are_known_again_after_a_restart(path: Path) -> None:
    await filled(path, [Entry(position=1, stream="table.t1", data=b"rubbish")])

    archive = Archive.open(path, LOG)
    assert archive.faults()["table.t1"].startswith("position 1: ")
    await archive.close()


FORBIDDEN = {
    "update of a commit": "UPDATE commits SET hash = 'x' WHERE position = 1",
    "deletion of a commit": "DELETE FROM commits WHERE position = 5",
    "replacement of a commit by its number": "REPLACE INTO commits VALUES ('table.t1', 3, 6, x'00', '')",
    "replacement of a commit by its position": "REPLACE INTO commits VALUES ('table.t1', 4, 5, x'00', '')",
    "insert or ignore over a commit": "INSERT OR IGNORE INTO commits VALUES ('table.t1', 3, 6, x'00', '')",
    "upsert of a commit": "INSERT INTO commits VALUES ('table.t1', 3, 5, x'00', '') "
    "ON CONFLICT DO UPDATE SET hash = 'x'",
    "gap in the numbers": "INSERT INTO commits VALUES ('table.t1', 5, 6, x'00', '')",
    "commit before the last position": "INSERT INTO commits VALUES ('table.t3', 1, 3, x'00', '')",
    "update of an event": "UPDATE events SET body = '{}' WHERE version = 1",
    "deletion of an event": "DELETE FROM events",
    "replacement of an event": "REPLACE INTO events VALUES ('table.t1', 6, 3, 0, 'x', NULL, '{}')",
    "gap in the versions": "INSERT INTO events VALUES ('table.t1', 8, 3, 0, 'x', NULL, '{}')",
    "event without a commit": "INSERT INTO events VALUES ('table.t1', 7, 4, 0, 'x', NULL, '{}')",
    "update of a command": "UPDATE commands SET number = 9",
    "deletion of a command": "DELETE FROM commands",
    "replacement of a command": "REPLACE INTO commands VALUES ('table.t1', 'p1', 'c1', 9)",
    "update of what is set aside": "UPDATE set_aside SET fault = ''",
    "deletion of what is set aside": "DELETE FROM set_aside",
    "replacement of what is set aside": "REPLACE INTO set_aside VALUES (6, 'table.x', x'00', '{HASH}', '')",
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("written") / "archive.db"
    asyncio.run(filled(path, [*ENTRIES, Entry(position=6, stream="table.x", data=b"rubbish")]))
    return path


@pytest.mark.parametrize("statement", FORBIDDEN.values(), ids=FORBIDDEN.keys())
def test_the_guards_refuse_any(written: Path, statement: str) -> None:
    raw = sqlite3.connect(written)
    before = list(raw.iterdump())
    try:
        with pytest.raises(sqlite3.IntegrityError, match=r"never|right after the last"):
            raw.execute(statement)
        raw.rollback()
        assert list(raw.iterdump()) == before
    finally:
        raw.close()


@pytest.mark.parametrize("guard", [guard.split()[2] for guard in GUARDS])
async def test_an_archive_without_one_of_its_guards_is_not_opened(path: Path, guard: str) -> None:
    await filled(path, ENTRIES)
    raw = sqlite3.connect(path)
    raw.execute(f"DROP TRIGGER {guard}")
    raw.commit()
    raw.close()

    with pytest.raises(ArchiveError, match=guard):
        Archive.open(path, LOG)


async def test_a_guard_that_was_weakened_is_noticed(path: Path) -> None:
    await filled(path, ENTRIES)
    raw = sqlite3.connect(path)
    raw.execute("DROP TRIGGER commits_update_guard")
    raw.execute("CREATE TRIGGER commits_update_guard BEFORE UPDATE ON commits BEGIN SELECT 1; END")
    raw.close()

    with pytest.raises(ArchiveError, match="commits_update_guard"):
        Archive.open(path, LOG)


def test_a_connection_that_does_not_sync_is_refused(path: Path) -> None:
    connection = open_for_writing(path)
    connection.execute("PRAGMA synchronous = NORMAL")
    try:
        with pytest.raises(ArchiveError, match="synchronous 1"):
            check_durable(connection, path)
    finally:
        connection.close()


WRITER = """
import asyncio, os, signal, sys
from pathlib import Path
from log.chains import a_chain, entries_of
from log.test_archive import LOG
from mersey.log.archive import Archive

async def main(path, statement):
    entries = entries_of(("table.t1", a_chain(20)), ("table.t2", a_chain(20, "table.t2")))
    archive = Archive.open(path, LOG)
    await archive.write(entries[:20])
    def end(started):
        if started.startswith(statement):
            os.kill(os.getpid(), signal.SIGKILL)
    archive._connection.set_trace_callback(end)
    await archive.write(entries[20:])

asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
"""


@pytest.mark.parametrize(
    "statement", ["INSERT INTO commits", "INSERT INTO events", "UPDATE progress", "COMMIT"]
)
def test_a_writer_killed_at_any_step_leaves_position_and_rows_together(path: Path, statement: str) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    child = subprocess.run(
        [sys.executable, "-c", WRITER, str(path), statement],
        env=environment,
        check=False,
        stderr=subprocess.DEVNULL,
    )
    assert child.returncode == -signal.SIGKILL

    raw = sqlite3.connect(path)
    (position,) = raw.execute("SELECT position FROM progress").fetchone()
    commits, highest = raw.execute("SELECT count(*), max(position) FROM commits").fetchone()
    (events,) = raw.execute("SELECT count(*) FROM events").fetchone()
    (commands,) = raw.execute("SELECT count(*) FROM commands").fetchone()
    raw.close()
    assert position == commits == highest == commands == 20
    assert events == 40


def test_rows_and_position_are_taken_back_together_when_the_end_of_a_transaction_fails(path: Path) -> None:
    def failing(commit: Commit) -> Iterable[Row]:
        if commit.number == 2:
            raise sqlite3.OperationalError("disk I/O error")
        return ()

    async def run() -> None:
        archive = Archive.open(path, LOG, failing)
        await archive.write(ENTRIES[:1])
        with pytest.raises(ArchiveError, match=r"archive\.db: disk I/O error"):
            await archive.write(ENTRIES)
        with pytest.raises(ArchiveError):
            await archive.write([])
        assert archive.position() == 1
        await archive.close()
        with pytest.raises(ArchiveError, match="closed"):
            await archive.write([])

    asyncio.run(run())
    with ArchiveReader(path) as reader:
        assert reader.position() == 1
        assert reader.streams() == ["table.t1"]


async def test_a_projection_with_a_bug_stops_the_archive_and_not_its_callers(path: Path) -> None:
    def buggy(_: Commit) -> Iterable[Row]:
        raise KeyError("oops")

    archive = Archive.open(path, LOG, buggy)
    with pytest.raises(ArchiveError, match="KeyError"):
        await archive.write(ENTRIES)
    await archive.close()


async def test_projected_rows_are_written_with_their_commits(path: Path) -> None:
    def project(commit: Commit) -> Iterable[Row]:
        if commit.number == 1:
            yield GameRow(stream=commit.stream, rules="contract", status="open", opened_at_ms=commit.at_ms)
            yield SeatRow(stream=commit.stream, seat=1, player="p1", kind="player")
        else:
            yield GameRow(stream=commit.stream, status="running")
            yield SeatRow(stream=commit.stream, seat=1, player=None, total=30)
            yield ResultRow(stream=commit.stream, round=1, seat=1, points=30, total=30)
            yield ResultRow(stream=commit.stream, round=1, seat=1)

    archive = Archive.open(path, LOG, project)
    await archive.put_names({"p1": "Ann"})
    await archive.write(ENTRIES[:2])
    with ArchiveReader(path) as reader:
        (seat,) = reader.seats("table.t1")
        assert (seat.player, seat.name, seat.total) == ("p1", "Ann", None)
        await archive.write(ENTRIES[:3])

        game = next(game for game in reader.games() if game.stream == "table.t1")
        assert (game.rules, game.status, game.host) == ("contract", "running", None)
        (seat,) = reader.seats("table.t1")
        assert (seat.player, seat.name, seat.kind, seat.total) == (None, None, "player", 30)
        first, second = reader.games()
        assert reader.games((first.opened_at_ms or 0, first.stream)) == [second]
        assert reader.games(page=1) == [first]
        await archive.put_names({"p1": ""})
        assert reader.names() == {}
    await archive.close()


async def test_an_archive_of_another_log_is_refused(path: Path) -> None:
    await filled(path, ENTRIES)

    with pytest.raises(ArchiveError, match="a copy of the log mersey_log_0 made at 2026-01-01"):
        Archive.open(path, Incarnation(name="mersey_log_0", created="2026-02-02"))


async def test_a_stopped_servers_archive_can_be_read_where_nothing_can_be_written(path: Path) -> None:
    await filled(path, ENTRIES)
    assert os.listdir(path.parent) == ["archive.db"]
    reader = ArchiveReader(path)
    with pytest.raises(ArchiveError, match="readonly"):
        reader._rows("DELETE FROM names")
    reader.close()

    connection = archive_schema._read_only(path, "mode=ro&immutable=1")
    assert connection.execute("SELECT position FROM progress").fetchone() == (5,)
    connection.close()


def test_a_missing_archive_is_named(path: Path) -> None:
    with pytest.raises(ArchiveError, match=r"archive\.db: no archive there"):
        ArchiveReader(path)
    assert not path.exists()


def test_a_file_that_is_no_database_is_named(path: Path) -> None:
    path.write_bytes(b"not a database, but long enough to look at" * 200)

    for opening in (ArchiveReader, lambda place: Archive.open(place, LOG)):
        with pytest.raises(ArchiveError, match=r"archive\.db: damaged .* mersey restore --archive"):
            opening(path)


@pytest.mark.parametrize("table", ["recipes", "_sqlite_migrations"])
def test_a_foreign_database_is_named_and_left_alone(path: Path, table: str) -> None:
    raw = sqlite3.connect(path)
    raw.execute(f"CREATE TABLE {table} (migration_set, name)")
    raw.close()
    before = path.read_bytes()

    for opening in (ArchiveReader, lambda place: Archive.open(place, LOG)):
        with pytest.raises(ArchiveError, match="not an archive of mersey"):
            opening(path)
    assert path.read_bytes() == before


async def test_a_newer_archive_is_named(path: Path) -> None:
    await filled(path, ENTRIES)
    raw = sqlite3.connect(path)
    raw.execute(
        "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) "
        "VALUES ('mersey.archive', 'later', '')"
    )
    raw.commit()
    raw.close()

    for opening in (ArchiveReader, lambda place: Archive.open(place, LOG)):
        with pytest.raises(ArchiveError, match=r"newer mersey \(later\)"):
            opening(path)


@pytest.mark.parametrize("page", [1, 2, 5, 9])
async def test_a_damaged_page_is_named(path: Path, page: int) -> None:
    await filled(path, entries_of(("table.t1", a_chain(60))))
    data = bytearray(path.read_bytes())
    data[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    path.write_bytes(data)

    with pytest.raises(ArchiveError, match=r"archive\.db: damaged"):
        Archive.open(path, LOG)


async def test_a_flipped_byte_in_the_last_commit_is_found_by_its_hash(path: Path) -> None:
    await filled(path, ENTRIES)
    data = path.read_bytes()
    place = data.index(ENTRIES[4].data) + ENTRIES[4].data.index(b'"at_ms":') + len(b'"at_ms":')
    path.write_bytes(data[:place] + b"9" + data[place + 1 :])
    assert decode(ENTRIES[4].data).at_ms == 15

    with (
        ArchiveReader(path) as reader,
        pytest.raises(ArchiveError, match="position 5: bytes and hash differ"),
    ):
        reader.head("table.t1")


async def test_a_sqlite_with_the_wal_reset_fault_is_named_and_not_refused(
    path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with caplog.at_level(logging.WARNING):
        monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 51, 2))
        open_for_writing(path).close()
        assert "older than 3.51.3" in caplog.text
        caplog.clear()
        monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 51, 3))
        open_for_writing(path).close()
    assert caplog.text == ""


async def test_a_reader_that_pauses_between_pages_does_not_hold_up_the_write_ahead_log(
    archive: Archive, path: Path
) -> None:
    chain = a_chain(2000)
    entries = entries_of(("table.t1", chain))
    await archive.write(entries[:100])
    with ArchiveReader(path) as reader:
        pages = reader.commits_of("table.t1", page=10)
        next(pages)
        for start in range(100, 2000, 100):
            await archive.write(entries[start : start + 100])
        assert path.with_name("archive.db-wal").stat().st_size < 6 * 2**20
        assert sum(1 for _ in pages) == 1999


async def test_the_heads_chain_goes_on_over_groups(archive: Archive) -> None:
    head = start_of("table.t1")
    for position in range(1, 6):
        commit = a_commit(head)
        data = encode(commit)
        head = advance(head, commit, data, position)
        await archive.write([Entry(position=position, stream="table.t1", data=data)])

    assert archive.faults() == {}
    assert archive.position() == 5
