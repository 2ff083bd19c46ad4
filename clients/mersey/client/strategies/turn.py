"""A turn as a strategy is given it, and the chance it may use.

A strategy is asked for one action at a time. It knows what its seat sees and may do,
and nothing else. What it draws by chance comes from a seed and the position alone, so
that a seeded game is the same each time, whoever was asked first.
"""

from __future__ import annotations

import hmac
from typing import Final, NamedTuple, Protocol

from mersey.game.choices import Choices
from mersey.game.seen import TableView
from mersey.rules.actions import Action
from mersey.rules.deal import Stream
from mersey.rules.ruleset import RuleSet

_LABEL: Final = b"mersey draw 1"


class Turn(NamedTuple):
    """What a seat is asked: the table as it sees it, what it may do, the rules."""

    view: TableView
    choices: Choices
    rules: RuleSet


class Draw:
    """The chance of one decision: from the seed, the seat and what it sees of its turn.

    The same position gives the same draw; whatever version it has, and whenever it is asked.
    """

    __slots__ = ("_key", "_stream", "_view")

    def __init__(self, seed: str, view: TableView) -> None:
        self._key = seed.encode()
        self._view = view
        self._stream: Stream | None = None

    def below(self, n: int) -> int:
        """Return a number from 0 to ``n`` - 1, each equally likely."""
        if self._stream is None:
            key = hmac.digest(self._key, _LABEL, "sha256")
            self._stream = Stream(key, _position(self._view))
        return self._stream.uniform(n)


def _position(view: TableView) -> str:
    """Return what tells one decision of a seat from another, versions apart."""
    offer = view.offer.number if view.offer else 0
    melds = ",".join(" ".join(meld.cards) for meld in view.melds)
    hand = " ".join(view.hand or ())
    return f"{view.you} {view.round} {view.turn} {view.step} {offer} {hand}/{melds}"


class Strategy(Protocol):
    """A way to play: the same turn and draw always give the same action."""

    @property
    def name(self) -> str:
        """The name under which it is asked for."""

    def choose(self, turn: Turn, draw: Draw) -> Action:
        """Return one of the turn's legal actions."""


def due_now(view: TableView) -> bool:
    """Return whether a bot on this seat should act now.

    An offer is answered in the order in which the seats come before each other, and the
    next round is agreed to in the order of the seats: so a seeded game has one order of
    events, however fast each bot is.
    """
    you = view.you
    match view.step:
        case "cut":
            return you == (view.dealer - 1) % len(view.seats)
        case "choose" | "play":
            return you == view.active
        case "offer":
            return view.offer is not None and you == _next(view.offer.seats, view.offer.answered)
        case "round_over":
            return you == _next(tuple(range(len(view.seats))), view.ready)
        case _:
            return False


def _next(seats: tuple[int, ...], done: tuple[int, ...]) -> int | None:
    return next((seat for seat in seats if seat not in done), None)
