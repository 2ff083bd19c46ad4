"""The demo as a newcomer runs it: a whole game, its proof, the two commands; one seed, one game."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

RULES = """\
id = "one-round"
title = "One round of two sets"
players = [2, 5]

[pack]
decks = [{ players = [2, 5], count = 2 }]
jokers = 3

[[rounds]]
sets = 2
runs = 0
deal = 10
whole_hand = false

[[rounds]]
sets = 1
runs = 1
deal = 10
whole_hand = false

[melds]
set_size = 3
run_size = 4
open_size = "exact"
adjacent_runs = false
lay_off_on_opening_turn = false
min_naturals_per_meld = 0

[swap]
swap_from = ["run"]
freed_joker = "any_meld"
swap_in_opening = false

[buy]
discarder_may_buy = true
opened_may_buy = true
penalty_cards = 1
chain = true

[stock]
max_reshuffles = 10

[score]
score_sign = 1

[score.values]
A = 15
2 = 2
3 = 3
4 = 4
5 = 5
6 = 6
7 = 7
8 = 8
9 = 9
T = 10
J = 10
Q = 10
K = 10
X = 15

[cut]
bonus = 50
cut_spread = 5
"""


def mersey(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mersey.client.cli", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("demo")
    (folder / "house.toml").write_text(RULES)
    run = mersey(folder, "demo", "--rules", "house.toml", "--seed", "s", "--data", "one")
    assert run.returncode == 0, run.stderr
    return folder, run.stdout


def test_the_account_has_a_line_for_each_turn_and_the_results(played: tuple[Path, str]) -> None:
    _, shown = played
    assert re.search(r"^Round 1 of 2: 2 sets; 10 cards each, \w+ deals$", shown, re.MULTILINE)
    assert re.search(r"^ +1 \w+ +(stock|take \w\w).*; discard \w+$", shown, re.MULTILINE)
    assert re.search(r"^     \w+ cuts \d+ cards", shown, re.MULTILINE)
    assert shown.count("Final places") == 1
    assert len(re.findall(r"^Game (\w+) is verified:$", shown, re.MULTILINE)) == 1


def test_the_two_commands_that_it_names_work(played: tuple[Path, str]) -> None:
    folder, shown = played
    named = re.findall(r"mersey (replay|verify) last --data (\w+)$", shown, re.MULTILINE)
    assert [command for command, _ in named] == ["replay", "verify"]
    for command, data in named:
        run = mersey(folder, command, "last", "--data", data)
        assert run.returncode == 0, run.stderr


def dump_without_ids(folder: Path, data: str) -> str:
    run = mersey(folder, "replay", "last", "--data", data, "--dump")
    assert run.returncode == 0, run.stderr
    _, _, game = run.stdout.partition("the game starts")
    assert "Final places" in game
    return game


def test_the_same_seed_plays_the_same_game_in_every_event(played: tuple[Path, str]) -> None:
    folder, _ = played
    again = mersey(folder, "demo", "--rules", "house.toml", "--seed", "s", "--data", "two")
    assert again.returncode == 0, again.stderr
    other = mersey(folder, "demo", "--rules", "house.toml", "--seed", "z", "--data", "three")
    assert other.returncode == 0, other.stderr
    assert dump_without_ids(folder, "one") == dump_without_ids(folder, "two")
    assert dump_without_ids(folder, "one") != dump_without_ids(folder, "three")


LISTENING = """
import signal
from mersey.client.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""
"""The command, hearing Ctrl-C also where the tests run in the background, which ignore it."""


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_demo_that_is_stopped_closes_its_table_and_keeps_the_record(
    tmp_path: Path, number: int, status: int
) -> None:
    command = [sys.executable, "-c", LISTENING, "demo", "--data", "data"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert any("; discard " in line for line in running.stdout)
        running.send_signal(number)
        _, errors = running.communicate()
    assert (running.returncode, errors) == (status, "")
    shown = mersey(tmp_path, "replay", "last", "--data", "data", "--dump")
    assert "the table is closed" in shown.stdout
    assert mersey(tmp_path, "verify", "last", "--data", "data").returncode == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--rules", "canasta"], "canasta"),
        (["--rules", "house.toml", "--seats", "6"], "--seats: one-round is for 2 to 5 players, not 6"),
        (["--rules", "broken.toml"], "broken.toml"),
        (["--rules", "contract", "--seats", "3"], "--seats: contract is for exactly 4 players, not 3"),
    ],
)
def test_what_it_can_not_play_is_one_clear_line(
    played: tuple[Path, str], words: list[str], says: str
) -> None:
    folder, _ = played
    (folder / "broken.toml").write_text("id = ")
    run = mersey(folder, "demo", *words)
    assert run.returncode == 1
    assert says in run.stderr
    assert "Traceback" not in run.stderr + run.stdout
