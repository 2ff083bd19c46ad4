"""The bench measures what it says, on recorded games; what it finds is for the note, not for a test."""

from __future__ import annotations

import json
import subprocess
import sys

from mersey.client.strategies.greedy import GreedyStrategy
from mersey.replay.bench_bots import play_games, tally
from mersey.replay.rehearsal import rehearse
from mersey.replay.verify import verify_commits
from mersey.rules.ruleset_file import load_ruleset


def mersey(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mersey.client.cli", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_rehearsed_game_is_a_whole_game_that_verifies() -> None:
    played, commits = rehearse(load_ruleset("bga-short"), 3, GreedyStrategy(), "a")
    verdict = verify_commits(commits)
    assert verdict.ok
    assert verdict.events == played.game.version
    assert rehearse(load_ruleset("bga-short"), 3, GreedyStrategy(), "a")[1] == commits


def test_bench_core_prints_every_figure_as_json() -> None:
    run = mersey("bench", "core", "--games", "1", "--json")
    assert run.returncode == 0, run.stderr
    figures = {figure["name"]: figure for figure in json.loads(run.stdout)}
    assert len(figures) == 8
    assert all(figure["value"] > 0 for figure in figures.values())
    assert figures["fold against plain decoding"]["unit"] == "ratio"


def test_bench_core_on_a_folder_without_games_says_what_to_do(tmp_path) -> None:
    run = mersey("bench", "core", "--data", str(tmp_path))
    assert run.returncode == 1
    assert run.stdout == ""
    assert "Traceback" not in run.stderr
    assert str(tmp_path) in run.stderr


def test_a_tally_keeps_whole_hand_rounds_apart() -> None:
    rules = load_ruleset("contract")
    games = list(play_games(rules, 2))
    tallies = {one.whole_hand: one for one in tally(rules, games)}
    assert (tallies[False].rounds, tallies[True].rounds) == (12, 2)
    assert tallies[False].went_out <= 12
