"""Stepping through a game in plain text: a line of input gives text to show. No terminal is touched here."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

import msgspec

from mersey.client.phrases import Names
from mersey.game.view import OPEN, SPECTATOR, Viewer, seat_viewer, view
from mersey.replay.account import entry, viewer_named
from mersey.replay.text import state_text
from mersey.replay.timeline import Timeline
from mersey.rules.refusals import MerseyError

HELP: Final = """\
Enter, n [N]   forth, one event or N        r N      to the start of round N
p [N]          back, one event or N         t N      to turn N of this round
v N            to version N                 s N      as seat N saw it
s open         with all cards open          s spec   as a spectator saw it
?              this help                    q        quit"""


class ReplayError(MerseyError):
    """A perspective that can't be taken."""


class Answer(msgspec.Struct, frozen=True):
    """What to show, and whether to go on."""

    text: str
    is_last: bool = False


def check_viewer(timeline: Timeline, viewer: Viewer) -> Viewer:
    """Return ``viewer``, who may look at this game.

    Raises:
        ReplayError: there is no such seat, or the game still runs and its cards are hidden from all but their
            holders; who keeps the archive is no exception.
    """
    if viewer.role == "spectator":
        return viewer
    seats = len(timeline.state(timeline.last).seats)
    if viewer.seat is not None and not 0 <= viewer.seat < seats:
        raise ReplayError(f"there is no seat {viewer.seat}: the table has 0 to {seats - 1}")
    if not timeline.is_over:
        raise ReplayError(
            "the game still runs, and its cards are hidden: look as a spectator now, "
            "or with cards once it has ended or its table is closed"
        )
    return viewer


class Stepper:
    """Somebody who goes through a game; each command of theirs gives an answer."""

    def __init__(self, timeline: Timeline, viewer: Viewer, names: Names, version: int = 1) -> None:
        self._timeline = timeline
        self._viewer = check_viewer(timeline, viewer)
        self._names = names
        timeline.moment(version)
        self.version: int = version

    def answer(self, line: str) -> Answer:
        """Return the answer to a line of input; what can't be done is said, and changes nothing."""
        word, *rest = line.split() or ["n"]
        if word == "q":
            return Answer("", is_last=True)
        if word == "?":
            return Answer(HELP)
        command = _COMMANDS.get(word)
        try:
            if command is None or len(rest) > 1:
                raise ReplayError(f"not a command: {line.strip()[:40]!r} (? lists them)")
            if not rest and word in _EXAMPLES:
                raise ReplayError(f"say which, as in: {_EXAMPLES[word]}")
            command(self, rest[0] if rest else "")
        except MerseyError as error:
            return Answer(str(error))
        return Answer(self.page())

    def page(self) -> str:
        """Return what is seen at the version: when and by whom, the event, the table."""
        timeline, version = self._timeline, self.version
        moment = timeline.moment(version)
        state = timeline.state(version)
        head = f"--- {version} of {timeline.last}, commit {moment.commit}, {clock_time(moment.at_ms)}, "
        table = state_text(view(state, self._viewer), self._names, state.ruleset.score.score_sign)
        event = entry(timeline, version, self._viewer, self._names)
        return "\n".join([head + viewer_named(self._viewer), *event, "", *table, ""])

    def _go(self, version: int) -> None:
        self._timeline.moment(version)
        self.version = version

    def _forth(self, count: str) -> None:
        if self.version == self._timeline.last:
            raise ReplayError("this is the end")
        self._go(min(self.version + (_number(count) if count else 1), self._timeline.last))

    def _back(self, count: str) -> None:
        if self.version == 1:
            raise ReplayError("this is the beginning")
        self._go(max(self.version - (_number(count) if count else 1), 1))

    def _to_round(self, number: str) -> None:
        self._go(self._timeline.round_start(_number(number)))

    def _to_turn(self, number: str) -> None:
        running = self._timeline.state(self.version).round
        self._go(self._timeline.turn_start(running, _number(number)))

    def _to_version(self, number: str) -> None:
        self._go(_number(number))

    def _look_as(self, who: str) -> None:
        if who in ("spec", "spectator"):
            viewer = SPECTATOR
        else:
            viewer = OPEN if who == "open" else seat_viewer(_number(who))
        self._viewer = check_viewer(self._timeline, viewer)


_COMMANDS: Final[dict[str, Callable[[Stepper, str], None]]] = {
    "n": Stepper._forth,
    "p": Stepper._back,
    "r": Stepper._to_round,
    "t": Stepper._to_turn,
    "v": Stepper._to_version,
    "s": Stepper._look_as,
}
_EXAMPLES: Final = {"r": "r 5", "t": "t 12", "v": "v 100", "s": "s 2"}
"""The commands that need a word, each with one."""


def clock_time(at_ms: int) -> str:
    """Return a time of the record in words.

    >>> clock_time(1_790_000_000_250)
    '2026-09-21 14:13:20.250 UTC'
    """
    seconds, ms = divmod(at_ms, 1000)
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):  # a record may hold any number
        return f"{at_ms} ms"
    return f"{moment:%Y-%m-%d %H:%M:%S}.{ms:03} UTC"


def _number(word: str) -> int:
    if not (word.isascii() and word.isdigit()) or len(word) > 9:
        raise ReplayError(f"not a number: {word[:20]!r}")
    return int(word)
