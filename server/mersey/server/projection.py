"""What the archive's ``games``, ``seats`` and ``results`` hold of each commit of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

from mersey.game.events import (
    Event,
    GameEnded,
    GameStarted,
    RoundEnded,
    RoundStarted,
    SeatLeft,
    SeatTaken,
    TableClosed,
    TableOpened,
)
from mersey.log.archive_rows import GameRow, ResultRow, Row, SeatRow
from mersey.log.commit import Commit

_EVENT: Final = msgspec.json.Decoder(Event)
_TABLE: Final = "table."


def project(commit: Commit) -> Iterable[Row]:
    """Return the rows that a table's commit changes; none where it can't be read."""
    if not commit.stream.startswith(_TABLE):
        return
    for raw in commit.events:
        try:
            event = _EVENT.decode(raw)
        except (msgspec.MsgspecError, RecursionError):
            return
        rows = _ROWS.get(type(event))
        if rows is not None:
            yield from rows(commit, event)


def _table_opened(commit: Commit, event: TableOpened) -> Iterator[Row]:
    yield GameRow(
        stream=commit.stream,
        rules=event.rules.id,
        rules_hash=event.rules_hash,
        host=event.host,
        status="seating",
        seat_count=event.seats,
        round=0,
        opened_at_ms=commit.at_ms,
    )


def _seat_taken(commit: Commit, event: SeatTaken) -> Iterator[Row]:
    yield SeatRow(stream=commit.stream, seat=event.seat, player=event.player, kind=event.strategy or "player")


def _seat_left(commit: Commit, event: SeatLeft) -> Iterator[Row]:
    yield SeatRow(stream=commit.stream, seat=event.seat, player=None, kind=None)


def _game_started(commit: Commit, event: GameStarted) -> Iterator[Row]:
    yield GameRow(stream=commit.stream, status="running", started_at_ms=commit.at_ms)


def _round_started(commit: Commit, event: RoundStarted) -> Iterator[Row]:
    yield GameRow(stream=commit.stream, round=event.round)


def _round_ended(commit: Commit, event: RoundEnded) -> Iterator[Row]:
    for seat, (points, total) in enumerate(zip(event.points, event.totals, strict=True)):
        yield ResultRow(stream=commit.stream, round=event.round, seat=seat, points=points, total=total)
        yield SeatRow(stream=commit.stream, seat=seat, total=total)


def _game_ended(commit: Commit, event: GameEnded) -> Iterator[Row]:
    yield GameRow(stream=commit.stream, status="ended", ended_at_ms=commit.at_ms)
    for seat, (total, place) in enumerate(zip(event.totals, event.places, strict=True)):
        yield SeatRow(stream=commit.stream, seat=seat, total=total, place=place)


def _table_closed(commit: Commit, event: TableClosed) -> Iterator[Row]:
    yield GameRow(stream=commit.stream, status="closed", ended_at_ms=commit.at_ms)


_ROWS: Final[dict[type[Event], Callable[[Commit, Any], Iterator[Row]]]] = {
    TableOpened: _table_opened,
    SeatTaken: _seat_taken,
    SeatLeft: _seat_left,
    GameStarted: _game_started,
    RoundStarted: _round_started,
    RoundEnded: _round_ended,
    GameEnded: _game_ended,
    TableClosed: _table_closed,
}
