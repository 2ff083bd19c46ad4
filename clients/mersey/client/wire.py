"""The wire: messages of ``mersey.v1`` to values of ``mersey.game`` and back.

Server and client both use it, so that what one writes the other reads. A malformed
message is a ``WireError`` that names the field. What a newer server says and this
client does not know is skipped, or kept as it came: an event of an unknown kind is a
``RawUpdate`` with its version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeVar

import msgspec

from mersey.client.errors import ApiError, error_of
from mersey.game.choices import Choice, Choices
from mersey.game.seen import TableView, Update
from mersey.rules.actions import (
    KIND_OF,
    Action,
    Buy,
    ChooseStock,
    Cut,
    Destination,
    Discard,
    LayOff,
    NamedMeld,
    OpenContract,
    OpeningSwap,
    Pass,
    Ready,
    SwapJoker,
    TakeDiscard,
)
from mersey.rules.melds import Named
from mersey.rules.notation import NUMBER_MAX, format_action, parse_action, parse_card_name, parse_named
from mersey.rules.refusals import MerseyError, NotationError
from mersey.rules.ruleset import MeldKind
from mersey.v1 import action_pb2, table_pb2

OPENING_CARDS_MAX: Final = 500
"""The most cards that one opening names; no hand holds more."""

Durability = Literal["logged", "archived"]


class WireError(MerseyError):
    """A message that is no value of ours: ``field`` is its path, ``fault`` what is wrong with it."""

    def __init__(self, field: str, fault: str) -> None:
        self.field = field
        self.fault = fault
        super().__init__(f"{field}: {fault}")


class RawUpdate(msgspec.Struct, frozen=True):
    """An update whose event this client does not know: its kind, and the JSON of the event as it came."""

    version: int
    at_ms: int
    kind: str
    event: bytes


class Failure(NamedTuple):
    """An error on a stream that goes on: canonical gRPC code, reason in upper case, sentence, details."""

    code: int
    reason: str
    message: str
    metadata: Mapping[str, str] = {}


ValueT = TypeVar("ValueT")

TABLES: Final = "tables/"


def table_name(table: str) -> str:
    """Return the resource name of a table's id.

    >>> table_name("k3f9"), table_id("tables/k3f9")
    ('tables/k3f9', 'k3f9')
    """
    return TABLES + table


def table_id(name: str, field: str = "name") -> str:
    """Return the id in a table's resource name; WireError where it is none."""
    table = name.removeprefix(TABLES)
    if not table or table == name or "/" in table:
        raise WireError(field, f"not a table's name: {name[:60]!r} (it looks like tables/k3f9)")
    return table


# Actions


def action_to_proto(action: Action) -> action_pb2.Action:
    """Return the message of an action."""
    message: action_pb2.Action = _TO[type(action)](action)
    return message


def action_from_proto(message: action_pb2.Action, field: str = "action") -> Action:
    """Return the action that a message says, as a value or as text.

    >>> action_from_proto(action_pb2.Action(text="lay 7d on 1"))
    LayOff(card='7D', meld=1)

    Raises:
        WireError: with the field's path below ``field``.
    """
    which = message.WhichOneof("action")
    if which is None:
        raise WireError(field, "no action is given")
    return _FROM[which](getattr(message, which), f"{field}.{which}")


def _cut_to(action: Cut) -> action_pb2.Action:
    return action_pb2.Action(cut=action_pb2.Cut(aim=action.aim))


def _pass_to(action: Pass) -> action_pb2.Action:
    message = action_pb2.Action()
    getattr(message, "pass").CopyFrom(action_pb2.Pass(standing=action.standing))  # a word of Python's own
    return message


def _open_to(action: OpenContract) -> action_pb2.Action:
    melds = [action_pb2.Meld(kind=_KIND_TO[meld.kind], cards=meld.cards) for meld in action.melds]
    swaps = [action_pb2.OpeningSwap(card=swap.card, meld=swap.meld) for swap in action.swaps]
    return action_pb2.Action(open_contract=action_pb2.OpenContract(melds=melds, swaps=swaps))


def _lay_off_to(action: LayOff) -> action_pb2.Action:
    return action_pb2.Action(lay_off=action_pb2.LayOff(card=action.card, meld=action.meld))


def _swap_to(action: SwapJoker) -> action_pb2.Action:
    to = None
    if action.to is not None:
        to = action_pb2.Destination(joker=action.to.joker, meld=action.to.meld)
    return action_pb2.Action(swap_joker=action_pb2.SwapJoker(card=action.card, meld=action.meld, to=to))


def _discard_to(action: Discard) -> action_pb2.Action:
    return action_pb2.Action(discard=action_pb2.Discard(card=action.card))


