"""Record files, ``*.mersey``: one game in one file of plain lines (design section 7).

Line 1 is the header, a JSON object that says what the file is. Then come the commits in order, one a line,
byte for byte as they were logged. The last line is the trailer: their count, the hash of the last one, and
the SHA-256 of all bytes before the trailer. Every line ends with a line feed. Header and trailer have one
spelling (the fields in the order below, no spaces), so that no byte of a file can change unnoticed::

    {"format":"mersey record","version":1,"table":"t1","rules":"contract","seats":4,"opened_at_ms":…}
    {"v":1,"stream":"table.t1","number":1,…}
    {"end":"mersey record","commits":1334,"head":"…","sha256":"…"}
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final, Literal, TypeVar

import msgspec

from mersey.game.events import TableOpened
from mersey.log.commit import CommitError, advance, check_follows, start_of
from mersey.log.table_commit import read_table_commit, stream_of
from mersey.rules.refusals import MerseyError

SUFFIX: Final = ".mersey"

LINE_BYTES_MAX: Final = 8 * 2**20
"""The longest line that is read; a log takes no message of that size."""

FILE_BYTES_MAX: Final = 2**30

Hash = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]


class RecordError(MerseyError):
    """A record file that can't be read or written; the message names file, line and fault."""


class Header(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The first line: what the file is, and which game is in it."""

    format: Literal["mersey record"] = "mersey record"
    version: Literal[1] = 1
    table: str
    rules: str
    """The rule set's id; the rules themselves are in the first commit."""
    seats: int
    opened_at_ms: int


class Trailer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The last line: what must stand before it."""

    end: Literal["mersey record"] = "mersey record"
    commits: int
    head: Hash
    """SHA-256 of the last commit."""
    sha256: Hash
    """SHA-256 of all bytes of the file before this line."""


class Record(msgspec.Struct, frozen=True):
    """What a file holds: its commits, sound or not, and in ``fault`` the first line that is wrong, if any."""

    table: str
    commits: tuple[bytes, ...]
    fault: str | None = None


_encoder: Final = msgspec.json.Encoder()
_headers: Final = msgspec.json.Decoder(Header)
_trailers: Final = msgspec.json.Decoder(Trailer)
LineT = TypeVar("LineT", Header, Trailer)


def record_bytes(commits: Sequence[bytes]) -> bytes:
    """Return the record file of ``commits``: the same game always gives the same bytes.

    Raises:
        RecordError: they are not the commits of one table from its first on, or could not stand in lines.
    """
    if not commits:
        raise RecordError("a record needs the game's commits, and there is none")
    try:
        header = _header_of(commits[0])
        _check_chain(header.table, commits)
    except RecordError as error:
        raise RecordError(f"not a game that can be recorded: {error}") from error
    lines = [_encoder.encode(header), *commits]
    for number, line in enumerate(lines):
        if b"\n" in line or len(line) > LINE_BYTES_MAX:
            raise RecordError(f"commit {number} holds a line break or is too long for a line")
    body = b"".join(line + b"\n" for line in lines)
    trailer = Trailer(
        commits=len(commits), head=sha256(commits[-1]).hexdigest(), sha256=sha256(body).hexdigest()
    )
    return body + _encoder.encode(trailer) + b"\n"


def write_record(path: Path, commits: Sequence[bytes], *, force: bool = False) -> None:
    """Write the record of a game: the whole file appears at once, or nothing does.

    Raises:
        RecordError: the file exists and is not to be replaced (``force``), or can't be written.
    """
    data = record_bytes(commits)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        try:
            with temporary.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            _move(temporary, path, force)
        finally:
            temporary.unlink(missing_ok=True)
    except FileExistsError:
        raise RecordError(f"{path}: exists already: name another file, or say --force") from None
    except OSError as error:
        raise RecordError(f"{path}: can't be written: {error.strerror}") from error


def _move(temporary: Path, path: Path, force: bool) -> None:
    """Give the written file its name; without ``force`` never that of another."""
    if force:
        temporary.replace(path)
        return
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if path.exists():
            raise FileExistsError from None
        temporary.replace(path)


def read_record(path: Path) -> Record:
    """Return what the record file holds, which is whole and unchanged.

    Raises:
        RecordError: it can't be read, is no record, or is damaged; the line at fault is named.
    """
    record = scan_record(path)
    if record.fault is not None:
        raise RecordError(f"{path}: {record.fault}")
    return record


def scan_record(path: Path) -> Record:
    """Return what the file holds, and where it is damaged, the fault.

    Raises:
        RecordError: it can't be read, or is no record at all.
    """
    try:
        with path.open("rb") as file:
            data = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise RecordError(f"{path}: can't be read: {error.strerror}") from error
    except ValueError:  # a NUL byte in the path
        raise RecordError("a NUL byte is in the file's name") from None
    if len(data) > FILE_BYTES_MAX:
        raise RecordError(f"{path}: longer than {FILE_BYTES_MAX} bytes: not a record of a game")
    return _scan(path, data)


def _scan(path: Path, data: bytes) -> Record:
    lines = data.split(b"\n")
    try:
        header = _spelled(_headers, lines[0])
    except RecordError as error:
        raise RecordError(f"{path}: line 1: not a record of a game: {error}") from None
    if lines[-1]:
        return Record(header.table, tuple(lines[1:]), f"line {len(lines)}: cut off: a line feed must end it")
    commits, last = tuple(lines[1:-2]), lines[-2]
    number = len(lines) - 1
    try:
        trailer = _spelled(_trailers, last)
    except RecordError:
        what = f"line {number}: not a trailer: the file was cut off, added to or changed there"
        return Record(header.table, tuple(lines[1:-1]), what)
    fault = _contents_fault(header, commits, trailer, data[: -len(last) - 1])
    return Record(header.table, commits, fault)


def _contents_fault(header: Header, commits: Sequence[bytes], trailer: Trailer, body: bytes) -> str | None:
    """Return the first line that is wrong, in words, or None."""
    number = len(commits) + 2
    if not commits:
        return f"line {number}: no commit stands before the trailer"
    whole = sha256(body).hexdigest() == trailer.sha256
    try:
        if header != _header_of(commits[0]):
            return "line 1: the header does not agree with the first commit"
        if not whole:
            _check_chain(header.table, commits)
    except RecordError as error:
        return str(error)
    if sha256(commits[-1]).hexdigest() != trailer.head:
        return f"line {number - 1}: the trailer names another commit as the last"
    if trailer.commits != len(commits):
        return f"line {number}: the trailer counts {trailer.commits} commits, there are {len(commits)}"
    return None if whole else f"line {number}: its sha256 is not that of the lines before it"


def _header_of(first: bytes) -> Header:
    """Return the header that the first commit of a game asks for."""
    try:
        commit = read_table_commit(first)
    except CommitError as error:
        raise RecordError(f"line 2: {error}") from error
    opened = commit.events[0] if commit.events else None
    if not isinstance(opened, TableOpened):
        raise RecordError("line 2: the first commit opens no table")
    return Header(table=opened.table, rules=opened.rules.id, seats=opened.seats, opened_at_ms=commit.at_ms)


def _check_chain(table: str, commits: Iterable[bytes]) -> None:
    """Raise RecordError, which names the line, unless the commits follow one another."""
    head = start_of(stream_of(table))
    for line, data in enumerate(commits, start=2):
        try:
            head = advance(head, check_follows(head, data), data, 0)
        except CommitError as error:
            raise RecordError(f"line {line}: {error}") from error


def _spelled(decoder: msgspec.json.Decoder[LineT], line: bytes) -> LineT:
    """Return a header or trailer, which must be spelled as this program spells it."""
    if len(line) > LINE_BYTES_MAX:
        raise RecordError("the line is too long")
    try:
        value = decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise RecordError(str(error)) from error
    if _encoder.encode(value) != line:
        raise RecordError("fields in another order or spelling")
    return value
