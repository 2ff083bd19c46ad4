"""What a scenario expects, held against the state that play has led to (scenarios.md, "A scenario")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from mersey.game.scenario_file import Expect
from mersey.game.state import Game
from mersey.rules.cards import Card, face_of
from mersey.rules.melds import Named, Placed, TableMeld, seen
from mersey.rules.notation import parse_card_name, parse_cards, parse_meld
from mersey.rules.refusals import NotationError

NO_ROUND_ENDED: Final = "no round that has ended"


def expect_faults(expect: Expect, seats: int) -> list[str]:
    """Return what can't be read in ``expect``, each named by its key."""
    faults = []
    for name, text in expect.hands.items():
        if not (name.isascii() and name.isdigit() and int(name[:4]) < seats):
            faults.append(f"expect.hands.{name[:40]}: seats are 0 to {seats - 1}")
        faults += _unreadable(f"expect.hands.{name}", parse_cards, text)
    for number, text in enumerate(expect.melds or (), 1):
        faults += _unreadable(f"expect.melds[{number}]", parse_meld, text)
    if expect.discard_top:
        faults += _unreadable("expect.discard_top", parse_card_name, expect.discard_top)
    return faults


def _unreadable(key: str, read: Callable[[str], object], text: str) -> list[str]:
    try:
        read(text)
    except NotationError as error:
        return [f"{key}: {error}"]
    return []


def differences(expect: Expect, game: Game) -> list[str]:
    """Return each line of ``expect`` that ``game`` is not, with what it is."""
    found = []
    for name, actual in _ACTUAL.items():
        wanted = getattr(expect, name)
        if wanted is not None:
            found += _differs(name, wanted, actual(game))
    if expect.offered_to is not None:
        found += _differs("offered_to", tuple(sorted(set(expect.offered_to))), _offered_to(game))
    for seat, text in expect.hands.items():
        found += _cards_differ(f"hands.{seat}", text, game.hands[int(seat)])
    if expect.melds is not None:
        found += _melds_differ(expect.melds, game.melds)
    if expect.discard_top is not None:
        found += _cards_differ("discard_top", expect.discard_top, game.pile[-1:])
    return found


def _differs(name: str, wanted: object, actual: object) -> list[str]:
    return [] if wanted == actual else [f"{name}: expected {_shown(wanted)}, is {_shown(actual)}"]


def _shown(value: object) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)


def _listed(cards: Sequence[str]) -> str:
    return " ".join(seen(card) for card in cards)


def _same_cards(wanted: Sequence[Named], actual: Sequence[Card]) -> bool:
    """Return whether the cards are the same in any order; a name with its copy means that copy."""
    names = Counter(map(str, wanted))
    exact = names & Counter(map(str, actual))
    faces = Counter(str(face_of(card)) for card in actual if card not in exact)
    return names - exact == faces


def _cards_differ(name: str, wanted: str, actual: Sequence[Card]) -> list[str]:
    same = _same_cards(parse_cards(wanted), actual)
    return [] if same else [f"{name}: expected {wanted!r}, is {_listed(actual)!r}"]


def _melds_differ(wanted: Sequence[str], melds: Sequence[TableMeld]) -> list[str]:
    found = []
    if len(wanted) != len(melds):
        found.append(f"melds: expected {len(wanted)}, are {len(melds)}")
    for number, (text, meld) in enumerate(zip(wanted, melds, strict=False), 1):
        named = parse_meld(text)
        same = len(named.cards) == len(meld.cards) and all(map(_same_placed, named.cards, meld.cards))
        if named.kind != meld.kind or not same:
            found.append(f"melds[{number}]: expected {text!r}, is '{meld.kind} {_listed(meld.cards)}'")
    return found


def _same_placed(wanted: Named, placed: Placed) -> bool:
    """Return whether a card lies as named: its face or its copy, a joker with what it stands for."""
    card, _, meaning = placed.partition("=")
    name, _, said = wanted.partition("=")
    return said == meaning and name in (card, face_of(Card(card)))


def _winner(game: Game) -> object:
    if not game.results:
        return NO_ROUND_ENDED
    winner = game.results[-1].winner
    return -1 if winner is None else winner


def _offered_to(game: Game) -> tuple[int, ...]:
    answered = game.wanted + game.passed
    return tuple(sorted(seat for seat in game.offer if seat not in answered))


_ACTUAL: Final[dict[str, Callable[[Game], object]]] = {
    "active": lambda game: game.active,
    "step": lambda game: game.step,
    "hand_sizes": lambda game: tuple(map(len, game.hands)),
    "discard_size": lambda game: len(game.pile),
    "stock_size": lambda game: len(game.stock),
    "winner": _winner,
    "round_points": lambda game: game.results[-1].points if game.results else NO_ROUND_ENDED,
    "scores": lambda game: game.totals,
    "places": lambda game: game.places,
    "cut_bonus": lambda game: game.cut_bonus,
    "ended_by": lambda game: game.results[-1].ended_by if game.results else NO_ROUND_ENDED,
}
"""The lines that are compared as they are."""
