"""Where a table's chance comes from: its secret links, or, in a scenario, what the file says.

``decide`` asks for chance by what it is for. ``FAIR`` answers from the table's own
links and the players' parts (design section 5), so that the same table always gives
the same answer and a recorded game can be decided again.
"""

from __future__ import annotations

from typing import Final, Protocol

from mersey.game.state import Game
from mersey.rules import deal
from mersey.rules.cards import Card


class Chance(Protocol):
    """What a game draws by chance."""

    def dealer(self, game: Game, entropy: str) -> int:
        """Return the seat of the first dealer."""

    def shuffled(self, game: Game) -> tuple[Card, ...]:
        """Return the pack of the round that has just started, shuffled, top first."""

    def packet(self, game: Game, aim: int) -> int:
        """Return the size of the packet that a cut at ``aim`` lifts (rules.md section 3)."""

    def rebuilt(self, game: Game, pile: tuple[Card, ...]) -> tuple[Card, ...]:
        """Return the stock rebuilt from ``pile`` (bottom to top), top first (rules.md section 8)."""


def link_of(game: Game, round_number: int) -> bytes:
    """Return the secret link of a round; 0 is the dealer's."""
    return deal.chain_links(bytes.fromhex(game.link), len(game.ruleset.rounds))[round_number]


def _key(game: Game) -> bytes:
    entropy = bytes.fromhex(game.entropy)
    return deal.round_key(link_of(game, game.round), entropy, game.round, game.attempt)


class _Fair:
    """Chance from the table's links and the players' parts."""

    def dealer(self, game: Game, entropy: str) -> int:
        key = deal.round_key(link_of(game, 0), bytes.fromhex(entropy), 0, 1)
        return deal.first_dealer(key, len(game.seats))

    def shuffled(self, game: Game) -> tuple[Card, ...]:
        return deal.shuffle(_key(game), "shuffle", game.pack)

    def packet(self, game: Game, aim: int) -> int:
        cut = game.ruleset.cut
        assert cut is not None, "only a rule set with a cut asks for a packet"
        return deal.lifted_packet(_key(game), aim, cut.cut_spread, len(game.pack))

    def rebuilt(self, game: Game, pile: tuple[Card, ...]) -> tuple[Card, ...]:
        return deal.rebuild(_key(game), game.reshuffles + 1, pile)


FAIR: Final[Chance] = _Fair()
"""The chance of every real table."""