_KIND_TO: Final[dict[MeldKind, action_pb2.MeldKind.ValueType]] = {
    "set": action_pb2.MELD_KIND_SET,
    "run": action_pb2.MELD_KIND_RUN,
}
_KIND_FROM: Final[dict[int, MeldKind]] = {int(number): kind for kind, number in _KIND_TO.items()}

_TO: Final[dict[type[Action], Callable[[Any], action_pb2.Action]]] = {
    Cut: _cut_to,
    TakeDiscard: lambda _: action_pb2.Action(take_discard=action_pb2.TakeDiscard()),
    ChooseStock: lambda _: action_pb2.Action(choose_stock=action_pb2.ChooseStock()),
    Buy: lambda _: action_pb2.Action(buy=action_pb2.Buy()),
    Pass: _pass_to,
    Ready: lambda _: action_pb2.Action(ready=action_pb2.Ready()),
    OpenContract: _open_to,
    LayOff: _lay_off_to,
    SwapJoker: _swap_to,
    Discard: _discard_to,
}


def _named(read: Callable[[str], ValueT], text: str, field: str) -> ValueT:
    try:
        return read(text)
    except NotationError as error:
        raise WireError(field, str(error)) from error


def _natural(text: str, field: str) -> Named:
    card = _named(parse_card_name, text, field)
    if card[0] == "X":
        raise WireError(field, f"the natural card is named here, not the joker: {text!r}")
    return card


def _number(number: int, field: str) -> int:
    if not 0 <= number <= NUMBER_MAX:
        raise WireError(field, f"must be 0 to {NUMBER_MAX}, not {number}")
    return number


def _open_from(message: action_pb2.OpenContract, field: str) -> Action:
    if not message.melds:
        raise WireError(f"{field}.melds", "an opening names its melds")
    if sum(len(meld.cards) for meld in message.melds) > OPENING_CARDS_MAX:
        raise WireError(f"{field}.melds", f"an opening names at most {OPENING_CARDS_MAX} cards")
    melds = tuple(_meld_from(meld, f"{field}.melds[{at}]") for at, meld in enumerate(message.melds))
    swaps = tuple(
        OpeningSwap(
            _natural(swap.card, f"{field}.swaps[{at}].card"),
            _number(swap.meld, f"{field}.swaps[{at}].meld"),
        )
        for at, swap in enumerate(message.swaps)
    )
    return OpenContract(melds, swaps)


def _meld_from(message: action_pb2.Meld, field: str) -> NamedMeld:
    kind = _KIND_FROM.get(message.kind)
    if kind is None:
        raise WireError(f"{field}.kind", f"must be set (1) or run (2), not {message.kind}")
    if not message.cards:
        raise WireError(f"{field}.cards", f"a {kind} of no cards")
    return NamedMeld(
        kind,
        tuple(_named(parse_named, card, f"{field}.cards[{at}]") for at, card in enumerate(message.cards)),
    )


def _lay_off_from(message: action_pb2.LayOff, field: str) -> Action:
    return LayOff(_named(parse_named, message.card, f"{field}.card"), _number(message.meld, f"{field}.meld"))


def _swap_from(message: action_pb2.SwapJoker, field: str) -> Action:
    to = None
    if message.HasField("to"):
        joker = _named(parse_named, message.to.joker, f"{field}.to.joker")
        if joker[0] != "X":
            raise WireError(f"{field}.to.joker", f"the freed joker is named X, not {joker!r}")
        to = Destination(joker, _number(message.to.meld, f"{field}.to.meld"))
    return SwapJoker(_natural(message.card, f"{field}.card"), _number(message.meld, f"{field}.meld"), to)


_FROM: Final[dict[str, Callable[[Any, str], Action]]] = {
    "cut": lambda message, field: Cut(_number(message.aim, f"{field}.aim")),
    "take_discard": lambda message, field: TakeDiscard(),
    "choose_stock": lambda message, field: ChooseStock(),
    "buy": lambda message, field: Buy(),
    "pass": lambda message, field: Pass(standing=message.standing),
    "ready": lambda message, field: Ready(),
    "open_contract": _open_from,
    "lay_off": _lay_off_from,
    "swap_joker": _swap_from,
    "discard": lambda message, field: Discard(_named(parse_card_name, message.card, f"{field}.card")),
    "text": lambda message, field: _named(parse_action, message, field),
}


# Choices


def choices_to_proto(choices: Choices) -> table_pb2.Choices:
    """Return the message of a seat's choices: each form as a value and as text."""
    legal = [
        table_pb2.Choice(
            kind=choice.kind,
            forms=[
                table_pb2.Form(action=action_to_proto(action), text=format_action(action))
                for action in choice.actions
            ],
            more=choice.more,
        )
        for choice in choices.legal
    ]
    return table_pb2.Choices(version=choices.version, seat=choices.seat, legal=legal, missing=choices.missing)


