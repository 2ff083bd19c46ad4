"""The openings finder, rule by rule: what opens and what does not, and which openings come first."""

from __future__ import annotations

import pytest

from mersey.rules.cards import Card, Face
from mersey.rules.melds import NamedCard, resolve_meld, stands_for
from mersey.rules.openings import Opening, TableJoker, find_opening, openings
from mersey.rules.ruleset import Melds
from rules import brute_openings as brute
from rules.opening_hands import BGA_MELDS, CONTRACT_MELDS, RANKS, VALUES, cards, contract, rules


def laid(opening: Opening | None) -> list[str] | None:
    return None if opening is None else [f"{meld.kind} {' '.join(meld.cards)}" for meld in opening.melds]


# What the rules say, case by case


def test_example_1_opens_with_two_sets_of_three() -> None:
    hand = cards("7S 7H 9S 9H 9D 3C 4C 5C 8D AH 7D")

    assert laid(find_opening(hand, contract(2, 0), CONTRACT_MELDS)) == ["set 7S1 7H1 7D1", "set 9S1 9H1 9D1"]


def test_example_5_opens_with_a_set_and_a_run() -> None:
    hand = cards("7C 7D 7H 3S 4S 5S 6S 8H KD")

    assert laid(find_opening(hand, contract(1, 1), CONTRACT_MELDS)) == [
        "set 7H1 7D1 7C1",
        "run 3S1 4S1 5S1 6S1",
    ]


@pytest.mark.parametrize(
    ("hand", "opens"),
    [
        ("3S 4S 5S 6S 7S 8S 9S TS", False),
        ("3S 4S 5S 6S 8S 9S TS JS", True),
        ("3S 4S 5S 6S 5S 6S 7S 8S", True),
        ("3S 4S 5S 6S 3S 4S 5S 6S", True),
        ("AS 2S 3S 4S TS JS QS KS", True),
        ("AS 2S 3S 4S JS QS KS AS", True),
        ("3S 4S 5S 6S 7S X 9S TS", False),
        ("3S 4S 5S 6S 7H 8H 9H TH", True),
    ],
)
def test_example_6_touching_runs_of_one_suit_do_not_open(hand: str, opens: bool) -> None:
    held = cards(hand + " KD")

    assert (find_opening(held, contract(0, 2), CONTRACT_MELDS) is not None) == opens
    assert find_opening(held, contract(0, 2), rules(adjacent=True)) is not None


@pytest.mark.parametrize(
    ("hand", "opens"),
    [
        ("3S 4S 5S 6S 3H 4H 5H 6H 8D 9D TD JD QD", True),
        ("3S 4S 5S 6S 3H 4H 5H 6H 8D 9D TD JD KC", False),
        ("3S 4S 5S 6S 3H 4H 5H 6H 8D 9D TD JD X", True),
        ("3S 4S 5S 6S 7S 8S 9S TS 8D 9D TD JD QD", False),
        ("AS 2S 3S 4S AS KS QS JS 8D 9D TD JD QD", True),
        ("AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS AS AH 2H 3H 4H 5H JD QD KD AD X", True),
        ("AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS AS AS AH 2H 3H 4H 5H JD QD KD AD", False),
    ],
)
def test_example_7_the_last_round_lays_the_whole_hand_or_nothing(hand: str, opens: bool) -> None:
    held = cards(hand)

    found = find_opening(held, contract(0, 3, whole_hand=True), CONTRACT_MELDS)

    assert (found is not None) == opens
    assert found is None or sum(len(meld.cards) for meld in found.melds) == len(held)


def test_an_ace_is_low_or_high_and_never_in_the_middle() -> None:
    one_run = contract(0, 1)

    assert laid(find_opening(cards("AS 2S 3S 4S 9D"), one_run, CONTRACT_MELDS)) == ["run AS1 2S1 3S1 4S1"]
    assert laid(find_opening(cards("AS JS QS KS 9D"), one_run, CONTRACT_MELDS)) == ["run JS1 QS1 KS1 AS1"]
    assert find_opening(cards("KS AS 2S 3S 9D"), one_run, CONTRACT_MELDS) is None


