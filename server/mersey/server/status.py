"""Errors as gRPC says them: one table of every code and its status, and one function that translates.

Each error leaves as ``google.rpc.Status`` with an ``ErrorInfo`` of domain ``mersey`` whose reason is the code
in upper case; malformed fields come as ``BadRequest`` too. What is not foreseen is INTERNAL with an incident
id: its text stays in the server's own log.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping
from typing import Final

import grpc
from google.protobuf import any_pb2
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]

from mersey.client.errors import CARDS_KEY, FACT_KEY, RETRY_MS_KEY, SECTION_KEY
from mersey.client.wire import Failure, WireError
from mersey.game.refusals import TableCode, TableRefusal
from mersey.log.archive_schema import ArchiveBlocked, ArchiveError
from mersey.log.ports import LogError, LogFull, LogRefused, LogUnavailable, LostRace, OutcomeUnknown
from mersey.rules.refusals import Code, Refusal
from mersey.server.faults import FieldFault, ServiceCode, ServiceFault

DOMAIN: Final = "mersey"

AnyCode = Code | TableCode | ServiceCode

_logger = logging.getLogger(__name__)

_WRONG_NOW: Final = grpc.StatusCode.FAILED_PRECONDITION

STATUS: Final[dict[AnyCode, grpc.StatusCode]] = {
    **dict.fromkeys(Code, _WRONG_NOW),
    Code.NOT_SEATED: grpc.StatusCode.PERMISSION_DENIED,
    **dict.fromkeys(TableCode, _WRONG_NOW),
    TableCode.NO_SUCH_TABLE: grpc.StatusCode.NOT_FOUND,
    TableCode.TABLE_EXISTS: grpc.StatusCode.ALREADY_EXISTS,
    TableCode.PLAYERS_OUT_OF_RANGE: grpc.StatusCode.INVALID_ARGUMENT,
    TableCode.NO_SUCH_SEAT: grpc.StatusCode.INVALID_ARGUMENT,
    TableCode.NOT_AT_THE_TABLE: grpc.StatusCode.PERMISSION_DENIED,
    TableCode.NOT_THE_HOST: grpc.StatusCode.PERMISSION_DENIED,
    TableCode.ENTROPY_MISMATCH: grpc.StatusCode.INVALID_ARGUMENT,
    ServiceCode.INVALID_ARGUMENT: grpc.StatusCode.INVALID_ARGUMENT,
    ServiceCode.UNAUTHENTICATED: grpc.StatusCode.UNAUTHENTICATED,
    ServiceCode.PERMISSION_DENIED: grpc.StatusCode.PERMISSION_DENIED,
    ServiceCode.NO_SPECTATORS: grpc.StatusCode.PERMISSION_DENIED,
    ServiceCode.COMMAND_ID_REUSED: grpc.StatusCode.ALREADY_EXISTS,
    ServiceCode.VERSION_MISMATCH: grpc.StatusCode.ABORTED,
    ServiceCode.VERSION_AHEAD: grpc.StatusCode.UNAVAILABLE,
    ServiceCode.NO_SUCH_VERSION: grpc.StatusCode.OUT_OF_RANGE,
    ServiceCode.RECORD_NOT_OPEN: _WRONG_NOW,
    ServiceCode.NO_SUCH_RULES: grpc.StatusCode.NOT_FOUND,
    ServiceCode.RULES_INVALID: grpc.StatusCode.INVALID_ARGUMENT,
    ServiceCode.NO_SUCH_STRATEGY: grpc.StatusCode.INVALID_ARGUMENT,
    ServiceCode.NOT_WATCHED: _WRONG_NOW,
    ServiceCode.TABLE_UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    ServiceCode.TOO_SLOW: grpc.StatusCode.RESOURCE_EXHAUSTED,
    ServiceCode.STOPPING: grpc.StatusCode.UNAVAILABLE,
    ServiceCode.LOG_FULL: grpc.StatusCode.RESOURCE_EXHAUSTED,
    ServiceCode.LOG_REFUSED: grpc.StatusCode.INVALID_ARGUMENT,
    ServiceCode.LOG_UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    ServiceCode.OUTCOME_UNKNOWN: grpc.StatusCode.UNAVAILABLE,
    ServiceCode.ARCHIVE_UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    ServiceCode.ARCHIVE_BLOCKED: grpc.StatusCode.UNAVAILABLE,
    ServiceCode.INTERNAL: grpc.StatusCode.INTERNAL,
}
"""Every code and its status: INVALID_ARGUMENT can never be right, FAILED_PRECONDITION is wrong now."""

assert STATUS.keys() == {*Code, *TableCode, *ServiceCode}, "every code has its status"

RETRY_MS: Final[dict[ServiceCode, int]] = {
    ServiceCode.VERSION_AHEAD: 100,
    ServiceCode.STOPPING: 100,
    ServiceCode.LOG_UNAVAILABLE: 250,
    ServiceCode.OUTCOME_UNKNOWN: 250,
    ServiceCode.ARCHIVE_BLOCKED: 1000,
    ServiceCode.LOG_FULL: 5000,
}
"""After how many milliseconds the same command id is worth another try."""

_LOG_CODES: Final[dict[type[LogError], ServiceCode]] = {
    LogFull: ServiceCode.LOG_FULL,
    LogRefused: ServiceCode.LOG_REFUSED,
    LogUnavailable: ServiceCode.LOG_UNAVAILABLE,
    LostRace: ServiceCode.LOG_UNAVAILABLE,
    OutcomeUnknown: ServiceCode.OUTCOME_UNKNOWN,
}


def failure_of(error: BaseException) -> Failure:
    """Return what is told of ``error``: canonical code, reason, sentence, facts."""
    match error:
        case Refusal():
            facts = {SECTION_KEY: str(error.section)}
            if error.cards:
                facts[CARDS_KEY] = " ".join(error.cards)
            return _failure(error.code, error.sentence, facts)
        case TableRefusal():
            return _failure(error.code, error.sentence, _fact(error.fact))
        case FieldFault():
            return _failure(error.code, str(error), error.faults)
        case ServiceFault():
            retry_ms = RETRY_MS.get(error.code)
            hint = {} if retry_ms is None else {RETRY_MS_KEY: str(retry_ms)}
            return _failure(error.code, str(error), {**_fact(error.fact), **error.facts, **hint})
        case WireError():
            return failure_of(FieldFault({error.field: error.fault}))
        case _:
            return failure_of(_of_the_shell(error))


def _of_the_shell(error: BaseException) -> ServiceFault:
    """Return what may be told of an error that is not about the request; the rest goes to the log."""
    if isinstance(error, LogError):
        _logger.warning("%s", error)
        return ServiceFault(_LOG_CODES.get(type(error), ServiceCode.LOG_UNAVAILABLE))
    if isinstance(error, ArchiveError):
        if isinstance(error, ArchiveBlocked):
            return ServiceFault(ServiceCode.ARCHIVE_BLOCKED)
        _logger.error("%s", error)
        return ServiceFault(ServiceCode.ARCHIVE_UNAVAILABLE)
    incident = secrets.token_hex(8)
    _logger.error("incident %s", incident, exc_info=error)
    return ServiceFault(ServiceCode.INTERNAL, f"incident {incident}", incident=incident)


def _fact(fact: str) -> dict[str, str]:
    return {FACT_KEY: fact} if fact else {}


def _failure(code: AnyCode, message: str, metadata: Mapping[str, str]) -> Failure:
    return Failure(STATUS[code].value[0], code.value.upper(), message, dict(metadata))


def status_of(failure: Failure) -> status_pb2.Status:
    """Return ``failure`` as ``google.rpc.Status`` with its details."""
    status = status_pb2.Status(code=failure.code, message=failure.message)
    _add(status, error_details_pb2.ErrorInfo(reason=failure.reason, domain=DOMAIN, metadata=failure.metadata))
    if retry_ms := failure.metadata.get(RETRY_MS_KEY):
        retry = error_details_pb2.RetryInfo()
        retry.retry_delay.FromMilliseconds(int(retry_ms))
        _add(status, retry)
    if failure.reason == ServiceCode.INVALID_ARGUMENT.upper():
        violation = error_details_pb2.BadRequest.FieldViolation
        _add(
            status,
            error_details_pb2.BadRequest(
                field_violations=[
                    violation(field=field, description=fault) for field, fault in failure.metadata.items()
                ]
            ),
        )
    return status


def _add(status: status_pb2.Status, message: Message) -> None:
    detail = any_pb2.Any()
    detail.Pack(message)
    status.details.append(detail)


def status_code(failure: Failure) -> grpc.StatusCode:
    """Return the gRPC status of ``failure``."""
    return _BY_NUMBER[failure.code]


_BY_NUMBER: Final = {code.value[0]: code for code in grpc.StatusCode}
