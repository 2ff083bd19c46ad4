"""Rules, contracts and hands for the tests of the openings finder, in few words."""

from __future__ import annotations

from mersey.rules.cards import Card
from mersey.rules.ruleset import Contract, Melds

RANKS = "A23456789TJQK"
VALUES = {rank: min(value, 10) for value, rank in enumerate(RANKS, 1)} | {"A": 15, "X": 15}
CONTRACTS = [(2, 0), (1, 1), (0, 2), (3, 0), (2, 1), (1, 2), (0, 3)]


def rules(
    set_size: int = 3,
    run_size: int = 4,
    at_least: bool = False,
    adjacent: bool = False,
    naturals: int = 0,
    jokers: int | None = None,
) -> Melds:
    return Melds(
        set_size=set_size,
        run_size=run_size,
        open_size="at_least" if at_least else "exact",
        adjacent_runs=adjacent,
        lay_off_on_opening_turn=False,
        min_naturals_per_meld=naturals,
        max_jokers_per_meld=jokers,
    )


CONTRACT_MELDS = rules()
BGA_MELDS = rules(at_least=True, adjacent=True)


def contract(sets: int, runs: int, whole_hand: bool = False) -> Contract:
    return Contract(sets=sets, runs=runs, deal=1, whole_hand=whole_hand)


def cards(text: str) -> list[Card]:
    """Cards by their faces: a face that comes again is the next copy; ``X`` the next joker."""
    seen: dict[str, int] = {}
    named = []
    for face in text.split():
        seen[face] = seen.get(face, 0) + 1
        named.append(Card(f"{face}{seen[face]}"))
    return named
