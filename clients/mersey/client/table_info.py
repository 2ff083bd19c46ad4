"""What everybody may know of a table or a recorded game, as values."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

import msgspec

from mersey.client.wire import WireError, table_id
from mersey.rules.ruleset import RuleSet
from mersey.v1 import replay_pb2, table_pb2

TableState = Literal["seating", "running", "ended", "closed", "unknown"]

_STATES: Final[dict[int, TableState]] = {
    int(table_pb2.TABLE_STATE_SEATING): "seating",
    int(table_pb2.TABLE_STATE_RUNNING): "running",
    int(table_pb2.TABLE_STATE_ENDED): "ended",
    int(table_pb2.TABLE_STATE_CLOSED): "closed",
}


class SeatInfo(NamedTuple):
    """Who holds a seat: ``player`` is empty where it is free, ``strategy`` names a bot of the server."""

    seat: int
    player: str
    display_name: str
    strategy: str


class TableInfo(NamedTuple):
    """A table: its id, where it stands, its rules, its seats."""

    table: str
    state: TableState
    rules: RuleSet
    host: str
    seats: tuple[SeatInfo, ...]
    version: int
    round: int

    @property
    def finished(self) -> bool:
        """Whether nothing will happen at the table any more."""
        return self.state in ("ended", "closed")

    @property
    def free(self) -> int:
        """How many seats are free."""
        return sum(not seat.player for seat in self.seats)


class GameInfo(NamedTuple):
    """A recorded game; ``totals`` and ``places`` are by seat, empty where there are none yet."""

    table: str
    state: TableState
    rules: str
    seats: tuple[SeatInfo, ...]
    totals: tuple[int, ...]
    places: tuple[int, ...]
    round: int
    version: int
    create_time_ms: int
    update_time_ms: int


class Verified(NamedTuple):
    """What a check of a game's record found; ``fault_commit`` is 0 where nothing is wrong."""

    ok: bool
    checks: tuple[str, ...]
    fault_commit: int
    fault: str


def table_from_proto(message: table_pb2.Table) -> TableInfo:
    """Return the table in a message; WireError where its rules can't be read."""
    try:
        rules = msgspec.json.decode(message.rules_json, type=RuleSet)
    except msgspec.MsgspecError as error:
        raise WireError("table.rules_json", f"not a rule set: {error}") from error
    return TableInfo(
        table_id(message.name, "table.name"),
        _STATES.get(message.state, "unknown"),
        rules,
        message.host,
        tuple(map(_seat, message.seats)),
        message.version,
        message.round,
    )


def _seat(message: table_pb2.Seat) -> SeatInfo:
    return SeatInfo(message.seat, message.player, message.display_name, message.strategy)


def game_from_proto(message: replay_pb2.Game) -> GameInfo:
    """Return the recorded game in a message."""
    return GameInfo(
        table_id(message.name, "game.name"),
        _STATES.get(message.state, "unknown"),
        message.rules,
        tuple(map(_seat, message.seats)),
        tuple(message.totals),
        tuple(message.places),
        message.round,
        message.version,
        message.create_time_ms,
        message.update_time_ms,
    )


def verified_from_proto(message: replay_pb2.VerifyGameResponse) -> Verified:
    """Return what a check found."""
    return Verified(message.ok, tuple(message.checks), message.fault_commit, message.fault)
