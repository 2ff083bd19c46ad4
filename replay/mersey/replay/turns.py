"""A game told turn by turn: one line for each turn, from what a spectator is shown.

``Turns`` is fed the shown events in their order, live or from a record, and says what
to print: the round's heading, a line for each finished turn, the result of the round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal

import msgspec

from mersey.client.phrases import contract_named, phrase
from mersey.game.events import (
    CardDiscarded,
    CardLaidOff,
    ContractOpened,
    DiscardTaken,
    GameEnded,
    JokerSwapped,
    PackCut,
    RoundEnded,
    RoundStarted,
    StockChosen,
)
from mersey.game.seen import DiscardBoughtSeen, SeenEvent, StockRebuiltSeen, TableOpenedSeen
from mersey.rules.ruleset import RuleSet

Kind = Literal["round", "turn", "result", "game"]


class Line(msgspec.Struct, frozen=True):
    """One line of the account; ``kind`` says what it is, for whoever colours it."""

    kind: Kind
    text: str
    indent: int = 5
    """Where what happened begins, after the turn's number and the name: for whoever has to part the line."""


class Turns:
    """The account of one game, from what it is fed."""

    def __init__(self, names: Sequence[str]) -> None:
        """Tell of seats by ``names``, in the order of the seats."""
        self._names: Final = tuple(names)
        self._rules: RuleSet | None = None
        self._turn = 0
        self._stock_seat = 0
        """Who chose the stock last: whose turn it is where a round ends without a card to draw."""
        self._done: list[str] = []
        self.round = 0
        """The round under way, 0 before the first."""
        self.rounds_over = 0

    def feed(self, event: SeenEvent) -> Iterator[Line]:
        """Yield the lines that ``event`` completes."""
        if isinstance(event, TableOpenedSeen):
            self._rules = event.rules
        told = _TOLD.get(type(event))
        if told is not None:
            self._done.append(told(self, event))
        ending = _ENDINGS.get(type(event))
        if ending is not None:
            yield from ending(self, event)

    def _name(self, seat: int) -> str:
        return self._names[seat]

    def _named(self, what: str, event: Any) -> str:
        return f"{self._name(event.seat)} {what}"

    def _round_started(self, event: RoundStarted) -> Iterator[Line]:
        assert self._rules is not None, "a round is of a table that was opened"
        contract = self._rules.contract(event.round)
        self.round, self._turn, self._done = event.round, 0, []
        whole = ", the whole hand" if contract.whole_hand else ""
        what = f"{contract_named(contract.sets, contract.runs)}{whole}"
        head = f"Round {event.round} of {len(self._rules.rounds)}: {what}"
        yield Line("round", f"{head}; {contract.deal} cards each, {self._name(event.dealer)} deals")

    def _pack_cut(self, event: PackCut) -> Iterator[Line]:
        bonus = f", exactly the cards of the deal: {event.bonus} points off" if event.bonus else ""
        yield Line("turn", f"     {self._name(event.seat)} cuts {event.packet} cards{bonus}")

    def _turn_over(self, seat: int) -> Iterator[Line]:
        self._turn += 1
        width = max(map(len, self._names))
        head = f"{self._turn:>4} {self._name(seat):<{width}}  "
        yield Line("turn", f"{head}{'; '.join(self._done)}", len(head))
        self._done = []

    def _discarded(self, event: CardDiscarded) -> Iterator[Line]:
        yield from self._turn_over(event.seat)

    def _round_ended(self, event: RoundEnded) -> Iterator[Line]:
        assert self._rules is not None, "a round is of a table that was opened"
        if self._done:
            # No discard ended the turn: the whole hand was laid, or no card could be drawn.
            yield from self._turn_over(self._stock_seat if event.winner is None else event.winner)
        self.rounds_over = event.round
        sign = self._rules.score.score_sign
        out = "nobody" if event.winner is None else self._name(event.winner)
        yield Line("result", f"     Round {event.round}: {out} went out ({event.ended_by})")
        for seat, name in enumerate(self._names):
            points, total = sign * event.points[seat], sign * event.totals[seat]
            yield Line("result", f"     {name:<12} {points:>+5} {total:>6}")

    def _game_ended(self, event: GameEnded) -> Iterator[Line]:
        assert self._rules is not None, "a game is of a table that was opened"
        sign = self._rules.score.score_sign
        yield Line("game", "Final places")
        for seat in sorted(range(len(self._names)), key=lambda seat: (event.places[seat], seat)):
            yield Line(
                "game", f"  {event.places[seat]}. {self._name(seat):<12} {sign * event.totals[seat]:>6}"
            )

    def _stock_chosen(self, event: StockChosen) -> str:
        self._stock_seat = event.seat
        return "stock"


def _what(turns: Turns, event: Any) -> str:
    return phrase(event, {}).what


def _bought(turns: Turns, event: DiscardBoughtSeen) -> str:
    penalty = f" +{event.penalty}" if event.penalty else ""
    return turns._named(f"buys {event.card}{penalty}", event)


_TOLD: Final[dict[type[SeenEvent], Callable[[Turns, Any], str]]] = {
    DiscardTaken: lambda turns, event: f"take {event.card}",
    StockChosen: Turns._stock_chosen,
    DiscardBoughtSeen: _bought,
    StockRebuiltSeen: lambda turns, event: "the stock is rebuilt",
    ContractOpened: _what,
    CardLaidOff: _what,
    JokerSwapped: _what,
    CardDiscarded: _what,
}

_ENDINGS: Final[dict[type[SeenEvent], Callable[[Turns, Any], Iterator[Line]]]] = {
    RoundStarted: Turns._round_started,
    PackCut: Turns._pack_cut,
    CardDiscarded: Turns._discarded,
    RoundEnded: Turns._round_ended,
    GameEnded: Turns._game_ended,
}
