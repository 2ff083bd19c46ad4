"""Decide: what a command causes, or why it is refused. Pure; nothing is changed (design sections 1 and 4).

The same game, actor and command always give the same events: the time is the shell's
business, and chance comes from the table's own links. So a recorded cause can be
decided again, years later, and must give what was recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mersey.game import melding, offers, rounds, seating
from mersey.game.chance import FAIR, Chance
from mersey.game.commands import Close, Command, LeaveSeat, OpenEntropy, OpenTable, StartGame, TakeSeat
from mersey.game.draft import Draft
from mersey.game.events import (
    BuyPassed,
    BuyWanted,
    CardDiscarded,
    DiscardTaken,
    Event,
    SeatReady,
    StockChosen,
)
from mersey.game.gates import check_gate
from mersey.game.state import Game
from mersey.rules.actions import (
    Action,
    Buy,
    ChooseStock,
    Cut,
    Discard,
    LayOff,
    OpenContract,
    Pass,
    Ready,
    SwapJoker,
    TakeDiscard,
)


def decide(game: Game, actor: str, command: Command, chance: Chance = FAIR) -> tuple[Event, ...]:
    """Return the events, one or more, that ``command`` by ``actor`` causes.

    Raises:
        Refusal: by the rules, with the first code that applies (rules.md section 10).
        TableRefusal: by the table: seats, host, start.
    """
    draft = Draft(game, chance)
    table = _TABLE.get(type(command))
    if table is not None:
        table(draft, actor, command)
    else:
        kind: type[Action] = type(command)  # type: ignore[assignment]  # the rest of the union is actions
        seat = check_gate(game, game.seat_of(actor), kind)
        _PLAY[kind](draft, seat, command)
    return tuple(draft.events)


def _cut(draft: Draft, seat: int, command: Cut) -> None:
    rounds.cut_pack(draft, command.aim)


def _take_discard(draft: Draft, seat: int, command: TakeDiscard) -> None:
    draft.emit(DiscardTaken(seat=seat, card=draft.game.pile[-1]))


def _choose_stock(draft: Draft, seat: int, command: ChooseStock) -> None:
    draft.emit(StockChosen(seat=seat))
    offers.offer_or_draw(draft)


def _buy(draft: Draft, seat: int, command: Buy) -> None:
    draft.emit(BuyWanted(seat=seat))
    offers.settle(draft)


def _pass(draft: Draft, seat: int, command: Pass) -> None:
    draft.emit(BuyPassed(seat=seat, standing=command.standing))
    offers.settle(draft)


def _open_contract(draft: Draft, seat: int, command: OpenContract) -> None:
    draft.emit(melding.open_contract(draft.game, seat, command))
    if draft.game.contract.whole_hand:
        rounds.end_round(draft, "out", seat)


def _lay_off(draft: Draft, seat: int, command: LayOff) -> None:
    draft.emit(melding.lay_off(draft.game, seat, command))


def _swap_joker(draft: Draft, seat: int, command: SwapJoker) -> None:
    draft.emit(melding.swap_joker(draft.game, seat, command))


def _discard(draft: Draft, seat: int, command: Discard) -> None:
    (named,) = melding.pick_cards(draft.game.hands[seat], [command.card])
    draft.emit(CardDiscarded(seat=seat, card=named.card))
    if not draft.game.hands[seat]:
        rounds.end_round(draft, "out", seat)


def _ready(draft: Draft, seat: int, command: Ready) -> None:
    draft.emit(SeatReady(seat=seat))
    game = draft.game
    if len(game.ready) == len(game.seats):
        rounds.start_round(draft, game.round + 1, (game.dealer + 1) % len(game.seats))


_TABLE: Final[dict[type[Command], Callable[[Draft, str, Any], None]]] = {
    OpenTable: seating.open_table,
    TakeSeat: seating.take_seat,
    LeaveSeat: lambda draft, actor, _: seating.leave_seat(draft, actor),
    OpenEntropy: seating.open_entropy,
    StartGame: lambda draft, actor, _: seating.start_game(draft, actor),
    Close: lambda draft, actor, _: seating.close(draft, actor),
}

_PLAY: Final[dict[type[Action], Callable[[Draft, int, Any], None]]] = {
    Cut: _cut,
    TakeDiscard: _take_discard,
    ChooseStock: _choose_stock,
    Buy: _buy,
    Pass: _pass,
    OpenContract: _open_contract,
    LayOff: _lay_off,
    SwapJoker: _swap_joker,
    Discard: _discard,
    Ready: _ready,
}

DECIDED: Final = frozenset(_TABLE) | frozenset(_PLAY)
"""The command types that can be decided; a test holds them equal to the union."""
