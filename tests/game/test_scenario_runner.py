"""The scenario runner itself: it honours every given key, sees every difference, names every fault."""

from pathlib import Path

import msgspec
import pytest

from mersey.game import evolve as evolving
from mersey.game.conservation import CardsLost, check_cards
from mersey.game.events import StockDrawn
from mersey.game.scenario import Scenario, parse_scenario, run_scenario
from mersey.game.scenario_file import Expect, Given, ScenarioError
from mersey.game.state import NOBODY, Game
from mersey.rules.cards import Card, face_of
from mersey.rules.ruleset_file import load_ruleset

HEAD = 'name = "a case"\nrules = "{rules}"\nround = {round}\n[given]\nactive = 1\n'


def scenario(given: str = 'discard = ""', *more: str, rules: str = "contract", round: int = 1) -> Scenario:
    text = "\n".join([HEAD.format(rules=rules, round=round) + given, *more])
    return parse_scenario(text, "case.toml", load_ruleset)


def act(seat: int, text: str, *lines: str) -> str:
    return "\n".join(["[[play]]", f"seat = {seat}", f'act = "{text}"', *lines])


def expect(*lines: str) -> str:
    return "\n".join(["[expect]", *lines])


def faults(*args: str, **kwargs: str | int) -> tuple[str, ...]:
    with pytest.raises(ScenarioError) as caught:
        scenario(*args, **kwargs)  # type: ignore[arg-type]
    return caught.value.faults


def faces(cards: tuple[Card, ...]) -> str:
    return " ".join(map(face_of, cards))


# Every line of `expect` sees a difference.

PLAYED = (
    'hands.1 = "9C KD"\nhands.2 = "AS"\nscores = [1, 2, 3, 4]\ndiscard = "QS"\nstep = "play"\n'
    'melds = ["set 9S 9H X=9 by 1", "run 5H 6H 7H 8H by 1"]'
)
OUT = ["lay 9C on 1", "discard KD"]
TRUE = [
    ("active", "1"),
    ("step", '"round_over"'),
    ("hands.2", '"as"'),
    ("hands.1", '""'),
    ("hand_sizes", "[10, 0, 1, 10]"),
    ("melds", '["set 9S 9H 9C X=9", "run 5H 6H 7H 8H"]'),
    ("discard_top", '"KD"'),
    ("discard_size", "2"),
    ("stock_size", "76"),
    ("winner", "1"),
    ("round_points", "[65, 0, 15, 81]"),
    ("scores", "[66, 2, 18, 85]"),
    ("places", "[]"),
    ("offered_to", "[]"),
    ("cut_bonus", "[0, 0, 0, 0]"),
    ("ended_by", '"out"'),
]
FALSE = [
    ("active", "2"),
    ("step", '"play"'),
    ("hands.2", '"AS AS"'),
    ("hands.2", '"AS2"'),
    ("hands.2", '""'),
    ("hands.1", '"KD"'),
    ("hand_sizes", "[10, 0, 1]"),
    ("hand_sizes", "[10, 1, 0, 10]"),
    ("melds", '["set 9S 9H 9C X=9"]'),
    ("melds", "[]"),
    ("melds", '["set 9H 9S 9C X=9", "run 5H 6H 7H 8H"]'),
    ("melds", '["set 9S 9H 9C X", "run 5H 6H 7H 8H"]'),
    ("melds", '["set 9S 9H 9C X=8", "run 5H 6H 7H 8H"]'),
    ("melds", '["set 9S 9H 9C X=9", "set 5H 6H 7H 8H"]'),
    ("melds", '["run 5H 6H 7H 8H", "set 9S 9H 9C X=9"]'),
    ("melds", '["set 9S2 9H 9C X=9", "run 5H 6H 7H 8H"]'),
    ("discard_top", '"QS"'),
    ("discard_top", '"KD2"'),
    ("discard_top", '""'),
    ("discard_size", "1"),
    ("stock_size", "75"),
    ("winner", "-1"),
    ("round_points", "[65, 0, 15, 82]"),
    ("scores", "[65, 0, 15, 81]"),
    ("places", "[1, 1, 1, 1]"),
    ("offered_to", "[2]"),
    ("cut_bonus", "[50, 0, 0, 0]"),
    ("ended_by", '"no_card"'),
]


@pytest.mark.parametrize(("key", "value"), TRUE, ids=lambda part: part)
def test_a_line_that_holds_is_no_difference(key: str, value: str) -> None:
    case = scenario(PLAYED, *(act(1, text) for text in OUT), expect(f"{key} = {value}"))

    assert run_scenario(case) == ()


