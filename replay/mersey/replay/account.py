"""The account of a game: a line for each event, with round headings, results and places, for one viewer.

Every line is made of the event as the viewer was shown it (``mersey.game.view``) and of what is public.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Final

from mersey.client.phrases import Names, contract_named, phrase, seat_name
from mersey.game.events import GameEnded, RoundEnded, RoundStarted
from mersey.game.state import Game
from mersey.game.view import Viewer, view_event
from mersey.replay.timeline import Timeline

WIDTH: Final = 80
"""Columns of a line, wherever its words can be parted."""

_INDENT: Final = " " * 16


def account(timeline: Timeline, viewer: Viewer, names: Names, last: int | None = None) -> Iterator[str]:
    """Yield the lines of the account up to the version ``last``, or the whole."""
    yield f"Table {timeline.state(1).table}, {viewer_named(viewer)}"
    for version in range(1, (timeline.last if last is None else last) + 1):
        yield from entry(timeline, version, viewer, names)


def viewer_named(viewer: Viewer) -> str:
    """Return in words whose eyes are meant."""
    if viewer.seat is not None:
        return f"as {seat_name(viewer.seat)} saw it"
    return "with all cards open" if viewer.role == "open" else "as a spectator saw it"


def entry(timeline: Timeline, version: int, viewer: Viewer, names: Names) -> Iterator[str]:
    """Yield the lines for one version: its event as the viewer was shown it, and what belongs to it."""
    event = timeline.moment(version).event
    after = timeline.state(version)
    if isinstance(event, RoundStarted):
        yield from ("", round_heading(after))
    said = phrase(view_event(event, viewer), names)
    yield from _hung(f"#{version:<7}{said.who:<8}", said.what)
    for label, cards in said.hands:
        yield from _hung(f"{_INDENT}{label:<9} ", " ".join(cards))
    if isinstance(event, RoundEnded):
        yield from result_table(after)
    if isinstance(event, GameEnded):
        yield from ("", *final_table(after, names))


def round_heading(game: Game) -> str:
    """Return the heading of the round that has started: contract, cards, dealer."""
    contract = game.contract
    what = contract_named(contract.sets, contract.runs) + (", the whole hand" if contract.whole_hand else "")
    deals = f"{contract.deal} cards each, {seat_name(game.dealer)} deals"
    return f"Round {game.round} of {len(game.ruleset.rounds)}: {what}; {deals}"


def result_table(game: Game) -> Iterator[str]:
    """Yield the results of the round that ended last, points as the rule set shows them."""
    result = game.results[-1]
    sign = game.ruleset.score.score_sign
    yield _row("seat", range(len(game.seats)))
    yield _row("points", [sign * points for points in result.points])
    if game.ruleset.cut is not None:
        yield _row("cut bonus", [-sign * bonus for bonus in game.cut_bonus])
    yield _row("total", [sign * total for total in result.totals])


def final_table(game: Game, names: Names) -> Iterator[str]:
    """Yield the places, the best first."""
    sign = game.ruleset.score.score_sign
    yield "Final places"
    for seat in sorted(range(len(game.seats)), key=lambda seat: (game.places[seat], seat)):
        held = game.seats[seat]
        player = "" if held is None else names.get(held.player, held.player)
        yield f"  {game.places[seat]}.  {seat_name(seat)}  {sign * game.totals[seat]:>6}  {player}"


def _row(label: str, numbers: Sequence[int]) -> str:
    return f"{_INDENT}{label:<9}" + "".join(f"{number:>6}" for number in numbers)


def _hung(mark: str, text: str) -> list[str]:
    """Return ``text`` after ``mark``, its further lines under its first word."""
    indent = " " * len(mark)
    lines = wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False)
    return [mark + lines[0][len(mark) :], *lines[1:]] if lines else [mark.rstrip()]
