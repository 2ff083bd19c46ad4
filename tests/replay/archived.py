"""Data folders with recorded games in their archive, as a server leaves them behind."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

from mersey.log.archive import Archive
from mersey.log.ports import Entry, Incarnation
from mersey.log.table_commit import stream_of
from mersey.server.projection import project


async def archive_games(
    data: Path, games: Mapping[str, Sequence[bytes]], names: Mapping[str, str] | None = None
) -> Archive:
    """Write each table's commits into a new archive in ``data``, and return it, still open for writing."""
    data.mkdir(exist_ok=True)
    archive = Archive.open(data / "archive.db", Incarnation("log", "today"), project)
    entries = [(stream_of(table), commit) for table, commits in games.items() for commit in commits]
    await archive.write([Entry(n, stream, commit) for n, (stream, commit) in enumerate(entries, start=1)])
    await archive.put_names(names or {})
    return archive


def forge(data: Path, statement: str) -> None:
    """Change ``events`` as the owner of the file can: without the guards, which are put back."""
    raw = sqlite3.connect(data / "archive.db")
    guards = raw.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in guards:
        raw.execute(f"DROP TRIGGER {name}")
    assert raw.execute(statement).rowcount == 1
    for _, sql in guards:
        raw.execute(sql)
    raw.commit()
    raw.close()
