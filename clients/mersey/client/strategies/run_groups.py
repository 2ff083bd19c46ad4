"""Run groups: the held cards of a suit that could become one run, and what each would lack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from mersey.rules.cards import RANKS, SUITS
from mersey.rules.ruleset import RUN_CARDS_MAX

RANKS_EACH: Final = len(RANKS)
"""Cells of a suit: ``suit * RANKS_EACH + rank``, the ace first."""

GROUPS_KEPT: Final = 12
"""How many groups are combined into plans, the cheapest ones."""

_JOKER_OUTS: Final = 1.5
"""What the unseen jokers add to the cards that fill any slot."""
_FIRST_OUTS: Final = 50
"""Cards that would begin a run of which nothing is held."""


class Group(NamedTuple):
    """Held cards of one suit that fit a run of the size asked for, and the slots that it would lack.

    ``mask`` has the bit of each cell that is held, ``starts`` the places where such a run can start.
    """

    cost: float
    mask: int
    suit: int
    starts: tuple[int, ...]
    slots: tuple[float, ...]


def slot_cost(outs: float) -> float:
    """Return what a slot costs that ``outs`` unseen natural cards fill."""
    return 1 / (outs + _JOKER_OUTS)


def bit_at(suit: int, place: int) -> int:
    """Return the bit of a place of a suit; places are 1 (low ace) to 14 (high ace).

    >>> bit_at(0, 1) == bit_at(0, 14) == 1
    True
    """
    return 1 << suit * RANKS_EACH + (place - 1) % RANKS_EACH


def bits_of(mask: int) -> Iterator[int]:
    """Yield the cells in a mask.

    >>> list(bits_of(0b1010))
    [1, 3]
    """
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def best_groups(cells: Sequence[int], unseen: Sequence[int], size: int, runs: int) -> list[Group]:
    """Return the cheapest groups for ``runs`` runs of ``size``, and those of which nothing is held."""
    if not runs:
        return []
    groups: list[Group] = []
    for suit in range(len(SUITS)):
        part = slice(suit * RANKS_EACH, (suit + 1) * RANKS_EACH)
        groups += _suit_groups(suit, tuple(cells[part]), tuple(unseen[part]), size)
    groups.sort()
    return groups[:GROUPS_KEPT] + [_from_nothing(size)] * runs


@lru_cache(maxsize=64)
def _from_nothing(size: int) -> Group:
    slots = (*_slots(size - 1, 12), slot_cost(_FIRST_OUTS))
    return Group(sum(slots), 0, -1, (), slots)


def _slots(missing: int, outs: int) -> tuple[float, ...]:
    """Return the slots of a run that lacks ``missing`` cards; ``outs`` unseen ones fill the first."""
    return tuple(slot_cost(outs * 0.5**at) for at in range(missing))


@lru_cache(maxsize=1 << 15)
def _suit_groups(suit: int, held: tuple[int, ...], unseen: tuple[int, ...], size: int) -> tuple[Group, ...]:
    """Return the group of each different set of held cards in a window of ``size`` places."""
    by_mask: dict[int, list[int]] = {}
    for start in range(1, RUN_CARDS_MAX + 2 - size):
        window = range(start, start + size)
        mask = sum({bit_at(suit, place) for place in window if held[(place - 1) % RANKS_EACH]})
        if mask:
            by_mask.setdefault(mask, []).append(start)
    groups = []
    for mask, starts in by_mask.items():
        lacking = {
            (place - 1) % RANKS_EACH
            for start in starts
            for place in range(start, start + size)
            if not mask & bit_at(suit, place)
        }
        slots = _slots(size - mask.bit_count(), sum(unseen[rank] for rank in lacking))
        groups.append(Group(sum(slots), mask, suit, tuple(starts), slots))
    return tuple(groups)
