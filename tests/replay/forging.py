"""Forged records: games that were recorded honestly, then changed, with or without all hashes made anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from msgspec.structs import replace

from mersey.game.events import Event
from mersey.log.commit import hash_of
from mersey.log.table_commit import TableCommit, read_table_commit

_encoder = msgspec.json.Encoder(order="deterministic")

Change = Callable[[TableCommit], TableCommit]


def commit_with(commits: Sequence[bytes], kind: type[Event], nth: int = 0) -> int:
    """Return the number of the nth commit that holds an event of ``kind``."""
    found = [
        number
        for number, data in enumerate(commits, start=1)
        if any(isinstance(event, kind) for event in read_table_commit(data).events)
    ]
    return found[nth]


def changed(commits: Sequence[bytes], number: int, change: Change) -> list[bytes]:
    """Return the commits with that one changed and no hash mended."""
    forged = list(commits)
    forged[number - 1] = _encoder.encode(change(read_table_commit(commits[number - 1])))
    return forged


def rechained(commits: Sequence[bytes]) -> list[bytes]:
    """Return the commits with numbers, versions and hashes made anew, so that the chain holds."""
    first = read_table_commit(commits[0])
    previous, version, forged = hash_of(first.stream.encode()), 1, []
    for number, data in enumerate(commits, start=1):
        commit = read_table_commit(data)
        whole = replace(commit, number=number, first=version, previous=previous)
        forged.append(_encoder.encode(whole))
        previous, version = hash_of(forged[-1]), version + len(commit.events)
    return forged


def event_changed(kind: type[Event], **fields: object) -> Change:
    """Return the change of a commit's first event of ``kind``; a field may be a function of the old value."""

    def change(commit: TableCommit) -> TableCommit:
        events = list(commit.events)
        index = next(i for i, event in enumerate(events) if isinstance(event, kind))
        old = events[index]
        values = {
            name: value(getattr(old, name)) if callable(value) else value for name, value in fields.items()
        }
        events[index] = replace(old, **values)
        return replace(commit, events=tuple(events))

    return change
