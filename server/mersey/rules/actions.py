"""Actions: what a player can do at the table, as values (scenarios.md, "The notation").

Cards are named as the player names them (``Named``): a face (``7S``, any copy held,
the lowest first), an exact card (``7S2``), a joker with or without its number and
with or without what it stands for (``X``, ``X2``, ``X=5H``, ``X1=7``).
"""

from __future__ import annotations

from typing import Final, get_args

import msgspec

from mersey.rules.melds import Named
from mersey.rules.ruleset import MeldKind


class _Action(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True, omit_defaults=True):
    """Base of a player's actions: an immutable, tagged value."""


class Cut(_Action, frozen=True, tag="cut"):
    """Lift a packet, aiming at ``aim`` cards (rules.md section 3)."""

    aim: int


class TakeDiscard(_Action, frozen=True, tag="take_discard"):
    """Draw the top discard (section 5)."""


class ChooseStock(_Action, frozen=True, tag="choose_stock"):
    """Choose the stock: the top discard is offered first, then the draw comes (section 6)."""


class Buy(_Action, frozen=True, tag="buy"):
    """Want the offered discard, with its penalty (section 6)."""


class Pass(_Action, frozen=True, tag="pass"):
    """Let the offered discard go; ``standing`` holds till the round's end (section 6)."""

    standing: bool = False


class Ready(_Action, frozen=True, tag="ready"):
    """Be ready for the next round."""


class NamedMeld(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A meld as a player names it; the order of the cards means nothing (section 2)."""

    kind: MeldKind
    cards: tuple[Named, ...]


class OpeningSwap(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A joker freed inside an opening: the natural ``card`` given to ``meld`` (section 7)."""

    card: Named
    meld: int


class OpenContract(_Action, frozen=True, tag="open_contract"):
    """Lay the round's whole contract at one stroke (section 5)."""

    melds: tuple[NamedMeld, ...]
    swaps: tuple[OpeningSwap, ...] = ()


class LayOff(_Action, frozen=True, tag="lay_off"):
    """Add a card to a meld on the table (section 5)."""

    card: Named
    meld: int


class Destination(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a freed joker goes: ``joker`` as named (``X=8H``), on ``meld``."""

    joker: Named
    meld: int


class SwapJoker(_Action, frozen=True, tag="swap_joker"):
    """Put the natural ``card`` in a joker's place and move the joker (section 7)."""

    card: Named
    meld: int
    to: Destination | None = None


class Discard(_Action, frozen=True, tag="discard"):
    """Discard a card and end the turn (section 5)."""

    card: Named


Action = Cut | TakeDiscard | ChooseStock | Buy | Pass | Ready | OpenContract | LayOff | SwapJoker | Discard
"""Everything a player does during a game."""

ACTIONS: Final[tuple[type[Action], ...]] = get_args(Action)
"""The action types, in the order of a turn."""

KIND_OF: Final[dict[type[Action], str]] = {action: str(action.__struct_config__.tag) for action in ACTIONS}
"""The written tag of each action type: ``cut``, ``take_discard`` …"""
