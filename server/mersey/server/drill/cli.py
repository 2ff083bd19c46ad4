"""``mersey drill``: kill a server while bots play, and see whether it kept its word."""

from __future__ import annotations

import asyncio
import logging
import secrets
import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Final

import typer

from mersey.server.drill.copying import copy_data
from mersey.server.drill.harness import Course, Drill, DrillConfig
from mersey.server.drill.report import report

_COMMANDS: Final = 400
"""About how many commands a server lives at most."""


def register(app: typer.Typer) -> None:
    """Join the command to ``mersey``."""
    app.command("drill")(drill)


def drill(
    minutes: Annotated[float, typer.Option(min=0.01, max=10_000, help="How long.")] = 1.0,
    tables: Annotated[int, typer.Option(min=1, max=500, help="At how many tables bots play.")] = 20,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A data folder to start from; a copy is used (default: a new one)."),
    ] = None,
    seed: Annotated[str | None, typer.Option(help="The same seed kills by the same plan.")] = None,
) -> None:
    """Kill a server and its nats-server again and again while bots play; report what was lost: nothing."""
    logging.basicConfig(level=logging.ERROR)
    seed = seed or secrets.token_hex(4)
    folder = Path(tempfile.mkdtemp(prefix="mersey-drill-"))
    try:
        if data is not None:
            copy_data(data, folder / "data")
        typer.echo(f"Drill of {minutes:g} min with seed {seed}: {tables} tables of bots, data in {folder}")
        course = asyncio.run(_run(folder, minutes, tables, seed))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    typer.echo("\n" + "\n".join(report(course)))
    if not course.findings.is_clean:
        typer.echo(f"The data and the server's own words are in {folder}.")
        raise typer.Exit(1)
    shutil.rmtree(folder)


async def _run(folder: Path, minutes: float, tables: int, seed: str) -> Course:
    config = DrillConfig(
        data=folder / "data",
        words=folder / "server.log",
        seed=seed,
        tables=tables,
        commands=_COMMANDS,
        seconds=60 * minutes,
    )
    return await Drill(config, typer.echo).run()
