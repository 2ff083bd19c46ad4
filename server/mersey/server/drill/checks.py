"""The judgement after a drill: what clients were told, against what the log and the archive hold."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from mersey.log.archive_reader import ArchiveReader
from mersey.log.commit import CommitError, Head, advance, check_follows, hash_of, start_of
from mersey.log.data_folder import DataFolder
from mersey.log.embedded import EmbeddedNats
from mersey.log.jetstream import JetStreamLog
from mersey.log.opening import log_bytes_for, open_embedded
from mersey.log.ports import Entry
from mersey.replay.verify import verify_commits
from mersey.server.drill.journal import Journal, Told


class Place(msgspec.Struct, frozen=True):
    """Where a command stands in the log."""

    position: int
    last: int
    """The version of its last event."""


class Findings(msgspec.Struct, kw_only=True):
    """What was found; all of the lists must be empty."""

    lost: list[str] = []
    """Acknowledged commands that the log does not hold."""
    doubled: list[str] = []
    """Commands that the log holds more than once."""
    misplaced: list[str] = []
    """Commands that stand at another version than was told, or not in the order in which a client went on."""
    traces: list[str] = []
    """Refused commands that the log holds."""
    unverified: list[str] = []
    """Tables whose record does not prove itself."""
    differences: list[str] = []
    """Where log and archive differ."""
    faults: list[str] = []
    """What else went wrong: answers that no client should get, a server that did not start."""
    commits: int = 0
    tables: int = 0
    """How many commits and tables were compared and verified."""

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found."""
        return not any(getattr(self, name) for name in LISTS)


LISTS = ("lost", "doubled", "misplaced", "traces", "unverified", "differences", "faults")


async def judge(journal: Journal, data: Path) -> Findings:
    """Return what is wrong with the stopped data folder ``data``, going by what clients were told.

    Raises:
        MerseyError: its log or archive can't be read at all.
    """
    entries = await read_log(data)
    return await asyncio.to_thread(_judge, journal, entries, data / "archive.db")


def _judge(journal: Journal, entries: Sequence[Entry], archive: Path) -> Findings:
    findings = Findings(faults=list(journal.faults), commits=len(entries))
    places = check_chains(entries, findings)
    check_commands(journal, places, findings)
    check_archive(entries, archive, findings)
    check_tables(entries, {told.stream for told in journal if told.table}, findings)
    return findings


async def read_log(data: Path) -> list[Entry]:
    """Return all that the log in a stopped server's data folder holds."""
    with DataFolder.open(data) as folder:
        nats = EmbeddedNats(folder.nats)
        await nats.start()
        try:
            connection = await open_embedded(nats, max_bytes=log_bytes_for(folder.path))
            try:
                return await _read_all(await JetStreamLog.open(connection))
            finally:
                await connection.close()
        finally:
            await nats.stop()


async def _read_all(log: JetStreamLog) -> list[Entry]:
    last = await log.last_position()
    entries: list[Entry] = []
    if last:
        async for entry in log.follow(0):
            entries.append(entry)
            if entry.position >= last:
                break
    return entries


Places = Mapping[tuple[str, str, str], list[Place]]
"""By stream, actor and command id."""


def check_chains(entries: Sequence[Entry], findings: Findings) -> Places:
    """Return where each command stands; note commits that do not follow, and ids that come twice."""
    heads: dict[str, Head] = {}
    places: dict[tuple[str, str, str], list[Place]] = defaultdict(list)
    for entry in entries:
        head = heads.get(entry.stream) or start_of(entry.stream)
        try:
            commit = check_follows(head, entry.data)
        except CommitError as error:
            findings.unverified.append(f"position {entry.position}: {error}")
            continue
        heads[entry.stream] = advance(head, commit, entry.data, entry.position)
        place = Place(entry.position, commit.last)
        places[entry.stream, commit.actor, commit.command_id].append(place)
    for (stream, actor, command_id), found in places.items():
        if len(found) > 1:
            at = ", ".join(str(place.position) for place in found)
            findings.doubled.append(f"command {command_id} of {actor} in {stream}: at positions {at}")
    return places


def check_commands(journal: Journal, places: Places, findings: Findings) -> None:
    """Note acknowledged commands that are missing, elsewhere or out of order, and refused ones that stand."""
    for told in journal:
        found = places.get((told.stream, told.player, told.command_id), [])
        if told.outcome == "accepted":
            if not found:
                findings.lost.append(str(told))
            elif found[0].last != told.version:
                findings.misplaced.append(f"{told}: stands at version {found[0].last}")
        elif told.outcome == "refused" and found:
            findings.traces.append(f"{told}: refused, but at position {found[0].position}")
    for earlier, later in out_of_order(journal, places):
        findings.misplaced.append(f"{later}: sent after the answer to {earlier}, but stands before it")


def out_of_order(journal: Journal, places: Places) -> Iterator[tuple[Told, Told]]:
    """Yield pairs of one client's commands: the later was sent after the earlier's answer, but stands before.

    Each later command is paired with one earlier at most.
    """
    moments: list[tuple[int, Told, int]] = []
    for told in journal:
        found = places.get((told.stream, told.player, told.command_id))
        if told.outcome == "accepted" and found:
            moments.append((told.sent, told, found[0].position))
            moments.append((told.answered, told, found[0].position))
    furthest: dict[str, tuple[int, Told]] = {}
    for moment, told, position in sorted(moments, key=lambda entry: entry[0]):
        best = furthest.get(told.player)
        if moment == told.answered:
            if best is None or position > best[0]:
                furthest[told.player] = position, told
        elif best is not None and position < best[0]:
            yield best[1], told


def check_archive(entries: Sequence[Entry], archive: Path, findings: Findings) -> None:
    """Note where the archive is not, byte for byte and hash for hash, what the log holds."""
    streams: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        streams[entry.stream].append(entry)
    last = entries[-1].position if entries else 0
    with ArchiveReader(archive) as reader:
        if reader.position() != last:
            findings.differences.append(f"the archive ends at {reader.position()}, the log at {last}")
        for stream in _streams(reader) - streams.keys():
            findings.differences.append(f"{stream}: in the archive alone")
        for stream, logged in streams.items():
            _compare(stream, logged, list(reader.commits_of(stream)), findings)


def _streams(reader: ArchiveReader) -> set[str]:
    names: set[str] = set()
    while page := reader.streams(max(names, default="")):
        names.update(page)
    return names


def _compare(stream: str, logged: Sequence[Entry], archived: Sequence[Entry], findings: Findings) -> None:
    if len(logged) != len(archived):
        findings.differences.append(f"{stream}: {len(logged)} in the log, {len(archived)} in the archive")
    for here, there in zip(logged, archived, strict=False):
        if (here.position, hash_of(here.data)) != (there.position, hash_of(there.data)):
            findings.differences.append(f"{stream}: position {here.position} differs from the archive's")
            return


def check_tables(entries: Sequence[Entry], streams: set[str], findings: Findings) -> None:
    """Note which of ``streams`` do not verify: each cause decided again, deals and scores proved."""
    records: dict[str, list[bytes]] = {stream: [] for stream in sorted(streams)}
    for entry in entries:
        if entry.stream in records:
            records[entry.stream].append(entry.data)
    for stream, commits in records.items():
        if not commits:
            continue  # its opening is among the lost commands
        verdict = verify_commits(commits, stream.removeprefix("table."))
        findings.tables += 1
        if verdict.fault is not None:
            findings.unverified.append(f"{stream}: {verdict.fault}")
