"""Shedding: how a seat that has opened, or just can, gets rid of its cards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mersey.client.strategies.turn import Turn
from mersey.game.choices import fitting
from mersey.game.seen import MeldView
from mersey.rules.actions import Action, Discard, LayOff, OpenContract, SwapJoker
from mersey.rules.melds import Named, Placed, TableMeld
from mersey.rules.ruleset import RuleSet


def best_opening(turn: Turn, openings: Sequence[Action]) -> Action:
    """Return the opening that leaves the fewest points which nothing on the table would take."""
    hand = turn.view.hand or ()
    rules = turn.rules

    def left(action: Action) -> float:
        assert isinstance(action, OpenContract), "the forms of an opening are openings"
        rest = _without(hand, [card for meld in action.melds for card in meld.cards])
        laid = [MeldView(0, 0, meld.kind, tuple(meld.cards)) for meld in action.melds]
        table = [*turn.view.melds, *laid]
        return sum(rules.score.values[face[0]] + 10 for face in rest if not _fits(face, table, rules))

    return min(openings, key=left)


def _without(hand: Iterable[str], names: Iterable[str]) -> list[str]:
    faces = [_face(card) for card in hand]
    for name in names:
        face = _face(name)
        if face in faces:
            faces.remove(face)
    return faces


def _face(name: str) -> str:
    return "X" if name[0] == "X" else name[:2]


def takes(turn: Turn, top: str) -> bool:
    """Return whether the top discard is taken: it can be laid off at once."""
    contract = turn.view.contract
    return contract is not None and not contract.whole_hand and fits_the_table(turn, top)


def play(turn: Turn) -> Action:
    """Return a lay-off or a swap that sheds a card, or else the discard that ends the turn."""
    lay_offs = [action for action in turn.choices.actions("lay_off") if isinstance(action, LayOff)]
    naturals = [action for action in lay_offs if action.card[0] != "X"]
    swaps = [action for action in turn.choices.actions("swap_joker") if isinstance(action, SwapJoker)]
    if naturals:
        return naturals[0]
    if swaps:
        return max(swaps, key=lambda swap: _opens_a_way(turn, swap.to.joker, swap.to.meld) if swap.to else 1)
    if lay_offs:
        return max(lay_offs, key=lambda lay: _opens_a_way(turn, lay.card, lay.meld))
    return _discard(turn)


def _opens_a_way(turn: Turn, joker: Named, number: int) -> int:
    """Return how many more cards of the hand fit a meld once ``joker`` lies there."""
    meld = next(meld for meld in turn.view.melds if meld.id == number)
    _, _, meaning = joker.partition("=")
    if meld.kind == "set" or len(meaning) != 2:
        return 0
    low = _place_below(meld.cards[0], meaning)
    cards = (joker, *meld.cards) if low else (*meld.cards, joker)
    longer = MeldView(meld.id, meld.by, meld.kind, cards)
    return sum(_fits(_face(card), [longer], turn.rules) for card in turn.view.hand or () if card[0] != "X")


def _place_below(first: str, face: str) -> bool:
    """Return whether ``face`` is the one right below ``first`` in its run."""
    ranks = "A23456789TJQKA"
    first = first.partition("=")[2] or first
    return ranks[: ranks.rindex(first[0])].endswith(face[0])


def _discard(turn: Turn) -> Action:
    """Discard the dearest card that nothing on the table would take, a joker last."""
    values = turn.rules.score.values

    def keep(card: str) -> tuple[bool, bool, int]:
        return card[0] == "X", fits_the_table(turn, _face(card)), -values[card[0]]

    return Discard(Named(_face(min(turn.view.hand or (), key=keep))))


def fits_the_table(turn: Turn, face: str) -> bool:
    """Return whether a meld on the table would take ``face`` as it now is."""
    return _fits(face, turn.view.melds, turn.rules)


def _fits(face: str, melds: Iterable[MeldView], rules: RuleSet) -> bool:
    return any(fitting(_lying(meld), [Named(face)], rules.melds) for meld in melds)


def _lying(meld: MeldView) -> TableMeld:
    return TableMeld(meld.id, meld.by, meld.kind, tuple(map(Placed, meld.cards)))
