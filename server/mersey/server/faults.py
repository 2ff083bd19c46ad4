"""What the service itself answers when it does not do as asked, beside the refusals of rules and table.

ServiceFault (a MerseyError)
├── FieldFault    a field of a request is malformed
└── (by code)     everything else, a `ServiceCode` each
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from mersey.rules.refusals import MerseyError


class ServiceCode(StrEnum):
    """Why the service did not do as asked, where neither rules nor table refused it."""

    INVALID_ARGUMENT = "invalid_argument"
    UNAUTHENTICATED = "unauthenticated"
    PERMISSION_DENIED = "permission_denied"
    NO_SPECTATORS = "no_spectators"
    COMMAND_ID_REUSED = "command_id_reused"
    VERSION_MISMATCH = "version_mismatch"
    VERSION_AHEAD = "version_ahead"
    NO_SUCH_VERSION = "no_such_version"
    RECORD_NOT_OPEN = "record_not_open"
    NO_SUCH_RULES = "no_such_rules"
    RULES_INVALID = "rules_invalid"
    NO_SUCH_STRATEGY = "no_such_strategy"
    NOT_WATCHED = "not_watched"
    TABLE_UNAVAILABLE = "table_unavailable"
    TOO_SLOW = "too_slow"
    STOPPING = "stopping"
    LOG_FULL = "log_full"
    LOG_REFUSED = "log_refused"
    LOG_UNAVAILABLE = "log_unavailable"
    OUTCOME_UNKNOWN = "outcome_unknown"
    ARCHIVE_UNAVAILABLE = "archive_unavailable"
    ARCHIVE_BLOCKED = "archive_blocked"
    INTERNAL = "internal"


SENTENCE: Final[dict[ServiceCode, str]] = {
    ServiceCode.INVALID_ARGUMENT: "A field of the request is malformed.",
    ServiceCode.UNAUTHENTICATED: "Send a valid token as `authorization: Bearer TOKEN`.",
    ServiceCode.PERMISSION_DENIED: "Your token's role may not do that.",
    ServiceCode.NO_SPECTATORS: "This table is shown to nobody without a seat, or not yet.",
    ServiceCode.COMMAND_ID_REUSED: "This command id was used for another command.",
    ServiceCode.VERSION_MISMATCH: "The table has moved on from the version that you saw.",
    ServiceCode.VERSION_AHEAD: "This server has not seen that version of the table yet: try again.",
    ServiceCode.NO_SUCH_VERSION: "The table has no such version.",
    ServiceCode.RECORD_NOT_OPEN: "All cards and the record are shown once the game has ended.",
    ServiceCode.NO_SUCH_RULES: "There is no such rule set.",
    ServiceCode.RULES_INVALID: "The rule set has faults.",
    ServiceCode.NO_SUCH_STRATEGY: "There is no such strategy.",
    ServiceCode.NOT_WATCHED: "This stream does not watch that table.",
    ServiceCode.TABLE_UNAVAILABLE: "The table's record can't be read by this server.",
    ServiceCode.TOO_SLOW: "You read too slowly: resume from the version that you have.",
    ServiceCode.STOPPING: "The server is stopping: resume elsewhere from the version that you have.",
    ServiceCode.LOG_FULL: "The log is full; nothing was done: try again when its admin has raised the limit.",
    ServiceCode.LOG_REFUSED: "The log does not take this command; nothing was done.",
    ServiceCode.LOG_UNAVAILABLE: "The log can't be reached; nothing was done: try again.",
    ServiceCode.OUTCOME_UNKNOWN: "It is not known whether this was done: try again with the same command id.",
    ServiceCode.ARCHIVE_UNAVAILABLE: "The archive can't be written or read.",
    ServiceCode.ARCHIVE_BLOCKED: "The archive can't be written now, its disk may be full: try again later.",
    ServiceCode.INTERNAL: "The server made a mistake; its log has more under the incident id.",
}

assert SENTENCE.keys() == set(ServiceCode), "every code has its sentence"


class ServiceFault(MerseyError):
    """The service did not do as asked; ``facts`` are for programs, as text."""

    def __init__(self, code: ServiceCode, fact: str = "", **facts: str | int) -> None:
        self.code = code
        self.fact = fact
        self.facts = MappingProxyType({key: str(value) for key, value in facts.items()})
        self.sentence = SENTENCE[code]
        super().__init__(f"{code}: {self.sentence}" + (f" ({fact})" if fact else ""))


class FieldFault(ServiceFault):
    """Fields of a request are malformed: ``faults`` says for each what is wrong with it."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        self.faults = MappingProxyType(dict(faults))
        super().__init__(
            ServiceCode.INVALID_ARGUMENT, "; ".join(f"{field}: {fault}" for field, fault in faults.items())
        )
