"""What may be seen: the one way out for events and states (design section 3).

Nothing that leaves the server goes round these functions: the live stream, the
catch-up, the replay, errors and exports are made of what they give.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import replace

from mersey.game.events import (
    BuyPassed,
    BuyWanted,
    CardDiscarded,
    CardLaidOff,
    ContractOpened,
    DiscardBought,
    DiscardOffered,
    DiscardTaken,
    Event,
    HandsDealt,
    JokerFreed,
    JokerMoved,
    JokerSwapped,
    PackShuffled,
    StockDrawn,
    StockRebuilt,
    TableOpened,
)
from mersey.game.seen import (
    Answered,
    DiscardBoughtSeen,
    HandsDealtSeen,
    MeldView,
    OfferView,
    PackShuffledSeen,
    SeatView,
    SeenEvent,
    StockDrawnSeen,
    StockRebuiltSeen,
    TableOpenedSeen,
    TableView,
    Update,
)
from mersey.game.state import Game
from mersey.rules.cards import Card, in_pack_order
from mersey.rules.melds import Placed, TableMeld, card_of, seen


class Viewer(msgspec.Struct, frozen=True):
    """Who looks: a seat, a spectator, or with everything open (only where the game is over or closed)."""

    role: Literal["seat", "spectator", "open"]
    seat: int | None = None


SPECTATOR: Final = Viewer("spectator")
OPEN: Final = Viewer("open")


def seat_viewer(seat: int) -> Viewer:
    """Return the viewer that sits on ``seat``."""
    return Viewer("seat", seat)


def view_event(event: Event, viewer: Viewer) -> SeenEvent:
    """Return ``event`` as ``viewer`` is shown it when it happens.

    It depends on nothing but the event and the viewer, so a catch-up years later gives
    what the live stream gave. The open viewer is shown the event whole, but for the
    secret link of the first.
    """
    shown = _SHOWN.get(type(event))
    if shown is None:
        return event  # type: ignore[return-value]  # public as it is: the union's rest
    seen_event: SeenEvent = shown(event, viewer)
    return seen_event


def update_bytes(version: int, at_ms: int, event: Event, viewer: Viewer) -> bytes:
    """Return the update of an event for a viewer in canonical JSON."""
    return _ENCODER.encode(Update(version, at_ms, view_event(event, viewer)))


_ENCODER: Final = msgspec.json.Encoder(order="deterministic")


def view_bytes(view: TableView) -> bytes:
    """Return a view in canonical JSON."""
    return _ENCODER.encode(view)


def _is_own(viewer: Viewer, seat: int) -> bool:
    return viewer.seat == seat or viewer.role == "open"


def _face(card: str) -> Card:
    return Card(seen(card))


def _table_opened(event: TableOpened, viewer: Viewer) -> SeenEvent:
    return TableOpenedSeen(
        table=event.table,
        host=event.host,
        rules=event.rules,
        rules_hash=event.rules_hash,
        seats=event.seats,
        deal_id=event.deal_id,
        seal=event.seal,
        chance=event.chance,
        spectators=event.spectators,
        archived=event.archived,
    )


def _pack_shuffled(event: PackShuffled, viewer: Viewer) -> SeenEvent:
    if viewer.role == "open":
        return event  # type: ignore[return-value]
    return PackShuffledSeen(cards=len(event.pack))


def _hands_dealt(event: HandsDealt, viewer: Viewer) -> SeenEvent:
    if viewer.role == "open":
        return event  # type: ignore[return-value]
    return HandsDealtSeen(
        sizes=tuple(map(len, event.hands)),
        hand=None if viewer.seat is None else event.hands[viewer.seat],
        upcard=seen(event.upcard),
        stock=len(event.stock),
    )


def _discard_taken(event: DiscardTaken, viewer: Viewer) -> SeenEvent:
    return event if _is_own(viewer, event.seat) else replace(event, card=_face(event.card))


def _discard_offered(event: DiscardOffered, viewer: Viewer) -> SeenEvent:
    return event if viewer.role == "open" else replace(event, card=_face(event.card))


def _answered(event: BuyWanted | BuyPassed, viewer: Viewer) -> SeenEvent:
    return event if _is_own(viewer, event.seat) else Answered(seat=event.seat)


def _discard_bought(event: DiscardBought, viewer: Viewer) -> SeenEvent:
    own = _is_own(viewer, event.seat)
    return DiscardBoughtSeen(
        seat=event.seat,
        card=event.card if own else seen(event.card),
        penalty=len(event.penalty),
        cards=event.penalty if own else (),
    )


def _stock_rebuilt(event: StockRebuilt, viewer: Viewer) -> SeenEvent:
    if viewer.role == "open":
        return event  # type: ignore[return-value]
    return StockRebuiltSeen(number=event.number, kept=event.kept, stock=len(event.stock))


def _stock_drawn(event: StockDrawn, viewer: Viewer) -> SeenEvent:
    return StockDrawnSeen(seat=event.seat, card=event.card if _is_own(viewer, event.seat) else None)


def _contract_opened(event: ContractOpened, viewer: Viewer) -> SeenEvent:
    freed = event.freed
    if viewer.role == "open" or (_is_own(viewer, event.seat) and freed is None):
        return event
    own = _is_own(viewer, event.seat)
    # A joker that comes from the table never was in the hand: its number is not for its new owner either.
    melds = tuple(
        TableMeld(
            meld.id,
            meld.by,
            meld.kind,
            tuple(card if own and not _is_freed(card, freed) else Placed(seen(card)) for card in meld.cards),
        )
        for meld in event.melds
    )
    if freed is not None:
        freed = JokerFreed(freed.card if own else _face(freed.card), freed.meld, _face(freed.joker), freed.at)
    return replace(event, melds=melds, freed=freed)


def _is_freed(card: Placed, freed: JokerFreed | None) -> bool:
    return freed is not None and card_of(card) == freed.joker


def _card_laid_off(event: CardLaidOff, viewer: Viewer) -> SeenEvent:
    return event if _is_own(viewer, event.seat) else replace(event, card=Placed(seen(event.card)))


def _joker_swapped(event: JokerSwapped, viewer: Viewer) -> SeenEvent:
    own = _is_own(viewer, event.seat)
    to = event.to
    if viewer.role == "open" or (own and to is None):
        return event
    if to is not None:
        to = JokerMoved(to.meld, Placed(seen(to.joker)), to.at)
    card = event.card if own else _face(event.card)
    return replace(event, card=card, joker=_face(event.joker), to=to)


def _card_discarded(event: CardDiscarded, viewer: Viewer) -> SeenEvent:
    return event if _is_own(viewer, event.seat) else replace(event, card=_face(event.card))


_SHOWN: Final[dict[type[Event], Callable[[Any, Viewer], SeenEvent]]] = {
    TableOpened: _table_opened,
    PackShuffled: _pack_shuffled,
    HandsDealt: _hands_dealt,
    DiscardTaken: _discard_taken,
    DiscardOffered: _discard_offered,
    BuyWanted: _answered,
    BuyPassed: _answered,
    DiscardBought: _discard_bought,
    StockRebuilt: _stock_rebuilt,
    StockDrawn: _stock_drawn,
    ContractOpened: _contract_opened,
    CardLaidOff: _card_laid_off,
    JokerSwapped: _joker_swapped,
    CardDiscarded: _card_discarded,
}


def round_is_open(game: Game) -> bool:
    """Return whether the link of the round now shown is open, and with it every card of the round."""
    return game.round >= 1 and len(game.links) > game.round


def view(game: Game, viewer: Viewer) -> TableView:
    """Return the table as ``viewer`` sees it now."""
    rules = game.ruleset
    own = viewer.seat
    dealt = bool(game.hands)
    public = dealt and (viewer.role == "open" or round_is_open(game))
    return TableView(
        version=game.version,
        table=game.table,
        host=game.host,
        rules=rules.id,
        rules_hash=game.rules_hash,
        chance=game.chance,
        seal=game.seal,
        step=game.step,
        you=own,
        seats=tuple(_seat_view(game, seat) for seat in range(len(game.seats))),
        round=game.round,
        rounds=len(rules.rounds),
        contract=game.contract if game.round else None,
        dealer=game.dealer,
        active=game.active,
        turn=game.turn,
        hand=in_pack_order(game.hands[own]) if dealt and own is not None else None,
        hands=tuple(map(in_pack_order, game.hands)) if public else None,
        stock=len(game.stock),
        pile=len(game.pile),
        discard_top=seen(game.pile[-1]) if game.pile else None,
        melds=tuple(
            MeldView(meld.id, meld.by, meld.kind, tuple(map(seen, meld.cards))) for meld in game.melds
        ),
        offer=_offer_view(game, own),
        standing=own is not None and dealt and game.standing[own],
        reshuffles=game.reshuffles,
        ready=game.ready,
        totals=game.totals,
        cut_bonus=game.cut_bonus,
        results=game.results,
        links=game.links,
        places=game.places,
    )


def _seat_view(game: Game, seat: int) -> SeatView | None:
    held = game.seats[seat]
    if held is None:
        return None
    opened = game.opened[seat] if game.opened else 0
    when: Literal["no", "this_turn", "earlier"] = "earlier"
    if not opened:
        when = "no"
    elif opened == game.turn and seat == game.active:
        when = "this_turn"
    return SeatView(
        player=held.player,
        strategy=held.strategy,
        committed=held.commitment is not None,
        shown=held.part is not None,
        cards=len(game.hands[seat]) if game.hands else 0,
        opened=when,
        buys=game.buys[seat] if game.buys else 0,
    )


def _offer_view(game: Game, own: int | None) -> OfferView | None:
    if not game.offer:
        return None
    mine: Literal["buy", "pass"] | None = None
    if own in game.wanted:
        mine = "buy"
    elif own in game.passed:
        mine = "pass"
    answered = tuple(seat for seat in game.offer if seat in game.wanted or seat in game.passed)
    return OfferView(
        card=seen(game.pile[-1]), number=game.offers, seats=game.offer, answered=answered, mine=mine
    )
