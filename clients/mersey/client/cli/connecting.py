"""Options that every command with a server has, and the connection that they name."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Final

import typer

from mersey.client.channel import MerseyClient
from mersey.client.errors import UnavailableError
from mersey.client.transport import DEFAULT_SERVER
from mersey.rules.refusals import MerseyError

CONNECT_S: Final = 5.0
HOST_TOKEN: Final = Path("mersey-data") / "host.token"
"""Where ``mersey serve`` leaves the host's token, seen from the folder in which it was started."""

Server = Annotated[
    str,
    typer.Option(
        "--server",
        envvar="MERSEY_SERVER",
        metavar="HOST:PORT",
        help="The server, or several of one log with commas.",
    ),
]
Token = Annotated[
    str,
    typer.Option(
        "--token",
        envvar="MERSEY_TOKEN",
        metavar="FILE|TEXT",
        help=f"Your token, or a file that holds it; left out: {HOST_TOKEN}, if it is there.",
    ),
]


class NoServerError(MerseyError):
    """No server answers; the message says how to start one."""


class NoTokenError(MerseyError):
    """There is no token; the message says where one comes from."""


def read_token(given: str) -> str:
    """Return the token that an option gives, as text or in a file.

    Raises:
        NoTokenError: none is given and none lies where a server leaves it; or the file can't be read.
    """
    if not given and not HOST_TOKEN.exists():
        raise NoTokenError(
            f"no token: say --token FILE, or start 'mersey serve' here, which leaves {HOST_TOKEN}"
        )
    path = Path(given) if given else HOST_TOKEN
    try:
        is_file = path.is_file()
    except OSError:  # a token can be longer than a file's name
        is_file = False
    if not is_file:
        return given
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise NoTokenError(f"{path}: the token can't be read: {error}") from error


@contextlib.asynccontextmanager
async def connected(server: str, token: str, patience_s: float | None = 60.0) -> AsyncIterator[MerseyClient]:
    """Give a client of a server that answers.

    Raises:
        NoServerError: none does.
        NoTokenError: there is no token.
    """
    async with MerseyClient(server, read_token(token), patience_s=patience_s) as client:
        try:
            await client.connect(CONNECT_S)
        except UnavailableError as error:
            raise NoServerError(
                f"{error}: start one with 'mersey serve', or name another with --server"
            ) from None
        yield client


SERVER_DEFAULT: Final = DEFAULT_SERVER
