"""Following a table: its updates in order, without gap or repeat, whatever the connection does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final, NamedTuple

import grpc
import grpc.aio

from mersey.client.errors import UnavailableError
from mersey.client.session import GapError, TableSession
from mersey.client.strategies.turn import Turn
from mersey.client.transport import Transport, away, error_from_rpc
from mersey.client.wire import RawUpdate, table_name, updates_from_proto
from mersey.game.seen import Update
from mersey.v1 import table_pb2


class Moment(NamedTuple):
    """What came at once: new updates, and the own seat's turn if it is asked."""

    updates: tuple[Update | RawUpdate, ...]
    turn: Turn | None
    stale: bool
    """Whether more is known to come, or the server is away: what has come may not be the latest."""


AWAY: Final = Moment((), None, stale=True)
"""The moment in which a stream broke; it is taken up again."""


async def follow(transport: Transport, table: str, after_version: int = 0) -> AsyncIterator[Moment]:
    """Yield what comes of a table from after a version on, until the table is finished.

    A stream that breaks is taken up again where it broke. Heartbeats are moments without updates.

    Raises:
        ApiError: the server does not let it be seen; ``UnavailableError`` where it stays away.
    """
    session = TableSession(table, after_version)
    backoff = transport.backoff()
    while True:
        request = table_pb2.WatchRequest(name=table_name(table), after_version=session.version)
        call = transport.tables.Watch(request, metadata=transport.metadata)
        try:
            async for response in call:
                if response.log_away and transport.has_others:
                    raise away()
                new = session.receive(updates_from_proto(response.updates))
                session.hear(response.head_version)
                backoff.reset()
                yield Moment(new, None, session.stale or response.log_away)
            return
        except grpc.aio.AioRpcError as error:
            failure = error_from_rpc(error)
            if not isinstance(failure, UnavailableError):
                raise failure from None
            yield AWAY
            await backoff.wait(failure)
        except (GapError, UnavailableError) as error:
            yield AWAY
            await backoff.wait(error)
        finally:
            call.cancel()
