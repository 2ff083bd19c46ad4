"""Every game of a data folder, verified over several processes: the gate before a release.

A game that was decided otherwise under other rules is told from one whose bytes are damaged: the first is a
change of the program, the second one of the record. Neither is left out.
"""

from __future__ import annotations

import multiprocessing
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import Final, Literal

import msgspec

from mersey.log.archive_copies import ArchiveCopies
from mersey.log.archive_schema import ArchiveError
from mersey.log.commit import CommitError, advance, check_follows, start_of
from mersey.log.table_commit import stream_of
from mersey.replay.sources import open_archive
from mersey.replay.verdict import Outcome
from mersey.replay.verify import verify_commits

_TABLES: Final = stream_of("")
_CHUNK_MAX: Final = 16

State = Literal["whole", "differs", "damaged"]


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What was found of one game."""

    table: str
    state: State
    """``differs``: its bytes are whole, but today's rules do not give the events that are recorded."""
    outcome: Outcome
    commits: int
    """How many are recorded."""
    events: int
    """How many were proved."""
    fault: str = ""

    def __str__(self) -> str:
        """Return the game in one line."""
        if self.state == "whole":
            return f"ok {self.table}: {self.events} events, {self.outcome}"
        if self.state == "damaged":
            return f"DAMAGED {self.table}: {self.fault}"
        return f"DIFFERS {self.table}: {self.fault}; its {self.commits} commits are whole"


class Tally:
    """How many games came out how."""

    def __init__(self) -> None:
        self._games: Counter[State] = Counter()
        self._outcomes: Counter[Outcome] = Counter()
        self._events = 0

    def add(self, checked: Checked) -> None:
        """Count a game."""
        self._games[checked.state] += 1
        self._outcomes[checked.outcome] += 1
        self._events += checked.events

    @property
    def ok(self) -> bool:
        """Whether every game is proved."""
        return self._games.total() == self._games["whole"]

    def __str__(self) -> str:
        """Return the counts in one line, which begins with ``OK`` or ``FAULT``."""
        outcomes = ", ".join(f"{count} {name}" for name, count in sorted(self._outcomes.items()))
        counted = f"{self._games.total()} games ({outcomes}), {self._events} events proved"
        if self.ok:
            return f"OK {counted}"
        return f"FAULT {counted}; {self._games['differs']} differ, {self._games['damaged']} are damaged"


def tables_of(data: Path) -> list[str]:
    """Return the tables that are recorded in ``data``, readable or not.

    Raises:
        SourceError: there is no such folder, or no server has kept its data there.
        ArchiveError: the archive can't be read.
    """
    with open_archive(data, ArchiveCopies) as copies:
        return sorted(name.removeprefix(_TABLES) for name in copies.totals() if name.startswith(_TABLES))


def verify_all(data: Path, tables: Sequence[str], processes: int | None = None) -> Iterator[Checked]:
    """Yield what is found of each table's record, in the order of ``tables``.

    Args:
        data: the data folder.
        tables: as `tables_of` gives them.
        processes: how many work at once; None takes one for each processor.
    """
    count = min(processes or os.cpu_count() or 1, len(tables))
    if count <= 1:
        yield from map(check_table, repeat(data), tables)
        return
    chunk = max(1, min(_CHUNK_MAX, len(tables) // (4 * count)))
    with ProcessPoolExecutor(count, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(check_table, repeat(data), tables, chunksize=chunk)


def check_table(data: Path, table: str) -> Checked:
    """Return what is found of one table's record."""
    stream = stream_of(table)
    try:
        with open_archive(data, ArchiveCopies) as archive:
            commits = [entry.data for entry in archive.commits_of(stream)]
            beside = archive.set_aside(stream) or archive.rows_fault(stream)
    except ArchiveError as error:  # a page of this game: the others are still to be named
        return Checked(table=table, state="damaged", outcome="empty", commits=0, events=0, fault=str(error))
    verdict = verify_commits(commits, table)
    broken = beside or _break(stream, commits)
    state: State = "whole"
    fault = ""
    if broken:
        state, fault = "damaged", broken
    elif verdict.fault is not None:
        state, fault = "damaged" if verdict.fault.check == "schema" else "differs", str(verdict.fault)
    return Checked(
        table=table,
        state=state,
        outcome=verdict.outcome,
        commits=len(commits),
        events=verdict.events,
        fault=fault,
    )


def _break(stream: str, commits: Sequence[bytes]) -> str:
    """Return where the chain breaks, empty if nowhere; what was decided does not matter here."""
    head = start_of(stream)
    for number, data in enumerate(commits, start=1):
        try:
            head = advance(head, check_follows(head, data), data, number)
        except CommitError as error:
            return f"commit {number}: {error}"
    return "" if commits else "no commit is recorded"
