"""Collecting: what a seat that has not opened takes, buys and discards."""

from __future__ import annotations

from functools import cached_property
from typing import Final

from mersey.client.strategies.prospects import CELLS, Need, Prospect, count_cells, prospect
from mersey.client.strategies.shedding import fits_the_table
from mersey.client.strategies.turn import Turn
from mersey.rules.actions import Action, Discard
from mersey.rules.melds import Named

TAKE_GAIN: Final = 0.05
"""How much nearer a discard must bring the contract to be taken: more than a card unseen does on average."""
BUY_GAIN: Final = 0.1
"""The same for a buy, which brings a penalty card and two more cards to pay for."""
HAND_MAX: Final = 18
"""With so many cards nothing is bought any more."""


class Collecting:
    """A hand that has yet to open, its prospects, and what follows from them."""

    def __init__(self, turn: Turn) -> None:
        view = turn.view
        contract = view.contract
        assert contract is not None, "a running round has its contract"
        self.turn = turn
        self.hand = view.hand or ()
        self.whole = contract.whole_hand
        melds = turn.rules.melds
        self.need = Need(contract.sets, contract.runs, melds.set_size, melds.run_size, melds.adjacent_runs)
        self.cells, self.jokers = count_cells(self.hand)
        shown = [card for meld in view.melds for card in meld.cards]
        decks = turn.rules.decks_for(len(view.seats))
        self.unseen = [
            decks - held - lying for held, lying in zip(self.cells, count_cells(shown)[0], strict=True)
        ]

    def _prospect(self, extra: str | None, size: int) -> Prospect:
        """Return the prospect with one more card, where the hand is to be opened with ``size`` cards."""
        cells, jokers, unseen = self.cells, self.jokers, self.unseen
        if extra == "X":
            jokers += 1
        elif extra is not None:
            cell = CELLS[extra]
            cells, unseen = cells.copy(), unseen.copy()
            cells[cell] += 1
            unseen[cell] = max(0, unseen[cell] - 1)
        need = self.need._replace(whole=size) if self.whole else self.need
        return prospect(cells, jokers, unseen, need)

    @cached_property
    def now(self) -> Prospect:
        """The prospect of the hand as it is, before the draw."""
        return self._prospect(None, len(self.hand) + 1)

    def takes(self, top: str) -> bool:
        """Return whether the top discard is taken rather than the stock chosen."""
        if top == "X":
            return True
        if not self._near(top):
            return False
        return self.now.cost - self._prospect(top, len(self.hand) + 1).cost > TAKE_GAIN

    def buys(self, card: str) -> bool:
        """Return whether the offered discard is bought, with its penalty card."""
        if len(self.hand) >= HAND_MAX:
            return False
        if card != "X" and not self._near(card):
            return False
        return self.now.cost - self._prospect(card, len(self.hand) + 3).cost > BUY_GAIN

    def _near(self, face: str) -> bool:
        """Return whether ``face`` could go with a card of the hand at all."""
        return any(card[0] == face[0] or (self.need.runs and card[1] == face[1]) for card in self.hand)

    def discard(self) -> Action:
        """Return the discard of what the best plans need least, the dearest first."""
        values = self.turn.rules.score.values
        worth = self._prospect(None, len(self.hand)).worth
        fear = self._fear()
        faces = dict.fromkeys(card[:2] for card in self.hand if card[0] != "X")
        if not faces:
            return Discard(Named("X"))

        def keep(face: str) -> float:
            feeds = 0.05 if fits_the_table(self.turn, face) else 0.0
            return worth[CELLS[face]] + feeds - fear * values[face[0]]

        return Discard(Named(min(faces, key=keep)))

    def _fear(self) -> float:
        """Return what a point in hand weighs: more the nearer another seat is to going out."""
        left = [seat.cards for seat in self.turn.view.seats if seat is not None and seat.opened != "no"]
        return 0.002 + (0.03 / (1 + min(left)) if left else 0.0)
