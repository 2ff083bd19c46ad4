"""Rows for SQL that somebody changed behind the guards are found: they are not what the commits say."""

from __future__ import annotations

from pathlib import Path

import pytest

from mersey.replay.sources import open_game
from mersey.replay.verify import verify_commits
from mersey.replay.verify_all import check_table
from recorded import recorded_game
from replay.archived import archive_games, forge


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("UPDATE events SET body = '{}' WHERE version = 30", "version 30"),
        ("UPDATE events SET seat = 9 WHERE version = 7", "version 7"),
        ("UPDATE events SET at_ms = at_ms + 1 WHERE version = 1", "version 1"),
        ("DELETE FROM events WHERE version = 12", "version 12"),
        ("INSERT INTO events VALUES ('table.t1', 99999, 9999, 1, 'seat_ready', 0, '{}')", "version 99999"),
    ],
)
async def test_a_row_that_is_not_its_commits_is_named(tmp_path: Path, statement: str, names: str) -> None:
    data = tmp_path / "data"
    await (await archive_games(data, {"t1": recorded_game()})).close()
    assert open_game("t1", data).rows_fault is None
    assert check_table(data, "t1").state == "whole"

    forge(data, statement)

    game = open_game("t1", data)
    assert game.rows_fault is not None
    assert names in game.rows_fault
    assert verify_commits(game.commits).ok, "the commits hold, and the game can be shown"
    assert check_table(data, "t1").state == "damaged"
