"""A new archive from the log, and putting it in the place of the old one, which is kept beside.

The new file is made under another name and takes the archive's name in one step, when it is whole. Whatever
stops this in the middle leaves the old archive, or the new one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from mersey.log.archive import Archive
from mersey.log.archive_rows import Projection
from mersey.log.data_folder import sync_folder
from mersey.log.reconcile import Progress
from mersey.log.refill import catch_up
from mersey.log.walk import ReadableLog

_BESIDE = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a database under its name."""


class Rebuilt(msgspec.Struct, frozen=True):
    """A new archive that has not taken the old one's place yet."""

    path: Path
    entries: int
    faults: Mapping[str, str]
    """For each stream that has entries set aside what is wrong with the first of them."""


async def rebuild(
    log: ReadableLog, archive: Path, project: Projection, names: Mapping[str, str], progress: Progress
) -> Rebuilt:
    """Return a new archive beside ``archive``, made from the log from its first entry on.

    Raises:
        LogHole: the log can't give out all its entries.
        LogError: it can't be read.
        ArchiveError: the new file can't be written.
    """
    path = archive.with_name(archive.name + ".new")
    for leftover in (path, *_beside(path)):
        leftover.unlink(missing_ok=True)
    made = Archive.open(path, log.incarnation, project)
    try:
        entries = await catch_up(log, made, progress)
        await made.put_names(names)
        faults = made.faults()
    finally:
        await made.close()
    return Rebuilt(path, entries, faults)


def swap_in(rebuilt: Rebuilt, archive: Path) -> Path | None:
    """Give the new archive its place; return where the old one is kept, None where there was none."""
    kept = None
    if archive.exists():
        kept = free_name(archive)
        try:
            kept.hardlink_to(archive)
        except OSError:  # a file system without hard links: for a moment there is no archive
            archive.rename(kept)
        for beside in _beside(archive):
            # A write-ahead log belongs to the old file alone: beside the new one it would destroy it.
            if beside.exists():
                beside.rename(beside.with_name(kept.name + beside.name.removeprefix(archive.name)))
    rebuilt.path.replace(archive)
    sync_folder(archive.parent)
    return kept


def free_name(path: Path) -> Path:
    """Return a name beside ``path`` that is not taken: ``archive-old-1.db`` for ``archive.db``."""
    number = 1
    while os.path.lexists(kept := path.with_name(f"{path.stem}-old-{number}{path.suffix}")):
        number += 1
    return kept


def _beside(path: Path) -> list[Path]:
    return [path.with_name(path.name + suffix) for suffix in _BESIDE]
