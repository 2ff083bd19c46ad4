"""Tokens: signed names and roles that any node can check (Ed25519, JWT).

``<keys>/signing.pem`` (mode 0600) signs and checks; whoever holds it can make any token. Nodes that serve one
log share it. A role comes from the token, never from a request.
"""

from __future__ import annotations

import os
import secrets
import time
from pathlib import Path
from typing import Final, Literal, Self, get_args

import jwt
import msgspec
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from mersey.rules.refusals import MerseyError
from mersey.server.faults import ServiceCode, ServiceFault

Role = Literal["host", "player", "auditor", "spectator"]

ROLES: Final[tuple[Role, ...]] = get_args(Role)
ALGORITHM: Final = "EdDSA"
ISSUER: Final = "mersey"
TOKEN_CHARACTERS_MAX: Final = 4096

_KEY_FILE: Final = "signing.pem"
_BOT: Final = "bot-"


class KeyFileError(MerseyError):
    """The signing key can't be read or made; the message names the file."""


class Caller(msgspec.Struct, frozen=True):
    """Who calls, as the token says: a player id, the name to show, the role."""

    sub: str
    name: str
    role: Role


class Keys:
    """The key that signs and checks this server's tokens."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self._public = key.public_key()

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Return the key in ``folder``, made there at the first time.

        Raises:
            KeyFileError: it can't be read, or is no Ed25519 key, or can't be made.
        """
        path = folder / _KEY_FILE
        try:
            if not path.exists():
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                write_private(path, _new_key())
            key = serialization.load_pem_private_key(path.read_bytes(), password=None)
        except OSError as error:
            raise KeyFileError(f"{path}: {error.strerror}") from error
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise KeyFileError(f"{path}: is no private key: delete it, and tokens are made anew") from error
        if not isinstance(key, Ed25519PrivateKey):
            raise KeyFileError(f"{path}: is no Ed25519 key")
        return cls(key)

    @staticmethod
    def lie_in(folder: Path) -> bool:
        """Return whether ``folder`` has a key, so that `open` would make none."""
        return (folder / _KEY_FILE).exists()

    def issue(self, name: str, role: Role, *, lifetime_s: int | None = None) -> str:
        """Return a token for a new player id; ``lifetime_s`` None: it does not expire."""
        now_s = int(time.time())
        claims: dict[str, str | int] = {
            "iss": ISSUER,
            "sub": f"p-{secrets.token_urlsafe(12)}",
            "name": name,
            "role": role,
            "iat": now_s,
            "jti": secrets.token_hex(8),
        }
        if lifetime_s is not None:
            claims["exp"] = now_s + lifetime_s
        return jwt.encode(claims, self._key, algorithm=ALGORITHM)

    def caller(self, token: str) -> Caller:
        """Return who the token says calls.

        Raises:
            ServiceFault: unauthenticated: it is none of ours, changed, or has expired.
        """
        if len(token) > TOKEN_CHARACTERS_MAX:
            raise ServiceFault(ServiceCode.UNAUTHENTICATED, "the token is too long")
        try:
            claims = jwt.decode(
                token,
                self._public,
                algorithms=[ALGORITHM],
                issuer=ISSUER,
                options={"require": ["sub", "iat", "jti", "iss"]},
                leeway=30,
            )
            caller = msgspec.convert(claims, Caller)
        except jwt.ExpiredSignatureError:
            raise ServiceFault(ServiceCode.UNAUTHENTICATED, "the token has expired") from None
        except (jwt.InvalidTokenError, msgspec.ValidationError):
            raise ServiceFault(ServiceCode.UNAUTHENTICATED, "the token is not one of this server's") from None
        if caller.sub.startswith(_BOT):
            raise ServiceFault(ServiceCode.UNAUTHENTICATED, "that player id is a server's bot")
        return caller


def write_private(path: Path, data: bytes) -> None:
    """Write a file of mode 0600, as a whole or not at all; one that is there already is kept."""
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(fresh, path)
    except FileExistsError:
        pass
    finally:
        fresh.unlink()


def _new_key() -> bytes:
    return Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
