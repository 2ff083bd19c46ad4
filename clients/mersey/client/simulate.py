"""Whole games of strategies in this process, each seat through its view and its choices alone.

There is no server and no clock: what a table's log would hold is played on ``decide``
and ``fold``. The same arguments give the same game.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from mersey.client.strategies.turn import Draw, Strategy, Turn, due_now
from mersey.game.choices import Choices, choices, due
from mersey.game.commands import Command, OpenTable, StartGame, TakeSeat
from mersey.game.decide import decide
from mersey.game.events import Event
from mersey.game.evolve import fold
from mersey.game.state import Game
from mersey.game.view import seat_viewer, view
from mersey.rules.actions import Action, Buy, Discard
from mersey.rules.ruleset import RuleSet

TABLE: Final = "simulated"
HOST: Final = "host"


class RoundPlayed(NamedTuple):
    """How one round of a simulated game went."""

    round: int
    sets: int
    runs: int
    whole_hand: bool
    winner: int | None
    turns: int
    buys: int
    missed: int
    """Turns in which a seat that had not opened held an opening and discarded instead."""
    points: tuple[int, ...]


class Played(NamedTuple):
    """A simulated game: every command with its events, and its rounds."""

    game: Game
    commands: tuple[tuple[str, Command, tuple[Event, ...]], ...]
    rounds: tuple[RoundPlayed, ...]
    decisions: int

    @property
    def events(self) -> tuple[Event, ...]:
        """Every event of the game, in order."""
        return tuple(event for _, _, events in self.commands for event in events)


class _Table:
    """A table that is played here: every command goes through ``decide``."""

    def __init__(self) -> None:
        self.game = Game()
        self.commands: list[tuple[str, Command, tuple[Event, ...]]] = []

    def do(self, actor: str, command: Command) -> None:
        events = decide(self.game, actor, command)
        self.commands.append((actor, command, events))
        self.game = fold(events, self.game)


def simulate_game(rules: RuleSet, seats: int, strategies: Sequence[Strategy], seed: str) -> Played:
    """Return a whole game of ``seats`` players; seat n plays the strategy n, the first again after the last.

    ``seed`` decides the deal and every draw of a strategy.
    """
    table = _Table()
    link = sha256(b"mersey simulated " + seed.encode()).hexdigest()
    table.do(
        HOST,
        OpenTable(table=TABLE, rules=rules, seats=seats, link=link, deal_id=f"given {seed}", chance="given"),
    )
    seated = [strategies[seat % len(strategies)] for seat in range(seats)]
    for seat, strategy in enumerate(seated):
        table.do(f"bot {seat}", TakeSeat(strategy=strategy.name))
    table.do(HOST, StartGame())
    rounds: list[RoundPlayed] = []
    count = _Count()
    while table.game.step != "game_over":
        _play_one(table, rules, seated, seed, count)
        if len(table.game.results) > len(rounds):
            rounds.append(_round_played(table.game, count))
            count = _Count(count.decisions)
    return Played(table.game, tuple(table.commands), tuple(rounds), count.decisions)


class _Count:
    """What is counted while a round goes on."""

    def __init__(self, decisions: int = 0) -> None:
        self.decisions = decisions
        self.buys = 0
        self.missed = 0


def _play_one(table: _Table, rules: RuleSet, seated: Sequence[Strategy], seed: str, count: _Count) -> None:
    game = table.game
    for seat in due(game):
        seen = view(game, seat_viewer(seat))
        if due_now(seen):
            can = choices(game, seat)
            action = seated[seat].choose(Turn(seen, can, rules), Draw(seed, seen))
            _note(action, can, count)
            held = game.seats[seat]
            assert held is not None, "every seat is taken in a running game"
            table.do(held.player, action)
            return
    raise AssertionError("one seat is always due")


def _note(action: Action, can: Choices, count: _Count) -> None:
    count.decisions += 1
    count.buys += isinstance(action, Buy)
    count.missed += isinstance(action, Discard) and bool(can.actions("open_contract"))


def _round_played(game: Game, count: _Count) -> RoundPlayed:
    result = game.results[-1]
    contract = game.ruleset.rounds[result.round - 1]
    return RoundPlayed(
        result.round,
        contract.sets,
        contract.runs,
        contract.whole_hand,
        result.winner,
        game.turn,
        count.buys,
        count.missed,
        result.points,
    )
