"""Melds: sets and runs, how named cards become one, and how one grows (rules.md sections 1, 2, 5 and 7).

A card in a meld is written as the notation writes it: a natural card by its name
(``7S1``), a joker with what it stands for (``X1=5H`` in a run, ``X1=7`` in a set).
A meld is stored low to high: a run by its places, a set by suit S H D C and copy,
then its jokers.

Places of a run are 1 (low ace) to 14 (high ace).
"""

from __future__ import annotations

from typing import Final, NewType

import msgspec

from mersey.rules.cards import RANKS, Card, Face
from mersey.rules.ruleset import MeldKind

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