@pytest.mark.parametrize(("key", "value"), FALSE, ids=lambda part: part)
def test_a_line_that_does_not_hold_is_named(key: str, value: str) -> None:
    case = scenario(PLAYED, *(act(1, text) for text in OUT), expect(f"{key} = {value}"))

    differs = run_scenario(case)

    assert differs
    assert all(line.startswith(key) for line in differs)


def test_every_line_of_expect_is_among_them() -> None:
    keys = {key.partition(".")[0] for key, _ in TRUE}

    assert keys == {key.partition(".")[0] for key, _ in FALSE} == set(Expect.__struct_fields__)


def test_all_differences_are_told() -> None:
    case = scenario('discard = ""', expect("active = 0", "stock_size = 3", 'step = "play"'))

    assert len(run_scenario(case)) == 3


def test_an_offer_names_who_has_not_answered() -> None:
    offered = [act(1, "stock"), act(3, "buy")]

    assert run_scenario(scenario('discard = "9D"', *offered, expect("offered_to = [2, 0]"))) == ()
    assert run_scenario(scenario('discard = "9D"', *offered, expect("offered_to = [0, 2, 3]"))) != ()


def test_a_round_that_has_not_ended_has_no_winner() -> None:
    case = scenario('discard = ""', expect("winner = -1"))

    assert run_scenario(case) == ("winner: expected -1, is no round that has ended",)


def test_exact_copies_are_told_apart_where_they_are_named() -> None:
    given = 'hands.1 = "7S2 7S1"\nhands.2 = "8S2"\ndiscard = "9D2"'

    assert run_scenario(scenario(given, expect('hands.1 = "7S 7S2"', 'discard_top = "9D2"'))) == ()
    assert run_scenario(scenario(given, expect('hands.2 = "8S1"', 'discard_top = "9D1"'))) == (
        "hands.2: expected '8S1', is '8S'",
        "discard_top: expected '9D1', is '9D'",
    )


# Acts.


def test_an_act_that_is_refused_fails_with_the_refusal() -> None:
    (differs,) = run_scenario(scenario('discard = ""', act(1, "stock"), act(2, "take")))

    assert differs.startswith("play[2] (seat 2: take): refused, not_your_turn")


@pytest.mark.parametrize(
    ("line", "differs"),
    [
        ('refused = "no_discard"', "expected no_discard, refused with not_your_turn"),
        ('refused = "not_your_turn"', ""),
        ("refused = true", ""),
    ],
)
def test_a_refusal_is_held_to_its_code(line: str, differs: str) -> None:
    found = run_scenario(scenario('discard = ""', act(2, "take", line)))

    assert "".join(found).endswith(differs)
    assert bool(found) == bool(differs)


@pytest.mark.parametrize("line", ['refused = "already_drawn"', "refused = true"])
def test_an_act_that_should_be_refused_and_is_taken_fails(line: str) -> None:
    (differs,) = run_scenario(scenario('discard = "9D"', act(1, "take", line)))

    assert "accepted, expected" in differs


def test_times_without_a_refusal_must_all_be_accepted() -> None:
    given = 'hands.1 = "9C 9C KD"\nstep = "play"\nmelds = ["set 9S 9H 9D by 1"]\ndiscard = ""'

    assert run_scenario(scenario(given, act(1, "lay 9C on 1", "times = 2"))) == ()
    assert run_scenario(scenario(given, act(1, "lay 9C on 1", "times = 3"))) != ()


def test_times_with_a_refusal_takes_the_first_and_refuses_the_others() -> None:
    twice = act(1, "take", "times = 3", 'refused = "already_drawn"')

    assert run_scenario(scenario('discard = "9D"', twice)) == ()
    assert run_scenario(scenario('discard = ""', twice)) != ()


def test_a_seat_that_the_table_has_not_is_a_stranger() -> None:
    assert run_scenario(scenario('discard = "9D"', act(4, "take", 'refused = "not_seated"'))) == ()
    assert run_scenario(scenario('discard = "9D"', act(-1, "take", 'refused = "not_seated"'))) == ()


def test_a_round_end_is_held_unless_the_game_goes_on() -> None:
    out = [act(1, text) for text in OUT]

    assert run_scenario(scenario(PLAYED, *out, expect('step = "round_over"'))) == ()
    went_on = expect('step = "choose"', "active = 2", "hand_sizes = [10, 10, 10, 10]")
    assert run_scenario(scenario(PLAYED + "\ngo_on = true", *out, went_on)) == ()


