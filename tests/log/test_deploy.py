"""``deploy/nats.conf`` itself: what the server's own user may do by it, and that it can do nothing more."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import nats.errors
import pytest

from log.chains import a_chain
from mersey.log.connection import NatsConnection
from mersey.log.directory import Directory
from mersey.log.jetstream import JetStreamLog
from mersey.log.permissions import APP_PUBLISH, APP_SUBSCRIBE
from mersey.log.ports import LogFull, LogUnavailable
from mersey.log.setup import set_up
from mersey.log.stream_config import NAMES_BUCKET, STREAM, LogMisconfigured, wanted
from outside import ADMIN_PASSWORD, APP_PASSWORD, DEPLOY, OutsideNats, one_nats

REFUSED_S = 0.05
NAMES_STREAM = f"KV_{NAMES_BUCKET}"


@pytest.fixture
async def outside(tmp_path: Path) -> AsyncIterator[OutsideNats]:
    async with one_nats(tmp_path / "nats", max_bytes=2**20) as server:
        yield server


@pytest.fixture
async def app(outside: OutsideNats) -> AsyncIterator[NatsConnection]:
    connection = await NatsConnection.open(outside.app_url)
    yield connection
    await connection.close()


def listed(what: str) -> list[str]:
    found = re.search(what + r": \{ allow: \[(.*?)\]", (DEPLOY / "nats.conf").read_text(), re.DOTALL)
    assert found is not None
    return re.findall(r'"([^"]+)"', found[1])


def test_the_file_and_the_embedded_server_give_the_same_permissions() -> None:
    assert listed("publish") == list(APP_PUBLISH)
    assert listed("subscribe") == list(APP_SUBSCRIBE)


def test_no_password_stands_in_a_file_and_each_commit_is_synced() -> None:
    for path in DEPLOY.glob("*.conf"):
        for line in path.read_text().splitlines():
            if not line.lstrip().startswith("#"):
                for value in re.findall(r"password: *([^\s,}]+)", line):
                    assert value.startswith("$"), f"{path.name}: {line.strip()}"
    assert re.search(r"^\s+sync_interval: always$", (DEPLOY / "nats.conf").read_text(), re.MULTILINE)


FORBIDDEN = [
    ("STREAM.DELETE.{}", ""),
    ("STREAM.PURGE.{}", ""),
    ("STREAM.UPDATE.{}", '{"name":"{}","subjects":["x"],"max_bytes":1}'),
    ("STREAM.MSG.DELETE.{}", '{"seq":1}'),
    ("STREAM.MSG.DELETE.{}", '{"seq":1,"no_erase":true}'),
    ("STREAM.SNAPSHOT.{}", '{"deliver_subject":"_INBOX.x"}'),
    ("STREAM.RESTORE.{}", "{}"),
    ("STREAM.LEADER.STEPDOWN.{}", ""),
    ("STREAM.PEER.REMOVE.{}", '{"peer":"n1"}'),
    ("CONSUMER.PAUSE.{}.c", "{}"),
    ("DIRECT.GET.{}", '{"seq":1}'),
]


@pytest.mark.parametrize("stream", [STREAM, NAMES_STREAM])
@pytest.mark.parametrize(("verb", "body"), FORBIDDEN)
async def test_the_servers_user_can_not(app: NatsConnection, stream: str, verb: str, body: str) -> None:
    log = await JetStreamLog.open(app)
    await log.append("table.t1", a_chain(1)[0], after=0)

    with pytest.raises(nats.errors.TimeoutError):
        await app.client.request(
            "$JS.API." + verb.format(stream), body.replace("{}", stream).encode(), timeout=REFUSED_S
        )

    assert "permissions violation" in str(app.client.last_error).lower()
    assert [entry.data for entry in await log.tail("table.t1", 0)] == a_chain(1)


@pytest.mark.parametrize(
    "copied",
    [
        {"name": "COPY", "sources": [{"name": STREAM}]},
        {"name": "COPY", "mirror": {"name": STREAM}},
        {"name": "COPY", "subjects": ["mersey.>"]},
    ],
)
async def test_the_servers_user_can_make_no_stream_that_copies_or_shadows_the_log(
    app: NatsConnection, copied: dict[str, object]
) -> None:
    with pytest.raises(nats.errors.TimeoutError):
        await app.client.request("$JS.API.STREAM.CREATE.COPY", json.dumps(copied).encode(), timeout=REFUSED_S)


async def test_no_detour_through_a_consumer_or_a_reply_reaches_the_streams(
    app: NatsConnection, outside: OutsideNats
) -> None:
    """JetStream itself publishes to a consumer's deliver subject and to a reply: not to its own API."""
    log = await JetStreamLog.open(app)
    await log.append("table.t1", a_chain(1)[0], after=0)
    for target in (f"$JS.API.STREAM.DELETE.{STREAM}", f"$JS.API.STREAM.PURGE.{NAMES_STREAM}"):
        consumer = {"deliver_subject": target, "ack_policy": "none", "mem_storage": True}
        request = json.dumps({"stream_name": STREAM, "config": consumer}).encode()
        await app.client.request(f"$JS.API.CONSUMER.CREATE.{STREAM}", request)
        await app.client.publish(f"$JS.API.STREAM.INFO.{STREAM}", b"", reply=target)
    await app.client.flush()

    directory = await Directory.open(app)
    await directory.put("p1", "Ann")
    assert await directory.all() == {"p1": "Ann"}
    assert [entry.data for entry in await log.tail("table.t1", 0)] == a_chain(1)


