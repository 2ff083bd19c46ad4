"""The rule set: every parameter of the rules, as data (rules.md sections 3 to 9 and 13).

The classes have the shape of a rule set file. ``rulesets/*.toml`` are the ones that
ship; a house variant is another file. The engine asks these fields and never the id.
Construction checks nothing: ``ruleset_file`` reads a file and names each fault.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final, Literal

import msgspec

from mersey.rules.cards import Card, pack

PLAYERS_MIN: Final = 2
PLAYERS_MAX: Final = 8
RUN_CARDS_MAX: Final = 14
"""A run has at most 14 cards: an ace at each end (rules.md section 1)."""

MeldKind = Literal["set", "run"]
OpenSize = Literal["exact", "at_least"]
FreedJoker = Literal["any_meld", "other_meld", "hand"]


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base of a rule set's parts: immutable, complete, nothing unknown."""


class DeckRange(_Part, frozen=True):
    """How many decks a number of players needs (section 3)."""

    players: tuple[int, int]
    count: int


class Pack(_Part, frozen=True):
    """The pack: decks by number of players, jokers in all or for each deck (section 3)."""

    decks: tuple[DeckRange, ...]
    jokers: int | None = None
    jokers_per_deck: int | None = None


class Contract(_Part, frozen=True):
    """A round: the sets and runs it demands, the cards it deals, whether all must be laid (section 4)."""

    sets: int
    runs: int
    deal: int
    whole_hand: bool


class Melds(_Part, frozen=True):
    """Sizes and freedoms of melds (sections 2 and 5)."""

    set_size: int
    run_size: int
    open_size: OpenSize
    adjacent_runs: bool
    lay_off_on_opening_turn: bool
    min_naturals_per_meld: int
    max_jokers_per_meld: int | None = None


class Swap(_Part, frozen=True):
    """Where a joker can be swapped from and where it goes (section 7)."""

    swap_from: tuple[MeldKind, ...]
    freed_joker: FreedJoker
    swap_in_opening: bool


class Buy(_Part, frozen=True):
    """Who may buy, how often and at what price (section 6)."""

    discarder_may_buy: bool
    opened_may_buy: bool
    penalty_cards: int
    chain: bool
    max_buys_per_round: int | None = None


class Stock(_Part, frozen=True):
    """How often the stock may be rebuilt in a round (section 8)."""

    max_reshuffles: int


class Score(_Part, frozen=True):
    """What a card left in hand costs, by rank and for a joker, and how totals are shown (section 9)."""

    values: dict[str, int]
    score_sign: Literal[1, -1]


class Cut(_Part, frozen=True):
    """The cut: its bonus in points and how far the lifted packet strays from the aim (section 3)."""

    bonus: int
    cut_spread: int


class RuleSet(_Part, frozen=True):
    """A whole rule set, immutable; stored whole in a table's first event."""

    id: str
    title: str
    players: tuple[int, int]
    pack: Pack
    rounds: tuple[Contract, ...]
    melds: Melds
    swap: Swap
    buy: Buy
    stock: Stock
    score: Score
    cut: Cut | None = None

    @property
    def players_said(self) -> str:
        """For how many players the rules are, in words: ``exactly 4 players`` or ``2 to 8 players``."""
        fewest, most = self.players
        return f"exactly {fewest} players" if fewest == most else f"{fewest} to {most} players"

    def decks_for(self, players: int) -> int:
        """Return the number of decks for ``players``; KeyError outside the rule set's range."""
        for entry in self.pack.decks:
            if entry.players[0] <= players <= entry.players[1]:
                return entry.count
        raise KeyError(players)

    def jokers_for(self, players: int) -> int:
        """Return the number of jokers in the pack for ``players``."""
        if self.pack.jokers is not None:
            return self.pack.jokers
        return (self.pack.jokers_per_deck or 0) * self.decks_for(players)

    def pack_for(self, players: int) -> tuple[Card, ...]:
        """Return the whole pack for ``players`` in pack order."""
        return pack(self.decks_for(players), self.jokers_for(players))

    def contract(self, round_number: int) -> Contract:
        """Return the contract of a round, counted from 1."""
        return self.rounds[round_number - 1]


def ruleset_bytes(rules: RuleSet) -> bytes:
    """Return the canonical JSON of ``rules``: keys sorted, defaults left out."""
    return msgspec.json.encode(rules, order="sorted")


def ruleset_hash(rules: RuleSet) -> str:
    """Return the SHA-256 of the canonical JSON, in hex: the rule set's fingerprint."""
    return sha256(ruleset_bytes(rules)).hexdigest()
