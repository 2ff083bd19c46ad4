"""The bench of the core: speeds of fold, play, choices, openings and verify, in one run on recorded games.

A speed alone says little about another machine, so the fold is set against plain
decoding of the same bytes in the same run, garbage collection off for both. Each
figure is the best of a few rounds: what the machine can do, not what else it did.
"""

from __future__ import annotations

import gc
import random
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Final

import msgspec

from mersey.game.choices import choices, due, pick
from mersey.game.commands import OpenTable, StartGame, TakeSeat
from mersey.game.decide import decide
from mersey.game.evolve import fold
from mersey.game.state import Game
from mersey.log.table_commit import fold_commits, read_table_commit
from mersey.replay.verify import verify_commits
from mersey.rules.cards import Card
from mersey.rules.openings import find_opening
from mersey.rules.ruleset import RuleSet

ROUNDS: Final = 5
"""How often each figure is taken."""

RANDOM_ACTIONS: Final = 20_000
WORST_HANDS: Final = 300
WORST_CARDS: Final = 25
WORST_JOKERS: Final = 3


class Figure(msgspec.Struct, frozen=True):
    """One measured figure; ``least`` or ``most`` is what it should reach, None where nothing is asked."""

    name: str
    value: float
    unit: str
    least: float | None = None
    most: float | None = None

    @property
    def reached(self) -> bool:
        """Whether the figure is what it should be."""
        above = self.least is None or self.value >= self.least
        return above and (self.most is None or self.value <= self.most)

    def line(self) -> str:
        """Return the figure in one line, with what it should reach."""
        digits = 0 if self.value >= 1000 else 3
        asked = ""
        if self.least is not None:
            asked = f"at least {self.least:,.2f}".removesuffix(".00")
        elif self.most is not None:
            asked = f"at most {self.most:,.0f}"
        mark = f"  ({asked}: {'reached' if self.reached else 'short'})" if asked else ""
        return f"{self.name:<62} {self.value:>12,.{digits}f} {self.unit}{mark}"


def bench_core(games: Sequence[Sequence[bytes]]) -> Iterator[Figure]:
    """Yield the figures, measured on ``games``: for each its commits, of finished games."""
    yield from _fold_figures(games)
    yield from _play_figures(_opened(games[0]).cause)
    states = [state for game in games for state in _settled(game)]
    yield _choices_figure(states)
    yield from _openings_figures(states)
    yield _verify_figure(games)


@contextmanager
def _without_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _seconds(work: Callable[[], object]) -> float:
    """Return the best time of ``work`` over a few rounds, garbage collection off."""
    best = float("inf")
    for _ in range(ROUNDS):
        with _without_collection():
            start = perf_counter()
            work()
            best = min(best, perf_counter() - start)
    return best


def _opened(commits: Sequence[bytes]) -> _First:
    return msgspec.json.decode(commits[0], type=_First)


class _First(msgspec.Struct):
    cause: OpenTable


def _fold_figures(games: Sequence[Sequence[bytes]]) -> Iterator[Figure]:
    events = sum(len(read_table_commit(data).events) for game in games for data in game)
    decode_s = _seconds(lambda: [read_table_commit(data) for game in games for data in game])
    fold_s = _seconds(lambda: [fold_commits(game) for game in games])
    yield Figure("plain decoding of stored commits", events / decode_s, "events/s")
    yield Figure("fold from stored commits", events / fold_s, "events/s", least=250_000)
    yield Figure("fold against plain decoding", decode_s / fold_s, "ratio", least=1 / 3)


def _play_figures(table: OpenTable) -> Iterator[Figure]:
    actions_s = RANDOM_ACTIONS / _seconds(lambda: _play_by_chance(table))
    yield Figure("random play: pick, decide, fold", actions_s, "actions/s", least=30_000)


def _play_by_chance(table: OpenTable) -> None:
    chance = random.Random(table.link)
    between = chance.random
    played = 0

    def choose(n: int) -> int:
        return int(between() * n)

    while played < RANDOM_ACTIONS:
        game = _started(table, chance.randbytes(32).hex())
        while played < RANDOM_ACTIONS and (seats := due(game)):
            seat = seats[choose(len(seats))]
            held = game.seats[seat]
            assert held is not None, "every seat is taken in a running game"
            game = fold(decide(game, held.player, pick(game, seat, choose)), game)
            played += 1


def _started(table: OpenTable, link: str) -> Game:
    game = fold(decide(Game(), "host", msgspec.structs.replace(table, link=link)))
    for seat in range(table.seats):
        game = fold(decide(game, f"p{seat}", TakeSeat(seat)), game)
    return fold(decide(game, "host", StartGame()), game)


def _settled(commits: Sequence[bytes]) -> Iterator[Game]:
    """Yield the states of a game in which somebody is asked, after whole commits."""
    game = Game()
    for data in commits:
        game = fold(read_table_commit(data).events, game)
        if due(game):
            yield game


def _choices_figure(states: Sequence[Game]) -> Figure:
    asked = [(state, seat) for state in states for seat in due(state)]
    taken_s = _seconds(lambda: [choices(state, seat) for state, seat in asked])
    return Figure("full lists of choices", len(asked) / taken_s, "lists/s")


def _openings_figures(states: Sequence[Game]) -> Iterator[Figure]:
    played = [
        (state.hands[state.active], state) for state in states if state.step == "play" and not state.melds
    ]
    times = sorted(_opening_time(hand, state.ruleset, state.round) for hand, state in played)
    worst = [_opening_time(hand, rules, number) for hand, rules, number in _worst_hands(states[-1])]
    yield Figure("openings finder, median of hands played", statistics.median(times) * 1e6, "µs", most=200)
    yield Figure(
        f"openings finder, worst of {len(worst)} hands of {WORST_CARDS} cards, {WORST_JOKERS} jokers",
        max(*worst, times[-1]) * 1e3,
        "ms",
        most=20,
    )


def _opening_time(hand: Sequence[Card], rules: RuleSet, round_number: int) -> float:
    contract = rules.contract(round_number)
    best = float("inf")
    for _ in range(3):
        start = perf_counter()
        find_opening(hand, contract, rules.melds)
        best = min(best, perf_counter() - start)
    return best


def _worst_hands(game: Game) -> Iterator[tuple[list[Card], RuleSet, int]]:
    """Yield large hands with jokers, half of them of two suits, for each contract."""
    rules = game.ruleset
    chance = random.Random("worst hands")
    naturals = [card for card in rules.pack_for(len(game.seats)) if card[0] != "X"]
    jokers = [Card(f"X{number}") for number in range(1, WORST_JOKERS + 1)]
    for number in range(WORST_HANDS):
        suits = "SHDC" if number % 2 else "SH"
        cards = chance.sample([card for card in naturals if card[1] in suits], WORST_CARDS - WORST_JOKERS)
        yield cards + jokers, rules, number % len(rules.rounds) + 1


def _verify_figure(games: Sequence[Sequence[bytes]]) -> Figure:
    times = [_seconds(lambda game=game: verify_commits(game)) for game in games[:3]]  # type: ignore[misc]
    return Figure("verify of a whole game", statistics.median(times) * 1e3, "ms", most=150)
