"""The server's commands: ``mersey serve`` and ``mersey token``."""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
import signal
from pathlib import Path
from typing import Annotated

import typer
import uvloop

from mersey.game.display_name import NameRefused, normalised
from mersey.log.failpoints import Failpoints
from mersey.server import mending_cli, nats_cli
from mersey.server.auth import ROLES, Keys, Role
from mersey.server.config import Config, ConfigError
from mersey.server.demo_cli import demo
from mersey.server.drill import cli as drill_cli
from mersey.server.node import Node

token_group = typer.Typer(no_args_is_help=True, help="Make tokens for players and hosts.")

Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", help="The data folder (MERSEY_DATA; default: mersey-data)."),
]
KeyFolder = Annotated[
    Path | None,
    typer.Option(
        "--keys", metavar="DIR", help="The folder of the signing key (MERSEY_KEYS; default: DIR/keys)."
    ),
]


def register(app: typer.Typer) -> None:
    """Join the server's commands to ``mersey``."""
    app.command("serve")(serve)
    app.command("demo")(demo)
    drill_cli.register(app)
    mending_cli.register(app)
    nats_cli.register(app)
    app.add_typer(token_group, name="token")


def serve(
    data: Data = None,
    listen: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Where to listen (MERSEY_LISTEN; default: 127.0.0.1:7440)."),
    ] = None,
    nats: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="A NATS server of your own, or a cluster's with commas (MERSEY_NATS; default: one inside).",
        ),
    ] = None,
    nats_monitor: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL",
            help="Monitoring of your NATS servers, to check their durability (MERSEY_NATS_MONITOR).",
        ),
    ] = None,
    keys: KeyFolder = None,
) -> None:
    """Serve tables until Ctrl-C or SIGTERM."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    config = Config.read(
        os.environ, data=data, listen=listen, nats=nats, nats_monitors=nats_monitor or (), keys=keys
    )
    uvloop.run(_serve(config, Failpoints.read(os.environ)))


async def _serve(config: Config, failpoints: Failpoints) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with Node(config, failpoints) as node:
        typer.echo(f"mersey serves on {node.address}, data in {config.data.resolve()}")
        if node.host_token_file.exists():
            typer.echo(f"the host's token is in {node.host_token_file}")
        else:
            typer.echo("make a host's token with: mersey token new --role host --name NAME")
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait((stopped, node.failed), return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if node.failed.done():
            raise node.failed.result()
        typer.echo("stopping")


@token_group.command("new")
def new_token(
    name: Annotated[str, typer.Option(help="The name to show, 1 to 40 characters.")],
    role: Annotated[str, typer.Option(help="host, player, auditor or spectator.")] = "player",
    data: Data = None,
    keys: KeyFolder = None,
) -> None:
    """Print a token for a new player."""
    shown, chosen = _name(name), _role(role)
    typer.echo(_keys(Config.read(os.environ, data=data, keys=keys)).issue(shown, chosen))


def _keys(config: Config) -> Keys:
    """Return the keys of the server that a token is for.

    Only a folder that was named as that of the keys gets new ones: an admin may make a token before the first
    of several servers runs. A data folder without keys is none of a server: most likely its name is mistyped.
    """
    if config.keys is None:
        folder = config.data / "keys"
        if not Keys.lie_in(folder):
            raise ConfigError(
                f"{config.data}: holds no keys yet, so no server would take the token: run once "
                f"mersey serve --data {shlex.quote(str(config.data))}, or name its keys with --keys DIR"
            )
        return Keys.open(folder)
    if not Keys.lie_in(config.keys):
        typer.echo(f"a new key is in {config.keys}: only servers with these --keys take the token", err=True)
    return Keys.open(config.keys)


def _name(text: str) -> str:
    try:
        return normalised(text)
    except NameRefused as error:
        raise ConfigError(f"--name: {error}") from None


def _role(text: str) -> Role:
    for role in ROLES:
        if role == text:
            return role
    raise ConfigError(f"--role: must be one of {', '.join(ROLES)}, not {text!r}")
