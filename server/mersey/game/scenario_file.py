"""The scenario file: its keys, their types, and every fault named by its key (scenarios.md, "A scenario").

The classes have the shape of the file. What a value must agree with (the rule set, the
pack, the notation) is asked where the position is built, in ``scenario_setup``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Final, Literal, TypeVar, get_args, get_origin

import msgspec

from mersey.game.events import EndedBy
from mersey.rules.refusals import MerseyError

_Count = Annotated[int, msgspec.Meta(ge=0, le=10_000)]
_Line = Annotated[str, msgspec.Meta(min_length=1, pattern=r"^[^\x00-\x1f]*$")]
"""A text of one line."""

StructT = TypeVar("StructT", bound=msgspec.Struct)


class ScenarioError(MerseyError):
    """A scenario file that can't be read; ``faults`` names each key and what is wrong with it."""

    def __init__(self, source: str, faults: Sequence[str]) -> None:
        self.source = source
        self.faults = tuple(faults)
        super().__init__(f"{source}: " + "; ".join(self.faults))


class Given(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The position before the first act."""

    active: _Count
    step: Literal["cut", "choose", "play"] = "choose"
    seats: _Count | None = None
    dealer: _Count | None = None
    hands: dict[str, str] = {}
    discard: str | None = None
    stock: str = ""
    rest: Literal["discard"] | _Count | None = None
    melds: tuple[str, ...] = ()
    opened: dict[str, Literal["earlier", "this turn"]] = {}
    scores: tuple[int, ...] | None = None
    discarded_by: _Count | None = None
    first_upcard: bool = False
    reshuffles: _Count = 0
    bought: dict[str, _Count] = {}
    lifted: _Count | None = None
    rebuilt: str | None = None
    go_on: bool = False


class PlayLine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One act, by whom, how often, and whether it is refused."""

    seat: int
    act: _Line
    refused: str | bool | None = None
    times: Annotated[int, msgspec.Meta(ge=1, le=1000)] | None = None


class Expect(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What must hold after the last act; a line left out is not asked."""

    active: int | None = None
    step: Literal["cut", "choose", "offer", "play", "round_over", "game_over"] | None = None
    hands: dict[str, str] = {}
    hand_sizes: tuple[int, ...] | None = None
    melds: tuple[str, ...] | None = None
    discard_top: str | None = None
    discard_size: int | None = None
    stock_size: int | None = None
    winner: int | None = None
    round_points: tuple[int, ...] | None = None
    scores: tuple[int, ...] | None = None
    places: tuple[int, ...] | None = None
    offered_to: tuple[int, ...] | None = None
    cut_bonus: tuple[int, ...] | None = None
    ended_by: EndedBy | None = None


class ScenarioFile(msgspec.Struct, frozen=True, kw_only=True):
    """A scenario file with every value of the right type."""

    name: str
    rules: str
    round: int
    given: Given
    play: tuple[PlayLine, ...]
    expect: Expect


class _Head(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: _Line
    rules: _Line
    round: Annotated[int, msgspec.Meta(ge=1, le=10_000)]
    given: dict[str, object]
    play: tuple[dict[str, object], ...] = ()
    expect: dict[str, object] = {}


def read_scenario(text: str, source: str) -> ScenarioFile:
    """Return the scenario that the TOML ``text`` holds, types checked; ``source`` names it in errors.

    Raises:
        ScenarioError: the text is no TOML, or a key is missing, unknown or of a wrong type.
    """
    try:
        data = tomllib.loads(text)
    except ValueError as error:
        raise ScenarioError(source, [f"not TOML: {error}"]) from None
    except RecursionError:
        raise ScenarioError(source, ["not a scenario: nested too deeply"]) from None
    faults: list[str] = []
    head = _read_table(data, _Head, "", faults)
    given = _read_table(_table_at(data, "given"), Given, "given", faults)
    lines = data.get("play")
    play = [
        _read_table(line, PlayLine, f"play[{at}]", faults)
        for at, line in enumerate(lines if isinstance(lines, list) else [], 1)
        if isinstance(line, dict)
    ]
    expect = _read_table(_table_at(data, "expect"), Expect, "expect", faults)
    if faults or head is None or given is None or expect is None:
        raise ScenarioError(source, faults)
    return ScenarioFile(
        name=head.name,
        rules=head.rules,
        round=head.round,
        given=given,
        play=tuple(line for line in play if line is not None),
        expect=expect,
    )


def _table_at(data: Mapping[str, object], name: str) -> Mapping[str, object]:
    table = data.get(name)
    return table if isinstance(table, dict) else {}


def _read_table(
    table: Mapping[str, object], kind: type[StructT], at: str, faults: list[str]
) -> StructT | None:
    """Return ``table`` as ``kind``; where it can't be, add each fault by its key and return None."""
    before = len(faults)
    dot = f"{at}." if at else ""
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    for name, field in fields.items():
        if name in table:
            _check_value(table[name], field.type, dot + name, faults)
        elif field.required:
            faults.append(f"{dot}{name} is missing")
    for name in table:
        if name not in fields:
            near = get_close_matches(name[:40], fields, 1)
            hint = f"; meant {near[0]}?" if near else ""
            faults.append(f"{dot}{name[:40]!r} is not a known key{hint}")
    return msgspec.convert(table, kind) if len(faults) == before else None


_ENTRY: Final = 1
"""Where the type of a table's entries stands among a dict type's arguments."""


def _check_value(value: object, kind: object, key: str, faults: list[str]) -> None:
    """Add a fault unless ``value`` is a ``kind``; of a table each entry is held against its own key."""
    if get_origin(kind) is dict and isinstance(value, dict):
        for name, entry in value.items():
            _check_value(entry, get_args(kind)[_ENTRY], f"{key}.{name[:40]}", faults)
        return
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        what, _, path = str(error).partition(" - at `$")
        faults.append(f"{key}{path.removesuffix('`')}: {what[:1].lower()}{what[1:]}")
