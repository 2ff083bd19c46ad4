"""Makes recorded games of today's schema: run once for each schema, never again for one that has its games.

    PYTHONPATH=tests python tests/records/make.py FOLDER

A game is short, two or three rounds of a shipped rule set, and rich in events: players with random parts and
bots that play well, beside one that plays by chance. What is committed stays for ever as it is;
``tests/replay/test_schemas.py`` verifies and folds it.
"""

from __future__ import annotations

import sys
from hashlib import sha256
from pathlib import Path

import msgspec

from mersey.client.strategies.chance import ChanceStrategy
from mersey.client.strategies.greedy import GreedyStrategy
from mersey.client.strategies.turn import Draw, Turn, due_now
from mersey.game.choices import choices, due
from mersey.game.commands import Close, LeaveSeat, OpenTable, StartGame, TakeSeat
from mersey.game.events import Event
from mersey.game.view import seat_viewer, view
from mersey.log.commit import SCHEMA
from mersey.replay.record_file import write_record
from mersey.rules.ruleset import RuleSet
from mersey.rules.ruleset_file import load_ruleset
from recorded import HOST, Recorder

GAMES = {
    # rule set: seats, rounds that are kept, seed, actions after which the host closes the table
    "contract": (4, (0, 1, 6), 8, None),
    "liverpool": (4, (0, 6), 0, 150),
    "bga": (5, (0, 3), 9, None),
    "bga-short": (2, (0, 3), 0, None),
}


def short(rules: RuleSet, rounds: tuple[int, ...]) -> RuleSet:
    """Return ``rules`` with some of its rounds only."""
    kept = tuple(rules.rounds[number] for number in rounds)
    return msgspec.structs.replace(rules, id=f"{rules.id}-record", rounds=kept)


def record(name: str, seats: int, rounds: tuple[int, ...], seed: int, actions_max: int | None) -> Recorder:
    """Return a game that was played to its end, or to where the host closed the table."""
    rules, key = short(load_ruleset(name), rounds), f"record {SCHEMA} {name} {seed}"
    table = f"record-{SCHEMA}-{name}"
    recorder = Recorder(table)
    link = sha256(key.encode()).hexdigest()
    recorder.do(HOST, OpenTable(table=table, rules=rules, seats=seats, link=link, deal_id=table))
    recorder.do("p0", TakeSeat(0))
    recorder.do("p0", LeaveSeat())
    recorder.seat_players(min(3, seats))
    recorder.do(HOST, StartGame())
    actions = 0
    while recorder.game.step != "game_over" and actions != actions_max:
        seat = next(seat for seat in due(recorder.game) if due_now(view(recorder.game, seat_viewer(seat))))
        seen = view(recorder.game, seat_viewer(seat))
        strategy = ChanceStrategy() if seat == 1 else GreedyStrategy()
        turn = Turn(seen, choices(recorder.game, seat), rules)
        recorder.do(f"p{seat}", strategy.choose(turn, Draw(key, seen)))
        actions += 1
    if actions == actions_max:
        recorder.do(HOST, Close())
    return recorder


def kinds(events: list[Event]) -> set[str]:
    """Return the kinds of ``events``."""
    return {str(event.__struct_config__.tag) for event in events}


def main(folder: Path) -> None:
    """Write the games and what they come to."""
    for name, (seats, rounds, seed, actions_max) in GAMES.items():
        recorder = record(name, seats, rounds, seed, actions_max)
        write_record(folder / f"{SCHEMA}-{name}.mersey", recorder.commits)
        game = recorder.game
        print(f'["{SCHEMA}-{name}"]\nhead = "{recorder.head.hash}"\ncommits = {recorder.head.number}')
        print(f"events = {game.version}\ntotals = {list(game.totals)}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
