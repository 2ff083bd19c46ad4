"""A game is found by id, by its beginning, as the last, or in a file; what is not found says what is."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mersey.log.archive_schema import ArchiveError
from mersey.replay.record_file import RecordError, write_record
from mersey.replay.sources import SourceError, list_games, open_game
from recorded import recorded_game
from replay.archived import archive_games

FINISHED = recorded_game("bga", 2, table="alpha1")
CLOSED = recorded_game("bga", 2, table="alpha2", actions_max=20, close=True)
RUNNING = recorded_game("bga", 3, table="beta", actions_max=20)


@pytest.fixture
async def data(tmp_path: Path) -> AsyncIterator[Path]:
    """A data folder whose server still runs: its archive is open for writing."""
    games = {"alpha1": FINISHED, "alpha2": CLOSED, "beta": RUNNING}
    archive = await archive_games(tmp_path / "data", games, {"p0": "Ann", "stranger": "Bob"})
    yield tmp_path / "data"
    await archive.close()


def test_a_game_is_opened_by_its_id_and_its_bytes_are_those_of_the_log(data: Path) -> None:
    game = open_game("beta", data)
    assert (game.table, game.commits, game.fault) == ("beta", RUNNING, None)
    assert game.source == str(data / "archive.db")


def test_the_resource_name_of_the_api_is_understood(data: Path) -> None:
    assert open_game("tables/beta", data).table == "beta"


def test_the_beginning_of_an_id_is_enough_where_no_other_begins_so(data: Path) -> None:
    assert open_game("be", data).table == "beta"
    with pytest.raises(SourceError, match="alpha: more than one game begins so: alpha2, alpha1"):
        open_game("alpha", data)
    assert open_game("alpha1", data).commits == FINISHED


def test_last_is_the_newest_finished_game(data: Path) -> None:
    assert open_game("last", data).table == "alpha1"


async def test_last_is_the_newest_where_none_is_finished(tmp_path: Path) -> None:
    archive = await archive_games(tmp_path / "data", {"alpha2": CLOSED, "beta": RUNNING})
    await archive.close()
    assert open_game("last", tmp_path / "data").table == "beta"


async def test_the_archive_of_a_stopped_server_is_read_and_left_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    await (await archive_games(folder, {"beta": RUNNING})).close()
    before = (folder / "archive.db").read_bytes()
    assert open_game("beta", folder).commits == RUNNING
    assert (folder / "archive.db").read_bytes() == before


def test_names_of_those_who_sit_there_come_with_the_game(data: Path) -> None:
    assert open_game("beta", data).names == {"p0": "Ann"}


def test_an_unknown_game_is_refused_with_what_there_is(data: Path) -> None:
    with pytest.raises(SourceError, match=r"gamma: no such game in .*: beta, alpha2, alpha1, or say last"):
        open_game("gamma", data)
    with pytest.raises(SourceError, match="no such game"):
        open_game("", data)


async def test_of_many_games_the_newest_few_are_named(tmp_path: Path) -> None:
    games = {f"g{n}": recorded_game("bga", 2, table=f"g{n}", actions_max=1) for n in range(8)}
    await (await archive_games(tmp_path / "data", games)).close()
    with pytest.raises(SourceError, match="the newest there: g7, g6, g5, g4, g3 and 3 more"):
        open_game("x", tmp_path / "data")


def test_games_are_listed_the_newest_first(data: Path) -> None:
    listed = [(game.stream, game.status) for game in list_games(data)]
    assert listed == [("table.beta", "running"), ("table.alpha2", "closed"), ("table.alpha1", "ended")]


def test_a_file_is_opened_without_any_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("game.mersey", "./game", "game"):
        write_record(tmp_path / name, FINISHED, force=True)
        game = open_game(name, tmp_path / "none")
        assert (game.table, game.commits, game.names) == ("alpha1", FINISHED, {})


def test_a_damaged_file_opens_with_its_fault(tmp_path: Path) -> None:
    path = tmp_path / "game.mersey"
    write_record(path, FINISHED)
    path.write_bytes(path.read_bytes()[:-1])
    assert "cut off" in (open_game(str(path), tmp_path).fault or "")


def test_a_missing_file_folder_or_archive_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="can't be read"):
        open_game(str(tmp_path / "none.mersey"), tmp_path)
    with pytest.raises(SourceError, match="no such data folder"):
        open_game("last", tmp_path / "none")
    with pytest.raises(SourceError, match="no archive in it"):
        open_game("last", tmp_path)
    assert os.listdir(tmp_path) == []


async def test_an_archive_without_games_says_so(tmp_path: Path) -> None:
    await (await archive_games(tmp_path / "data", {})).close()
    with pytest.raises(SourceError, match="no game is recorded there yet"):
        open_game("last", tmp_path / "data")


def test_a_corrupt_archive_is_named(tmp_path: Path) -> None:
    (tmp_path / "archive.db").write_bytes(b"not a database" * 1000)
    with pytest.raises(ArchiveError, match=r"archive\.db: damaged"):
        open_game("last", tmp_path)


async def test_what_the_archive_has_set_aside_is_the_fault_of_the_game(tmp_path: Path) -> None:
    broken = [*RUNNING[:9], *RUNNING[10:]]
    await (await archive_games(tmp_path / "data", {"beta": broken})).close()
    game = open_game("beta", tmp_path / "data")
    assert game.commits == RUNNING[:9]
    assert "number is 11, expected 10" in (game.fault or "")
