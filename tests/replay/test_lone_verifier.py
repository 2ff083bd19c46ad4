"""The verifier that stands alone: it proves honest records and finds forged ones, with nothing but Python."""

from __future__ import annotations

import ast
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from mersey.game.events import BuyPassed, CardDiscarded, StockDrawn
from mersey.replay.record_file import record_bytes
from recorded import recorded_game
from replay.forging import Change, changed, commit_with, event_changed, rechained
from replay.test_verify import FORGERIES, GAME, GAMES, inserted

FILE = Path(__file__).parents[2] / "replay" / "verifier" / "mersey_verify.py"
ALONE = runpy.run_path(str(FILE), run_name="alone")
UNSEEN = {BuyPassed}
"""Events that place no card: that they follow from the rules is for ``mersey verify`` to say."""


def fault_of(commits: list[bytes] | tuple[bytes, ...]) -> tuple[int, str] | None:
    """Return commit and words of the first fault, None where all holds."""
    header, *_ = record_bytes(GAME).split(b"\n")
    body = b"".join(line + b"\n" for line in (header, *commits))
    digest = ALONE["digest"]
    trailer = f'{{"end":"mersey record","commits":{len(commits)},"head":"{digest(commits[-1]).hex()}",'
    trailer += f'"sha256":"{digest(body).hex()}"}}\n'
    try:
        ALONE["check"](body + trailer.encode())
    except ALONE["Fault"] as fault:
        return fault.commit, str(fault)
    return None


def test_it_imports_the_standard_library_only() -> None:
    tree = ast.parse(FILE.read_text("utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


@pytest.mark.parametrize(("rules", "seats"), GAMES)
def test_an_honest_game_is_proved_with_every_shuffle_deal_and_round(rules: str, seats: int) -> None:
    commits = recorded_game(rules, seats, parts=seats)
    _, table, _ = ALONE["check"](record_bytes(commits))
    rebuilt = b"".join(commits).count(b'"stock_rebuilt"')
    rounds = len(table.rules["rounds"])
    counts = table.counts
    assert table.state == "ended"
    assert counts["shuffles are those of their link"] == rounds
    assert counts["deals come from the top of the pack"] == rounds
    assert counts["rounds count what was left in the hands"] == rounds
    assert counts["links lead back to the seal"] == rounds + 1
    assert counts["cuts are those of their link"] == (rounds if rules == "liverpool" else 0)
    assert counts["rebuilds are those of their link"] == rebuilt


RECORDS = sorted((Path(__file__).parents[1] / "records").glob("*.mersey"))


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.stem)
def test_every_record_that_is_kept_for_ever_is_proved(record: Path) -> None:
    table, state, events = ALONE["check"](record.read_bytes())
    assert state.state in ("ended", "closed")
    assert events > 100, table


def test_a_closed_table_is_proved_as_far_as_it_went() -> None:
    _, table, _ = ALONE["check"](record_bytes(recorded_game("contract", 4, actions_max=60, close=True)))
    assert table.state == "closed"
    assert table.counts["shuffles are those of their link"] == 1


@pytest.mark.parametrize(("kind", "nth", "change"), [row[:3] for row in FORGERIES if row[0] not in UNSEEN])
@pytest.mark.parametrize("remake", [False, True])
def test_a_forged_event_is_found_and_named_at_its_commit(
    kind: type, nth: int, change: Change, remake: bool
) -> None:
    number = commit_with(GAME, kind, nth)
    forged = changed(GAME, number, change)
    found = fault_of(rechained(forged) if remake else forged)
    assert found is not None
    assert found[0] in (number, number + 1), "a forged shuffle shows in the deal that does not follow from it"


def test_commits_dropped_repeated_or_swapped_are_found_under_a_new_chain_too() -> None:
    taken = commit_with(GAME, StockDrawn, 3)
    again = [*GAME[:taken], GAME[taken - 1], *GAME[taken:]]
    dropped = [*GAME[: taken - 1], *GAME[taken:]]
    swapped = [*GAME[: taken - 1], GAME[taken], GAME[taken - 1], *GAME[taken + 1 :]]
    for forged in (again, dropped, swapped):
        assert fault_of(forged) is not None
        assert fault_of(rechained(forged)) is not None


def test_a_card_moved_under_a_new_chain_is_found() -> None:
    number = commit_with(GAME, CardDiscarded, 4)
    forged = changed(GAME, number, event_changed(CardDiscarded, seat=lambda seat: (seat + 1) % 4))
    found = fault_of(rechained(forged))
    assert found is not None
    assert found[0] == number


def test_what_it_does_not_check_is_said_and_is_so() -> None:
    number = commit_with(GAME, CardDiscarded, 7)
    assert fault_of(rechained(changed(GAME, number, inserted))) is None, "that is for mersey verify"


def test_run_as_a_program_it_says_ok_or_names_the_fault(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.mersey", tmp_path / "bad.mersey"
    data = record_bytes(GAME)
    good.write_bytes(data)
    bad.write_bytes(data[:5000] + bytes([data[5000] ^ 1]) + data[5001:])
    empty = tmp_path / "empty.mersey"
    empty.write_bytes(b"")
    for files, status, says in (
        ([good], 0, "OK "),
        ([bad], 1, "FAULT "),
        ([empty], 1, "not a record file"),
        ([tmp_path / "none.mersey"], 2, "can't be read"),
        ([], 2, "usage"),
    ):
        run = subprocess.run(
            [sys.executable, "-I", FILE, *files], capture_output=True, text=True, cwd=tmp_path, check=False
        )
        assert run.returncode == status
        assert says in run.stdout + run.stderr
        assert "Traceback" not in run.stderr
