"""Commands: what can be asked of a table (design section 4).

A command says what somebody wants; it names no seat and no derived value. Who asks,
the *actor*, comes beside it, and the seat is the actor's. A player's actions during
the game are those of ``mersey.rules.actions``.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from mersey.rules.actions import (
    Action,
    Buy,
    ChooseStock,
    Cut,
    Discard,
    LayOff,
    OpenContract,
    Pass,
    Ready,
    SwapJoker,
    TakeDiscard,
)
from mersey.rules.ruleset import RuleSet

Hex32 = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
"""32 bytes as 64 lower-case hex digits."""

Part = Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{2}){16,64}$")]
"""A player's random part: 16 to 64 bytes in hex (design section 5)."""

Chance = Literal["drawn", "given"]
Spectators = Literal["none", "live", "after_round", "after_game"]


class _Command(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True, omit_defaults=True):
    """Base of the table's own commands: an immutable, tagged value."""


class OpenTable(_Command, frozen=True, tag="open_table"):
    """Open a table for ``seats`` players; the actor becomes its host.

    ``link`` is the last of the secret links, drawn by the shell (or given, for a demo or a
    test: ``chance`` says which); ``deal_id`` is the table's id unless chance is given.
    """

    table: str
    rules: RuleSet
    seats: int
    link: Hex32
    deal_id: str
    chance: Chance = "drawn"
    spectators: Spectators = "live"
    archived: bool = False
    """Whether each answer waits for the archive as well as for the log."""


class TakeSeat(_Command, frozen=True, tag="take_seat"):
    """Sit down, on ``seat`` or the lowest free one.

    ``commitment`` is the SHA-256 of the player's random part, ``strategy`` names a bot's.
    """

    seat: int | None = None
    commitment: Hex32 | None = None
    strategy: str | None = None


class LeaveSeat(_Command, frozen=True, tag="leave_seat"):
    """Give the seat back before the game starts."""


class OpenEntropy(_Command, frozen=True, tag="open_entropy"):
    """Show the random part that was committed to when the seat was taken."""

    part: Part


class StartGame(_Command, frozen=True, tag="start_game"):
    """Start the game; the host says it, once every seat is taken."""


class Close(_Command, frozen=True, tag="close"):
    """Close the table; the host says it. A running game ends without a result."""


TableCommand = OpenTable | TakeSeat | LeaveSeat | OpenEntropy | StartGame | Close

Command = (
    OpenTable
    | TakeSeat
    | LeaveSeat
    | OpenEntropy
    | StartGame
    | Close
    | Cut
    | TakeDiscard
    | ChooseStock
    | Buy
    | Pass
    | Ready
    | OpenContract
    | LayOff
    | SwapJoker
    | Discard
)
"""Everything that can be asked of a table."""

__all__ = [
    "Action",
    "Close",
    "Command",
    "LeaveSeat",
    "OpenEntropy",
    "OpenTable",
    "StartGame",
    "TableCommand",
    "TakeSeat",
]
