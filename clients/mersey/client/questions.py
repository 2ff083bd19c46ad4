"""What a player at the terminal is asked, with as much of the table as it needs, and nothing twice."""

from __future__ import annotations

from typing import Final, NamedTuple

from mersey.client.strategies.turn import Turn
from mersey.client.terminal import Labels, hand_lines, prompt_text, table_text
from mersey.game.seen import TableView

_WITH_TABLE: Final = frozenset({"choose", "cut", "round_over"})
"""Steps whose question comes with the whole table: once a turn, and at a round's two ends."""


class _Question(NamedTuple):
    """What makes a question the same one, whatever others have answered meanwhile."""

    round: int
    turn: int
    step: str
    offer: int
    hand: tuple[str, ...]
    prompt: tuple[str, ...]


class Questions:
    """The questions of one player.

    Before a round's first question the table is shown, whatever it asks: nobody can say what a card is
    worth to them who has not seen their own. With every later one comes the hand at least.
    """

    def __init__(self) -> None:
        self._asked: _Question | None = None
        self._round = 0
        self._version = 0

    def shown(self, view: TableView) -> None:
        """Take note that the table as in ``view``, the hand included, has just been shown."""
        self._round, self._version = view.round, view.version

    def repeat(self) -> None:
        """Let the next question be asked even if it is the last one again."""
        self._asked = None

    def lines(self, turn: Turn, labels: Labels) -> list[str]:
        """Return what to print for a turn: none where it is the question that was asked last."""
        view = turn.view
        prompt = prompt_text(view, turn.choices)
        offer = view.offer.number if view.offer else 0
        question = _Question(view.round, view.turn, view.step, offer, view.hand or (), tuple(prompt))
        if question == self._asked:
            return []
        self._asked = question
        return self._sight(turn, labels) + prompt

    def _sight(self, turn: Turn, labels: Labels) -> list[str]:
        view = turn.view
        if view.version == self._version:
            return []
        if view.step not in _WITH_TABLE and view.round == self._round:
            return hand_lines(view)
        self.shown(view)
        return table_text(view, turn.rules, labels)
