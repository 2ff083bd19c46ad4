"""A watcher's place in a table: what is new to it, and what its seat is asked now.

It holds a version, not a queue: what a slow watcher has not taken costs nothing.
"""

from __future__ import annotations

from typing import Final

import msgspec

from mersey.client.wire import choices_to_proto, view_to_proto
from mersey.game.choices import choices, due
from mersey.game.view import Viewer, view, view_bytes
from mersey.server.faults import ServiceCode, ServiceFault
from mersey.server.table import Table
from mersey.server.tables import readable
from mersey.v1 import table_pb2

BATCH_MAX: Final = 500
"""The most updates in one message."""


class News(msgspec.Struct, frozen=True):
    """What is new to a watcher: updates as delimited bodies, the version known, a turn where one is due."""

    bodies: list[bytes]
    head_version: int
    turn: table_pb2.Turn | None


class Cursor:
    """One player's place in one table."""

    def __init__(self, table: Table, player: str, after: int, *, with_turns: bool) -> None:
        self.table: Final = table
        self.version = after
        self._player = player
        self._with_turns = with_turns
        self._turn_at = 0
        head = visible(table, table.viewer(player))
        if after > head:
            raise ServiceFault(ServiceCode.VERSION_AHEAD, head_version=head)

    def take(self) -> News:
        """Return what has come since the last time, up to a batch; nothing in it where nothing has.

        Raises:
            ServiceFault: the table can't be read on, or not be seen.
        """
        table = readable(self.table)
        viewer = table.viewer(self._player)
        head = visible(table, viewer)
        bodies = table.shown(viewer, self.version, min(head, self.version + BATCH_MAX))
        self.version += len(bodies)
        return News(bodies, head, self._turn(viewer) if self.version == head else None)

    @property
    def is_at_end(self) -> bool:
        """Whether the table is finished and everything of it was taken."""
        return self.table.is_finished and self.version == self.table.head.version

    def _turn(self, viewer: Viewer) -> table_pb2.Turn | None:
        table = self.table
        if not self._with_turns or viewer.seat is None or self._turn_at == self.version:
            return None
        if viewer.seat not in due(table.game):
            return None
        self._turn_at = self.version
        return table_pb2.Turn(
            view=view_to_proto(table.id, self.version, view_bytes(view(table.game, viewer))),
            choices=choices_to_proto(choices(table.game, viewer.seat)),
        )


def visible(table: Table, viewer: Viewer) -> int:
    """Return the last version that ``viewer`` may see now.

    Raises:
        ServiceFault: the table is not shown to spectators.
    """
    version = table.visible(viewer)
    if version is None:
        raise ServiceFault(ServiceCode.NO_SPECTATORS)
    return version
