"""A half that is lost or damaged: found, placed, named, and made anew from the other, byte for byte."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import grpc.aio
import pytest

from log.chains import a_chain
from mersey.log.archive_schema import ArchiveError
from mersey.log.data_folder import DataFolder, DataFolderError
from mersey.log.embedded import EmbeddedNats
from mersey.log.ports import LogHole, LogReplaced
from mersey.rules.refusals import MerseyError
from mersey.server import mending
from mersey.server.config import Config
from mersey.server.mending import MendingRefused
from mersey.server.node import Node
from recorded import recorded_game
from replay.archived import forge
from server.conftest import url_of
from server.people import Person
from server.stored import Screen, archived, blocks, flip, logged, rows, store

ONE = [("table.t1", commit) for commit in recorded_game("contract", 4, actions_max=120)]
TWO = [("table.beta", commit) for commit in recorded_game("bga-short", 3, table="beta")]
RUBBISH = [("table.t3", b"no commit")]
GAMES = [entry for pair in zip(ONE, TWO, strict=False) for entry in pair] + RUBBISH
NAMES = {"p1": "Ann", "p2": "Ben"}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that no test may change."""
    data = tmp_path_factory.mktemp("recorded") / "data"
    asyncio.run(store(data, GAMES, names=NAMES))
    return data


@pytest.fixture
def data(recorded: Path, tmp_path: Path) -> Path:
    """A data folder of two games and an entry set aside, whole in log and archive."""
    return Path(shutil.copytree(recorded, tmp_path / "data"))


async def reconciled(data: Path, *, repair: bool = False) -> tuple[bool, str]:
    screen = Screen()
    return await mending.reconcile(Config(data=data), screen, repair=repair), screen.text


async def restored(data: Path) -> str:
    screen = Screen()
    await mending.restore_log(Config(data=data), screen)
    return screen.text


def lose_log(data: Path) -> None:
    shutil.rmtree(data / "nats" / "store")


def cut_log(data: Path, *, at: bytes, with_index: bool = False) -> None:
    """Let the log end in the middle of the entry that holds ``at``, as its server finds out, or not."""
    block = blocks(data) / "1.blk"
    block.write_bytes(block.read_bytes()[: block.read_bytes().index(at)])
    if not with_index:
        (blocks(data) / "index.db").unlink()


def near(number: int) -> bytes:
    """Return what stands in the entry of that position alone."""
    return GAMES[number - 1][1][-100:]


async def test_equal_halves_are_called_equal(data: Path) -> None:
    equal, said = await reconciled(data)

    assert equal
    assert said.splitlines()[-1] == f"OK log and archive hold the same: {len(GAMES)} entries of 3 streams"
    assert "table.t3: set aside, alike on both sides: commit 1: not a commit" in said


# The archive is lost


async def test_a_server_rebuilds_an_archive_that_was_deleted_row_by_row_and_name_by_name(data: Path) -> None:
    before = rows(data / "archive.db")
    for path in data.glob("archive.db*"):
        path.unlink()

    async with Node(Config(data=data)):
        pass

    assert rows(data / "archive.db") == before
    assert [(copy.stream, copy.data) for copy in archived(data / "archive.db")] == GAMES


async def test_a_damaged_archive_is_refused_then_made_anew_and_the_old_one_kept(data: Path) -> None:
    before, garbage = rows(data / "archive.db"), b"no database" * 1000
    (data / "archive.db").write_bytes(garbage)
    with pytest.raises(ArchiveError, match="mersey restore --archive makes a new one"):
        await Node(Config(data=data)).__aenter__()

    screen = Screen()
    await mending.restore_archive(Config(data=data), screen)

    assert rows(data / "archive.db") == before
    assert (data / "archive-old-1.db").read_bytes() == garbage
    assert f"{data}/archive-old-1.db: the archive before, kept" in screen.text
    assert "set aside from there on: table.t3 at position 261: not a commit" in screen.text
    assert (await reconciled(data))[0]


async def test_an_old_archive_is_kept_together_with_its_write_ahead_log(data: Path) -> None:
    (data / "archive.db-wal").write_bytes(b"the end of the old one")

    await mending.restore_archive(Config(data=data), Screen())

    assert (data / "archive-old-1.db-wal").read_bytes() == b"the end of the old one"
    assert (await reconciled(data))[0]


