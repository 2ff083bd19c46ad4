"""A record file is whole and unchanged, or it is refused with the line and what is wrong with it."""

from __future__ import annotations

import json
import os
import tempfile
import threading
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mersey.replay.record_file import (
    RecordError,
    read_record,
    record_bytes,
    scan_record,
    write_record,
)
from mersey.replay.verify import verify_commits
from recorded import recorded_game

GAME = recorded_game("bga", 2)
FILE = record_bytes(GAME)
LINES = FILE.splitlines(keepends=True)
HEADER_BYTES = len(LINES[0])
TRAILER_BYTES = len(LINES[-1])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "game.mersey"


def remade(header: bytes, lines: list[bytes], **fields: object) -> bytes:
    """Return a file whose trailer was made anew for what stands in it."""
    body = b"".join(line + b"\n" for line in (header, *lines))
    trailer = {"end": "mersey record", "commits": len(lines), "head": sha256(lines[-1]).hexdigest()}
    whole = trailer | {"sha256": sha256(body).hexdigest()} | fields
    return body + json.dumps(whole, separators=(",", ":")).encode() + b"\n"


def test_the_exact_bytes_come_back(path: Path) -> None:
    write_record(path, GAME)
    record = read_record(path)
    assert (record.table, record.commits, record.fault) == ("t1", GAME, None)
    assert path.read_bytes() == FILE


def test_a_record_is_plain_lines_a_header_the_commits_and_a_trailer() -> None:
    header, trailer = json.loads(LINES[0]), json.loads(LINES[-1])
    assert tuple(line[:-1] for line in LINES[1:-1]) == GAME
    assert header == {
        "format": "mersey record",
        "version": 1,
        "table": "t1",
        "rules": "bga-quick",
        "seats": 2,
        "opened_at_ms": 1_790_000_000_250,
    }
    assert trailer == {
        "end": "mersey record",
        "commits": len(GAME),
        "head": sha256(GAME[-1]).hexdigest(),
        "sha256": sha256(b"".join(LINES[:-1])).hexdigest(),
    }


positions = st.one_of(
    st.integers(0, len(FILE) - 1),
    st.integers(0, HEADER_BYTES),
    st.integers(len(FILE) - TRAILER_BYTES - 1, len(FILE) - 1),
    st.sampled_from([i for i, byte in enumerate(FILE) if byte == 10]),
)


@given(positions, st.integers(1, 255))
@example(len(FILE) - 1, 1)
@example(0, 32)
@settings(max_examples=300, deadline=None)
def test_any_single_flipped_byte_is_found(position: int, flip: int) -> None:
    flipped = bytearray(FILE)
    flipped[position] ^= flip
    with tempfile.NamedTemporaryFile(suffix=".mersey") as file:
        Path(file.name).write_bytes(flipped)
        with pytest.raises(RecordError, match=r"line \d+: "):
            read_record(Path(file.name))


def test_every_byte_of_header_and_trailer_counts(path: Path) -> None:
    places = [*range(HEADER_BYTES), *range(len(FILE) - TRAILER_BYTES, len(FILE))]
    for place in places:
        path.write_bytes(FILE[:place] + bytes([FILE[place] ^ 1 << place % 8]) + FILE[place + 1 :])
        with pytest.raises(RecordError):
            read_record(path)


@pytest.mark.parametrize("number", [1, 2, 77, len(GAME)])
def test_a_flipped_byte_is_found_at_its_line_or_the_next(path: Path, number: int) -> None:
    lines = list(LINES)
    lines[number] = lines[number].replace(b'"salt":"', b'"salt":"x', 1)
    path.write_bytes(b"".join(lines))
    with pytest.raises(RecordError, match=rf"{path}: line {number + 1}: .*salt"):
        read_record(path)
    lines[number] = LINES[number].replace(b'"command_id":"c', b'"command_id":"d', 1)
    path.write_bytes(b"".join(lines))
    at = min(number + 2, len(GAME) + 1)
    with pytest.raises(RecordError, match=rf"{path}: line {at}: "):
        read_record(path)


def test_a_damaged_record_gives_its_commits_to_the_verification(path: Path) -> None:
    path.write_bytes(FILE.replace(b'"type":"discard"', b'"type":"Discard"', 1))
    record = scan_record(path)
    number = next(n for n, data in enumerate(GAME, 1) if b'"type":"discard"' in data)
    assert record.fault is not None
    fault = verify_commits(record.commits).fault
    assert fault is not None
    assert fault.commit == number


