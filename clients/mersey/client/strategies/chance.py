"""The strategy ``chance``: any legal action, every kind equally likely, then every form of it."""

from __future__ import annotations

from mersey.client.strategies.turn import Draw, Turn
from mersey.rules.actions import Action


class ChanceStrategy:
    """Play by chance; a turn ends when the discard is drawn, as it is soon."""

    name = "chance"

    def choose(self, turn: Turn, draw: Draw) -> Action:
        """Return any legal action."""
        legal = [choice.actions for choice in turn.choices.legal if choice.actions]
        forms = legal[draw.below(len(legal))]
        return forms[draw.below(len(forms))]
