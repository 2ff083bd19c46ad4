"""Melds: sets and runs, how named cards become one, and how one grows (rules.md sections 1, 2, 5 and 7).

A card in a meld is written as the notation writes it: a natural card by its name
(``7S1``), a joker with what it stands for (``X1=5H`` in a run, ``X1=7`` in a set).
A meld is stored low to high: a run by its places, a set by suit S H D C and copy,
then its jokers.

Places of a run are 1 (low ace) to 14 (high ace).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NewType

import msgspec

from mersey.rules.cards import RANKS, SUITS, Card, Face
from mersey.rules.refusals import Code, Refusal
from mersey.rules.ruleset import RUN_CARDS_MAX, MeldKind, Melds, Swap

Placed = NewType("Placed", str)
"""A card as it lies in a meld: ``7S1``, ``X1=5H`` (run), ``X1=7`` (set)."""

Named = NewType("Named", str)
"""A card as a player names it: ``7S``, ``7S1``, ``X``, ``X2``, ``X=5H``, ``X2=7``."""

PLACES: Final = RANKS + "A"
"""The ranks of a run's places: ``PLACES[place - 1]``, place 1 to 14."""


class Meld(msgspec.Struct, frozen=True):
    """A set or run with every joker resolved, stored low to high."""

    kind: MeldKind
    cards: tuple[Placed, ...]


class TableMeld(msgspec.Struct, frozen=True):
    """A meld on the table: its number in the round and the seat that laid it."""

    id: int
    by: int
    kind: MeldKind
    cards: tuple[Placed, ...]


def card_of(placed: Placed) -> Card:
    """Return the physical card of a card in a meld.

    >>> card_of(Placed("X1=5H")), card_of(Placed("7S1"))
    ('X1', '7S1')
    """
    return Card(placed.partition("=")[0])


def stands_for(placed: Placed) -> str:
    """Return what a card in a meld counts as: a natural card's face, a joker's face or rank.

    >>> stands_for(Placed("X1=5H")), stands_for(Placed("X1=7")), stands_for(Placed("7S1"))
    ('5H', '7', '7S')
    """
    card, _, meaning = placed.partition("=")
    return meaning or Face(card[:2])


def seen(placed: str) -> str:
    """Return what the table sees of a card in a meld or pile: the face, and what a joker stands for.

    >>> seen("7S1"), seen("X1=5H"), seen("X2")
    ('7S', 'X=5H', 'X')
    """
    if placed[0] != "X":
        return placed[:2]
    _, equals, meaning = placed.partition("=")
    return f"X{equals}{meaning}"


class NamedCard(msgspec.Struct, frozen=True):
    """A physical card and, for a joker, what its player says it stands for (``5H``, ``7`` or nothing)."""

    card: Card
    meaning: str = ""

    @property
    def is_joker(self) -> bool:
        """Whether the card is a joker."""
        return self.card[0] == "X"


def resolve_meld(kind: MeldKind, cards: Sequence[NamedCard]) -> Meld:
    """Return the meld that ``cards`` are, jokers resolved, stored low to high (section 2).

    >>> five, joker, seven, eight = (NamedCard(Card(c)) for c in ("5H1", "X1", "7H2", "8H1"))
    >>> resolve_meld("run", [eight, joker, five, seven]).cards
    ('5H1', 'X1=6H', '7H2', '8H1')

    Raises:
        Refusal: ``not_a_set``, ``not_a_run``, ``joker_position_invalid``, ``joker_position_required``.
    """
    return Meld(kind, _resolve_set(cards) if kind == "set" else _resolve_run(cards))


def _resolve_set(cards: Sequence[NamedCard]) -> tuple[Placed, ...]:
    naturals = sorted((named.card for named in cards if not named.is_joker), key=set_order)
    jokers = [named for named in cards if named.is_joker]
    ranks = {card[0] for card in naturals}
    if len(ranks) > 1:
        raise Refusal(Code.NOT_A_SET, naturals)
    meanings = {named.meaning for named in jokers if named.meaning}
    if any(len(meaning) > 1 for meaning in meanings) or len(ranks | meanings) > 1:
        raise Refusal(Code.JOKER_POSITION_INVALID, sorted(f"X={meaning}" for meaning in meanings))
    if not ranks | meanings:
        raise Refusal(Code.JOKER_POSITION_REQUIRED)
    (rank,) = ranks | meanings
    placed = [Placed(f"{card}={rank}") for card in sorted(named.card for named in jokers)]
    return (*map(Placed, naturals), *placed)


