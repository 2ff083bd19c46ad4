"""Conservation: in every state each physical card is in exactly one place (rules.md sections 1 and 3).

A law of the whole game, not a check that play needs: scenarios and tests ask it after
every event.
"""

from __future__ import annotations

from collections import Counter

from mersey.game.state import Game
from mersey.rules.cards import Card
from mersey.rules.melds import card_of
from mersey.rules.refusals import MerseyError


class CardsLost(MerseyError):
    """A state in which a physical card is nowhere, twice, or not of the pack: a fault of the engine."""


def cards_of(game: Game) -> Counter[Card]:
    """Return how often each physical card lies at the table: pack, hands, stock, discard pile and melds."""
    places = Counter(game.pack)
    for hand in game.hands:
        places.update(hand)
    places.update(game.stock)
    places.update(game.pile)
    for meld in game.melds:
        places.update(map(card_of, meld.cards))
    return places


def check_cards(game: Game) -> None:
    """Raise unless every card of the pack is in exactly one place, and the pile knows its discarders.

    Before the first round there are no cards, and nothing is checked.

    Raises:
        CardsLost: names the cards.
    """
    if game.round == 0:
        return
    found = cards_of(game)
    whole = Counter(game.ruleset.pack_for(len(game.seats)))
    faults = [f"{card} is nowhere" for card in sorted(whole - found)]
    faults += [
        f"{card} is in {found[card]} places" if card in whole else f"{card} is not of the pack"
        for card in sorted(found - whole)
    ]
    if len(game.pile) != len(game.pile_by):
        faults.append(f"{len(game.pile)} discards have {len(game.pile_by)} discarders")
    if faults:
        raise CardsLost("; ".join(faults))
