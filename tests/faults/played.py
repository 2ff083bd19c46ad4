"""Really played games in great number: some that bots played, copied under new ids, chained anew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256

import msgspec

from mersey.client.strategies.greedy import GreedyStrategy
from mersey.client.strategies.turn import Draw, Turn
from mersey.game.choices import choices, due
from mersey.game.commands import OpenTable, StartGame, TakeSeat
from mersey.game.view import seat_viewer, view
from mersey.log.commit import Commit, decode, encode, hash_of
from mersey.log.ports import Entry
from mersey.log.table_commit import stream_of
from mersey.rules.ruleset_file import parse_ruleset
from recorded import HOST, Recorder

MODEL = "model"


@cache
def greedy_game(toml: str, seats: int, seed: int, *, upto: float = 1.0) -> tuple[bytes, ...]:
    """Return the commits of a game of greedy bots; only that part of them where ``upto`` is below 1."""
    rules = parse_ruleset(toml, "the test's rules")
    recorder = Recorder(MODEL)
    link = sha256(f"{rules.id} {seats} {seed}".encode()).hexdigest()
    opening = OpenTable(table=MODEL, rules=rules, seats=seats, link=link, deal_id=MODEL, chance="given")
    recorder.do(HOST, opening)
    for seat in range(seats):
        recorder.do(f"p{seat}", TakeSeat(seat))
    recorder.do(HOST, StartGame())
    strategy = GreedyStrategy()
    while seats_due := due(recorder.game):
        seat, game = seats_due[0], recorder.game
        seen = view(game, seat_viewer(seat))
        turn = Turn(seen, choices(game, seat), game.ruleset)
        recorder.do(f"p{seat}", strategy.choose(turn, Draw(str(seed), seen)))
    return tuple(recorder.commits[: max(10, int(upto * len(recorder.commits)))])


def copied(commits: Sequence[bytes], table: str) -> Iterator[bytes]:
    """Yield the same game as it would stand of another table: chained anew, dealt from the same deal id."""
    stream = stream_of(table)
    previous = hash_of(stream.encode())
    for data in commits:
        commit = decode(data)
        if commit.number == 1:
            commit = _opened_as(commit, table)
        data = encode(msgspec.structs.replace(commit, stream=stream, previous=previous))
        previous = hash_of(data)
        yield data


def _opened_as(commit: Commit, table: str) -> Commit:
    named, renamed = f'"table":"{MODEL}"'.encode(), f'"table":"{table}"'.encode()
    cause, event = bytes(commit.cause), bytes(commit.events[0])
    assert cause.count(named) == event.count(named) == 1
    return msgspec.structs.replace(
        commit,
        cause=msgspec.Raw(cause.replace(named, renamed)),
        events=(msgspec.Raw(event.replace(named, renamed)), *commit.events[1:]),
    )


def many(models: Sequence[tuple[bytes, ...]], tables: int) -> Iterator[Entry]:
    """Yield the commits of so many tables as one log: each table's in order, a hundred tables at a time."""
    position = 0
    for first in range(0, tables, 100):
        playing = [
            (stream_of(f"copy{number}"), copied(models[number % len(models)], f"copy{number}"))
            for number in range(first, min(first + 100, tables))
        ]
        while playing:
            going_on = []
            for stream, commits in playing:
                data = next(commits, None)
                if data is not None:
                    position += 1
                    yield Entry(position=position, stream=stream, data=data)
                    going_on.append((stream, commits))
            playing = going_on
