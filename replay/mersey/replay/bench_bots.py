"""The bench of the bots: how often a round of greedy bots ends with somebody going out."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from os import cpu_count

import msgspec

from mersey.client.simulate import RoundPlayed, simulate_game
from mersey.client.strategies.greedy import GreedyStrategy
from mersey.rules.ruleset import RuleSet

SEATS = 4
"""Bots at each table."""


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """The rounds of one kind in all games of a rule set."""

    rules: str
    whole_hand: bool
    rounds: int
    went_out: int
    """Rounds that somebody ended by going out."""
    missed_turns: int
    """Turns in which a bot that had not opened held an opening, by the finder, and did not lay it."""
    winnable: int
    """Rounds that nobody won and in which such a turn was missed: a better player would have won them."""
    turns_mean: float
    buys_mean: float

    @property
    def share(self) -> float:
        """The share of rounds with somebody out, 0 to 1."""
        return self.went_out / self.rounds

    @property
    def least(self) -> float:
        """The share that is asked for."""
        return 0.5 if self.whole_hand else 0.95

    def line(self) -> str:
        """Return the tally in one line."""
        kind = "whole-hand" if self.whole_hand else "other"
        mark = "ok" if self.share >= self.least else "short"
        return (
            f"{self.rules:<10} {kind:<10} {self.went_out:>5} of {self.rounds:>5} rounds went out, "
            f"{self.share:6.1%} ({mark}, asked {self.least:.0%}); {self.winnable} more were winnable, "
            f"{self.missed_turns} openings missed; {self.turns_mean:.1f} turns, {self.buys_mean:.1f} buys"
        )


def play_games(rules: RuleSet, games: int) -> Iterator[tuple[RoundPlayed, ...]]:
    """Yield the rounds of each of ``games`` games, played on all cores, in the order of their seeds."""
    with ProcessPoolExecutor(cpu_count(), mp_context=get_context("spawn")) as pool:
        yield from pool.map(partial(_play, rules), range(games), chunksize=2)


def _play(rules: RuleSet, number: int) -> tuple[RoundPlayed, ...]:
    return simulate_game(rules, SEATS, [GreedyStrategy()], f"bench {number}").rounds


def tally(rules: RuleSet, games: list[tuple[RoundPlayed, ...]]) -> list[Tally]:
    """Return the tallies of the games' rounds: those of the whole hand apart."""
    played = [round_played for game in games for round_played in game]
    kinds = sorted({round_played.whole_hand for round_played in played})
    return [_tally(rules.id, kind, [one for one in played if one.whole_hand == kind]) for kind in kinds]


def _tally(rules: str, whole_hand: bool, rounds: list[RoundPlayed]) -> Tally:
    return Tally(
        rules=rules,
        whole_hand=whole_hand,
        rounds=len(rounds),
        went_out=sum(one.winner is not None for one in rounds),
        missed_turns=sum(one.missed for one in rounds),
        winnable=sum(one.winner is None and one.missed > 0 for one in rounds),
        turns_mean=sum(one.turns for one in rounds) / len(rounds),
        buys_mean=sum(one.buys for one in rounds) / len(rounds),
    )
