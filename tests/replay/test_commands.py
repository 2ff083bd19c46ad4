"""``mersey replay``, ``verify`` and ``export`` as people and programs call them."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import pytest

from mersey.client.cli.app import run
from mersey.game.events import RoundEnded
from mersey.log.table_commit import read_table_commit
from mersey.replay.record_file import read_record, write_record
from recorded import recorded_game
from replay.archived import archive_games
from replay.forging import changed, commit_with, event_changed, rechained
from terminals import on_a_terminal

GAME = recorded_game("contract", 4)
RUNNING = recorded_game("contract", 4, table="beta", actions_max=80)
EVENTS = sum(len(read_table_commit(data).events) for data in GAME)


class Done(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def mersey(*arguments: str | Path, cwd: Path, typed: str = "", **environment: str) -> Done:
    """Run the command in this process, as its entry point does."""
    out, err = io.StringIO(), io.StringIO()
    settings = {"TERM": "dumb", "COLUMNS": "200"} | environment
    code = 0
    with ExitStack() as stack:
        stack.enter_context(chdir(cwd))
        stack.enter_context(patch.dict(os.environ, settings))
        stack.enter_context(patch.object(sys, "argv", ["mersey", *map(str, arguments)]))
        stack.enter_context(patch.object(sys, "stdin", io.StringIO(typed)))
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(err))
        try:
            run()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0
    return Done(code, out.getvalue(), err.getvalue())


def program(*arguments: str | Path, cwd: Path, typed: str = "") -> Done:
    """Run the command as a program of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "mersey.client.cli", *map(str, arguments)],
        input=typed,
        capture_output=True,
        text=True,
        cwd=cwd,
        env=os.environ | {"TERM": "dumb", "COLUMNS": "200"},
        timeout=60,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def refused(*arguments: str | Path, cwd: Path) -> str:
    """Return the one line of a command that fails."""
    done = mersey(*arguments, cwd=cwd)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("mersey: error: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "game.mersey"
    write_record(path, GAME)
    return path


@pytest.fixture
async def data(tmp_path: Path) -> Path:
    folder = tmp_path / "mersey-data"
    await (await archive_games(folder, {"t1": GAME, "beta": RUNNING}, {"p2": "Ann"})).close()
    return folder


def test_verify_says_what_was_checked_and_ends_with_ok(file: Path) -> None:
    done = program("verify", file, cwd=file.parent)
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert lines[0] == f"{file}: table t1 (contract-quick, 4 seats)"
    assert lines[1] == f"{len(GAME)} commits, {EVENTS} events; finished"
    counts = {line.split()[0]: line.split()[1] for line in lines[2:-1]}
    assert counts["chain"] == counts["causes"] == str(len(GAME))
    assert (counts["shuffles"], counts["links"], counts["places"]) == ("2", "3", "1")
    assert lines[-1].startswith("OK t1: head ")


def test_verify_parts_its_lines_between_words_on_a_narrow_terminal_and_not_in_a_pipe(file: Path) -> None:
    whole = program("verify", file.name, cwd=file.parent).stdout.splitlines()
    lines = on_a_terminal(file.parent, 70, "verify", file.name)

    assert max(map(len, whole)) > 70
    assert max(map(len, lines)) <= 70
    assert " ".join(lines).split() == " ".join(whole).split()
    hanging = [line for line in lines if line not in whole and line.startswith("   ")]
    assert hanging
    assert all(re.match(r" {20}\S", line) for line in hanging)


def test_verify_names_the_first_commit_at_fault_and_exits_1(tmp_path: Path) -> None:
    number = commit_with(GAME, RoundEnded)
    forged = rechained(
        changed(GAME, number, event_changed(RoundEnded, points=lambda points: (0, *points[1:])))
    )
    write_record(tmp_path / "forged.mersey", forged)
    done = mersey("verify", "forged.mersey", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    last = done.stdout.splitlines()[-1]
    assert last.startswith(f"FAULT commit {number}, version ")
    assert ", points: points are 0 " in last


def test_verify_finds_a_flipped_byte_that_no_commit_betrays(file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(data[:-10] + bytes([data[-10] ^ 1]) + data[-9:])
    done = mersey("verify", file, cwd=file.parent)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith(f"FAULT after commit {len(GAME)}: line {len(GAME) + 2}: ")


def test_verify_says_that_a_game_is_not_finished_and_exits_0(data: Path) -> None:
    done = mersey("verify", "beta", cwd=data.parent)
    assert done.returncode == 0
    assert "not finished: what is recorded so far was checked" in done.stdout


def test_a_game_is_exported_verified_and_replayed_from_the_file(data: Path) -> None:
    done = mersey("export", "last", "out.mersey", cwd=data.parent)
    assert (done.returncode, done.stderr) == (0, "")
    assert read_record(data.parent / "out.mersey").commits == GAME
    assert mersey("verify", "out.mersey", cwd=data.parent).returncode == 0
    dumped = mersey("replay", "out.mersey", "--dump", cwd=data.parent).stdout
    assert (
        dumped.replace("  p2", "  Ann").splitlines()[-4:]
        == (mersey("replay", "t1", "--dump", cwd=data.parent).stdout.splitlines()[-4:])
    )
    assert "exists already" in refused("export", "last", "out.mersey", cwd=data.parent)
    assert mersey("export", "last", "out.mersey", "--force", cwd=data.parent).returncode == 0


def test_an_error_of_the_program_is_one_line_and_exit_1(tmp_path: Path) -> None:
    done = program("replay", "last", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "mersey: error: mersey-data: no such data folder: name the server's with --data, or a record file\n"
    )


def test_a_running_game_is_not_exported(data: Path) -> None:
    line = refused("export", "beta", "out.mersey", cwd=data.parent)
    assert "still runs" in line
    assert not (data.parent / "out.mersey").exists()


def test_the_data_folder_is_named_by_option_or_environment(data: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for done in (
        mersey("verify", "t1", "--data", data, cwd=elsewhere),
        mersey("verify", "t1", cwd=elsewhere, MERSEY_DATA=str(data)),
        mersey("verify", "t1", cwd=data.parent),
    ):
        assert (done.returncode, done.stderr) == (0, "")


def test_dump_gives_the_whole_account_and_at_ends_it(file: Path) -> None:
    done = mersey("replay", file, "--dump", cwd=file.parent)
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert lines[0] == "Table t1, with all cards open"
    assert sum(line.startswith("#") for line in lines) == EVENTS
    cut_short = mersey("replay", file, "--dump", "--at", "40", cwd=file.parent).stdout.splitlines()
    assert sum(line.startswith("#") for line in cut_short) == 40


def test_dump_of_a_seat_shows_its_own_hand_only(file: Path) -> None:
    shown = mersey("replay", file, "--dump", "--seat", "2", cwd=file.parent).stdout
    opened = mersey("replay", file, "--dump", "--open", cwd=file.parent).stdout
    assert shown.startswith("Table t1, as seat 2 saw it\n")
    assert (shown.count("own hand"), opened.count("own hand")) == (2, 0)
    assert "draws a card" in shown
    assert "draws a card" not in opened


def page_versions(text: str) -> list[int]:
    return [int(line.split()[1]) for line in text.splitlines() if line.startswith("--- ")]


def test_stepping_reads_plain_lines_from_a_pipe(file: Path) -> None:
    typed = "\nn\nn 5\np\np 2\nv 100\nr 2\nt 3\nq\nn\n"
    done = program("replay", file, cwd=file.parent, typed=typed)
    assert (done.returncode, done.stderr) == (0, "")
    versions = page_versions(done.stdout)
    assert versions[:7] == [1, 2, 3, 8, 7, 5, 100]
    assert versions[7] < versions[8]
    assert len(versions) == 9
    assert "round 2 of 2" in done.stdout


def test_a_step_that_needs_a_word_shows_one_of_its_own_kind(file: Path) -> None:
    done = mersey("replay", file, cwd=file.parent, typed="r\nt\nv\ns\n")
    said = [line for line in done.stdout.splitlines() if line.startswith("say which")]
    assert said == [f"say which, as in: {example}" for example in ("r 5", "t 12", "v 100", "s 2")]


def test_stepping_says_what_can_not_be_done_and_stays(file: Path) -> None:
    typed = "p\nx\nv 0\nv 99999999999\nr 9\nt 1\ns 7\nn 1 2\nv\n?\nn\n"
    done = mersey("replay", file, cwd=file.parent, typed=typed)
    assert (done.returncode, done.stderr) == (0, "")
    assert page_versions(done.stdout) == [1, 2]
    for words in (
        "the beginning",
        "not a command: 'x'",
        "no version 0",
        "not a number",
        "no round 9",
        "no seat 7",
    ):
        assert words in done.stdout
    assert "there is no round 0" in done.stdout
    assert "this help" in done.stdout


def test_stepping_ends_at_the_end(file: Path) -> None:
    done = mersey("replay", file, "--at", str(EVENTS), cwd=file.parent, typed="n\n")
    assert page_versions(done.stdout) == [EVENTS]
    assert "this is the end" in done.stdout
    assert "Final places" in done.stdout


def test_the_perspective_changes_while_stepping(file: Path) -> None:
    done = mersey("replay", file, "--at", "60", cwd=file.parent, typed="s 1\ns spec\ns open\n")
    pages = done.stdout.split("--- 60 of ")[1:]
    assert ["own hand" in page for page in pages] == [False, True, False, False]
    assert [page.splitlines()[0].rpartition(", ")[2] for page in pages] == [
        "with all cards open",
        "as seat 1 saw it",
        "as a spectator saw it",
        "with all cards open",
    ]


def test_the_cards_of_a_running_game_stay_hidden(data: Path) -> None:
    done = mersey("replay", "beta", "--dump", cwd=data.parent)
    assert done.returncode == 0
    assert done.stdout.startswith("Table beta, as a spectator saw it\n")
    assert "The game still runs: its cards are hidden" in done.stderr
    for options in (["--open"], ["--seat", "0"]):
        assert "still runs, and its cards are hidden" in refused("replay", "beta", *options, cwd=data.parent)
    stepped = mersey("replay", "beta", "--at", "60", cwd=data.parent, typed="s open\ns 0\n").stdout
    assert stepped.count("its cards are hidden") == 2
    assert "own hand" not in stepped


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["verify", "last"], "no such data folder"),
        (["replay", "none.mersey"], "can't be read"),
        (["replay", "game.mersey", "--seat", "9"], "no seat 9: the table has 0 to 3"),
        (["replay", "game.mersey", "--seat", "1", "--open"], "not both"),
        (["replay", "game.mersey", "--at", "0"], "no version 0"),
        (["replay", "game.mersey", "--dump", "--at", "1000000"], "no version 1000000"),
        (["export", "game.mersey", "none/out.mersey"], "can't be written"),
        (["replay", "cut.mersey"], "cut off"),
        (["verify", "text.mersey"], "not a record of a game"),
    ],
)
def test_what_can_not_be_done_is_one_line(file: Path, arguments: list[str], words: str) -> None:
    (file.parent / "cut.mersey").write_bytes(file.read_bytes()[:-3])
    (file.parent / "text.mersey").write_text("Dear Ann,\n")
    assert words in refused(*arguments, cwd=file.parent)
