"""Rows of the archive's projections: what can be asked about games without replaying them.

A projection reads the commits as they are archived and says which rows they change; it is handed in by the
server, which knows what events mean. Its rows go into the same transaction as the commits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from mersey.log.commit import Commit, event_head

Text = str | None | UnsetType
Number = int | None | UnsetType


class GameRow(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a table's game; a field that is not given stays as it is."""

    stream: str
    rules: Text = UNSET
    """The rule set's id."""
    rules_hash: Text = UNSET
    host: Text = UNSET
    status: Text = UNSET
    seat_count: Number = UNSET
    round: Number = UNSET
    opened_at_ms: Number = UNSET
    started_at_ms: Number = UNSET
    ended_at_ms: Number = UNSET


class SeatRow(msgspec.Struct, frozen=True, kw_only=True):
    """Who holds a seat, and how the game ended for it; a field that is not given stays as it is."""

    stream: str
    seat: int
    player: Text = UNSET
    """A player id; names are in the directory."""
    kind: Text = UNSET
    total: Number = UNSET
    place: Number = UNSET


class ResultRow(msgspec.Struct, frozen=True, kw_only=True):
    """What a seat scored in a round; a field that is not given stays as it is."""

    stream: str
    round: int
    seat: int
    points: Number = UNSET
    cut_bonus: Number = UNSET
    total: Number = UNSET


Row = GameRow | SeatRow | ResultRow

Projection = Callable[[Commit], Iterable[Row]]
"""Returns the rows that a commit changes, in order. It must not fail on a commit that it can't read."""

_TABLE: Final[dict[type[Row], tuple[str, tuple[str, ...]]]] = {
    GameRow: ("games", ("stream",)),
    SeatRow: ("seats", ("stream", "seat")),
    ResultRow: ("results", ("stream", "round", "seat")),
}
"""For each kind of row its table and that table's key."""


def no_rows(_: Commit) -> Iterable[Row]:
    """Project nothing."""
    return ()


def upsert(row: Row) -> tuple[str, dict[str, str | int | None]]:
    """Return the statement that adds ``row``, or changes what it gives, and the statement's values."""
    table, key = _TABLE[type(row)]
    values = {name: value for name in row.__struct_fields__ if (value := getattr(row, name)) is not UNSET}
    changes = ", ".join(f"{name} = excluded.{name}" for name in values if name not in key)
    return (
        f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join(':' + name for name in values)}) "
        f"ON CONFLICT ({', '.join(key)}) DO " + (f"UPDATE SET {changes}" if changes else "NOTHING"),
        values,
    )


EventRow = tuple[str, int, int, int, str, int | None, str]
"""A row of ``events``: stream, version, number of the commit, at_ms, kind, seat, body as JSON."""


def event_rows(commit: Commit) -> Iterable[EventRow]:
    """Yield the rows that a commit's events are in the archive.

    Raises:
        UnreadableCommit: an event has no kind.
    """
    for version, event in enumerate(commit.events, start=commit.first):
        kind, seat = event_head(event)
        yield commit.stream, version, commit.number, commit.at_ms, kind, seat, bytes(event).decode()
