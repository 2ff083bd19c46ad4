"""Display names, kept for a moment after the directory gave them."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from mersey.game.display_name import normalised
from mersey.log.archive import Archive
from mersey.log.archive_reader import ArchiveReader
from mersey.log.directory import Directory
from mersey.log.ports import LogUnavailable

KEPT_S: Final = 10.0
"""How long a name given by the directory is taken for true."""

ASKED_S: Final = 0.3
"""How long the directory is waited for before the archive's copy of the names does."""

PUT_S: Final = 1.0
"""How long it is waited for with a new name."""

AWAY_S: Final = 2.0
"""How long a directory that did not answer is not asked again."""

KEPT_MAX: Final = 100_000


class Names:
    """The display names of players; the directory holds them, the archive has a copy."""

    def __init__(self, directory: Directory, archive: Archive) -> None:
        self._directory = directory
        self._archive = archive
        self._reader = ArchiveReader(archive.path)
        self._kept: dict[str, tuple[float, str]] = {}
        self._ask_at_s = 0.0

    def close(self) -> None:
        """Let go of the archive."""
        self._reader.close()

    async def copy_all(self) -> None:
        """Copy every name that the directory holds into the archive."""
        if names := await self._directory.all():
            await self._archive.put_names(names)

    async def put(self, player: str, name: str) -> None:
        """Show ``player`` as ``name`` from now on.

        Raises:
            NameRefused: the name can't be taken.
            LogUnavailable: the directory does not answer.
        """
        name = normalised(name)
        held = self._kept.get(player)
        if held is not None and held[1] == name:
            return
        try:
            async with asyncio.timeout(PUT_S):
                await self._directory.put(player, name)
        except TimeoutError:
            raise LogUnavailable("the directory of names does not answer") from None
        await self._archive.put_names({player: name})
        self._keep(player, name)

    async def get(self, player: str) -> str:
        """Return the player's display name, empty where none is known.

        While the directory is away it is the one that was given or copied last.
        """
        held = self._kept.get(player)
        if held is not None and held[0] > time.monotonic():
            return held[1]
        if time.monotonic() < self._ask_at_s:
            return self._copied(player)
        try:
            async with asyncio.timeout(ASKED_S):
                name = await self._directory.get(player) or ""
        except (LogUnavailable, TimeoutError):
            self._ask_at_s = time.monotonic() + AWAY_S
            return self._copied(player)
        self._keep(player, name)
        return name

    def _copied(self, player: str) -> str:
        held = self._kept.get(player)
        return held[1] if held is not None else self._reader.name(player)

    def _keep(self, player: str, name: str) -> None:
        if len(self._kept) >= KEPT_MAX:
            self._kept.clear()
        self._kept[player] = (time.monotonic() + KEPT_S, name)
