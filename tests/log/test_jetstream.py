"""What only a real server can show: lost acknowledgements, restarts, rights, a wrong stream."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from contextlib import aclosing
from pathlib import Path

import nats.errors
import nats.js.errors
import pytest

from log.chains import a_chain, a_commit
from log.proxy import Proxy
from mersey.log import jetstream
from mersey.log.commit import advance, encode, start_of
from mersey.log.connection import NatsConnection
from mersey.log.embedded import EmbeddedNats
from mersey.log.jetstream import JetStreamLog
from mersey.log.ports import Entry, LogRefused, LogReplaced, LogUnavailable, append_once
from mersey.log.stream_config import STREAM, LogMisconfigured, create_stream, wanted


async def collect(log: JetStreamLog, into: list[Entry], count: int) -> None:
    async with aclosing(log.follow(0)) as entries:
        async for entry in entries:
            into.append(entry)
            if len(into) == count:
                return


async def test_a_lost_acknowledgement_does_not_append_twice(
    nats_server: EmbeddedNats, connection: NatsConnection
) -> None:
    async with Proxy(int(nats_server.url.rpartition(":")[2])) as proxy:
        through = await NatsConnection.open(
            f"nats://127.0.0.1:{proxy.port}", user="app", password=nats_server.credentials.app
        )
        log = await JetStreamLog.open(through, request_s=0.5)
        one, two = a_chain(2)
        proxy.lose_reply(b'"seq":1')

        assert await append_once(log, one, 0) == 1
        assert proxy.lost.is_set()
        assert await append_once(log, two, 1) == 2
        assert [entry.data for entry in await log.tail("table.t1", 0)] == [one, two]
        await through.close()


async def test_a_follower_resumes_when_the_server_is_killed_under_load(
    nats_server: EmbeddedNats, connection: NatsConnection
) -> None:
    """Nothing acknowledged is lost or doubled, and the port stays the same, over two kills."""
    log = await JetStreamLog.open(connection, request_s=0.3)
    count, url, pids = 300, nats_server.url, {nats_server.pid}
    followed: list[Entry] = []
    following = asyncio.create_task(collect(log, followed, count))
    acknowledged: list[Entry] = []
    head = start_of("table.t1")
    for number in range(1, count + 1):
        commit = a_commit(head)
        data = encode(commit)
        position = await append_once(log, data, head.position)
        acknowledged.append(Entry(position=position, stream="table.t1", data=data))
        head = advance(head, commit, data, position)
        if number in (100, 200):
            pids.add(nats_server.pid)
            os.kill(nats_server.pid, signal.SIGKILL)

    await following
    assert followed == acknowledged
    assert [entry.position for entry in followed] == list(range(1, count + 1))
    assert await log.tail("table.t1", 0) == acknowledged
    assert nats_server.url == url
    assert nats_server.pid not in pids


async def test_a_follower_notices_a_consumer_that_fell_silent(
    jetstream_log: JetStreamLog, admin: NatsConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jetstream, "_HEARTBEAT_S", 0.1)
    monkeypatch.setattr(jetstream, "_SILENCE_S", 0.25)
    one, two = a_chain(2)
    await jetstream_log.append("table.t1", one, after=0)
    async with aclosing(jetstream_log.follow(0)) as entries:
        assert (await anext(entries)).position == 1
        (consumer,) = await admin.js.consumers_info(STREAM)
        await admin.js.delete_consumer(STREAM, consumer.name)
        await jetstream_log.append("table.t1", two, after=1)

        assert (await anext(entries)).data == two


@pytest.mark.parametrize("lost", [1, 3, 5])
async def test_what_is_lost_on_the_way_is_read_again(
    jetstream_log: JetStreamLog, monkeypatch: pytest.MonkeyPatch, lost: int
) -> None:
    """The first, a middle and the last entry: the last one shows by the heartbeat's count."""
    monkeypatch.setattr(jetstream, "_HEARTBEAT_S", 0.1)
    received, real = 0, jetstream._Following._next

    async def losing(self: jetstream._Following) -> object:
        nonlocal received
        message = await real(self)
        if message is not None and message.subject.startswith("mersey."):
            received += 1
            if received == lost:
                return await real(self)
        return message

    monkeypatch.setattr(jetstream._Following, "_next", losing)
    for after, data in enumerate(a_chain(5)):
        await jetstream_log.append("table.t1", data, after=after)
    followed: list[Entry] = []
    await collect(jetstream_log, followed, 5)

    assert [entry.position for entry in followed] == [1, 2, 3, 4, 5]
    assert received > lost or lost == 5


