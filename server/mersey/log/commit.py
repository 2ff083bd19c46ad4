"""Commits: what one command caused, as bytes that are written once, and the chain that they make.

A commit's own hash is the SHA-256 of its bytes, and each commit names the hash of the one before; the first
names the SHA-256 of its stream's name. A `Head` says where a stream stands: all that is needed to make the
next commit, and to check that bytes follow (design, section 2). What events mean is not known here.

CommitError (a MerseyError)
├── UnreadableCommit   bytes that are no commit
├── NewerSchema        written by a newer program
├── WrongStream        a commit of another stream
└── BrokenChain        a commit that does not follow the one before
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Annotated, Final, Protocol

import msgspec

from mersey.rules.refusals import MerseyError

SCHEMA: Final = 1
"""The schema that is written. Raise it when old bytes no longer decode, and add to `UPCASTS`."""

Upcast = Callable[[bytes], bytes]
"""Returns a commit of one schema as one of the next: pure, with as many events as before.

What it returns is for reading only. The bytes that were logged stay as they are, and so do their hashes.
"""

UPCASTS: Final[dict[int, Upcast]] = {}
"""For each schema before `SCHEMA` what turns its commits into those of the schema after it."""

SALT_BYTES: Final = 16

INTEGER_MAX: Final = 2**53 - 1
"""The greatest number in a commit: what every JSON reader still holds exactly."""

_STREAM: Final = r"^[a-z]{1,16}\.[A-Za-z0-9_-]{1,64}\Z"
_LABEL: Final = r"^[^\x00-\x1f\x7f]{1,128}\Z"

StreamName = Annotated[str, msgspec.Meta(pattern=_STREAM)]
"""Kind and id, such as ``table.k3f9``: what the log's subject says after the partition."""

Label = Annotated[str, msgspec.Meta(pattern=_LABEL)]
"""The name of an actor or a command: 1 to 128 characters, none of them a control character."""

Count = Annotated[int, msgspec.Meta(ge=1, le=INTEGER_MAX)]
"""A number that starts at 1."""


class CommitError(MerseyError):
    """Bytes of the log that can't be taken as the next commit of their stream."""


class UnreadableCommit(CommitError):
    """Bytes that are no commit."""


class NewerSchema(CommitError):
    """A commit of a schema that this program does not know yet; ``found`` is its number."""

    def __init__(self, found: int) -> None:
        self.found = found
        super().__init__(f"commit has schema {found}, this program reads up to {SCHEMA}: use a newer mersey")


class WrongStream(CommitError):
    """A commit that names another stream than the one it was found in."""


class BrokenChain(CommitError):
    """A commit that does not follow the one before; the message names the field at fault."""


class Commit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one command caused, all or nothing (design, section 2)."""

    v: Annotated[int, msgspec.Meta(ge=SCHEMA, le=SCHEMA)] = SCHEMA
    """Schema number; bytes of an older schema are upcast when they are read."""
    stream: StreamName
    number: Count
    """1, 2, 3 … in the stream."""
    first: Count
    """Version of the first event; the others follow without a gap."""
    at_ms: Annotated[int, msgspec.Meta(ge=0, le=INTEGER_MAX)]
    """The server's time, milliseconds since 1970 in UTC; never before the commit before."""
    actor: Label
    """Who gave the command: a player id, host or server."""
    command_id: Label
    cause: msgspec.Raw
    """The command as JSON."""
    events: Annotated[tuple[msgspec.Raw, ...], msgspec.Meta(min_length=1)]
    """Each event as JSON: an object with its kind under ``type``."""
    salt: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{32}\Z")]
    """16 random bytes in hex, so that the hash of a commit tells nothing of what is hidden in it."""
    previous: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
    """SHA-256 of the bytes of the commit before, in hex; of the first: of the stream's name."""

    @property
    def last(self) -> int:
        """Version of the last event."""
        return self.first + len(self.events) - 1


class Linked(Protocol):
    """What of a commit makes the chain, however much else of it was read: fields of `Commit`."""

    @property
    def stream(self) -> str: ...  # noqa: D102

    @property
    def number(self) -> int: ...  # noqa: D102

    @property
    def first(self) -> int: ...  # noqa: D102

    @property
    def last(self) -> int: ...  # noqa: D102

    @property
    def at_ms(self) -> int: ...  # noqa: D102

    @property
    def previous(self) -> str: ...  # noqa: D102


class Head(msgspec.Struct, frozen=True):
    """Where a stream stands after a commit, or before its first."""

    stream: str
    number: int
    """Of the last commit; 0 before the first."""
    hash: str
    """What the next commit must name as ``previous``."""
    version: int
    """Of the last event; 0 before the first."""
    at_ms: int
    position: int
    """Of the last commit in the log; 0 before the first: what the next append must expect."""


class _Schema(msgspec.Struct):
    v: int


