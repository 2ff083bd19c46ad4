"""The drill's judgement finds what it is there to find."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from mersey.log.archive import Archive
from mersey.log.commit import decode, encode
from mersey.log.ports import Entry, Incarnation
from mersey.server.drill.checks import (
    Findings,
    Place,
    check_archive,
    check_chains,
    check_commands,
    check_tables,
)
from mersey.server.drill.journal import Journal, Told
from recorded import recorded_game

GAME = recorded_game(actions_max=12)
ENTRIES = tuple(Entry(position, "table.t1", data) for position, data in enumerate(GAME, start=1))


def journalled(commits: tuple[bytes, ...] = GAME) -> tuple[Journal, list[Told]]:
    """Return the journal of clients that were told of every commit, one after the other."""
    journal, told = Journal(), []
    for data in commits:
        commit = decode(data)
        told.append(journal.send(commit.actor, commit.command_id, "t1"))
        journal.accept(told[-1], commit.last)
    return journal, told


def commands_judged(journal: Journal, entries: tuple[Entry, ...] = ENTRIES) -> Findings:
    findings = Findings()
    check_commands(journal, check_chains(entries, findings), findings)
    return findings


def test_what_was_told_and_stands_is_clean() -> None:
    journal, _ = journalled()
    findings = commands_judged(journal)
    check_tables(ENTRIES, {"table.t1"}, findings)

    assert findings.is_clean
    assert findings.tables == 1


def test_an_acknowledged_command_that_is_nowhere_is_lost_and_named() -> None:
    journal, told = journalled()
    findings = commands_judged(journal, ENTRIES[:-1])

    assert findings.lost == [str(told[-1])]
    assert told[-1].command_id in findings.lost[0]
    assert not findings.is_clean


def test_a_command_without_an_answer_may_stand_or_not() -> None:
    journal, _ = journalled(GAME[:-1])
    last = decode(GAME[-1])
    journal.send(last.actor, last.command_id, "t1")

    assert commands_judged(journal).is_clean
    assert commands_judged(journal, ENTRIES[:-1]).is_clean


def test_a_command_that_stands_twice_is_doubled() -> None:
    journal, _ = journalled()
    last = decode(GAME[-2])
    again = encode(msgspec.structs.replace(decode(GAME[-1]), actor=last.actor, command_id=last.command_id))
    findings = commands_judged(journal, (*ENTRIES[:-1], Entry(ENTRIES[-1].position, "table.t1", again)))

    assert len(findings.doubled) == 1
    assert f"at positions {ENTRIES[-2].position}, {ENTRIES[-1].position}" in findings.doubled[0]


def test_a_command_at_another_version_than_was_told_is_out_of_place() -> None:
    journal, told = journalled()
    told[3].version += 1

    assert [line.startswith(str(told[3])) for line in commands_judged(journal).misplaced] == [True]


def test_a_command_that_stands_before_one_that_its_player_knew_is_out_of_place() -> None:
    journal = Journal()
    first, second = (decode(data) for data in GAME[2:4])
    for commit in (second, first):  # the player learned of the second before sending the first
        journal.accept(journal.send("p0", commit.command_id, "t1"), commit.last)
    places = {
        ("table.t1", "p0", commit.command_id): [Place(position, commit.last)]
        for position, commit in ((3, first), (4, second))
    }
    findings = Findings()
    check_commands(journal, places, findings)

    assert len(findings.misplaced) == 1
    assert "stands before it" in findings.misplaced[0]


def test_a_refused_command_that_stands_is_a_trace() -> None:
    journal, _ = journalled(GAME[:-1])
    last = decode(GAME[-1])
    journal.refuse(journal.send(last.actor, last.command_id, "t1"))

    assert len(commands_judged(journal).traces) == 1


def test_a_record_that_does_not_prove_itself_is_named() -> None:
    forged = encode(msgspec.structs.replace(decode(GAME[-1]), actor="nobody"))
    findings = Findings()
    check_tables((*ENTRIES[:-1], Entry(ENTRIES[-1].position, "table.t1", forged)), {"table.t1"}, findings)

    assert [line.startswith("table.t1: ") for line in findings.unverified] == [True]


@pytest.mark.parametrize("archived", [ENTRIES[:-1], ENTRIES])
async def test_an_archive_that_is_short_is_named_and_one_that_is_whole_is_not(
    archived: tuple[Entry, ...], tmp_path: Path
) -> None:
    archive = Archive.open(tmp_path / "archive.db", Incarnation("log", "now"))
    await archive.write(archived)
    await archive.close()
    findings = Findings()
    check_archive(ENTRIES, tmp_path / "archive.db", findings)

    assert bool(findings.differences) == (archived != ENTRIES)


async def test_an_archive_with_other_bytes_is_named(tmp_path: Path) -> None:
    other = encode(msgspec.structs.replace(decode(GAME[-1]), salt="00" * 16))
    archive = Archive.open(tmp_path / "archive.db", Incarnation("log", "now"))
    await archive.write((*ENTRIES[:-1], Entry(ENTRIES[-1].position, "table.t1", other)))
    await archive.close()
    findings = Findings()
    check_archive(ENTRIES, tmp_path / "archive.db", findings)

    assert findings.differences == [f"table.t1: position {ENTRIES[-1].position} differs from the archive's"]
