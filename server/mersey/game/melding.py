"""Melding: opening, laying off and swapping, checked in the order of rules.md section 10.

Each function takes a seat that the gate has let through and gives the one event that
comes of it; nothing is changed here.
"""

from __future__ import annotations

from collections.abc import Sequence

from mersey.game.events import CardLaidOff, ContractOpened, JokerFreed, JokerMoved, JokerSwapped
from mersey.game.gates import check_not_opened, check_opened
from mersey.game.state import Game
from mersey.rules.actions import Destination, LayOff, NamedMeld, OpenContract, OpeningSwap, SwapJoker
from mersey.rules.cards import Card, in_pack_order
from mersey.rules.contracts import check_contract, check_opening_meld
from mersey.rules.melds import (
    Meld,
    Named,
    NamedCard,
    Placed,
    TableMeld,
    card_of,
    find_joker,
    fit,
    resolve_meld,
    swapped,
)
from mersey.rules.refusals import Code, Refusal

_MISSING_JOKER = Card("X0")
"""Stands for the joker that an opening's swap fails to free, until the swap gets its own refusal."""


def pick_cards(hand: Sequence[Card], names: Sequence[Named], freed: Card | None = None) -> list[NamedCard]:
    """Return the physical cards that a player names: exact ones first, then the lowest free copies.

    ``freed`` is a joker from the table, which a bare ``X`` means before any in the hand.

    >>> pick_cards([Card("7S2"), Card("7S1")], [Named("7S"), Named("7S1")])
    [NamedCard(card='7S2', meaning=''), NamedCard(card='7S1', meaning='')]

    Raises:
        Refusal: ``card_named_twice``, ``card_not_in_hand``.
    """
    split = [name.partition("=")[::2] for name in names]
    exact = [card for card, _ in split if _is_exact(card)]
    if len(set(exact)) < len(exact):
        raise Refusal(Code.CARD_NAMED_TWICE, sorted({card for card in exact if exact.count(card) > 1}))
    pool = [card for card in in_pack_order(hand) if card not in exact]
    pool = pool if freed is None or freed in exact else [freed, *pool]
    picked = []
    for card, meaning in split:
        if _is_exact(card):
            held: str | None = card if card in hand or card == freed else None
        else:
            held = next((free for free in pool if free.startswith(card)), None)
        if held is None:
            raise Refusal(Code.CARD_NOT_IN_HAND, [card])
        if held in pool:
            pool.remove(Card(held))
        picked.append(NamedCard(Card(held), meaning))
    return picked


def _is_exact(card: str) -> bool:
    return len(card) > (1 if card[0] == "X" else 2)


def find_meld(game: Game, number: int) -> TableMeld:
    """Return the meld of that number; Refusal ``no_such_meld`` where there is none."""
    if not 1 <= number <= len(game.melds):
        raise Refusal(Code.NO_SUCH_MELD)
    return game.melds[number - 1]


def open_contract(game: Game, seat: int, command: OpenContract) -> ContractOpened:
    """Return the opening (section 5), with its swap where the rule set has one (section 7)."""
    rules = game.ruleset
    contract = game.contract
    swaps = command.swaps
    allowed = rules.swap.swap_in_opening and not contract.whole_hand
    if len(swaps) > 1 or (swaps and not allowed):
        raise Refusal(Code.SWAP_LIMIT, [swap.card for swap in swaps])
    swap = swaps[0] if swaps else None
    hand = game.hands[seat]
    names = [name for meld in command.melds for name in meld.cards]
    freed = _freed_by(game, swap, hand, names) if swap else None
    picked = pick_cards(hand, [*names, swap.card] if swap else names, freed)
    check_not_opened(game, seat)
    if swap:
        find_meld(game, swap.meld)
    laid = [_opening_meld(game, meld, cards) for meld, cards in _by_meld(command.melds, picked)]
    used = {card_of(placed) for meld in laid for placed in meld.cards}
    given = _give_natural(game, swap, picked[-1].card, used) if swap else None
    check_contract(laid, contract, rules.melds)
    _check_left(len(hand) - len(used), contract.whole_hand)
    first = len(game.melds) + 1
    melds = tuple(TableMeld(first + n, seat, meld.kind, meld.cards) for n, meld in enumerate(laid))
    return ContractOpened(seat=seat, melds=melds, freed=given)


