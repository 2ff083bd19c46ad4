"""Recorded games of every schema are verified and folded for ever; old bytes are upcast on reading."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, get_args

import pytest

from mersey.game.events import Event
from mersey.log.archive_copies import ArchiveCopies
from mersey.log.commit import SCHEMA, UPCASTS, NewerSchema, UnreadableCommit, decode, hash_of
from mersey.log.table_commit import fold_commits, read_table_commit
from mersey.replay.record_file import read_record, record_bytes, write_record
from mersey.replay.verify import verify_commits
from mersey.rules.ruleset_file import shipped
from recorded import recorded_game
from replay.archived import archive_games

RECORDS = Path(__file__).parents[1] / "records"
EXPECTED: dict[str, dict[str, Any]] = tomllib.loads((RECORDS / "expected.toml").read_text("utf-8"))


@pytest.mark.parametrize("name", EXPECTED)
def test_a_recorded_game_comes_to_what_it_came_to_when_it_was_played(name: str) -> None:
    expected, record = EXPECTED[name], read_record(RECORDS / f"{name}.mersey")

    verdict = verify_commits(record.commits, record.table)
    game = fold_commits(record.commits)

    assert verdict.ok, verdict.fault
    assert verdict.head == hash_of(record.commits[-1]) == expected["head"]
    assert (len(record.commits), game.version) == (expected["commits"], expected["events"])
    assert list(game.totals) == expected["totals"]
    assert record_bytes(record.commits) == (RECORDS / f"{name}.mersey").read_bytes()


def test_every_record_is_expected_and_every_schema_has_a_game_of_each_rule_set() -> None:
    assert {path.stem for path in RECORDS.glob("*.mersey")} == EXPECTED.keys()
    for schema in range(1, SCHEMA + 1):
        assert {f"{schema}-{rules}" for rules in shipped()} <= EXPECTED.keys()


def test_the_records_hold_every_kind_of_event() -> None:
    kinds = {
        type(event)
        for path in RECORDS.glob("*.mersey")
        for data in read_record(path).commits
        for event in read_table_commit(data).events
    }
    assert kinds == set(get_args(Event))


# Upcasts: a schema 0 is planted, in which some things were called otherwise

GAME = recorded_game("contract", 4)


def rewritten(commits: tuple[bytes, ...], until: int) -> tuple[bytes, ...]:
    """Return a game of which the first commits are of schema 0, chained over their own bytes."""
    made: list[bytes] = []
    for number, data in enumerate(commits, start=1):
        commit = json.loads(data)
        if made:
            commit["previous"] = sha256(made[-1]).hexdigest()
        if number <= until:
            commit["v"] = 0
            commit["moment"] = commit.pop("at_ms")
            for event in commit["events"]:
                if event["type"] == "card_discarded":
                    event["type"] = "thrown_away"
        made.append(json.dumps(commit, separators=(",", ":"), sort_keys=True).encode())
    return tuple(made)


def upcast_zero(data: bytes) -> bytes:
    """Return a commit of the planted schema 0 as one of schema 1."""
    commit = json.loads(data)
    commit["v"] = 1
    commit["at_ms"] = commit.pop("moment")
    for event in commit["events"]:
        if event["type"] == "thrown_away":
            event["type"] = "card_discarded"
    return json.dumps(commit).encode()


OLD = rewritten(GAME, until=60)


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(UPCASTS, 0, upcast_zero)


def test_a_schema_that_nobody_reads_any_more_is_refused() -> None:
    assert 0 not in UPCASTS
    with pytest.raises(UnreadableCommit):
        decode(OLD[0])
    with pytest.raises(UnreadableCommit):
        read_table_commit(OLD[0])
    verdict = verify_commits(OLD)
    assert verdict.fault is not None
    assert (verdict.fault.commit, verdict.fault.check) == (1, "schema")


@pytest.mark.usefixtures("planted")
def test_commits_of_an_old_schema_are_read_as_those_of_today() -> None:
    for old, new in zip(OLD, GAME, strict=True):
        assert (decode(old).at_ms, decode(old).command_id) == (decode(new).at_ms, decode(new).command_id)
        assert read_table_commit(old).events == read_table_commit(new).events
        assert read_table_commit(old).v == decode(old).v == SCHEMA
    assert fold_commits(OLD) == fold_commits(GAME)


@pytest.mark.usefixtures("planted")
def test_a_game_that_went_on_under_a_new_schema_is_verified_over_the_bytes_that_were_logged() -> None:
    verdict = verify_commits(OLD)

    assert verdict.ok, verdict.fault
    assert verdict.head == sha256(OLD[-1]).hexdigest()
    assert {check.name: check.count for check in verdict.checks} == {
        check.name: check.count for check in verify_commits(GAME).checks
    }


@pytest.mark.usefixtures("planted")
async def test_old_bytes_are_archived_and_recorded_as_they_are(tmp_path: Path) -> None:
    await (await archive_games(tmp_path, {"t1": OLD})).close()
    write_record(tmp_path / "old.mersey", OLD)

    with ArchiveCopies(tmp_path / "archive.db") as copies:
        assert [(copy.data, copy.hash) for copy in copies.copies()] == [(d, hash_of(d)) for d in OLD]
        assert copies.faults() == {}
    assert read_record(tmp_path / "old.mersey").commits == OLD


@pytest.mark.parametrize(
    ("upcast", "said"),
    [
        (lambda data: data, "does not give one of schema 1"),
        (lambda data: b"{}", "does not give one of schema 1"),
        (lambda data: json.dumps({"v": 1}).encode(), "stream"),
        (lambda data: {}[0], "KeyError"),
    ],
    ids=["idle", "forgetful", "empty", "failing"],
)
def test_an_upcast_that_fails_is_the_error_of_an_unreadable_commit(
    upcast: Callable[[bytes], bytes], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(UPCASTS, 0, upcast)

    for read in (decode, read_table_commit):
        with pytest.raises(UnreadableCommit, match=said):
            read(OLD[0])


@pytest.mark.usefixtures("planted")
def test_a_newer_schema_stays_newer() -> None:
    with pytest.raises(NewerSchema):
        decode(GAME[0].replace(b'"v":1', b'"v":2'))
