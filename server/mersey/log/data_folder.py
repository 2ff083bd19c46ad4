"""The folder that holds all of one server's data, and the lock that keeps a second server out.

``<data>/lock`` is held while a server runs, ``<data>/archive.db`` is the archive, ``<data>/nats/`` belongs to
the embedded NATS server.
"""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from typing import Final, Self

from mersey.rules.refusals import MerseyError

_MOUNTS: Final = Path("/proc/mounts")

NETWORK_FILE_SYSTEMS: Final = frozenset(
    {
        "9p",
        "afs",
        "ceph",
        "cifs",
        "glusterfs",
        "gfs2",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "smb3",
        "smbfs",
    }
    | {"fuse.sshfs", "fuse.s3fs", "fuse.rclone", "fuse.glusterfs", "fuse.cephfs", "fuse.gcsfuse", "virtiofs"}
)
"""File systems on which locks and syncs can't be relied on."""


class DataFolderError(MerseyError):
    """A folder that can't hold the data; the message names it and says what to do."""


class DataFolder:
    """A data folder, locked by this process until `close`."""

    def __init__(self, path: Path, lock: int) -> None:
        self.path: Final = path
        self._lock = lock

    @classmethod
    def open(cls, path: Path) -> Self:
        """Make the folder if need be and lock it.

        Raises:
            DataFolderError: another server holds it, it is no folder that can be written, or a network mount.
        """
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise DataFolderError(f"{path}: can't be the data folder: {error.strerror}") from error
        path = path.resolve()
        check_local(path)
        return cls(path, _locked(path))

    @property
    def archive(self) -> Path:
        """The archive's file."""
        return self.path / "archive.db"

    @property
    def nats(self) -> Path:
        """The folder of the embedded NATS server."""
        return self.path / "nats"

    def close(self) -> None:
        """Let go of the folder."""
        os.close(self._lock)

    def __enter__(self) -> Self:
        """Return the folder."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of the folder."""
        self.close()


def _locked(path: Path) -> int:
    try:
        lock = try_lock(path / "lock")
    except OSError as error:
        raise DataFolderError(f"{path}: can't write to the data folder: {error.strerror}") from error
    if lock is None:
        owner = (path / "lock").read_text(errors="replace").strip()
        raise DataFolderError(
            f"{path}: in use by another mersey server (process {owner or 'unknown'}): "
            "stop that one, or name another folder with --data"
        )
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
    return lock


def try_lock(path: Path) -> int | None:
    """Return a descriptor that holds the lock ``path`` till it is closed; None while another does."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock


def sync_folder(path: Path) -> None:
    """Return once the names in the folder ``path`` are on disk as they are now."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def give_name(fresh: Path, path: Path) -> None:
    """Give the file ``fresh`` the name ``path``, which no other file may have.

    Raises:
        FileExistsError: one has it.
    """
    try:
        path.hardlink_to(fresh)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
        fresh.rename(path)
    else:
        fresh.unlink()


def check_local(path: Path, mounts: Path = _MOUNTS) -> None:
    """Raise `DataFolderError` if ``path`` lies on a network file system, as the list ``mounts`` says.

    Where there is no such list (it is Linux's), nothing is known and nothing refused.
    """
    kind = file_system_of(path.resolve(), mounts)
    if kind in NETWORK_FILE_SYSTEMS:
        raise DataFolderError(
            f"{path}: lies on a network file system ({kind}), where the archive could be damaged: "
            "name a folder on a local disk with --data"
        )


def file_system_of(path: Path, mounts: Path = _MOUNTS) -> str:
    """Return the kind of the file system that holds ``path``; empty if it is not known."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    best, kind = -1, ""
    for line in lines:
        fields = line.split(" ")
        point = Path(_unescaped(fields[1]))
        if path.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), fields[2]
    return kind


def _unescaped(text: str) -> str:
    r"""Return a mount point without the escapes of the mount list.

    >>> _unescaped(r"/mnt/a\040b")
    '/mnt/a b'
    """
    for code in ("\\040", "\\011", "\\012", "\\134"):
        text = text.replace(code, chr(int(code[1:], 8)))
    return text