def test_a_run_of_fourteen_has_its_only_natural_ace_at_the_low_end() -> None:
    hand = cards("AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS X")

    found = find_opening(hand, contract(0, 1, whole_hand=True), CONTRACT_MELDS)

    assert found is not None
    assert found.melds[0].cards[0] == "AS1"
    assert found.melds[0].cards[-1] == "X1=AS"
    assert openings(hand, contract(0, 1, whole_hand=True), CONTRACT_MELDS, VALUES, limit=9) == (
        [found],
        False,
    )


def test_a_run_of_fourteen_asked_for_needs_two_aces_or_a_joker() -> None:
    long_run, melds = contract(0, 1), rules(run_size=14)
    hand = cards("AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS 9D")

    assert find_opening([*hand, Card("9C1")], long_run, melds) is None
    assert find_opening([*hand, Card("AS2")], long_run, melds) is not None
    found, more = openings([*hand, Card("X1")], long_run, melds, VALUES, limit=9)
    assert [opening.melds[0].cards[-1] for opening in found] == ["X1=AS"], "the natural ace goes low"
    assert not more


def test_an_opening_keeps_a_card_for_the_discard() -> None:
    hand = cards("7S 7H 7D 9S 9H 9D")

    assert find_opening(hand, contract(2, 0), CONTRACT_MELDS) is None
    assert find_opening([*hand, Card("KD1")], contract(2, 0), CONTRACT_MELDS) is not None


def test_jokers_alone_are_a_meld_and_no_joker_counts_twice() -> None:
    assert laid(find_opening(cards("X X X 4S"), contract(1, 0), CONTRACT_MELDS)) is not None
    assert find_opening(cards("X X 4S 9D"), contract(2, 0), CONTRACT_MELDS) is None
    assert find_opening(cards("7S 7H X 9S 9H KD 2D"), contract(2, 0), CONTRACT_MELDS) is None


def test_two_sets_of_one_rank_are_allowed() -> None:
    hand = cards("7S 7S 7H 7H 7D 7D 4C")

    assert laid(find_opening(hand, contract(2, 0), CONTRACT_MELDS)) == ["set 7H1 7D1 7D2", "set 7S1 7S2 7H2"]


def test_a_limit_on_jokers_moves_a_joker_to_a_place_whose_card_is_held() -> None:
    # One joker for the set and one for the run: the set wants 4S, so the run's joker is 4S.
    hand = cards("AS 2S 3S 4S 4H X X 9D")

    found = find_opening(hand, contract(1, 1), rules(jokers=1))

    assert laid(found) == ["set 4S1 4H1 X1=4", "run AS1 2S1 3S1 X2=4S"]


def test_a_limit_on_jokers_moves_a_joker_from_one_run_to_another() -> None:
    # 3-6 needs a joker for 3, so that 6-9 must have one for the 6 that both want; or 4-7 and 7-T alike.
    hand = cards("4S 5S 6S 7S 8S 9S X X KD")
    # Each run of 14 wants two aces; with two in all, each has one.
    full = cards(" ".join(f"{rank}S {rank}S" for rank in RANKS) + " X X KD")

    for held, melds in ((hand, rules(jokers=1)), (full, rules(run_size=14, jokers=1))):
        found = find_opening(held, contract(0, 2), melds)
        assert found is not None
        assert brute.fault(found, held, contract(0, 2), melds) is None


def test_naturals_that_lie_apart_make_a_longer_run() -> None:
    hand = cards("3S 4S X X 7S KD")

    assert find_opening(hand, contract(0, 1), rules(naturals=3, at_least=True)) is not None
    assert find_opening(hand, contract(0, 1), rules(naturals=3)) is None


def test_longer_runs_together_leave_a_discard() -> None:
    hand = cards("3S 4S X X 7S 3H 4H X X 7H")
    melds = rules(naturals=3, at_least=True)

    assert find_opening(hand, contract(0, 2), melds) is None
    assert find_opening([*hand, Card("KD1")], contract(0, 2), melds) is not None


def test_two_sets_of_one_rank_share_their_jokers_where_a_set_may_have_one() -> None:
    found = find_opening(cards("7S 7S 7H 7D X X 4C"), contract(2, 0), rules(jokers=1))

    assert laid(found) == ["set 7H1 7D1 X1=7", "set 7S1 7S2 X2=7"]


