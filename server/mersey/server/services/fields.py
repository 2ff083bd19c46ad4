"""Reading request fields: a value of ours, or a fault that names the field."""

from __future__ import annotations

import base64
import binascii
from typing import Final

from mersey.game.commands import Spectators
from mersey.rules.refusals import RuleSetError
from mersey.rules.ruleset import RuleSet
from mersey.rules.ruleset_file import FILE_BYTES_MAX, load_ruleset, parse_ruleset, shipped
from mersey.server.faults import FieldFault, ServiceCode, ServiceFault
from mersey.v1 import table_pb2

COMMAND_ID_CHARACTERS_MAX: Final = 64
SEED_CHARACTERS_MAX: Final = 200
PAGE_DEFAULT: Final = 50
PAGE_MAX: Final = 200
COMMITMENT_BYTES: Final = 32
PART_BYTES_MIN: Final = 16
PART_BYTES_MAX: Final = 64

_SPECTATORS: Final[dict[int, Spectators]] = {
    table_pb2.SPECTATORS_UNSPECIFIED: "live",
    table_pb2.SPECTATORS_NONE: "none",
    table_pb2.SPECTATORS_LIVE: "live",
    table_pb2.SPECTATORS_AFTER_ROUND: "after_round",
    table_pb2.SPECTATORS_AFTER_GAME: "after_game",
}


def command_id(text: str) -> str:
    """Return a command id: 1 to 64 characters, all of them printable ASCII."""
    if not 1 <= len(text) <= COMMAND_ID_CHARACTERS_MAX or not (text.isascii() and text.isprintable()):
        raise FieldFault(
            {"command_id": f"must be 1 to {COMMAND_ID_CHARACTERS_MAX} printable ASCII characters"}
        )
    return text


def version(number: int, field: str) -> int:
    """Return a version: 0 or more."""
    if number < 0:
        raise FieldFault({field: f"must be 0 or more, not {number}"})
    return number


def spectators(number: int) -> Spectators:
    """Return who may watch; unset: live."""
    if number not in _SPECTATORS:
        raise FieldFault({"spectators": f"must be one of the values of Spectators, not {number}"})
    return _SPECTATORS[number]


def rule_set(request: table_pb2.CreateTableRequest) -> RuleSet:
    """Return the rule set asked for: one that ships by its id, or the text of a house's file."""
    if request.WhichOneof("rule_set") == "rules_toml":
        if len(request.rules_toml.encode()) > FILE_BYTES_MAX:
            raise FieldFault({"rules_toml": f"must be at most {FILE_BYTES_MAX} bytes"})
        try:
            return parse_ruleset(request.rules_toml, "rules_toml")
        except RuleSetError as error:
            raise ServiceFault(ServiceCode.RULES_INVALID, "; ".join(error.faults)) from None
    if request.rules not in shipped():  # never a path: the file would be one of the server's own
        raise ServiceFault(
            ServiceCode.NO_SUCH_RULES, f"{request.rules[:60]!r} is none of {', '.join(shipped())}"
        )
    return load_ruleset(request.rules)


def seed(text: str) -> str:
    """Return the seed of a given deal, empty for a drawn one."""
    if len(text) > SEED_CHARACTERS_MAX:
        raise FieldFault({"seed": f"must be at most {SEED_CHARACTERS_MAX} characters"})
    return text


def commitment(data: bytes) -> str | None:
    """Return a commitment in hex, None where none is given."""
    if not data:
        return None
    if len(data) != COMMITMENT_BYTES:
        raise FieldFault({"commitment": f"must be {COMMITMENT_BYTES} bytes, not {len(data)}"})
    return data.hex()


def part(data: bytes) -> str:
    """Return a player's random part in hex."""
    if not PART_BYTES_MIN <= len(data) <= PART_BYTES_MAX:
        raise FieldFault({"part": f"must be {PART_BYTES_MIN} to {PART_BYTES_MAX} bytes, not {len(data)}"})
    return data.hex()


def page_size(number: int) -> int:
    """Return how many to list: 1 to 200, 50 where 0 is asked."""
    if not 0 <= number <= PAGE_MAX:
        raise FieldFault({"page_size": f"must be 0 to {PAGE_MAX}, not {number}"})
    return number or PAGE_DEFAULT


def page_token(before: tuple[int, str]) -> str:
    """Return the token of the page before ``before``: (time opened, name)."""
    return base64.urlsafe_b64encode(f"{before[0]}/{before[1]}".encode()).decode()


def page_before(token: str) -> tuple[int, str] | None:
    """Return what a page token says, None for the first page."""
    if not token:
        return None
    try:
        at_ms, _, name = base64.urlsafe_b64decode(token.encode()).decode().partition("/")
        return int(at_ms), name
    except (ValueError, binascii.Error, UnicodeError):
        raise FieldFault({"page_token": "is none that this server gave"}) from None


STATE: Final[dict[str, table_pb2.TableState.ValueType]] = {
    "seating": table_pb2.TABLE_STATE_SEATING,
    "running": table_pb2.TABLE_STATE_RUNNING,
    "ended": table_pb2.TABLE_STATE_ENDED,
    "closed": table_pb2.TABLE_STATE_CLOSED,
}
