"""The table at a version, in text of 80 columns, from the view of who looks and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Final

from mersey.client.phrases import Names, by_suit, contract_named, seat_name, seats_named
from mersey.game.seen import SeatView, TableView
from mersey.replay.account import WIDTH

_STEP: Final = {
    "seating": "seats are being taken",
    "cut": "before the deal",
    "choose": "{active} draws",
    "offer": "the discard is offered",
    "play": "{active} has drawn and plays",
    "round_over": "the round is over",
    "game_over": "the game is over",
    "closed": "the table is closed",
}
_OPENED: Final = {"no": "-", "this_turn": "this turn", "earlier": "yes"}


def state_text(view: TableView, names: Names, score_sign: int = 1) -> list[str]:
    """Return the lines that show ``view``: where the game stands, seats, hands, melds, piles."""
    lines = [_headline(view), *_seat_lines(view, names, score_sign)]
    if view.round:
        lines += [*_hand_lines(view), *_meld_lines(view), _pile_line(view)]
    if view.offer is not None:
        answered = f"answered: {seats_named(view.offer.answered)}"
        lines.append(f"{view.offer.card} is offered to {seats_named(view.offer.seats)}; {answered}")
    return lines


def _headline(view: TableView) -> str:
    step = _STEP.get(view.step, "").format(active=seat_name(view.active))
    if view.contract is None:
        return f"Version {view.version}: {step}"
    contract = contract_named(view.contract.sets, view.contract.runs)
    where = f"round {view.round} of {view.rounds} ({contract}), turn {view.turn}"
    return f"Version {view.version}: {where}, {step}"


def _seat_lines(view: TableView, names: Names, score_sign: int) -> Iterator[str]:
    yield "          cards  bought  opened      total  player"
    for seat, held in enumerate(view.seats):
        mark = ">" if seat == view.active and view.round else " "
        total = score_sign * view.totals[seat] if view.totals else 0
        place = f"  place {view.places[seat]}" if view.places else ""
        yield f"{mark} {seat_name(seat)}  {_seat_columns(held, total, names)}{place}".rstrip()


def _seat_columns(held: SeatView | None, total: int, names: Names) -> str:
    if held is None:
        return "(free)"
    player = names.get(held.player, held.player)
    return f"{held.cards:>5}  {held.buys:>6}  {_OPENED[held.opened]:<9}{total:>8}  {player}"


def _hand_lines(view: TableView) -> Iterator[str]:
    if view.hands is not None and any(view.hands):
        for seat, hand in enumerate(view.hands):
            yield from _cards(f"  {seat_name(seat)}  ", by_suit(hand))
    elif view.hand:
        yield from _cards("  own hand  ", by_suit(view.hand))


def _meld_lines(view: TableView) -> Iterator[str]:
    for meld in view.melds:
        yield from _cards(f"{meld.id:>3}  {seat_name(meld.by)}  {meld.kind} ", meld.cards)


def _pile_line(view: TableView) -> str:
    top = f", {view.discard_top} on top" if view.discard_top else ""
    rebuilt = f" (rebuilding {view.reshuffles})" if view.reshuffles else ""
    return f"Stock {view.stock}{rebuilt}. Discards {view.pile}{top}."


def _cards(label: str, cards: tuple[str, ...]) -> list[str]:
    indent = " " * len(label)
    lines = wrap(" ".join(cards) or "-", WIDTH, initial_indent=indent, subsequent_indent=indent)
    return [label + lines[0][len(label) :], *lines[1:]]
