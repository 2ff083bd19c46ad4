"""Offers: the discard is offered, bought or let go, and the active player's draw comes (rules.md 6 and 8)."""

from __future__ import annotations

from mersey.game.draft import Draft
from mersey.game.events import (
    BuyPassed,
    DiscardBought,
    DiscardOffered,
    OfferClosed,
    StockDrawn,
    StockRebuilt,
)
from mersey.game.gates import why_not_buy
from mersey.game.rounds import end_round
from mersey.game.state import Game


def may_rebuild(game: Game) -> bool:
    """Return whether the stock may be rebuilt once more in this round (section 8)."""
    return game.reshuffles < game.ruleset.stock.max_reshuffles


def penalty_to_be_had(game: Game) -> bool:
    """Return whether a buyer of the top discard could get the penalty cards (section 8)."""
    under_the_next_top = max(0, len(game.pile) - 2) if may_rebuild(game) else 0
    return len(game.stock) + under_the_next_top >= game.ruleset.buy.penalty_cards


def offered_seats(game: Game) -> tuple[int, ...]:
    """Return the seats that the top discard would be offered to, nearest to the active player first."""
    if not game.pile or not penalty_to_be_had(game):
        return ()
    seats = len(game.seats)
    clockwise = ((game.active + step) % seats for step in range(1, seats))
    return tuple(seat for seat in clockwise if why_not_buy(game, seat) is None)


def offer_or_draw(draft: Draft) -> None:
    """Offer the top discard; where nothing can be offered, draw for the active player."""
    game = draft.game
    seats = offered_seats(game)
    if not seats:
        draw(draft)
        return
    draft.emit(DiscardOffered(card=game.pile[-1], seats=seats))
    for seat in seats:
        if game.standing[seat]:
            draft.emit(BuyPassed(seat=seat))
    settle(draft)


def settle(draft: Draft) -> None:
    """Close the offer as soon as no seat still to answer could come before a buyer."""
    game = draft.game
    buyer = None
    for seat in game.offer:
        if seat in game.wanted:
            buyer = seat
            break
        if seat not in game.passed:
            return
    draft.emit(OfferClosed(wanted=game.wanted, passed=game.passed, buyer=buyer))
    if buyer is None:
        draw(draft)
    else:
        _buy(draft, buyer)


def _buy(draft: Draft, seat: int) -> None:
    rules = draft.game.ruleset.buy
    if len(draft.game.stock) < rules.penalty_cards:
        _rebuild(draft, kept=2)
    game = draft.game
    penalty = game.stock[len(game.stock) - rules.penalty_cards :][::-1]
    draft.emit(DiscardBought(seat=seat, card=game.pile[-1], penalty=penalty))
    if rules.chain:
        offer_or_draw(draft)
    else:
        draw(draft)


def _rebuild(draft: Draft, kept: int) -> None:
    game = draft.game
    stock = draft.chance.rebuilt(game, game.pile[:-kept])
    draft.emit(StockRebuilt(number=game.reshuffles + 1, kept=kept, stock=stock))


def draw(draft: Draft) -> None:
    """Draw the active player's card from the stock; where none can be had, end the round."""
    game = draft.game
    if not game.stock:
        if len(game.pile) <= 1:
            end_round(draft, "no_card", None)
            return
        if not may_rebuild(game):
            end_round(draft, "reshuffle_limit", None)
            return
        _rebuild(draft, kept=1)
    draft.emit(StockDrawn(seat=game.active, card=draft.game.stock[-1]))
