"""The server of a drill: ``mersey serve`` as a process of its own, started, killed, started again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import signal
import socket
import sys
from pathlib import Path
from typing import Final

from mersey.log.failpoints import ACTS, VARIABLE
from mersey.rules.refusals import MerseyError

START_S: Final = 120.0
STOP_S: Final = 60.0

_SERVE: Final = (sys.executable, "-m", "mersey.client.cli", "serve")
_READY: Final = b"mersey serves on "
_ACTED: Final = re.compile(re.escape(ACTS).replace("%s", "([a-z-]+)"))


class ServerFault(MerseyError):
    """The server does not start or stop as it must; the message says where its own words are."""


class ServerProcess:
    """A server on the data folder ``data``, always at the same address."""

    def __init__(self, data: Path, words: Path) -> None:
        self._data = data
        self._words = words
        self._words_read = 0
        self._child: asyncio.subprocess.Process | None = None
        self.address: Final = f"127.0.0.1:{_free_port()}"

    @property
    def pid(self) -> int:
        """The process id of the server that runs, or ran last."""
        return self._child.pid if self._child else 0

    async def start(self, failpoints: str = "") -> bool:
        """Start it with these fail points on; return False where it died at one before it served.

        Raises:
            ServerFault: it ended otherwise, or is not ready in time.
        """
        points = ",".join(filter(None, (os.environ.get(VARIABLE), failpoints)))
        with self._words.open("ab") as words:
            self._child = await asyncio.create_subprocess_exec(
                *_ends_with_us(),
                *_SERVE,
                *("--listen", self.address, "--data", str(self._data), "--keys", str(self._data / "keys")),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=words,
                env=_environment() | {VARIABLE: points},
                start_new_session=True,  # Ctrl-C is for the drill, which ends its server itself
            )
        assert self._child.stdout is not None, "a pipe was asked for"
        try:
            async with asyncio.timeout(START_S):
                line = await self._child.stdout.readline()
                if line.startswith(_READY):
                    return True
                if await self._child.wait() == -signal.SIGKILL and points:
                    return False
        except TimeoutError:
            await self.kill()
        raise ServerFault(f"the server does not start: see {self._words}")

    async def died(self) -> None:
        """Return once it has ended.

        Raises:
            ServerFault: it was not killed.
        """
        assert self._child is not None, "it was started"
        if await self._child.wait() != -signal.SIGKILL:
            raise ServerFault(f"the server ended with {self._child.returncode}: see {self._words}")

    def acted(self) -> list[str]:
        """Return the fail points that have acted since the last call, as the server's words say."""
        with self._words.open("rb") as words:
            words.seek(self._words_read)
            said = words.read().decode(errors="replace")
            self._words_read = words.tell()
        return _ACTED.findall(said)

    async def kill(self) -> None:
        """Kill it (-9) if it lives; return once it has ended."""
        if self._child is not None and self._child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._child.kill()
            await self._child.wait()

    def kill_nats(self) -> bool:
        """Kill (-9) the nats-server that it started; return False where none runs."""
        for ports in (self._data / "nats").glob("nats-server_*.ports"):
            with contextlib.suppress(ProcessLookupError, ValueError):
                os.kill(int(ports.stem.partition("_")[2]), signal.SIGKILL)
                return True
        return False

    async def stop(self) -> None:
        """Ask it to stop; return once it has.

        Raises:
            ServerFault: it does not in time, or not well.
        """
        assert self._child is not None, "it was started"
        with contextlib.suppress(ProcessLookupError):
            self._child.terminate()
        try:
            async with asyncio.timeout(STOP_S):
                code = await self._child.wait()
        except TimeoutError:
            await self.kill()
            raise ServerFault(f"the server did not stop within {STOP_S:.0f} s") from None
        if code:
            raise ServerFault(f"the server ended with {code}: see {self._words}")


def _ends_with_us() -> tuple[str, ...]:
    """Return what has the kernel kill the server when this process dies, where that is to be had."""
    setpriv = shutil.which("setpriv")
    return (setpriv, "--pdeathsig", "KILL") if setpriv else ()


def _environment() -> dict[str, str]:
    """Return this process's environment without the settings of a server that is not the drill's."""
    return {name: value for name, value in os.environ.items() if not name.startswith("MERSEY_")}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
