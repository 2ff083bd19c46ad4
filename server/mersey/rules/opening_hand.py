"""A hand in numbers, for the openings finder: what is asked, what is held, and the names again at the end.

A hand is one large int with a byte for each of the 52 faces (suit after suit, ranks
A to K) and the number of jokers above them. Adding up a dict's entries makes it, so
that the test for "surely no opening" costs a few microseconds, and a suit is a slice
of it that can be remembered from one hand to the next.

A *run plan* and a *set plan* say which faces a meld takes and where its jokers are;
plans are equal where the melds look alike on the table.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from mersey.rules.cards import FACES, RANKS, SUITS, Card, Face, face_of, pack_place
from mersey.rules.melds import PLACES, Meld, Placed
from mersey.rules.ruleset import RUN_CARDS_MAX, Contract, Melds

SUIT_CELLS: Final = len(RANKS)
"""A *cell* is a face's place in the hand's bytes: ``suit * SUIT_CELLS + rank``, A = 0."""

NEVER: Final = 1 << 30
"""More cards than any hand holds: what an opening needs that the rules make impossible."""

_SUIT_BITS: Final = 8 * SUIT_CELLS
_SUIT_MASK: Final = (1 << _SUIT_BITS) - 1
_JOKER_BITS: Final = 8 * len(FACES)
_ONE_OR_NONE: Final = bytes([0] + [1] * 255)
_NATURALS: Final = (1 << _JOKER_BITS) - 1


class _Weights(dict[Card, int]):
    """What a card adds to the hand's number, worked out when it is first asked for."""

    def __missing__(self, card: Card) -> int:
        cell = len(FACES) if card[0] == "X" else FACES.index(Face(card[:2]))
        weight = self[card] = 1 << 8 * cell
        return weight


_WEIGHT: Final = _Weights()


def pack_hand(hand: Iterable[Card]) -> int:
    """Return ``hand`` as one number."""
    return sum(map(_WEIGHT.__getitem__, hand))


def jokers_in(packed: int) -> int:
    """Return the number of jokers of a packed hand.

    >>> jokers_in(pack_hand([Card("X1"), Card("7S1"), Card("X3")]))
    2
    """
    return packed >> _JOKER_BITS


def cells_of(packed: int) -> bytearray:
    """Return how many natural cards of each face a packed hand holds, by cell."""
    return bytearray((packed & _NATURALS).to_bytes(len(FACES), "little"))


def suits_of(packed: int) -> tuple[int, int, int, int]:
    """Return the four suits of a packed hand, a byte for each rank."""
    return (
        packed & _SUIT_MASK,
        packed >> _SUIT_BITS & _SUIT_MASK,
        packed >> 2 * _SUIT_BITS & _SUIT_MASK,
        packed >> 3 * _SUIT_BITS & _SUIT_MASK,
    )


class Terms(msgspec.Struct, frozen=True):
    """What an opening must be, with every rule that bears on a size worked out."""

    sets: int
    set_min: int
    set_max: int
    runs: int
    run_min: int
    run_max: int
    whole_hand: bool
    adjacent_runs: bool
    min_naturals: int
    max_jokers: int
    cards_min: int
    """Fewest cards in hand with which the contract can be laid, the discard included."""

    def joker_cap(self, size: int) -> int:
        """Return how many jokers a meld of ``size`` cards may hold (below 0: there is no such meld)."""
        return min(self.max_jokers, size - self.min_naturals)


@lru_cache(maxsize=256)
def terms_of(contract: Contract, melds: Melds) -> Terms:
    """Return the terms of an opening (rules.md sections 2, 4 and 5).

    A meld with fewer cards than it needs naturals is none, so that minimum lifts both
    sizes. A contract without a meld, or of the whole hand with sets, has no opening.
    """
    at_least = melds.open_size == "at_least"
    set_min = max(melds.set_size, melds.min_naturals_per_meld)
    run_min = max(melds.run_size, melds.min_naturals_per_meld)
    set_max = NEVER if at_least else melds.set_size
    run_max = RUN_CARDS_MAX if at_least or contract.whole_hand else min(melds.run_size, RUN_CARDS_MAX)
    impossible = (
        not contract.sets + contract.runs
        or (contract.whole_hand and contract.sets > 0)
        or (contract.sets > 0 and set_min > set_max)
        or (contract.runs > 0 and run_min > run_max)
    )
    cards_min = contract.sets * set_min + contract.runs * run_min + (not contract.whole_hand)
    limit = melds.max_jokers_per_meld
    return Terms(
        sets=contract.sets,
        set_min=set_min,
        set_max=set_max,
        runs=contract.runs,
        run_min=run_min,
        run_max=run_max,
        whole_hand=contract.whole_hand,
        adjacent_runs=melds.adjacent_runs,
        min_naturals=melds.min_naturals_per_meld,
        max_jokers=NEVER if limit is None else limit,
        cards_min=NEVER if impossible else cards_min,
    )


class RunPlan(NamedTuple):
    """A run: from place ``start`` (1 to 14) on, bit i of ``jokers`` set where the i-th card is a joker."""

    suit: int
    start: int
    length: int
    jokers: int


class SetPlan(NamedTuple):
    """A set: how many natural cards of each suit, and how many jokers."""

    rank: int
    naturals: tuple[int, int, int, int]
    jokers: int


