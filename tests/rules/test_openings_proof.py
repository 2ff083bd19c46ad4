"""The openings finder against brute force on small hands, and at full size, where brute force ends."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mersey.rules.cards import FACES, Card, Face, pack
from mersey.rules.contracts import check_contract, check_opening_meld
from mersey.rules.openings import TableJoker, find_opening, may_open, openings
from mersey.rules.ruleset import Contract, Melds
from rules import brute_openings as brute
from rules.opening_hands import BGA_MELDS, CONTRACT_MELDS, CONTRACTS, RANKS, VALUES, cards, contract, rules

# Against brute force

Case = tuple[list[Card], Contract, Melds, list[TableJoker]]


def near_case(chance: Random, most: int) -> Case:
    """A small hand of few ranks and suits, with jokers and copies, and rules of any kind."""
    suits = chance.sample("SHDC", chance.choice([1, 1, 2, 2, 3]))
    lowest = chance.randrange(13)
    ranks = [(RANKS * 2)[lowest + step] for step in range(chance.choice([2, 3, 4, 5, 6, 7]))]
    jokers = chance.choice([0, 0, 1, 1, 2, 3])
    copies = chance.choice([1, 2, 2, 3])
    naturals = [
        Card(f"{rank}{suit}{copy}") for rank in ranks for suit in suits for copy in range(1, copies + 1)
    ]
    size = min(chance.randint(4, most), len(naturals) + jokers)
    hand = chance.sample(naturals, max(0, size - jokers)) + [
        Card(f"X{number}") for number in range(1, jokers + 1)
    ]
    whole_hand = chance.random() < 0.3
    sets = 0 if whole_hand else chance.randrange(3)
    freed = []
    for number in range(chance.choice([0, 0, 0, 1, 2])):
        face = chance.choice(ranks) + chance.choice(suits)
        faces = (Face(face),) if chance.random() < 0.6 else tuple(Face(face[0] + suit) for suit in "SHDC")
        freed.append(TableJoker(meld=number + 1, joker=Card(f"X{8 + number}"), faces=faces))
    melds = rules(
        set_size=chance.choice([1, 2, 2, 3, 3, 4]),
        run_size=chance.choice([1, 2, 2, 3, 3, 4]),
        at_least=chance.random() < 0.5,
        adjacent=chance.random() < 0.4,
        naturals=chance.choice([0, 0, 0, 1, 2, 3]),
        jokers=chance.choice([None, None, 0, 1, 2]),
    )
    return hand, contract(sets, chance.randrange(1 if whole_hand else 0, 4), whole_hand), melds, freed


def check_existence(hand: Sequence[Card], asked: Contract, melds: Melds, freed: Sequence[TableJoker]) -> bool:
    """Compare the finder with brute force: whether there is an opening, and that the one found is legal."""
    exists = brute.has_opening(hand, asked, melds, freed)
    found = find_opening(hand, asked, melds, table_jokers=freed)
    assert (found is not None) == exists
    if found is not None:
        assert brute.fault(found, hand, asked, melds, freed) is None
        assert may_open(hand, asked, melds, table_jokers=freed)
    return exists


def check_list(hand: Sequence[Card], asked: Contract, melds: Melds, freed: Sequence[TableJoker]) -> None:
    """Compare the list with brute force: each opening once, legal, the best first."""
    want = brute.all_openings(hand, asked, melds, freed)
    found, more = openings(hand, asked, melds, VALUES, limit=100_000, table_jokers=freed)
    looks = [brute.opening_look(opening) for opening in found]
    rests = [sum(VALUES[card[0]] for card in want[look]) for look in looks]
    assert len(set(looks)) == len(looks)
    assert more or set(looks) == want.keys()
    assert rests == sorted(rests)
    assert not [fault for opening in found if (fault := brute.fault(opening, hand, asked, melds, freed))]
    best, _ = openings(hand, asked, melds, VALUES, limit=1, table_jokers=freed)
    assert more or [brute.opening_look(opening) for opening in best] == looks[:1]


def test_the_finder_agrees_with_brute_force_on_thousands_of_hands() -> None:
    cases = (near_case(Random(f"opening {number}"), 8) for number in range(5_000))

    opened = sum(check_existence(*case) for case in cases)

    assert 800 < opened < 4_200, "the hands lie near an opening, on both sides"


def test_the_list_agrees_with_brute_force_on_hundreds_of_hands() -> None:
    for number in range(600):
        check_list(*near_case(Random(f"list {number}"), 6))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    faces = draw(st.lists(st.sampled_from([*FACES[:13], *FACES[13:18], "X", "X"]), max_size=7))
    whole_hand = draw(st.booleans())
    melds = rules(
        set_size=draw(st.integers(1, 3)),
        run_size=draw(st.integers(1, 4)),
        at_least=draw(st.booleans()),
        adjacent=draw(st.booleans()),
        naturals=draw(st.integers(0, 3)),
        jokers=draw(st.none() | st.integers(0, 2)),
    )
    freed = [
        TableJoker(meld=1, joker=Card("X9"), faces=(Face(face),))
        for face in draw(st.lists(st.sampled_from(FACES[:13]), max_size=1))
    ]
    sets = 0 if whole_hand else draw(st.integers(0, 2))
    return cards(" ".join(faces)), contract(sets, draw(st.integers(0, 3)), whole_hand), melds, freed


@settings(max_examples=300, deadline=None)
@given(cases())
def test_any_small_hand_under_any_rules_agrees_with_brute_force(case: Case) -> None:
    check_existence(*case)


# At full size, where brute force ends


def some_runs(chance: Random, asked: Contract, melds: Melds) -> list[brute.Found]:
    """The runs of an opening, touching only where they may."""
    while True:
        runs: list[brute.Found] = []
        for _ in range(asked.runs):
            size = chance.randint(4, 8) if asked.whole_hand else melds.run_size
            start = chance.randint(1, 15 - size)
            suit = chance.choice("SSH")
            faces = tuple(rank + suit for rank in brute.RANKS_UP[start - 1 : start - 1 + size])
            runs.append(("run", faces, start, size))
        if melds.adjacent_runs or not any(brute.touch(a, b) for a in runs for b in runs):
            return runs


def planted(chance: Random, asked: Contract, melds: Melds) -> list[Card]:
    """A hand that holds an opening with up to three jokers: 25 cards, or just the opening's."""
    faces = [face for run in some_runs(chance, asked, melds) for face in run[1]]
    for _ in range(asked.sets):
        rank = chance.choice(RANKS)
        faces += [rank + chance.choice("SHDC") for _ in range(melds.set_size)]
    for place in chance.sample(range(len(faces)), chance.randint(0, 3)):
        faces[place] = "X"
    if not asked.whole_hand:
        faces += chance.choices(FACES, k=25 - len(faces))
    chance.shuffle(faces)
    return cards(" ".join(faces))


