"""What a rule set may say: every key's type and range, and what must agree (rules.md section 13).

Two passes. The first holds each value against its own key's type and range; the second
holds values against one another (decks against players, deals against the pack), as far
as the first found them sound. Faults are collected, so that whoever writes a house
variant sees all of them at once. Rounds and list entries are counted from 1 in their
keys: ``rounds[3].deal`` is the deal of round 3.

What comes out is complete and in range; the engine checks nothing of it again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Final, get_args

import msgspec

from mersey.rules.cards import DECKS_MAX, FACES, JOKER, RANKS
from mersey.rules.refusals import RuleSetError
from mersey.rules.ruleset import (
    PLAYERS_MAX,
    PLAYERS_MIN,
    RUN_CARDS_MAX,
    Contract,
    DeckRange,
    FreedJoker,
    MeldKind,
    OpenSize,
    Pack,
    RuleSet,
    Swap,
)

TITLE_CHARS_MAX: Final = 80
ROUNDS_MAX: Final = 100
JOKERS_MAX: Final = 999
NUMBER_MAX: Final = 1_000_000
"""No size, limit or score is above this: far beyond any game, and safe to add up."""

_ID: Final = re.compile(r"[a-z0-9-]{1,40}")
_PLAIN_KEY: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")
_SHOWN_CHARS: Final = 40
_SHOWN_KINDS: Final = {
    float: "a number with a fraction",
    list: "a list",
    dict: "a table",
    type(None): "null",
}


def checked(data: object, source: str) -> RuleSet:
    """Return ``data``, a decoded file, as a rule set; ``source`` names it in errors.

    Raises:
        RuleSetError: ``faults`` names every key at fault and what is wrong with it.
    """
    faults = _Faults()
    _RULE_SET(data, "", faults)
    if isinstance(data, dict):
        rounds = tuple(_sound_rounds(data, faults))
        _check_pack(data, faults)
        _check_deals(data, rounds, faults)
        _check_rounds(data, rounds, faults)
        _check_swap(data, faults)
    if faults.found:
        raise RuleSetError(source, faults.lines())
    return msgspec.convert(data, RuleSet)


class _Faults:
    """The faults found so far, in the order found."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str]] = []

    def add(self, key: str, what: str) -> None:
        self.found.append((key, what))

    def spoil(self, *keys: str) -> bool:
        """Return whether the value at one of ``keys`` is at fault, in whole or in part."""
        return any(_within(at, key) or _within(key, at) for at, _ in self.found for key in keys)

    def lines(self) -> list[str]:
        return [f"{key}: {what}" if key else what for key, what in self.found]


def _within(key: str, other: str) -> bool:
    return key == other or key.startswith((f"{other}.", f"{other}["))


# The first pass: each key by itself.

_Check = Callable[[object, str, _Faults], None]
"""Adds to the faults what is wrong with the value at a key."""


def _whole(low: int, high: int) -> _Check:
    def check(value: object, key: str, faults: _Faults) -> None:
        if type(value) is not int:  # a bool is an int to isinstance
            faults.add(key, f"must be a whole number, not {_shown(value)}")
        elif not low <= value <= high:
            faults.add(key, f"must be {low} to {high}, not {_shown(value)}")

    return check


def _flag(value: object, key: str, faults: _Faults) -> None:
    if not isinstance(value, bool):
        faults.add(key, f"must be true or false, not {_shown(value)}")


def _one_of(*allowed: str | int) -> _Check:
    listed = " or ".join(map(_shown, allowed))

    def check(value: object, key: str, faults: _Faults) -> None:
        if type(value) not in (str, int) or value not in allowed:
            faults.add(key, f"must be {listed}, not {_shown(value)}")

    return check


def _id(value: object, key: str, faults: _Faults) -> None:
    if not isinstance(value, str) or not _ID.fullmatch(value):
        faults.add(key, f"must be 1 to 40 characters of a-z, 0-9 and -, not {_shown(value)}")


def _title(value: object, key: str, faults: _Faults) -> None:
    if not isinstance(value, str) or not 1 <= len(value) <= TITLE_CHARS_MAX or not value.isprintable():
        faults.add(key, f"must be 1 to {TITLE_CHARS_MAX} printable characters, not {_shown(value)}")


