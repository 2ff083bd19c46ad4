"""A table restored from the archive is the table that the log makes, and finds the same faults."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from mersey.log.ports import Entry
from mersey.server.table import Table
from recorded import recorded_game

GAME = recorded_game(actions_max=40)


def entries(commits: Iterable[bytes]) -> list[Entry]:
    return [Entry(position, "table.t1", data) for position, data in enumerate(commits, start=1)]


def restored(commits: Iterable[bytes]) -> Table:
    table = Table("t1")
    for entry in entries(commits):
        table.restore(entry)
    return table


def applied(commits: Iterable[bytes]) -> Table:
    table = Table("t1")
    for entry in entries(commits):
        table.apply(entry)
    return table


def test_a_restored_table_is_the_one_that_the_log_makes() -> None:
    here, there = restored(GAME), applied(GAME)

    assert (here.head, here.game, here.fault) == (there.head, there.game, "")
    assert all(here.event(version) == there.event(version) for version in range(1, here.head.version + 1))


@pytest.mark.parametrize(
    ("what", "change"),
    [
        ("a card", (b'"7', b'"8')),
        ("the schema", (b'"v":1', b'"v":9')),
        ("the chain", (b'"previous":"', b'"previous":"0')),
        ("no events", (b'"events":[', b'"events":[],"x":[')),
        ("the time", (b'"at_ms":1', b'"at_ms":0')),
        ("the player", (b'"actor":"p', b'"actor":"\x01')),
        ("the stream", (b'"table.t1"', b'"table.t2"')),
    ],
)
def test_a_restored_table_finds_the_faults_that_the_log_would_show(
    what: str, change: tuple[bytes, bytes]
) -> None:
    damaged = [*GAME[:20], GAME[20].replace(*change), *GAME[21:]]
    if damaged[20] == GAME[20]:
        at = next(at for at, data in enumerate(GAME[:-1]) if at > 5 and change[0] in data)
        damaged = [*GAME[:at], GAME[at].replace(*change), *GAME[at + 1 :]]

    here, there = restored(damaged), applied(damaged)

    assert there.fault, what
    assert (here.fault, here.head, here.game) == (there.fault, there.head, there.game)
