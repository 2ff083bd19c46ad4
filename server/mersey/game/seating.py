"""Seating: a table opened, seats taken and left, parts, the start, the close (design sections 4 and 5)."""

from __future__ import annotations

from mersey.game.chance import link_of
from mersey.game.commands import OpenEntropy, OpenTable, TakeSeat
from mersey.game.draft import Draft
from mersey.game.events import (
    EntropyOpened,
    GameStarted,
    LinkOpened,
    SeatLeft,
    SeatTaken,
    TableClosed,
    TableOpened,
)
from mersey.game.refusals import TableCode, TableRefusal
from mersey.game.rounds import start_round
from mersey.game.state import Game
from mersey.rules import deal
from mersey.rules.ruleset import ruleset_hash


def open_table(draft: Draft, actor: str, command: OpenTable) -> None:
    """Open the table; the seal of its links is published before any seat is taken."""
    if draft.game.step != "new":
        raise TableRefusal(TableCode.TABLE_EXISTS)
    rules = command.rules
    fewest, most = rules.players
    if not fewest <= command.seats <= most:
        fact = f"{rules.id} is for {rules.players_said}, not {command.seats}"
        raise TableRefusal(TableCode.PLAYERS_OUT_OF_RANGE, fact)
    links = deal.chain_links(bytes.fromhex(command.link), len(rules.rounds))
    draft.emit(
        TableOpened(
            table=command.table,
            host=actor,
            rules=rules,
            rules_hash=ruleset_hash(rules),
            seats=command.seats,
            deal_id=command.deal_id,
            seal=deal.seal_of(links[0]).hex(),
            link=command.link,
            chance=command.chance,
            spectators=command.spectators,
            archived=command.archived,
        )
    )


def _check_seating(game: Game) -> None:
    if game.step == "new":
        raise TableRefusal(TableCode.NO_SUCH_TABLE)
    if game.step == "closed":
        raise TableRefusal(TableCode.TABLE_CLOSED)
    if game.step != "seating":
        raise TableRefusal(TableCode.GAME_STARTED)


def _seat_at(game: Game, actor: str) -> int:
    seat = game.seat_of(actor)
    if seat is None:
        raise TableRefusal(TableCode.NOT_AT_THE_TABLE)
    return seat


def _check_host(game: Game, actor: str) -> None:
    if actor != game.host:
        raise TableRefusal(TableCode.NOT_THE_HOST)


def take_seat(draft: Draft, actor: str, command: TakeSeat) -> None:
    """Seat the actor on the seat asked for, or the lowest free one."""
    game = draft.game
    _check_seating(game)
    if game.seat_of(actor) is not None:
        raise TableRefusal(TableCode.ALREADY_SEATED)
    seat = command.seat
    if seat is None:
        if None not in game.seats:
            raise TableRefusal(TableCode.TABLE_FULL)
        seat = game.seats.index(None)
    elif not 0 <= seat < len(game.seats):
        raise TableRefusal(TableCode.NO_SUCH_SEAT, f"seats are 0 to {len(game.seats) - 1}, not {seat}")
    elif game.seats[seat] is not None:
        raise TableRefusal(TableCode.SEAT_TAKEN, f"seat {seat}")
    draft.emit(SeatTaken(seat=seat, player=actor, commitment=command.commitment, strategy=command.strategy))


def leave_seat(draft: Draft, actor: str) -> None:
    """Free the actor's seat; a game that has started is not left so."""
    _check_seating(draft.game)
    draft.emit(SeatLeft(seat=_seat_at(draft.game, actor)))


def open_entropy(draft: Draft, actor: str, command: OpenEntropy) -> None:
    """Open the part that the actor committed to (design section 5)."""
    game = draft.game
    _check_seating(game)
    seat = _seat_at(game, actor)
    held = game.seats[seat]
    assert held is not None, "the actor holds the seat"
    if held.commitment is None:
        raise TableRefusal(TableCode.NO_COMMITMENT)
    if held.part is not None:
        raise TableRefusal(TableCode.ENTROPY_OPENED)
    if not deal.check_part(bytes.fromhex(command.part), bytes.fromhex(held.commitment)):
        raise TableRefusal(TableCode.ENTROPY_MISMATCH)
    draft.emit(EntropyOpened(seat=seat, part=command.part))


def start_game(draft: Draft, actor: str) -> None:
    """Start the game: fix the players' parts, draw the dealer, start round 1.

    A part not opened by now is replaced by its commitment, and the record shows it.
    """
    game = draft.game
    _check_seating(game)
    _check_host(game, actor)
    taken = [held for held in game.seats if held is not None]
    if len(taken) < len(game.seats):
        raise TableRefusal(TableCode.SEATS_EMPTY, f"{len(taken)} of {len(game.seats)} are taken")
    parts = tuple(held.part or held.commitment or "" for held in taken)
    entropy = deal.entropy(game.deal_id, [bytes.fromhex(part) for part in parts]).hex()
    dealer = draft.chance.dealer(game, entropy)
    draft.emit(GameStarted(parts=parts, entropy=entropy, link=link_of(game, 0).hex(), dealer=dealer))
    start_round(draft, 1, dealer)


def close(draft: Draft, actor: str) -> None:
    """Close the table and open the current link, so that what was dealt can be checked."""
    game = draft.game
    if game.step == "new":
        raise TableRefusal(TableCode.NO_SUCH_TABLE)
    _check_host(game, actor)
    if game.step in ("closed", "game_over"):
        raise TableRefusal(TableCode.TABLE_CLOSED)
    if len(game.links) <= game.round:
        draft.emit(LinkOpened(round=game.round, link=link_of(game, game.round).hex()))
    draft.emit(TableClosed())
