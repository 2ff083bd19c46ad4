"""Strategies: legal at every turn, from the seat's view alone, the same for the same seed, good enough."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from client.positions import play_until, started, turn_of
from mersey.client.simulate import Played, simulate_game
from mersey.client.strategies.catalogue import STRATEGIES, UnknownStrategyError, strategy_named
from mersey.client.strategies.greedy import GreedyStrategy
from mersey.client.strategies.prospects import CELLS, Need, count_cells, prospect
from mersey.client.strategies.turn import Draw, Strategy, Turn, due_now
from mersey.game.choices import Choice, Choices, due
from mersey.game.events import DiscardBought
from mersey.game.evolve import fold
from mersey.game.seen import MeldView, OfferView, SeatView
from mersey.game.view import seat_viewer, view
from mersey.rules.actions import Action, Buy, ChooseStock, Cut, Discard, Pass, TakeDiscard
from mersey.rules.cards import Card
from mersey.rules.melds import Named
from mersey.rules.notation import parse_action
from mersey.rules.ruleset_file import load_ruleset, shipped

CONTRACT = load_ruleset("contract")
START = turn_of(started(CONTRACT, 4), started(CONTRACT, 4).active)


class Checked:
    """A strategy whose every action is held against the choices."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy
        self.name = strategy.name
        self.played: Counter[str] = Counter()

    def choose(self, turn: Turn, draw: Draw) -> Action:
        action = self._strategy.choose(turn, draw)
        listed = {form for choice in turn.choices.legal for form in choice.actions}
        assert action in listed, action
        self.played[type(action).__name__] += 1
        return action


def test_a_strategy_that_does_not_ship_is_named() -> None:
    assert [strategy_named(name).name for name in STRATEGIES] == list(STRATEGIES)
    with pytest.raises(UnknownStrategyError, match="no strategy 'wise': one of greedy, chance"):
        strategy_named("wise")


@pytest.mark.parametrize("rules", shipped())
def test_whole_games_of_both_strategies_play_nothing_but_listed_choices(rules: str) -> None:
    ruleset = load_ruleset(rules)
    seated = [Checked(strategy) for strategy in STRATEGIES.values()]
    played = simulate_game(ruleset, 4, seated, "mixed")

    assert played.game.step == "game_over"
    assert len(played.rounds) == len(ruleset.rounds)
    assert seated[0].played["OpenContract"] > 0
    assert seated[1].played["Buy"] > 0


@given(st.sampled_from(["bga", "bga-short"]), st.integers(2, 8), st.integers(0, 10**6))
@settings(max_examples=6, deadline=None)
def test_a_game_of_any_number_of_players_ends(rules: str, seats: int, seed: int) -> None:
    played = simulate_game(load_ruleset(rules), seats, list(STRATEGIES.values()), f"{seed}")

    assert len(played.game.places) == seats


@pytest.mark.parametrize("rules", shipped())
def test_greedy_seats_go_out_in_nearly_every_round_and_miss_no_opening(rules: str) -> None:
    rounds = [
        one
        for seed in range(2)
        for one in simulate_game(load_ruleset(rules), 4, [GreedyStrategy()], f"out {seed}").rounds
    ]

    assert sum(one.winner is not None for one in rounds) >= len(rounds) - 1
    assert sum(one.missed for one in rounds) == 0


def test_greedy_beats_chance() -> None:
    played = simulate_game(CONTRACT, 4, list(STRATEGIES.values()), "beats")
    totals = played.game.totals

    assert max(totals[0], totals[2]) < min(totals[1], totals[3])


def same_play(first: Played, second: Played) -> bool:
    return first.commands == second.commands


def test_the_same_seed_plays_the_same_game_and_another_seed_another() -> None:
    rules = load_ruleset("bga-short")
    both = list(STRATEGIES.values())

    assert same_play(simulate_game(rules, 3, both, "a"), simulate_game(rules, 3, both, "a"))
    assert not same_play(simulate_game(rules, 3, both, "a"), simulate_game(rules, 3, both, "b"))


def test_a_simulated_game_is_what_its_events_come_to() -> None:
    played = simulate_game(load_ruleset("bga-short"), 2, [GreedyStrategy()], "fold")

    assert fold(played.events) == played.game
    assert len(played.commands) == played.decisions + 4