def _check_left(left: int, whole_hand: bool) -> None:
    """Refuse a wrong number of cards left; a swap gives one card and lays one that was not in the hand."""
    if whole_hand and left:
        raise Refusal(Code.MUST_USE_WHOLE_HAND)
    if not whole_hand and left < 1:
        raise Refusal(Code.MUST_KEEP_DISCARD)


def _freed_by(game: Game, swap: OpeningSwap, hand: Sequence[Card], names: Sequence[Named]) -> Card:
    """Return the joker that ``swap`` frees; where it frees none, the one that the opening will miss."""
    try:
        meld = find_meld(game, swap.meld)
        return card_of(meld.cards[find_joker(meld, swap.card, game.ruleset.swap)])
    except Refusal:
        exact = (Card(name.partition("=")[0]) for name in names if name[0] == "X")
        return next((card for card in exact if _is_exact(card) and card not in hand), _MISSING_JOKER)


def _by_meld(
    melds: Sequence[NamedMeld], picked: Sequence[NamedCard]
) -> list[tuple[NamedMeld, Sequence[NamedCard]]]:
    grouped = []
    start = 0
    for meld in melds:
        grouped.append((meld, picked[start : start + len(meld.cards)]))
        start += len(meld.cards)
    return grouped


def _opening_meld(game: Game, named: NamedMeld, cards: Sequence[NamedCard]) -> Meld:
    meld = resolve_meld(named.kind, cards)
    check_opening_meld(meld, game.contract, game.ruleset.melds)
    return meld


def _give_natural(game: Game, swap: OpeningSwap, card: Card, used: set[Card]) -> JokerFreed:
    meld = find_meld(game, swap.meld)
    index = find_joker(meld, card, game.ruleset.swap)
    joker = card_of(meld.cards[index])
    if joker not in used:
        raise Refusal(Code.JOKER_DESTINATION_REQUIRED)
    return JokerFreed(card, meld.id, joker, swapped(meld, index, card).at)


def lay_off(game: Game, seat: int, command: LayOff) -> CardLaidOff:
    """Return the lay-off (section 5)."""
    hand = game.hands[seat]
    (named,) = pick_cards(hand, [command.card])
    check_opened(game, seat)
    found = fit(find_meld(game, command.meld), named, game.ruleset.melds)
    _check_left(len(hand) - 1, whole_hand=False)
    return CardLaidOff(seat=seat, meld=command.meld, card=found.placed, at=found.at)


def swap_joker(game: Game, seat: int, command: SwapJoker) -> JokerSwapped:
    """Return the swap with the joker's new place in it (section 7)."""
    hand = game.hands[seat]
    card = pick_cards(hand, [command.card])[0].card
    check_opened(game, seat)
    meld = find_meld(game, command.meld)
    if command.to is not None:
        find_meld(game, command.to.meld)
    index = find_joker(meld, card, game.ruleset.swap)
    joker = card_of(meld.cards[index])
    natural = swapped(meld, index, card)
    to = _destination(game, meld, joker, natural.placed, natural.at, command.to)
    if to is not None:
        _check_left(len(hand) - 1, whole_hand=False)
    return JokerSwapped(seat=seat, meld=meld.id, card=card, joker=joker, at=natural.at, to=to)


def _destination(
    game: Game, source: TableMeld, joker: Card, natural: Placed, at: int, to: Destination | None
) -> JokerMoved | None:
    rule = game.ruleset.swap.freed_joker
    if rule == "hand":
        if to is not None:
            raise Refusal(Code.JOKER_DESTINATION_INVALID, [to.joker])
        return None
    if to is None:
        raise Refusal(Code.JOKER_DESTINATION_REQUIRED)
    name, _, meaning = to.joker.partition("=")
    target = game.melds[to.meld - 1]
    if to.meld == source.id:
        rest = tuple(placed for placed in source.cards if card_of(placed) != joker)
        target = TableMeld(source.id, source.by, source.kind, (*rest[:at], natural, *rest[at:]))
    try:
        found = fit(target, NamedCard(joker, meaning), game.ruleset.melds)
    except Refusal as refusal:
        if refusal.code is Code.JOKER_POSITION_REQUIRED:
            raise
        raise Refusal(Code.JOKER_DESTINATION_INVALID, [to.joker]) from refusal
    other_asked = rule == "other_meld" and to.meld == source.id
    if other_asked or name not in ("X", joker):
        raise Refusal(Code.JOKER_DESTINATION_INVALID, [to.joker])
    return JokerMoved(to.meld, found.placed, found.at)
