"""Prospects: how near a hand is to the round's contract, and what each of its cards does for it.

A *plan* picks the contract's melds as a hand could make them: for a run a group of
held cards that fit one window of places, for a set a rank. What a plan lacks are its
*slots*. A slot costs the reciprocal of the cards that would fill it, so that a pair
(six cards make it a set) is nearer than a run of three with a gap. A joker fills the
dearest slot. The plans are weighed against each other, the cheap ones most, and a
card is worth the weight of the plans that need it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from heapq import nlargest, nsmallest
from itertools import combinations
from math import exp
from typing import Final, NamedTuple

from mersey.client.strategies.run_groups import RANKS_EACH, Group, best_groups, bit_at, bits_of, slot_cost
from mersey.rules.cards import FACES
from mersey.rules.ruleset import RUN_CARDS_MAX

CELLS: Final = {str(face): cell for cell, face in enumerate(FACES)}
"""A cell is a face's place in pack order: suit after suit, ranks A to K."""

_END_COST: Final = 1 / 12
"""The cost of a slot that any card at an end of three runs fills."""
_WARMTH: Final = 0.08
"""How much dearer a plan may be and still count a third as much."""
_SPARE: Final = 0.25
"""What a card of a set beyond the contract's size counts."""
_MARGIN: Final = 0.3
"""How much dearer than the cheapest runs those of a plan may be that is looked at."""
_JOKER_MARGIN: Final = 0.3
"""The same for each joker, which may make them the cheapest."""
_HOPELESS: Final = 99.0
_RANK_MASKS: Final = tuple(
    sum(1 << suit * RANKS_EACH + rank for suit in range(4)) for rank in range(RANKS_EACH)
)


Runs = tuple[Group, ...]


class Need(NamedTuple):
    """What is to be collected: the contract, and in a whole-hand round how many cards in all."""

    sets: int
    runs: int
    set_size: int
    run_size: int
    adjacent: bool
    whole: int = 0


class Prospect(NamedTuple):
    """How near a hand is: the cheapest plan's cost and open slots; by cell what its last copy is worth."""

    cost: float
    missing: int
    worth: Sequence[float]


class _Plan(NamedTuple):
    """The slots that a plan has, the cells whose last copy it needs, and those where it has one to spare."""

    slots: Sequence[float]
    needed: int
    spare: int


def count_cells(names: Iterable[str]) -> tuple[list[int], int]:
    """Return how many natural cards of each cell are named, and how many jokers.

    >>> cells, jokers = count_cells(["AS", "AS2", "X"])
    >>> cells[0], sum(cells), jokers
    (2, 2, 1)
    """
    cells = [0] * len(FACES)
    jokers = 0
    for name in names:
        if name[0] == "X":
            jokers += 1
        else:
            cells[CELLS[name[:2]]] += 1
    return cells, jokers


def prospect(cells: Sequence[int], jokers: int, unseen: Sequence[int], need: Need) -> Prospect:
    """Return the prospect of a hand with ``cells`` and ``jokers``; ``unseen`` counts the cards not seen."""
    hand = _Hand(cells, jokers, unseen, need)
    weights: dict[int, float] = {}
    spares: dict[int, float] = {}
    best_cost, best_missing, total = _HOPELESS, RUN_CARDS_MAX, 0.0
    for plan in hand.plans():
        cost = sum(plan.slots)
        if jokers:
            cost -= sum(nlargest(jokers, plan.slots))
        if cost < best_cost:
            best_cost, best_missing = cost, max(0, len(plan.slots) - jokers)
        weight = exp(-cost / _WARMTH)
        total += weight
        weights[plan.needed] = weights.get(plan.needed, 0.0) + weight
        spares[plan.spare] = spares.get(plan.spare, 0.0) + weight * _SPARE
    worth = [0.0] * len(FACES)
    for masks in (weights, spares):
        for mask, weight in masks.items():
            for cell in bits_of(mask):
                worth[cell] += weight / total
    return Prospect(best_cost, best_missing, worth)


