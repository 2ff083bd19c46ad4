"""The state of one table: what its events come to.

Every value in it is immutable, so a copy of the record is a copy of the state, and
states of neighbouring versions share nearly everything. Only ``evolve`` writes
fields, and only on a copy of its own.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from mersey.game.commands import Chance, Spectators
from mersey.game.events import EndedBy
from mersey.rules.cards import Card
from mersey.rules.melds import TableMeld
from mersey.rules.ruleset import Contract, RuleSet

Step = Literal["new", "seating", "cut", "choose", "offer", "play", "round_over", "game_over", "closed"]
"""What the table waits for: seats, the cut, the draw, answers, melds and the discard, the next round."""

NOBODY = -1
"""The seat of nobody: who discarded the first upcard, who bought last when none did."""


class SeatState(msgspec.Struct, frozen=True):
    """Who sits on a seat, and that player's part in the deal."""

    player: str
    commitment: str | None = None
    part: str | None = None
    strategy: str | None = None


class RoundResult(msgspec.Struct, frozen=True):
    """How a round ended: ``winner`` is None where nobody went out; points are penalties."""

    round: int
    ended_by: EndedBy
    winner: int | None
    points: tuple[int, ...]
    totals: tuple[int, ...]


class Game(msgspec.Struct):
    """A table and its game after the event of number ``version``; 0 is before the first."""

    version: int = 0
    table: str = ""
    host: str = ""
    rules: RuleSet | None = None
    rules_hash: str = ""
    deal_id: str = ""
    seal: str = ""
    link: str = ""
    chance: Chance = "drawn"
    spectators: Spectators = "live"
    archived: bool = False
    seats: tuple[SeatState | None, ...] = ()
    step: Step = "new"
    entropy: str = ""
    round: int = 0
    attempt: int = 0
    dealer: int = NOBODY
    active: int = NOBODY
    turn: int = 0
    """Turns begun in the round, from 1."""
    pack: tuple[Card, ...] = ()
    """The shuffled pack while it waits for the cut, top first."""
    hands: tuple[tuple[Card, ...], ...] = ()
    stock: tuple[Card, ...] = ()
    """Bottom to top: the last card is drawn next."""
    pile: tuple[Card, ...] = ()
    """The discard pile, bottom to top."""
    pile_by: tuple[int, ...] = ()
    """Who discarded each card of the pile; NOBODY for the first upcard."""
    melds: tuple[TableMeld, ...] = ()
    """The melds on the table; number n stands at index n - 1."""
    opened: tuple[int, ...] = ()
    """For each seat the turn in which it opened, 0 for not yet."""
    offer: tuple[int, ...] = ()
    """Seats that may answer the open offer, nearest to the active player first."""
    wanted: tuple[int, ...] = ()
    passed: tuple[int, ...] = ()
    offers: int = 0
    """Offers made in this turn."""
    bought_last: int = NOBODY
    buys: tuple[int, ...] = ()
    standing: tuple[bool, ...] = ()
    reshuffles: int = 0
    ready: tuple[int, ...] = ()
    totals: tuple[int, ...] = ()
    cut_bonus: tuple[int, ...] = ()
    results: tuple[RoundResult, ...] = ()
    links: tuple[str, ...] = ()
    """The links opened so far, link 0 first."""
    places: tuple[int, ...] = ()

    @property
    def ruleset(self) -> RuleSet:
        """The rule set of an open table."""
        assert self.rules is not None, "a table that is open has its rules"
        return self.rules

    @property
    def contract(self) -> Contract:
        """The contract of the running round."""
        return self.ruleset.rounds[self.round - 1]

    def seat_of(self, player: str) -> int | None:
        """Return the seat that ``player`` holds, None where none."""
        for seat, held in enumerate(self.seats):
            if held is not None and held.player == player:
                return seat
        return None

    @property
    def cutter(self) -> int:
        """The seat that cuts: the dealer's right-hand neighbour (rules.md section 3)."""
        return (self.dealer - 1) % len(self.seats)
