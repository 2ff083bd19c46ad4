"""Verification: a record is read from its bytes, decided again, and proved, commit by commit.

For each commit, in this order: it follows the one before (chain); command and events can be read (schema);
its actor's cause, decided again on the state before, gives the very events that are recorded (causes); each
event agrees with links, parts, shuffles and scores (``mersey.replay.evidence``); the state after it holds
every card once (cards). The first fault ends it: what stands before it is good.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from mersey.game.commands import Command, OpenTable
from mersey.game.decide import decide
from mersey.game.events import Event
from mersey.game.evolve import evolve
from mersey.game.refusals import TableRefusal
from mersey.game.state import Game
from mersey.log.commit import (
    CommitError,
    Head,
    NewerSchema,
    UnreadableCommit,
    advance,
    check_follows,
    decode,
    start_of,
)
from mersey.log.table_commit import TableCommit, read_table_commit, stream_of
from mersey.replay.evidence import Disproved, Evidence, check_rules
from mersey.replay.verdict import CHECKS, Check, Fault, Outcome, Verdict
from mersey.rules.refusals import MerseyError, Refusal

_HOSTILE: Final = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
"""What the engine may raise on values that no program of ours has written."""

_SHOWN_CHARS: Final = 60

_encoder: Final = msgspec.json.Encoder(order="deterministic")


def verify_commits(commits: Iterable[bytes], table: str | None = None) -> Verdict:
    """Return what is proved of a table's commits, or the first fault in them.

    Args:
        commits: the exact bytes of the commits, from the first on.
        table: the table's id; None takes the one that the first commit names.
    """
    verification = Verification(table)
    for data in commits:
        if not verification.feed(data):
            break
    return verification.verdict()


class Verification:
    """A verification under way: it is fed one commit after the other, and can be asked at any time."""

    def __init__(self, table: str | None = None) -> None:
        self._game = Game()
        self._head: Head | None = None if table is None else start_of(stream_of(table))
        self._evidence = Evidence()
        self._counts = self._evidence.counts
        self._ids: set[tuple[str, str]] = set()
        self._fault: Fault | None = None

    def feed(self, data: bytes) -> bool:
        """Take the next commit's bytes; return whether all is well so far. After a fault nothing is taken."""
        if self._fault is None:
            try:
                self._take(data)
            except _Faulty as found:
                number = 1 if self._head is None else self._head.number + 1
                self._fault = Fault(number, found.version, found.check, found.what)
        return self._fault is None

    def verdict(self) -> Verdict:
        """Return what has been found so far."""
        game, head = self._game, self._head
        return Verdict(
            table=game.table,
            rules="" if game.rules is None else game.rules.id,
            seats=len(game.seats),
            commits=0 if head is None else head.number,
            events=game.version,
            head="" if head is None else head.hash,
            outcome=_outcome(game),
            checks=tuple(self._check(name) for name in CHECKS if self._counts[name]),
            fault=self._fault,
        )

    def _check(self, name: str) -> Check:
        facts = {"links": self._evidence.chance, "entropy": self._evidence.parts}
        return Check(name, self._counts[name], facts.get(name, ""))

    def _take(self, data: bytes) -> None:
        version = self._game.version + 1
        head = self._follow(data, version)
        commit = self._read(data, version)
        self._check_cause(commit, version)
        decided = self._decide(commit, version)
        game = self._game
        for version, event in enumerate(commit.events, start=commit.first):
            index = version - commit.first
            if index >= len(decided) or event != decided[index]:
                raise self._differs(game, event, decided[index : index + 1], version)
            game = self._advance(game, event, version)
        if len(decided) > len(commit.events):
            raise _Faulty(
                version, "causes", f"{_kind(decided[len(commit.events)])} must follow and is missing"
            )
        self._counts["causes"] += 1
        self._game, self._head = game, head

    def _follow(self, data: bytes, version: int) -> Head:
        """Return the head after the commit that ``data`` is, which must follow the last one."""
        try:
            head = start_of(decode(data).stream) if self._head is None else self._head
            commit = check_follows(head, data)
        except (UnreadableCommit, NewerSchema) as error:
            raise _Faulty(version, "schema", str(error)) from error
        except CommitError as error:
            raise _Faulty(version, "chain", str(error)) from error
        self._counts["chain"] += 1
        return advance(head, commit, data, commit.number)

    def _read(self, data: bytes, version: int) -> TableCommit:
        try:
            commit = read_table_commit(data)
            if _encoder.encode(commit) != data:  # written by another program: then it must have one reading
                json.loads(data, object_pairs_hook=_check_keys)
        except (UnreadableCommit, _TwoReadings) as error:
            raise _Faulty(version, "schema", str(error)) from error
        self._counts["schema"] += len(commit.events)
        return commit

    def _check_cause(self, commit: TableCommit, version: int) -> None:
        """Check what no deciding can: that the command is a new one, and opens the table of this stream."""
        key = (commit.actor, commit.command_id)
        if key in self._ids:
            what = f"{commit.actor} has used the command id {commit.command_id} before"
            raise _Faulty(version, "commands", what)
        self._ids.add(key)
        self._counts["commands"] += 1
        if isinstance(commit.cause, OpenTable):
            try:
                check_rules(commit.cause.rules)
            except Disproved as error:
                raise _Faulty(version, error.check, str(error)) from error
            if stream_of(commit.cause.table) != commit.stream:
                what = f"{commit.stream} can't hold the table {commit.cause.table}"
                raise _Faulty(version, "chain", what)

    def _decide(self, commit: TableCommit, version: int) -> tuple[Event, ...]:
        cause = f"{_kind(commit.cause)} by {commit.actor}"
        try:
            return decide(self._game, commit.actor, commit.cause)
        except (Refusal, TableRefusal) as refusal:
            raise _Faulty(version, "causes", f"{cause} is refused: {refusal}") from refusal
        except _HOSTILE as error:
            what = f"{cause} can't be decided ({type(error).__name__})"
            raise _Faulty(version, "causes", what) from error

    def _differs(self, game: Game, event: Event, decided: Sequence[Event], version: int) -> _Faulty:
        """Return why ``event`` is at fault, where possible by what it contradicts in the record before it."""
        try:
            self._evidence.check(game, event)
        except Disproved as error:
            return _Faulty(version, error.check, str(error))
        except _HOSTILE:
            pass
        return _Faulty(version, "causes", _difference(event, decided))

    def _advance(self, game: Game, event: Event, version: int) -> Game:
        """Return the state after ``event``, which is proved."""
        try:
            self._evidence.check(game, event)
            after = evolve(game, event)
            self._evidence.check_cards(game, after)
        except Disproved as error:
            raise _Faulty(version, error.check, str(error)) from error
        return after


