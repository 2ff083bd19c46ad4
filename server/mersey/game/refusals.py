"""Refusals of the table itself: seats, host, start; beside those of the rules (rules.md section 10)."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from mersey.rules.refusals import MerseyError


class TableCode(StrEnum):
    """Why a table refused what is not a matter of the rules."""

    NO_SUCH_TABLE = "no_such_table"
    TABLE_EXISTS = "table_exists"
    TABLE_CLOSED = "table_closed"
    PLAYERS_OUT_OF_RANGE = "players_out_of_range"
    NO_SUCH_SEAT = "no_such_seat"
    SEAT_TAKEN = "seat_taken"
    TABLE_FULL = "table_full"
    ALREADY_SEATED = "already_seated"
    NOT_AT_THE_TABLE = "not_at_the_table"
    GAME_STARTED = "game_started"
    SEATS_EMPTY = "seats_empty"
    NOT_THE_HOST = "not_the_host"
    NO_COMMITMENT = "no_commitment"
    ENTROPY_MISMATCH = "entropy_mismatch"
    ENTROPY_OPENED = "entropy_opened"
    ROUND_NOT_OVER = "round_not_over"
    ALREADY_READY = "already_ready"


SENTENCE: Final[dict[TableCode, str]] = {
    TableCode.NO_SUCH_TABLE: "There is no such table.",
    TableCode.TABLE_EXISTS: "The table is open already.",
    TableCode.TABLE_CLOSED: "The table is closed.",
    TableCode.PLAYERS_OUT_OF_RANGE: "The rule set is not for that number of players.",
    TableCode.NO_SUCH_SEAT: "The table has no such seat.",
    TableCode.SEAT_TAKEN: "Somebody sits there.",
    TableCode.TABLE_FULL: "Every seat is taken.",
    TableCode.ALREADY_SEATED: "You have a seat at this table.",
    TableCode.NOT_AT_THE_TABLE: "You have no seat at this table.",
    TableCode.GAME_STARTED: "The game has started.",
    TableCode.SEATS_EMPTY: "Every seat must be taken before the game starts.",
    TableCode.NOT_THE_HOST: "Only the table's host may do that.",
    TableCode.NO_COMMITMENT: "You have committed to no random part.",
    TableCode.ENTROPY_MISMATCH: "The part is not the one that was committed to.",
    TableCode.ENTROPY_OPENED: "Your random part is open already.",
    TableCode.ROUND_NOT_OVER: "The round is not over.",
    TableCode.ALREADY_READY: "You are ready already.",
}

assert SENTENCE.keys() == set(TableCode), "every code has its sentence"


class TableRefusal(MerseyError):
    """A command that the table does not take now; nothing has changed."""

    def __init__(self, code: TableCode, fact: str = "") -> None:
        self.code = code
        self.sentence = SENTENCE[code]
        self.fact = fact
        super().__init__(f"{code}: {self.sentence}" + (f" ({fact})" if fact else ""))
