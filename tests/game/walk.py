"""Recorded games as states, for the laws: each event with the state after it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from mersey.game.events import Event
from mersey.game.evolve import evolve
from mersey.game.state import Game
from mersey.log.table_commit import read_table_commit
from recorded import recorded_game

TABLES = (
    ("contract", 4),
    ("liverpool", 4),
    *(("bga", seats) for seats in range(2, 9)),
    *(("bga-short", seats) for seats in range(2, 9)),
)
"""Every shipped rule set; the one that is for any number of players with every number."""

_EVENTS = msgspec.json.Decoder(list[Event])


@lru_cache(maxsize=8)
def walk(rules: str, seats: int, seed: int) -> tuple[tuple[Event, ...], tuple[Game, ...]]:
    """Return the events of a recorded game, and the states: number v is that after v events."""
    commits = recorded_game(rules, seats, seed)
    events = tuple(event for data in commits for event in read_table_commit(data).events)
    states = [Game()]
    for event in events:
        states.append(evolve(states[-1], event))
    return events, tuple(states)


@lru_cache(maxsize=8)
def settled(rules: str, seats: int, seed: int) -> tuple[Game, ...]:
    """Return the states in which the table waits for a command: those after whole commits."""
    _, states = walk(rules, seats, seed)
    ends = (read_table_commit(data) for data in recorded_game(rules, seats, seed))
    return tuple(states[commit.first + len(commit.events) - 1] for commit in ends)


def exchanged(events: tuple[Event, ...], one: str, other: str) -> list[Event]:
    """Return ``events`` with two physical cards in each other's place, wherever they are named."""
    text = msgspec.json.encode(events).decode()
    swap = {one: other, other: one}
    pattern = re.compile(rf'"({re.escape(one)}|{re.escape(other)})(?=["=])')
    return _EVENTS.decode(pattern.sub(lambda found: '"' + swap[found[1]], text))


def round_starts(events: tuple[Event, ...]) -> Iterator[int]:
    """Yield the versions right before each round's first event."""
    return (n for n, event in enumerate(events) if type(event).__name__ == "RoundStarted")
