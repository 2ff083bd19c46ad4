"""The strategy ``greedy``: collects for the contract, opens at once, then sheds what it can.

Before it has opened, it looks at the prospects of its hand: it takes or buys a discard
that brings the contract clearly nearer, and discards what its best plans need least.
"""

from __future__ import annotations

from mersey.client.strategies import shedding
from mersey.client.strategies.collecting import Collecting
from mersey.client.strategies.turn import Draw, Turn
from mersey.rules.actions import Action, Buy, ChooseStock, Cut, Pass, Ready, TakeDiscard


class GreedyStrategy:
    """Play to open soon and to go out soon."""

    name = "greedy"

    def choose(self, turn: Turn, draw: Draw) -> Action:
        """Return the action that brings the seat nearest to going out, as far as it can see."""
        match turn.view.step:
            case "cut":
                return _cut(turn)
            case "choose":
                return TakeDiscard() if _takes(turn) else ChooseStock()
            case "offer":
                return _answer(turn)
            case "play":
                return _play(turn)
            case _:
                return Ready()


def _cut(turn: Turn) -> Action:
    """Aim at the packet that brings the bonus: what the deal needs, and the upcard (section 3)."""
    contract = turn.view.contract
    assert contract is not None, "a round that is cut for has its contract"
    return Cut(len(turn.view.seats) * contract.deal + 1)


def _takes(turn: Turn) -> bool:
    top = turn.view.discard_top
    if top is None:
        return False
    if _opened(turn):
        return shedding.takes(turn, top)
    return Collecting(turn).takes(top)


def _answer(turn: Turn) -> Action:
    if _opened(turn):
        return Pass(standing=True)
    offer = turn.view.offer
    assert offer is not None, "who answers has an offer"
    return Buy() if Collecting(turn).buys(offer.card) else Pass()


def _play(turn: Turn) -> Action:
    openings = turn.choices.actions("open_contract")
    if openings:
        return shedding.best_opening(turn, openings)
    if _opened(turn):
        return shedding.play(turn)
    return Collecting(turn).discard()


def _opened(turn: Turn) -> bool:
    you = turn.view.seats[turn.view.you or 0]
    return you is not None and you.opened != "no"
