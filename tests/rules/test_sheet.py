"""The rule sheet says every parameter of a rule set, in lines that a player can read."""

from collections.abc import Callable

import pytest
from hypothesis import given
from msgspec.structs import replace

from mersey.rules.ruleset import Cut, DeckRange, RuleSet
from mersey.rules.ruleset_file import load_ruleset, shipped
from mersey.rules.sheet import WIDTH, sheet
from rules.any_ruleset import rulesets

Change = Callable[[RuleSet], RuleSet]


def in_part(part: str, **fields: object) -> Change:
    return lambda rules: replace(rules, **{part: replace(getattr(rules, part), **fields)})


def in_round(number: int, **fields: object) -> Change:
    def change(rules: RuleSet) -> RuleSet:
        rounds = list(rules.rounds)
        rounds[number - 1] = replace(rounds[number - 1], **fields)
        return replace(rules, rounds=tuple(rounds))

    return change


def in_values(rank: str, value: int) -> Change:
    return lambda rules: in_part("score", values=rules.score.values | {rank: value})(rules)


CHANGES: dict[str, Change] = {
    "id": lambda rules: replace(rules, id="other"),
    "title": lambda rules: replace(rules, title="Other"),
    "players": lambda rules: replace(
        rules, players=(3, 3), pack=replace(rules.pack, decks=(DeckRange(players=(3, 3), count=2),))
    ),
    "decks": in_part("pack", decks=(DeckRange(players=(2, 8), count=4),)),
    "jokers": in_part("pack", jokers=5, jokers_per_deck=None),
    "jokers_per_deck": in_part("pack", jokers=None, jokers_per_deck=3),
    "sets": in_round(1, sets=4),
    "runs": in_round(1, runs=1),
    "deal": in_round(2, deal=9),
    "whole_hand": lambda rules: in_round(len(rules.rounds), whole_hand=not rules.rounds[-1].whole_hand)(
        rules
    ),
    "fewer rounds": lambda rules: replace(rules, rounds=rules.rounds[1:]),
    "set_size": in_part("melds", set_size=5),
    "run_size": in_part("melds", run_size=6),
    "open_size": lambda rules: in_part(
        "melds", open_size="exact" if rules.melds.open_size == "at_least" else "at_least"
    )(rules),
    "min_naturals_per_meld": in_part("melds", min_naturals_per_meld=1),
    "min_naturals_per_meld again": in_part("melds", min_naturals_per_meld=2),
    "max_jokers_per_meld": in_part("melds", max_jokers_per_meld=0),
    "max_jokers_per_meld again": in_part("melds", max_jokers_per_meld=2),
    "swap_from nothing": in_part("swap", swap_from=(), swap_in_opening=False),
    "swap_from set": in_part("swap", swap_from=("set",)),
    "penalty_cards": in_part("buy", penalty_cards=0),
    "penalty_cards again": in_part("buy", penalty_cards=2),
    "max_buys_per_round 0": in_part("buy", max_buys_per_round=0),
    "max_buys_per_round 1": in_part("buy", max_buys_per_round=1),
    "max_buys_per_round 3": in_part("buy", max_buys_per_round=3),
    "max_reshuffles 0": in_part("stock", max_reshuffles=0),
    "max_reshuffles 1": in_part("stock", max_reshuffles=1),
    "max_reshuffles 2": in_part("stock", max_reshuffles=2),
    "score_sign": lambda rules: in_part("score", score_sign=-rules.score.score_sign)(rules),
    "cut": lambda rules: replace(rules, cut=Cut(bonus=30, cut_spread=5)),
    "cut bonus": lambda rules: replace(rules, cut=Cut(bonus=20, cut_spread=5)),
    "cut_spread": lambda rules: replace(rules, cut=Cut(bonus=30, cut_spread=0)),
    "cut_spread again": lambda rules: replace(rules, cut=Cut(bonus=30, cut_spread=4)),
}
FLAGS = (
    ("melds", "adjacent_runs"),
    ("melds", "lay_off_on_opening_turn"),
    ("swap", "swap_in_opening"),
    ("buy", "discarder_may_buy"),
    ("buy", "opened_may_buy"),
    ("buy", "chain"),
)


