"""The session: whatever a connection does to a stream, the client sees the uncut stream."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mersey.client.session import DuplicateCommandError, GapError, PendingCommand, TableSession
from mersey.client.wire import RawUpdate
from mersey.rules.actions import Buy, Pass


class Numbered(NamedTuple):
    version: int


STREAM = [Numbered(version) for version in range(1, 41)]


class Faults(NamedTuple):
    """What a connection does: how far it reads, and how it garbles what the server sent."""

    batch: int
    deliver: int
    repeat_from: int
    swap: bool
    drop: int | None


faults = st.lists(
    st.builds(
        Faults,
        batch=st.integers(1, 9),
        deliver=st.integers(0, 12),
        repeat_from=st.integers(0, 5),
        swap=st.booleans(),
        drop=st.none() | st.integers(0, 8),
    ),
    max_size=30,
)


def sent_after(version: int, connection: Faults) -> list[list[Numbered]]:
    """Return the batches of a connection that resumes after ``version``, garbled."""
    start = max(0, version - connection.repeat_from)
    sent = STREAM[start : start + connection.deliver]
    if connection.swap and len(sent) >= 2:
        sent[-1], sent[-2] = sent[-2], sent[-1]
    if connection.drop is not None and connection.drop < len(sent):
        del sent[connection.drop]
    return [sent[at : at + connection.batch] for at in range(0, len(sent), connection.batch)]


@given(faults)
def test_any_cut_repeat_loss_or_disorder_with_resume_gives_the_uncut_stream(
    connections: list[Faults],
) -> None:
    session = TableSession("t")
    seen: list[Numbered] = []
    calm = [Faults(7, 50, 0, False, None)]
    for connection in connections + calm:
        for batch in sent_after(session.version, connection):
            try:
                seen += session.receive(batch)
            except GapError:
                break

    assert seen == STREAM


@given(st.integers(0, 40), st.integers(0, 40))
def test_a_cut_at_any_position_resumes_without_gap_or_repeat(cut: int, again: int) -> None:
    session = TableSession("t")
    seen = [*session.receive(STREAM[:cut])]
    seen += session.receive(STREAM[min(again, cut) :])

    assert seen == STREAM
    assert not session.stale


def test_a_gap_takes_nothing_of_what_came_and_names_where_to_resume() -> None:
    session = TableSession("t", after_version=3)

    with pytest.raises(GapError, match="resume after version 3"):
        session.receive([Numbered(4), Numbered(6)])

    assert session.version == 3
    assert session.receive([Numbered(4), Numbered(5)]) == (Numbered(4), Numbered(5))


def test_a_heartbeat_ahead_of_the_updates_says_stale_until_they_have_come() -> None:
    session = TableSession("t")
    session.receive(STREAM[:5])
    session.hear(5)
    assert not session.stale

    session.hear(8)
    assert session.stale
    session.receive(STREAM[5:7])
    assert session.stale
    session.receive(STREAM[7:8])
    assert not session.stale


def test_a_heartbeat_from_a_server_that_lags_says_nothing() -> None:
    session = TableSession("t", after_version=9)
    session.hear(4)

    assert (session.version, session.head_version, session.stale) == (9, 9, False)


def test_an_update_of_an_unknown_kind_counts_like_any_other() -> None:
    session = TableSession("t")
    unknown = RawUpdate(1, 0, "sung", b'{"type":"sung"}')

    assert session.receive([unknown]) == (unknown,)
    assert session.version == 1


def test_a_command_is_pending_with_its_id_until_it_is_answered() -> None:
    session = TableSession("t")
    first = session.send(PendingCommand("c1", Buy(), seen_version=7))
    second = session.send(PendingCommand("c2", Pass()))
    session.send(PendingCommand("c1", Buy(), seen_version=7))

    assert session.pending == (first, second)
    assert session.settle("c1") == first
    assert session.settle("c1") is None
    assert session.pending == (second,)


def test_an_id_that_is_pending_is_not_given_to_another_action() -> None:
    session = TableSession("t")
    session.send(PendingCommand("c1", Buy()))

    with pytest.raises(DuplicateCommandError):
        session.send(PendingCommand("c1", Pass()))