def set_order(card: str) -> tuple[int, str]:
    """Return the sort key of a card in a set: suit S H D C and copy, jokers last."""
    return (len(SUITS), card) if card[0] == "X" else (SUITS.index(card[1]), card[2:])


def _resolve_run(cards: Sequence[NamedCard]) -> tuple[Placed, ...]:
    naturals = [named for named in cards if not named.is_joker]
    suits = {named.card[1] for named in naturals}
    if len(suits) > 1 or len(cards) > RUN_CARDS_MAX:
        raise Refusal(Code.NOT_A_RUN, [named.card for named in naturals])
    told = [named for named in cards if named.is_joker and named.meaning]
    wrong = [named for named in told if len(named.meaning) == 1]
    suits = suits or {named.meaning[1] for named in told if len(named.meaning) == 2}
    wrong += [named for named in told if len(named.meaning) == 2 and {named.meaning[1]} != suits]
    fixed = naturals + [named for named in told if named not in wrong]
    readings = _readings(fixed, len(cards))
    if not readings:
        raise Refusal(Code.NOT_A_RUN, [_said(named) for named in fixed])
    if wrong:
        raise Refusal(Code.JOKER_POSITION_INVALID, [_said(named) for named in wrong])
    if len(readings) > 1 or not suits:
        raise Refusal(Code.JOKER_POSITION_REQUIRED)
    ((start, at),) = readings.values()
    (suit,) = suits
    free = sorted(named.card for named in cards if named.is_joker and not named.meaning)
    return tuple(_place_cards(start, len(cards), at, free, suit))


def _said(named: NamedCard) -> str:
    return f"{named.card}={named.meaning}" if named.meaning else named.card


Seating = dict[int, NamedCard]
"""Which card fills which place of a run; places without one are for unnamed jokers."""


def _readings(fixed: Sequence[NamedCard], size: int) -> dict[str, tuple[int, Seating]]:
    """Return the ways in which ``fixed`` and unnamed jokers make a run of ``size``.

    The key is what the jokers would stand for: two windows with the same key are one
    reading, an ace that fits at both ends, and the low end has it.
    """
    ranks = [(named.meaning or named.card)[0] for named in fixed]
    inner = {PLACES.index(rank) + 1: named for rank, named in zip(ranks, fixed, strict=True) if rank != "A"}
    aces = sorted(
        (named for rank, named in zip(ranks, fixed, strict=True) if rank == "A"),
        key=lambda a: set_order(a.card),
    )
    if len(inner) + len(aces) < len(fixed):
        return {}
    found: dict[str, tuple[int, Seating]] = {}
    for start in range(1, RUN_CARDS_MAX + 2 - size):
        end = start + size - 1
        ends = [place for place in (1, RUN_CARDS_MAX) if place in (start, end)]
        if len(aces) <= len(ends) and all(start <= place <= end for place in inner):
            at = inner | dict(zip(ends, aces, strict=False))
            open_ranks = sorted(PLACES[place - 1] for place in range(start, end + 1) if place not in at)
            found.setdefault("".join(open_ranks), (start, at))
    return found


def _place_cards(start: int, size: int, at: Seating, free: Sequence[Card], suit: str) -> Iterator[Placed]:
    unnamed = iter(free)
    for place in range(start, start + size):
        named = at.get(place)
        card = named.card if named else next(unnamed)
        yield Placed(f"{card}={PLACES[place - 1]}{suit}" if card[0] == "X" else card)


def count_jokers(cards: Sequence[Placed]) -> int:
    """Return how many of ``cards`` are jokers."""
    return sum(placed[0] == "X" for placed in cards)


def check_joker_limit(cards: Sequence[Placed], melds: Melds) -> None:
    """Raise ``joker_limit`` where a meld holds too many jokers or too few natural cards (section 2)."""
    jokers = count_jokers(cards)
    limit = melds.max_jokers_per_meld
    if (limit is not None and jokers > limit) or len(cards) - jokers < melds.min_naturals_per_meld:
        raise Refusal(Code.JOKER_LIMIT, [seen(placed) for placed in cards if placed[0] == "X"])


def first_place(run: Sequence[Placed]) -> int:
    """Return the place of a run's lowest card, 1 (low ace) to 14.

    >>> first_place((Placed("AS1"), Placed("2S1"))), first_place((Placed("X1=TH"), Placed("JH1")))
    (1, 10)
    """
    return PLACES.index(stands_for(run[0])[0]) + 1


