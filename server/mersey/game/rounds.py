"""Rounds: how one starts, is dealt and ends, and how a game does (rules.md sections 3 and 9)."""

from __future__ import annotations

from mersey.game.chance import link_of
from mersey.game.draft import Draft
from mersey.game.events import (
    EndedBy,
    GameEnded,
    HandsDealt,
    LinkOpened,
    PackCut,
    PackShuffled,
    RoundEnded,
    RoundStarted,
)
from mersey.rules import deal
from mersey.rules.scoring import hand_points, places


def start_round(draft: Draft, number: int, dealer: int) -> None:
    """Start round ``number``: shuffle the whole pack, and deal where nobody cuts."""
    draft.emit(RoundStarted(round=number, attempt=1, dealer=dealer))
    draft.emit(PackShuffled(pack=draft.chance.shuffled(draft.game)))
    if draft.game.ruleset.cut is None:
        deal_hands(draft)


def cut_pack(draft: Draft, aim: int) -> None:
    """Lift a packet, count the bonus, deal from what lay under it (section 3)."""
    game = draft.game
    cut = game.ruleset.cut
    assert cut is not None, "the gate lets nobody cut without a cut"
    packet = draft.chance.packet(game, aim)
    exact = packet == len(game.seats) * game.contract.deal + 1
    draft.emit(PackCut(seat=game.cutter, aim=aim, packet=packet, bonus=cut.bonus if exact else 0))
    deal_hands(draft)


def deal_hands(draft: Draft) -> None:
    """Deal from the top of the pack, turn up the next card, leave the rest as stock."""
    game = draft.game
    dealt = deal.deal(game.pack, len(game.seats), game.dealer, game.contract.deal)
    draft.emit(HandsDealt(hands=dealt.hands, upcard=dealt.upcard, stock=dealt.stock))


def end_round(draft: Draft, ended_by: EndedBy, winner: int | None) -> None:
    """End the round: count the hands, open its link; after the last round end the game."""
    game = draft.game
    points = tuple(hand_points(hand, game.ruleset.score) for hand in game.hands)
    totals = tuple(total + more for total, more in zip(game.totals, points, strict=True))
    draft.emit(
        RoundEnded(
            round=game.round,
            ended_by=ended_by,
            winner=winner,
            hands=game.hands,
            points=points,
            totals=totals,
        )
    )
    draft.emit(LinkOpened(round=game.round, link=link_of(game, game.round).hex()))
    if game.round == len(game.ruleset.rounds):
        draft.emit(GameEnded(totals=totals, places=places(totals)))
