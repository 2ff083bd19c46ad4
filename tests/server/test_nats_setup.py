"""``mersey nats-setup``, as an admin types it, and a server that takes what it made."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import grpc.aio
import pytest

from mersey.log.stream_config import LogMisconfigured
from mersey.server.config import Config, ConfigError, nats_urls
from mersey.server.node import Node
from outside import ADMIN_PASSWORD, APP_PASSWORD, OutsideNats
from server.people import Person


async def nats_setup(*arguments: str, password: str = ADMIN_PASSWORD) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "mersey.client.cli", "nats-setup", *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=os.environ | {"MERSEY_NATS_ADMIN_PASSWORD": password},
    )
    said, _ = await process.communicate()
    return process.returncode, said.decode()


async def test_an_admin_sets_up_a_nats_server_and_mersey_serves_with_it(tmp_path: Path) -> None:
    server = OutsideNats(tmp_path / "nats")
    await server.start()
    config = Config(
        data=tmp_path / "data",
        nats=f"nats://127.0.0.1:1,{server.url}",
        nats_user="app",
        nats_password=APP_PASSWORD,
    )
    try:
        with pytest.raises(LogMisconfigured, match="mersey nats-setup"):
            async with Node(config):
                pass
        assert await nats_setup("--nats", server.url, "--max-bytes", str(2**21)) == (
            0,
            f"stream mersey_log_0: up to {2**21} bytes, on 1 server\nbucket mersey_names: there\n",
        )
        async with Node(config) as node, grpc.aio.insecure_channel(node.address) as channel:
            host = Person(channel, node.issue_token("Host", "host"))
            table = await host.open_table(["chance"] * 4)
            await host.ask("StartGame", name=table)
            await host.watch_all(table)
            assert (await host.ask("VerifyGame", name=table)).ok
        code, said = await nats_setup("--nats", server.url, "--max-bytes", str(2**22))
        assert (code, f"up to {2**22} bytes" in said) == (0, True)
        code, said = await nats_setup("--nats", server.url, password="wrong")
        assert (code, "Authorization" in said, "Traceback" in said) == (1, True, False)
    finally:
        await server.stop()


async def test_a_server_in_a_cluster_asks_for_three_replicas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mersey.log.connection.NatsConnection.in_cluster", True)
    server = OutsideNats(tmp_path / "nats")
    await server.start()
    try:
        await nats_setup("--nats", server.url)
        with pytest.raises(LogMisconfigured, match="num_replicas is 1, must be 3"):
            async with Node(Config(data=tmp_path / "data", nats=server.app_url)):
                pass
    finally:
        await server.stop()


async def test_what_is_no_url_is_refused_in_one_line() -> None:
    code, said = await nats_setup("--nats", "http://127.0.0.1:4222")
    assert code == 1
    assert "--nats: must be a URL such as nats://127.0.0.1:4222" in said
    assert "Traceback" not in said


def test_a_list_of_servers_is_read_and_each_is_looked_at() -> None:
    assert nats_urls("nats://a:1, tls://b:2", "--nats") == ("nats://a:1", "tls://b:2")
    for text in ("", "nats://a:1,", "a:1", "nats://a:1,http://b"):
        with pytest.raises(ConfigError, match="--nats: must be a URL"):
            nats_urls(text, "--nats")
    config = Config.read(
        {"MERSEY_NATS": "nats://a:1,nats://b:2", "MERSEY_NATS_USER": "app", "MERSEY_NATS_PASSWORD": "x"}
    )
    assert (config.nats, config.nats_user, config.nats_password) == ("nats://a:1,nats://b:2", "app", "x")