def turned(rules: RuleSet, part: str, flag: str) -> RuleSet:
    return in_part(part, **{flag: not getattr(getattr(rules, part), flag)})(rules)


def variants(rules: RuleSet) -> dict[str, RuleSet]:
    made = {name: change(rules) for name, change in CHANGES.items()}
    made |= {flag: turned(rules, part, flag) for part, flag in FLAGS}
    made |= {f"{rank} counts 7{n}": in_values(rank, 70 + n)(rules) for n, rank in enumerate("A23456789TJQKX")}
    made |= {
        f"freed_joker {f}": in_part("swap", freed_joker=f)(rules) for f in ("any_meld", "other_meld", "hand")
    }
    return {name: changed for name, changed in made.items() if changed != rules}


@pytest.mark.parametrize("name", shipped())
def test_every_change_of_a_parameter_changes_the_sheet(name: str) -> None:
    rules = load_ruleset(name)
    sheets = {"as shipped": sheet(rules)} | {
        what: sheet(changed) for what, changed in variants(rules).items()
    }
    assert len(sheets) > 50
    first_with: dict[str, str] = {}
    for what, text in sheets.items():
        assert text not in first_with, f"{what} reads like {first_with[text]}"
        first_with[text] = what


def test_no_sheet_asks_which_rule_set_it_is() -> None:
    contract = load_ruleset("contract")
    renamed = replace(load_ruleset("bga"), id=contract.id, title=contract.title)
    as_bga = sheet(load_ruleset("bga")).splitlines()
    assert sheet(renamed).splitlines()[1:] == as_bga[1:]


@given(rulesets())
def test_a_sheet_of_any_rule_set_fits_the_page(rules: RuleSet) -> None:
    lines = sheet(rules).splitlines()[1:]
    assert all(len(line) <= WIDTH and line == line.rstrip() for line in lines)
    assert all(line.isprintable() for line in lines)


def test_the_sheet_of_liverpool_names_the_numbers_of_the_rules() -> None:
    text = " ".join(sheet(load_ruleset("liverpool")).split())
    for said in (
        "4 players.",
        "2 decks of 52 cards and 3 jokers, 107 cards",
        "7 3 runs 12 the whole hand",
        "41 in rounds 1 to 3, 49 in rounds 4 to 7",
        "50 points",
        "sets of exactly 3 cards, runs of exactly 4",
        "2 to 9 face value 10 to king 10 ace 15 joker 15",
        "another meld",
        "From your next own turn after the opening on you may lay off",
        "From your next own turn after the opening on you may free a joker from a run",
        "you lift up to 5 cards fewer or more",
    ):
        assert said in text, said


def test_the_sheet_of_the_online_rules_names_the_numbers_of_the_rules() -> None:
    text = " ".join(sheet(load_ruleset("bga")).split())
    for said in (
        "with 2 to 4 players: 2 decks of 52 cards and 4 jokers, 108 cards",
        "with 5 to 8 players: 3 decks of 52 cards and 6 jokers, 162 cards",
        "The pack is not cut.",
        "sets of 3 or more cards, runs of 4 or more",
        "2 to 9 5 10 to king 10 ace 15 joker 20",
        "At most 5 times a round: where it would be for the 6th time",
        "Not to buy: who discarded the card.",
        "From your opening on, in the same turn too, you may lay off",
        "From your opening on, in the same turn too, you may free a joker from a run or a set",
        "negative",
    ):
        assert said in text, said


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"5": 5}, "2 to 4 1 5 5 6 to ace 1 joker 20"),
        ({"5": 5, "6": 6}, "2 to 4 1 5 to 6 face value 7 to ace 1 joker 20"),
        ({}, "2 to ace 1 joker 20"),
    ],
)
def test_ranks_that_count_alike_share_a_line(values: dict[str, int], said: str) -> None:
    ones = dict.fromkeys("A23456789TJQK", 1) | {"X": 20}
    text = " ".join(sheet(in_part("score", values=ones | values)(load_ruleset("bga"))).split())
    assert said in text


def test_a_cut_without_spread_lifts_what_is_named() -> None:
    text = " ".join(sheet(in_part("cut", cut_spread=0)(load_ruleset("liverpool"))).split())
    assert "exactly that is lifted" in text
    assert "you lift up to" not in text