def choices_from_proto(message: table_pb2.Choices, field: str = "choices") -> Choices:
    """Return the choices in a message; kinds and forms that this client does not know are left out."""
    known = set(KIND_OF.values())
    legal = []
    for number, choice in enumerate(message.legal):
        if choice.kind in known:
            at = f"{field}.legal[{number}]"
            forms = [form for form in choice.forms if form.action.WhichOneof("action") is not None]
            actions = tuple(
                action_from_proto(form.action, f"{at}.forms[{index}].action")
                for index, form in enumerate(forms)
            )
            more = choice.more or len(forms) < len(choice.forms)
            legal.append(Choice(choice.kind, actions, more))
    missing = {kind: message.missing[kind] for kind in KIND_OF.values() if kind in message.missing}
    return Choices(message.version, message.seat, tuple(legal), missing)


# Views and updates


def view_to_proto(table: str, version: int, json: bytes) -> table_pb2.View:
    """Return the message of a view whose canonical JSON is ``json``."""
    return table_pb2.View(name=table_name(table), version=version, json=json.decode())


_VIEW: Final = msgspec.json.Decoder(TableView)


def view_from_proto(message: table_pb2.View, field: str = "view") -> TableView:
    """Return the view in a message; WireError where its JSON is none."""
    try:
        return _VIEW.decode(message.json)
    except msgspec.MsgspecError as error:
        raise WireError(f"{field}.json", f"not a view: {error}") from error


def update_to_proto(version: int, at_ms: int, json: bytes) -> table_pb2.Update:
    """Return the message of an update whose canonical JSON is ``json``."""
    return table_pb2.Update(version=version, at_ms=at_ms, json=json.decode())


class _Envelope(msgspec.Struct, frozen=True):
    version: int
    at_ms: int
    event: msgspec.Raw


class _Kind(msgspec.Struct, frozen=True):
    type: str


_UPDATE: Final = msgspec.json.Decoder(Update)
_ENVELOPE: Final = msgspec.json.Decoder(_Envelope)
_KIND: Final = msgspec.json.Decoder(_Kind)


def update_from_proto(message: table_pb2.Update, field: str = "update") -> Update | RawUpdate:
    """Return the update in a message, raw where its event is of a kind or shape not known here.

    Raises:
        WireError: the JSON is no update, or its version is another than the message says.
    """
    update: Update | RawUpdate
    try:
        update = _UPDATE.decode(message.json)
    except msgspec.MsgspecError:
        update = _raw_update(message.json, field)
    if update.version != message.version:
        raise WireError(f"{field}.json", f"is of version {update.version}, not {message.version}")
    return update


def _raw_update(json: str, field: str) -> RawUpdate:
    try:
        envelope = _ENVELOPE.decode(json)
        event = bytes(envelope.event)
        return RawUpdate(envelope.version, envelope.at_ms, _KIND.decode(event).type, event)
    except msgspec.MsgspecError as error:
        raise WireError(f"{field}.json", f"not an update: {error}") from error


def updates_from_proto(
    messages: Sequence[table_pb2.Update], field: str = "updates"
) -> tuple[Update | RawUpdate, ...]:
    """Return the updates in a list of messages."""
    return tuple(update_from_proto(message, f"{field}[{at}]") for at, message in enumerate(messages))


# Durability and failures

_DURABILITY_TO: Final[dict[Durability, table_pb2.Durability.ValueType]] = {
    "logged": table_pb2.DURABILITY_LOGGED,
    "archived": table_pb2.DURABILITY_ARCHIVED,
}
_DURABILITY_FROM: Final[dict[int, Durability]] = {
    int(number): durability for durability, number in _DURABILITY_TO.items()
}


def durability_to_proto(durability: Durability) -> table_pb2.Durability.ValueType:
    """Return the enum value that says how safe a command is."""
    return _DURABILITY_TO[durability]


def durability_from_proto(number: int) -> Durability:
    """Return how safe a command is; what is not known here counts as the least, ``logged``."""
    return _DURABILITY_FROM.get(number, "logged")


def failure_to_proto(failure: Failure) -> table_pb2.Failure:
    """Return the message of a failure on a stream."""
    return table_pb2.Failure(
        code=failure.code, reason=failure.reason, message=failure.message, metadata=dict(failure.metadata)
    )


def failure_from_proto(message: table_pb2.Failure) -> Failure:
    """Return the failure in a message."""
    return Failure(message.code, message.reason, message.message, dict(message.metadata))


def error_from_failure(failure: Failure) -> ApiError:
    """Return a failure as the exception that the same status would be."""
    return error_of(failure.code, failure.reason, failure.message, failure.metadata)
