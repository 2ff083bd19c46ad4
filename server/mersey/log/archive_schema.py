"""The archive's tables and guards, and how its file is opened.

Commits and events can only be added, each right after the one before: triggers refuse every UPDATE, DELETE,
REPLACE and gap. ``commits.position`` is the row id, and ``events`` has none, so that no REPLACE can hit a row
by a hidden key. A reader needs nothing but the file; a writer also checks the guards and the settings that
durability depends on.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sqlite_utils import Database, Migrations

from mersey.rules.refusals import MerseyError

APPLICATION_ID: Final = 0x4D525359
"""Written to the file's header ("MRSY"), so that a foreign database is told from an archive."""

WAL_RESET_FIXED: Final = (3, 51, 3)
"""The first SQLite without the fault that could damage a database when its write-ahead log starts anew."""

REBUILD: Final = "mersey restore --archive makes a new one from the log and keeps this file beside it"
"""What to do with an archive that can't be trusted."""

_BUSY_MS: Final = 10_000
_QUICK_CHECK_BYTES_MAX: Final = 2**28
_WAL_BYTES_KEPT: Final = 2**26

_logger = logging.getLogger(__name__)

migrations: Final = Migrations("mersey.archive")


class ArchiveError(MerseyError):
    """The archive can't be used; the message names the file and says what to do."""


class ArchiveBlocked(ArchiveError):
    """The archive can't be written now, most likely as its disk is full; nothing of it was, try again."""


_BLOCKED: Final = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_IOERR_WRITE,
        sqlite3.SQLITE_IOERR_SHMSIZE,
        sqlite3.SQLITE_IOERR_NOMEM,
    }
)
"""Errors after which the same transaction may go through later. A failed fsync is none of them: what the
system then still holds of earlier writes is not known, so that the node stops and reads the file anew."""


def _guard(table: str, action: str, fault: str, unless: str = "") -> str:
    name = f"{table}_{action.split()[0].lower()}_guard"
    when = f" WHEN NOT ({unless})" if unless else ""
    return (
        f"CREATE TRIGGER {name} BEFORE {action} ON {table}{when} "
        f"BEGIN SELECT RAISE(ABORT, '{table}: {fault}'); END"
    )


_COMMIT_FOLLOWS: Final = (
    "NEW.number = 1 + coalesce((SELECT max(number) FROM commits WHERE stream = NEW.stream), 0) "
    "AND NEW.position > coalesce((SELECT max(position) FROM commits), 0)"
)
_EVENT_FOLLOWS: Final = (
    "NEW.version = 1 + coalesce((SELECT max(version) FROM events WHERE stream = NEW.stream), 0) "
    "AND EXISTS (SELECT 1 FROM commits WHERE stream = NEW.stream AND number = NEW.number)"
)
_COMMAND_IS_NEW: Final = (
    "NOT EXISTS (SELECT 1 FROM commands WHERE stream = NEW.stream AND actor = NEW.actor "
    "AND command_id = NEW.command_id)"
)
_SET_ASIDE_FOLLOWS: Final = "NEW.position > coalesce((SELECT max(position) FROM set_aside), 0)"

GUARDS: Final = tuple(
    guard
    for table, follows in (
        ("commits", _COMMIT_FOLLOWS),
        ("events", _EVENT_FOLLOWS),
        ("commands", _COMMAND_IS_NEW),
        ("set_aside", _SET_ASIDE_FOLLOWS),
    )
    for guard in (
        _guard(table, "INSERT", "a row is added right after the last one, or not at all", follows),
        _guard(table, "UPDATE", "rows are never changed"),
        _guard(table, "DELETE", "rows are never removed"),
    )
)

