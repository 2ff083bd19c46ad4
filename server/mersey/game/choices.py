"""Choices: what a seat may do now, with every legal form, and why not what is missing (design section 4).

One function for each kind of action lists its forms; ``choices`` runs them all, and
``pick`` runs only as many as it takes to find one legal action. Cards are named by
their faces: two copies make one form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from mersey.game.gates import check_gate, check_not_opened, check_opened
from mersey.game.refusals import TableRefusal
from mersey.game.state import Game
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
from mersey.rules.cards import JOKER, SUITS, Card, face_of, in_pack_order
from mersey.rules.melds import (
    Named,
    Placed,
    TableMeld,
    card_of,
    check_joker_limit,
    count_jokers,
    run_ends,
    seen,
    stands_for,
    swapped,
)
from mersey.rules.openings import Opening, TableJoker, find_opening, may_open, openings
from mersey.rules.refusals import Code, Refusal
from mersey.rules.ruleset import RUN_CARDS_MAX, Melds

OPENINGS_SHOWN: Final = 8
"""How many openings are listed, the best first; ``more`` says that others exist."""


class Choice(msgspec.Struct, frozen=True):
    """A legal kind of action and its forms; ``more`` where not every form is listed."""

    kind: str
    actions: tuple[Action, ...]
    more: bool = False


class Choices(msgspec.Struct, frozen=True):
    """What a seat may do at a version: the legal kinds, and for each missing kind the code that says why."""

    version: int
    seat: int
    legal: tuple[Choice, ...]
    missing: dict[str, str]

    def actions(self, kind: str) -> tuple[Action, ...]:
        """Return the listed forms of ``kind``, none where it is missing."""
        return next((choice.actions for choice in self.legal if choice.kind == kind), ())


def due(game: Game) -> tuple[int, ...]:
    """Return the seats that the game waits for."""
    match game.step:
        case "cut":
            return (game.cutter,)
        case "choose" | "play":
            return (game.active,)
        case "offer":
            return tuple(s for s in game.offer if s not in game.wanted and s not in game.passed)
        case "round_over":
            return tuple(seat for seat in range(len(game.seats)) if seat not in game.ready)
        case _:
            return ()


def choices(game: Game, seat: int) -> Choices:
    """Return everything that ``seat`` may do now, and why it may not do the rest."""
    legal = []
    missing: dict[str, str] = {}
    for kind in ACTIONS:
        try:
            actions, more = _listed(game, seat, kind)
        except (Refusal, TableRefusal) as refusal:
            missing[KIND_OF[kind]] = refusal.code.value
        else:
            legal.append(Choice(KIND_OF[kind], actions, more))
    return Choices(game.version, seat, tuple(legal), missing)


def pick(game: Game, seat: int, choose: Callable[[int], int]) -> Action:
    """Return one legal action of ``seat``, which must be due.

    Every legal kind is equally likely, then every form of it that is looked at;
    ``choose(n)`` gives a number from 0 to n - 1.
    """
    kinds = list(_PICKED[game.step])
    while kinds:
        kind = kinds.pop(choose(len(kinds)))
        try:
            check_gate(game, seat, kind)
            if kind is OpenContract:
                return _any_opening(game, seat)
            forms = _FORMS[kind](game, seat)
        except Refusal:
            continue
        return forms[choose(len(forms))]
    raise AssertionError("a seat that is due has a legal action")


_PICKED: Final[dict[str, tuple[type[Action], ...]]] = {
    "cut": (Cut,),
    "choose": (TakeDiscard, ChooseStock),
    "offer": (Buy, Pass),
    "play": (OpenContract, LayOff, SwapJoker, Discard),
    "round_over": (Ready,),
}


def _listed(game: Game, seat: int, kind: type[Action]) -> tuple[tuple[Action, ...], bool]:
    check_gate(game, seat, kind)
    if kind is OpenContract:
        return _openings(game, seat)
    return tuple(_FORMS[kind](game, seat)), False


def _cuts(game: Game, seat: int) -> list[Action]:
    return [Cut(aim) for aim in range(1, len(game.pack))]


def _hand_faces(hand: tuple[Card, ...]) -> list[Named]:
    """Return the distinct faces of a hand in pack order."""
    return [Named(face) for face in dict.fromkeys(map(face_of, in_pack_order(hand)))]


def _discards(game: Game, seat: int) -> list[Action]:
    return [Discard(face) for face in _hand_faces(game.hands[seat])]


def _lay_offs(game: Game, seat: int) -> list[Action]:
    check_opened(game, seat)
    if not game.melds:
        raise Refusal(Code.NO_SUCH_MELD)
    hand = game.hands[seat]
    faces = _hand_faces(hand)
    melds = game.ruleset.melds
    forms: list[Action] = [
        LayOff(named, meld.id) for meld in game.melds for named in fitting(meld, faces, melds)
    ]
    if not forms:
        raise Refusal(Code.DOES_NOT_FIT)
    if len(hand) == 1:
        raise Refusal(Code.MUST_KEEP_DISCARD)
    return forms


def fitting(meld: TableMeld, faces: list[Named], melds: Melds) -> list[Named]:
    """Return which of ``faces`` can be laid off on ``meld``, jokers named for what they would be."""
    wanted = _wanted(meld)
    found = [face for face in faces if face in wanted]
    if Named(JOKER) in faces and wanted and _takes_joker(meld, melds):
        if meld.kind == "set":
            found.append(Named(f"X={stands_for(meld.cards[0])[0]}"))
        else:
            found.extend(Named(f"X={face}") for face in wanted)
    return found


def _wanted(meld: TableMeld) -> list[Named]:
    """Return the natural faces that ``meld`` takes next."""
    first = stands_for(meld.cards[0])
    if meld.kind == "set":
        return [Named(first[0] + suit) for suit in SUITS]
    if len(meld.cards) >= RUN_CARDS_MAX:
        return []
    return [Named(rank + first[1]) for rank in run_ends(meld.cards)]


def _takes_joker(meld: TableMeld, melds: Melds) -> bool:
    if melds.max_jokers_per_meld is None and not melds.min_naturals_per_meld:
        return True
    try:
        check_joker_limit((*meld.cards, Placed("X")), melds)
    except Refusal:
        return False
    return True


def _swaps(game: Game, seat: int) -> list[Action]:
    check_opened(game, seat)
    hand = game.hands[seat]
    held = _hand_faces(hand)
    found = [
        (meld, index, face) for meld in swappable(game) for index, face in _replaceable(meld) if face in held
    ]
    if not found:
        raise Refusal(_why_no_swap(game))
    if game.ruleset.swap.freed_joker == "hand":
        return [SwapJoker(face, meld.id) for meld, _, face in found]
    forms: list[Action] = [
        SwapJoker(face, meld.id, to)
        for meld, index, face in found
        for to in _destinations(game, meld, index, face)
    ]
    if not forms:
        raise Refusal(Code.JOKER_DESTINATION_INVALID)
    if len(hand) == 1:
        raise Refusal(Code.MUST_KEEP_DISCARD)
    return forms


def swappable(game: Game) -> list[TableMeld]:
    """Return the melds that hold a joker which the rules let a natural card replace."""
    kinds = game.ruleset.swap.swap_from
    return [meld for meld in game.melds if meld.kind in kinds and count_jokers(meld.cards)]


def _why_no_swap(game: Game) -> Code:
    if swappable(game):
        return Code.NOT_THE_REPRESENTED_CARD
    if any(count_jokers(meld.cards) for meld in game.melds):
        return Code.JOKER_FIXED
    return Code.NO_SUCH_JOKER


def _replaceable(meld: TableMeld) -> Iterator[tuple[int, Named]]:
    """Return for each joker that can be freed its index and the faces that free it."""
    done: set[str] = set()
    for index, placed in enumerate(meld.cards):
        meaning = stands_for(placed)
        if placed[0] == "X" and meaning not in done:
            done.add(meaning)
            faces = [meaning] if meld.kind == "run" else [meaning + suit for suit in SUITS]
            yield from ((index, Named(face)) for face in faces)


def _destinations(game: Game, source: TableMeld, index: int, face: Named) -> list[Destination]:
    """Return every place that the joker freed from ``source`` may go to."""
    rules = game.ruleset
    found = []
    for meld in game.melds:
        if meld.id == source.id:
            if rules.swap.freed_joker == "other_meld":
                continue
            meld = _after_swap(source, index, face)
        found += [Destination(named, meld.id) for named in fitting(meld, [Named(JOKER)], rules.melds)]
    return found


def _after_swap(meld: TableMeld, index: int, face: Named) -> TableMeld:
    natural = swapped(meld, index, Card(face))
    rest = meld.cards[:index] + meld.cards[index + 1 :]
    cards = (*rest[: natural.at], natural.placed, *rest[natural.at :])
    return TableMeld(meld.id, meld.by, meld.kind, cards)


def table_jokers(game: Game) -> list[TableJoker]:
    """Return the jokers of the table that an opening may free (section 7)."""
    if not game.ruleset.swap.swap_in_opening or game.contract.whole_hand:
        return []
    found = []
    for meld in swappable(game):
        for index in dict.fromkeys(index for index, _ in _replaceable(meld)):
            faces = tuple(face_of(Card(face)) for at, face in _replaceable(meld) if at == index)
            found.append(TableJoker(meld.id, card_of(meld.cards[index]), faces))
    return found


def _openings(game: Game, seat: int) -> tuple[tuple[Action, ...], bool]:
    check_not_opened(game, seat)
    rules = game.ruleset
    found, more = openings(
        game.hands[seat],
        game.contract,
        rules.melds,
        table_jokers=table_jokers(game),
        limit=OPENINGS_SHOWN,
        values=rules.score.values,
    )
    if not found:
        raise Refusal(_why_no_opening(game))
    return tuple(as_action(opening) for opening in found), more


def _any_opening(game: Game, seat: int) -> Action:
    check_not_opened(game, seat)
    hand = game.hands[seat]
    jokers = table_jokers(game)
    melds = game.ruleset.melds
    if may_open(hand, game.contract, melds, table_jokers=jokers):
        opening = find_opening(hand, game.contract, melds, table_jokers=jokers)
        if opening is not None:
            return as_action(opening)
    raise Refusal(_why_no_opening(game))


def _why_no_opening(game: Game) -> Code:
    return Code.MUST_USE_WHOLE_HAND if game.contract.whole_hand else Code.CONTRACT_MISMATCH


def as_action(opening: Opening) -> OpenContract:
    """Return the command that lays ``opening``, its cards named by face and its jokers by what they are."""
    melds = tuple(
        NamedMeld(meld.kind, tuple(Named(seen(placed)) for placed in meld.cards)) for meld in opening.melds
    )
    swap = opening.swap
    return OpenContract(melds, () if swap is None else (OpeningSwap(Named(swap[0][:2]), swap[1]),))


_FORMS: Final[dict[type[Action], Callable[[Game, int], list[Action]]]] = {
    Cut: _cuts,
    TakeDiscard: lambda game, seat: [TakeDiscard()],
    ChooseStock: lambda game, seat: [ChooseStock()],
    Buy: lambda game, seat: [Buy()],
    Pass: lambda game, seat: [Pass(), Pass(standing=True)],
    LayOff: _lay_offs,
    SwapJoker: _swaps,
    Discard: _discards,
    Ready: lambda game, seat: [Ready()],
}
