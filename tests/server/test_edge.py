"""The edge: tokens, statuses, nothing that leaks, health, reflection, every method there."""

from __future__ import annotations

import time

import grpc
import grpc.aio
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from mersey.client.wire import WireError
from mersey.game.refusals import TableCode, TableRefusal
from mersey.log.archive_schema import ArchiveError
from mersey.log.ports import (
    LogFull,
    LogRefused,
    LogReplaced,
    LogUnavailable,
    LostRace,
    OutcomeUnknown,
)
from mersey.rules.refusals import Code, Refusal
from mersey.server.auth import Keys
from mersey.server.faults import FieldFault, ServiceCode, ServiceFault
from mersey.server.node import Node
from mersey.server.status import STATUS, failure_of, status_of
from mersey.v1 import replay_pb2, table_pb2
from server.people import Person, reason_of

CODES = [*Code, *TableCode, *ServiceCode]


def error_with(code: Code | TableCode | ServiceCode) -> Exception:
    match code:
        case Code():
            return Refusal(code, ["7S"])
        case TableCode():
            return TableRefusal(code, "a fact")
        case _:
            return ServiceFault(code, "a fact", key="value")


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_a_status_and_is_the_reason(code: Code | TableCode | ServiceCode) -> None:
    failure = failure_of(error_with(code))

    assert failure.code == STATUS[code].value[0] != 0
    assert failure.reason == code.value.upper()
    status = status_of(failure)
    assert (status.code, status.message) == (failure.code, failure.message)
    assert len(status.details) >= 1


def test_no_two_codes_share_a_name() -> None:
    assert len({code.value for code in CODES}) == len(CODES)


def test_a_refusal_says_section_and_cards() -> None:
    failure = failure_of(Refusal(Code.CARD_NOT_IN_HAND, ["7S", "X"]))

    assert failure.metadata == {"section": "10", "cards": "7S X"}


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (WireError("action.text", "not an action"), "INVALID_ARGUMENT"),
        (FieldFault({"name": "is none"}), "INVALID_ARGUMENT"),
        (LogFull("nats at secret.host is full"), "LOG_FULL"),
        (LogRefused("secret"), "LOG_REFUSED"),
        (LogUnavailable("secret"), "LOG_UNAVAILABLE"),
        (LogReplaced("secret"), "LOG_UNAVAILABLE"),
        (LostRace("secret"), "LOG_UNAVAILABLE"),
        (OutcomeUnknown("secret"), "OUTCOME_UNKNOWN"),
        (ArchiveError("/secret/path"), "ARCHIVE_UNAVAILABLE"),
        (KeyError("secret"), "INTERNAL"),
        (ZeroDivisionError("secret"), "INTERNAL"),
    ],
)
def test_what_is_told_of_an_error_is_its_code_and_none_of_its_inner_words(
    error: Exception, reason: str
) -> None:
    failure = failure_of(error)

    assert failure.reason == reason
    assert "secret" not in f"{failure.message} {failure.metadata}"


async def test_a_fault_of_ours_is_internal_with_an_incident_id_and_no_text(
    host: Person, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    table = await host.open_table(["chance"])
    await host.ask("CloseTable", name=table)
    monkeypatch.setattr(
        "mersey.server.services.replay.verify_commits", lambda *_: 1 / 0 if "secret hand 7S1" else None
    )

    with pytest.raises(grpc.aio.AioRpcError) as error:
        await host.ask("VerifyGame", name=table)

    assert (error.value.code(), reason_of(error.value)) == (grpc.StatusCode.INTERNAL, "INTERNAL")
    assert "division" not in error.value.details()
    incident = error.value.details().rpartition(" ")[2].rstrip(")")
    assert f"incident {incident}" in caplog.text
    assert "ZeroDivisionError" in caplog.text


async def test_bytes_that_are_no_message_are_refused(channel: grpc.aio.Channel, host: Person) -> None:
    for method in ("GetTable", "Act", "CreateTable"):
        call = channel.unary_unary(f"/mersey.v1.TableService/{method}")
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await call(b"\xff\xff\xff\xff", metadata=host.metadata)
        assert (error.value.code(), reason_of(error.value)) == (
            grpc.StatusCode.INVALID_ARGUMENT,
            "INVALID_ARGUMENT",
        )


def a_token(key: Ed25519PrivateKey, **changes: object) -> str:
    claims: dict[str, object] = {
        "iss": "mersey",
        "sub": "p-1",
        "name": "N",
        "role": "host",
        "iat": int(time.time()),
        "jti": "1",
    }
    kept = {name: value for name, value in (claims | changes).items() if value is not None}
    return jwt.encode(kept, key, algorithm="EdDSA")


def bad_tokens(keys: Keys) -> dict[str, str | None]:
    ours = keys._key
    unsigned = jwt.encode({"sub": "p-1", "role": "host", "name": "N"}, None, algorithm="none")
    return {
        "none": None,
        "empty": "",
        "no token": "x.y.z",
        "another key": a_token(Ed25519PrivateKey.generate()),
        "expired": a_token(ours, exp=int(time.time()) - 3600),
        "no player": a_token(ours, sub=None),
        "unknown role": a_token(ours, role="admin"),
        "no role": a_token(ours, role=None),
        "a bot's id": a_token(ours, sub="bot-1"),
        "another issuer": a_token(ours, iss="elsewhere"),
        "unsigned": unsigned,
        "too long": a_token(ours, name="x" * 10_000)[:6000],
    }


async def test_a_token_that_is_not_right_opens_nothing(node: Node, channel: grpc.aio.Channel) -> None:
    for kind, token in bad_tokens(node.keys).items():
        person = Person(channel, token)
        for method in ("CreateTable", "ListTables", "ListGames"):
            with pytest.raises(grpc.aio.AioRpcError) as error:
                await person.ask(method)
            assert (kind, reason_of(error.value)) == (kind, "UNAUTHENTICATED")
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await anext(aiter(person.stream("Watch", name="tables/x")))
        assert error.value.code() == grpc.StatusCode.UNAUTHENTICATED


async def test_a_token_made_by_hand_with_our_key_opens(node: Node, channel: grpc.aio.Channel) -> None:
    token = a_token(node.keys._key, exp=int(time.time()) + 60)

    await Person(channel, token).ask("ListTables")


async def test_health_says_serving(channel: grpc.aio.Channel) -> None:
    stub = health_pb2_grpc.HealthStub(channel)

    for service in ("", "mersey.v1.TableService", "mersey.v1.ReplayService"):
        answer = await stub.Check(health_pb2.HealthCheckRequest(service=service))
        assert answer.status == health_pb2.HealthCheckResponse.SERVING


async def test_reflection_lists_the_services(channel: grpc.aio.Channel) -> None:
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)
    call = stub.ServerReflectionInfo(iter([reflection_pb2.ServerReflectionRequest(list_services="")]))

    answer = await anext(aiter(call))

    names = {service.name for service in answer.list_services_response.service}
    assert {"mersey.v1.TableService", "mersey.v1.ReplayService"} <= names


async def test_every_method_of_the_protos_is_served(channel: grpc.aio.Channel) -> None:
    for file in (table_pb2, replay_pb2):
        for service in file.DESCRIPTOR.services_by_name.values():
            for method in service.methods:
                with pytest.raises(grpc.aio.AioRpcError) as error:
                    await channel.unary_unary(f"/{service.full_name}/{method.name}")(b"")
                assert (method.name, reason_of(error.value)) == (method.name, "UNAUTHENTICATED")
