"""``mersey serve`` as a process: started, stopped, killed, started again; and what it says when it can't."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import stat
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc.aio
import pytest

from mersey.log.archive_reader import ArchiveReader
from mersey.v1 import table_pb2
from server.people import Person, one_round

SERVE = (sys.executable, "-m", "mersey.client.cli", "serve", "--listen", "127.0.0.1:0")


class Process:
    """A running ``mersey serve``."""

    def __init__(self, child: asyncio.subprocess.Process, address: str, data: Path) -> None:
        self.child = child
        self.address = address
        self.data = data

    def host(self, channel: grpc.aio.Channel) -> Person:
        return Person(channel, (self.data / "host.token").read_text().strip())

    async def end(self, number: signal.Signals) -> int:
        with contextlib.suppress(ProcessLookupError):
            self.child.send_signal(number)
        return await self.child.wait()


@contextlib.asynccontextmanager
async def served(data: Path) -> AsyncIterator[tuple[Process, Person]]:
    child = await asyncio.create_subprocess_exec(
        *SERVE, "--data", str(data), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        assert child.stdout is not None
        line = (await child.stdout.readline()).decode()
        assert line.startswith("mersey serves on "), line
        process = Process(child, line.split()[3].rstrip(","), data)
        async with grpc.aio.insecure_channel(process.address) as channel:
            yield process, process.host(channel)
    finally:
        if child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                child.kill()
            await child.wait()


async def failure(*arguments: str, **environment: str) -> str:
    """Return what a ``mersey`` command that must fail says, which is one line."""
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "mersey.client.cli",
        *arguments,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | environment,
    )
    _, said = await child.communicate()
    assert child.returncode == 1, said
    lines = [line for line in said.decode().splitlines() if " WARNING " not in line]
    assert len(lines) == 1, lines
    assert lines[0].startswith("mersey: error: ")
    return lines[0]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_a_game_goes_on_where_it_was_after_a_restart(number: signal.Signals, tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with served(data) as (process, host):
        table = await host.open_table(["chance"] * 4, rules="contract")
        start = await host.ask("StartGame", name=table, command_id="start")
        before: list[table_pb2.Update] = []
        stream = host.stream("Watch", name=table)
        async for response in stream:
            before += response.updates
            if len(before) > 200:
                break
        stream.cancel()
        code = await process.end(number)

    assert code == (0 if number == signal.SIGTERM else -number)
    async with served(data) as (process, host):
        stream = host.stream("Watch", name=table)
        after: list[table_pb2.Update] = []
        async for response in stream:
            after += response.updates
            if len(after) > len(before) + 300:
                break
        stream.cancel()
        again = await host.ask("StartGame", name=table, command_id="start")
        await host.ask("CloseTable", name=table)
        verified = await host.ask("VerifyGame", name=table)
        await process.end(signal.SIGTERM)

    assert after[: len(before)] == before
    assert again == start
    assert verified.ok, verified.fault


async def test_a_game_goes_on_when_the_nats_server_inside_is_killed(tmp_path: Path) -> None:
    async with served(tmp_path / "data") as (process, host):
        table = await host.open_table(["chance"] * 4)
        await host.ask("StartGame", name=table)
        stream = aiter(host.stream("Watch", name=table))
        await anext(stream)
        (nats,) = Path(f"/proc/{process.child.pid}/task/{process.child.pid}/children").read_text().split()

        os.kill(int(nats), signal.SIGKILL)
        updates = await host.watch_all(table)

        assert [update.version for update in updates] == list(range(1, len(updates) + 1))
        assert (await host.ask("VerifyGame", name=table)).ok
        await process.end(signal.SIGTERM)


async def first_accepted(host: Person, table: str) -> tuple[dict[str, Any], Any]:
    """Play the first action that the table takes; return it and its answer.

    An offer may be settled by a bot while this seat still answers it.
    """
    async for response in host.stream("Watch", name=table, with_turns=True):
        if response.HasField("turn"):
            action = response.turn.choices.legal[0].forms[0].action
            act = {"name": table, "command_id": "mine", "action": action}
            with contextlib.suppress(grpc.aio.AioRpcError):
                return act, await host.ask("Act", **act)
    raise AssertionError("the game ended without a move")


async def test_the_first_answer_comes_again_after_a_restart(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with served(data) as (process, host):
        table = await host.open_table(["chance"] * 3)
        await host.ask("TakeSeat", name=table, command_id="seat")
        await host.ask("StartGame", name=table)
        act, first = await first_accepted(host, table)
        await process.end(signal.SIGKILL)

    async with served(data) as (process, host):
        assert [listed.name for listed in (await host.ask("ListTables")).tables] == [table]
        again = await host.ask("Act", **act)
        await process.end(signal.SIGTERM)

    assert again == first
    with ArchiveReader(data / "archive.db") as archive:
        entries = list(archive.commits_of(table.replace("tables/", "table.")))
    assert sum(b'"command_id":"mine"' in entry.data for entry in entries) == 1


async def test_a_finished_game_is_there_after_a_restart(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with served(data) as (process, host):
        table = await host.open_table(["chance"] * 4, rules_toml=one_round())
        await host.ask("StartGame", name=table)
        before = await host.watch_all(table)
        await process.end(signal.SIGTERM)

    async with served(data) as (process, host):
        assert await host.watch_all(table) == before
        assert [game.name for game in (await host.ask("ListGames")).games] == [table]
        assert not (await host.ask("ListTables")).tables
        assert await process.end(signal.SIGTERM) == 0


async def test_keys_and_tokens_are_for_their_owner_alone(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with served(data) as (process, _):
        used = await failure("serve", "--data", str(data), "--listen", "127.0.0.1:0")
        port = await failure("serve", "--data", str(tmp_path / "other"), "--listen", process.address)
        await process.end(signal.SIGTERM)

    for name in ("keys/signing.pem", "host.token"):
        assert stat.S_IMODE((data / name).stat().st_mode) == 0o600
    assert "in use by another mersey server" in used
    assert "can't listen there" in port


async def test_a_new_key_makes_a_new_host_token(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with served(data) as (process, _):
        await process.end(signal.SIGTERM)
    (data / "keys" / "signing.pem").unlink()

    async with served(data) as (process, host):
        await host.ask("ListTables")
        await process.end(signal.SIGTERM)


async def test_a_token_made_on_the_command_line_opens_the_server(tmp_path: Path) -> None:
    data = tmp_path / "data"
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "mersey.client.cli", "token", "new", "--name", "Ann", "--role", "player"),
        *("--keys", str(data / "keys")),
        stdout=asyncio.subprocess.PIPE,
    )
    token = (await child.communicate())[0].decode().strip()

    async with served(data) as (process, host):
        table = await host.open_table()
        async with grpc.aio.insecure_channel(process.address) as channel:
            await Person(channel, token).ask("TakeSeat", name=table)
        shown = await host.ask("GetTable", name=table)
        await process.end(signal.SIGTERM)

    assert shown.seats[0].display_name == "Ann"


@pytest.mark.parametrize(
    ("arguments", "environment", "said"),
    [
        (["serve", "--listen", "nowhere"], {}, "--listen: must be HOST:PORT"),
        (["serve", "--listen", "example.org:1"], {}, "--listen: the host must be"),
        (["serve"], {"MERSEY_LISTEN": "127.0.0.1:99999"}, "MERSEY_LISTEN: must be HOST:PORT"),
        (["serve", "--nats", "http://x"], {}, "--nats: must be a URL"),
        (["serve"], {"MERSEY_NATS": "x"}, "MERSEY_NATS: must be a URL"),
        (
            ["serve", "--nats-monitor", "http://127.0.0.1:8222"],
            {},
            "--nats-monitor: is of NATS servers of your",
        ),
        (
            ["serve"],
            {"MERSEY_NATS_MONITOR": "http://127.0.0.1:8222"},
            "MERSEY_NATS_MONITOR: is of NATS servers",
        ),
        (["serve", "--listen", "127.0.0.1:0"], {"NATS_SERVER_BIN": "/no/such"}, "NATS_SERVER_BIN names no"),
        (["serve", "--listen", "127.0.0.1:0"], {"MERSEY_DATA": "/proc/nope"}, "can't be the data folder"),
        (["token", "new", "--name", "A", "--role", "king"], {}, "--role: must be one of"),
        (["token", "new", "--name", ""], {}, "--name: a name is 1 to 40 characters long, not 0"),
    ],
)
async def test_what_cannot_be_used_is_named_in_one_line(
    arguments: list[str], environment: dict[str, str], said: str, tmp_path: Path
) -> None:
    environment = {"MERSEY_DATA": str(tmp_path / "data")} | environment

    assert said in await failure(*arguments, **environment)


async def test_a_corrupt_archive_is_named_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "archive.db").write_bytes(b"no database" * 1000)

    said = await failure("serve", "--data", str(tmp_path), "--listen", "127.0.0.1:0")

    assert "archive.db" in said