class _EventHead(msgspec.Struct):
    type: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    seat: Annotated[int, msgspec.Meta(ge=0, le=INTEGER_MAX)] | None = None


_encoder: Final = msgspec.json.Encoder(order="deterministic")
_decoder: Final = msgspec.json.Decoder(Commit)
_schema_decoder: Final = msgspec.json.Decoder(_Schema)
_event_decoder: Final = msgspec.json.Decoder(_EventHead)


def hash_of(data: bytes) -> str:
    """Return the SHA-256 of ``data`` in hex: the hash of the commit that these bytes are."""
    return hashlib.sha256(data).hexdigest()


def start_of(stream: str) -> Head:
    """Return the head of a stream that has no commit yet.

    >>> start_of("table.t1").number
    0
    """
    return Head(stream=stream, number=0, hash=hash_of(stream.encode()), version=0, at_ms=0, position=0)


def next_commit(
    head: Head,
    *,
    at_ms: int,
    actor: str,
    command_id: str,
    cause: msgspec.Raw,
    events: Sequence[msgspec.Raw],
    salt: bytes,
) -> Commit:
    """Return the commit that follows ``head``; ``salt`` is 16 random bytes that the shell drew."""
    return Commit(
        stream=head.stream,
        number=head.number + 1,
        first=head.version + 1,
        at_ms=at_ms,
        actor=actor,
        command_id=command_id,
        cause=cause,
        events=tuple(events),
        salt=salt.hex(),
        previous=head.hash,
    )


def encode(commit: Commit) -> bytes:
    """Return the bytes of ``commit``, to be kept as they are for ever.

    Raises:
        UnreadableCommit: a field is out of range; what can't be read back is never written.
    """
    data = _encoder.encode(commit)
    decode(data)
    return data


def decode(data: bytes) -> Commit:
    """Return the commit that ``data`` is.

    Raises:
        NewerSchema: written by a newer program.
        UnreadableCommit: anything else that is wrong with it, the field named.
    """
    try:
        if not data.isascii():
            data.decode()  # msgspec leaves strings inside Raw unchecked
        return _decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        found = _schema_of(data)
        if found is not None and found > SCHEMA:
            raise NewerSchema(found) from error
        if found in UPCASTS:
            return decode(upcast(data))
        raise UnreadableCommit(f"not a commit: {error}") from error


def upcast(data: bytes) -> bytes:
    """Return the commit that ``data`` is in the schema of today, for reading; one of today as it is.

    Raises:
        UnreadableCommit: an upcast fails on it.
    """
    while (upcast_one := UPCASTS.get(found := _schema_of(data) or 0)) is not None:
        try:
            data = upcast_one(data)
        except Exception as error:  # bytes of a forger can hold anything
            raise UnreadableCommit(f"not a commit of schema {found} ({type(error).__name__})") from error
        if _schema_of(data) != found + 1:
            raise UnreadableCommit(f"the upcast of schema {found} does not give one of schema {found + 1}")
    return data


def _schema_of(data: bytes) -> int | None:
    try:
        return _schema_decoder.decode(data).v
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def check_follows(head: Head, data: bytes) -> Commit:
    """Return the commit that ``data`` is, which is the one right after ``head``.

    Raises:
        CommitError: the bytes can't be read, belong to another stream, or do not follow; the fault is named.
    """
    commit = decode(data)
    check_link(head, commit)
    return commit


def check_link(head: Head, commit: Linked) -> None:
    """Raise CommitError unless ``commit``, as it was read, is the one right after ``head``."""
    if commit.stream != head.stream:
        raise WrongStream(f"commit of {commit.stream} found in {head.stream}")
    for field, found, wanted in (
        ("number", commit.number, head.number + 1),
        ("first", commit.first, head.version + 1),
        ("previous", commit.previous, head.hash),
    ):
        if found != wanted:
            raise BrokenChain(
                f"{head.stream} commit {head.number + 1}: {field} is {found}, expected {wanted}"
            )
    if commit.at_ms < head.at_ms:
        raise BrokenChain(
            f"{head.stream} commit {commit.number}: at_ms {commit.at_ms} is before {head.at_ms}"
        )


def advance(head: Head, commit: Linked, data: bytes, position: int) -> Head:
    """Return the head after ``commit``, whose bytes are ``data`` and stand at ``position`` of the log."""
    return Head(
        stream=head.stream,
        number=commit.number,
        hash=hash_of(data),
        version=commit.last,
        at_ms=commit.at_ms,
        position=position,
    )


def event_head(event: msgspec.Raw) -> tuple[str, int | None]:
    """Return the kind of an event and the seat that it is about, if it is about one.

    >>> event_head(msgspec.Raw(b'{"type":"stock_drawn","seat":2,"card":7}'))
    ('stock_drawn', 2)

    Raises:
        UnreadableCommit: it is no object with a ``type``.
    """
    try:
        head = _event_decoder.decode(event)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableCommit(f"not an event: {error}") from error
    return head.type, head.seat
