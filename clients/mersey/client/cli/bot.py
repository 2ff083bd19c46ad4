"""``mersey bot``: play a seat by a strategy."""

from __future__ import annotations

import asyncio
import secrets
from typing import Annotated

import typer

from mersey.client.bot import BotPlayed, play_bot
from mersey.client.cli.connecting import SERVER_DEFAULT, Server, Token, connected, table_named
from mersey.client.strategies.catalogue import STRATEGIES, strategy_named


def register(app: typer.Typer) -> None:
    """Join ``bot`` to the command."""
    app.command("bot")(bot)


def bot(
    table: Annotated[str, typer.Option("--table", metavar="ID", help="The table.")],
    server: Server = SERVER_DEFAULT,
    token: Token = "",
    strategy: Annotated[
        str, typer.Option("--strategy", metavar="NAME", help=f"How it plays: {', '.join(STRATEGIES)}.")
    ] = "greedy",
    seed: Annotated[
        str, typer.Option("--seed", metavar="TEXT", help="Of its own chance; left out: drawn.")
    ] = "",
) -> None:
    """Play a seat to the end of the game, and take one first if this token has none at the table."""
    chosen = strategy_named(strategy)
    table = table_named(table)

    async def run() -> BotPlayed:
        async with connected(server, token) as client:
            return await play_bot(client, table, chosen, seed or secrets.token_hex(16))

    played = asyncio.run(run())
    view = played.view
    if view.places:
        place, total = view.places[played.seat], view.totals[played.seat]
        typer.echo(f"seat {played.seat}: place {place} with {total} penalty points, {played.actions} actions")
    else:
        typer.echo(f"seat {played.seat}: the table was closed after {played.actions} actions")
