"""Contracts: what an opening must be as a whole (rules.md sections 4 and 5)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from mersey.rules.melds import Meld, check_joker_limit, first_place, stands_for
from mersey.rules.refusals import Code, Refusal
from mersey.rules.ruleset import Contract, Melds


def check_size(meld: Meld, contract: Contract, melds: Melds) -> None:
    """Raise ``wrong_size`` unless ``meld`` has a size that an opening may lay (section 5).

    In a round of the whole hand a run may be longer than ``run_size`` whatever ``open_size`` says.
    """
    size = melds.set_size if meld.kind == "set" else melds.run_size
    longer = melds.open_size == "at_least" or (contract.whole_hand and meld.kind == "run")
    if len(meld.cards) < size or (len(meld.cards) > size and not longer):
        raise Refusal(Code.WRONG_SIZE, meld.cards)


def check_opening_meld(meld: Meld, contract: Contract, melds: Melds) -> None:
    """Raise ``wrong_size`` or ``joker_limit`` unless ``meld`` may be part of an opening."""
    check_size(meld, contract, melds)
    check_joker_limit(meld.cards, melds)


def check_contract(laid: Sequence[Meld], contract: Contract, melds: Melds) -> None:
    """Raise unless ``laid`` is exactly the round's contract (section 5).

    Raises:
        Refusal: ``contract_mismatch``, then ``runs_adjacent``.
    """
    runs = [meld for meld in laid if meld.kind == "run"]
    if (len(laid) - len(runs), len(runs)) != (contract.sets, contract.runs):
        raise Refusal(Code.CONTRACT_MISMATCH)
    if melds.adjacent_runs:
        return
    for first, second in permutations(runs, 2):
        if touches(first, second):
            raise Refusal(Code.RUNS_ADJACENT, (*first.cards, *second.cards))


def touches(first: Meld, second: Meld) -> bool:
    """Return whether ``second`` starts right after ``first`` ends, in one suit (section 5)."""
    same_suit = stands_for(first.cards[0])[1] == stands_for(second.cards[0])[1]
    return same_suit and first_place(first.cards) + len(first.cards) == first_place(second.cards)
