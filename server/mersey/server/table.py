"""One table as this node has folded it: its state, its events, what was answered to whom.

Only the follower changes it, one commit at a time, in the log's order. What a viewer is shown is made once
for each kind of viewer and kept; whoever watches holds a place in that list and is told when it grows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from mersey.client.wire import update_to_proto
from mersey.game.commands import Command
from mersey.game.events import Event, GameEnded, RoundEnded, TableClosed, TableOpened
from mersey.game.evolve import fold
from mersey.game.state import Game
from mersey.game.view import SPECTATOR, Viewer, seat_viewer, update_bytes
from mersey.log.commit import (
    CommitError,
    Head,
    UnreadableCommit,
    advance,
    check_follows,
    check_link,
    start_of,
)
from mersey.log.ports import Entry
from mersey.log.table_commit import TableCommit, read_table_commit, stream_of
from mersey.server.raw import delimited

FINISHED: Final = frozenset({"game_over", "closed"})
"""The steps after which nothing more happens at a table."""


_LAST: Final = frozenset[type[Event]]({GameEnded, TableClosed})


class Done(msgspec.Struct, frozen=True):
    """What an accepted command led to: the events from version ``first`` to ``last``."""

    command: Command
    position: int
    first: int
    last: int


class Table:
    """A table, folded up to `head`; before its first commit it is empty."""

    def __init__(self, table: str) -> None:
        self.id: Final = table
        self.head: Head = start_of(stream_of(table))
        self.game = Game()
        self.fault = ""
        """What can't be read of its record, and where; empty while all is well."""
        self.listeners: set[Callable[[], None]] = set()
        """Called after each commit, and when the table turns out to be at fault."""
        self._events: list[Event] = []
        self._at_ms: list[int] = []
        self._done: dict[tuple[str, str], Done] = {}
        self._shown: dict[Viewer, list[bytes]] = {}
        self._seating_end = 0
        self._round_end = 0

    @property
    def is_finished(self) -> bool:
        """Whether the game is over or the table closed."""
        return self.game.step in FINISHED

    @property
    def opened_at_ms(self) -> int:
        """When the table was opened."""
        return self._at_ms[0]

    def done(self, actor: str, command_id: str) -> Done | None:
        """Return what the actor's command of that id led to, None where it is new."""
        return self._done.get((actor, command_id))

    def apply(self, entry: Entry) -> None:
        """Fold the table's next commit, or note what is wrong with it; then tell who listens."""
        if not self.fault:
            try:
                check_follows(self.head, entry.data)
                self._fold(entry, read_table_commit(entry.data))
            except CommitError as error:
                self.set_fault(f"position {entry.position}: {error}")
                return
        self._tell()

    def restore(self, entry: Entry) -> None:
        """Fold the table's next commit as the archive has it, whose writer has read every field of it before.

        Its place in the chain is checked again, and so its bytes by the next one's hash.
        """
        try:
            commit = read_table_commit(entry.data)
            check_link(self.head, commit)
            self._fold(entry, commit)
        except CommitError:
            self.apply(entry)  # it names the fault

    def set_fault(self, fault: str) -> None:
        """Note that the record can't be read on, and tell who listens."""
        self.fault = fault
        self._tell()

    def _tell(self) -> None:
        for listener in tuple(self.listeners):
            listener()

    def _fold(self, entry: Entry, commit: TableCommit) -> None:
        events = commit.events
        first = events[0]
        if (commit.number == 1) != isinstance(first, TableOpened):
            raise UnreadableCommit("a table's first event, and no other, opens it")
        if isinstance(first, TableOpened) and first.table != self.id:
            raise UnreadableCommit(f"opens the table {first.table[:64]!r}")
        try:
            self.game = fold(events, self.game)
        except Exception as error:  # a forged commit can ask for anything that the fold does not check
            raise UnreadableCommit(f"events that can't happen here ({type(error).__name__})") from error
        self.head = advance(self.head, commit, entry.data, entry.position)
        last = self.head.version
        self._events += events
        self._at_ms += [commit.at_ms] * len(events)
        command = commit.actor, commit.command_id
        if command not in self._done:
            self._done[command] = Done(commit.cause, entry.position, commit.first, last)
        if self.game.step == "seating":
            self._seating_end = last
        kinds = [*map(type, events)]
        if RoundEnded in kinds or kinds[-1] in _LAST:
            self._round_end = last

    # What viewers are shown

    def viewer(self, player: str) -> Viewer:
        """Return how ``player`` looks at the table: from the seat held, else as a spectator."""
        seat = self.game.seat_of(player)
        return SPECTATOR if seat is None else seat_viewer(seat)

    def visible(self, viewer: Viewer) -> int | None:
        """Return the last version that ``viewer`` may see now, None where none ever (design section 3)."""
        if viewer.role == "seat":
            return self.head.version
        match self.game.spectators:
            case "live":
                return self.head.version
            case "after_round":
                return max(self._seating_end, self._round_end)
            case "after_game":
                return self.head.version if self.is_finished else self._seating_end
            case _:
                return None

    def event(self, version: int) -> Event:
        """Return the event of number ``version``."""
        return self._events[version - 1]

    def game_at(self, version: int) -> Game:
        """Return the state after the event of number ``version``."""
        return self.game if version == self.head.version else fold(self._events[:version])

    def shown(self, viewer: Viewer, after: int, upto: int) -> list[bytes]:
        """Return the updates of versions above ``after`` up to ``upto``, each as the body of a field.

        A body is the message's length and its bytes: what follows the tag of a repeated ``Update`` field.
        """
        made = self._shown.setdefault(viewer, [])
        for version in range(len(made) + 1, upto + 1):
            at_ms = self._at_ms[version - 1]
            update = update_to_proto(
                version, at_ms, update_bytes(version, at_ms, self._events[version - 1], viewer)
            )
            made.append(delimited(update.SerializeToString()))
        return made[after:upto]
