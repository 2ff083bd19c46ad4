"""Many openings of one hand, best first, for a round that ends with a discard.

Every run and every set that the hand could lay is an *option*; a depth-first walk
joins them to openings, dear options first, and leaves a branch once no opening in it
can beat the best ones kept. The walk counts its steps: on a hand with millions of
openings it ends with what it has, and says that there are more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import heappush, heappushpop
from itertools import islice, product
from typing import Final, NamedTuple

from mersey.rules.cards import JOKER, RANKS, SUITS
from mersey.rules.opening_hand import SUIT_CELLS, Layout, RunPlan, SetPlan, Terms, cells_of, jokers_in
from mersey.rules.opening_windows import Window, joker_masks, windows
from mersey.rules.ruleset import RUN_CARDS_MAX

STEPS_MAX: Final = 20_000
"""Steps of one walk: some tens of milliseconds."""

OPTIONS_MAX: Final = 3_000
"""Runs, and sets, that are looked at."""


class Option(NamedTuple):
    """A meld that could be laid: what it takes from the hand, and what it is worth there."""

    value: int
    jokers: int
    size: int
    cells: tuple[int, ...]
    bit: int
    barred: int
    plan: RunPlan | SetPlan


class Best:
    """The best openings found, whatever hand they come from, and how many there were."""

    __slots__ = ("count", "cut", "heap", "limit", "steps")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.count = 0
        self.cut = False
        self.steps = STEPS_MAX
        self.heap: list[tuple[int, int, Layout, int]] = []

    def add(self, value: int, layout: Layout, source: int) -> None:
        """Take in an opening worth ``value``; of equal ones the earlier is better."""
        self.count += 1
        entry = (value, -self.count, layout, source)
        if len(self.heap) < self.limit:
            heappush(self.heap, entry)
        else:
            heappushpop(self.heap, entry)

    def hopeless(self, value: int) -> bool:
        """Return whether openings worth ``value`` at most need not be looked at."""
        return self.count > self.limit and value <= self.heap[0][0]

    def step(self) -> bool:
        """Count a step; return whether it may be taken."""
        self.steps -= 1
        if self.steps < 0:
            self.cut = True
        return self.steps >= 0


class Walk:
    """The walk through the openings of one packed hand of ``cards`` cards.

    ``bonus`` is added to the worth of each opening; with ``need_joker`` only openings
    that lay a joker count; ``source`` is handed back with each.
    """

    def __init__(
        self,
        packed: int,
        cards: int,
        terms: Terms,
        values: Mapping[str, int],
        best: Best,
        *,
        bonus: int = 0,
        need_joker: bool = False,
        source: int = 0,
    ) -> None:
        self.terms = terms
        self.counts = cells_of(packed)
        self.jokers = jokers_in(packed)
        self.spare = cards - terms.cards_min
        self.values = [values[rank] for rank in RANKS]
        self.joker_value = values[JOKER]
        self.best = best
        self.bonus = bonus
        self.most_jokers = self.jokers - 1 if need_joker else self.jokers
        self.source = source
        self.chosen: list[Option] = []
        self.stages = [
            (terms.runs, terms.run_min, self._best_first(self._run_options()) if terms.runs else []),
            (terms.sets, terms.set_min, self._best_first(self._set_options()) if terms.sets else []),
        ]

    def walk(self) -> None:
        """Add every opening to ``best``, or as many as its steps allow."""
        if all(options or not count for count, _, options in self.stages):
            self._stage(0, self.jokers, self.spare, self.bonus)

    def _best_first(self, options: Iterator[Option]) -> list[Option]:
        found = list(islice(options, OPTIONS_MAX + 1))
        if len(found) > OPTIONS_MAX:
            self.best.cut = True
            found.pop()
        return sorted(found, key=lambda option: -option.value)

    def _stage(self, stage: int, jokers: int, spare: int, value: int) -> None:
        """Lay the melds of ``stage`` and those after it; note the opening once all are laid."""
        if stage == len(self.stages):
            if jokers <= self.most_jokers:
                self.best.add(value, self._layout(), self.source)
            return
        self._lay(stage, 0, self.stages[stage][0], jokers, spare, value, 0)

    def _lay(
        self, stage: int, first: int, left: int, jokers: int, spare: int, value: int, barred: int
    ) -> None:
        if not left:
            self._stage(stage + 1, jokers, spare, value)
            return
        _, least, options = self.stages[stage]
        later = sum(count * found[0].value for count, _, found in self.stages[stage + 1 :] if count)
        for number in range(first, len(options)):
            option = options[number]
            if not self.best.step() or self.best.hopeless(value + left * option.value + later):
                return
            longer = option.size - least
            if (
                option.jokers > jokers
                or longer > spare
                or barred & option.bit
                or not self._take(option.cells)
            ):
                continue
            self.chosen.append(option)
            self._lay(
                stage,
                number,
                left - 1,
                jokers - option.jokers,
                spare - longer,
                value + option.value,
                barred | option.barred,
            )
            self.chosen.pop()
            for cell in option.cells:
                self.counts[cell] += 1

    def _take(self, cells: Sequence[int]) -> bool:
        """Take ``cells`` from the hand; where one is missing take none and return False."""
        for taken, cell in enumerate(cells):
            if not self.counts[cell]:
                for back in cells[:taken]:
                    self.counts[back] += 1
                return False
            self.counts[cell] -= 1
        return True

    def _layout(self) -> Layout:
        plans = [option.plan for option in self.chosen]
        return Layout(
            tuple(plan for plan in plans if isinstance(plan, SetPlan)),
            tuple(plan for plan in plans if isinstance(plan, RunPlan)),
        )

    def _run_options(self) -> Iterator[Option]:
        """Yield every run that the whole hand could lay, those with few needless jokers first."""
        terms = self.terms
        longest = min(terms.run_max, terms.run_min + self.spare)
        table = windows(terms.run_min, longest, terms.adjacent_runs)
        for needless in range(self.jokers + 1):
            for window in table:
                for mask in self._masks(window, needless):
                    yield self._run_option(window, mask)

    def _masks(self, window: Window, needless: int) -> list[int]:
        """Return where the jokers of a run can be, with exactly ``needless`` where a card is held."""
        forced = sum(1 << step for step, cell in enumerate(window.cells) if not self.counts[cell])
        most = forced.bit_count() + needless
        if most > min(self.jokers, self.terms.joker_cap(window.length)):
            return []
        free = [step for step in range(window.length) if not forced >> step & 1]
        return [
            mask
            for mask in joker_masks(free, forced, most)
            if mask.bit_count() == most and not _high_ace_first(mask, window.length)
        ]

    def _run_option(self, window: Window, mask: int) -> Option:
        cells = tuple(cell for step, cell in enumerate(window.cells) if not mask >> step & 1)
        jokers = mask.bit_count()
        value = sum(self.values[cell % SUIT_CELLS] for cell in cells) + jokers * self.joker_value
        plan = RunPlan(window.suit, window.start, window.length, mask)
        return Option(value, jokers, window.length, cells, window.bit, window.barred, plan)

    def _set_options(self) -> Iterator[Option]:
        """Yield every set that the whole hand could lay, those with few jokers first."""
        terms = self.terms
        longest = min(terms.set_max, terms.set_min + self.spare)
        for jokers in range(self.jokers + 1):
            for rank in range(SUIT_CELLS):
                cells = [suit * SUIT_CELLS + rank for suit in range(len(SUITS))]
                for spades, hearts, diamonds, clubs in product(*(range(self.counts[c] + 1) for c in cells)):
                    naturals = (spades, hearts, diamonds, clubs)
                    size = sum(naturals) + jokers
                    if terms.set_min <= size <= longest and jokers <= terms.joker_cap(size):
                        taken = tuple(c for c, n in zip(cells, naturals, strict=True) for _ in range(n))
                        value = (size - jokers) * self.values[rank] + jokers * self.joker_value
                        yield Option(value, jokers, size, taken, 0, 0, SetPlan(rank, naturals, jokers))


def _high_ace_first(mask: int, length: int) -> bool:
    """Return whether a run of 14 has its natural ace at the high end only: the low end has it (section 2)."""
    return length == RUN_CARDS_MAX and bool(mask & 1) and not mask >> RUN_CARDS_MAX - 1