# Every given key is honoured.


def start(given: str, **kwargs: str | int) -> Game:
    return scenario(given, **kwargs).start  # type: ignore[arg-type]


def test_the_seats_of_a_range_are_given() -> None:
    assert len(start('seats = 5\ndiscard = ""', rules="bga").seats) == 5


def test_the_dealer_is_the_seat_before_the_active_one_unless_given() -> None:
    assert start('discard = ""').dealer == 0
    assert start('discard = ""\ndealer = 3').dealer == 3


def test_what_is_not_named_is_placed_in_pack_order() -> None:
    game = start('hands.1 = "AS 3S"\ndiscard = "QH 2D"\nstock = "9C 4H"')

    assert faces(game.hands[0]) == "2S 4S 5S 6S 7S 8S 9S TS JS QS"
    assert game.hands[1] == ("AS1", "3S1")
    assert faces(game.hands[2]) == "KS AH 2H 3H 5H 6H 7H 8H 9H TH"
    assert faces(game.pile) == "QH 2D"
    assert faces(game.stock[::-1])[:17] == "9C 4H TD JD QD KD"
    assert game.stock[0] == "X3"


def test_each_name_takes_the_lowest_copy_that_no_other_name_has() -> None:
    game = start('hands.1 = "7S 8S"\nhands.2 = "7S1 8S"\ndiscard = ""')

    assert game.hands[1:3] == (("7S2", "8S1"), ("7S1", "8S2"))


def test_the_rest_goes_where_it_is_said() -> None:
    under = start('discard = "QH"\nstock = "9C"\nrest = "discard"')
    held = start('discard = "QH"\nstock = ""\nrest = 2')

    assert (len(under.stock), len(under.pile), under.pile[-1]) == (1, 66, "QH1")
    assert (len(held.stock), len(held.pile), len(held.hands[2])) == (0, 1, 76)


def test_the_top_discard_is_that_of_the_seat_before_unless_said() -> None:
    assert start('discard = "QH 2D"').pile_by == (NOBODY, 0)
    assert start('discard = "QH 2D"\ndiscarded_by = 3').pile_by == (NOBODY, 3)
    assert start('discard = "2D"\nfirst_upcard = true').pile_by == (NOBODY,)


def test_a_seat_with_a_meld_has_opened_earlier_unless_said() -> None:
    melds = 'melds = ["set 9S 9H X by 1", "run X=5H 6H 7H 8H by 2"]\ndiscard = ""'
    game = start(melds + '\nopened.1 = "this turn"\nopened.3 = "earlier"')

    assert game.opened[0] == 0
    assert game.opened[1] == game.turn
    assert 0 < game.opened[2] == game.opened[3] < game.turn
    assert [(meld.id, meld.by, meld.kind, meld.cards) for meld in game.melds] == [
        (1, 1, "set", ("9S1", "9H1", "X1=9")),
        (2, 2, "run", ("X2=5H", "6H1", "7H1", "8H1")),
    ]


def test_scores_reshuffles_buys_step_and_round_are_set() -> None:
    game = start('discard = ""\nscores = [1, -2, 3, 4]\nreshuffles = 7\nbought.2 = 3\nstep = "play"', round=3)

    assert (game.totals, game.reshuffles, game.buys) == ((1, -2, 3, 4), 7, (0, 0, 3, 0))
    assert (game.step, game.round, game.active) == ("play", 3, 1)


def test_before_the_cut_the_pack_lies_in_pack_order_and_the_packet_is_as_said() -> None:
    case = scenario('step = "cut"\nlifted = 30', act(3, "cut 1"), rules="liverpool")

    assert case.start.pack == case.start.ruleset.pack_for(4)
    played = scenario(
        'step = "cut"\nlifted = 30',
        act(3, "cut 1"),
        expect('hands.1 = "5D 9D KD 4C 8C QC 3S 7S JS 2H"'),
        rules="liverpool",
    )
    assert run_scenario(played) == ()


