"""The whole hand as runs: the openings of a round in which to open is to go out (rules.md section 5).

Suit by suit: a suit's cards are covered by a number of runs with a number of jokers,
and the suits are then put together so that both numbers come out. Within a suit first
the runs' places are chosen, then which of them have the jokers (``opening_suit``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Final

from mersey.rules.cards import SUITS
from mersey.rules.opening_hand import (
    SUIT_CELLS,
    Layout,
    RunPlan,
    Terms,
    cells_of,
    jokers_in,
    jokers_needed,
    low_ace_first,
)
from mersey.rules.opening_suit import Runs, SuitCover

STEPS_MAX: Final = 5_000
"""Steps that a list of openings may take: some tens of milliseconds."""

Spent = tuple[int, int]
"""Runs and jokers that a suit, or some suits together, take."""


def cover_layout(packed: int, cards: int, terms: Terms) -> Layout | None:
    """Return an opening that lays all of a packed hand, or None where there is none."""
    if cards < terms.cards_min or jokers_needed(packed, terms) > jokers_in(packed):
        return None
    total = (terms.runs, jokers_in(packed))
    reached: dict[Spent, Runs] = {(0, 0): ()}
    *others, last = _suit_covers(packed, terms, count())
    for cover in others:
        ways: dict[Spent, Runs] = {}
        for runs in cover.covers(all_ways=False):
            ways.setdefault(_spent(runs), runs)
        reached = _joined(reached, ways, total)
    for runs in last.covers(all_ways=False):
        taken, jokers = _spent(runs)
        before = reached.get((total[0] - taken, total[1] - jokers))
        if before is not None:
            return _layout(before + runs)
    return None


def cover_layouts(packed: int, terms: Terms, limit: int) -> tuple[list[Layout], bool]:
    """Return up to ``limit`` openings that lay all of a packed hand, and whether there are more.

    No two look alike. Where the steps do not suffice to go through all, there are more.
    """
    steps = iter(range(STEPS_MAX))
    found: dict[Layout, None] = {}
    suits = _suit_covers(packed, terms, steps)
    for runs in _all_joined(suits, (terms.runs, jokers_in(packed))):
        found.setdefault(_layout(runs))
        if len(found) > limit:
            break
    more = len(found) > limit or next(steps, None) is None
    return list(found)[:limit], more


def _suit_covers(packed: int, terms: Terms, steps: Iterator[int]) -> list[SuitCover]:
    """Return the suits of a packed hand, the longest last, each with the runs that it can have at most."""
    counts = cells_of(packed)
    suits = [counts[suit * SUIT_CELLS : (suit + 1) * SUIT_CELLS] for suit in range(len(SUITS))]
    held = sum(map(any, suits))
    covers = [
        SuitCover(suit, cards, terms.runs - held + any(cards), jokers_in(packed), terms, steps)
        for suit, cards in enumerate(suits)
    ]
    return sorted(covers, key=lambda cover: sum(cover.held))


def _spent(runs: Runs) -> Spent:
    return len(runs), sum(plan.jokers.bit_count() for plan in runs)


def _joined(reached: dict[Spent, Runs], ways: dict[Spent, Runs], total: Spent) -> dict[Spent, Runs]:
    """Return what can be spent on the suits before and one more, within ``total``."""
    joined: dict[Spent, Runs] = {}
    for (runs_before, jokers_before), before in reached.items():
        for (runs_here, jokers_here), here in ways.items():
            spent = (runs_before + runs_here, jokers_before + jokers_here)
            if spent[0] <= total[0] and spent[1] <= total[1]:
                joined.setdefault(spent, before + here)
    return joined


def _all_joined(suits: Sequence[SuitCover], left: Spent) -> Iterator[Runs]:
    """Yield the covers of all ``suits`` that take exactly ``left``."""
    if not suits:
        if left == (0, 0):
            yield ()
        return
    for runs in suits[0].covers(all_ways=True):
        taken, jokers = _spent(runs)
        if taken <= left[0] and jokers <= left[1]:
            for rest in _all_joined(suits[1:], (left[0] - taken, left[1] - jokers)):
                yield runs + rest


def _layout(runs: Sequence[RunPlan]) -> Layout:
    return Layout((), tuple(sorted(map(low_ace_first, runs))))
