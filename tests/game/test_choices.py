"""Choices: exactly these forms of a lay-off and a swap are listed (rules.md sections 5 and 7)."""

from __future__ import annotations

import msgspec
import pytest

from mersey.game.choices import Choices, choices
from mersey.game.decide import decide
from mersey.game.scenario import parse_scenario
from mersey.game.scenario_setup import player_at
from mersey.game.state import Game
from mersey.rules.notation import format_action
from mersey.rules.ruleset import RuleSet
from mersey.rules.ruleset_file import load_ruleset

SEAT = 1
CONTRACT = load_ruleset("contract")


def changed(part: str, **values: object) -> RuleSet:
    """Return ``contract`` with values of one part changed."""
    replaced = msgspec.structs.replace(getattr(CONTRACT, part), **values)
    return msgspec.structs.replace(CONTRACT, **{part: replaced})


FROM_SETS = changed("swap", swap_from=("run", "set"))
ONE_JOKER = changed("melds", max_jokers_per_meld=1)


def position(rules: RuleSet, hand: str, *melds: str) -> Game:
    """Return a table of four on which ``melds`` lie and seat 1, which opened earlier, plays with ``hand``."""
    lines = [
        'name = "a position"',
        f'rules = "{rules.id}"',
        "round = 1",
        "[given]",
        f"active = {SEAT}",
        "seats = 4",
        'step = "play"',
        'discard = "2S"',
        f'hands.{SEAT} = "{hand}"',
        f'opened.{SEAT} = "earlier"',
        f"melds = {[f'{meld} by 2' for meld in melds]}",
    ]
    return parse_scenario("\n".join(lines), "a position", lambda _: rules).start


def listed(shown: Choices, kind: str) -> set[str]:
    """Return the listed forms of ``kind`` in notation, each of them once."""
    texts = [format_action(action) for action in shown.actions(kind)]
    assert len(set(texts)) == len(texts)
    return set(texts)


@pytest.mark.parametrize(
    ("rules", "hand", "melds", "swaps"),
    [
        pytest.param(
            CONTRACT,
            "7H1 7H2 9C",
            ["run 5H 6H X=7H 8H", "set KS KH KD"],
            {"swap 7H on 1, X=4H on 1", "swap 7H on 1, X=9H on 1", "swap 7H on 1, X=K on 2"},
            id="any meld, the same run's ends included, either copy one form",
        ),
        pytest.param(
            load_ruleset("liverpool"),
            "7H 9C",
            ["run 5H 6H X=7H 8H", "set KS KH KD"],
            {"swap 7H on 1, X=K on 2"},
            id="another meld only",
        ),
        pytest.param(
            load_ruleset("bga"),
            "7H 9C 9D KC",
            ["run 5H 6H X=7H 8H", "set 9S X=9 X=9"],
            {"swap 7H on 1", "swap 9C on 2", "swap 9D on 2"},
            id="into the hand, no place named, from sets by any card of the rank",
        ),
        pytest.param(
            FROM_SETS,
            "9C KC",
            ["set 9S 9H X=9", "set 8S 8H 8D"],
            {"swap 9C on 1, X=9 on 1", "swap 9C on 1, X=8 on 2"},
            id="from a set back onto it",
        ),
        pytest.param(
            CONTRACT,
            "AH 9C",
            ["run 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH X=AH"],
            {"swap AH on 1, X=AH on 1"},
            id="an ace that stands low leaves the high end",
        ),
        pytest.param(
            ONE_JOKER,
            "7H 9C",
            ["run 5H 6H X=7H 8H", "run TS JS QS X=KS"],
            {"swap 7H on 1, X=4H on 1", "swap 7H on 1, X=9H on 1"},
            id="one joker a meld: it may come back to its own, which has lost it",
        ),
        pytest.param(
            CONTRACT,
            "7H 9C",
            ["run X=7H 8H 9H TH", "run AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS AS"],
            {"swap 7H on 1, X=6H on 1", "swap 7H on 1, X=JH on 1"},
            id="a full run takes no joker",
        ),
    ],
)
def test_every_swap_is_listed_with_every_place_of_its_joker(
    rules: RuleSet, hand: str, melds: list[str], swaps: set[str]
) -> None:
    game = position(rules, hand, *melds)
    shown = choices(game, SEAT)
    assert listed(shown, "swap_joker") == swaps
    assert all(decide(game, player_at(SEAT), action) for action in shown.actions("swap_joker"))


@pytest.mark.parametrize(
    ("rules", "melds", "lay_offs"),
    [
        pytest.param(
            CONTRACT,
            ["run 5H 6H 7H 8H", "set KS KH KD"],
            {"lay 4H on 1", "lay X=4H on 1", "lay X=9H on 1", "lay KC on 2", "lay X=K on 2"},
            id="both ends of a run and the rank of a set",
        ),
        pytest.param(
            CONTRACT,
            ["run 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH"],
            {"lay AH on 1", "lay X=AH on 1"},
            id="an ace that fits at both ends is one form",
        ),
        pytest.param(
            ONE_JOKER,
            ["run 5H 6H X=7H 8H", "set KS KH KD"],
            {"lay 4H on 1", "lay KC on 2", "lay X=K on 2"},
            id="one joker a meld",
        ),
    ],
)
def test_every_lay_off_is_listed_with_its_joker_named(
    rules: RuleSet, melds: list[str], lay_offs: set[str]
) -> None:
    game = position(rules, "4H AH KC X 2D", *melds)
    shown = choices(game, SEAT)
    assert listed(shown, "lay_off") == lay_offs
    assert all(decide(game, player_at(SEAT), action) for action in shown.actions("lay_off"))


def test_the_last_card_is_kept_for_the_discard() -> None:
    shown = choices(position(CONTRACT, "7H", "run 5H 6H X=7H 8H", "set 7S 7D 7C"), SEAT)
    assert shown.missing["lay_off"] == shown.missing["swap_joker"] == "must_keep_discard"
    assert listed(shown, "discard") == {"discard 7H"}


def test_the_last_card_may_free_a_joker_that_goes_to_the_hand() -> None:
    shown = choices(position(load_ruleset("bga"), "7H", "run 5H 6H X=7H 8H"), SEAT)
    assert listed(shown, "swap_joker") == {"swap 7H on 1"}
    assert shown.missing["lay_off"] == "does_not_fit"