def test_the_rebuilt_stock_is_as_said_once() -> None:
    given = 'discard = "2C 3C 4C 9D"\nstock = ""\nrest = 0\nhands.1 = "AS"\nrebuilt = "{}"'
    draw = [act(1, "stock"), *(act(seat, "pass") for seat in (2, 3, 0))]

    for first, order in (("3C", "3C 2C 4C"), ("4C", "4C 2C 3C")):
        case = scenario(given.format(order), *draw, expect(f'hands.1 = "AS {first}"'))
        assert run_scenario(case) == ()
    (wrong,) = run_scenario(scenario(given.format("3C 2C 9D"), *draw))
    assert "given.rebuilt: 9D is not among the cards" in wrong
    (short,) = run_scenario(scenario(given.format("3C 2C"), *draw))
    assert "given.rebuilt: 4C1 would be rebuilt too" in short


def test_every_given_key_is_among_them() -> None:
    told = Path(__file__).read_text("utf-8").partition("# Every given key is honoured.")[2]

    keys = set(Given.__struct_fields__) - {"active", "go_on"}
    assert {key for key in keys if f"{key} = " not in told and f"{key}." not in told} == set()


# Faults are named by their keys.


@pytest.mark.parametrize(
    ("given", "more", "key"),
    [
        ("", "", "given.discard is missing"),
        ('discard = "7S 7S 7S"', "", "given.discard: no 7S is left in the pack"),
        ('discard = "7S3"', "", "given.discard: no 7S3 is left in the pack"),
        ('discard = "7S1 7S1"', "", "given.discard: no 7S1 is left in the pack"),
        ('discard = "QX"', "", "given.discard: not a card: 'QX'"),
        ("discard = 7", "", "given.discard: expected"),
        ('discard = ""\nstock = "1S"', "", "given.stock: not a card"),
        ('discard = ""\nhands.4 = "7S"', "", "given.hands.4: seats are 0 to 3"),
        ('discard = ""\nhands.x = "7S"', "", "given.hands.x: seats are 0 to 3"),
        ('discard = ""\nhands.1 = 7', "", "given.hands.1: expected"),
        ('discard = ""\nhands.1 = "7Z"', "", "given.hands.1: not a card"),
        ('discard = ""\ndealer = 4', "", "given.dealer: seats are 0 to 3, not 4"),
        ('discard = ""\nrest = 4', "", "given.rest: seats are 0 to 3, not 4"),
        ('discard = ""\nrest = "stock"', "", "given.rest: invalid enum value"),
        ('discard = ""\nscores = [1, 2]', "", "given.scores: 2 totals for 4 seats"),
        ('discard = ""\nscores = [1, 2, 3, "4"]', "", "given.scores[3]: expected"),
        ('discard = ""\nopened.1 = "now"', "", "given.opened.1: invalid enum value"),
        ('discard = ""\nopened.9 = "earlier"', "", "given.opened.9: seats are 0 to 3"),
        ('discard = ""\nbought.1 = -1', "", "given.bought.1: expected"),
        ('discard = ""\nreshuffles = true', "", "given.reshuffles: expected"),
        ('discard = "7S"\ndiscarded_by = 5', "", "given.discarded_by: seats are 0 to 3, not 5"),
        ('discard = ""\ndiscarded_by = 2', "", "given.discarded_by: the pile is empty"),
        ('discard = "7S"\ndiscarded_by = 2\nfirst_upcard = true', "", "given.discarded_by: nobody"),
        ('discard = ""\nmelds = ["set 7S 7H 7D"]', "", "given.melds[1]: say the meld and who laid it"),
        ('discard = ""\nmelds = ["set 7S 7H 7D by 4"]', "", "given.melds[1]: seats are 0 to 3, not 4"),
        ('discard = ""\nmelds = ["set 7S 7H 8D by 1"]', "", "given.melds[1]: not_a_set"),
        ('discard = ""\nmelds = ["pair 7S 7H by 1"]', "", "given.melds[1]: not a meld"),
        ('discard = ""\nlifted = 107', "", "given.lifted: a packet holds 1 to 106 cards, not 107"),
        ('discard = ""\nrebuilt = "7"', "", "given.rebuilt: not a card"),
        ('discard = ""\nstep = "cut"', "", 'given.step: contract has no cut, so no step "cut"'),
        ('discard = ""\nseats = 5', "", "given.seats: contract is for exactly 4 players, not 5"),
        ('discard = ""\ndiscards = ""', "", "given.'discards' is not a known key; meant discard?"),
        ('discard = ""', "[[play]]\nseat = 1", "play[1].act is missing"),
        ('discard = ""', '[[play]]\nseat = "1"\nact = "take"', "play[1].seat: expected"),
        ('discard = ""', act(1, "take", 'refused = "no_dicsard"'), "play[1].refused: there is no code"),
        ('discard = ""', act(1, "take", "refused = false"), "play[1].refused: must be a code or true"),
        ('discard = ""', act(1, "take", "refused = true", "times = 1"), "play[1].times: the first is"),
        ('discard = ""', act(1, "take", "times = 0"), "play[1].times: expected"),
        ('discard = ""', act(1, "draw"), "play[1].act: not an action"),
        ('discard = ""', act(1, "take", "when = 1"), "play[1].'when' is not a known key"),
        ('discard = ""', expect('step = "over"'), "expect.step: invalid enum value"),
        ('discard = ""', expect('hands.7 = ""'), "expect.hands.7: seats are 0 to 3"),
        ('discard = ""', expect('hands.1 = "7"'), "expect.hands.1: not a card"),
        ('discard = ""', expect('melds = ["7S"]'), "expect.melds[1]: not a meld"),
        ('discard = ""', expect('discard_top = "7"'), "expect.discard_top: not a card"),
        ('discard = ""', expect('hand_sizes = [1, ""]'), "expect.hand_sizes[1]: expected"),
        ('discard = ""', expect("stock = 3"), "expect.'stock' is not a known key"),
    ],
)
def test_a_fault_is_named_by_its_key(given: str, more: str, key: str) -> None:
    assert [fault for fault in faults(given, more) if fault.startswith(key)], faults(given, more)


