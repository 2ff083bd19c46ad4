"""The strategies that ship, by the name under which a bot is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mersey.client.strategies.chance import ChanceStrategy
from mersey.client.strategies.greedy import GreedyStrategy
from mersey.client.strategies.turn import Strategy
from mersey.rules.refusals import MerseyError

STRATEGIES: Final[Mapping[str, Strategy]] = {
    strategy.name: strategy for strategy in (GreedyStrategy(), ChanceStrategy())
}


class UnknownStrategyError(MerseyError):
    """A strategy that does not ship."""


def strategy_named(name: str) -> Strategy:
    """Return the strategy of that name.

    >>> strategy_named("greedy").name
    'greedy'

    Raises:
        UnknownStrategyError: there is none.
    """
    strategy = STRATEGIES.get(name)
    if strategy is None:
        raise UnknownStrategyError(f"no strategy {name[:40]!r}: one of {', '.join(STRATEGIES)}")
    return strategy
