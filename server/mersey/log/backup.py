"""A backup of the archive in one file, taken while a server runs or not, and checked before it is one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import msgspec

from mersey.log.archive_copies import ArchiveCopies
from mersey.log.archive_schema import ArchiveError, check_guarded, damaged, named_faults, open_for_reading
from mersey.log.commit import CommitError, Head, advance, check_follows, hash_of, start_of
from mersey.log.data_folder import give_name, sync_folder
from mersey.log.reconcile import Progress

_TELL_EVERY: Final = 500


class Backup(msgspec.Struct, frozen=True):
    """What a backup holds."""

    entries: int
    streams: int
    position: int
    """The log position up to which it is complete."""


def back_up(archive: Path, target: Path, progress: Progress) -> Backup:
    """Write a copy of ``archive`` as it stands now to ``target``: the whole file appears at once, or nothing.

    One read transaction makes it, beside a server that goes on; then every entry is checked against its hash
    and its chain.

    Raises:
        ArchiveError: there is no archive, it is damaged, or the file exists or can't be written.
    """
    if os.path.lexists(target):
        raise ArchiveError(f"{target}: exists already: name another file")
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        try:
            _copy(archive, fresh)
            backup = check_copies(fresh, archive, progress)
            _sync(fresh)
            give_name(fresh, target)
        finally:
            fresh.unlink(missing_ok=True)
        sync_folder(target.parent)
    except OSError as error:
        raise ArchiveError(f"{target}: can't be written: {error.strerror}") from error
    return backup


def _copy(archive: Path, fresh: Path) -> None:
    connection = open_for_reading(archive)
    try:
        with named_faults(archive):
            os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            connection.execute("VACUUM INTO ?", (str(fresh),))
    finally:
        connection.close()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def check_copies(path: Path, named: Path, progress: Progress) -> Backup:
    """Return what the archive at ``path`` holds, every entry of which has been checked.

    Raises:
        ArchiveError: it is damaged; the place is told, with ``named`` for the file.
    """
    check_guarded(path, named)
    with ArchiveCopies(path) as copies:
        set_aside = copies.faults()
        totals = copies.totals()
        entries, heads = sum(totals.values()), dict[str, Head]()
        for done, copy in enumerate(copies.copies(), start=1):
            if hash_of(copy.data) != copy.hash:
                raise damaged(named, f"position {copy.position}: bytes and hash differ")
            if copy.stream not in set_aside:
                head = heads.get(copy.stream) or start_of(copy.stream)
                try:
                    commit = check_follows(head, copy.data)
                except CommitError as error:
                    raise damaged(named, f"position {copy.position}: {error}") from error
                heads[copy.stream] = advance(head, commit, copy.data, copy.position)
            if done % _TELL_EVERY == 0:
                progress(done, entries)
        progress(entries, entries)
        return Backup(entries, len(totals), copies.position())