def test_faults_of_all_tables_are_told_together() -> None:
    found = faults("discard = 1", act(1, "take", "times = 0"), expect("active = []"))

    assert [fault.partition(":")[0] for fault in found] == ["given.discard", "play[1].times", "expect.active"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("name = ", "not TOML"),
        ("a" + "[" * 3000, "not"),
        ("round = 1", "name is missing; rules is missing; given is missing"),
        ('name = "a\\nb"\nrules = "contract"\nround = 1\n[given]\nactive = 1\ndiscard = ""', "name: "),
        ('name = "a"\nrules = "no"\nround = 1\n[given]\nactive = 1\ndiscard = ""', "rules: no: no such"),
        ('name = "a"\nrules = "contract"\nround = 8\n[given]\nactive = 1', "round: contract has 7 rounds"),
        ('name = "a"\nrules = "bga"\nround = 1\n[given]\nactive = 1', "given.seats is missing"),
        ('name = "a"\nrules = "contract"\nround = 1\n[given]\nactive = 4\ndiscard = ""', "given.active: "),
        ('name = "a"\nrules = "contract"\nround = 1\ngiven = 1', "given: expected"),
        ('name = "a"\nrules = "contract"\nround = 1\nplay = 1\n[given]\nactive = 1', "play: expected"),
        (
            'name = "a"\nrules = "liverpool"\nround = 1\n[given]\nactive = 1\nstep = "cut"\nstock = "7S"',
            "given.stock",
        ),
    ],
)
def test_a_file_that_can_not_be_read_says_why(text: str, fault: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(text, "case.toml", load_ruleset)

    assert str(caught.value).startswith(f"case.toml: {fault}")


# Every card stays in one place.


def test_cards_that_are_nowhere_twice_or_foreign_are_named() -> None:
    game = start('hands.1 = "7S 8S"\ndiscard = "9D"')
    check_cards(game)

    for change, fault in (
        ({"stock": game.stock[1:]}, f"{game.stock[0]} is nowhere"),
        ({"hands": (*game.hands[:3], (*game.hands[3], Card("7S1")))}, "7S1 is in 2 places"),
        ({"stock": (*game.stock, Card("X4"))}, "X4 is not of the pack"),
        ({"pile_by": ()}, "1 discards have 0 discarders"),
    ):
        with pytest.raises(CardsLost, match=fault):
            check_cards(msgspec.structs.replace(game, **change))


def test_a_scenario_fails_where_an_event_loses_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    def lose(game: Game, event: StockDrawn) -> None:
        game.stock = game.stock[:-1]
        game.step = "play"

    case = scenario('discard = ""\nstock = "9C"', act(1, "stock"))
    assert run_scenario(case) == ()
    monkeypatch.setitem(evolving._EVOLVE, StockDrawn, lose)

    assert run_scenario(case) == ("play[1] (seat 1: stock): 9C1 is nowhere",)


def test_a_position_is_not_changed_by_play() -> None:
    case = scenario('discard = "9D"', act(1, "take"))
    before = msgspec.structs.replace(case.start)

    assert run_scenario(case) == run_scenario(case) == ()
    assert case.start == before
