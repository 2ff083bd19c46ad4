"""The plan of a drill: who is killed and when, drawn from a seed.

A server's *life* lasts from its start to its death. In it some acknowledgements are lost and the nats-server
may be killed; it ends at a fail point, or by a kill from outside after so many acknowledged commands. Every
six lives hold each of the fail points once, and two kills from outside.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

import msgspec

from mersey.log.failpoints import (
    AFTER_APPEND,
    AFTER_ARCHIVE_COMMIT,
    BEFORE_APPEND,
    BEFORE_ARCHIVE_COMMIT,
    LOST_ACK,
)

SERVER: Final = "server"
NATS: Final = "nats-server"

FATAL_POINTS: Final = (BEFORE_APPEND, AFTER_APPEND, BEFORE_ARCHIVE_COMMIT, AFTER_ARCHIVE_COMMIT)
KINDS: Final = (*FATAL_POINTS, SERVER, NATS, LOST_ACK)
"""What a report counts; all but the last are kills."""

_ENTRIES_OF_TRANSACTION: Final = 3
"""About how many commands share a transaction of the archive."""


class Life(msgspec.Struct, frozen=True):
    """What befalls a server between two starts."""

    end: str
    """The fail point at which it ends, or SERVER: killed from outside."""
    after: int
    """How often that point is passed, or how many commands are acknowledged, until it ends."""
    nats_after: tuple[int, ...]
    """After how many acknowledged commands the nats-server is killed, each time counted from the last."""
    lost_acks: tuple[int, ...]
    """Which appends of this life lose their acknowledgement."""

    @property
    def failpoints(self) -> str:
        """What `mersey.log.failpoints` is to be told."""
        points = [f"{LOST_ACK}:{nth}" for nth in self.lost_acks]
        if self.end != SERVER:
            points.append(f"{self.end}:{self.after}")
        return ",".join(points)


def lives(seed: str, commands: int) -> Iterator[Life]:
    """Yield lives without end, each of about that many commands at most; the same seed yields the same.

    >>> plan = lives("7", 100)
    >>> {next(plan).end for _ in range(6)} == {*FATAL_POINTS, SERVER}
    True
    """
    chance = random.Random(f"mersey drill {seed}")
    while True:
        ends = [*FATAL_POINTS, SERVER, SERVER]
        chance.shuffle(ends)
        for end in ends:
            after = chance.randint(1, commands)
            nats_after = tuple(chance.randint(1, commands // 2) for _ in range(chance.choice((1, 1, 2, 2))))
            if end != SERVER:
                after += sum(nats_after)  # so that it lives to see them
            if end in (BEFORE_ARCHIVE_COMMIT, AFTER_ARCHIVE_COMMIT):
                after = 1 + after // _ENTRIES_OF_TRANSACTION
            lost_acks = tuple(sorted(chance.sample(range(1, commands), chance.randint(0, 2))))
            yield Life(end, after, nats_after, lost_acks)
