"""Openings: the ways in which a hand can lay the round's contract (rules.md sections 5 and 7).

``may_open`` is a quick test that says "surely not", ``find_opening`` finds an opening
whenever one exists, ``openings`` gives the best few. How it is done: ``opening_hand``
turns a hand into numbers and back, ``opening_search`` looks for one opening,
``opening_cover`` for those of the whole hand, ``opening_list`` for many.

A contract without a meld, or one of the whole hand with sets, has no opening here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from mersey.rules.cards import JOKER, Card, Face
from mersey.rules.melds import Meld
from mersey.rules.opening_cover import cover_layout, cover_layouts
from mersey.rules.opening_hand import (
    Layout,
    Terms,
    jokers_in,
    jokers_needed,
    lowest_copies,
    name_melds,
    pack_hand,
    terms_of,
)
from mersey.rules.opening_list import Best, Walk
from mersey.rules.opening_search import find_layout
from mersey.rules.ruleset import Contract, Melds


class TableJoker(msgspec.Struct, frozen=True):
    """A joker on the table that a swap in the opening can free (section 7).

    ``faces`` are the natural cards that free it: one for a joker in a run, the four of
    its rank for one in a set. The caller leaves out jokers that the rules hold fixed.
    """

    meld: int
    joker: Card
    faces: tuple[Face, ...]


class Opening(msgspec.Struct, frozen=True):
    """A legal opening: its melds, sets before runs, and the swap in it, if any.

    ``swap`` is the natural card given and the number of the meld whose joker it frees;
    that joker is then in one of ``melds``.
    """

    melds: tuple[Meld, ...]
    swap: tuple[Card, int] | None


class _Hand(NamedTuple):
    """The cards that an opening may lay, once the card for the swap is given."""

    cards: tuple[Card, ...]
    packed: int
    given: Card | None
    freed: TableJoker | None


def may_open(
    hand: Sequence[Card], contract: Contract, melds: Melds, *, table_jokers: Sequence[TableJoker] = ()
) -> bool:
    """Return False where ``hand`` surely has no opening, in a few microseconds; True decides nothing."""
    terms = terms_of(contract, melds)
    if len(hand) < terms.cards_min:
        return False
    packed = pack_hand(hand)
    jokers = jokers_in(packed) + (1 if table_jokers and not terms.whole_hand else 0)
    return jokers_needed(packed, terms) <= jokers


def find_opening(
    hand: Sequence[Card], contract: Contract, melds: Melds, *, table_jokers: Sequence[TableJoker] = ()
) -> Opening | None:
    """Return an opening of ``hand``, or None where there is none.

    One without a swap is preferred, and one with few jokers. ``table_jokers`` are given
    where the rule set allows a swap in an opening; a whole-hand round knows none.
    """
    if not may_open(hand, contract, melds, table_jokers=table_jokers):
        return None
    terms = terms_of(contract, melds)
    for held in _hands(hand, terms, table_jokers):
        find = cover_layout if terms.whole_hand else find_layout
        layout = find(held.packed, len(held.cards), terms)
        if layout is not None:
            return _opening(held, layout)
    return None


def openings(
    hand: Sequence[Card],
    contract: Contract,
    melds: Melds,
    values: Mapping[str, int],
    *,
    limit: int,
    table_jokers: Sequence[TableJoker] = (),
) -> tuple[list[Opening], bool]:
    """Return up to ``limit`` openings that look different, and whether there are more.

    Best first: the hand that is left costs least, by ``values`` (points by rank, and of
    ``X``). Where a hand has so many openings that not all can be gone through, the order
    is that of those seen, and there are more. At least one is given where one exists.
    """
    if limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}")
    if not may_open(hand, contract, melds, table_jokers=table_jokers):
        return [], False
    terms = terms_of(contract, melds)
    if terms.whole_hand:
        return _whole_hand_openings(hand, terms, limit)
    best = Best(limit)
    hands = list(_hands(hand, terms, table_jokers))
    for number, held in enumerate(hands):
        if jokers_needed(held.packed, terms) <= jokers_in(held.packed):
            bonus = 0 if held.given is None else values[held.given[0]] - values[JOKER]
            walk = Walk(
                held.packed,
                len(held.cards),
                terms,
                values,
                best,
                bonus=bonus,
                need_joker=held.freed is not None,
                source=number,
            )
            walk.walk()
    found = [_opening(hands[source], layout) for _, _, layout, source in sorted(best.heap, reverse=True)]
    if not found and best.cut:
        opening = find_opening(hand, contract, melds, table_jokers=table_jokers)
        found = [opening] if opening else []
    return found, best.count > limit or (best.cut and bool(found))


def _whole_hand_openings(hand: Sequence[Card], terms: Terms, limit: int) -> tuple[list[Opening], bool]:
    held = _Hand(tuple(hand), pack_hand(hand), None, None)
    surely = cover_layout(held.packed, len(hand), terms)
    if surely is None:
        return [], False
    layouts, more = cover_layouts(held.packed, terms, limit)
    return [_opening(held, layout) for layout in layouts or [surely]], more


def _hands(hand: Sequence[Card], terms: Terms, table_jokers: Sequence[TableJoker]) -> Iterator[_Hand]:
    """Yield the hand as it is, then as it is after each swap that differs at the table."""
    yield _Hand(tuple(hand), pack_hand(hand), None, None)
    if terms.whole_hand:
        return
    copies = lowest_copies(hand) if table_jokers else {}
    seen = set()
    for freed in table_jokers:
        for face in freed.faces:
            if face in copies and (face, freed.meld) not in seen:
                seen.add((face, freed.meld))
                given = copies[face]
                rest = list(hand)
                rest.remove(given)
                yield _Hand((*rest, freed.joker), pack_hand((*rest, freed.joker)), given, freed)


def _opening(held: _Hand, layout: Layout) -> Opening:
    if held.given is None or held.freed is None:
        return Opening(name_melds(layout, held.cards), None)
    own = [card for card in held.cards if card != held.freed.joker]
    return Opening(name_melds(layout, own, held.freed.joker), (held.given, held.freed.meld))
