"""Cards: the names of physical cards and of faces (rules.md section 1).

A physical card *is* its name: rank, suit and copy (``7S1``), a joker ``X`` and its
number (``X2``). Two decks hold two different cards with one face, ``7S1`` and
``7S2``. The name is what the record, the wire and a person at the table use, so
there is nothing to encode at a border and nothing to get wrong there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NewType

Card = NewType("Card", str)
"""A physical card by its name: ``7S1``, ``TH2``, ``X3``."""

Face = NewType("Face", str)
"""What can be seen of a card without its copy: ``7S``, ``TH``; of each joker ``X``."""

RANKS: Final = "A23456789TJQK"
SUITS: Final = "SHDC"
JOKER: Final = Face("X")
DECKS_MAX: Final = 9
"""A pack has at most nine decks, so that a copy is one digit."""

FACES: Final = tuple(Face(rank + suit) for suit in SUITS for rank in RANKS)
"""The 52 faces in pack order: suits S H D C, ranks A to K."""

assert len(set(FACES)) == len(FACES) == 52

_JOKERS_FROM: Final = DECKS_MAX * len(FACES)


class _Places(dict[Card, int]):
    """The place of each card in pack order; jokers, of any number, are added when asked."""

    def __missing__(self, card: Card) -> int:
        place = self[card] = _JOKERS_FROM + int(card[1:]) - 1
        return place


_PLACES: Final = _Places(
    (Card(f"{face}{deck}"), (deck - 1) * len(FACES) + place)
    for deck in range(1, DECKS_MAX + 1)
    for place, face in enumerate(FACES)
)
_DECK_CARDS: Final = frozenset(_PLACES)
_place_of: Final = _PLACES.__getitem__


def is_joker(card: Card) -> bool:
    """Return whether ``card`` is a joker.

    >>> is_joker(Card("X2")), is_joker(Card("7S1"))
    (True, False)
    """
    return card[0] == "X"


def face_of(card: Card) -> Face:
    """Return what is seen of ``card`` at the table.

    >>> face_of(Card("7S2")), face_of(Card("X3"))
    ('7S', 'X')
    """
    return JOKER if card[0] == "X" else Face(card[:2])


def pack_place(card: Card) -> int:
    """Return the place of ``card`` in pack order: by deck, suit S H D C, rank A to K, jokers last.

    >>> pack_place(Card("AS1")), pack_place(Card("AS2")), pack_place(Card("X1"))
    (0, 52, 468)
    """
    return _place_of(card)


def in_pack_order(cards: Iterable[Card]) -> tuple[Card, ...]:
    """Return ``cards`` in pack order.

    >>> in_pack_order([Card("X1"), Card("2S1"), Card("AS2"), Card("AS1")])
    ('AS1', '2S1', 'AS2', 'X1')
    """
    return tuple(sorted(cards, key=_place_of))


def pack(decks: int, jokers: int) -> tuple[Card, ...]:
    """Return the whole pack in pack order (design section 5).

    >>> len(pack(2, 3)), pack(2, 3)[0], pack(2, 3)[-1]
    (107, 'AS1', 'X3')
    """
    cards = [Card(f"{face}{deck}") for deck in range(1, decks + 1) for face in FACES]
    return tuple(cards + [Card(f"X{number}") for number in range(1, jokers + 1)])


def is_card(text: str) -> bool:
    """Return whether ``text`` names a physical card, in the very form of the record.

    >>> is_card("7S1"), is_card("7S"), is_card("X1"), is_card("X01")
    (True, False, True, False)
    """
    if text in _DECK_CARDS:
        return True
    number = text[1:]
    return text[:1] == "X" and number.isascii() and number.isdigit() and number[0] != "0"
