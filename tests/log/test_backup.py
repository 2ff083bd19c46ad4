"""Backups: taken from a running archive, checked before they are one, good for all that an archive is for."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path

import pytest

from log.chains import a_chain, entries_of
from log.test_archive import LOG
from mersey.log.archive import Archive
from mersey.log.archive_copies import ArchiveCopies
from mersey.log.archive_schema import ArchiveError, open_for_writing
from mersey.log.backup import Backup, back_up
from mersey.log.ports import Entry

ENTRIES = [
    *entries_of(("table.t1", a_chain(700)), ("table.t2", a_chain(200, "table.t2"))),
    Entry(position=901, stream="table.t3", data=b"rubbish"),
]


def quiet(done: int, of: int) -> None:
    """Show no progress."""


async def filled(path: Path) -> Archive:
    archive = Archive.open(path, LOG)
    await archive.write(ENTRIES)
    return archive


async def test_a_backup_holds_what_the_archive_held_while_that_goes_on(tmp_path: Path) -> None:
    archive, target = await filled(tmp_path / "archive.db"), tmp_path / "backup.db"
    told: list[tuple[int, int]] = []
    more = entries_of(("table.t9", a_chain(300, "table.t9")), after=901)
    writing = asyncio.create_task(archive.write(more))

    made = await asyncio.to_thread(back_up, archive.path, target, lambda *done: told.append(done))

    await writing
    assert made.position in (901, 1201)
    assert made == Backup(made.position, 3 if made.position == 901 else 4, made.position)
    assert told[-1] == (made.entries, made.entries)
    with ArchiveCopies(target) as copies:
        assert [(c.position, c.stream, c.data) for c in copies.copies()] == [
            (e.position, e.stream, e.data) for e in [*ENTRIES, *more][: made.entries]
        ]
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    await archive.write([Entry(1202, "table.t4", a_chain(1, "table.t4")[0])])
    await archive.close()


async def test_a_backup_is_an_archive_with_its_guards_and_goes_on(tmp_path: Path) -> None:
    await (await filled(tmp_path / "archive.db")).close()
    back_up(tmp_path / "archive.db", tmp_path / "backup.db", quiet)
    open_for_writing(tmp_path / "backup.db").close()

    archive = Archive.open(tmp_path / "backup.db", LOG)

    assert archive.position() == 901
    await archive.write([Entry(902, "table.t4", a_chain(1, "table.t4")[0])])
    assert list(archive.faults()) == ["table.t3"]
    await archive.close()


@pytest.mark.parametrize("index", [500, 899], ids=["in the middle", "a stream's last commit"])
async def test_a_backup_of_a_damaged_archive_is_none(tmp_path: Path, index: int) -> None:
    path = tmp_path / "archive.db"
    await (await filled(path)).close()
    data, entry = path.read_bytes(), ENTRIES[index]
    place = data.index(entry.data) + entry.data.index(b'"at_ms":') + len(b'"at_ms":')
    path.write_bytes(data[:place] + b"9" + data[place + 1 :])

    with pytest.raises(
        ArchiveError, match=rf"archive\.db: damaged \(position {entry.position}: bytes and hash"
    ):
        back_up(path, tmp_path / "backup.db", quiet)
    assert os.listdir(tmp_path) == ["archive.db"] or not (tmp_path / "backup.db").exists()
    assert not list(tmp_path.glob(".backup*"))


async def test_a_backup_without_a_guard_is_none(tmp_path: Path) -> None:
    path = tmp_path / "archive.db"
    await (await filled(path)).close()
    connection = open_for_writing(path)
    connection.execute("DROP TRIGGER events_delete_guard")
    connection.close()

    with pytest.raises(ArchiveError, match="events_delete_guard"):
        back_up(path, tmp_path / "backup.db", quiet)


async def test_an_existing_file_is_never_overwritten(tmp_path: Path) -> None:
    await (await filled(tmp_path / "archive.db")).close()
    (tmp_path / "mine.db").write_text("mine")

    with pytest.raises(ArchiveError, match=r"mine\.db: exists already"):
        back_up(tmp_path / "archive.db", tmp_path / "mine.db", quiet)
    assert (tmp_path / "mine.db").read_text() == "mine"


@pytest.mark.parametrize(("source", "target"), [("no.db", "b.db"), ("archive.db", "no/folder/b.db")])
async def test_what_cannot_be_read_or_written_is_named(tmp_path: Path, source: str, target: str) -> None:
    await (await filled(tmp_path / "archive.db")).close()

    with pytest.raises(ArchiveError, match=r"no archive there|can't be written"):
        back_up(tmp_path / source, tmp_path / target, quiet)
