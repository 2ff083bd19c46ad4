"""Display names by player id, in a NATS KV bucket of their own.

Names are not in the log: a name can change or be erased, and every hash still holds (design, section 2).
"""

from __future__ import annotations

import re
from typing import Final, Self

import nats.errors
import nats.js.errors
from nats.js import api
from nats.js.kv import KeyValue

from mersey.game.display_name import NameRefused, normalised
from mersey.log.connection import NatsConnection
from mersey.log.ports import LogUnavailable
from mersey.log.stream_config import NAMES_BUCKET, LogMisconfigured

_PLAYER: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


async def create_bucket(connection: NatsConnection, *, max_bytes: int = 2**26, replicas: int = 1) -> None:
    """Make the bucket of names unless it is there.

    Raises:
        LogMisconfigured: the server refuses.
        LogUnavailable: it does not answer.
    """
    config = api.KeyValueConfig(bucket=NAMES_BUCKET, history=1, max_bytes=max_bytes, replicas=replicas)
    try:
        try:
            await connection.js.key_value(NAMES_BUCKET)
        except nats.js.errors.BucketNotFoundError:
            await connection.js.create_key_value(config)
    except nats.js.errors.APIError as error:
        raise LogMisconfigured(
            f"NATS refuses to make the bucket {NAMES_BUCKET}: {error.description}"
        ) from error
    except (nats.errors.Error, nats.js.errors.Error) as error:
        raise LogUnavailable(f"NATS does not answer to making the bucket {NAMES_BUCKET}") from error


class Directory:
    """The display names; all methods raise LogUnavailable when NATS does not answer."""

    def __init__(self, bucket: KeyValue) -> None:
        self._bucket = bucket

    @classmethod
    async def open(cls, connection: NatsConnection) -> Self:
        """Return the directory that this server holds.

        Raises:
            LogMisconfigured: there is none.
            LogUnavailable: it does not answer.
        """
        try:
            return cls(await connection.js.key_value(NAMES_BUCKET))
        except nats.js.errors.BucketNotFoundError as error:
            raise LogMisconfigured(
                f"bucket {NAMES_BUCKET} is missing: its NATS admin makes it with mersey nats-setup"
            ) from error
        except (nats.errors.Error, nats.js.errors.Error) as error:
            raise _unavailable(error) from error

    async def put(self, player: str, name: str) -> str:
        """Keep ``name`` for ``player`` in place of any before, and return it as it is kept.

        Raises:
            NameRefused: the name or the player id can't be taken.
        """
        kept = normalised(name)
        try:
            await self._bucket.put(_key(player), kept.encode())
        except (nats.errors.Error, nats.js.errors.Error) as error:
            raise _unavailable(error) from error
        return kept

    async def erase(self, player: str) -> None:
        """Remove the name of ``player``; nothing of it is kept."""
        try:
            await self._bucket.delete(_key(player))
        except (nats.errors.Error, nats.js.errors.Error) as error:
            raise _unavailable(error) from error

    async def get(self, player: str) -> str | None:
        """Return the name of ``player``, or None."""
        try:
            entry = await self._bucket.get(_key(player))
        except nats.js.errors.KeyNotFoundError:
            return None
        except (nats.errors.Error, nats.js.errors.Error) as error:
            raise _unavailable(error) from error
        return (entry.value or b"").decode()

    async def all(self) -> dict[str, str]:
        """Return every name, by player id."""
        names: dict[str, str] = {}
        seen: set[str] = set()
        try:
            kept = (await self._bucket.status()).values
            watcher = await self._bucket.watchall()
            try:
                while len(seen) < kept:
                    entry = await watcher.updates()  # type: ignore[no-untyped-call]
                    if entry is None:
                        continue  # nats-py says "that was all" early, where entries are still on their way
                    seen.add(entry.key)
                    if entry.operation is None:
                        names[entry.key] = (entry.value or b"").decode()
            finally:
                await watcher.stop()  # type: ignore[no-untyped-call]
        except (nats.errors.Error, nats.js.errors.Error) as error:
            raise _unavailable(error) from error
        return names


def _key(player: str) -> str:
    if _PLAYER.fullmatch(player) is None:
        raise NameRefused("player: an id is 1 to 64 letters, digits, - and _")
    return player


def _unavailable(error: Exception) -> LogUnavailable:
    return LogUnavailable(f"the directory of names does not answer: {type(error).__name__}")
