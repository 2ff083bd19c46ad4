"""Options that every command with a server has, and the connection that they name."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Final

import typer

from mersey.client.channel import MerseyClient
from mersey.client.errors import FACT_KEY, UNAUTHENTICATED, DeniedError, UnavailableError
from mersey.client.transport import DEFAULT_SERVER
from mersey.client.wire import TABLES, table_id, table_name
from mersey.rules.refusals import MerseyError

CONNECT_S: Final = 5.0
HOST_TOKEN: Final = Path("mersey-data") / "host.token"
"""Where ``mersey serve`` leaves the host's token, seen from the folder in which it was started."""

_LOOKS_LIKE_ONE: Final = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+")

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


class TokenRefusedError(MerseyError):
    """The server does not take the token; the message says which one it was and how to name another."""


def table_named(text: str) -> str:
    """Return the id of the table that an option names, by its id or by its resource name.

    >>> table_named("k3f9"), table_named("tables/k3f9")
    ('k3f9', 'k3f9')

    Raises:
        WireError: it is neither.
    """
    return table_id(table_name(text.removeprefix(TABLES)), "--table")


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
    if not _is_file(path):
        return given
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise NoTokenError(f"{path}: the token can't be read: {error}") from error


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a token can be longer than a file's name
        return False


@contextlib.asynccontextmanager
async def connected(server: str, token: str, patience_s: float | None = 60.0) -> AsyncIterator[MerseyClient]:
    """Give a client of a server that answers.

    Raises:
        NoServerError: none does.
        NoTokenError: there is no token.
        TokenRefusedError: the server does not take it, now or in the course of a call.
    """
    async with MerseyClient(server, read_token(token), patience_s=patience_s) as client:
        try:
            await client.connect(CONNECT_S)
        except UnavailableError as error:
            raise NoServerError(
                f"{error}: start one with 'mersey serve', or name another with --server"
            ) from None
        try:
            yield client
        except DeniedError as error:
            if error.status != UNAUTHENTICATED:
                raise
            raise TokenRefusedError(_refused(token, error)) from None


def _refused(given: str, error: DeniedError) -> str:
    """Return what to tell of a token that the server does not take, without showing the token."""
    why = error.metadata.get(FACT_KEY, "it is refused")
    if not given:
        return f"the token in {HOST_TOKEN}: {why}: name yours with --token FILE|TEXT, or in MERSEY_TOKEN"
    if not _LOOKS_LIKE_ONE.fullmatch(given) and not _is_file(Path(given)):
        why += ", and there is no file of that name"
    return f"--token (MERSEY_TOKEN): {why}: give a token of this server, or a file that holds one"


SERVER_DEFAULT: Final = DEFAULT_SERVER