class _Hand:
    """A hand while its plans are gone through."""

    def __init__(self, cells: Sequence[int], jokers: int, unseen: Sequence[int], need: Need) -> None:
        self.need = need
        self.held = _mask_of(cells, 1)
        self.doubled = _mask_of(cells, 2)
        self.tripled = _mask_of(cells, 3)
        self.cheapest = _HOPELESS
        self.margin = _MARGIN + _JOKER_MARGIN * jokers
        self.ranks = [sum(cells[rank::RANKS_EACH]) for rank in range(RANKS_EACH)]
        self.outs = [sum(unseen[rank::RANKS_EACH]) for rank in range(RANKS_EACH)]
        self.groups = best_groups(cells, unseen, need.run_size, need.runs)

    def plans(self) -> Iterator[_Plan]:
        """Yield the plans of the hand: each choice of its best groups with each choice of its best ranks."""
        for runs in self._choices_of_runs((), 0, 0.0):
            yield from self._plans_with(runs)

    def _choices_of_runs(self, chosen: Runs, first: int, cost: float) -> Iterator[Runs]:
        """Yield the runs of plans that are worth a look; the groups come cheapest first."""
        left = self.need.runs - len(chosen)
        if not left:
            self.cheapest = min(self.cheapest, cost)
            yield chosen
            return
        for at in range(first, len(self.groups)):
            group = self.groups[at]
            if cost + left * group.cost > self.cheapest + self.margin:
                return
            if all(self._fit_together(group, other) for other in chosen):
                yield from self._choices_of_runs((*chosen, group), at + 1, cost + group.cost)

    def _plans_with(self, runs: Runs) -> Iterator[_Plan]:
        slots = [slot for group in runs for slot in group.slots]
        once = twice = 0
        for group in runs:
            twice |= once & group.mask
            once |= group.mask
        needed = (once & ~self.doubled) | (twice & ~self.tripled)
        if self.need.whole:
            needed |= self._extend(runs, once, slots)
        if self.need.sets:
            yield from self._with_sets(slots, needed, (once, twice))
        else:
            yield _Plan(slots, needed, 0)

    def _with_sets(self, slots: list[float], needed: int, used: Sequence[int]) -> Iterator[_Plan]:
        ranks = self.ranks.copy()
        for mask in used:
            for cell in bits_of(mask):
                ranks[cell % RANKS_EACH] -= 1
        size = self.need.set_size
        ways = [_set_slots(size - count, outs) for count, outs in zip(ranks, self.outs, strict=True)]
        kept = self.need.sets + (1 if self.need.runs else 3)
        best = nsmallest(kept, range(RANKS_EACH), key=lambda rank: ways[rank][0])
        free = self.held & ~needed
        for chosen in combinations(best, self.need.sets):
            with_sets = slots.copy()
            takes = spare = 0
            for rank in chosen:
                with_sets += ways[rank][1]
                cards = _RANK_MASKS[rank] & free
                if ranks[rank] > size:
                    spare |= cards
                else:
                    takes |= cards
            yield _Plan(with_sets, needed | takes, spare)

    def _extend(self, runs: Runs, used: int, slots: list[float]) -> int:
        """Return the held cells that make the runs longer; what is still to come are slots at their ends."""
        lacking = self.need.whole - self.need.runs * self.need.run_size
        taken = used & ~self.doubled
        found = 0
        for group in runs:
            if group.starts:
                bars = self._barred(group, runs)
                start = group.starts[0]
                found |= self._reach(group.suit, range(start - 1, 0, -1), bars, taken | found)
                ahead = range(start + self.need.run_size, RUN_CARDS_MAX + 1)
                found |= self._reach(group.suit, ahead, bars, taken | found)
        slots += [_END_COST] * (lacking - found.bit_count())
        return found & ~self.doubled

    def _reach(self, suit: int, places: Iterable[int], bars: set[int], taken: int) -> int:
        found = 0
        for place in places:
            bit = bit_at(suit, place)
            if place in bars or not self.held & bit & ~taken:
                break
            found |= bit
        return found

    def _barred(self, group: Group, runs: Runs) -> set[int]:
        """Return the places that would make the group's run touch another of its suit."""
        if self.need.adjacent or len({other.suit for other in runs}) == len(runs):
            return set()
        others = [other.starts[0] for other in runs if other is not group and other.suit == group.suit]
        return {start - 1 for start in others} | {start + self.need.run_size for start in others}

    def _fit_together(self, first: Group, second: Group) -> bool:
        """Return whether two runs share no copy, and can lie so that they do not touch."""
        if first.suit != second.suit or not first.mask:
            return True
        return not first.mask & second.mask & ~self.doubled and self._apart(first, second)

    def _apart(self, first: Group, second: Group) -> bool:
        if self.need.adjacent:
            return True
        size = self.need.run_size
        return any(abs(one - other) != size for one in first.starts for other in second.starts)


def _mask_of(cells: Sequence[int], least: int) -> int:
    return sum(1 << cell for cell, count in enumerate(cells) if count >= least)


@lru_cache(maxsize=1024)
def _set_slots(missing: int, outs: int) -> tuple[float, tuple[float, ...]]:
    """Return the cost and the slots of a set that lacks ``missing`` cards, of which ``outs`` are not seen."""
    slots = tuple(slot_cost(max(0, outs - at)) for at in range(missing))
    return sum(slots), slots
