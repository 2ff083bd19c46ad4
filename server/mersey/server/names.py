"""Display names, kept for a moment after the directory gave them."""

from __future__ import annotations

import time
from typing import Final

from mersey.log.archive import Archive
from mersey.log.directory import Directory, normalised

KEPT_S: Final = 10.0
"""How long a name given by the directory is taken for true."""

KEPT_MAX: Final = 100_000


class Names:
    """The display names of players; the directory holds them, the archive has a copy."""

    def __init__(self, directory: Directory, archive: Archive) -> None:
        self._directory = directory
        self._archive = archive
        self._kept: dict[str, tuple[float, str]] = {}

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
        await self._directory.put(player, name)
        await self._archive.put_names({player: name})
        self._keep(player, name)

    async def get(self, player: str) -> str:
        """Return the player's display name, empty where none is known."""
        held = self._kept.get(player)
        if held is not None and held[0] > time.monotonic():
            return held[1]
        name = await self._directory.get(player) or ""
        self._keep(player, name)
        return name

    def _keep(self, player: str, name: str) -> None:
        if len(self._kept) >= KEPT_MAX:
            self._kept.clear()
        self._kept[player] = (time.monotonic() + KEPT_S, name)
