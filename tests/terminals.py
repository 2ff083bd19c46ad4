"""A terminal for a command: of a given width, and what is to be read on it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path


def on_a_terminal(folder: Path, columns: int, *words: str) -> list[str]:
    """Return what the command shows on a terminal of so many columns, without colours and the bar."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    run = subprocess.Popen(
        [sys.executable, "-m", "mersey.client.cli", *words],
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment | {"TERM": "xterm"},
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # EIO: the command has ended
        while chunk := os.read(ours, 65_536):
            shown += chunk
    os.close(ours)
    assert run.wait(10) == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    lines = (line.rpartition("\r")[2] for line in text.replace("\r\n", "\n").split("\n"))
    return [line for line in lines if "━" not in line]
