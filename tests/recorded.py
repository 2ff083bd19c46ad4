"""Recorded games for tests of every room: whole games played by chance, as the bytes that a server would log.

The picks come from SHA-256, not from ``random``: the same arguments give the same bytes on any machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256

import msgspec

from mersey.game.choices import due, pick
from mersey.game.commands import (
    Chance,
    Close,
    Command,
    LeaveSeat,
    OpenEntropy,
    OpenTable,
    Spectators,
    StartGame,
    TakeSeat,
)
from mersey.game.decide import decide
from mersey.game.events import Event
from mersey.game.evolve import fold
from mersey.game.state import Game
from mersey.log.commit import Head, advance, start_of
from mersey.log.table_commit import stream_of, write_table_commit
from mersey.rules.deal import Stream, commitment_of
from mersey.rules.ruleset import RuleSet
from mersey.rules.ruleset_file import load_ruleset

HOST = "host-1"
STARTED_AT_MS = 1_790_000_000_000


class Recorder:
    """A table that is played in this process and writes a commit for each command."""

    def __init__(self, table: str = "t1", at_ms: int = STARTED_AT_MS) -> None:
        self.game = Game()
        self.head: Head = start_of(stream_of(table))
        self.commits: list[bytes] = []
        self.events: list[Event] = []
        self.at_ms = at_ms

    def do(self, actor: str, command: Command) -> tuple[Event, ...]:
        """Decide ``command``, fold and log what it causes, 250 ms after the command before."""
        events = decide(self.game, actor, command)
        self.game = fold(events, self.game)
        self.at_ms += 250
        number = len(self.commits) + 1
        commit, data = write_table_commit(
            self.head,
            at_ms=self.at_ms,
            actor=actor,
            command_id=f"c{number}",
            command=command,
            events=events,
            salt=sha256(f"{self.head.stream} {number}".encode()).digest()[:16],
        )
        self.head = advance(self.head, commit, data, number)
        self.commits.append(data)
        self.events.extend(events)
        return events

    def seat_players(self, parts: int) -> None:
        """Seat p0, p1 …; the first ``parts`` seats commit to a part, and all of them but the last open it."""
        for seat in range(len(self.game.seats)):
            commitment = commitment_of(_part(seat)).hex() if seat < parts else None
            self.do(f"p{seat}", TakeSeat(seat, commitment, None if commitment else "chance"))
        for seat in range(parts - 1):
            self.do(f"p{seat}", OpenEntropy(_part(seat).hex()))

    def play(self, choose: Callable[[int], int]) -> Iterator[tuple[Event, ...]]:
        """Play by chance until the game is over; yield what each action caused."""
        while seats := due(self.game):
            seat = seats[choose(len(seats))]
            yield self.do(f"p{seat}", pick(self.game, seat, choose))


def _part(seat: int) -> bytes:
    return sha256(f"part {seat}".encode()).digest()[: 16 + seat]


def short_rules(rules: RuleSet, *, rounds: int = 2, max_reshuffles: int = 1) -> RuleSet:
    """Return ``rules`` with its first rounds only, in which the stock runs out sooner: a quicker game."""
    stock = msgspec.structs.replace(rules.stock, max_reshuffles=max_reshuffles)
    return msgspec.structs.replace(rules, id=f"{rules.id}-quick", rounds=rules.rounds[:rounds], stock=stock)


@cache
def recorded_game(
    rules: str = "contract",
    seats: int = 4,
    seed: int = 0,
    *,
    table: str = "t1",
    quick: bool = True,
    parts: int = 3,
    actions_max: int | None = None,
    close: bool = False,
    chance: Chance = "drawn",
    deal_id: str | None = None,
    spectators: Spectators = "live",
) -> tuple[bytes, ...]:
    """Return the commits of a game played by chance.

    Args:
        rules: the id of a rule set that ships.
        seats: number of players.
        seed: another game for each.
        table: the table's id.
        quick: two rounds, each with one rebuilt stock at most; else the whole rule set.
        parts: how many seats commit to a random part; the last of them does not open it.
        actions_max: stop after that many actions, in the middle of the game.
        close: let the host close the table at the end, which a finished game refuses.
        chance: whether the links are said to be given.
        deal_id: another than the table's id.
        spectators: when spectators may look.
    """
    ruleset = load_ruleset(rules)
    if quick:
        ruleset = short_rules(ruleset)
    key = sha256(f"{rules} {seats} {seed}".encode()).digest()
    recorder = Recorder(table)
    recorder.do(
        HOST,
        OpenTable(
            table=table,
            rules=ruleset,
            seats=seats,
            link=key.hex(),
            deal_id=deal_id or table,
            chance=chance,
            spectators=spectators,
        ),
    )
    recorder.do("p0", TakeSeat(0))
    recorder.do("p0", LeaveSeat())
    recorder.seat_players(min(parts, seats))
    recorder.do(HOST, StartGame())
    for played, _ in enumerate(recorder.play(Stream(key, "play").uniform), start=1):
        if played == actions_max:
            break
    if close:
        recorder.do(HOST, Close())
    return tuple(recorder.commits)
