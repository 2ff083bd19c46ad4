"""Commits read back as they were written, and no changed byte of a chain goes unseen."""

from __future__ import annotations

import hashlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from log.chains import EVENT, a_chain, a_commit
from mersey.log.commit import (
    BrokenChain,
    Commit,
    CommitError,
    Head,
    NewerSchema,
    UnreadableCommit,
    WrongStream,
    advance,
    check_follows,
    decode,
    encode,
    event_head,
    hash_of,
    start_of,
)

STREAM = "table.t1"


def walk(chain: list[bytes]) -> Head:
    head = start_of(STREAM)
    for position, data in enumerate(chain, start=1):
        head = advance(head, check_follows(head, data), data, position)
    return head


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
raws = json_values.map(lambda value: msgspec.Raw(msgspec.json.encode(value)))
labels = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=128)
commits = st.builds(
    Commit,
    stream=st.from_regex(r"[a-z]{1,16}\.[A-Za-z0-9_-]{1,64}", fullmatch=True),
    number=st.integers(1, 2**53 - 1),
    first=st.integers(1, 2**53 - 1),
    at_ms=st.integers(0, 2**53 - 1),
    actor=labels,
    command_id=labels,
    cause=raws,
    events=st.lists(raws, min_size=1, max_size=4).map(tuple),
    salt=st.binary(min_size=16, max_size=16).map(bytes.hex),
    previous=st.binary(min_size=32, max_size=32).map(bytes.hex),
)


@given(commits)
def test_every_commit_reads_back_and_encodes_to_the_same_bytes(commit: Commit) -> None:
    data = encode(commit)

    assert decode(data) == commit
    assert encode(decode(data)) == data


@given(st.binary(max_size=64) | st.text(max_size=64).map(str.encode) | raws.map(bytes))
def test_any_bytes_are_a_commit_or_a_commit_error(data: bytes) -> None:
    with pytest.raises(CommitError):
        decode(data)


@given(st.data())
def test_a_mangled_commit_is_a_commit_or_a_commit_error(data: st.DataObject) -> None:
    written = encode(a_commit(start_of(STREAM)))
    start = data.draw(st.integers(0, len(written)))
    end = data.draw(st.integers(start, len(written)))
    mangled = written[:start] + data.draw(st.binary(max_size=6)) + written[end:]
    try:
        commit = decode(mangled)
    except CommitError:
        return
    assert isinstance(commit, Commit)


def test_deep_nesting_is_unreadable_and_nothing_worse() -> None:
    deep = b"[" * 200_000 + b"]" * 200_000
    data = encode(a_commit(start_of(STREAM))).replace(bytes(EVENT), deep, 1)

    with pytest.raises(UnreadableCommit):
        decode(data)
    with pytest.raises(UnreadableCommit):
        event_head(msgspec.Raw(b'{"x":' + deep + b"}"))


def test_text_that_is_no_utf_8_inside_an_event_is_unreadable() -> None:
    data = encode(a_commit(start_of(STREAM))).replace(b"stock_drawn", b"stock\xff", 1)

    with pytest.raises(UnreadableCommit):
        decode(data)


CHAIN = a_chain(4)


@given(st.integers(0, len(CHAIN) - 1), st.data())
def test_a_flipped_byte_of_a_chain_is_found(index: int, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(CHAIN[index]) - 1))
    flip = data.draw(st.integers(1, 255))
    changed = bytearray(CHAIN[index])
    changed[place] ^= flip
    chain = [*CHAIN[:index], bytes(changed), *CHAIN[index + 1 :]]

    try:
        head = walk(chain)
    except CommitError:
        return
    assert head.hash != walk(CHAIN).hash, "the head's hash holds the last commit"


@pytest.mark.parametrize(
    "chain",
    [CHAIN[1:], [CHAIN[0], *CHAIN[2:]], [CHAIN[0], CHAIN[0]], [CHAIN[1], CHAIN[0]]],
    ids=["first missing", "gap", "repeat", "exchanged"],
)
def test_a_chain_with_a_commit_missing_repeated_or_moved_is_broken(chain: list[bytes]) -> None:
    with pytest.raises(BrokenChain):
        walk(chain)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"number": 3}, "number"),
        ({"first": 4}, "first"),
        ({"previous": "0" * 64}, "previous"),
        ({"at_ms": 4}, "at_ms"),
    ],
)
def test_a_commit_that_does_not_follow_names_the_field(changes: dict[str, object], field: str) -> None:
    head = walk(CHAIN[:1])

    with pytest.raises(BrokenChain, match=field):
        check_follows(head, encode(a_commit(head, **changes)))


def test_a_commit_of_another_stream_is_named_as_such() -> None:
    with pytest.raises(WrongStream, match=r"table\.t2 found in table\.t1"):
        check_follows(start_of(STREAM), encode(a_commit(start_of("table.t2"))))


def test_the_first_commit_names_its_stream() -> None:
    assert decode(CHAIN[0]).previous == hashlib.sha256(b"table.t1").hexdigest()
    assert decode(CHAIN[1]).previous == hashlib.sha256(CHAIN[0]).hexdigest() == hash_of(CHAIN[0])


def test_a_newer_schema_is_told_from_rubbish() -> None:
    with pytest.raises(NewerSchema) as caught:
        decode(b'{"v":2,"stream":"table.t1","what":"ever"}')

    assert caught.value.found == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"events": ()},
        {"command_id": ""},
        {"command_id": "x" * 129},
        {"actor": "a\nb"},
        {"salt": "00"},
        {"stream": "table.a.b"},
        {"stream": "table.a\n"},
        {"stream": "table.>"},
        {"number": 2**53},
    ],
)
def test_what_could_not_be_read_back_is_never_written(changes: dict[str, object]) -> None:
    with pytest.raises(UnreadableCommit):
        encode(a_commit(start_of(STREAM), **changes))


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(UnreadableCommit, match="more"):
        decode(CHAIN[0][:-1] + b',"more":1}')


def test_an_event_tells_its_kind_and_seat() -> None:
    assert event_head(EVENT) == ("stock_drawn", 2)
    assert event_head(msgspec.Raw(b'{"type":"game_ended"}')) == ("game_ended", None)
    with pytest.raises(UnreadableCommit):
        event_head(msgspec.Raw(b'{"seat":2}'))