async def test_a_message_of_the_log_is_not_rolled_up(app: NatsConnection) -> None:
    log = await JetStreamLog.open(app)
    await log.append("table.t1", a_chain(1)[0], after=0)

    with pytest.raises(Exception, match="rollup"):
        await app.js.publish("mersey.log.0.table.t1", b"{}", headers={"Nats-Rollup": "sub"})
    assert len(await log.tail("table.t1", 0)) == 1


async def test_the_log_and_the_directory_work_with_these_rights(app: NatsConnection) -> None:
    log, chain = await JetStreamLog.open(app), a_chain(2)
    async with aclosing(log.follow(0)) as entries:
        for after, data in enumerate(chain):
            await log.append("table.t1", data, after=after)
        assert [(await anext(entries)).data for _ in chain] == chain
    directory = await Directory.open(app)
    await directory.put("p1", "Ann")
    assert await directory.get("p1") == "Ann"
    await directory.erase("p1")
    assert await directory.all() == {}
    assert app.client.last_error is None


async def test_set_up_again_changes_nothing_but_the_limit(outside: OutsideNats, app: NatsConnection) -> None:
    log = await JetStreamLog.open(app)
    big = b"x" * 600_000
    await log.append("table.t1", big, after=0)
    with pytest.raises(LogFull):
        await log.append("table.t2", big, after=0)
    admin = await outside.admin()

    assert await set_up(admin, replicas=1) == 2**20
    assert await set_up(admin, replicas=1, max_bytes=2**22) == 2**22

    assert await log.append("table.t2", big, after=0) == 2
    await admin.close()


async def test_set_up_refuses_a_stream_that_can_not_be_the_log(tmp_path: Path) -> None:
    server = OutsideNats(tmp_path / "nats")
    await server.start()
    admin = await server.admin()
    await admin.js.add_stream(wanted(max_bytes=2**20, replicas=1), deny_purge=False)

    with pytest.raises(LogMisconfigured, match="deny_purge"):
        await set_up(admin, replicas=1)

    await admin.close()
    await server.stop()


async def test_the_servers_user_can_not_set_up(app: NatsConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mersey.log.setup.READY_S", 0.01)
    with pytest.raises(LogUnavailable, match="is this user its admin"):
        await set_up(app, replicas=1)


async def test_one_password_does_not_open_the_other_user(outside: OutsideNats) -> None:
    for user, password in (("admin", APP_PASSWORD), ("app", ADMIN_PASSWORD), ("system", APP_PASSWORD)):
        with pytest.raises(LogUnavailable, match=r"(?i)authorization"):
            await NatsConnection.open(outside.url, user=user, password=password)