def test_the_rounds_of_a_simulated_game_are_counted_from_what_happened() -> None:
    played = simulate_game(load_ruleset("bga-short"), 4, list(STRATEGIES.values()), "count")
    buys = sum(isinstance(event, DiscardBought) for event in played.events)

    assert sum(one.buys for one in played.rounds) == buys > 0
    assert [one.points for one in played.rounds] == [result.points for result in played.game.results]
    assert sum(one.missed for one in played.rounds) > 0  # chance does not open whenever it can


def test_a_draw_is_that_of_the_position_whatever_its_version() -> None:
    seen = START.view
    again = replace(seen, version=seen.version + 7)
    other = replace(seen, turn=seen.turn + 1)

    def draws(draw: Draw) -> list[int]:
        return [draw.below(1000) for _ in range(8)]

    assert draws(Draw("s", seen)) == draws(Draw("s", again))
    assert draws(Draw("s", seen)) != draws(Draw("s", other))
    assert draws(Draw("s", seen)) != draws(Draw("t", seen))
    assert all(0 <= number < 1000 for number in draws(Draw("s", seen)))


def test_in_an_offer_and_at_the_rounds_end_one_bot_is_due_at_a_time() -> None:
    steps: set[str] = set()

    def look(game: Any) -> bool:
        asked = due(game)
        steps.add(game.step)
        now = [seat for seat in range(4) if due_now(view(game, seat_viewer(seat)))]
        assert now == [asked[0]]
        return game.round == 3

    play_until(
        started(load_ruleset("liverpool"), 4),
        lambda turn: GreedyStrategy().choose(turn, Draw("s", turn.view)),
        look,
    )
    assert steps == {"cut", "choose", "offer", "play", "round_over"}


def test_the_hidden_cards_do_not_change_what_a_seat_plays() -> None:
    game = started(CONTRACT, 4)
    seat = game.active
    others = [n for n in range(4) if n != seat]
    hands = list(game.hands)
    hands[others[0]], hands[others[1]] = hands[others[1]], hands[others[0]]
    swapped = replace(game, hands=tuple(hands), stock=game.stock[::-1])

    for strategy in STRATEGIES.values():
        plays = [
            strategy.choose(turn_of(one, seat), Draw("s", view(one, seat_viewer(seat))))
            for one in (game, swapped)
        ]
        assert plays[0] == plays[1]


def asked(hand: str, step: str, legal: dict[str, list[str]] | None = None, **changes: Any) -> Turn:
    """Return a turn with this hand in round 1 of contract: two sets."""
    cards = tuple(Card(name if name[0] == "X" else f"{name}1") for name in hand.split())
    seats = tuple(
        SeatView(player=f"p{n}", cards=10, opened=changes.pop(f"opened{n}", "no")) for n in range(4)
    )
    seen = replace(START.view, step=step, you=0, active=0, hand=cards, seats=seats, **changes)
    choices = Choices(
        seen.version,
        0,
        tuple(Choice(kind, tuple(map(parse_action, forms))) for kind, forms in (legal or {}).items()),
        {},
    )
    return Turn(seen, choices, CONTRACT)


def greedy(turn: Turn) -> Action:
    return GreedyStrategy().choose(turn, Draw("s", turn.view))


TABLE = (
    MeldView(1, 1, "run", ("4H", "X=5H", "6H", "7H")),
    MeldView(2, 1, "set", ("7S", "7H", "7C")),
)
PAIRS = "7S 7H 9S 9H 2C 4D JS QC KD AH"


def test_greedy_takes_what_completes_a_set_and_leaves_what_does_not_help() -> None:
    assert greedy(asked(PAIRS, "choose", discard_top="7D")) == TakeDiscard()
    assert greedy(asked(PAIRS, "choose", discard_top="8C")) == ChooseStock()
    assert greedy(asked(PAIRS, "choose", discard_top="X")) == TakeDiscard()


def offered(card: str) -> dict[str, Any]:
    return {"offer": OfferView(card=card, number=1, seats=(0,), answered=()), "discard_top": card}


