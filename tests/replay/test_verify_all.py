"""``mersey verify --all``: every game is looked at, and none that is not proved goes unnamed."""

from __future__ import annotations

from pathlib import Path

import pytest

from mersey.game.events import RoundEnded
from mersey.replay.verify_all import tables_of, verify_all
from recorded import recorded_game
from replay.archived import archive_games
from replay.forging import changed, commit_with, event_changed, rechained
from replay.test_commands import mersey, refused

GOOD = recorded_game("contract", 4)
RUNNING = recorded_game("contract", 4, table="running", actions_max=40)
CLOSED = recorded_game("contract", 4, table="closed", actions_max=40, close=True)
OTHER = recorded_game("bga-short", 3, table="other")
ROUND = commit_with(OTHER, RoundEnded)
OTHERWISE = rechained(changed(OTHER, ROUND, event_changed(RoundEnded, points=lambda p: (p[0] + 5, *p[1:]))))
CUT = recorded_game("contract", 4, table="cut")
WHOLE = {"t1": GOOD, "running": RUNNING, "closed": CLOSED}


@pytest.fixture
async def data(tmp_path: Path) -> Path:
    games = {**WHOLE, "other": OTHERWISE, "cut": [*CUT[:10], *CUT[11:]]}
    await (await archive_games(tmp_path / "mersey-data", games)).close()
    return tmp_path / "mersey-data"


@pytest.mark.parametrize("processes", [1, 2])
def test_every_game_is_told_and_what_differs_from_what_is_damaged(data: Path, processes: int) -> None:
    tables = tables_of(data)

    found = {checked.table: checked for checked in verify_all(data, tables, processes)}

    assert list(found) == tables == ["closed", "cut", "other", "running", "t1"]
    assert {name: checked.state for name, checked in found.items()} == {
        "t1": "whole",
        "running": "whole",
        "closed": "whole",
        "other": "differs",
        "cut": "damaged",
    }
    assert [found[name].outcome for name in WHOLE] == ["finished", "running", "closed"]
    assert found["other"].fault.startswith(f"commit {ROUND}, ")
    assert str(found["other"]).endswith(f"; its {len(OTHER)} commits are whole")
    assert "number is 12, expected 11" in found["cut"].fault


def test_the_command_names_each_game_and_exits_1(data: Path) -> None:
    done = mersey("verify", "--all", "--processes", "1", cwd=data.parent)

    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr, len(lines)) == (1, "", 3)
    assert lines[0].startswith("DAMAGED cut: position ")
    assert lines[1].startswith(f"DIFFERS other: commit {ROUND}, version ")
    assert lines[2].startswith("FAULT 5 games (1 closed, 1 finished, 3 running), ")
    assert lines[2].endswith("; 1 differ, 1 are damaged")


async def test_the_command_exits_0_where_all_are_proved(tmp_path: Path) -> None:
    await (await archive_games(tmp_path / "mersey-data", WHOLE)).close()

    done = mersey("verify", "--all", "--processes", "1", cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("OK 3 games (1 closed, 1 finished, 1 running), ")


async def test_a_flipped_byte_is_damage_and_the_other_games_are_still_told(data: Path) -> None:
    path = data / "archive.db"
    bytes_ = bytearray(path.read_bytes())
    place = bytes_.index(GOOD[30][-80:])
    bytes_[place + 60] ^= 1
    path.write_bytes(bytes_)

    found = {checked.table: checked.state for checked in verify_all(data, tables_of(data), 1)}

    assert found == {
        "t1": "damaged",
        "running": "whole",
        "closed": "whole",
        "other": "differs",
        "cut": "damaged",
    }


async def test_a_page_that_cannot_be_read_is_damage_and_hides_no_other_game(data: Path) -> None:
    path, page = data / "archive.db", 4096
    content = bytearray(path.read_bytes())
    first = content.index(GOOD[30][-80:]) // page * page
    content[first : first + 64] = b"\xff" * 64
    path.write_bytes(content)

    found = {checked.table: checked for checked in verify_all(data, ["t1", "other"], 1)}

    assert found["t1"].state == "damaged"
    assert found["other"].state == "differs"


def test_one_game_or_all_must_be_asked_for(tmp_path: Path) -> None:
    assert "no such data folder" in refused("verify", "--all", cwd=tmp_path)
    assert "say which game to verify, or --all" in refused("verify", cwd=tmp_path)
    assert "say which game to verify, or --all" in refused("verify", "last", "--all", cwd=tmp_path)
