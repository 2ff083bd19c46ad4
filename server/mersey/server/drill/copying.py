"""The copy of a data folder on which a drill runs; the folder itself is only read."""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack
from pathlib import Path

from mersey.log.data_folder import DataFolderError, try_lock


def copy_data(data: Path, to: Path) -> None:
    """Copy the data folder ``data``, which no server may use meanwhile, to the new folder ``to``.

    Raises:
        DataFolderError: there is none, a server uses it, or it can't be copied.
    """
    if not (data / "archive.db").is_file():
        raise DataFolderError(f"{data}: no data folder of a server that has run")
    with ExitStack() as held:
        for lock in (data / "lock", data / "nats" / "lock"):
            if lock.exists():
                descriptor = try_lock(lock)
                if descriptor is None:
                    raise DataFolderError(f"{data}: in use by a server: stop it, or drill on a backup")
                held.callback(os.close, descriptor)
        try:
            shutil.copytree(data, to)
        except (OSError, shutil.Error) as error:
            raise DataFolderError(f"{data}: can't be copied: {error}") from error