def test_a_longer_run_stands_between_two_that_a_short_one_would_touch() -> None:
    hand = cards("3S 4S 5S 6S 6S 7S 8S 9S TS TS JS QS KS 2D")

    assert find_opening(hand, contract(0, 3), rules(at_least=True)) is not None
    assert find_opening(hand, contract(0, 3), rules()) is None


def test_an_opening_may_free_a_joker_of_the_table_and_lay_it() -> None:
    freed = [TableJoker(meld=4, joker=Card("X2"), faces=(Face("5H"),))]
    hand = cards("5H 7S 7H 9S 9H 9D KD")

    found = find_opening(hand, contract(2, 0), BGA_MELDS, table_jokers=freed)

    assert found is not None
    assert found.swap == ("5H1", 4)
    assert laid(found) == ["set 7S1 7H1 X2=7", "set 9S1 9H1 9D1"]
    assert find_opening(hand, contract(2, 0), BGA_MELDS) is None
    assert find_opening(hand[:-1], contract(2, 0), BGA_MELDS, table_jokers=freed) is None, (
        "no discard is left"
    )
    assert find_opening(hand[1:], contract(2, 0), BGA_MELDS, table_jokers=freed) is None, "5H is not held"


def test_a_contract_without_melds_has_no_opening() -> None:
    assert find_opening(cards("5H 6H"), contract(0, 0), BGA_MELDS) is None


def test_jokers_of_a_set_are_stored_as_the_table_stores_them() -> None:
    found = find_opening([Card("X10"), Card("X9"), Card("7D1"), Card("2S1")], contract(1, 0), CONTRACT_MELDS)

    assert found is not None
    named = [NamedCard(Card(text.partition("=")[0]), text.partition("=")[2]) for text in found.melds[0].cards]
    assert resolve_meld("set", named) == found.melds[0]


# Many openings


def test_the_opening_that_leaves_the_cheapest_hand_comes_first() -> None:
    hand = cards("2S 2H 2D KS KH KD 9S 9H 9D 9C 3C")

    found, more = openings(hand, contract(2, 0), CONTRACT_MELDS, VALUES, limit=1)

    assert [{stands_for(card)[0] for card in meld.cards} for meld in found[0].melds] == [{"9"}, {"K"}]
    assert more


def test_an_opening_of_at_least_a_size_lays_all_that_helps_but_a_discard() -> None:
    found, more = openings(cards("9S 9H 9D 9C KS KH KD 3C"), contract(2, 0), BGA_MELDS, VALUES, limit=1)
    keeps, _ = openings(cards("9S 9H 9D 9C KS KH KD"), contract(2, 0), BGA_MELDS, VALUES, limit=1)

    assert laid(found[0]) == ["set 9S1 9H1 9D1 9C1", "set KS1 KH1 KD1"]
    assert more
    assert sum(len(meld.cards) for meld in keeps[0].melds) == 6


def test_openings_are_told_apart_by_faces_only() -> None:
    hand = cards("7S 7S 7H 7D 4C")

    found, more = openings(hand, contract(1, 0), CONTRACT_MELDS, VALUES, limit=9)

    assert {opening.melds[0].cards for opening in found} == {
        ("7S1", "7H1", "7D1"),
        ("7S1", "7S2", "7H1"),
        ("7S1", "7S2", "7D1"),
    }
    assert not more


@pytest.mark.parametrize("melds", [CONTRACT_MELDS, BGA_MELDS, rules(jokers=1)])
@pytest.mark.parametrize("asked", [(2, 1), (1, 2), (0, 3)])
def test_a_hand_with_millions_of_openings_gives_the_asked_few(asked: tuple[int, int], melds: Melds) -> None:
    hand = [
        *(Card(f"{rank}{suit}{copy}") for rank in RANKS[3:9] for suit in "SH" for copy in (1, 2)),
        Card("X1"),
    ]

    found, more = openings(hand, contract(*asked), melds, VALUES, limit=3)

    assert len(found) == 3
    assert more
    assert not [fault for opening in found if (fault := brute.fault(opening, hand, contract(*asked), melds))]


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="limit must be at least 1, not 0"):
        openings(cards("7S"), contract(1, 0), CONTRACT_MELDS, VALUES, limit=0)