class Layout(NamedTuple):
    """The melds of an opening, without the names of physical cards."""

    sets: tuple[SetPlan, ...]
    runs: tuple[RunPlan, ...]


def real_window(start: int, length: int) -> bool:
    """Return whether a run of ``length`` may start at ``start``.

    An ace that fits at both ends goes to the low end (rules.md section 2), so 2 to high
    ace is no run of its own beside A to K, nor is a lone high ace.
    """
    return start + length <= RUN_CARDS_MAX + 1 and (start, length) not in ((2, 13), (14, 1))


def low_ace_first(plan: RunPlan) -> RunPlan:
    """Return ``plan`` with the natural ace at the low end where a run of 14 holds one and a joker."""
    high = 1 << RUN_CARDS_MAX - 1
    if plan.length == RUN_CARDS_MAX and plan.jokers & 1 and not plan.jokers & high:
        return plan._replace(jokers=plan.jokers ^ 1 ^ high)
    return plan


def name_melds(layout: Layout, cards: Iterable[Card], first_joker: Card | None = None) -> tuple[Meld, ...]:
    """Return the melds of ``layout`` laid with ``cards``: sets, then runs, each stored low to high.

    Of several copies of a face the lowest goes first; ``first_joker`` (the one that a swap
    frees) goes before all others.
    """
    held: defaultdict[Face, list[Card]] = defaultdict(list)
    for card in sorted(cards, key=pack_place, reverse=True):
        held[face_of(card)].append(card)
    if first_joker is not None:
        held[Face("X")].append(first_joker)
    sets = [_name_set(plan, held) for plan in sorted(layout.sets)]
    runs = [_name_run(low_ace_first(plan), held) for plan in sorted(layout.runs)]
    return (*sets, *runs)


def _name_set(plan: SetPlan, held: dict[Face, list[Card]]) -> Meld:
    rank = RANKS[plan.rank]
    faces = [
        Face(rank + suit) for suit, count in zip(SUITS, plan.naturals, strict=True) for _ in range(count)
    ]
    jokers = sorted(held[Face("X")].pop() for _ in range(plan.jokers))
    naturals = [Placed(held[face].pop()) for face in faces]
    return Meld("set", (*naturals, *(Placed(f"{joker}={rank}") for joker in jokers)))


def _name_run(plan: RunPlan, held: dict[Face, list[Card]]) -> Meld:
    cards: list[Placed] = []
    for step in range(plan.length):
        face = Face(PLACES[plan.start - 1 + step] + SUITS[plan.suit])
        if plan.jokers >> step & 1:
            cards.append(Placed(f"{held[Face('X')].pop()}={face}"))
        else:
            cards.append(Placed(held[face].pop()))
    return Meld("run", tuple(cards))


@lru_cache(maxsize=1 << 15)
def _fewest_missing(suit: int, size: int) -> int:
    """Return how many places at least are missing in ``suit`` for one run of ``size``."""
    ranks = suit.to_bytes(SUIT_CELLS, "little").translate(_ONE_OR_NONE)
    places = int.from_bytes(ranks + ranks[:1], "little")
    filled = sum(places >> 8 * step for step in range(size))  # byte i: of the places i to i + size - 1
    return size - max(filled.to_bytes(RUN_CARDS_MAX, "little")[: RUN_CARDS_MAX + 1 - size])


def set_jokers(ranks: bytearray, sets: int, size: int) -> int:
    """Return how many jokers ``sets`` sets of ``size`` need at least; uses ``ranks`` up."""
    jokers = 0
    for _ in range(sets):
        most = max(ranks)
        if most < size:
            jokers += size - most
        ranks[ranks.index(most)] = most - size if most > size else 0
    return jokers


def ranks_of(packed: int) -> bytearray:
    """Return how many natural cards of each rank a packed hand holds, A first."""
    spades, hearts, diamonds, clubs = suits_of(packed)
    return bytearray((spades + hearts + diamonds + clubs).to_bytes(SUIT_CELLS, "little"))


def jokers_needed(packed: int, terms: Terms) -> int:
    """Return a number of jokers below which a packed hand has no opening.

    Each meld is looked at as if the others took none of its cards, so more may be needed.
    """
    if terms.whole_hand:
        return _whole_hand_needs(packed, terms)
    jokers = set_jokers(ranks_of(packed), terms.sets, terms.set_min) if terms.sets else 0
    if terms.runs:
        jokers += terms.runs * min(_fewest_missing(suit, terms.run_min) for suit in suits_of(packed))
    return jokers


def _whole_hand_needs(packed: int, terms: Terms) -> int:
    """Return the same where all is laid: each suit held needs runs of its own, each joker a place."""
    held = [suit for suit in suits_of(packed) if suit]
    if len(held) > terms.runs or jokers_in(packed) > terms.runs * terms.max_jokers:
        return NEVER
    return sum(_to_fill_up(suit, terms.run_min) for suit in held)


@lru_cache(maxsize=1 << 15)
def _to_fill_up(suit: int, size: int) -> int:
    return max(0, size - sum(suit.to_bytes(SUIT_CELLS, "little")))


def lowest_copies(cards: Sequence[Card]) -> dict[Face, Card]:
    """Return the lowest natural copy of each face in ``cards``."""
    ordered = sorted((card for card in cards if card[0] != "X"), key=pack_place, reverse=True)
    return {face_of(card): card for card in ordered}
