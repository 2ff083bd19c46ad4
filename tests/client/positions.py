"""Positions for tests: a game in this process, played on until something is so."""

from __future__ import annotations

from collections.abc import Callable

from mersey.client.strategies.turn import Turn
from mersey.game.choices import choices, due
from mersey.game.commands import OpenTable, StartGame, TakeSeat
from mersey.game.decide import decide
from mersey.game.evolve import fold
from mersey.game.state import Game
from mersey.game.view import seat_viewer, view
from mersey.rules.actions import Action
from mersey.rules.ruleset import RuleSet


def seated(rules: RuleSet, seats: int, taken: int, seed: int = 1) -> Game:
    """Return a table of ``seats``, the first ``taken`` of them taken."""
    game = Game()
    link = f"{seed:064x}"
    opening = OpenTable(table="t", rules=rules, seats=seats, link=link, deal_id="d", chance="given")
    game = fold(decide(game, "host", opening), game)
    for seat in range(taken):
        game = fold(decide(game, f"p{seat}", TakeSeat()), game)
    return game


def started(rules: RuleSet, seats: int, seed: int = 1) -> Game:
    """Return a game that has just started."""
    game = seated(rules, seats, seats, seed)
    return fold(decide(game, "host", StartGame()), game)


def turn_of(game: Game, seat: int) -> Turn:
    """Return what a seat is asked."""
    return Turn(view(game, seat_viewer(seat)), choices(game, seat), game.ruleset)


def play(game: Game, seat: int, action: Action) -> Game:
    """Return the game after an action of a seat."""
    return fold(decide(game, f"p{seat}", action), game)


def play_until(game: Game, choose: Callable[[Turn], Action], stop: Callable[[Game], bool]) -> Game:
    """Return the game once ``stop`` says so; the first seat that is due plays what ``choose`` gives."""
    while not stop(game):
        seat = due(game)[0]
        game = play(game, seat, choose(turn_of(game, seat)))
    return game
