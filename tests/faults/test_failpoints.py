"""Fail points: off unless they are named, and refused where they are named wrongly."""

from __future__ import annotations

import logging

import pytest

from mersey.log.failpoints import AFTER_APPEND, LOST_ACK, POINTS, FailingLog, FailpointError, Failpoints
from mersey.log.memory import MemoryLog
from mersey.log.ports import OutcomeUnknown, append_once
from recorded import recorded_game


def test_no_fail_point_is_on_unless_it_is_named(caplog: pytest.LogCaptureFixture) -> None:
    assert not Failpoints.read({})
    assert not Failpoints.read({"MERSEY_FAILPOINTS": ""})
    assert not caplog.records


def test_a_fail_point_that_is_on_is_said_loudly(caplog: pytest.LogCaptureFixture) -> None:
    assert Failpoints.read({"MERSEY_FAILPOINTS": "after-append:3:kill, lost-ack"})
    assert [record.levelno for record in caplog.records] == [logging.CRITICAL]
    assert "after-append:3:kill, lost-ack" in caplog.text


@pytest.mark.parametrize(
    "named", ["nowhere", "after-append:0", "after-append:x", "lost-ack:1:kill", "after-append:1:kill:1", ":1"]
)
def test_what_is_no_fail_point_is_refused(named: str) -> None:
    with pytest.raises(FailpointError) as refused:
        Failpoints.read({"MERSEY_FAILPOINTS": f"lost-ack,{named}"})

    assert "MERSEY_FAILPOINTS" in str(refused.value)
    if named in ("nowhere", ":1"):
        assert all(point in str(refused.value) for point in POINTS)


def test_a_fail_point_acts_once_at_its_time() -> None:
    points = Failpoints.read({"MERSEY_FAILPOINTS": "lost-ack:2,lost-ack:4"})

    assert [points.acts(LOST_ACK) for _ in range(6)] == [False, True, False, True, False, False]
    assert not points.acts(AFTER_APPEND)


async def test_a_lost_acknowledgement_leaves_the_commit_in_the_log() -> None:
    first, second, *_ = recorded_game()
    log = MemoryLog()
    failing = FailingLog(log, Failpoints.read({"MERSEY_FAILPOINTS": "lost-ack,lost-ack:2"}))

    with pytest.raises(OutcomeUnknown):
        await failing.append("table.t1", first, 0)
    assert [entry.data for entry in await log.tail("table.t1", 0)] == [first]
    assert await append_once(failing, second, 1) == 2
    assert [entry.data for entry in await log.tail("table.t1", 0)] == [first, second]
