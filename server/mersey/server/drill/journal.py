"""The journal of a drill: what each client sent and what it was told, in the order of both."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Iterator
from typing import Literal

import msgspec

Outcome = Literal["open", "accepted", "refused"]


class Told(msgspec.Struct):
    """A command of a client, and what it was told of it."""

    player: str
    table: str
    """Empty while it is not known: the answer to an opening says it."""
    command_id: str
    sent: int
    """When it was sent, and when it was answered: counted over all clients."""
    answered: int = 0
    outcome: Outcome = "open"
    version: int = 0
    """The version that the answer named."""

    @property
    def stream(self) -> str:
        """The stream that must hold it."""
        return f"table.{self.table}"

    def __str__(self) -> str:
        """Return the command as a report names it."""
        return f"command {self.command_id} of {self.player} at table {self.table}, version {self.version}"


class Journal:
    """What the clients of one drill sent and were told."""

    def __init__(self) -> None:
        self._told: dict[tuple[str, str], Told] = {}
        self._clock = itertools.count(1)
        self._open = 0
        self._answered_s = time.monotonic()
        self._progress = asyncio.Event()
        self.accepted = 0
        self.pause_max_s = 0.0
        """The longest time in which no client was told of an accepted command."""
        self.faults: list[str] = []
        """Answers that a client should never get."""

    def __iter__(self) -> Iterator[Told]:
        """Return the commands in the order in which they were sent."""
        return iter(self._told.values())

    @property
    def open(self) -> int:
        """How many commands have no answer yet."""
        return self._open

    def send(self, player: str, command_id: str, table: str = "") -> Told:
        """Note that a command is about to be sent for the first time."""
        told = Told(player, table, command_id, sent=next(self._clock))
        assert (player, command_id) not in self._told, "a command is journalled once"
        self._told[player, command_id] = told
        self._open += 1
        return told

    def accept(self, told: Told, version: int) -> None:
        """Note that the server has acknowledged a command."""
        told.version = version
        self._settle(told, "accepted")
        self.accepted += 1
        now_s = time.monotonic()
        self.pause_max_s = max(self.pause_max_s, now_s - self._answered_s)
        self._answered_s = now_s

    def refuse(self, told: Told) -> None:
        """Note that the server has refused a command, which must be recorded nowhere."""
        self._settle(told, "refused")

    def _settle(self, told: Told, outcome: Outcome) -> None:
        told.outcome = outcome
        told.answered = next(self._clock)
        self._open -= 1
        self._progress.set()
        self._progress = asyncio.Event()

    async def reach(self, accepted: int) -> None:
        """Return once that many commands have been accepted in all."""
        while self.accepted < accepted:
            await self._progress.wait()

    async def settled(self) -> None:
        """Return once no command is without its answer."""
        while self._open:
            await self._progress.wait()
