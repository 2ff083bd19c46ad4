"""The report of a verification: what was checked, how often it held, and what is wrong, in lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mersey.replay.verdict import Verdict

_OUTCOME: Final = {
    "empty": "no commit is recorded",
    "running": "not finished: what is recorded so far was checked, no final places are proved",
    "finished": "finished",
    "closed": "closed by the host without a result",
}


MEANING_AT: Final = 20
"""Where in the line of a check its meaning begins: for whoever has to part the line."""


def report(verdict: Verdict, source: str, fault: str | None = None) -> Iterator[str]:
    """Yield the lines; ``fault`` is what is wrong with the source itself.

    The last line begins with ``OK`` or ``FAULT``.
    """
    rules = f" ({verdict.rules}, {verdict.seats} seats)" if verdict.rules else ""
    yield f"{source}: table {verdict.table or '?'}{rules}"
    yield f"{verdict.commits} commits, {verdict.events} events; {_OUTCOME[verdict.outcome]}"
    for check in verdict.checks:
        yield f"  {check.name:<9} {check.count:>6}  {check.meaning}"
        if check.fact:
            yield f"  {'':<9} {'':>6}  {check.fact}"
    if verdict.fault is not None:
        yield f"FAULT {verdict.fault}"
    elif fault is not None:
        yield f"FAULT after commit {verdict.commits}: {fault}"
    elif verdict.outcome == "empty":
        yield "FAULT commit 1: there is none"
    else:
        yield f"OK {verdict.table}: head {verdict.head}"
