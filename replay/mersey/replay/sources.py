"""Sources: where a recorded game comes from, a record file or the archive in a data folder.

Reading changes nothing, and needs no server: the archive may be that of a server that runs or of one that is
stopped.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from mersey.log.archive_reader import ArchiveReader, Game
from mersey.log.table_commit import stream_of
from mersey.replay.record_file import SUFFIX, scan_record
from mersey.rules.refusals import MerseyError

LAST: Final = "last"
"""Names the newest finished game, or the newest of all where none is finished."""

_TABLES: Final = stream_of("")
_NAMED_MAX: Final = 5

ReaderT = TypeVar("ReaderT", bound=ArchiveReader)


class SourceError(MerseyError):
    """A game that can't be found; the message says what there is."""


class RecordedGame(msgspec.Struct, frozen=True):
    """A game as it is recorded somewhere, not checked yet."""

    table: str
    source: str
    """The file that it was read from."""
    commits: tuple[bytes, ...]
    names: dict[str, str] = {}
    """Display names by player id, where the source knows any."""
    fault: str | None = None
    """What is wrong with the source itself after these commits, if anything."""
    rows_fault: str | None = None
    """Where an archive's rows for SQL are not what these commits say, if anywhere: the commits hold."""


def open_game(name: str, data: Path) -> RecordedGame:
    """Return the game that ``name`` means.

    Args:
        name: a record file, a table's id or the beginning of one that no other shares, or ``last``.
        data: the data folder whose archive is asked unless ``name`` is a file.

    Raises:
        SourceError: there is no such game, or more than one.
        RecordError: the file can't be read, or is no record.
        ArchiveError: the archive can't be read.
    """
    if _is_path(name) or (name != LAST and Path(name).is_file()):
        return _from_file(Path(name))
    with open_archive(data, ArchiveReader) as archive:
        return _from_archive(archive, _table_named(archive, name.removeprefix("tables/"), data))


def list_games(data: Path) -> list[Game]:
    """Return the games of the archive in ``data``, the newest first.

    Raises:
        SourceError: there is no such folder, or no server has kept its data there.
        ArchiveError: the archive can't be read.
    """
    with open_archive(data, ArchiveReader) as archive:
        return list(_games(archive))


def _is_path(name: str) -> bool:
    """Return whether ``name`` can only be a file: a table's id has neither dot nor slash."""
    return name.endswith(SUFFIX) or "." in name or ("/" in name and not name.startswith("tables/"))


def _from_file(path: Path) -> RecordedGame:
    record = scan_record(path)
    return RecordedGame(record.table, str(path), record.commits, fault=record.fault)


def open_archive(data: Path, kind: type[ReaderT]) -> ReaderT:
    """Return a reader of the archive in the data folder ``data``.

    Raises:
        SourceError: there is no such folder, or no server has kept its data there.
        ArchiveError: the archive can't be read.
    """
    path = data / "archive.db"
    if not data.is_dir():
        raise SourceError(f"{data}: no such data folder: name the server's with --data, or a record file")
    if not path.is_file():
        raise SourceError(f"{data}: no archive in it: name the data folder of a server that has run (--data)")
    return kind(path)


def _from_archive(archive: ArchiveReader, table: str) -> RecordedGame:
    stream = stream_of(table)
    commits = tuple(entry.data for entry in archive.commits_of(stream))
    players = {seat.player for seat in archive.seats(stream)}
    names = {player: name for player, name in archive.names().items() if player in players}
    fault, rows_fault = archive.set_aside(stream), archive.rows_fault(stream)
    return RecordedGame(table, str(archive.path), commits, names, fault, rows_fault)


def _games(archive: ArchiveReader) -> Iterator[Game]:
    before = None
    while page := archive.games(before):
        yield from page
        before = (page[-1].opened_at_ms or 0, page[-1].stream)


def _table_named(archive: ArchiveReader, name: str, data: Path) -> str:
    """Return the id of the table that ``name`` means."""
    games = list(_games(archive))
    if not games:
        raise SourceError(f"{data}: no game is recorded there yet")
    if name == LAST:
        return _table_of(next((game for game in games if game.status == "ended"), games[0]))
    tables = [_table_of(game) for game in games]
    if name in tables:
        return name
    found = [table for table in tables if name and table.startswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise SourceError(f"{name}: more than one game begins so: {_listed(found)}")
    raise SourceError(f"{name}: no such game in {data}; the newest there: {_listed(tables)}, or say last")


def _table_of(game: Game) -> str:
    return game.stream.removeprefix(_TABLES)


def _listed(tables: list[str]) -> str:
    more = len(tables) - _NAMED_MAX
    return ", ".join(tables[:_NAMED_MAX]) + (f" and {more} more" if more > 0 else "")
