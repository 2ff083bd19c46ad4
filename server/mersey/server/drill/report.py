"""The report of a drill, as a host reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mersey.log.failpoints import (
    ACK_BEFORE_APPEND,
    AFTER_APPEND,
    AFTER_ARCHIVE_COMMIT,
    BEFORE_APPEND,
    BEFORE_ARCHIVE_COMMIT,
    LOST_ACK,
)
from mersey.server.drill.harness import Course
from mersey.server.drill.plan import KINDS, NATS, SERVER

_NAMED_MAX: Final = 10
"""How many of a kind of finding are named; all are counted."""

_WORDS: Final = {
    BEFORE_APPEND: "the server, with a command decided but not logged",
    AFTER_APPEND: "the server, with a command logged but not answered",
    BEFORE_ARCHIVE_COMMIT: "the server, before a transaction of the archive",
    AFTER_ARCHIVE_COMMIT: "the server, after a transaction of the archive",
    SERVER: "the server, at any moment",
    NATS: "the nats-server, at any moment",
    ACK_BEFORE_APPEND: "the server, after a planted bug: a command answered but not logged",
    LOST_ACK: "acknowledgements of the log thrown away",
}

_FINDINGS: Final = {
    "lost": "commands lost",
    "doubled": "commands doubled",
    "misplaced": "commands out of place",
    "traces": "refused commands recorded",
    "unverified": "tables not verified",
    "differences": "differences of log and archive",
    "faults": "other faults",
}


def report(course: Course) -> Iterator[str]:
    """Yield the lines of the report."""
    findings = course.findings
    yield f"Drill of {course.seconds:.0f} s"
    yield f"  {course.accepted:>7} commands acknowledged, {course.refused} refused"
    yield f"  {course.kills:>7} kills (-9):"
    for kind, words in _WORDS.items():
        if kind != LOST_ACK and (kind in KINDS or kind in course.strikes):
            yield f"  {course.strikes.get(kind, 0):>11} {words}"
    yield f"  {course.strikes.get(LOST_ACK, 0):>7} {_WORDS[LOST_ACK]}"
    yield f"  {course.pause_max_s:>7.1f} s the longest pause without an acknowledged command"
    yield "        0 s credited to clocks: this server has no clocks yet"
    yield f"  {findings.commits:>7} commits in the log, compared with the archive byte for byte"
    yield f"  {findings.tables:>7} tables verified"
    for name, words in _FINDINGS.items():
        found: list[str] = getattr(findings, name)
        yield f"  {len(found):>7} {words}"
        yield from (f"          {line}" for line in found[:_NAMED_MAX])
    yield "All that was acknowledged is there." if findings.is_clean else "NOT all is as clients were told."
