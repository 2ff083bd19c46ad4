"""What a viewer is shown: events and tables without what the viewer may not see (design section 3).

Of a viewer's own cards the copy is shown (``7S1``), of all others the face (``7S``).
What is hidden altogether has a count in its place. An *update* is one shown event with
its version and time; its canonical JSON is what goes over the wire and what a replay
must give again, byte for byte.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from mersey.game.commands import Chance, Spectators
from mersey.game.events import (
    BuyPassed,
    BuyWanted,
    CardDiscarded,
    CardLaidOff,
    ContractOpened,
    DiscardOffered,
    DiscardTaken,
    EntropyOpened,
    GameEnded,
    GameStarted,
    JokerSwapped,
    LinkOpened,
    OfferClosed,
    PackCut,
    RoundEnded,
    RoundStarted,
    SeatLeft,
    SeatReady,
    SeatTaken,
    StockChosen,
    TableClosed,
)
from mersey.game.state import RoundResult, Step
from mersey.rules.cards import Card
from mersey.rules.ruleset import Contract, MeldKind, RuleSet


class _Seen(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    """Base of events as they are shown; the tag is that of the event."""


class TableOpenedSeen(_Seen, frozen=True, tag="table_opened"):
    """A table was opened; the links behind the seal stay secret."""

    table: str
    host: str
    rules: RuleSet
    rules_hash: str
    seats: int
    deal_id: str
    seal: str
    chance: Chance = "drawn"
    spectators: Spectators = "live"
    archived: bool = False


class PackShuffledSeen(_Seen, frozen=True, tag="pack_shuffled"):
    """The pack of ``cards`` cards was shuffled."""

    cards: int


class HandsDealtSeen(_Seen, frozen=True, tag="hands_dealt"):
    """The cards were dealt: hand sizes by seat, the viewer's own hand, the upcard, the stock's size."""

    sizes: tuple[int, ...]
    upcard: str
    stock: int
    hand: tuple[Card, ...] | None = None


class Answered(_Seen, frozen=True, tag="answered"):
    """A seat answered the offer; what it said comes with ``offer_closed``."""

    seat: int


class DiscardBoughtSeen(_Seen, frozen=True, tag="discard_bought"):
    """The buyer got the discard and ``penalty`` cards from the stock; the buyer sees which."""

    seat: int
    card: str
    penalty: int
    cards: tuple[Card, ...] = ()


class StockRebuiltSeen(_Seen, frozen=True, tag="stock_rebuilt"):
    """The discard pile but its ``kept`` top cards became ``stock`` cards of stock."""

    number: int
    kept: int
    stock: int


class StockDrawnSeen(_Seen, frozen=True, tag="stock_drawn"):
    """The active player drew from the stock; that player sees the card."""

    seat: int
    card: Card | None = None


SeenEvent = (
    TableOpenedSeen
    | SeatTaken
    | SeatLeft
    | EntropyOpened
    | GameStarted
    | RoundStarted
    | PackShuffledSeen
    | PackCut
    | HandsDealtSeen
    | DiscardTaken
    | StockChosen
    | DiscardOffered
    | Answered
    | BuyWanted
    | BuyPassed
    | OfferClosed
    | DiscardBoughtSeen
    | StockRebuiltSeen
    | StockDrawnSeen
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
"""An event as a seat or a spectator is shown it; cards of others are faces."""


class Update(msgspec.Struct, frozen=True):
    """One shown event, its version in the table and the server's time in milliseconds."""

    version: int
    at_ms: int
    event: SeenEvent


class SeatView(msgspec.Struct, frozen=True, kw_only=True):
    """What everybody sees of a seat."""

    player: str
    strategy: str | None = None
    committed: bool = False
    """Whether the player gave a random part to the deal."""
    shown: bool = False
    """Whether that part has been opened."""
    cards: int = 0
    opened: Literal["no", "this_turn", "earlier"] = "no"
    buys: int = 0


class MeldView(msgspec.Struct, frozen=True):
    """A meld on the table, by faces: ``7S``, ``X=5H``."""

    id: int
    by: int
    kind: MeldKind
    cards: tuple[str, ...]


class OfferView(msgspec.Struct, frozen=True, kw_only=True):
    """The open offer: who may answer, nearest first, who has, and what the viewer said."""

    card: str
    number: int
    """Which offer of this turn it is, from 1."""
    seats: tuple[int, ...]
    answered: tuple[int, ...]
    mine: Literal["buy", "pass"] | None = None


class TableView(msgspec.Struct, frozen=True, kw_only=True):
    """A table as one viewer sees it after the event of number ``version``."""

    version: int
    table: str
    host: str
    rules: str
    rules_hash: str
    chance: Chance
    seal: str
    step: Step
    you: int | None
    """The viewer's seat, None for a spectator."""
    seats: tuple[SeatView | None, ...]
    round: int
    rounds: int
    contract: Contract | None
    dealer: int
    active: int
    turn: int
    hand: tuple[Card, ...] | None
    """The viewer's own hand, in pack order."""
    hands: tuple[tuple[Card, ...], ...] | None
    """Every hand, once the round's link is open; None before."""
    stock: int
    pile: int
    discard_top: str | None
    melds: tuple[MeldView, ...]
    offer: OfferView | None
    standing: bool
    """Whether the viewer passes till the round's end."""
    reshuffles: int
    ready: tuple[int, ...]
    totals: tuple[int, ...]
    cut_bonus: tuple[int, ...]
    results: tuple[RoundResult, ...]
    links: tuple[str, ...]
    places: tuple[int, ...]
