"""The demo's account on a terminal and in a pipe: lines parted between words, or not at all."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from server.people import one_round
from terminals import on_a_terminal


def account_of(lines: list[str]) -> list[str]:
    first = next(number for number, line in enumerate(lines) if line.startswith("Round 1 of 1"))
    return lines[first : lines.index("Final places")]


def test_a_narrow_terminal_gets_whole_words_under_the_text_and_a_pipe_one_line_a_turn(tmp_path: Path) -> None:
    (tmp_path / "house.toml").write_text(one_round())
    words = ("demo", "--rules", "house.toml", "--seed", "s", "--data")
    piped = subprocess.run(
        [sys.executable, "-m", "mersey.client.cli", *words, "wide"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"COLUMNS": "40"},
        check=True,
    )
    whole = account_of(piped.stdout.splitlines())

    lines = on_a_terminal(tmp_path, 40, *words, "narrow")

    account = account_of(lines)
    assert all(re.match(r"Round|     \S| +\d+ \w+ +(stock|take) ?", line) for line in whole)
    assert max(map(len, whole)) > 40
    assert " ".join(account).split() == " ".join(whole).split()
    assert max(map(len, account)) <= 40
    hanging = [line for line in account if line.startswith(" " * 11)]
    assert len(hanging) > 2
    assert all(re.match(r" {11}\S", line) for line in hanging)
    first = next(number for number, line in enumerate(lines) if " is verified:" in line)
    checks = lines[first + 1 : lines.index("", first)]
    assert max(map(len, checks)) <= 40
    assert all(re.match(r"  \d+ |      \S", line) for line in checks)
