"""``mersey nats-setup``: what the admin of an outside NATS server does once."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

import typer

from mersey.log.connection import NatsConnection
from mersey.log.setup import set_up
from mersey.log.stream_config import NAMES_BUCKET, STREAM
from mersey.server.config import nats_urls

PASSWORD_VARIABLE: Final = "MERSEY_NATS_ADMIN_PASSWORD"


def register(app: typer.Typer) -> None:
    """Join the command to ``mersey``."""
    app.command("nats-setup")(nats_setup)


def nats_setup(
    nats: Annotated[
        str,
        typer.Option(metavar="URL", help="The NATS server, or several of one cluster with commas between."),
    ],
    user: Annotated[str, typer.Option(help="The admin's user.")] = "admin",
    password: Annotated[
        str,
        typer.Option(envvar=PASSWORD_VARIABLE, help="The admin's password; better in the variable."),
    ] = "",
    replicas: Annotated[
        int, typer.Option(min=1, max=5, help="How many servers hold each commit: 1 alone, 3 in a cluster.")
    ] = 1,
    max_bytes: Annotated[
        int | None,
        typer.Option(min=2**20, help="The log's limit, below the disk's size; given again it is changed."),
    ] = None,
) -> None:
    """Make the log and the directory of names on a NATS server of your own, or raise the log's limit."""
    urls = nats_urls(nats, "--nats")
    limit = asyncio.run(_set_up(urls, user, password, replicas, max_bytes))
    typer.echo(f"stream {STREAM}: up to {limit} bytes, on {replicas} server{'s' * (replicas > 1)}")
    typer.echo(f"bucket {NAMES_BUCKET}: there")


async def _set_up(
    urls: tuple[str, ...], user: str, password: str, replicas: int, max_bytes: int | None
) -> int:
    connection = await NatsConnection.open(*urls, user=user, password=password or None)
    try:
        return await set_up(connection, replicas=replicas, max_bytes=max_bytes)
    finally:
        await connection.close()
