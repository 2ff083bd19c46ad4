"""The timeline: a recorded game folded once, after which any version is at hand at once.

States of neighbouring versions share nearly everything, so that all of them are kept. To show is to fold: no
rule is asked, whatever became of the rules since; ``mersey.replay.verify`` asks them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

import msgspec

from mersey.game.commands import Command
from mersey.game.events import Event
from mersey.game.evolve import evolve
from mersey.game.state import Game
from mersey.log.commit import CommitError, advance, check_follows, decode, start_of
from mersey.log.table_commit import read_table_commit
from mersey.rules.refusals import MerseyError


class TimelineError(MerseyError):
    """Commits that can't be shown, or a place that a game does not have."""


class Moment(msgspec.Struct, frozen=True):
    """What happened at a version: the event, and the commit that it came with."""

    version: int
    commit: int
    at_ms: int
    actor: str
    cause: Command
    event: Event


class Timeline:
    """A game, version by version; version 0 is before its first event."""

    def __init__(self, moments: Sequence[Moment], states: Sequence[Game]) -> None:
        self._moments = moments
        self._states = states

    @classmethod
    def of(cls, commits: Iterable[bytes]) -> Timeline:
        """Return the timeline of a table's commits, of which there is one at least.

        Raises:
            TimelineError: they can't be read, do not follow one another, or can't be folded.
        """
        moments: list[Moment] = []
        states = [Game()]
        head = None
        for number, data in enumerate(commits, start=1):
            try:
                head = start_of(decode(data).stream) if head is None else head
                head = advance(head, check_follows(head, data), data, number)
                commit = read_table_commit(data)
            except CommitError as error:
                raise TimelineError(f"can't be shown from commit {number} on: {error}") from error
            for version, event in enumerate(commit.events, start=commit.first):
                moments.append(Moment(version, number, commit.at_ms, commit.actor, commit.cause, event))
                states.append(_folded(states[-1], event, version))
        if not moments:
            raise TimelineError("no commit is recorded")
        return cls(moments, states)

    @property
    def last(self) -> int:
        """The last version."""
        return len(self._moments)

    @property
    def is_over(self) -> bool:
        """Whether the game has ended or its table was closed, so that its cards may be shown."""
        return self._states[-1].step in ("game_over", "closed")

    def state(self, version: int) -> Game:
        """Return the state after the event of ``version``, 0 to ``last``."""
        return self._states[self._checked(version, 0)]

    def moment(self, version: int) -> Moment:
        """Return what happened at ``version``, 1 to ``last``."""
        return self._moments[self._checked(version, 1) - 1]

    def _checked(self, version: int, first: int) -> int:
        if not first <= version <= self.last:
            raise TimelineError(f"there is no version {version}: the game has {first} to {self.last}")
        return version

    def round_start(self, number: int) -> int:
        """Return the version with which round ``number`` starts.

        Raises:
            TimelineError: the round was never started.
        """
        version = bisect_left(self._states, number, key=lambda state: state.round)
        if number < 1 or version > self.last:
            raise TimelineError(f"there is no round {number}: the game has {_span(self._states[-1].round)}")
        return version

    def turn_start(self, round_number: int, turn: int) -> int:
        """Return the version with which a turn of a round starts: the deal for the first, else a discard.

        Raises:
            TimelineError: the round or the turn was never started.
        """
        begin = self.round_start(round_number)
        after = bisect_left(self._states, round_number + 1, key=lambda state: state.round)
        version = bisect_left(self._states, (turn, True), begin, after, key=_turn_of)
        if turn < 1 or version == after:
            turns = _span(self._states[after - 1].turn)
            raise TimelineError(f"there is no turn {turn} in round {round_number}: it has {turns}")
        return version


def _turn_of(state: Game) -> tuple[int, bool]:
    """Return what only grows within a round: the turn, and whether the cards are dealt."""
    return state.turn, any(state.hands)


def _span(last: int) -> str:
    return f"1 to {last}" if last else "none"


def _folded(game: Game, event: Event, version: int) -> Game:
    try:
        return evolve(game, event)
    except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError) as error:
        what = str(event.__struct_config__.tag)
        raise TimelineError(f"can't be shown from version {version} on: {what} has no place there") from error