async def test_an_archive_is_not_made_from_a_log_that_has_lost_its_end(data: Path) -> None:
    before = archived(data / "archive.db")
    cut_log(data, at=near(100))

    with pytest.raises(MendingRefused, match="the log ends at position 99, the archive at"):
        await mending.restore_archive(Config(data=data), Screen())
    assert archived(data / "archive.db") == before


async def test_an_archive_is_not_made_from_a_log_with_a_hole(data: Path) -> None:
    flip(blocks(data) / "1.blk", GAMES[99][1][:200])

    with pytest.raises(LogHole, match="position 100"):
        await mending.restore_archive(Config(data=data), Screen())
    assert len(archived(data / "archive.db")) == len(GAMES)


async def test_an_archive_is_not_made_from_a_log_whose_chain_breaks(tmp_path: Path) -> None:
    data = tmp_path / "data"
    await store(data, [*ONE[:5], ONE[6]], archived=5)

    with pytest.raises(MendingRefused, match=r"the log is not whole.*table\.t1 at position 6"):
        await mending.restore_archive(Config(data=data), Screen())
    assert not (data / "archive.db.new").exists()
    assert len(archived(data / "archive.db")) == 5


# The log is lost


async def test_a_lost_log_is_refused_and_refilled_verbatim_with_its_names(data: Path) -> None:
    lose_log(data)
    with pytest.raises(ArchiveError, match="mersey restore fills this log from the archive"):
        await Node(Config(data=data)).__aenter__()
    assert await logged(data) == ([], {})

    said = await restored(data)

    entries, names = await logged(data)
    assert [(entry.stream, entry.data) for entry in entries] == GAMES
    assert names == NAMES
    assert f"the log was given what it lacked: {len(GAMES)} entries" in said
    assert "OK log and archive hold the same" in said
    assert [(c.position, c.data) for c in archived(data / "archive.db")] == [
        (e.position, e.data) for e in entries
    ]
    async with Node(Config(data=data)):
        pass


async def test_a_log_that_lost_its_end_is_refused_and_refilled(data: Path) -> None:
    cut_log(data, at=near(100))
    with pytest.raises(LogReplaced, match=r"ends at position 99, .* mersey restore"):
        await Node(Config(data=data)).__aenter__()
    equal, said = await reconciled(data)
    assert not equal
    assert "table.t3: the log ends after commit 0, 1 more are missing" in said

    equal, said = await reconciled(data, repair=True)

    assert equal
    assert f"the log was given what it lacked: {len(GAMES) - 99} entries" in said
    assert [(entry.stream, entry.data) for entry in (await logged(data))[0]] == GAMES
    assert not list(data.glob("archive-old-*")), "the archive was right and stays"


async def test_a_log_that_went_on_without_its_end_is_refused_and_every_game_gets_its_end(data: Path) -> None:
    """Another node, which knew less, has appended after the loss: positions must be made anew."""
    cut_log(data, at=near(100))
    late = [("table.late", commit) for commit in a_chain(len(GAMES), "table.late")]
    await store(data, late, archived=0)
    with pytest.raises(LogReplaced, match="mersey reconcile says how they differ"):
        await Node(Config(data=data)).__aenter__()

    await restored(data)

    entries = (await logged(data))[0]
    assert sorted((e.stream, e.data) for e in entries) == sorted([*GAMES, *late])
    assert [(c.position, c.stream, c.data) for c in archived(data / "archive.db")] == [
        (e.position, e.stream, e.data) for e in entries
    ]
    async with Node(Config(data=data)):
        pass


async def test_an_archive_that_is_short_is_brought_to_the_logs_end(tmp_path: Path) -> None:
    data = tmp_path / "data"
    await store(data, GAMES, archived=50)
    assert "the archive ends after commit 25" in (await reconciled(data))[1]

    equal, said = await reconciled(data, repair=True)

    assert equal
    assert f"the archive was given what it lacked: {len(GAMES) - 50} entries" in said


async def test_another_servers_log_is_not_filled(data: Path) -> None:
    lose_log(data)
    await store(data, [("table.alien", commit) for commit in a_chain(3, "table.alien")], archived=0)

    with pytest.raises(MendingRefused, match=r"games that the archive does not know \(table\.alien\)"):
        await restored(data)
    assert len((await logged(data))[0]) == 3


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from mersey.server import mending
from mersey.server.config import Config
from server.stored import Screen

