"""``mersey drill``: it reports, leaves its model alone, and can fail."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

from mersey.log.archive import Archive
from mersey.log.data_folder import DataFolder
from mersey.log.ports import Incarnation
from mersey.server.drill.process import ServerProcess


async def drill(*arguments: str, **environment: str) -> tuple[int, str]:
    """Return the exit code and the words of ``mersey drill``."""
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "mersey.client.cli", "drill", *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=os.environ | environment,
    )
    said, _ = await child.communicate()
    return child.returncode or 0, said.decode()


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def test_a_drill_reports_zeros_and_leaves_its_model_as_it_was(tmp_path: Path) -> None:
    model, drills = tmp_path / "model", tmp_path / "drills"
    drills.mkdir()
    server = ServerProcess(model, tmp_path / "server.log")
    await server.start()
    await server.stop()
    before = contents(model)

    code, said = await drill(
        *("--minutes", "0.05", "--tables", "4", "--seed", "1", "--data", str(model)), TMPDIR=str(drills)
    )

    assert code == 0, said
    assert contents(model) == before
    assert list(drills.iterdir()) == [], "nothing is left of a drill that went well"
    for line in ("commands lost", "commands doubled", "commands out of place", "other faults"):
        assert re.search(rf"^ +0 {line}$", said, re.MULTILINE), said
    assert re.search(r"^ +[1-9]\d* commands acknowledged", said, re.MULTILINE), said
    assert "no clocks yet" in said
    assert "the longest pause" in said


async def test_a_drill_that_meets_a_planted_bug_ends_with_1_and_names_the_lost_command(
    tmp_path: Path,
) -> None:
    code, said = await drill(
        *("--minutes", "0.05", "--tables", "4"),
        TMPDIR=str(tmp_path),
        MERSEY_FAILPOINTS="ack-before-append:20",
    )

    assert code == 1, said
    assert re.search(
        r"^ +[1-9]\d* commands lost\n +command c\d+ of p-\S+ at table \w+, version \d+$", said, re.M
    )
    (folder,) = tmp_path.iterdir()
    assert f"are in {folder}" in said
    assert (folder / "data" / "archive.db").is_file()


async def test_a_folder_in_use_or_without_data_is_refused_in_one_line(tmp_path: Path) -> None:
    code, said = await drill("--data", str(tmp_path / "none"))
    assert (code, "no data folder" in said) == (1, True), said

    data = tmp_path / "data"
    with DataFolder.open(data) as folder:
        await Archive.open(folder.archive, Incarnation("log", "now")).close()
        code, said = await drill("--data", str(data))
    assert (code, "in use by a server" in said) == (1, True), said