@pytest.mark.parametrize("keep", [1, HEADER_BYTES - 1, HEADER_BYTES, len(FILE) // 2, len(FILE) - 1])
def test_a_record_that_was_cut_off_is_refused(path: Path, keep: int) -> None:
    path.write_bytes(FILE[:keep])
    with pytest.raises(RecordError, match=r"line \d+: "):
        read_record(path)


def test_a_record_without_its_trailer_or_last_commit_is_refused(path: Path) -> None:
    for lines in (LINES[:-1], [*LINES[:-2], LINES[-1]], [LINES[0], LINES[-1]]):
        path.write_bytes(b"".join(lines))
        with pytest.raises(RecordError, match=r"line \d+: "):
            read_record(path)


@pytest.mark.parametrize("more", [b"\n", b"x", b"{}\n", LINES[-1], FILE, b"\0"])
def test_a_record_with_something_after_its_end_is_refused(path: Path, more: bytes) -> None:
    path.write_bytes(FILE + more)
    with pytest.raises(RecordError, match=r"line \d+: "):
        read_record(path)


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"{}\n", b"\x89PNG\r\n\x1a\n", b"x" * 9_000_000, b"[" * 200_000, b"SQLite format 3\0"],
)
def test_what_is_no_record_at_all_says_so(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    with pytest.raises(RecordError, match="line 1: not a record of a game"):
        read_record(path)


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"none\.mersey: can't be read: No such file"):
        read_record(tmp_path / "none.mersey")
    with pytest.raises(RecordError, match="can't be read: Is a directory"):
        read_record(tmp_path)


def test_a_header_that_does_not_agree_with_the_game_is_refused(path: Path) -> None:
    header = LINES[0][:-1].replace(b'"bga-quick"', b'"contract"')
    path.write_bytes(remade(header, list(GAME)))
    with pytest.raises(RecordError, match="line 1: the header does not agree"):
        read_record(path)


def test_a_trailer_with_a_false_count_or_head_is_refused(path: Path) -> None:
    header = LINES[0][:-1]
    last = len(LINES)
    for fields, fault in (
        ({"commits": 3}, f"line {last}: the trailer counts 3 commits"),
        ({"head": "0" * 64}, f"line {last - 1}: the trailer names another commit"),
    ):
        path.write_bytes(remade(header, list(GAME), **fields))
        with pytest.raises(RecordError, match=fault):
            read_record(path)


def test_a_header_or_trailer_in_another_spelling_is_refused(path: Path) -> None:
    path.write_bytes(remade(LINES[0][:-1].replace(b",", b", ", 1), list(GAME)))
    with pytest.raises(RecordError, match=r"line 1: .*another order or spelling"):
        read_record(path)
    path.write_bytes(b"".join([*LINES[:-1], LINES[-1].replace(b",", b", ", 1)]))
    with pytest.raises(RecordError, match=f"line {len(LINES)}: not a trailer"):
        read_record(path)


def test_a_record_of_a_newer_version_is_not_guessed_at(path: Path) -> None:
    path.write_bytes(remade(LINES[0][:-1].replace(b'"version":1', b'"version":2'), list(GAME)))
    with pytest.raises(RecordError, match="version"):
        read_record(path)


def test_a_record_replaces_no_file_unless_told_to(path: Path) -> None:
    path.write_text("mine")
    with pytest.raises(RecordError, match="exists already"):
        write_record(path, GAME)
    assert path.read_text() == "mine"
    write_record(path, GAME, force=True)
    assert path.read_bytes() == FILE
    assert os.listdir(path.parent) == [path.name]


def test_a_reader_never_sees_half_a_record(path: Path) -> None:
    write_record(path, GAME)
    done = threading.Event()

    def replace_it() -> None:
        for _ in range(20):
            write_record(path, GAME, force=True)
        done.set()

    writer = threading.Thread(target=replace_it)
    writer.start()
    while not done.is_set():
        assert path.read_bytes() == FILE
    writer.join()


def test_a_record_that_can_not_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="can't be written: No such file or directory"):
        write_record(tmp_path / "none" / "game.mersey", GAME)
    target = tmp_path / "folder.mersey"
    target.mkdir()
    with pytest.raises(RecordError, match="can't be written"):
        write_record(target, GAME, force=True)
    assert os.listdir(tmp_path) == ["folder.mersey"]


@pytest.mark.parametrize(
    ("commits", "fault"),
    [
        ((), "there is none"),
        (GAME[1:], "opens no table"),
        ((*GAME[:5], *GAME[6:]), "number is 7, expected 6"),
        ((b"{}",), "not a table's commit"),
        ((GAME[0].replace(b",", b",\n", 1),), "line break"),
    ],
)
def test_what_is_no_game_is_not_written(path: Path, commits: tuple[bytes, ...], fault: str) -> None:
    with pytest.raises(RecordError, match=fault):
        write_record(path, commits)
    assert not path.exists()