class Fit(msgspec.Struct, frozen=True):
    """Where a card goes in a meld: as ``placed``, before the card that now has index ``at``."""

    placed: Placed
    at: int


def fit(meld: TableMeld, named: NamedCard, melds: Melds) -> Fit:
    """Return how a card is laid off on ``meld`` as it now is (sections 2 and 5).

    Raises:
        Refusal: ``meld_full``, ``joker_position_invalid``, ``joker_position_required``,
            ``joker_limit``, ``does_not_fit``.
    """
    if meld.kind == "run" and len(meld.cards) >= RUN_CARDS_MAX:
        raise Refusal(Code.MELD_FULL)
    found = _fit_set(meld, named) if meld.kind == "set" else _fit_run(meld, named)
    if named.is_joker:
        check_joker_limit((*meld.cards, Placed(named.card)), melds)
    if found is None:
        raise Refusal(Code.DOES_NOT_FIT, [_said(named)])
    return found


def _fit_set(meld: TableMeld, named: NamedCard) -> Fit | None:
    rank = stands_for(meld.cards[0])[0]
    if named.is_joker:
        if named.meaning not in ("", rank):
            raise Refusal(Code.JOKER_POSITION_INVALID, [_said(named)])
        return Fit(Placed(f"{named.card}={rank}"), set_place(meld.cards, named.card))
    return Fit(Placed(named.card), set_place(meld.cards, named.card)) if named.card[0] == rank else None


def set_place(cards: Sequence[Placed], card: Card) -> int:
    """Return the index at which ``card`` belongs in a set's stored order."""
    key = set_order(card)
    return sum(set_order(card_of(placed)) < key for placed in cards)


def _fit_run(meld: TableMeld, named: NamedCard) -> Fit | None:
    ends = run_ends(meld.cards)
    suit = stands_for(meld.cards[0])[1]
    if not named.is_joker:
        at = ends.get(named.card[0]) if named.card[1] == suit else None
        return None if at is None else Fit(Placed(named.card), at)
    meaning = named.meaning
    if not meaning:
        if len(ends) > 1:
            raise Refusal(Code.JOKER_POSITION_REQUIRED, [named.card])
        meaning = f"{next(iter(ends))}{suit}"
    if len(meaning) == 1 or meaning[1] != suit:
        raise Refusal(Code.JOKER_POSITION_INVALID, [_said(named)])
    at = ends.get(meaning[0])
    return None if at is None else Fit(Placed(f"{named.card}={meaning}"), at)


def run_ends(run: Sequence[Placed]) -> dict[str, int]:
    """Return the ranks that a run takes next and the index where each goes.

    An ace that fits at both ends goes low (section 2).

    >>> run_ends((Placed("5H1"), Placed("6H1")))
    {'4': 0, '7': 2}
    """
    low = first_place(run) - 1
    high = low + len(run) + 1
    ends: dict[str, int] = {}
    if low >= 1:
        ends[PLACES[low - 1]] = 0
    if high <= RUN_CARDS_MAX:
        ends.setdefault(PLACES[high - 1], len(run))
    return ends


def find_joker(meld: TableMeld, card: str, swap: Swap) -> int:
    """Return the index of the joker whose place the natural ``card`` may take (section 7).

    In a run a joker that stands for the very card, in a set any joker where the card has its rank.

    Raises:
        Refusal: ``joker_fixed``, ``no_such_joker``, ``not_the_represented_card``.
    """
    if meld.kind not in swap.swap_from:
        raise Refusal(Code.JOKER_FIXED, [seen(placed) for placed in meld.cards if placed[0] == "X"])
    if not count_jokers(meld.cards):
        raise Refusal(Code.NO_SUCH_JOKER)
    for index, placed in enumerate(meld.cards):
        if placed[0] == "X" and card[0] != "X" and card.startswith(stands_for(placed)):
            return index
    raise Refusal(Code.NOT_THE_REPRESENTED_CARD, [card])


def swapped(meld: TableMeld, joker_at: int, card: Card) -> Fit:
    """Return where the natural ``card`` lies once the joker at ``joker_at`` is gone."""
    rest = meld.cards[:joker_at] + meld.cards[joker_at + 1 :]
    return Fit(Placed(card), joker_at if meld.kind == "run" else set_place(rest, card))
