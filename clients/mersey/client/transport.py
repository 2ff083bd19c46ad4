"""The connection to a server: calls with a token, errors as exceptions, patience while it is away."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar, cast

import grpc
import grpc.aio
from google.protobuf.message import DecodeError, Message
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]

from mersey.client.errors import UNAVAILABLE, ApiError, UnavailableError, error_of
from mersey.v1.replay_pb2_grpc import ReplayServiceStub
from mersey.v1.table_pb2_grpc import TableServiceStub

if TYPE_CHECKING:  # types that the generated modules have no classes for
    from mersey.v1.replay_pb2_grpc import ReplayServiceAsyncStub
    from mersey.v1.table_pb2_grpc import TableServiceAsyncStub

DEFAULT_SERVER: Final = "127.0.0.1:7440"
"""Where `mersey serve` listens unless it is told otherwise."""

_OPTIONS: Final = (
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    ("grpc.max_receive_message_length", 64 * 2**20),
)
_DETAILS: Final = "grpc-status-details-bin"
_FIRST_WAIT_S: Final = 0.05
_LONGEST_WAIT_S: Final = 2.0

RequestT = TypeVar("RequestT", bound=Message)
ResponseT = TypeVar("ResponseT", bound=Message)


class Backoff:
    """How long to wait before the next try, and when to give up.

    ``patience_s`` is how long a server may be away, in seconds; None waits for ever.
    """

    def __init__(self, patience_s: float | None) -> None:
        self._patience_s = patience_s
        self.reset()

    def reset(self) -> None:
        """Take note that the server has answered."""
        self._wait_s = _FIRST_WAIT_S
        self._waited_s = 0.0

    async def wait(self, error: Exception) -> None:
        """Wait before the next try; raise ``error`` where patience is at its end."""
        if self._patience_s is not None and self._waited_s >= self._patience_s:
            raise error
        wait_s = self._wait_s * random.uniform(0.5, 1.0)
        await asyncio.sleep(wait_s)
        self._waited_s += wait_s
        self._wait_s = min(2 * self._wait_s, _LONGEST_WAIT_S)


class Transport:
    """A channel to ``target`` (HOST:PORT) with a token; TLS where ``credentials`` are given."""

    def __init__(
        self,
        target: str,
        token: str,
        *,
        credentials: grpc.ChannelCredentials | None = None,
        call_s: float = 10.0,
        patience_s: float | None = 30.0,
    ) -> None:
        if credentials is None:
            self._channel = grpc.aio.insecure_channel(target, options=_OPTIONS)
        else:
            self._channel = grpc.aio.secure_channel(target, credentials, options=_OPTIONS)
        self.target: Final = target
        self.metadata: Final = (("authorization", f"Bearer {token}"),) if token else ()
        self.tables: TableServiceAsyncStub = TableServiceStub(self._channel)
        self.replays: ReplayServiceAsyncStub = ReplayServiceStub(self._channel)
        self._call_s = call_s
        self._patience_s = patience_s

    async def close(self) -> None:
        """End every call and the connection."""
        await self._channel.close(None)

    async def connect(self, within_s: float) -> None:
        """Return once a server answers.

        Raises:
            UnavailableError: none does: at once where the connection is refused, else after ``within_s``.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                if await self._connects():
                    return
        raise UnavailableError(UNAVAILABLE, "", f"no server answers at {self.target}")

    async def _connects(self) -> bool:
        state = self._channel.get_state(try_to_connect=True)
        while state is not grpc.ChannelConnectivity.READY:
            if state is grpc.ChannelConnectivity.TRANSIENT_FAILURE:
                return False
            await self._channel.wait_for_state_change(state)
            state = self._channel.get_state(try_to_connect=True)
        return True

    def backoff(self) -> Backoff:
        """Return the patience for one call or stream."""
        return Backoff(self._patience_s)

    async def call(
        self, method: grpc.aio.UnaryUnaryMultiCallable[RequestT, ResponseT], request: RequestT
    ) -> ResponseT:
        """Return the answer to ``request``; while the server is away the very same request is sent again.

        Raises:
            ApiError: any other answer; ``UnavailableError`` where patience is at its end.
        """
        backoff = self.backoff()
        while True:
            try:
                return await method(request, metadata=self.metadata, timeout=self._call_s)
            except grpc.aio.AioRpcError as error:
                failure = error_from_rpc(error)
                if not isinstance(failure, UnavailableError):
                    raise failure from None
                await backoff.wait(failure)


def error_from_rpc(error: grpc.aio.AioRpcError) -> ApiError:
    """Return the exception for a failed call, from its status and the ErrorInfo in its details."""
    status = error.code().value[0]
    message = error.details() or ""
    info = _info(error)
    if info is None:
        return error_of(status, "", message)
    return error_of(status, info.reason, message, info.metadata)


def _info(error: grpc.aio.AioRpcError) -> error_details_pb2.ErrorInfo | None:
    metadata = cast("grpc.aio.Metadata | None", error.trailing_metadata())  # the stubs say a tuple
    value = metadata.get(_DETAILS) if metadata else None
    if not isinstance(value, bytes):
        return None
    try:
        details = status_pb2.Status.FromString(value).details
    except DecodeError:
        return None
    info = error_details_pb2.ErrorInfo()
    return info if any(detail.Unpack(info) for detail in details) else None


NewId = Callable[[], str]
"""Makes command ids: 1 to 64 characters, never the same twice."""
