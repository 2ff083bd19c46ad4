"""The edge of the server: every call comes in and goes out here.

A method gets who calls and a message that could be read; whatever it raises leaves as a status with details,
nothing else of it. Writing to a stream has a time limit, so that a client that does not read costs nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Final, TypeAlias, TypeVar

import grpc
import grpc.aio
from google.protobuf.message import DecodeError, Message

from mersey.server.auth import Caller, Keys
from mersey.server.faults import FieldFault, ServiceCode, ServiceFault
from mersey.server.status import failure_of, status_code, status_of

RequestT = TypeVar("RequestT", bound=Message)

Context: TypeAlias = "grpc.aio.ServicerContext[bytes, bytes]"

_logger = logging.getLogger(__name__)

_DETAILS: Final = "grpc-status-details-bin"
_BEARER: Final = "bearer "


class Sink:
    """Where a stream's answers go; a client that does not take one in time is cut."""

    def __init__(self, context: Context, patience_s: float) -> None:
        self._context = context
        self._patience_s = patience_s
        self._has_begun = False

    async def send(self, data: bytes) -> None:
        """Send one serialised message.

        Raises:
            ServiceFault: too slow: it was not taken in time.
        """
        if (
            not self._has_begun
        ):  # apart from the first message: a status can't follow one that is stuck with it
            self._has_begun = True
            await self._context.send_initial_metadata(())
        try:
            async with asyncio.timeout(self._patience_s):
                await self._context.write(data)
        except TimeoutError:
            raise ServiceFault(ServiceCode.TOO_SLOW) from None


Method: TypeAlias = "Callable[[Edge], grpc.RpcMethodHandler[bytes, bytes]]"


class Edge:
    """Turns methods into handlers that authenticate, read, answer and translate every error."""

    def __init__(self, keys: Keys, write_s: float) -> None:
        self._keys = keys
        self._write_s = write_s

    def handler(self, service: str, methods: Mapping[str, Method]) -> grpc.GenericRpcHandler[bytes, bytes]:
        """Return the handler of the service of that full name."""
        return grpc.method_handlers_generic_handler(
            service, {name: method(self) for name, method in methods.items()}
        )

    def caller(self, context: Context) -> Caller:
        """Return who calls.

        Raises:
            ServiceFault: unauthenticated.
        """
        for key, value in context.invocation_metadata() or ():
            if key == "authorization":
                text = value if isinstance(value, str) else ""
                if not text.lower().startswith(_BEARER):
                    break
                return self._keys.caller(text[len(_BEARER) :].strip())
        raise ServiceFault(ServiceCode.UNAUTHENTICATED, "no token was sent")

    def sink(self, context: Context) -> Sink:
        """Return where the answers to a call go."""
        return Sink(context, self._write_s)

    async def guarded(self, context: Context, call: Callable[[], Awaitable[bytes]]) -> bytes:
        """Return what ``call`` returns; on an error set the status and return nothing."""
        try:
            return await call()
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise  # the client has gone, or the server's grace is over
            self._fail(context, ServiceFault(ServiceCode.STOPPING))
        except Exception as error:  # the edge: nothing but what `failure_of` says may leave
            self._fail(context, error)
        return b""

    def _fail(self, context: Context, error: Exception) -> None:
        failure = failure_of(error)
        if isinstance(error, ServiceFault) and error.code is ServiceCode.TOO_SLOW:
            _logger.warning("a stream of %s was cut: %s", context.peer(), error)
        context.set_code(status_code(failure))
        context.set_details(failure.message)
        context.set_trailing_metadata(((_DETAILS, status_of(failure).SerializeToString()),))


def unary(
    request_type: type[RequestT], call: Callable[[Caller, RequestT], Awaitable[Message | bytes]]
) -> Method:
    """Return a method that answers one request with one message, or with its bytes."""

    def method(edge: Edge) -> grpc.RpcMethodHandler[bytes, bytes]:
        async def handle(data: bytes, context: Context) -> bytes:
            async def answer() -> bytes:
                caller = edge.caller(context)
                answered = await call(caller, _read(request_type, data))
                return answered if isinstance(answered, bytes) else answered.SerializeToString()

            return await edge.guarded(context, answer)

        return grpc.unary_unary_rpc_method_handler(handle)

    return method


def server_stream(
    request_type: type[RequestT], call: Callable[[Caller, RequestT, Sink], Awaitable[None]]
) -> Method:
    """Return a method that answers one request with a stream."""

    def method(edge: Edge) -> grpc.RpcMethodHandler[bytes, bytes]:
        async def handle(data: bytes, context: Context) -> None:
            async def answer() -> bytes:
                caller = edge.caller(context)
                await call(caller, _read(request_type, data), edge.sink(context))
                return b""

            await edge.guarded(context, answer)

        return grpc.unary_stream_rpc_method_handler(handle)

    return method


def two_way_stream(
    request_type: type[RequestT], call: Callable[[Caller, AsyncIterator[RequestT], Sink], Awaitable[None]]
) -> Method:
    """Return a method that reads a stream and answers with one."""

    def method(edge: Edge) -> grpc.RpcMethodHandler[bytes, bytes]:
        async def handle(requests: AsyncIterator[bytes], context: Context) -> None:
            async def read() -> AsyncIterator[RequestT]:
                async for data in requests:
                    yield _read(request_type, data)

            async def answer() -> bytes:
                await call(edge.caller(context), read(), edge.sink(context))
                return b""

            await edge.guarded(context, answer)

        return grpc.stream_stream_rpc_method_handler(handle)

    return method


def _read(request_type: type[RequestT], data: bytes) -> RequestT:
    try:
        return request_type.FromString(data)
    except DecodeError:
        raise FieldFault({"request": "is no message of this method"}) from None
