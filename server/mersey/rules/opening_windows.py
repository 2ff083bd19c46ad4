"""Windows: every stretch of places that a run of an opening can take."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from mersey.rules.cards import SUITS
from mersey.rules.opening_hand import SUIT_CELLS, real_window
from mersey.rules.ruleset import RUN_CARDS_MAX


class Window(NamedTuple):
    """Places ``start`` to ``start + length - 1`` of a suit."""

    suit: int
    start: int
    length: int
    cells: tuple[int, ...]
    """The cells of the faces at its places, low to high."""
    bit: int
    """A bit of its own among the windows of one table."""
    barred: int
    """The bits of the windows that it may not share an opening with, as they touch (section 5)."""


@lru_cache(maxsize=64)
def windows(shortest: int, longest: int, adjacent_runs: bool) -> tuple[Window, ...]:
    """Return the windows of ``shortest`` to ``longest`` places, shorter ones first."""
    shapes = [
        (suit, start, length)
        for length in range(shortest, longest + 1)
        for suit in range(len(SUITS))
        for start in range(1, RUN_CARDS_MAX + 2 - length)
        if real_window(start, length)
    ]
    made = []
    for number, (suit, start, length) in enumerate(shapes):
        cells = tuple(
            suit * SUIT_CELLS + place % SUIT_CELLS for place in range(start - 1, start - 1 + length)
        )
        barred = 0
        for other, (its_suit, its_start, its_length) in enumerate(shapes):
            if its_suit == suit and (its_start == start + length or start == its_start + its_length):
                barred |= 1 << other
        made.append(Window(suit, start, length, cells, 1 << number, 0 if adjacent_runs else barred))
    return tuple(made)


def joker_masks(places: list[int], forced: int, most: int) -> list[int]:
    """Return the sets of jokers that hold ``forced`` and any of ``places``, ``most`` in all, fewest first.

    >>> joker_masks([0, 2], 0b010, 2)
    [2, 3, 6]
    """
    masks = [forced] if forced.bit_count() <= most else []
    for mask in masks:
        if mask.bit_count() < most:
            above = (mask & ~forced).bit_length()
            masks.extend(mask | 1 << place for place in places if place >= above)
    return masks
