"""Scores: what hands cost, and who won (rules.md section 9)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mersey.rules.cards import Card
from mersey.rules.ruleset import Score


def hand_points(hand: Iterable[Card], score: Score) -> int:
    """Return the penalty points of the cards left in a hand, a number of at least 0."""
    return sum(score.values[card[0]] for card in hand)


def places(totals: Sequence[int]) -> tuple[int, ...]:
    """Return each seat's place: the fewest penalty points win, equal totals share a place.

    >>> places([120, 120, 150, 160])
    (1, 1, 3, 4)
    """
    return tuple(1 + sum(other < total for other in totals) for total in totals)