def _players(value: object, key: str, faults: _Faults) -> None:
    if not isinstance(value, list) or len(value) != 2 or any(type(number) is not int for number in value):
        faults.add(key, f"must be two whole numbers, the fewest and the most, not {_shown(value)}")
    elif not PLAYERS_MIN <= value[0] <= value[1] <= PLAYERS_MAX:
        listed = ", ".join(map(_shown, value))
        faults.add(
            key, f"must be the fewest and the most within {PLAYERS_MIN} to {PLAYERS_MAX}, not [{listed}]"
        )


def _list(item: _Check, low: int, high: int) -> _Check:
    def check(value: object, key: str, faults: _Faults) -> None:
        if not isinstance(value, list):
            faults.add(key, f"must be a list, not {_shown(value)}")
        elif not low <= len(value) <= high:
            faults.add(key, f"must have {low} to {high} entries, not {len(value)}")
        else:
            for place, entry in enumerate(value, 1):
                item(entry, f"{key}[{place}]", faults)

    return check


def _swap_from(value: object, key: str, faults: _Faults) -> None:
    kinds = get_args(MeldKind)
    _list(_one_of(*kinds), 0, 100)(value, key, faults)
    for kind in kinds:
        if isinstance(value, list) and value.count(kind) > 1:
            faults.add(key, f"names {_shown(kind)} twice")


def _table(keys: Mapping[str, _Check], *optional: str) -> _Check:
    def check(value: object, key: str, faults: _Faults) -> None:
        if not isinstance(value, dict):
            faults.add(key, f"must be a table, not {_shown(value)}")
            return
        dot = f"{key}." if key else ""
        for name, check_value in keys.items():
            if name in value:
                check_value(value[name], dot + name, faults)
            elif name not in optional:
                faults.add(dot + name, "is missing")
        for name in value:
            if name not in keys:
                near = get_close_matches(name[:_SHOWN_CHARS], keys, 1)
                faults.add(dot + _key(name), "is not a known key" + (f"; meant {near[0]}?" if near else ""))

    return check


def _key(name: str) -> str:
    return name if _PLAIN_KEY.fullmatch(name) else _shown(name)


