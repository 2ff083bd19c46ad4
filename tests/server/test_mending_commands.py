"""``mersey reconcile``, ``restore`` and ``backup`` as a host types them: lines, codes, refusals."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import grpc.aio
import pytest

from mersey.log.backup import back_up
from mersey.log.commit import decode
from mersey.server import mending
from mersey.server.config import Config
from mersey.server.node import Node
from recorded import recorded_game
from replay.test_commands import mersey, refused
from server.people import Person
from server.stored import Screen, archived, store

GAME = [("table.t1", commit) for commit in recorded_game("bga-short", 2)]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that no test may change."""
    data = tmp_path_factory.mktemp("recorded") / "mersey-data"
    asyncio.run(store(data, GAME))
    return data


@pytest.fixture
def data(recorded: Path, tmp_path: Path) -> Path:
    """A data folder with one game, by its usual name."""
    return Path(shutil.copytree(recorded, tmp_path / "mersey-data"))


def test_reconcile_exits_0_for_equal_halves_and_1_for_others_until_they_are_repaired(data: Path) -> None:
    equal = mersey("reconcile", cwd=data.parent)
    assert (equal.returncode, equal.stderr) == (0, "")
    assert equal.stdout.splitlines()[-1].startswith("OK log and archive hold the same: ")

    shutil.rmtree(data / "nats" / "store")
    short = mersey("reconcile", cwd=data.parent)
    assert (short.returncode, short.stderr) == (1, "")
    assert f"table.t1: the log ends after commit 0, {len(GAME)} more are missing" in short.stdout
    assert "mersey restore fills this log from the archive" in short.stdout
    assert short.stdout.splitlines()[-1].startswith("DIFFERENT")

    assert mersey("reconcile", "--repair", cwd=data.parent).returncode == 0
    assert mersey("reconcile", cwd=data.parent).returncode == 0
    assert mersey("verify", "last", cwd=data.parent).returncode == 0


def test_restore_fills_a_lost_log_and_has_nothing_to_do_after_that(data: Path) -> None:
    shutil.rmtree(data / "nats" / "store")

    done = mersey("restore", cwd=data.parent)
    again = mersey("restore", cwd=data.parent)

    assert (done.returncode, done.stderr) == (0, "")
    assert f"the log was given what it lacked: {len(GAME)} entries" in done.stdout
    assert again.returncode == 0
    assert again.stdout.splitlines()[1:] == done.stdout.splitlines()[-1:]


def test_restore_makes_either_half_anew(data: Path) -> None:
    (data / "archive.db").write_bytes(b"nothing of worth" * 300)

    assert "mersey restore --archive" in refused("backup", "b.db", cwd=data.parent)
    assert mersey("restore", "--archive", cwd=data.parent).returncode == 0
    assert mersey("reconcile", cwd=data.parent).returncode == 0
    assert "the log's store is sound" in refused("restore", "--log", cwd=data.parent)


def test_a_backup_fills_an_empty_folder(data: Path) -> None:
    made = mersey("backup", "friday.db", cwd=data.parent)
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout.startswith(f"friday.db: {len(GAME)} entries of 1 stream, up to log position ")
    assert "exists already" in refused("backup", "friday.db", cwd=data.parent)

    done = mersey("restore", "--from", "friday.db", "--data", "new", cwd=data.parent)

    assert (done.returncode, done.stderr) == (0, "")
    assert mersey("verify", "t1", "--data", "new", cwd=data.parent).returncode == 0
    assert mersey("reconcile", "--data", "new", cwd=data.parent).returncode == 0


async def test_a_backup_does_not_take_the_place_of_an_archive_that_holds_more(data: Path) -> None:
    back_up(data / "archive.db", data.parent / "old.db", lambda done, of: None)
    shutil.rmtree(data / "nats" / "store")

    with pytest.raises(mending.MendingRefused, match="holds games that this log has lost"):
        await mending.restore_log(Config(data=data), Screen(), source=data.parent / "old.db")
    (data / "archive.db").unlink()
    await mending.restore_log(Config(data=data), Screen(), source=data.parent / "old.db")
    assert await mending.reconcile(Config(data=data), Screen(), repair=False)


def test_only_one_way_to_restore_is_taken(tmp_path: Path) -> None:
    for two in (["--log", "--archive"], ["--from", "x.db", "--log"]):
        assert "say one of --from, --log and --archive" in refused("restore", *two, cwd=tmp_path)
    assert "no archive there" in refused("restore", "--from", "x.db", cwd=tmp_path)
    assert "no archive there" in refused("backup", "b.db", cwd=tmp_path)
    assert "--nats: must be a URL" in refused("reconcile", "--nats", "x", cwd=tmp_path)


async def test_games_go_on_elsewhere_from_a_backup_that_was_taken_while_they_ran(tmp_path: Path) -> None:
    old, new, backup = tmp_path / "old", tmp_path / "new", tmp_path / "backup.db"
    async with Node(Config(data=old)) as node, grpc.aio.insecure_channel(node.address) as channel:
        host = Person(channel, node.host_token)
        table = await host.open_table(["chance"] * 4)
        await host.ask("StartGame", name=table)
        before = []
        async for response in (stream := host.stream("Watch", name=table)):
            before += response.updates
            if len(before) > 60:
                break
        stream.cancel()
        made = await asyncio.to_thread(back_up, old / "archive.db", backup, lambda done, of: None)
    assert made.position > 10

    await mending.restore_log(Config(data=new), Screen(), source=backup)
    shutil.copytree(old / "keys", new / "keys")

    async with Node(Config(data=new)) as node, grpc.aio.insecure_channel(node.address) as channel:
        host = Person(channel, node.host_token)
        after = await host.watch_all(table)
        held = min(decode(archived(backup)[-1].data).last, len(before))  # what came later is not in it
        assert held > 20
        assert after[:held] == before[:held]
        assert (await host.ask("VerifyGame", name=table)).ok
