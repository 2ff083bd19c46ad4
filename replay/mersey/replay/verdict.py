"""Verdicts: what a verification found, as values that a command line, a service or a page can show."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

Outcome = Literal["empty", "running", "finished", "closed"]
"""How far the record goes: no commit, a game that goes on, one with places, a table that was closed."""

CHECKS: Final[dict[str, str]] = {
    "chain": "commits follow one another by number, version, time and SHA-256",
    "schema": "events and their causes were read, no field unknown",
    "rules": "rule set is whole, sound and has its fingerprint",
    "causes": "causes were decided again and gave the events that are recorded",
    "commands": "command ids are used once by their actor",
    "links": "opened links are each the one before the next, back to the seal",
    "parts": "parts of players open their commitments",
    "entropy": "entropy is that of the deal's id and the parts, by seat",
    "dealers": "dealers: the first as drawn, then one seat to the left each round",
    "shuffles": "shuffles are those of their link and the entropy",
    "cuts": "cuts lift the packet and earn the bonus that they must",
    "deals": "deals give each card of the pack its place",
    "stocks": "rebuilt stocks are those of their link and pile",
    "cards": "states hold each physical card in exactly one place",
    "points": "rounds count what was left in the hands",
    "totals": "totals add up over the rounds, cut bonuses taken off",
    "places": "places follow from the totals",
}
"""Every check in the order of a report, and what its count counts."""


class Check(msgspec.Struct, frozen=True):
    """A check that held ``count`` times; ``fact`` is what else there is to say."""

    name: str
    count: int
    fact: str = ""

    @property
    def meaning(self) -> str:
        """What the count counts."""
        return CHECKS[self.name]


class Fault(msgspec.Struct, frozen=True):
    """The first thing that is wrong: in which commit, at which version, which check, and what."""

    commit: int
    version: int
    check: str
    what: str

    def __str__(self) -> str:
        """Return the fault in one line."""
        return f"commit {self.commit}, version {self.version}, {self.check}: {self.what}"


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What was found in a record; with a fault the rest stands for what was good before it."""

    table: str
    rules: str
    """The rule set's id; empty before the table was opened."""
    seats: int
    commits: int
    events: int
    head: str
    """SHA-256 of the last good commit."""
    outcome: Outcome
    checks: tuple[Check, ...]
    fault: Fault | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong; a game that is not finished is no fault."""
        return self.fault is None
