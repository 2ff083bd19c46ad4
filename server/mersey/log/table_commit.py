"""A table's commits with their meaning: the command and the events as values, not as raw JSON.

``mersey.log.commit`` knows bytes and chain; this file knows that a table's commits
hold the commands and events of ``mersey.game``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Final

import msgspec

from mersey.game.commands import Command
from mersey.game.events import Event
from mersey.game.evolve import fold
from mersey.game.state import Game
from mersey.log.commit import SCHEMA, UPCASTS, Commit, Head, UnreadableCommit, encode, next_commit, upcast


class TableCommit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A commit of a table; the fields are those of ``Commit``."""

    v: Annotated[int, msgspec.Meta(ge=1, le=SCHEMA)]
    stream: str
    number: int
    first: int
    at_ms: int
    actor: str
    command_id: str
    cause: Command
    events: Annotated[tuple[Event, ...], msgspec.Meta(min_length=1)]
    salt: str
    previous: str

    @property
    def last(self) -> int:
        """Version of the last event."""
        return self.first + len(self.events) - 1


_DECODER: Final = msgspec.json.Decoder(TableCommit)
_ENCODER: Final = msgspec.json.Encoder(order="deterministic")


def stream_of(table: str) -> str:
    """Return the stream of a table's commits.

    >>> stream_of("k3f9")
    'table.k3f9'
    """
    return f"table.{table}"


def read_table_commit(data: bytes) -> TableCommit:
    """Return the commit with its command and events decoded.

    Raises:
        UnreadableCommit: a command or an event is none that is known, or a field of it is wrong.
    """
    try:
        return _DECODER.decode(upcast(data) if UPCASTS else data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableCommit(f"not a table's commit: {error}") from error


def fold_commits(commits: Iterable[bytes], start: Game | None = None) -> Game:
    """Return the state of a table after ``commits``, from ``start`` or from nothing. It checks no chain.

    Raises:
        UnreadableCommit: as ``read_table_commit``.
    """
    return fold((event for data in commits for event in read_table_commit(data).events), start)


def write_table_commit(
    head: Head,
    *,
    at_ms: int,
    actor: str,
    command_id: str,
    command: Command,
    events: Sequence[Event],
    salt: bytes,
) -> tuple[Commit, bytes]:
    """Return the commit that follows ``head``, and its bytes.

    Raises:
        UnreadableCommit: a field is out of range; nothing is written that can't be read back.
    """
    commit = next_commit(
        head,
        at_ms=at_ms,
        actor=actor,
        command_id=command_id,
        cause=command_raw(command),
        events=[msgspec.Raw(_ENCODER.encode(event)) for event in events],
        salt=salt,
    )
    return commit, encode(commit)


def command_raw(command: Command) -> msgspec.Raw:
    """Return a command as the JSON that a commit holds as its cause."""
    return msgspec.Raw(_ENCODER.encode(command))
