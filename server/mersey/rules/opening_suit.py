"""One suit covered by runs: every card in a run, every other place of a run a joker.

Runs are chosen by their start. The lowest card that is not covered must be in the
next run, as all later ones start no lower; and a face held as often as there are runs
left is in all of them. That leaves few ways even for a suit of 22 cards.

Where any one way will do, the ends of the runs go up with their starts: of two runs,
one inside the other, the ends can be exchanged. Both stay long enough, they cover the
same places, they touch the same runs, and neither has to hold more jokers or fewer
naturals than before.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from mersey.rules.opening_hand import RunPlan, Terms, real_window
from mersey.rules.ruleset import RUN_CARDS_MAX

Runs = tuple[RunPlan, ...]
Span = tuple[int, int]
"""First and last place of a run."""

_BEYOND = RUN_CARDS_MAX + 1


class SuitCover:
    """A suit to be covered: how many of each rank are ``held``, with how many runs and jokers at most.

    Each stretch of the search takes one of ``steps``; it ends when there are no more.
    """

    __slots__ = ("all_ways", "at", "held", "jokers", "most", "spans", "steps", "suit", "terms")

    def __init__(
        self, suit: int, held: bytearray, most: int, jokers: int, terms: Terms, steps: Iterator[int]
    ) -> None:
        self.suit = suit
        self.held = held
        self.most = most
        self.jokers = jokers
        self.terms = terms
        self.steps = steps
        self.all_ways = False
        self.at: list[int] = []
        self.spans: list[Span] = []

    def covers(self, *, all_ways: bool) -> Iterator[Runs]:
        """Yield ways to cover the suit: all, some of them alike, or one for each choice of places."""
        self.all_ways = all_ways
        for low_aces in range(self.held[0] + 1):
            cards = [0, low_aces, *self.held[1:], self.held[0] - low_aces]
            self.at = list(cards)
            for spans in self._cover((1, 0), self.most, self.jokers, sum(self.held)):
                for runs in self._deal_jokers(spans, cards):
                    yield runs
                    if not all_ways:
                        break

    def _cover(self, before: Span, left: int, jokers: int, cards: int) -> Iterator[list[Span]]:
        """Choose up to ``left`` more runs, none before ``before``, until none of ``cards`` is left."""
        if next(self.steps, None) is None:
            return
        if not cards:
            yield self.spans
        if not left or cards + jokers < self.terms.run_min:
            return
        first = next((place for place in range(1, _BEYOND) if self.at[place]), _BEYOND)
        last = self._last_needed(left)
        # A run that starts lower than its jokers reach is one of jokers alone.
        lowest = before[0] if jokers >= self.terms.run_min else max(before[0], first - jokers)
        for start in range(lowest, min(first, RUN_CARDS_MAX) + 1):
            if self._may_start(start):
                least = max(start + self.terms.run_min - 1, last)
                if not self.all_ways or start == before[0]:
                    least = max(least, before[1])
                yield from self._ends(start, least, left, jokers, cards)

    def _last_needed(self, left: int) -> int:
        """Return the highest place that the next of ``left`` runs must reach, beyond all where none can."""
        most = max(self.at)
        if most < left:
            return 0
        return RUN_CARDS_MAX + 1 - self.at[::-1].index(most) - 1 if most == left else _BEYOND

    def _may_start(self, start: int) -> bool:
        """Return whether no run that is chosen ends right before ``start``."""
        return self.terms.adjacent_runs or all(end + 1 != start for _, end in self.spans)

    def _ends(self, start: int, least: int, left: int, jokers: int, cards: int) -> Iterator[list[Span]]:
        """Choose a run from ``start`` to each place from ``least`` on that the jokers reach, and go on."""
        covered = []
        for place in range(start, _BEYOND):
            if self.at[place]:
                self.at[place] -= 1
                covered.append(place)
            elif jokers:
                jokers -= 1
            else:
                break
            if place >= least and real_window(start, place - start + 1):
                self.spans.append((start, place))
                yield from self._cover((start, place), left - 1, jokers, cards - len(covered))
                self.spans.pop()
        for place in covered:
            self.at[place] += 1

    def _deal_jokers(self, spans: list[Span], cards: list[int]) -> Iterator[Runs]:
        """Yield the ways in which ``spans`` share the ``cards`` at each place, jokers in the other places."""
        short = []
        for place in range(1, _BEYOND):
            over = [number for number, (start, end) in enumerate(spans) if start <= place <= end]
            if len(over) > cards[place]:
                short.append((place, over, len(over) - cards[place]))
        for masks in self._masks(spans, short, [0] * len(spans)):
            yield tuple(
                RunPlan(self.suit, start, end - start + 1, mask)
                for (start, end), mask in zip(spans, masks, strict=True)
            )

    def _masks(
        self, spans: list[Span], short: list[tuple[int, list[int], int]], masks: list[int]
    ) -> Iterator[list[int]]:
        """Yield the jokers of each run; at each place of ``short`` some of the runs over it need one."""
        if not short:
            if all(self._within_limits(span, mask) for span, mask in zip(spans, masks, strict=True)):
                yield masks
            return
        place, over, jokers = short[0]
        for chosen in combinations(over, jokers):
            dealt = list(masks)
            for number in chosen:
                dealt[number] |= 1 << place - spans[number][0]
            yield from self._masks(spans, short[1:], dealt)

    def _within_limits(self, span: Span, mask: int) -> bool:
        start, end = span
        return mask.bit_count() <= self.terms.joker_cap(end - start + 1)
