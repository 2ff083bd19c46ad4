"""A connection to NATS that never gives up reconnecting, and tells those who want to know when it is back."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Final, Self
from urllib.parse import urlsplit

import nats
from nats.aio.client import Client
from nats.js import JetStreamContext

from mersey.log.ports import LogUnavailable

CONNECT_S: Final = 10.0
REQUEST_S: Final = 2.0
"""How long an answer of JetStream is waited for."""

APPEND_S: Final = 0.5
"""How long the connection, and then an acknowledgement, is waited for before the log is looked into."""

_RECONNECT_WAIT_S: Final = 0.1
_PING_S: Final = 1
"""A server that is frozen or cut off is given up after two of these without an answer."""

_ATTEMPT_S: Final = 2

_logger = logging.getLogger(__name__)


class NatsConnection:
    """One connection to a NATS server or cluster, shared by the log and the directory of names."""

    def __init__(self) -> None:
        self._client = Client()
        self._reconnected: set[Callable[[], None]] = set()
        self._up = asyncio.Event()
        self._give_up_s: float | None = None
        self.js: JetStreamContext = self._client.jetstream(timeout=REQUEST_S)

    @classmethod
    async def open(
        cls, *urls: str, user: str | None = None, password: str | None = None, within_s: float = CONNECT_S
    ) -> Self:
        """Connect to one of the servers at ``urls``, and to another of them whenever that one is lost.

        Attempts that fail are not told one by one: the error says what was tried and what to look at.

        Raises:
            LogUnavailable: no server answers there in time, or it refuses us.
        """
        self = cls()
        self._give_up_s = asyncio.get_running_loop().time() + within_s
        try:
            await self._connect(urls, user, password)
        except (LogUnavailable, nats.errors.Error, OSError) as error:
            await self.close()
            shown = ", ".join(_without_password(url) for url in urls)
            raise LogUnavailable(f"NATS at {shown}: {_advice(error, within_s)}") from error
        self._give_up_s = None
        return self

    async def _connect(self, urls: tuple[str, ...], user: str | None, password: str | None) -> None:
        await self._client.connect(
            list(urls),
            user=user,
            password=password,
            name="mersey",
            max_reconnect_attempts=-1,
            reconnect_time_wait=_RECONNECT_WAIT_S,  # type: ignore[arg-type]  # any number of seconds does
            connect_timeout=_ATTEMPT_S,
            ping_interval=_PING_S,
            max_outstanding_pings=2,
            error_cb=self._on_error,
            disconnected_cb=self._on_disconnect,
            reconnected_cb=self._on_reconnect,
            closed_cb=self._on_disconnect,
        )
        self._up.set()

    @property
    def client(self) -> Client:
        """The client of nats-py."""
        return self._client

    @property
    def server_id(self) -> str:
        """The id of the NATS server at the other end, new with each of its starts."""
        return str(self._client._server_info.get("server_id", ""))

    @property
    def is_up(self) -> bool:
        """Whether the connection stands, as far as is known."""
        return bool(self._client.is_connected)

    @property
    def in_cluster(self) -> bool:
        """Whether the NATS server at the other end is one of a cluster."""
        return bool(self._client._server_info.get("cluster"))

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._client.is_closed

    def when_reconnected(self, call: Callable[[], None]) -> Callable[[], None]:
        """Have ``call`` called after each reconnect; return what ends that."""
        self._reconnected.add(call)
        return lambda: self._reconnected.discard(call)

    async def until_up(self, within_s: float = REQUEST_S) -> None:
        """Return once the connection stands.

        Raises:
            LogUnavailable: it does not in time.
        """
        if self._client.is_connected:
            return
        self._up.clear()  # the client knows before it calls us
        try:
            async with asyncio.timeout(within_s):
                await self._up.wait()
        except TimeoutError:
            raise LogUnavailable("no connection to NATS") from None

    async def close(self) -> None:
        """End the connection for good."""
        with contextlib.suppress(OSError):  # what was not sent can't be: the server is gone
            await self._client.close()

    async def _on_error(self, error: Exception) -> None:
        """Report an error; while the first connection is made, end that by raising when it can't succeed.

        To cancel the client instead would leave its socket open.
        """
        what = str(error) or type(error).__name__
        if self._give_up_s is None:
            _logger.warning("NATS: %s", what)
        elif _is_refusal(what) or asyncio.get_running_loop().time() > self._give_up_s:
            raise LogUnavailable(what) from error

    async def _on_disconnect(self) -> None:
        self._up.clear()

    async def _on_reconnect(self) -> None:
        self._up.set()
        for call in tuple(self._reconnected):
            call()


def _is_refusal(what: str) -> bool:
    return "authorization" in what.lower()


def _advice(error: Exception, within_s: float) -> str:
    """Return what became of the attempts to connect, and what to look at."""
    what = str(error) or type(error).__name__
    if _is_refusal(what):
        return f"refuses the login ({what}): check the user and the password"
    return (
        f"no connection within {within_s:g} s ({what}): "
        "check that a NATS server runs there, and the address given as --nats or MERSEY_NATS"
    )


def _without_password(url: str) -> str:
    """Return ``url`` as it may be shown.

    >>> _without_password("nats://me:secret@127.0.0.1:4222")
    'nats://127.0.0.1:4222'
    """
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
