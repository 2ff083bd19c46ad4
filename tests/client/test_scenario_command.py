"""``mersey scenario run``: its lines, its exit codes, and what a path may be."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from mersey.client.cli.app import build_app

SCENARIOS = Path(__file__).parents[1] / "scenarios"
CASE = """
name = "{name}"
rules = "{rules}"
round = 1
[given]
active = 1
discard = "7D"
[[play]]
seat = 1
act = "take"
[expect]
discard_size = {left}
"""


def case(folder: Path, name: str, left: int = 0, rules: str = "contract") -> Path:
    file = folder / f"{name.replace(' ', '-')}.toml"
    file.write_text(CASE.format(name=name, left=left, rules=rules), "utf-8")
    return file


def run(*paths: Path | str) -> Result:
    return CliRunner().invoke(build_app(), ["scenario", "run", *map(str, paths)])


def test_the_scenarios_of_the_rules_all_pass() -> None:
    result = run(SCENARIOS)

    lines = result.stdout.splitlines()
    assert (result.exit_code, result.stderr) == (0, "")
    assert lines[-1] == f"{len(list(SCENARIOS.glob('*.toml')))} passed, 0 failed"
    assert all(line.startswith("ok ") for line in lines[:-1])


def test_each_scenario_has_a_line_and_a_failure_says_what_differed(tmp_path: Path) -> None:
    result = run(case(tmp_path, "it holds"), case(tmp_path, "it does not", left=1))

    assert result.stdout.splitlines() == [
        "ok it holds",
        "FAIL it does not: discard_size: expected 1, is 0",
        "1 passed, 1 failed",
    ]
    assert result.exit_code == 1


def test_a_folder_means_its_own_scenarios_in_order_of_name(tmp_path: Path) -> None:
    inner = tmp_path / "rulesets"
    inner.mkdir()
    case(inner, "not mine", left=1)
    (tmp_path / "notes.txt").write_text("no scenario")
    case(tmp_path, "b")
    case(tmp_path, "a")

    assert run(tmp_path).stdout.splitlines() == ["ok a", "ok b", "2 passed, 0 failed"]


def test_a_rule_set_file_lies_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "rulesets").mkdir()
    house = (SCENARIOS / "rulesets" / "house-few-buys.toml").read_text("utf-8")
    (tmp_path / "rulesets" / "ours.toml").write_text(house, "utf-8")

    assert run(case(tmp_path, "ours", rules="rulesets/ours.toml")).exit_code == 0
    assert run(case(tmp_path, "none", rules="rulesets/none.toml")).exit_code == 2


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"name = ", "not TOML"),
        (b"\xff", "not UTF-8"),
        (
            CASE.format(name="a", rules="contract", left=0).replace("7D", "1D").encode(),
            "given.discard: not a card",
        ),
        (CASE.format(name="a", rules="none", left=0).encode(), "rules: "),
        (b"#" * (1024 * 1024 + 1), "longer than"),
    ],
)
def test_a_file_that_can_not_be_read_is_one_line_and_exit_2(
    tmp_path: Path, content: bytes, line: str
) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_bytes(content)
    result = run(bad, case(tmp_path, "it does not", left=1))

    assert result.exit_code == 2
    (error,) = result.stderr.splitlines()
    assert error.startswith(f"mersey: error: {bad}: ")
    assert line in error
    assert result.stdout.splitlines()[-1] == "0 passed, 1 failed"


def test_a_path_that_is_not_there_or_holds_nothing_is_exit_2(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()

    for path in (tmp_path / "none.toml", empty, "\0"):
        result = run(path)
        assert result.exit_code == 2
        assert len(result.stderr.splitlines()) == 1
        assert "Traceback" not in result.stderr


def test_without_a_path_the_usage_is_shown() -> None:
    result = run()

    assert result.exit_code == 2
    assert "PATH" in result.stderr
