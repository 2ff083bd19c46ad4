"""``mersey bench``: how fast the core is, and how well the bots play."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def register(app: typer.Typer) -> None:
    """Join ``bench`` to ``mersey``."""
    bench = typer.Typer(no_args_is_help=True, help="Measure the core, or the bots.")
    bench.command()(core)
    bench.command()(bots)
    app.add_typer(bench, name="bench")


def core(
    data: Annotated[
        Path | None, typer.Option("--data", help="Measure on finished games of this data folder.")
    ] = None,
    games: Annotated[int, typer.Option("--games", min=1, max=1000, help="How many games.")] = 5,
    as_json: Json = False,
) -> None:
    """Measure fold, play, choices, openings and verify on recorded games, in one run."""
    import msgspec
    from rich.console import Console

    from mersey.replay.bench import bench_core

    errors = Console(stderr=True)
    with errors.status("Recording games of greedy bots …" if data is None else "Reading games …"):
        recorded = _rehearsed(games) if data is None else _recorded(data, games)
    figures = []
    with errors.status("Measuring …"):
        for figure in bench_core(recorded):
            figures.append(figure)
            if not as_json:
                typer.echo(figure.line())
    if as_json:
        typer.echo(msgspec.json.encode(figures).decode())


def _rehearsed(games: int) -> Sequence[Sequence[bytes]]:
    from mersey.client.strategies.greedy import GreedyStrategy
    from mersey.replay.rehearsal import rehearse
    from mersey.rules.ruleset_file import load_ruleset

    rules = load_ruleset("contract")
    return [rehearse(rules, 4, GreedyStrategy(), f"bench {number}")[1] for number in range(games)]


def _recorded(data: Path, games: int) -> Sequence[Sequence[bytes]]:
    from mersey.log.table_commit import stream_of
    from mersey.replay.sources import SourceError, list_games, open_game

    ended = [game.stream.removeprefix(stream_of("")) for game in list_games(data) if game.status == "ended"]
    if not ended:
        raise SourceError(f"no finished game in {data}; play one with: mersey demo --data {data}")
    return [open_game(table, data).commits for table in ended[:games]]


def bots(
    rules: Annotated[
        list[str] | None, typer.Option("--rules", help="A rule set, again for more; without it all four.")
    ] = None,
    games: Annotated[int, typer.Option("--games", min=1, max=100_000, help="Games for each.")] = 200,
    as_json: Json = False,
) -> None:
    """Let four greedy bots play whole games, and count how their rounds end."""
    import msgspec
    from rich.console import Console
    from rich.progress import track

    from mersey.replay.bench_bots import play_games, tally
    from mersey.rules.ruleset_file import load_ruleset, shipped

    errors = Console(stderr=True)
    tallies = []
    for name in rules or shipped():
        ruleset = load_ruleset(name)
        played = list(track(play_games(ruleset, games), f"{name:<10}", total=games, console=errors))
        for one in tally(ruleset, played):
            tallies.append(one)
            if not as_json:
                typer.echo(one.line())
    if as_json:
        typer.echo(msgspec.json.encode(tallies).decode())
