"""The search for one opening in a round that ends with a discard.

Runs are tried window by window, those with the fewest missing places first; what
they leave is dealt out to the sets. Two facts keep it short:

- A run that uses a joker although its card is there, while that card lies elsewhere
  in the opening, can exchange the two. So jokers go to missing places only, and the
  sets need as few jokers as the ranks allow. A limit on jokers or naturals in a meld
  breaks the exchange, and only then jokers are tried in other places too.
- A longer meld can be cut down to the smallest size, but for two cases: the naturals
  that it must hold may lie too far apart, and of three runs of one suit a short one
  may touch where the long one overlaps. Only then longer runs are tried too.
"""

from __future__ import annotations

from collections.abc import Iterator

from mersey.rules.cards import RANKS, SUITS
from mersey.rules.opening_hand import (
    SUIT_CELLS,
    Layout,
    RunPlan,
    SetPlan,
    Terms,
    cells_of,
    jokers_in,
    jokers_needed,
    ranks_of,
    set_jokers,
)
from mersey.rules.opening_windows import Window, joker_masks, windows


def find_layout(packed: int, cards: int, terms: Terms) -> Layout | None:
    """Return an opening of a packed hand of ``cards`` cards, or None where there is none."""
    jokers = jokers_in(packed)
    if cards < terms.cards_min or jokers_needed(packed, terms) > jokers:
        return None
    limited = _limits_bind(terms, jokers)
    longest = _longest_needed(terms, jokers)
    search = _Search(packed, cards, jokers, terms)
    found = search.find(terms.run_min, optional=False)
    if found is None and (limited or longest > terms.run_min):
        found = search.find(longest, optional=limited)
    return found


def _limits_bind(terms: Terms, jokers: int) -> bool:
    """Return whether a limit on a meld's jokers can stop an exchange of a joker and a card."""
    set_bound = terms.sets > 0 and terms.joker_cap(terms.set_min) < min(jokers, terms.set_min)
    run_bound = terms.runs > 0 and terms.joker_cap(terms.run_min) < min(jokers, terms.run_min)
    return set_bound or run_bound


def _longest_needed(terms: Terms, jokers: int) -> int:
    """Return the longest run that must be looked at to be sure."""
    apart = terms.min_naturals > 0 and jokers > 0
    touching = terms.runs > 2 and not terms.adjacent_runs
    return terms.run_max if apart or touching else terms.run_min


