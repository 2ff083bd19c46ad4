"""What can go wrong between a client and a server, as exceptions that a program can branch on.

MerseyError
└── ApiError              any answer of the server that is not the one asked for
    ├── RefusedError      the rules or the table say no; nothing has changed
    ├── InvalidError      a field of the request is malformed
    ├── DeniedError       no token, a bad one, or one without the right
    ├── NotFoundError     there is no such table or game
    ├── MovedOnError      asked to be played at one version only, and the table is further
    └── UnavailableError  nobody answers, or not now; the same command id may be sent again
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mersey.rules.refusals import MerseyError

CANCELLED: Final = 1
UNKNOWN: Final = 2
INVALID_ARGUMENT: Final = 3
DEADLINE_EXCEEDED: Final = 4
NOT_FOUND: Final = 5
ALREADY_EXISTS: Final = 6
PERMISSION_DENIED: Final = 7
RESOURCE_EXHAUSTED: Final = 8
FAILED_PRECONDITION: Final = 9
ABORTED: Final = 10
OUT_OF_RANGE: Final = 11
INTERNAL: Final = 13
UNAVAILABLE: Final = 14
UNAUTHENTICATED: Final = 16
"""Canonical codes, as in google.rpc.Code."""

SECTION_KEY: Final = "section"
CARDS_KEY: Final = "cards"
HEAD_VERSION_KEY: Final = "head_version"
FACT_KEY: Final = "fact"
RETRY_MS_KEY: Final = "retry_ms"
"""Keys of an ErrorInfo's metadata: the rules' section, the cards at fault, the table's version, the case,
and after how many milliseconds to try again."""


class ApiError(MerseyError):
    """An answer of the server that is not the one asked for.

    ``status`` is the canonical gRPC code, ``reason`` the code in upper case (empty where the
    answer came from the transport), ``metadata`` what the server adds to it.
    """

    def __init__(
        self, status: int, reason: str, message: str, metadata: Mapping[str, str] | None = None
    ) -> None:
        self.status = status
        self.reason = reason
        self.message = message
        self.metadata = dict(metadata or {})
        sentence = message or reason.lower() or f"gRPC status {status}"
        fact = self.metadata.get(FACT_KEY, "")
        super().__init__(sentence if fact in sentence else f"{sentence} ({fact})")


class RefusedError(ApiError):
    """The rules or the table say no; nothing has changed and nothing is recorded."""

    @property
    def code(self) -> str:
        """The code of the refusal, as in rules.md section 10: ``not_your_turn``."""
        return self.reason.lower()

    @property
    def section(self) -> str:
        """The section of the rules, empty where it is no matter of the rules."""
        return self.metadata.get(SECTION_KEY, "")

    @property
    def cards(self) -> tuple[str, ...]:
        """The cards at fault."""
        return tuple(self.metadata.get(CARDS_KEY, "").split())


class InvalidError(ApiError):
    """A field of the request is malformed; sent again it will be again."""


class DeniedError(ApiError):
    """No token, a bad one, or one without the right."""


class NotFoundError(ApiError):
    """There is no such table or game."""


class MovedOnError(ApiError):
    """The action was to be played at one version only, and the table has moved on."""

    @property
    def head_version(self) -> int:
        """The table's version, 0 where the server did not say."""
        said = self.metadata.get(HEAD_VERSION_KEY, "")
        return int(said) if said.isdecimal() else 0


class UnavailableError(ApiError):
    """Nobody answers, or not now: whether the command was carried out is not known.

    Sent again with the same command id it is carried out once at most.
    """

    @property
    def retry_s(self) -> float:
        """After how many seconds the server thinks another try worth while; 0 where it does not say."""
        said = self.metadata.get(RETRY_MS_KEY, "")
        return int(said) / 1000 if said.isdecimal() else 0.0


_KINDS: Final[dict[int, type[ApiError]]] = {
    INVALID_ARGUMENT: InvalidError,
    OUT_OF_RANGE: InvalidError,
    UNAUTHENTICATED: DeniedError,
    PERMISSION_DENIED: DeniedError,
    NOT_FOUND: NotFoundError,
    ALREADY_EXISTS: RefusedError,
    FAILED_PRECONDITION: RefusedError,
    ABORTED: MovedOnError,
    UNAVAILABLE: UnavailableError,
    DEADLINE_EXCEEDED: UnavailableError,
    RESOURCE_EXHAUSTED: UnavailableError,
    CANCELLED: UnavailableError,
}


def error_of(status: int, reason: str, message: str, metadata: Mapping[str, str] | None = None) -> ApiError:
    """Return the exception for a status: a subclass by the canonical code, else ``ApiError`` itself.

    A code of the rules or the table that comes with another status than FAILED_PRECONDITION
    but names a section of the rules is a refusal as well.

    >>> error_of(9, "NOT_YOUR_TURN", "It is another player's turn.", {"section": "5"}).code
    'not_your_turn'
    """
    kind = _KINDS.get(status, ApiError)
    if metadata and SECTION_KEY in metadata:
        kind = RefusedError
    return kind(status, reason, message, metadata)
