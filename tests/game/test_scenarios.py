"""The rules as scenarios: every file of ``tests/scenarios`` is played on the real engine."""

import re
from pathlib import Path

import msgspec
import pytest

from mersey.client.cli.scenario import load_scenario
from mersey.game.refusals import TableCode
from mersey.game.scenario import Scenario, run_scenario
from mersey.rules.refusals import Code
from mersey.rules.ruleset_file import load_ruleset, shipped

FOLDER = Path(__file__).parents[1] / "scenarios"
FILES = sorted(FOLDER.glob("*.toml"))
HOUSES = sorted((FOLDER / "rulesets").glob("*.toml"))


def scenarios() -> list[Scenario]:
    return [load_scenario(file) for file in FILES]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_scenario_holds(file: Path) -> None:
    assert run_scenario(load_scenario(file)) == ()


def test_every_refusal_code_is_reached_by_name() -> None:
    reached = {act.code for scenario in scenarios() for act in scenario.plays}

    assert set(map(str, Code)) - reached == set()
    assert not reached & set(map(str, TableCode)), "scenarios are about the rules"


def test_every_scenario_names_its_source_and_has_a_name_of_its_own() -> None:
    for file in FILES:
        assert re.match(r"# source: (rules|worked example)", file.read_text("utf-8")), file.name
    names = [scenario.name for scenario in scenarios()]
    assert len(names) == len(set(names))


def test_every_worked_example_is_among_them() -> None:
    cited = set()
    for file in FILES:
        for listed in re.findall(r"worked examples? ([\d, and]+)", file.read_text("utf-8")):
            cited |= {int(number) for number in re.findall(r"\d+", listed)}

    assert cited >= set(range(1, 11))


def test_every_rule_set_and_house_variant_is_played() -> None:
    played = {scenario.start.ruleset.id for scenario in scenarios()}

    assert played == {*shipped(), *(load_ruleset(str(file)).id for file in HOUSES)}


def values(name: str) -> set[str]:
    """Return the values of a rule set's parameters, each written with its key."""
    builtins = msgspec.to_builtins(load_ruleset(name))
    parts = {key: value if isinstance(value, dict) else {"": value} for key, value in builtins.items()}
    return {f"{key}.{name} = {value}" for key, part in parts.items() for name, value in part.items()}


def test_every_parameter_is_played_at_a_value_that_does_not_ship() -> None:
    ours = set().union(*map(values, shipped()))
    theirs = set().union(*(values(str(file)) for file in HOUSES))

    keys = {value.partition(" = ")[0] for value in ours | theirs}
    assert {value.partition(" = ")[0] for value in theirs - ours} | BOTH_WAYS_SHIP == keys


BOTH_WAYS_SHIP = {
    "melds.open_size",
    "melds.adjacent_runs",
    "melds.lay_off_on_opening_turn",
    "swap.swap_in_opening",
    "swap.freed_joker",
    "buy.discarder_may_buy",
    "buy.chain",
    "score.score_sign",
}
"""Parameters of two or three values, all of which ship; houses combine them in new ways."""