class _Search:
    """One hand; ``counts`` and ``ranks`` are what the runs laid so far leave of it."""

    __slots__ = ("cands", "chosen", "counts", "jokers", "optional", "ranks", "sets_need", "spare", "terms")

    def __init__(self, packed: int, cards: int, jokers: int, terms: Terms) -> None:
        self.terms = terms
        self.jokers = jokers
        self.spare = cards - terms.cards_min
        self.counts = cells_of(packed)
        self.ranks = ranks_of(packed)
        self.sets_need = set_jokers(bytearray(self.ranks), terms.sets, terms.set_min)
        self.chosen: list[RunPlan] = []
        self.cands: list[tuple[int, Window]] = []
        self.optional = False

    def find(self, longest: int, *, optional: bool) -> Layout | None:
        """Return an opening with runs of up to ``longest`` cards, ``optional``: with jokers anywhere."""
        terms = self.terms
        self.optional = optional
        self.cands = []
        for window in windows(terms.run_min, longest, terms.adjacent_runs) if terms.runs else ():
            missing = sum(not self.counts[cell] for cell in window.cells)
            if missing <= min(self.jokers, terms.joker_cap(window.length)):
                self.cands.append((missing, window))
        self.cands.sort(key=lambda cand: cand[0])
        sets = self._runs(0, terms.runs, self.jokers, self.spare, 0)
        return None if sets is None else Layout(sets, tuple(self.chosen))

    def _runs(
        self, first: int, left: int, jokers: int, spare: int, barred: int
    ) -> tuple[SetPlan, ...] | None:
        """Lay ``left`` more runs, from candidate ``first`` on; return the sets once all is laid."""
        if not left:
            return self._sets(jokers)
        if self.optional and self._sets(jokers) is None:
            return None
        for number in range(first, len(self.cands)):
            missing, window = self.cands[number]
            if missing * left + self.sets_need > jokers:
                return None
            longer = window.length - self.terms.run_min
            if barred & window.bit or longer > spare:
                continue
            for mask in self._masks(window, left, jokers):
                self._take(window, mask)
                self.chosen.append(RunPlan(window.suit, window.start, window.length, mask))
                budget = jokers - mask.bit_count()
                sets = self._runs(number, left - 1, budget, spare - longer, barred | window.barred)
                if sets is not None:
                    return sets
                self.chosen.pop()
                self._give_back(window, mask)
        return None

    def _masks(self, window: Window, left: int, jokers: int) -> list[int]:
        """Return where the jokers of a run in ``window`` may be: at missing places, and elsewhere if allowed.

        Elsewhere is of use only where a set or another run can want the card; a run wants
        no face but the ace twice.
        """
        counts = self.counts
        most = min(jokers, self.terms.joker_cap(window.length))
        forced = 0
        for step, cell in enumerate(window.cells):
            if not counts[cell]:
                forced |= 1 << step
        if window.length > SUIT_CELLS and counts[window.cells[0]] == 1:
            forced |= 1 << SUIT_CELLS  # one ace can't be at both ends
        if not self.optional:
            return [forced] if forced.bit_count() <= most else []
        free = [
            step
            for step, cell in enumerate(window.cells)
            if not forced >> step & 1
            and (self.terms.sets or counts[cell] < (left if cell % SUIT_CELLS else 2 * left))
        ]
        return joker_masks(free, forced, most)

    def _take(self, window: Window, mask: int) -> None:
        for step, cell in enumerate(window.cells):
            if not mask >> step & 1:
                self.counts[cell] -= 1
                self.ranks[cell % SUIT_CELLS] -= 1

    def _give_back(self, window: Window, mask: int) -> None:
        for step, cell in enumerate(window.cells):
            if not mask >> step & 1:
                self.counts[cell] += 1
                self.ranks[cell % SUIT_CELLS] += 1

    def _sets(self, jokers: int) -> tuple[SetPlan, ...] | None:
        """Return the contract's sets from what is left, or None where ``jokers`` are too few."""
        terms = self.terms
        made = [0] * SUIT_CELLS
        for _ in range(terms.sets):
            price, rank = min(self._next_set(rank, made[rank]) for rank in range(SUIT_CELLS))
            jokers -= price
            if jokers < 0:
                return None
            made[rank] += 1
        return tuple(plan for rank, sets in enumerate(made) if sets for plan in self._deal_sets(rank, sets))

    def _next_set(self, rank: int, made: int) -> tuple[int, int]:
        """Return how many more jokers another set of ``rank`` needs; too many where none can be."""
        terms = self.terms
        held, size = self.ranks[rank], terms.set_min
        fewest = size - terms.joker_cap(size)
        if (made + 1) * fewest > held:
            return self.jokers + 1, rank
        return max(0, (made + 1) * size - held) - max(0, made * size - held), rank

    def _deal_sets(self, rank: int, sets: int) -> Iterator[SetPlan]:
        """Yield ``sets`` sets of one rank, their jokers spread evenly so that no limit is passed."""
        size = self.terms.set_min
        jokers = max(0, sets * size - self.ranks[rank])
        left = [self.counts[suit * SUIT_CELLS + rank] for suit in range(len(SUITS))]
        for number in range(sets):
            share = jokers // sets + (number < jokers % sets)
            naturals = [0, 0, 0, 0]
            for suit in range(len(SUITS)):
                naturals[suit] = min(left[suit], size - share - sum(naturals))
                left[suit] -= naturals[suit]
            spades, hearts, diamonds, clubs = naturals
            yield SetPlan(rank, (spades, hearts, diamonds, clubs), share)


assert len(RANKS) == SUIT_CELLS
