"""The strategies that the server plays seats with, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mersey.client.strategies.chance import ChanceStrategy
from mersey.client.strategies.greedy import GreedyStrategy
from mersey.client.strategies.turn import Strategy

STRATEGIES: Final[Mapping[str, Strategy]] = {
    strategy.name: strategy for strategy in (GreedyStrategy(), ChanceStrategy())
}
