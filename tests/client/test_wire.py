"""The wire: what one side writes the other reads; what is malformed is named by its field."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mersey.client.errors import ApiError, MovedOnError, RefusedError, UnavailableError
from mersey.client.wire import (
    Failure,
    RawUpdate,
    WireError,
    action_from_proto,
    action_to_proto,
    choices_from_proto,
    choices_to_proto,
    durability_from_proto,
    durability_to_proto,
    error_from_failure,
    failure_from_proto,
    failure_to_proto,
    table_id,
    update_from_proto,
    update_to_proto,
    view_from_proto,
)
from mersey.game.choices import Choice, Choices
from mersey.rules.actions import (
    ACTIONS,
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
from mersey.rules.cards import FACES
from mersey.rules.melds import Named
from mersey.rules.notation import format_action
from mersey.v1 import action_pb2, table_pb2

naturals = st.builds(
    lambda face, copy: Named(face + copy), st.sampled_from(FACES), st.sampled_from(["", "1", "9"])
)
jokers = st.builds(
    lambda joker, meaning: Named(joker + meaning),
    st.sampled_from(["X", "X1", "X12"]),
    st.sampled_from(["", "=5H", "=7"]),
)
placed = naturals | jokers
numbers = st.integers(0, 999_999)
melds = st.builds(
    NamedMeld, st.sampled_from(["set", "run"]), st.lists(placed, min_size=1, max_size=9).map(tuple)
)
actions: st.SearchStrategy[Action] = st.one_of(
    st.builds(Cut, numbers),
    st.sampled_from([TakeDiscard(), ChooseStock(), Buy(), Pass(), Pass(standing=True), Ready()]),
    st.builds(
        OpenContract,
        st.lists(melds, min_size=1, max_size=4).map(tuple),
        st.lists(st.builds(OpeningSwap, naturals, numbers), max_size=2).map(tuple),
    ),
    st.builds(LayOff, placed, numbers),
    st.builds(SwapJoker, naturals, numbers, st.none() | st.builds(Destination, jokers, numbers)),
    st.builds(Discard, naturals | st.sampled_from([Named("X"), Named("X2")])),
)


@given(actions)
def test_every_action_reads_back_from_its_message_and_from_its_bytes(action: Action) -> None:
    message = action_to_proto(action)
    again = action_pb2.Action.FromString(message.SerializeToString())

    assert action_from_proto(message) == action
    assert action_from_proto(again) == action


@given(actions)
def test_an_action_may_be_sent_as_text(action: Action) -> None:
    assert action_from_proto(action_pb2.Action(text=format_action(action))) == action


def test_every_kind_of_action_has_its_message() -> None:
    named = {field.name for field in action_pb2.Action.DESCRIPTOR.oneofs_by_name["action"].fields}

    assert named == set(KIND_OF.values()) | {"text"}
    assert set(ACTIONS) == set(KIND_OF)


@pytest.mark.parametrize(
    ("message", "field"),
    [
        (action_pb2.Action(), "action"),
        (action_pb2.Action(text="sing"), "action.text"),
        (action_pb2.Action(cut=action_pb2.Cut(aim=-1)), "action.cut.aim"),
        (action_pb2.Action(discard=action_pb2.Discard(card="7Z")), "action.discard.card"),
        (action_pb2.Action(discard=action_pb2.Discard(card="X=7")), "action.discard.card"),
        (action_pb2.Action(lay_off=action_pb2.LayOff(card="", meld=1)), "action.lay_off.card"),
        (action_pb2.Action(lay_off=action_pb2.LayOff(card="7S", meld=-2)), "action.lay_off.meld"),
        (action_pb2.Action(swap_joker=action_pb2.SwapJoker(card="X", meld=1)), "action.swap_joker.card"),
        (
            action_pb2.Action(
                swap_joker=action_pb2.SwapJoker(
                    card="7S", meld=1, to=action_pb2.Destination(joker="8S", meld=1)
                )
            ),
            "action.swap_joker.to.joker",
        ),
        (action_pb2.Action(open_contract=action_pb2.OpenContract()), "action.open_contract.melds"),
        (
            action_pb2.Action(open_contract=action_pb2.OpenContract(melds=[action_pb2.Meld(cards=["7S"])])),
            "action.open_contract.melds[0].kind",
        ),
        (
            action_pb2.Action(
                open_contract=action_pb2.OpenContract(
                    melds=[action_pb2.Meld(kind=action_pb2.MELD_KIND_SET, cards=["7S"] * 501)]
                )
            ),
            "action.open_contract.melds",
        ),
        (
            action_pb2.Action(
                open_contract=action_pb2.OpenContract(
                    melds=[action_pb2.Meld(kind=action_pb2.MELD_KIND_SET, cards=["7S", "?"])],
                )
            ),
            "action.open_contract.melds[0].cards[1]",
        ),
    ],
)
def test_a_malformed_action_is_refused_by_its_field(message: action_pb2.Action, field: str) -> None:
    with pytest.raises(WireError) as caught:
        action_from_proto(message)

    assert caught.value.field == field
    assert str(caught.value).startswith(f"{field}: ")
    assert "\n" not in str(caught.value)


@given(st.text(max_size=12))
def test_any_card_text_is_a_card_or_a_wire_error(text: str) -> None:
    message = action_pb2.Action(discard=action_pb2.Discard(card=text))
    try:
        action = action_from_proto(message)
    except WireError:
        return
    assert action_from_proto(action_to_proto(action)) == action


def test_choices_read_back() -> None:
    choices = Choices(
        7,
        2,
        (
            Choice("discard", (Discard(Named("7S")), Discard(Named("X")))),
            Choice("open_contract", (), more=True),
        ),
        {"buy": "no_buy_window"},
    )

    assert choices_from_proto(choices_to_proto(choices)) == choices


def test_kinds_and_forms_that_are_not_known_here_are_left_out_and_said_to_be_more() -> None:
    message = table_pb2.Choices(
        version=3,
        legal=[
            table_pb2.Choice(kind="knock", forms=[table_pb2.Form(text="knock")]),
            table_pb2.Choice(kind="buy", forms=[table_pb2.Form(text="buy twice")]),
        ],
        missing={"sing": "too_late", "cut": "already_cut"},
    )

    assert choices_from_proto(message) == Choices(
        3, 0, (Choice("buy", (), more=True),), {"cut": "already_cut"}
    )


def test_an_update_reads_back_and_one_of_an_unknown_kind_keeps_its_version() -> None:
    known = update_from_proto(
        update_to_proto(4, 99, b'{"version":4,"at_ms":99,"event":{"type":"stock_chosen","seat":1}}')
    )
    raw = update_from_proto(
        update_to_proto(5, 99, b'{"version":5,"at_ms":99,"event":{"type":"sung","song":"la"}}')
    )
    newer = update_from_proto(
        update_to_proto(
            6, 99, b'{"version":6,"at_ms":99,"event":{"type":"stock_chosen","seat":1,"loud":true}}'
        )
    )

    assert (known.version, type(known).__name__) == (4, "Update")
    assert raw == RawUpdate(5, 99, "sung", b'{"type":"sung","song":"la"}')
    assert isinstance(newer, RawUpdate)
    assert newer.kind == "stock_chosen"


@pytest.mark.parametrize(
    "json",
    ["", "{}", "[]", '{"version":1,"at_ms":2,"event":{}}', '{"version":2,"at_ms":2,"event":{"type":"x"}}'],
)
def test_what_is_no_update_is_refused(json: str) -> None:
    with pytest.raises(WireError, match=r"update\.json"):
        update_from_proto(table_pb2.Update(version=1, json=json))


def test_what_is_no_view_is_refused() -> None:
    with pytest.raises(WireError, match=r"view\.json"):
        view_from_proto(table_pb2.View(json='{"version":1}'))


@pytest.mark.parametrize("name", ["", "tables/", "k3f9", "tables/a/b", "games/a"])
def test_what_is_no_table_name_is_refused(name: str) -> None:
    with pytest.raises(WireError, match="not a table's name"):
        table_id(name)


def test_durability_and_failures_read_back() -> None:
    failure = Failure(9, "NOT_YOUR_TURN", "It is another player's turn.", {"section": "5", "cards": "7S X"})

    assert [durability_from_proto(durability_to_proto(value)) for value in ("logged", "archived")] == [
        "logged",
        "archived",
    ]
    assert durability_from_proto(9) == "logged"
    assert failure_from_proto(failure_to_proto(failure)) == failure


def test_a_failure_is_the_exception_that_the_status_would_be() -> None:
    refused = error_from_failure(Failure(9, "NOT_YOUR_TURN", "No.", {"section": "5", "cards": "7S X"}))
    moved = error_from_failure(Failure(10, "VERSION_MOVED", "No.", {"head_version": "12"}))

    assert isinstance(refused, RefusedError)
    assert (refused.code, refused.section, refused.cards) == ("not_your_turn", "5", ("7S", "X"))
    assert isinstance(moved, MovedOnError)
    assert moved.head_version == 12
    assert isinstance(error_from_failure(Failure(14, "", "gone")), UnavailableError)
    assert type(error_from_failure(Failure(13, "INTERNAL", "oops"))) is ApiError


def test_an_update_in_canonical_json_is_what_msgspec_writes() -> None:
    json = b'{"version":4,"at_ms":99,"event":{"type":"stock_chosen","seat":1}}'

    assert msgspec.json.encode(update_from_proto(update_to_proto(4, 99, json)), order="deterministic") == json
