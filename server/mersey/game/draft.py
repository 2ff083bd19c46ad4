"""A draft: the events that one command causes, and the state after each of them.

What a command causes often depends on what it has caused so far (who buys, then
whether the stock still has a card), so deciding folds its own events as it goes.
"""

from __future__ import annotations

from mersey.game.chance import Chance
from mersey.game.events import Event
from mersey.game.evolve import evolve
from mersey.game.state import Game


class Draft:
    """Events decided so far and the state that they lead to."""

    __slots__ = ("chance", "events", "game")

    def __init__(self, game: Game, chance: Chance) -> None:
        self.game = game
        self.chance = chance
        self.events: list[Event] = []

    def emit(self, event: Event) -> None:
        """Add ``event`` and fold it."""
        self.events.append(event)
        self.game = evolve(self.game, event)