@pytest.mark.parametrize("melds", [CONTRACT_MELDS, BGA_MELDS])
@pytest.mark.parametrize("asked", [*CONTRACTS, (0, 3, True)])
def test_an_opening_hidden_among_25_cards_is_found(
    asked: tuple[int, int] | tuple[int, int, bool], melds: Melds
) -> None:
    wanted = contract(*asked)
    for number in range(100):
        hand = planted(Random(f"{asked} {number}"), wanted, melds)

        found = find_opening(hand, wanted, melds)

        assert found is not None, hand
        assert brute.fault(found, hand, wanted, melds) is None
        assert may_open(hand, wanted, melds)


@pytest.mark.parametrize(
    "melds", [CONTRACT_MELDS, BGA_MELDS, rules(jokers=1), rules(naturals=2, at_least=True)]
)
@pytest.mark.parametrize("asked", CONTRACTS)
def test_what_the_finder_finds_the_table_accepts_and_one_more_card_never_hurts(
    asked: tuple[int, int], melds: Melds
) -> None:
    wanted = contract(*asked)
    chance = Random(f"grow {asked}")
    for _ in range(10):
        deck = list(pack(2, 4))
        chance.shuffle(deck)
        opened = False
        for size in range(1, 26):
            found = find_opening(deck[:size], wanted, melds)
            assert found is not None or not opened
            if found is not None:
                opened = True
                check_contract(found.melds, wanted, melds)
                for meld in found.melds:
                    check_opening_meld(meld, wanted, melds)
