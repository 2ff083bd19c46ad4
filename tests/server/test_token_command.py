"""``mersey token new``: a token that some server will take, or a line that says why there is none."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from mersey.client.cli.app import run
from mersey.server.auth import Keys


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, and nothing said by the environment."""
    monkeypatch.chdir(tmp_path)
    for name in ("MERSEY_DATA", "MERSEY_KEYS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def token_new(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """Run the command; return its exit code."""
    monkeypatch.setattr(sys, "argv", ["mersey", "token", "new", "--name", "Ann", *words])
    with pytest.raises(SystemExit) as ended:
        run()
    return int(ended.value.code or 0)


@pytest.mark.parametrize("folder", ["mersey-dta", "it's one"])
def test_a_mistyped_data_folder_gets_no_keys_and_the_line_says_what_to_do(
    folder: str, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = token_new(monkeypatch, "--data", folder)

    out, err = capsys.readouterr()
    assert (code, out, list(here.iterdir())) == (1, "", [])
    assert err.startswith(f"mersey: error: {folder}: holds no keys")
    assert f"run once mersey serve --data {shlex.quote(folder)}, or" in err
    assert "--keys" in err
    assert err.count("\n") == 1


def test_the_keys_of_a_server_that_ran_make_tokens_that_it_takes(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = Keys.open(here / "mersey-data" / "keys")

    code = token_new(monkeypatch)

    out, err = capsys.readouterr()
    assert (code, err, keys.caller(out.strip()).name) == (0, "", "Ann")


@pytest.mark.parametrize("named", ["option", "environment"])
def test_a_folder_named_for_keys_gets_new_ones_and_says_so_once(
    named: str, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--keys", "shared"] if named == "option" else []
    if not words:
        monkeypatch.setenv("MERSEY_KEYS", "shared")

    codes = [token_new(monkeypatch, *words) for _ in range(2)]

    out, err = capsys.readouterr()
    keys = Keys.open(here / "shared")
    assert codes == [0, 0]
    assert [keys.caller(line).name for line in out.splitlines()] == ["Ann", "Ann"]
    assert err.splitlines() == ["a new key is in shared: only servers with these --keys take the token"]


@pytest.mark.parametrize("words", [["--role", "king"], ["--name", "\u202eAnn"]])
def test_a_token_that_can_not_be_made_leaves_no_keys(
    words: list[str], here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = token_new(monkeypatch, "--keys", "shared", *words)

    assert (code, list(here.iterdir())) == (1, [])
    assert capsys.readouterr().err.startswith(f"mersey: error: {words[0]}: ")
