"""Events: what happened at a table, each with all that came of it (design section 2).

Cards are physical (``7S1``). The tag is written out and outlives the class's name; a
changed meaning gets a new tag, a new field a default.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

import msgspec

from mersey.game.commands import Chance, Spectators
from mersey.rules.cards import Card
from mersey.rules.melds import Placed, TableMeld
from mersey.rules.ruleset import RuleSet

EndedBy = Literal["out", "no_card", "reshuffle_limit"]


class _Event(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    tag_field="type",
    forbid_unknown_fields=True,
    omit_defaults=True,
):
    """Base of events: an immutable, tagged value."""


class TableOpened(_Event, frozen=True, tag="table_opened"):
    """A table was opened; ``link`` is its secret, ``seal`` what may be seen of it."""

    table: str
    host: str
    rules: RuleSet
    rules_hash: str
    seats: int
    deal_id: str
    seal: str
    link: str
    chance: Chance = "drawn"
    spectators: Spectators = "live"
    archived: bool = False


class SeatTaken(_Event, frozen=True, tag="seat_taken"):
    """A player sat down; ``strategy`` names the strategy of a bot that the server plays."""

    seat: int
    player: str
    commitment: str | None = None
    strategy: str | None = None


class SeatLeft(_Event, frozen=True, tag="seat_left"):
    """A seat is free again."""

    seat: int


class EntropyOpened(_Event, frozen=True, tag="entropy_opened"):
    """A player showed the random part committed to."""

    seat: int
    part: str


class GameStarted(_Event, frozen=True, tag="game_started"):
    """The game began: the parts that went into the deal, the opened link 0, the first dealer."""

    parts: tuple[str, ...]
    entropy: str
    link: str
    dealer: int


class RoundStarted(_Event, frozen=True, tag="round_started"):
    """A round began; ``attempt`` counts its deals, from 1."""

    round: int
    attempt: int
    dealer: int


class PackShuffled(_Event, frozen=True, tag="pack_shuffled"):
    """The whole pack was shuffled; the first card is on top."""

    pack: tuple[Card, ...]


class PackCut(_Event, frozen=True, tag="pack_cut"):
    """The cutter lifted ``packet`` cards; ``bonus`` points come off the cutter's total."""

    seat: int
    aim: int
    packet: int
    bonus: int


class HandsDealt(_Event, frozen=True, tag="hands_dealt"):
    """The cards were dealt: hands by seat in the order dealt, the upcard, the stock from its top."""

    hands: tuple[tuple[Card, ...], ...]
    upcard: Card
    stock: tuple[Card, ...]


class DiscardTaken(_Event, frozen=True, tag="discard_taken"):
    """The active player drew the top discard."""

    seat: int
    card: Card


class StockChosen(_Event, frozen=True, tag="stock_chosen"):
    """The active player chose the stock; the choice is binding."""

    seat: int


class DiscardOffered(_Event, frozen=True, tag="discard_offered"):
    """The top discard is offered to ``seats``, in the order in which they come before each other."""

    card: Card
    seats: tuple[int, ...]


class BuyWanted(_Event, frozen=True, tag="buy_wanted"):
    """A seat wants the offered discard."""

    seat: int


class BuyPassed(_Event, frozen=True, tag="buy_passed"):
    """A seat lets the offered discard go; ``standing`` till the round's end."""

    seat: int
    standing: bool = False


class OfferClosed(_Event, frozen=True, tag="offer_closed"):
    """An offer was settled: who wanted it, who passed, who has it."""

    wanted: tuple[int, ...]
    passed: tuple[int, ...]
    buyer: int | None


class DiscardBought(_Event, frozen=True, tag="discard_bought"):
    """The buyer got the discard ``card`` and, from the stock, the ``penalty`` cards."""

    seat: int
    card: Card
    penalty: tuple[Card, ...]


class StockRebuilt(_Event, frozen=True, tag="stock_rebuilt"):
    """The discard pile but its ``kept`` top cards became stock, shuffled; ``number`` counts in the round.

    One card is kept, or two where the upper is just being bought. ``stock`` is named from its
    top and goes under what is left of the old stock.
    """

    number: int
    kept: int
    stock: tuple[Card, ...]


class StockDrawn(_Event, frozen=True, tag="stock_drawn"):
    """The active player drew the top of the stock."""

    seat: int
    card: Card


class JokerFreed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A joker freed in an opening: the natural ``card`` now lies at index ``at`` of ``meld``."""

    card: Card
    meld: int
    joker: Card
    at: int


class ContractOpened(_Event, frozen=True, tag="contract_opened"):
    """A seat laid the round's contract; ``freed`` where a joker of the table was used in it."""

    seat: int
    melds: tuple[TableMeld, ...]
    freed: JokerFreed | None = None


class CardLaidOff(_Event, frozen=True, tag="card_laid_off"):
    """A card was laid off on ``meld`` and lies there at index ``at``."""

    seat: int
    meld: int
    card: Placed
    at: int


class JokerMoved(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a freed joker went: ``meld``, as ``joker``, at index ``at``."""

    meld: int
    joker: Placed
    at: int


class JokerSwapped(_Event, frozen=True, tag="joker_swapped"):
    """A natural card took a joker's place, at index ``at``; without ``to`` the joker is in the hand."""

    seat: int
    meld: int
    card: Card
    joker: Card
    at: int
    to: JokerMoved | None = None


class CardDiscarded(_Event, frozen=True, tag="card_discarded"):
    """The active player discarded and the turn passed on, or the round ended."""

    seat: int
    card: Card


class RoundEnded(_Event, frozen=True, tag="round_ended"):
    """A round ended: the hands left, what they cost, the totals after it."""

    round: int
    ended_by: EndedBy
    winner: int | None
    hands: tuple[tuple[Card, ...], ...]
    points: tuple[int, ...]
    totals: tuple[int, ...]


class LinkOpened(_Event, frozen=True, tag="link_opened"):
    """The link that made the round's chance was opened: anyone can check the deal now."""

    round: int
    link: str


class SeatReady(_Event, frozen=True, tag="seat_ready"):
    """A seat is ready for the next round."""

    seat: int


class GameEnded(_Event, frozen=True, tag="game_ended"):
    """The last round is over: totals as stored, places by seat."""

    totals: tuple[int, ...]
    places: tuple[int, ...]


class TableClosed(_Event, frozen=True, tag="table_closed"):
    """The host closed the table; a running game has no result."""


Event = (
    TableOpened
    | SeatTaken
    | SeatLeft
    | EntropyOpened
    | GameStarted
    | RoundStarted
    | PackShuffled
    | PackCut
    | HandsDealt
    | DiscardTaken
    | StockChosen
    | DiscardOffered
    | BuyWanted
    | BuyPassed
    | OfferClosed
    | DiscardBought
    | StockRebuilt
    | StockDrawn
    | ContractOpened
    | CardLaidOff
    | JokerSwapped
    | CardDiscarded
    | RoundEnded
    | LinkOpened
    | SeatReady
    | GameEnded
    | TableClosed
)
"""Everything that can happen at a table."""

EVENTS: Final[tuple[type[Event], ...]] = get_args(Event)
