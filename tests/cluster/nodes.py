"""Mersey's servers as processes of their own, on one NATS cluster, with shared keys."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Final

from outside import free_ports


class MerseyNode:
    """One ``mersey serve`` that uses the NATS servers at ``nats`` (URLs with the app's password)."""

    def __init__(self, folder: Path, name: str, nats: Sequence[str], port: int) -> None:
        self.name: Final = name
        self.address: Final = f"127.0.0.1:{port}"
        self.archive: Final = folder / name / "archive.db"
        self._folder = folder
        self._nats = ",".join(nats)
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it, and return once it serves."""
        with (self._folder / f"{self.name}.log").open("ab") as output:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "mersey.client.cli", "serve", "--listen", self.address),
                *("--data", str(self._folder / self.name), "--keys", str(self._folder / "keys")),
                stdout=subprocess.PIPE,
                stderr=output,
                env=os.environ | {"MERSEY_NATS": self._nats, "PYTHONUNBUFFERED": "1"},
            )
        assert self._process.stdout is not None
        said = await self._process.stdout.readline()
        assert b"serves on" in said, self.log()[-2000:]

    @property
    def code(self) -> int | None:
        """How it ended, None while it runs."""
        return self._process.returncode if self._process else None

    async def kill(self) -> None:
        """Kill it with -9."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> None:
        """Stop it as an admin does; it has to end well."""
        assert await self._end(signal.SIGTERM) == 0, self.log()[-2000:]

    async def _end(self, number: signal.Signals) -> int | None:
        if self._process is None:
            return None
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)
        await self._process.communicate()
        return self._process.returncode

    def log(self) -> str:
        """Return what it has said in its log."""
        return (self._folder / f"{self.name}.log").read_text()


@contextlib.asynccontextmanager
async def three_nodes(folder: Path, nats: Sequence[Sequence[str]]) -> AsyncIterator[list[MerseyNode]]:
    """Give three nodes, each with its own list of NATS URLs."""
    nodes = [
        MerseyNode(folder, f"m{place + 1}", urls, port)
        for place, (urls, port) in enumerate(zip(nats, free_ports(3), strict=True))
    ]
    try:
        await asyncio.gather(*(node.start() for node in nodes))
        yield nodes
    except BaseException:
        for node in nodes:
            sys.stderr.write(
                f"{node.name} at {node.address}, ended with {node.code}:\n{node.log()[-3000:]}\n"
            )
        raise
    finally:
        await asyncio.gather(*(node.kill() for node in nodes))
