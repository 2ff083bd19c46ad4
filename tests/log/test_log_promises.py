"""What every log promises: run over the one in memory and the one on a real JetStream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec
import pytest

from log.chains import a_chain, a_commit
from log.conftest import LOG_BYTES
from mersey.log.commit import encode, start_of
from mersey.log.memory import MemoryLog
from mersey.log.ports import (
    Entry,
    Log,
    LogFull,
    LogReplaced,
    LogUnavailable,
    LostRace,
    OutcomeUnknown,
    append_once,
)

ONE, TWO, THREE = a_chain(3)
OTHER = a_chain(1, "table.t2")[0]


@pytest.fixture(params=["memory", "jetstream"])
def log(request: pytest.FixtureRequest) -> Log:
    if request.param == "memory":
        return MemoryLog(bytes_max=LOG_BYTES)
    made: Log = request.getfixturevalue("jetstream_log")
    return made


async def first(count: int, entries: AsyncGenerator[Entry, None]) -> list[Entry]:
    taken: list[Entry] = []
    async with aclosing(entries) as source:
        async for entry in source:
            taken.append(entry)
            if len(taken) == count:
                break
    return taken


async def test_what_was_appended_comes_back_in_order_byte_for_byte(log: Log) -> None:
    assert await log.append("table.t1", ONE, after=0) == 1
    assert await log.append("table.t2", OTHER, after=0) == 2
    assert await log.append("table.t1", TWO, after=1) == 3

    assert await first(3, log.follow(0)) == [
        Entry(position=1, stream="table.t1", data=ONE),
        Entry(position=2, stream="table.t2", data=OTHER),
        Entry(position=3, stream="table.t1", data=TWO),
    ]
    assert await log.last_position() == 3


@pytest.mark.parametrize("stale", [0, 2, 7])
async def test_an_append_after_the_wrong_position_leaves_nothing(log: Log, stale: int) -> None:
    await log.append("table.t1", ONE, after=0)

    with pytest.raises(LostRace):
        await log.append("table.t1", TWO, after=stale)

    assert await log.last_position() == 1
    assert await log.tail("table.t1", 0) == [Entry(position=1, stream="table.t1", data=ONE)]


async def test_of_fifty_appends_at_once_one_is_taken(log: Log) -> None:
    outcomes = await asyncio.gather(
        *(log.append("table.t1", ONE, after=0) for _ in range(50)), return_exceptions=True
    )

    assert outcomes.count(1) == 1
    assert sum(isinstance(outcome, LostRace) for outcome in outcomes) == 49
    assert await log.last_position() == 1


async def test_a_follower_starts_after_its_position_and_waits_for_more(log: Log) -> None:
    await log.append("table.t1", ONE, after=0)
    await log.append("table.t1", TWO, after=1)
    waiting = asyncio.create_task(first(2, log.follow(1)))

    await log.append("table.t1", THREE, after=2)

    assert [entry.position for entry in await waiting] == [2, 3]


async def test_a_tail_holds_only_what_is_new_in_its_stream(log: Log) -> None:
    await log.append("table.t1", ONE, after=0)
    await log.append("table.t2", OTHER, after=0)
    await log.append("table.t1", TWO, after=1)

    assert await log.tail("table.t1", 1) == [Entry(position=3, stream="table.t1", data=TWO)]
    assert await log.tail("table.t1", 3) == []
    assert await log.tail("table.none", 0) == []


async def test_a_full_log_says_so_and_takes_nothing(log: Log) -> None:
    await log.append("table.t1", ONE, after=0)

    big = b"x" * 600_000
    await log.append("table.big", big, after=0)
    with pytest.raises(LogFull):
        await log.append("table.big2", big, after=0)

    assert await log.last_position() == 2


async def test_a_log_that_ends_before_the_followers_position_is_told(log: Log) -> None:
    await log.append("table.t1", ONE, after=0)

    with pytest.raises(LogReplaced, match="ends at 1"):
        await first(1, log.follow(2))


async def test_append_once_returns_the_position(log: Log) -> None:
    assert await append_once(log, ONE, 0) == 1
    assert await append_once(log, TWO, 1) == 2


async def test_append_once_loses_to_another_command(log: Log) -> None:
    await log.append("table.t1", ONE, after=0)
    rival = encode(a_commit(start_of("table.t1"), command_id="rival"))

    with pytest.raises(LostRace):
        await append_once(log, rival, 0)


async def test_the_same_command_logged_by_another_node_counts_as_done(log: Log) -> None:
    await log.append("table.t1", ONE, after=0)
    twin = encode(a_commit(start_of("table.t1"), salt="ff" * 16))

    assert await append_once(log, twin, 0) == 1
    assert await log.last_position() == 1


async def test_an_append_on_top_of_what_the_log_lacks_is_not_tried_for_ever(log: Log) -> None:
    with pytest.raises(LogUnavailable, match="no commit at position 5"):
        await append_once(log, TWO, 5, patience_s=0.05)


class Faulty(MemoryLog):
    """Loses acknowledgements or messages, as often as it is told."""

    def __init__(self, *, acknowledgements: int = 0, messages: int = 0, tails: int = 0) -> None:
        super().__init__()
        self.acknowledgements, self.messages, self.tails = acknowledgements, messages, tails

    async def append(self, stream: str, data: bytes, after: int) -> int:
        if self.messages:
            self.messages -= 1
            raise OutcomeUnknown("lost")
        position = await super().append(stream, data, after)
        if self.acknowledgements:
            self.acknowledgements -= 1
            raise OutcomeUnknown("lost")
        return position

    async def tail(self, stream: str, after: int) -> list[Entry]:
        if self.tails:
            self.tails -= 1
            raise LogUnavailable("lost")
        return await super().tail(stream, after)


@pytest.mark.parametrize(
    "faults", [{"acknowledgements": 1}, {"messages": 3}, {"acknowledgements": 1, "tails": 2}, {"tails": 1}]
)
async def test_append_once_appends_once_through_faults(faults: dict[str, int]) -> None:
    log = Faulty(**faults)

    assert await append_once(log, ONE, 0) == 1
    assert await log.last_position() == 1


async def test_what_stays_unknown_is_told_as_unknown() -> None:
    with pytest.raises(OutcomeUnknown):
        await append_once(Faulty(messages=10**6), ONE, 0, patience_s=0.05)
    with pytest.raises(OutcomeUnknown):
        await append_once(Faulty(acknowledgements=1, tails=10**6), ONE, 0, patience_s=0.05)


async def test_a_full_log_after_a_doubt_is_no_refusal() -> None:
    class Filling(Faulty):
        async def append(self, stream: str, data: bytes, after: int) -> int:
            if not self.messages:
                raise LogFull("full")
            return await super().append(stream, data, after)

    with pytest.raises(OutcomeUnknown):
        await append_once(Filling(messages=1), ONE, 0, patience_s=0.05)
    with pytest.raises(LogFull):
        await append_once(Filling(), ONE, 0)


def test_an_entry_can_not_be_changed() -> None:
    with pytest.raises(AttributeError):
        Entry(position=1, stream="table.t1", data=ONE).position = 2  # type: ignore[misc]
    assert msgspec.structs.fields(Entry)[0].name == "position"
