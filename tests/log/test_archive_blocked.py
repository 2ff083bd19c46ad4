"""An archive whose disk is full: all or nothing, said as such, and written when there is room."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from log.chains import a_chain
from mersey.log.archive import Archive
from mersey.log.archive_reader import ArchiveReader
from mersey.log.archive_schema import ArchiveBlocked, ArchiveError, named_faults
from mersey.log.ports import Entry, Incarnation

LOG = Incarnation(name="log", created="now")


def entries(stream: str, start: int, count: int = 200) -> list[Entry]:
    return [
        Entry(position=start + place, stream=stream, data=data)
        for place, data in enumerate(a_chain(count, stream))
    ]


def allow_pages(archive: Archive, more: int | None) -> None:
    """Let the archive's file grow by ``more`` pages at most; None: as it likes."""
    connection = archive._connection
    (now,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {2**31 - 2 if more is None else now + more}")


async def test_a_full_disk_takes_nothing_and_later_all_of_it(tmp_path: Path) -> None:
    archive = Archive.open(tmp_path / "archive.db", LOG)
    await archive.write(entries("table.t1", 1))
    allow_pages(archive, 2)
    more = entries("table.t2", 201)

    for _ in range(2):
        with pytest.raises(ArchiveBlocked, match="full"):
            await archive.write(more)
        assert archive.position() == 200
        with ArchiveReader(archive.path) as reader:
            assert (reader.position(), list(reader.commits_of("table.t2"))) == (200, [])
    allow_pages(archive, None)
    await archive.write(more)
    await archive.put_names({"p1": "Ann"})

    with ArchiveReader(archive.path) as reader:
        assert [entry.data for entry in reader.commits_of("table.t2")] == [entry.data for entry in more]
        assert reader.position() == 400
    await archive.close()


async def test_an_archive_that_another_program_holds_is_written_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mersey.log.archive_schema._BUSY_MS", 10)
    archive = Archive.open(tmp_path / "archive.db", LOG)
    other = sqlite3.connect(archive.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(ArchiveBlocked, match="locked"):
        await archive.write(entries("table.t1", 1))
    other.execute("ROLLBACK")
    other.close()

    await archive.write(entries("table.t1", 1))
    assert archive.position() == 200
    await archive.close()


@pytest.mark.parametrize(
    ("code", "is_for_now"), [("FULL", True), ("IOERR_WRITE", True), ("IOERR_FSYNC", False)]
)
def test_after_a_failed_sync_nothing_is_tried_again(code: str, is_for_now: bool) -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = getattr(sqlite3, f"SQLITE_{code}")

    with pytest.raises(ArchiveError) as caught, named_faults(Path("archive.db")):
        raise error

    assert isinstance(caught.value, ArchiveBlocked) == is_for_now