class Killed(Screen):
    def task(self, title):
        def at(done, of):
            if title == sys.argv[2] and done >= int(sys.argv[3]):
                os.kill(os.getpid(), signal.SIGKILL)
        return at

asyncio.run(mending.restore_log(Config(data=Path(sys.argv[1])), Killed()))
"""


@pytest.mark.parametrize(
    ("title", "done"),
    [("filling the log", 100), ("filling the log", len(GAMES)), ("making the archive", 100)],
)
async def test_a_restore_that_was_killed_can_be_run_again(data: Path, title: str, done: int) -> None:
    lose_log(data)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    child = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", KILLED, str(data), title, str(done)], env=environment
    )
    assert child.returncode == -signal.SIGKILL
    assert len(archived(data / "archive.db")) == len(GAMES), "what the log is filled from is whole"
    with pytest.raises(ArchiveError, match="mersey restore"):
        await Node(Config(data=data)).__aenter__()

    await restored(data)

    assert [(entry.stream, entry.data) for entry in (await logged(data))[0]] == GAMES
    async with Node(Config(data=data)):
        pass


# Damage


async def test_a_flipped_byte_in_the_archive_is_placed_and_the_log_stands(data: Path) -> None:
    flip(data / "archive.db", GAMES[99][1][:200])

    equal, said = await reconciled(data)

    assert not equal
    stream, number = GAMES[99][0], 50
    assert f"{stream}: differs at commit {number}: the archive's bytes are at fault" in said
    assert "the log's bytes hold" in said
    assert "mersey restore --archive" in said
    assert (await reconciled(data, repair=True))[0] is False
    await mending.restore_archive(Config(data=data), Screen())
    assert (await reconciled(data))[0]


async def test_a_row_that_is_not_what_its_commit_says_is_placed_and_a_new_archive_helps(data: Path) -> None:
    forge(data, "UPDATE events SET body = '{}' WHERE version = 2 AND stream = 'table.beta'")

    equal, said = await reconciled(data)

    assert not equal
    assert "table.beta: the row of version 2 in table events is not what commit 2 says" in said
    assert "mersey restore --archive" in said
    await mending.restore_archive(Config(data=data), Screen())
    assert (await reconciled(data))[0]


async def test_a_flipped_byte_in_a_streams_last_commit_is_found_by_the_hash_beside_it(data: Path) -> None:
    last = max(position for position, (stream, _) in enumerate(GAMES, start=1) if stream == "table.beta")
    flip(data / "archive.db", GAMES[last - 1][1][:200])

    equal, said = await reconciled(data)

    assert not equal
    assert "table.beta: differs at commit 130: the archive's bytes are at fault" in said
    assert "the log's bytes hold" in said


async def test_a_flipped_byte_in_the_log_is_placed_and_a_new_log_is_made(data: Path) -> None:
    flip(blocks(data) / "1.blk", GAMES[99][1][:200])

    equal, said = await reconciled(data)

    assert not equal
    assert "the log can't give out position 100" in said
    assert f"{GAMES[99][0]}: differs at commit 50: the log's bytes are at fault" in said
    assert "the archive's bytes hold" in said
    with pytest.raises(MendingRefused, match="differ"):
        await restored(data)
    screen = Screen()
    await mending.renew_log(Config(data=data), screen)
    assert [(entry.stream, entry.data) for entry in (await logged(data))[0]] == GAMES
    assert (data / "nats" / "store-old-1").is_dir()
    assert "OK log and archive" in screen.text


async def test_a_flipped_byte_at_the_logs_end_keeps_a_server_from_appending(data: Path) -> None:
    flip(blocks(data) / "1.blk", GAMES[-2][1][:200])
    cut_log(data, at=RUBBISH[0][1], with_index=True)

    with pytest.raises(LogHole, match="mersey reconcile"):
        await Node(Config(data=data)).__aenter__()

    equal, said = await reconciled(data)
    assert not equal
    assert f"the log can't give out positions {len(GAMES) - 1} to {len(GAMES)}" in said
    await mending.renew_log(Config(data=data), Screen())
    assert (await reconciled(data))[0]


async def test_a_hole_in_the_log_stops_the_follower_that_meets_it(data: Path) -> None:
    """The NATS server leaves a damaged entry out without a word."""
    flip(blocks(data) / "1.blk", GAMES[99][1][:200])
    for path in data.glob("archive.db*"):
        path.unlink()

    with pytest.raises(LogHole, match="position 100"):
        await Node(Config(data=data)).__aenter__()


async def test_a_log_that_its_server_cut_at_the_damage_is_short_and_never_called_whole(data: Path) -> None:
    """Without its index the NATS server ends the log before a damaged entry, and calls that the log."""
    flip(blocks(data) / "1.blk", GAMES[99][1][:200])
    (blocks(data) / "index.db").unlink()

    with pytest.raises(LogReplaced, match="ends at position 99"):
        await Node(Config(data=data)).__aenter__()
    await restored(data)
    assert [(entry.stream, entry.data) for entry in (await logged(data))[0]] == GAMES


async def test_between_two_histories_nothing_is_chosen(tmp_path: Path) -> None:
    data = tmp_path / "data"
    mine = [("table.t1", commit) for commit in recorded_game("contract", 4, actions_max=30)]
    other = [("table.t1", commit) for commit in recorded_game("contract", 4, seed=2, actions_max=10)]
    await store(data, [*TWO[:20], *mine])
    lose_log(data)
    await store(data, other, archived=0)
    before = archived(data / "archive.db")

    equal, said = await reconciled(data, repair=True)

    assert not equal
    assert "table.t1: differs at commit 1" in said
    assert "both sides' bytes hold: two histories" in said
    assert "table.beta: the log ends after commit 0" in said.split("after the repair:")[0]
    with pytest.raises(MendingRefused, match="nothing was changed"):
        await restored(data)
    assert archived(data / "archive.db") == before
    entries = (await logged(data))[0]
    assert [entry.data for entry in entries if entry.stream == "table.t1"] == [data for _, data in other]
    assert [(entry.stream, entry.data) for entry in entries if entry.stream != "table.t1"] == TWO[:20]


async def test_a_sound_log_is_not_replaced(data: Path) -> None:
    with pytest.raises(MendingRefused, match="the log's store is sound"):
        await mending.renew_log(Config(data=data), Screen())


async def test_a_log_is_not_replaced_by_an_archive_that_is_damaged_too(data: Path) -> None:
    flip(blocks(data) / "1.blk", GAMES[99][1][:200])
    flip(data / "archive.db", GAMES[40][1][:200])

    with pytest.raises(MendingRefused, match="can't stand for all of the log"):
        await mending.renew_log(Config(data=data), Screen())
    assert not (data / "nats" / "store-old-1").exists()


# Where it runs


async def test_a_folder_in_use_is_left_alone(data: Path) -> None:
    with DataFolder.open(data):
        for work in (reconciled(data), restored(data), mending.restore_archive(Config(data=data), Screen())):
            with pytest.raises(DataFolderError, match="in use"):
                await work


async def test_a_missing_archive_is_named_with_what_makes_it(tmp_path: Path) -> None:
    for work in (
        reconciled(tmp_path),
        restored(tmp_path),
        mending.renew_log(Config(data=tmp_path), Screen()),
    ):
        with pytest.raises(MendingRefused, match="mersey restore --archive makes it from the log"):
            await work


async def test_an_outside_nats_server_is_compared_and_filled(data: Path, outside_nats: EmbeddedNats) -> None:
    config = Config(data=data, nats=url_of(outside_nats))

    await mending.restore_log(config, Screen())

    assert await mending.reconcile(config, Screen(), repair=False)
    with pytest.raises(MendingRefused, match="let its admin delete the stream"):
        await mending.renew_log(config, Screen())


async def test_games_go_on_after_a_lost_log_was_restored(tmp_path: Path) -> None:
    config = Config(data=tmp_path / "data")
    async with Node(config) as node, grpc.aio.insecure_channel(node.address) as channel:
        host = Person(channel, node.host_token)
        table = await host.open_table(["chance"] * 4)
        await host.ask("StartGame", name=table)
        before = []
        stream = host.stream("Watch", name=table)
        async for response in stream:
            before += response.updates
            if len(before) > 60:
                break
        stream.cancel()
    lose_log(config.data)
    await restored(config.data)

    async with Node(config) as node, grpc.aio.insecure_channel(node.address) as channel:
        host = Person(channel, node.host_token)
        after = await host.watch_all(table)
        assert after[: len(before)] == before
        assert (await host.ask("VerifyGame", name=table)).ok


def test_every_refusal_here_is_an_error_in_one_line() -> None:
    assert issubclass(MendingRefused, MerseyError)
