"""Rehearsals: games of bots played in this process and recorded as a server would, for measuring.

No log and no archive has a part in them; the bytes are those that a log would hold.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from mersey.client.simulate import Played, simulate_game
from mersey.client.strategies.turn import Strategy
from mersey.log.commit import advance, start_of
from mersey.log.table_commit import stream_of, write_table_commit
from mersey.rules.ruleset import RuleSet

STARTED_AT_MS: Final = 1_790_000_000_000
"""When a rehearsal is said to begin: any time will do, so long as it is always the same."""

_PACE_MS: Final = 400


def rehearse(rules: RuleSet, seats: int, strategy: Strategy, seed: str) -> tuple[Played, tuple[bytes, ...]]:
    """Return a whole game of ``strategy`` on every seat, and its commits."""
    played = simulate_game(rules, seats, [strategy], seed)
    head = start_of(stream_of(played.game.table))
    commits = []
    for number, (actor, command, events) in enumerate(played.commands, start=1):
        commit, data = write_table_commit(
            head,
            at_ms=STARTED_AT_MS + number * _PACE_MS,
            actor=actor,
            command_id=f"c{number}",
            command=command,
            events=events,
            salt=sha256(f"{seed} {number}".encode()).digest()[:16],
        )
        head = advance(head, commit, data, number)
        commits.append(data)
    return played, tuple(commits)