async def test_a_server_that_is_down_is_said_to_be_and_nothing_is_sent(
    nats_server: EmbeddedNats, connection: NatsConnection
) -> None:
    log = await JetStreamLog.open(connection, request_s=0.05)
    await nats_server.stop()
    while connection.client.is_connected:
        await asyncio.sleep(0)

    with pytest.raises(LogUnavailable):
        await append_once(log, a_chain(1)[0], 0, patience_s=0.1)

    await nats_server.start()
    await connection.until_up(5)
    assert await log.last_position() == 0


async def test_a_log_that_was_made_anew_is_noticed_by_its_follower(
    nats_server: EmbeddedNats, jetstream_log: JetStreamLog, admin: NatsConnection, tmp_path: Path
) -> None:
    await jetstream_log.append("table.t1", a_chain(1)[0], after=0)
    async with aclosing(jetstream_log.follow(0)) as entries:
        await anext(entries)
        await nats_server.stop()
        shutil.rmtree(tmp_path / "nats" / "store")
        await nats_server.start()
        await admin.until_up()
        await create_stream(admin, max_bytes=2**20)
        await admin.js.publish("mersey.log.0.table.x", b"one")
        await admin.js.publish("mersey.log.0.table.x", b"two")

        with pytest.raises(LogReplaced, match="made anew"):
            await anext(entries)


async def test_a_commit_larger_than_nats_takes_is_refused(jetstream_log: JetStreamLog) -> None:
    with pytest.raises(LogRefused):
        await jetstream_log.append("table.t1", b"x" * 2**21, after=0)


async def test_a_missing_stream_is_named(admin: NatsConnection) -> None:
    with pytest.raises(LogMisconfigured, match="missing"):
        await JetStreamLog.open(admin)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("deny_delete", False),
        ("deny_purge", False),
        ("discard", "old"),
        ("storage", "memory"),
        ("max_age", 3600),
        ("max_msgs_per_subject", 100),
        ("max_bytes", -1),
        ("allow_rollup_hdrs", True),
        ("subjects", ["mersey.log.0.table.>"]),
    ],
)
async def test_a_stream_that_could_lose_commits_is_refused_by_the_setting(
    admin: NatsConnection, setting: str, value: object
) -> None:
    asked = {setting: value} | ({"deny_purge": False} if setting == "allow_rollup_hdrs" else {})
    await admin.js.add_stream(wanted(max_bytes=2**20, replicas=1), **asked)

    with pytest.raises(LogMisconfigured, match=setting):
        await JetStreamLog.open(admin)


async def test_fewer_replicas_than_asked_are_refused(connection: NatsConnection) -> None:
    with pytest.raises(LogMisconfigured, match="num_replicas is 1, must be 3"):
        await JetStreamLog.open(connection, replicas=3)


async def test_making_the_stream_again_leaves_it_as_it_is(
    admin: NatsConnection, jetstream_log: JetStreamLog
) -> None:
    await jetstream_log.append("table.t1", a_chain(1)[0], after=0)

    await create_stream(admin, max_bytes=2**21)

    assert await jetstream_log.last_position() == 1


async def test_the_servers_own_user_can_neither_delete_nor_alter_the_log(
    connection: NatsConnection, jetstream_log: JetStreamLog
) -> None:
    await jetstream_log.append("table.t1", a_chain(1)[0], after=0)

    for verb in ("DELETE", "PURGE", "UPDATE", "MSG.DELETE", "SNAPSHOT", "CREATE"):
        with pytest.raises(nats.errors.TimeoutError):
            await connection.client.request(f"$JS.API.STREAM.{verb}.{STREAM}", b'{"seq":1}', timeout=0.05)
    assert await jetstream_log.last_position() == 1


async def test_not_even_the_admin_can_purge_or_delete_a_commit(
    admin: NatsConnection, jetstream_log: JetStreamLog
) -> None:
    await jetstream_log.append("table.t1", a_chain(1)[0], after=0)

    with pytest.raises(nats.js.errors.APIError):
        await admin.js.purge_stream(STREAM)
    with pytest.raises(nats.js.errors.APIError):
        await admin.js.delete_msg(STREAM, 1)


async def test_an_outside_client_sees_each_commit_on_its_subject(
    connection: NatsConnection, jetstream_log: JetStreamLog
) -> None:
    heard = await connection.client.subscribe("mersey.log.0.table.t1")
    await connection.client.flush()
    one = a_chain(1)[0]

    await jetstream_log.append("table.t1", one, after=0)

    message = await heard.next_msg(timeout=5)
    assert (message.subject, message.data) == ("mersey.log.0.table.t1", one)


async def test_no_server_there_is_a_clear_error_without_the_password() -> None:
    with pytest.raises(LogUnavailable, match=r"^NATS at nats://127\.0\.0\.1:1: ") as caught:
        await NatsConnection.open("nats://me:secret@127.0.0.1:1", within_s=0.3)

    assert "secret" not in str(caught.value)