class _Faulty(Exception):
    """What is wrong, where the number of the commit is known to who catches it."""

    def __init__(self, version: int, check: str, what: str) -> None:
        self.version = version
        self.check = check
        self.what = what
        super().__init__(what)


class _TwoReadings(MerseyError):
    """JSON that two programs could read differently."""


def _check_keys(pairs: list[tuple[str, object]]) -> None:
    """Raise if a key stands twice in an object: readers differ on which value counts."""
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _TwoReadings(f"the key {_short(twice)} stands twice in an object")


def _outcome(game: Game) -> Outcome:
    if game.version == 0:
        return "empty"
    if game.step == "closed":
        return "closed"
    return "finished" if game.step == "game_over" else "running"


def _kind(value: Event | Command) -> str:
    return str(value.__struct_config__.tag)


def _difference(event: Event, decided: Sequence[Event]) -> str:
    """Return in words how ``event`` differs from what was decided in its place, if anything was."""
    if not decided:
        return f"{_kind(event)} does not come of the cause"
    wanted = decided[0]
    if type(wanted) is not type(event):
        return f"{_kind(event)} is recorded, the cause gives {_kind(wanted)}"
    field = next(name for name in event.__struct_fields__ if getattr(event, name) != getattr(wanted, name))
    found, right = (_short(getattr(value, field)) for value in (event, wanted))
    return f"{_kind(event)}: {field} is {found}, the cause gives {right}"


def _short(value: object) -> str:
    text = _encoder.encode(value).decode()
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
