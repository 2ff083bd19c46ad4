"""A client's side of the protocol, without a socket: order, gaps, repeats, resume, pending commands.

One ``TableSession`` follows one table. It is fed what came and says what is new; when a
connection is made anew it says from where to go on and what to send again. A command
stays pending until it is answered, and is sent again with the same id: so it is carried
out once, and the player learns of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

import msgspec

from mersey.rules.actions import Action
from mersey.rules.refusals import MerseyError


class GapError(MerseyError):
    """An update came that is not the next one: go on from after ``version``, the last that is held."""

    def __init__(self, version: int, got: int) -> None:
        self.version = version
        self.got = got
        super().__init__(f"version {got} came after version {version}: resume after version {version}")


class DuplicateCommandError(MerseyError):
    """A command id that is pending was given to another action."""


class Versioned(Protocol):
    """Anything with the version that it has in its table."""

    @property
    def version(self) -> int:
        """1 for the table's first event, then one more each."""


UpdateT = TypeVar("UpdateT", bound=Versioned)


class PendingCommand(msgspec.Struct, frozen=True):
    """A command that was sent and is not answered yet."""

    command_id: str
    action: Action
    seen_version: int = 0
    only_at: bool = False


class TableSession:
    """What a client knows of its place in one table's updates, and what it still waits for."""

    def __init__(self, table: str, after_version: int = 0) -> None:
        self.table = table
        self.version = after_version
        """The version of the last update received; updates are asked for from after it."""
        self.head_version = after_version
        """The highest version that the server has spoken of."""
        self._pending: dict[str, PendingCommand] = {}

    @property
    def stale(self) -> bool:
        """Whether the server is known to be further than this client: what it shows is not the latest."""
        return self.head_version > self.version

    @property
    def pending(self) -> tuple[PendingCommand, ...]:
        """The commands without an answer, in the order sent: send them again after a reconnect."""
        return tuple(self._pending.values())

    def receive(self, updates: Sequence[UpdateT]) -> tuple[UpdateT, ...]:
        """Return what is new among ``updates``, in order, without what was received before.

        Raises:
            GapError: a version is missing; nothing of ``updates`` is taken then.
        """
        version = self.version
        new = []
        for update in updates:
            if update.version <= version:
                continue
            if update.version > version + 1:
                raise GapError(self.version, update.version)
            new.append(update)
            version = update.version
        self.version = version
        self.hear(version)
        return tuple(new)

    def hear(self, head_version: int) -> None:
        """Take note of the version that the server says is the last; one that is behind says nothing."""
        self.head_version = max(self.head_version, head_version)

    def send(self, command: PendingCommand) -> PendingCommand:
        """Return ``command`` to be sent, and keep it until it is answered.

        Raises:
            DuplicateCommandError: its id is pending with another content.
        """
        held = self._pending.setdefault(command.command_id, command)
        if held != command:
            raise DuplicateCommandError(f"command id {command.command_id!r} is pending for another action")
        return held

    def settle(self, command_id: str) -> PendingCommand | None:
        """Forget the command that was answered or refused, and return it; None where none was pending."""
        return self._pending.pop(command_id, None)
