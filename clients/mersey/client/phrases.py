"""Phrases: each event as a viewer is shown it, in one line of notation and words (scenarios.md).

What a seat does is written as it would type it; the cards that came of it stand with it. Nothing is said
that the shown event does not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

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
    HandsDealt,
    JokerSwapped,
    LinkOpened,
    OfferClosed,
    PackCut,
    PackShuffled,
    RoundEnded,
    RoundStarted,
    SeatLeft,
    SeatReady,
    SeatTaken,
    StockChosen,
    StockRebuilt,
    TableClosed,
)
from mersey.game.seen import (
    Answered,
    DiscardBoughtSeen,
    HandsDealtSeen,
    PackShuffledSeen,
    SeenEvent,
    StockDrawnSeen,
    StockRebuiltSeen,
    TableOpenedSeen,
)
from mersey.rules.cards import FACES, JOKER, Card, face_of

Shown = SeenEvent | PackShuffled | HandsDealt | StockRebuilt
"""An event as a seat, a spectator or the open view is shown it."""

Names = Mapping[str, str]
"""Display names by player id."""

_HASH_SHOWN: Final = 16
_FACE_PLACE: Final = {face: place for place, face in enumerate((*FACES, JOKER))}
_ENDED: Final = {
    "no_card": "no card could be drawn, nobody is out",
    "reshuffle_limit": "the stock may not be rebuilt again, nobody is out",
}


class Phrase(msgspec.Struct, frozen=True):
    """Who did something, and what; ``hands`` are cards that came of it, each with its label."""

    who: str
    what: str
    hands: tuple[tuple[str, tuple[str, ...]], ...] = ()


def phrase(event: Shown, names: Names) -> Phrase:
    """Return ``event`` in words; ``names`` are used for players that sit down."""
    return _PHRASES[type(event)](event, names)


def seat_name(seat: int) -> str:
    """Return how a seat is called: ``seat 0``."""
    return f"seat {seat}"


def seats_named(seats: Sequence[int]) -> str:
    """Return seats in words.

    >>> seats_named((2, 0)), seats_named((1,)), seats_named(())
    ('seats 2, 0', 'seat 1', 'nobody')
    """
    if not seats:
        return "nobody"
    return f"seat{'s' * (len(seats) > 1)} {', '.join(map(str, seats))}"


def by_suit(cards: Iterable[Card]) -> tuple[Card, ...]:
    """Return a hand as people sort it: by suit and rank, jokers last.

    >>> by_suit([Card("X1"), Card("2S1"), Card("AS2"), Card("AS1")])
    ('AS1', 'AS2', '2S1', 'X1')
    """
    return tuple(sorted(cards, key=lambda card: (_FACE_PLACE[face_of(card)], card)))


def contract_named(sets: int, runs: int) -> str:
    """Return a contract in words.

    >>> contract_named(1, 2)
    '1 set, 2 runs'
    """
    parts = [f"{n} {what}{'s' * (n > 1)}" for n, what in ((sets, "set"), (runs, "run")) if n]
    return ", ".join(parts)


def seats_free(count: int) -> str:
    """Return how many seats are free, in words.

    >>> seats_free(0), seats_free(1), seats_free(3)
    ('no seat is free', '1 seat is free', '3 seats are free')
    """
    match count:
        case 0:
            return "no seat is free"
        case 1:
            return "1 seat is free"
        case _:
            return f"{count} seats are free"


def _by(event: Any, what: str) -> Phrase:
    return Phrase(seat_name(event.seat), what)


def _table_opened(event: TableOpenedSeen, names: Names) -> Phrase:
    rules = event.rules
    host = names.get(event.host, event.host)
    what = f"{host} opens table {event.table}: {rules.title} ({rules.id}), {event.seats} seats"
    return Phrase("host", f"{what}, chance {event.chance}, seal {event.seal[:_HASH_SHOWN]}...")


def _seat_taken(event: SeatTaken, names: Names) -> Phrase:
    name = names.get(event.player)
    player = f"{name} ({event.player})" if name else event.player
    bot = f", a bot ({event.strategy})" if event.strategy else ""
    part = ", with a part for the deal" if event.commitment else ""
    return _by(event, f"{player} sits down{bot}{part}")


def _game_started(event: GameStarted, names: Names) -> Phrase:
    link = event.link[:_HASH_SHOWN]
    return Phrase(
        "host", f"the game starts, {seat_name(event.dealer)} was drawn as dealer; link 0 is {link}..."
    )


def _pack_cut(event: PackCut, names: Names) -> Phrase:
    bonus = f", {event.bonus} off the total" if event.bonus else ""
    return _by(event, f"cut {event.aim} ({event.packet} lifted{bonus})")


def _hands_dealt(event: HandsDealt, names: Names) -> Phrase:
    hands = tuple((seat_name(seat), by_suit(hand)) for seat, hand in enumerate(event.hands))
    return Phrase("", f"dealt; {event.upcard} is turned up, {len(event.stock)} are stock", hands)


def _hands_dealt_seen(event: HandsDealtSeen, names: Names) -> Phrase:
    hands = () if event.hand is None else (("own hand", by_suit(event.hand)),)
    return Phrase("", f"dealt; {event.upcard} is turned up, {event.stock} are stock", hands)


def _stock_rebuilt(number: int, kept: int, stock: int) -> Phrase:
    top = "the top discard stays" if kept == 1 else "the top discard stays under the one bought"
    return Phrase("", f"the stock is rebuilt from {stock} discards (number {number}), {top}")


def _stock_drawn(event: StockDrawnSeen, names: Names) -> Phrase:
    return _by(event, f"draws {event.card or 'a card'}")


def _bought(event: DiscardBoughtSeen, names: Names) -> Phrase:
    cards = " ".join(event.cards) or f"{event.penalty} from the stock"
    penalty = f", penalty {cards}" if event.penalty else ", no penalty"
    return _by(event, f"buys {event.card}{penalty}")


def _offer_closed(event: OfferClosed, names: Names) -> Phrase:
    got = "nobody buys" if event.buyer is None else f"{seat_name(event.buyer)} buys"
    return Phrase("", f"{got} (wanted: {seats_named(event.wanted)}; passed: {seats_named(event.passed)})")


def _opened(event: ContractOpened, names: Names) -> Phrase:
    parts = [f"{meld.kind} {' '.join(meld.cards)}" for meld in event.melds]
    freed = event.freed
    if freed is not None:
        parts.append(f"swap {freed.card} on {freed.meld}")
    return _by(event, f"open {', '.join(parts)}")


def _swapped(event: JokerSwapped, names: Names) -> Phrase:
    to = event.to
    where = f" ({event.joker} to the hand)" if to is None else f", {to.joker} on {to.meld}"
    return _by(event, f"swap {event.card} on {event.meld}{where}")


def _round_ended(event: RoundEnded, names: Names) -> Phrase:
    how = _ENDED.get(event.ended_by) or f"seat {event.winner} is out"
    hands = tuple((seat_name(seat), by_suit(hand)) for seat, hand in enumerate(event.hands) if hand)
    return Phrase("", f"round {event.round} ends: {how}", hands)


def _link_opened(event: LinkOpened, names: Names) -> Phrase:
    return Phrase("", f"link {event.round} is opened: {event.link[:_HASH_SHOWN]}...")


_PHRASES: Final[dict[type[Shown], Callable[[Any, Names], Phrase]]] = {
    TableOpenedSeen: _table_opened,
    SeatTaken: _seat_taken,
    SeatLeft: lambda event, _: _by(event, "stands up"),
    EntropyOpened: lambda event, _: _by(event, "opens its part for the deal"),
    GameStarted: _game_started,
    RoundStarted: lambda event, _: Phrase(seat_name(event.dealer), f"deals round {event.round}"),
    PackShuffled: lambda event, _: Phrase("", f"the pack of {len(event.pack)} is shuffled"),
    PackShuffledSeen: lambda event, _: Phrase("", f"the pack of {event.cards} is shuffled"),
    PackCut: _pack_cut,
    HandsDealt: _hands_dealt,
    HandsDealtSeen: _hands_dealt_seen,
    DiscardTaken: lambda event, _: _by(event, f"take ({event.card})"),
    StockChosen: lambda event, _: _by(event, "stock"),
    DiscardOffered: lambda event, _: Phrase("", f"{event.card} is offered to {seats_named(event.seats)}"),
    Answered: lambda event, _: _by(event, "answers"),
    BuyWanted: lambda event, _: _by(event, "buy"),
    BuyPassed: lambda event, _: _by(event, "pass round" if event.standing else "pass"),
    OfferClosed: _offer_closed,
    DiscardBoughtSeen: _bought,
    StockRebuilt: lambda event, _: _stock_rebuilt(event.number, event.kept, len(event.stock)),
    StockRebuiltSeen: lambda event, _: _stock_rebuilt(event.number, event.kept, event.stock),
    StockDrawnSeen: _stock_drawn,
    ContractOpened: _opened,
    CardLaidOff: lambda event, _: _by(event, f"lay {event.card} on {event.meld}"),
    JokerSwapped: _swapped,
    CardDiscarded: lambda event, _: _by(event, f"discard {event.card}"),
    RoundEnded: _round_ended,
    LinkOpened: _link_opened,
    SeatReady: lambda event, _: _by(event, "ready"),
    GameEnded: lambda event, _: Phrase("", "the game is over"),
    TableClosed: lambda event, _: Phrase("host", "the table is closed"),
}

PHRASED: Final = frozenset(_PHRASES)
"""The shown event types that have words; a test holds them equal to all there are."""
