"""Server and nats-server are killed while bots play; what clients were told must be what is recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults.conftest import SOAK_S, WHOLE_SOAK_S
from mersey.server.drill.harness import Course, Drill, DrillConfig
from mersey.server.drill.plan import FATAL_POINTS, KINDS, NATS, SERVER
from mersey.server.drill.report import report

KILLS = 60
SOAK_COMMANDS = 100_000


async def drilled(config: DrillConfig) -> Course:
    course = await Drill(config, print).run()
    print("\n".join(report(course)))
    return course


@pytest.mark.timeout(600)
async def test_sixty_kills_lose_double_and_disorder_nothing(tmp_path: Path, seed: str) -> None:
    config = DrillConfig(
        data=tmp_path / "data",
        words=tmp_path / "server.log",
        seed=seed,
        tables=20,
        commands=120,
        kills=KILLS,
    )

    course = await drilled(config)

    assert course.findings.is_clean, "\n".join(report(course))
    assert course.kills >= KILLS
    assert {kind for kind, count in course.strikes.items() if count} == set(KINDS)
    assert course.findings.commits >= course.accepted > 20 * KILLS
    assert course.findings.tables >= 20


@pytest.mark.soak
@pytest.mark.timeout(2 * WHOLE_SOAK_S + 2 * SOAK_S)
async def test_a_soak_loses_doubles_and_disorders_nothing(tmp_path: Path, seed: str) -> None:
    config = DrillConfig(
        data=tmp_path / "data",
        words=tmp_path / "server.log",
        seed=seed,
        tables=40,
        commands=5000,
        seconds=SOAK_S,
    )

    course = await drilled(config)

    assert course.findings.is_clean, "\n".join(report(course))
    if SOAK_S >= WHOLE_SOAK_S:
        assert course.accepted >= SOAK_COMMANDS
        assert {*FATAL_POINTS, SERVER, NATS} <= course.strikes.keys()