def _shown(value: object) -> str:
    """Return ``value`` as a file would write it, short and on one line whatever it is."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value) if value.bit_length() < 64 else "a number that large"
    if isinstance(value, str):
        long = len(value) > _SHOWN_CHARS
        return f"a text of {len(value)} characters" if long else f'"{repr(value)[1:-1]}"'
    return _SHOWN_KINDS.get(type(value), "a date or time")


_LIMIT: Final = _whole(0, NUMBER_MAX)
_SIZE: Final = _whole(1, NUMBER_MAX)

_PACK: Final = _table(
    {
        "decks": _list(_table({"players": _players, "count": _whole(1, DECKS_MAX)}), 1, PLAYERS_MAX),
        "jokers": _whole(0, JOKERS_MAX),
        "jokers_per_deck": _whole(0, JOKERS_MAX),
    },
    "jokers",
    "jokers_per_deck",
)
_ROUND: Final = _table({"sets": _LIMIT, "runs": _LIMIT, "deal": _SIZE, "whole_hand": _flag})
_MELDS: Final = _table(
    {
        "set_size": _SIZE,
        "run_size": _whole(1, RUN_CARDS_MAX),
        "open_size": _one_of(*get_args(OpenSize)),
        "adjacent_runs": _flag,
        "lay_off_on_opening_turn": _flag,
        "min_naturals_per_meld": _LIMIT,
        "max_jokers_per_meld": _LIMIT,
    },
    "max_jokers_per_meld",
)
_SWAP: Final = _table(
    {"swap_from": _swap_from, "freed_joker": _one_of(*get_args(FreedJoker)), "swap_in_opening": _flag}
)
_BUY: Final = _table(
    {
        "discarder_may_buy": _flag,
        "opened_may_buy": _flag,
        "penalty_cards": _LIMIT,
        "chain": _flag,
        "max_buys_per_round": _LIMIT,
    },
    "max_buys_per_round",
)
_RULE_SET: Final = _table(
    {
        "id": _id,
        "title": _title,
        "players": _players,
        "pack": _PACK,
        "rounds": _list(_ROUND, 1, ROUNDS_MAX),
        "melds": _MELDS,
        "swap": _SWAP,
        "buy": _BUY,
        "stock": _table({"max_reshuffles": _LIMIT}),
        "score": _table(
            {"values": _table(dict.fromkeys([*RANKS, JOKER], _LIMIT)), "score_sign": _one_of(1, -1)}
        ),
        "cut": _table({"bonus": _LIMIT, "cut_spread": _LIMIT}),
    },
    "cut",
)


# The second pass: what must agree, where the first found nothing.

_Rounds = Sequence[tuple[int, Contract]]
"""Rounds by number, counted from 1."""


def _check_pack(data: Mapping[str, object], faults: _Faults) -> None:
    """Jokers are counted in one way; every number of players has one number of decks."""
    pack = data.get("pack")
    if not isinstance(pack, dict):
        return
    if "jokers" in pack and "jokers_per_deck" in pack:
        faults.add("pack.jokers", "excludes jokers_per_deck: give one of them")
    if "jokers" not in pack and "jokers_per_deck" not in pack:
        faults.add("pack.jokers", "is missing, and so is jokers_per_deck: give one of them")
    if faults.spoil("players", "pack.decks"):
        return
    decks = msgspec.convert(pack["decks"], tuple[DeckRange, ...])
    ranges = Counter(players for entry in decks for players in _span(entry.players))
    for players in _span(msgspec.convert(data["players"], tuple[int, int])):
        if ranges[players] != 1:
            many = "two entries hold" if ranges[players] else "no entry holds"
            faults.add("pack.decks", f"{many} for {players} players")


def _check_rounds(data: Mapping[str, object], rounds: _Rounds, faults: _Faults) -> None:
    """A round demands something; the whole hand is laid in the last round only, in runs only."""
    listed = data.get("rounds")
    last = len(listed) if isinstance(listed, list) else 0
    for number, contract in rounds:
        key = f"rounds[{number}]"
        if not contract.sets and not contract.runs:
            faults.add(key, "demands neither a set nor a run")
        if contract.whole_hand and number != last:
            faults.add(f"{key}.whole_hand", "may be true in the last round only")
        if contract.whole_hand and (contract.sets or not contract.runs):
            faults.add(f"{key}.whole_hand", "may be true in a round of runs only")


def _check_deals(data: Mapping[str, object], rounds: _Rounds, faults: _Faults) -> None:
    """Every round's hands and upcard come out of the pack, for every number of players."""
    if faults.spoil("players", "pack"):
        return
    pack = msgspec.convert(data["pack"], Pack)
    for number, contract in rounds:
        for players in _span(msgspec.convert(data["players"], tuple[int, int])):
            size = _pack_size(pack, players)
            if players * contract.deal + 1 > size:
                fault = f"deals {players} x {contract.deal} + 1 cards, the pack holds {size}"
                faults.add(f"rounds[{number}].deal", fault)
                break


def _check_swap(data: Mapping[str, object], faults: _Faults) -> None:
    """A swap in an opening needs melds to swap from."""
    if not faults.spoil("swap"):
        swap = msgspec.convert(data["swap"], Swap)
        if swap.swap_in_opening and not swap.swap_from:
            faults.add("swap.swap_in_opening", "needs a swap_from that names a kind of meld")


def _sound_rounds(data: Mapping[str, object], faults: _Faults) -> Iterator[tuple[int, Contract]]:
    """Yield the rounds, counted from 1, in which no fault has been found."""
    rounds = data.get("rounds")
    if isinstance(rounds, list):
        for number, entry in enumerate(rounds, 1):
            if not faults.spoil(f"rounds[{number}]"):
                yield number, msgspec.convert(entry, Contract)


def _pack_size(pack: Pack, players: int) -> int:
    decks = next(entry.count for entry in pack.decks if players in _span(entry.players))
    jokers = (pack.jokers_per_deck or 0) * decks if pack.jokers is None else pack.jokers
    return decks * len(FACES) + jokers


def _span(ends: tuple[int, int]) -> range:
    return range(ends[0], ends[1] + 1)
