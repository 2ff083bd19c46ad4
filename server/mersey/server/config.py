"""What a node is told at its start, by flags or the environment; each bad value is named."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Self

import msgspec

from mersey.rules.refusals import MerseyError

DATA_DEFAULT: Final = "mersey-data"
LISTEN_DEFAULT: Final = "127.0.0.1:7440"
PORT_MAX: Final = 65_535


class ConfigError(MerseyError):
    """A setting that can't be used; the message names it and what it must be."""


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a node; times in seconds."""

    data: Path
    host: str = "127.0.0.1"
    port: int = 0
    """0: any free port."""
    nats: str | None = None
    """An outside NATS server, or several of a cluster with commas between; None: the embedded one."""
    nats_user: str | None = None
    nats_password: str | None = None
    """How to log in there where the URL does not say."""
    nats_monitors: tuple[str, ...] = ()
    """The monitoring URLs of outside NATS servers, where their durability can be read."""
    keys: Path | None = None
    """The folder of the signing key; None: ``keys`` in the data folder."""
    heartbeat_s: float = 10.0
    write_s: float = 10.0
    """How long a client may take to accept one message of a stream."""
    grace_s: float = 5.0
    """How long calls may take to end when the server stops."""

    @classmethod
    def read(
        cls,
        environment: Mapping[str, str],
        *,
        data: Path | None = None,
        listen: str | None = None,
        nats: str | None = None,
        nats_monitors: Sequence[str] = (),
        keys: Path | None = None,
    ) -> Self:
        """Return the settings: a flag, else the environment, else the default.

        Raises:
            ConfigError: a value can't be used; it is named as it was given.
        """
        named = "--listen" if listen else "MERSEY_LISTEN"
        host, port = parse_address(listen or environment.get("MERSEY_LISTEN") or LISTEN_DEFAULT, named)
        named = "--nats" if nats else "MERSEY_NATS"
        url = nats or environment.get("MERSEY_NATS") or None
        if url is not None:
            nats_urls(url, named)
        named = "--nats-monitor" if nats_monitors else "MERSEY_NATS_MONITOR"
        monitors = tuple(nats_monitors) or tuple(environment.get("MERSEY_NATS_MONITOR", "").split())
        if not all(monitor.startswith(("http://", "https://")) for monitor in monitors):
            raise ConfigError(f"{named}: must be a URL such as http://127.0.0.1:8222")
        if monitors and url is None:
            raise ConfigError(
                f"{named}: is of NATS servers of your own, and none is named: say --nats too (MERSEY_NATS)"
            )
        keys_given = environment.get("MERSEY_KEYS")
        return cls(
            data=data or Path(environment.get("MERSEY_DATA") or DATA_DEFAULT),
            host=host,
            port=port,
            nats=url,
            nats_user=environment.get("MERSEY_NATS_USER") or None,
            nats_password=environment.get("MERSEY_NATS_PASSWORD") or None,
            nats_monitors=monitors,
            keys=keys or (Path(keys_given) if keys_given else None),
        )

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the node."""
        return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback


def nats_urls(text: str, named: str) -> tuple[str, ...]:
    """Return the URLs in a list with commas between; ``named`` is what the error calls it.

    >>> nats_urls("nats://10.0.0.1:4222,nats://10.0.0.2:4222", "--nats")
    ('nats://10.0.0.1:4222', 'nats://10.0.0.2:4222')

    Raises:
        ConfigError: one is none.
    """
    urls = tuple(url.strip() for url in text.split(","))
    if not all(url.startswith(("nats://", "tls://")) for url in urls):
        raise ConfigError(
            f"{named}: must be a URL such as nats://127.0.0.1:4222, or several with commas between"
        )
    return urls


def parse_address(text: str, named: str) -> tuple[str, int]:
    """Return host and port of ``HOST:PORT``; ``named`` is what the error calls it.

    >>> parse_address("[::1]:7440", "--listen")
    ('::1', 7440)

    Raises:
        ConfigError: it is none.
    """
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not (port.isascii() and port.isdecimal()) or int(port) > PORT_MAX:
        raise ConfigError(f"{named}: must be HOST:PORT with a port of 0 to {PORT_MAX}, not {text!r}")
    try:
        if host != "localhost":
            ipaddress.ip_address(host)
    except ValueError:
        raise ConfigError(f"{named}: the host must be localhost or an IP address, not {host!r}") from None
    return host, int(port)
