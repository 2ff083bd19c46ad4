"""Commits to log and archive in tests: small, numbered, chained."""

from __future__ import annotations

import msgspec

from mersey.log.commit import Commit, Head, advance, encode, next_commit, start_of
from mersey.log.ports import Entry

EVENT = msgspec.Raw(b'{"type":"stock_drawn","seat":2,"card":7}')


def a_commit(head: Head, **changes: object) -> Commit:
    """Return a commit with two events that follows ``head``, with some fields changed."""
    commit = next_commit(
        head,
        at_ms=head.at_ms + 5,
        actor="p1",
        command_id=f"c{head.number + 1}",
        cause=msgspec.Raw(b'{"type":"choose_stock"}'),
        events=(EVENT, EVENT),
        salt=bytes(range(16)),
    )
    return msgspec.structs.replace(commit, **changes)


def a_chain(count: int, stream: str = "table.t1") -> list[bytes]:
    """Return the first ``count`` commits of a stream."""
    head, chain = start_of(stream), []
    for position in range(1, count + 1):
        commit = a_commit(head)
        chain.append(encode(commit))
        head = advance(head, commit, chain[-1], position)
    return chain


def entries_of(*chains: tuple[str, list[bytes]], after: int = 0) -> list[Entry]:
    """Return the chains as a log would hold them, taking from each in turn."""
    entries: list[Entry] = []
    for number in range(max(len(chain) for _, chain in chains)):
        for stream, chain in chains:
            if number < len(chain):
                entries.append(Entry(position=after + len(entries) + 1, stream=stream, data=chain[number]))
    return entries