_TABLES: Final = (
    """CREATE TABLE commits (
        stream TEXT NOT NULL,
        number INTEGER NOT NULL,
        position INTEGER PRIMARY KEY,
        bytes BLOB NOT NULL,
        hash TEXT NOT NULL,
        UNIQUE (stream, number)
    ) STRICT""",
    """CREATE TABLE events (
        stream TEXT NOT NULL,
        version INTEGER NOT NULL,
        number INTEGER NOT NULL,
        at_ms INTEGER NOT NULL,
        kind TEXT NOT NULL,
        seat INTEGER,
        body TEXT NOT NULL,
        PRIMARY KEY (stream, version)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE commands (
        stream TEXT NOT NULL,
        actor TEXT NOT NULL,
        command_id TEXT NOT NULL,
        number INTEGER NOT NULL,
        PRIMARY KEY (stream, actor, command_id)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE set_aside (
        position INTEGER PRIMARY KEY,
        stream TEXT NOT NULL,
        bytes BLOB NOT NULL,
        hash TEXT NOT NULL,
        fault TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE progress (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        position INTEGER NOT NULL,
        log_name TEXT NOT NULL,
        log_created TEXT NOT NULL
    ) STRICT""",
    "INSERT INTO progress VALUES (1, 0, '', '')",
    """CREATE TABLE games (
        stream TEXT PRIMARY KEY,
        rules TEXT,
        rules_hash TEXT,
        host TEXT,
        status TEXT,
        seat_count INTEGER,
        round INTEGER,
        opened_at_ms INTEGER,
        started_at_ms INTEGER,
        ended_at_ms INTEGER
    ) STRICT""",
    "CREATE INDEX games_by_opening ON games (opened_at_ms, stream)",
    """CREATE TABLE seats (
        stream TEXT NOT NULL,
        seat INTEGER NOT NULL,
        player TEXT,
        kind TEXT,
        total INTEGER,
        place INTEGER,
        PRIMARY KEY (stream, seat)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX seats_by_player ON seats (player, stream)",
    """CREATE TABLE results (
        stream TEXT NOT NULL,
        round INTEGER NOT NULL,
        seat INTEGER NOT NULL,
        points INTEGER,
        cut_bonus INTEGER,
        total INTEGER,
        PRIMARY KEY (stream, round, seat)
    ) STRICT, WITHOUT ROWID""",
    "CREATE TABLE names (player TEXT PRIMARY KEY, name TEXT NOT NULL) STRICT, WITHOUT ROWID",
)


@migrations()
def create_archive(db: Database) -> None:
    """Create the tables, the guards and the mark in the file's header."""
    for statement in (*_TABLES, *GUARDS):
        db.conn.execute(statement)
    db.conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def open_for_writing(path: Path) -> sqlite3.Connection:
    """Return the one connection that writes; a missing file is made, an older one migrated.

    Raises:
        ArchiveError: the file is damaged, foreign or newer, its guards are gone, or it can't be written.
    """
    _say_if_wal_reset_fault()
    with named_faults(path):
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            _check_kind(connection, path, empty_is_fine=True)
            _prepare(connection, path)
        except BaseException:
            connection.close()
            raise
    path.chmod(0o600)
    return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES_KEPT}")
    if path.stat().st_size <= _QUICK_CHECK_BYTES_MAX:
        _quick_check(connection, path)
    migrations.apply(Database(connection, recursive_triggers=False, execute_plugins=False))
    check_durable(connection, path)
    check_guards(connection, path)


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Return a connection that can only read, of a server that runs or one that is stopped.

    Raises:
        ArchiveError: the file is missing, damaged, foreign or newer.
    """
    if not path.is_file():
        raise ArchiveError(f"{path}: no archive there: name the data folder of a server that has run")
    with named_faults(path):
        try:
            return _read_only(path, "mode=ro")
        except sqlite3.OperationalError:
            if path.with_name(path.name + "-wal").exists():
                raise
            # A folder that can't be written has no place for the index of a write-ahead log; without such a
            # log no server is running on it, so that nothing changes under us.
            return _read_only(path, "mode=ro&immutable=1")


def _read_only(path: Path, options: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?{options}", uri=True, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
        _check_kind(connection, path, empty_is_fine=False)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_kind(connection: sqlite3.Connection, path: Path, *, empty_is_fine: bool) -> None:
    """Raise ArchiveError unless the file is an archive that this program knows."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if not tables and empty_is_fine:
        return
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    if mark != APPLICATION_ID or "_sqlite_migrations" not in tables:
        raise ArchiveError(f"{path}: a database, but not an archive of mersey: name another data folder")
    known = {migration.name for migration in migrations.pending(Database(memory=True))}
    applied = connection.execute(
        "SELECT name FROM _sqlite_migrations WHERE migration_set = ?", [migrations.name]
    )
    if unknown := {name for (name,) in applied} - known:
        raise ArchiveError(f"{path}: written by a newer mersey ({', '.join(sorted(unknown))}): use that one")


def _quick_check(connection: sqlite3.Connection, path: Path) -> None:
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise damaged(path, found)


def check_durable(connection: sqlite3.Connection, path: Path) -> None:
    """Raise ArchiveError unless each transaction of ``connection`` is on disk when it returns."""
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    (synchronous,) = connection.execute("PRAGMA synchronous").fetchone()
    if mode != "wal" or synchronous != 2:
        raise ArchiveError(
            f"{path}: journal_mode is {mode} and synchronous {synchronous}, must be wal and 2 (full): "
            "name a data folder on a local disk"
        )


def check_guards(connection: sqlite3.Connection, path: Path) -> None:
    """Raise ArchiveError unless every guard stands as it was made."""
    found = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_schema WHERE type = 'trigger'")}
    if missing := [guard.split()[2] for guard in GUARDS if guard not in found]:
        raise ArchiveError(
            f"{path}: guards are missing or changed ({', '.join(missing)}), its rows can't be trusted: "
            f"{REBUILD}"
        )


def check_guarded(path: Path, named: Path) -> None:
    """Raise ArchiveError unless the archive at ``path`` has every guard; the error calls it ``named``."""
    connection = open_for_reading(path)
    try:
        with named_faults(named):
            check_guards(connection, named)
    finally:
        connection.close()


def _say_if_wal_reset_fault() -> None:
    if sqlite3.sqlite_version_info < WAL_RESET_FIXED:
        _logger.warning(
            "SQLite %s is older than %s, which repaired a rare damage to databases in WAL mode; the archive "
            "has one writer only, which keeps clear of it, and can be rebuilt from the log",
            sqlite3.sqlite_version,
            ".".join(map(str, WAL_RESET_FIXED)),
        )


def damaged(path: Path, how: str) -> ArchiveError:
    """Return the error that says so."""
    return ArchiveError(f"{path}: damaged ({how}): {REBUILD}")


@contextmanager
def named_faults(path: Path) -> Iterator[None]:
    """Raise what SQLite raises as an ArchiveError that names the file and says what to do."""
    try:
        yield
    except sqlite3.OperationalError as error:
        code = getattr(error, "sqlite_errorcode", None)  # an error of the module itself has none
        kind = ArchiveBlocked if code in _BLOCKED else ArchiveError
        raise kind(f"{path}: {error}: check that it can be read and written, and the disk's room") from error
    except sqlite3.DatabaseError as error:
        raise damaged(path, str(error)) from error