def test_greedy_buys_what_brings_the_contract_nearer_and_nothing_once_it_has_opened() -> None:
    assert greedy(asked(PAIRS, "offer", **offered("7D"))) == Buy()
    assert greedy(asked(PAIRS, "offer", **offered("8C"))) == Pass()
    assert greedy(asked(PAIRS, "offer", opened0="earlier", **offered("7D"))) == Pass(standing=True)


def test_greedy_discards_the_dearest_card_that_no_plan_needs_and_never_a_joker() -> None:
    discard = greedy(asked(f"{PAIRS} X1", "play"))

    assert isinstance(discard, Discard)
    assert discard.card in ("KD", "QC", "JS", "AH")
    assert greedy(asked("X1", "play")) == Discard(Named("X"))


def test_greedy_opens_when_it_can_and_sheds_what_it_can() -> None:
    opening = "open set 7S 7H 7D, set 9S 9H 9D"
    legal = {"open_contract": [opening], "discard": ["discard 7S"]}
    assert greedy(asked("7S 7H 7D 9S 9H 9D 2C", "play", legal)) == parse_action(opening)
    lay = {"lay_off": ["lay X=8H on 1", "lay 7D on 2"], "swap_joker": ["swap 5H on 1, X=8H on 1"]}
    assert greedy(asked("7D X1 2C", "play", lay, opened0="earlier", melds=TABLE)) == parse_action(
        "lay 7D on 2"
    )
    swap = {"swap_joker": ["swap 5H on 1, X=3H on 1", "swap 5H on 1, X=8H on 1"]}
    bridge = asked("5H 9H 2C", "play", swap, opened0="earlier", melds=TABLE)
    assert greedy(bridge) == parse_action("swap 5H on 1, X=8H on 1")
    assert greedy(asked("8H 2C 3D", "play", {}, opened0="earlier", melds=TABLE)) == Discard(Named("3D"))


def test_greedy_that_has_opened_takes_what_it_can_lay_off() -> None:
    assert greedy(asked("KS 2C", "choose", opened0="earlier", melds=TABLE, discard_top="8H")) == TakeDiscard()
    assert greedy(asked("KS 2C", "choose", opened0="earlier", melds=TABLE, discard_top="9H")) == ChooseStock()


def test_greedy_aims_the_cut_at_the_bonus() -> None:
    assert greedy(asked(PAIRS, "cut")) == Cut(41)


def cost(hand: str, need: Need) -> float:
    cells, jokers = count_cells(hand.split())
    return prospect(cells, jokers, [2 - held for held in cells], need).cost


SETS = Need(2, 0, 3, 4, False)
RUNS = Need(0, 2, 3, 4, False)
WHOLE = Need(0, 3, 3, 4, False, 13)


@pytest.mark.parametrize(
    ("need", "nearer", "farther"),
    [
        (SETS, "7S 7H 7D 9S 9H 9D", "7S 7H 7D 9S 9H 2D"),
        (SETS, "7S 7H 9S 9H X", "7S 7H 9S 9H 2D"),
        (RUNS, "5S 6S 7S 8S 2H 3H 4H", "5S 6S 7S 8S 2H 3H 5H"),
        (RUNS, "5S 6S 7S 8S 2H 3H 4H", "5S 6S 7S 8S 2H 3H 9H"),
        (RUNS, "3S 4S 5S 6S 8S 9S TS JS", "3S 4S 5S 6S 7S 8S 9S TS"),
        (WHOLE, "AS 2S 3S 4S 5H 6H 7H 8H 9D TD JD QD KD", "AS 2S 3S 4S 5H 6H 7H 8H 9D TD JD QD 2C"),
    ],
)
def test_a_hand_nearer_to_the_contract_costs_less(need: Need, nearer: str, farther: str) -> None:
    assert cost(nearer, need) < cost(farther, need)


def test_what_every_plan_needs_is_worth_most() -> None:
    cells, jokers = count_cells(["7S", "7H", "7D", "9S", "9H", "2C", "KD"])
    worth = prospect(cells, jokers, [2 - held for held in cells], SETS).worth

    assert worth[CELLS["7S"]] > worth[CELLS["9S"]] > worth[CELLS["2C"]]
    assert worth[CELLS["AS"]] == 0
