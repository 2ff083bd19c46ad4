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

from mersey.client.errors import INTERNAL, UNAVAILABLE, UNKNOWN, ApiError, UnavailableError, error_of
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
_OF_TRANSPORT: Final = frozenset({INTERNAL, UNKNOWN})
_DETAILS: Final = "grpc-status-details-bin"
_FIRST_WAIT_S: Final = 0.05
_LONGEST_WAIT_S: Final = 2.0

RequestT = TypeVar("RequestT", bound=Message)
ResponseT = TypeVar("ResponseT", bound=Message)


class Backoff:
    """How long to wait before the next try, at which server, and when to give up.

    ``patience_s`` is how long a server may be away, in seconds; None waits for ever. ``leave`` is told the
    number of the server that has failed, and returns that of the next one to try.
    """

    def __init__(
        self, patience_s: float | None, at: int = 0, leave: Callable[[int], int] = lambda at: at
    ) -> None:
        self._patience_s = patience_s
        self._at = at
        self._leave = leave
        self.reset()

    def reset(self) -> None:
        """Take note that the server has answered."""
        self._wait_s = _FIRST_WAIT_S
        self._waited_s = 0.0

    async def wait(self, error: Exception) -> None:
        """Wait before the next try, as long as the server asks for; raise ``error`` where patience is over.

        Where there is another server, the next try is made there, and no request of the one before is heeded.
        """
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise asyncio.CancelledError  # gRPC loses a cancellation that meets the end of its call
        if self._patience_s is not None and self._waited_s >= self._patience_s:
            raise error
        at, wait_s = self._leave(self._at), self._wait_s
        if at == self._at and isinstance(error, UnavailableError):
            wait_s = max(wait_s, error.retry_s)
        self._at = at
        wait_s *= random.uniform(0.5, 1.0)
        await asyncio.sleep(wait_s)
        self._waited_s += wait_s
        self._wait_s = min(2 * self._wait_s, _LONGEST_WAIT_S)


class _Server:
    """One server, by its address; nothing is sent before the first call."""

    def __init__(self, target: str, credentials: grpc.ChannelCredentials | None) -> None:
        if credentials is None:
            self.channel = grpc.aio.insecure_channel(target, options=_OPTIONS)
        else:
            self.channel = grpc.aio.secure_channel(target, credentials, options=_OPTIONS)
        self.tables: TableServiceAsyncStub = TableServiceStub(self.channel)
        self.replays: ReplayServiceAsyncStub = ReplayServiceStub(self.channel)

    async def connects(self) -> bool:
        """Return whether it answers, once that is known."""
        state = self.channel.get_state(try_to_connect=True)
        while state is not grpc.ChannelConnectivity.READY:
            if state is grpc.ChannelConnectivity.TRANSIENT_FAILURE:
                return False
            await self.channel.wait_for_state_change(state)
            state = self.channel.get_state(try_to_connect=True)
        return True


class _Current:
    """A stub whose methods call the server that is the current one when they are called."""

    def __init__(self, stub: Callable[[], object]) -> None:
        self._stub = stub

    def __getattr__(self, name: str) -> Callable[..., object]:
        return lambda *args, **options: getattr(self._stub(), name)(*args, **options)


class Transport:
    """A connection to one of several servers with a token; TLS where ``credentials`` are given.

    ``target`` is HOST:PORT, or several with commas between: any of them serves any table, so a call that
    finds one away goes to the next, with the same command id.
    """

    def __init__(
        self,
        target: str,
        token: str,
        *,
        credentials: grpc.ChannelCredentials | None = None,
        call_s: float = 10.0,
        patience_s: float | None = 30.0,
    ) -> None:
        self._servers = [_Server(one.strip(), credentials) for one in target.split(",")]
        self._at = 0
        self.target: Final = target
        self.metadata: Final = (("authorization", f"Bearer {token}"),) if token else ()
        self.tables = cast("TableServiceAsyncStub", _Current(lambda: self._servers[self._at].tables))
        self.replays = cast("ReplayServiceAsyncStub", _Current(lambda: self._servers[self._at].replays))
        self._call_s = call_s
        self._patience_s = patience_s

    @property
    def has_others(self) -> bool:
        """Whether there is another server to go to."""
        return len(self._servers) > 1

    async def close(self) -> None:
        """End every call and the connections."""
        for server in self._servers:
            await server.channel.close(None)

    async def connect(self, within_s: float) -> None:
        """Return once a server answers.

        Raises:
            UnavailableError: none does: at once where every connection is refused, else after ``within_s``.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                for _ in self._servers:
                    if await self._servers[self._at].connects():
                        return
                    self._leave(self._at)
        raise UnavailableError(UNAVAILABLE, "", f"no server answers at {self.target}")

    def _leave(self, at: int) -> int:
        """Go on from the server of that number, unless another call has gone on already; return where to."""
        if at == self._at:
            self._at = (at + 1) % len(self._servers)
        return self._at

    def backoff(self) -> Backoff:
        """Return the patience for one call or stream."""
        return Backoff(self._patience_s, self._at, self._leave)

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
    """Return the exception for a failed call, from its status and the ErrorInfo in its details.

    The server's own mistakes have an ErrorInfo. An INTERNAL or UNKNOWN without one is a word of the transport
    about a connection that broke, so that nothing is known: gRPC says "Internal error from Core" so.
    """
    status = error.code().value[0]
    message = error.details() or ""
    info = _info(error)
    if info is None:
        return error_of(UNAVAILABLE if status in _OF_TRANSPORT else status, "", message)
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


def away() -> UnavailableError:
    """Return what is wrong with a server that says itself that others may be further."""
    return UnavailableError(UNAVAILABLE, "", "the server can't reach the log: another may")


NewId = Callable[[], str]
"""Makes command ids: 1 to 64 characters, never the same twice."""
