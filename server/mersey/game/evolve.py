"""The fold: what each event does to the state. It checks nothing; ``decide`` did.

``evolve`` never changes the state that it is given. A whole fold copies once and
writes on that copy, which is why the functions here take a draft.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from mersey.game.events import (
    BuyPassed,
    BuyWanted,
    CardDiscarded,
    CardLaidOff,
    ContractOpened,
    DiscardBought,
    DiscardOffered,
    DiscardTaken,
    EntropyOpened,
    Event,
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
    StockDrawn,
    StockRebuilt,
    TableClosed,
    TableOpened,
)
from mersey.game.state import NOBODY, Game, RoundResult, SeatState
from mersey.rules.cards import Card
from mersey.rules.melds import Placed, TableMeld, card_of

ValueT = TypeVar("ValueT")

# copy.copy() comes to the same, by way of a search for the method that doubles its price.
_copy: Final[Callable[[Game], Game]] = Game.__copy__  # type: ignore[attr-defined]


def evolve(game: Game, event: Event) -> Game:
    """Return the state after ``event``; ``game`` stays as it is."""
    draft = _copy(game)
    _EVOLVE[type(event)](draft, event)
    draft.version += 1
    return draft


def fold(events: Iterable[Event], start: Game | None = None) -> Game:
    """Return the state after all ``events``, from ``start`` or from nothing."""
    draft = Game() if start is None else _copy(start)
    for event in events:
        _EVOLVE[type(event)](draft, event)
        draft.version += 1
    return draft


def replaced(row: tuple[ValueT, ...], index: int, value: ValueT) -> tuple[ValueT, ...]:
    """Return ``row`` with ``value`` at ``index``.

    >>> replaced((1, 2, 3), 1, 9)
    (1, 9, 3)
    """
    return (*row[:index], value, *row[index + 1 :])


def without(hand: tuple[Card, ...], card: Card) -> tuple[Card, ...]:
    """Return ``hand`` without ``card``, which it holds."""
    index = hand.index(card)
    return hand[:index] + hand[index + 1 :]


def _give(game: Game, seat: int, cards: tuple[Card, ...]) -> None:
    hands = game.hands
    game.hands = (*hands[:seat], hands[seat] + cards, *hands[seat + 1 :])


def _drop(game: Game, seat: int, card: Card) -> None:
    hands = game.hands
    game.hands = (*hands[:seat], without(hands[seat], card), *hands[seat + 1 :])


def _table_opened(game: Game, event: TableOpened) -> None:
    game.table = event.table
    game.host = event.host
    game.rules = event.rules
    game.rules_hash = event.rules_hash
    game.deal_id = event.deal_id
    game.seal = event.seal
    game.link = event.link
    game.chance = event.chance
    game.spectators = event.spectators
    game.archived = event.archived
    game.seats = (None,) * event.seats
    game.step = "seating"


def _seat_taken(game: Game, event: SeatTaken) -> None:
    held = SeatState(event.player, event.commitment, None, event.strategy)
    game.seats = replaced(game.seats, event.seat, held)


def _seat_left(game: Game, event: SeatLeft) -> None:
    game.seats = replaced(game.seats, event.seat, None)


def _entropy_opened(game: Game, event: EntropyOpened) -> None:
    held = game.seats[event.seat]
    assert held is not None, "only a seated player opens a part"
    opened = SeatState(held.player, held.commitment, event.part, held.strategy)
    game.seats = replaced(game.seats, event.seat, opened)


def _game_started(game: Game, event: GameStarted) -> None:
    game.entropy = event.entropy
    game.links = (event.link,)
    game.dealer = event.dealer
    game.totals = (0,) * len(game.seats)


def _round_started(game: Game, event: RoundStarted) -> None:
    seats = len(game.seats)
    none = (0,) * seats
    game.round = event.round
    game.attempt = event.attempt
    game.dealer = event.dealer
    game.active = (event.dealer + 1) % seats
    game.turn = 1
    game.step = "cut"
    game.pack = game.ruleset.pack_for(seats)
    game.hands = ((),) * seats
    game.stock = game.pile = ()
    game.pile_by = ()
    game.melds = ()
    game.opened = game.buys = game.cut_bonus = none
    game.standing = (False,) * seats
    game.offer = game.wanted = game.passed = game.ready = ()
    game.offers = game.reshuffles = 0
    game.bought_last = NOBODY


def _pack_shuffled(game: Game, event: PackShuffled) -> None:
    game.pack = event.pack


def _pack_cut(game: Game, event: PackCut) -> None:
    game.pack = game.pack[event.packet :] + game.pack[: event.packet]
    seat = event.seat
    game.totals = replaced(game.totals, seat, game.totals[seat] - event.bonus)
    game.cut_bonus = replaced(game.cut_bonus, seat, event.bonus)


def _hands_dealt(game: Game, event: HandsDealt) -> None:
    game.pack = ()
    game.hands = event.hands
    game.pile = (event.upcard,)
    game.pile_by = (NOBODY,)
    game.stock = event.stock[::-1]
    game.step = "choose"


def _discard_taken(game: Game, event: DiscardTaken) -> None:
    game.pile = game.pile[:-1]
    game.pile_by = game.pile_by[:-1]
    _give(game, event.seat, (event.card,))
    game.step = "play"


def _stock_chosen(game: Game, event: StockChosen) -> None:
    game.step = "offer"


def _discard_offered(game: Game, event: DiscardOffered) -> None:
    game.offer = event.seats
    game.wanted = game.passed = ()
    game.offers += 1


def _buy_wanted(game: Game, event: BuyWanted) -> None:
    game.wanted = (*game.wanted, event.seat)


def _buy_passed(game: Game, event: BuyPassed) -> None:
    game.passed = (*game.passed, event.seat)
    if event.standing:
        game.standing = replaced(game.standing, event.seat, True)


def _offer_closed(game: Game, event: OfferClosed) -> None:
    game.offer = game.wanted = game.passed = ()


def _discard_bought(game: Game, event: DiscardBought) -> None:
    seat = event.seat
    penalty = event.penalty
    game.pile = game.pile[:-1]
    game.pile_by = game.pile_by[:-1]
    game.stock = game.stock[: len(game.stock) - len(penalty)]
    _give(game, seat, (event.card, *penalty))
    game.buys = replaced(game.buys, seat, game.buys[seat] + 1)
    game.bought_last = seat


def _stock_rebuilt(game: Game, event: StockRebuilt) -> None:
    game.stock = event.stock[::-1] + game.stock
    game.pile = game.pile[-event.kept :]
    game.pile_by = game.pile_by[-event.kept :]
    game.reshuffles = event.number


def _stock_drawn(game: Game, event: StockDrawn) -> None:
    game.stock = game.stock[:-1]
    _give(game, event.seat, (event.card,))
    game.step = "play"


def _placed(meld: TableMeld, gone: Card | None, placed: Placed, at: int) -> TableMeld:
    """Return ``meld`` without the joker ``gone``, if any, and with ``placed`` at index ``at`` of the rest."""
    cards = meld.cards
    if gone is not None:
        cards = tuple(lying for lying in cards if card_of(lying) != gone)
    return TableMeld(meld.id, meld.by, meld.kind, (*cards[:at], placed, *cards[at:]))


def _lay(game: Game, number: int, placed: Placed, at: int, gone: Card | None = None) -> None:
    game.melds = replaced(game.melds, number - 1, _placed(game.melds[number - 1], gone, placed, at))


def _contract_opened(game: Game, event: ContractOpened) -> None:
    laid = {card_of(placed) for meld in event.melds for placed in meld.cards}
    freed = event.freed
    if freed is not None:
        _lay(game, freed.meld, Placed(freed.card), freed.at, freed.joker)
        laid.add(freed.card)
    seat = event.seat
    rest = tuple(card for card in game.hands[seat] if card not in laid)
    game.hands = replaced(game.hands, seat, rest)
    game.melds += event.melds
    game.opened = replaced(game.opened, seat, game.turn)


def _card_laid_off(game: Game, event: CardLaidOff) -> None:
    _drop(game, event.seat, card_of(event.card))
    _lay(game, event.meld, event.card, event.at)


def _joker_swapped(game: Game, event: JokerSwapped) -> None:
    _drop(game, event.seat, event.card)
    _lay(game, event.meld, Placed(event.card), event.at, event.joker)
    if event.to is None:
        _give(game, event.seat, (event.joker,))
    else:
        _lay(game, event.to.meld, event.to.joker, event.to.at)


def _card_discarded(game: Game, event: CardDiscarded) -> None:
    seat = event.seat
    _drop(game, seat, event.card)
    game.pile = (*game.pile, event.card)
    game.pile_by = (*game.pile_by, seat)
    if game.hands[seat]:
        game.active = (seat + 1) % len(game.seats)
        game.turn += 1
        game.step = "choose"
        game.offers = 0
        game.bought_last = NOBODY


def _round_ended(game: Game, event: RoundEnded) -> None:
    result = RoundResult(event.round, event.ended_by, event.winner, event.points, event.totals)
    game.results = (*game.results, result)
    game.totals = event.totals
    game.step = "round_over"


def _link_opened(game: Game, event: LinkOpened) -> None:
    game.links = (*game.links, event.link)


def _seat_ready(game: Game, event: SeatReady) -> None:
    game.ready = (*game.ready, event.seat)


def _game_ended(game: Game, event: GameEnded) -> None:
    game.places = event.places
    game.step = "game_over"


def _table_closed(game: Game, event: TableClosed) -> None:
    game.step = "closed"


_EVOLVE: Final[dict[type[Event], Callable[[Game, Any], None]]] = {
    TableOpened: _table_opened,
    SeatTaken: _seat_taken,
    SeatLeft: _seat_left,
    EntropyOpened: _entropy_opened,
    GameStarted: _game_started,
    RoundStarted: _round_started,
    PackShuffled: _pack_shuffled,
    PackCut: _pack_cut,
    HandsDealt: _hands_dealt,
    DiscardTaken: _discard_taken,
    StockChosen: _stock_chosen,
    DiscardOffered: _discard_offered,
    BuyWanted: _buy_wanted,
    BuyPassed: _buy_passed,
    OfferClosed: _offer_closed,
    DiscardBought: _discard_bought,
    StockRebuilt: _stock_rebuilt,
    StockDrawn: _stock_drawn,
    ContractOpened: _contract_opened,
    CardLaidOff: _card_laid_off,
    JokerSwapped: _joker_swapped,
    CardDiscarded: _card_discarded,
    RoundEnded: _round_ended,
    LinkOpened: _link_opened,
    SeatReady: _seat_ready,
    GameEnded: _game_ended,
    TableClosed: _table_closed,
}

EVOLVED: Final = frozenset(_EVOLVE)
"""The event types that the fold knows; a test holds them equal to the union."""
