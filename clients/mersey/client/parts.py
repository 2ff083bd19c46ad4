"""The players' random parts in the deal: when to open them, and when all are open (design section 5)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from mersey.client.following import Moment
from mersey.client.wire import RawUpdate
from mersey.game.events import EntropyOpened, GameStarted, SeatLeft, SeatTaken, TableClosed
from mersey.game.seen import TableOpenedSeen, Update

PART_BYTES: Final = 32


class Seating:
    """What the updates of a table say of its seats before the game starts."""

    def __init__(self) -> None:
        self.seats = 0
        self.over = False
        self._taken: dict[int, bool] = {}
        """For each seat that is taken, whether a part was committed to and is not open yet."""

    @property
    def full(self) -> bool:
        """Whether every seat is taken."""
        return 0 < self.seats == len(self._taken)

    @property
    def all_shown(self) -> bool:
        """Whether no part is still to be opened."""
        return not any(self._taken.values())

    def take(self, update: Update | RawUpdate) -> None:
        """Take note of an update."""
        match update:
            case Update(event=TableOpenedSeen() as event):
                self.seats = event.seats
            case Update(event=SeatTaken() as event):
                self._taken[event.seat] = event.commitment is not None
            case Update(event=SeatLeft() as event):
                self._taken.pop(event.seat, None)
            case Update(event=EntropyOpened() as event):
                self._taken[event.seat] = False
            case Update(event=GameStarted() | TableClosed()):
                self.over = True


async def table_full(moments: AsyncIterator[Moment]) -> bool:
    """Return True once every seat is taken, False where the game starts or the table closes before."""
    seating = Seating()
    async for moment in moments:
        for update in moment.updates:
            seating.take(update)
        if seating.over:
            return False
        if seating.full and not moment.stale:
            return True
    return False


async def all_parts_shown(moments: AsyncIterator[Moment]) -> None:
    """Return once every player has opened the part committed to, or the game has started."""
    seating = Seating()
    async for moment in moments:
        for update in moment.updates:
            seating.take(update)
        if seating.over or (seating.all_shown and not moment.stale):
            return
