"""Data folders as a stopped server leaves them, with games in log and archive; and damage to them."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

from mersey.log.archive import Archive
from mersey.log.archive_copies import ArchiveCopies, Copy
from mersey.log.directory import Directory
from mersey.log.embedded import EmbeddedNats
from mersey.log.jetstream import JetStreamLog
from mersey.log.opening import open_embedded
from mersey.log.ports import Entry
from mersey.log.reconcile import Progress
from mersey.server.projection import project


class Screen:
    """A screen that keeps its lines; ``at`` is called with each step of the progress."""

    def __init__(self, at: Progress = lambda done, of: None) -> None:
        self.lines: list[str] = []
        self.at = at

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def say(self, line: str) -> None:
        self.lines.append(line)

    def task(self, title: str) -> Progress:
        return self.at


async def store(
    data: Path,
    entries: Sequence[tuple[str, bytes]],
    *,
    names: Mapping[str, str] | None = None,
    archived: int | None = None,
) -> None:
    """Append ``entries`` to the log of ``data``, and archive them, or the first ``archived`` of them only."""
    server = EmbeddedNats(data / "nats")
    await server.start()
    connection = await open_embedded(server, max_bytes=2**26)
    log = await JetStreamLog.open(connection)
    written, ends = [], dict[str, int]()
    for stream, commit in entries:
        after = ends.get(stream) or max([e.position for e in await log.tail(stream, 0)], default=0)
        ends[stream] = await log.append(stream, commit, after)
        written.append(Entry(ends[stream], stream, commit))
    directory = await Directory.open(connection)
    for player, name in (names or {}).items():
        await directory.put(player, name)
    if archived != 0:
        archive = Archive.open(data / "archive.db", log.incarnation, project)
        await archive.write(written if archived is None else written[:archived])
        await archive.put_names(names or {})
        await archive.close()
    await connection.close()
    await server.stop()


async def logged(data: Path) -> tuple[list[Entry], dict[str, str]]:
    """Return all that can be read of the log of ``data``, and the names beside it."""
    server = EmbeddedNats(data / "nats")
    await server.start()
    connection = await open_embedded(server, max_bytes=2**26)
    log = await JetStreamLog.open(connection)
    found = [await log.entry_at(position + 1) for position in range(await log.last_position())]
    names = await (await Directory.open(connection)).all()
    await connection.close()
    await server.stop()
    return [entry for entry in found if entry is not None], names


def archived(path: Path) -> list[Copy]:
    """Return all that an archive has copied."""
    with ArchiveCopies(path) as copies:
        return list(copies.copies())


def rows(path: Path) -> list[str]:
    """Return every row of an archive as SQL, but for the log that it names and when it was made."""
    with sqlite3.connect(path) as raw:
        lines = list(raw.iterdump())
    raw.close()
    return [line for line in lines if 'INTO "progress"' not in line and "_sqlite_migrations" not in line]


def blocks(data: Path) -> Path:
    """Return the folder in which JetStream keeps the log's messages."""
    return data / "nats" / "store" / "jetstream" / "$G" / "streams" / "mersey_log_0" / "msgs"


def flip(path: Path, near: bytes) -> None:
    """Flip a bit in the first event's kind, after the first place of ``near``."""
    data = bytearray(path.read_bytes())
    place = data.index(b'"type":"', data.index(near)) + len(b'"type":"')
    data[place] ^= 1
    path.write_bytes(data)
