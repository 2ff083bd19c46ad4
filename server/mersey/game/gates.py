"""Gates: whether a seat may now do a kind of thing at all, whatever the cards (rules.md section 10, step 1).

Written once; ``decide`` asks before it looks at a command's cards, ``choices`` asks to
say why a kind is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mersey.game.refusals import TableCode, TableRefusal
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
from mersey.rules.refusals import Code, Refusal

RUNNING: Final = frozenset({"cut", "choose", "offer", "play", "round_over"})
"""The steps of a game that is going on."""


def check_gate(game: Game, seat: int | None, kind: type[Action]) -> int:
    """Return ``seat`` where it may do ``kind`` now, as far as the cards are not asked.

    Raises:
        Refusal: the first hit of step 1 of rules.md section 10.
        TableRefusal: ``round_not_over`` or ``already_ready``, for ``ready`` once the pack is cut.
    """
    if seat is None:
        raise Refusal(Code.NOT_SEATED)
    step = game.step
    if step not in RUNNING:
        raise Refusal(Code.GAME_NOT_RUNNING)
    if kind is Ready:
        _check_ready(game, seat)
        return seat
    if step == "round_over":
        raise Refusal(Code.ROUND_OVER)
    _GATES[kind](game, seat)
    return seat


def _check_ready(game: Game, seat: int) -> None:
    if game.step == "cut":
        raise Refusal(Code.MUST_CUT_FIRST)
    if game.step != "round_over":
        raise TableRefusal(TableCode.ROUND_NOT_OVER)
    if seat in game.ready:
        raise TableRefusal(TableCode.ALREADY_READY)


def _check_cut(game: Game, seat: int) -> None:
    if game.ruleset.cut is None:
        raise Refusal(Code.NOT_THE_CUTTER)
    if game.step != "cut":
        raise Refusal(Code.ALREADY_CUT)
    if seat != game.cutter:
        raise Refusal(Code.NOT_THE_CUTTER)


def why_not_buy(game: Game, seat: int) -> Code | None:
    """Return why ``seat`` has no part in an offer of the top discard, None where it has (section 6)."""
    rules = game.ruleset.buy
    if seat == game.active:
        return Code.ACTIVE_CANNOT_BUY
    if not rules.discarder_may_buy and game.pile_by[-1] == seat:
        return Code.DISCARDER_CANNOT_BUY
    if not rules.opened_may_buy and game.opened[seat]:
        return Code.OPENED_CANNOT_BUY
    if game.bought_last == seat:
        return Code.BOUGHT_LAST
    if rules.max_buys_per_round is not None and game.buys[seat] >= rules.max_buys_per_round:
        return Code.BUY_LIMIT_REACHED
    return None


def _check_answer(game: Game, seat: int) -> None:
    if game.step == "cut":
        raise Refusal(Code.MUST_CUT_FIRST)
    if game.step != "offer":
        raise Refusal(Code.NO_BUY_WINDOW)
    reason = why_not_buy(game, seat)
    if reason is not None:
        raise Refusal(reason)
    if seat in game.wanted or seat in game.passed:
        raise Refusal(Code.ALREADY_ANSWERED)


def _check_turn(game: Game, seat: int) -> None:
    if game.step == "cut":
        raise Refusal(Code.MUST_CUT_FIRST)
    if seat != game.active:
        raise Refusal(Code.NOT_YOUR_TURN)
    if game.step == "offer":
        raise Refusal(Code.BUY_WINDOW_OPEN)


def _check_draw(game: Game, seat: int) -> None:
    _check_turn(game, seat)
    if game.step == "play":
        raise Refusal(Code.ALREADY_DRAWN)


def _check_take(game: Game, seat: int) -> None:
    _check_draw(game, seat)
    if not game.pile:
        raise Refusal(Code.NO_DISCARD)


def _check_play(game: Game, seat: int) -> None:
    _check_turn(game, seat)
    if game.step == "choose":
        raise Refusal(Code.MUST_DRAW_FIRST)


def _check_meld_on_table(game: Game, seat: int) -> None:
    _check_play(game, seat)
    if game.contract.whole_hand:
        raise Refusal(Code.NO_MELDING_THIS_ROUND)


_GATES: Final[dict[type[Action], Callable[[Game, int], None]]] = {
    Cut: _check_cut,
    TakeDiscard: _check_take,
    ChooseStock: _check_draw,
    Buy: _check_answer,
    Pass: _check_answer,
    OpenContract: _check_play,
    LayOff: _check_meld_on_table,
    SwapJoker: _check_meld_on_table,
    Discard: _check_play,
}


def check_not_opened(game: Game, seat: int) -> None:
    """Raise ``already_opened`` where the seat has opened in this round (section 5)."""
    if game.opened[seat]:
        raise Refusal(Code.ALREADY_OPENED)


def check_opened(game: Game, seat: int) -> None:
    """Raise ``not_opened`` or ``opened_this_turn`` unless the seat may lay off and swap (section 5)."""
    opened = game.opened[seat]
    if not opened:
        raise Refusal(Code.NOT_OPENED)
    if opened == game.turn and not game.ruleset.melds.lay_off_on_opening_turn:
        raise Refusal(Code.OPENED_THIS_TURN)
