"""``mersey rules``: list the rule sets, show one as a sheet, check a house's file."""

from __future__ import annotations

from typing import Annotated

import typer

from mersey.client.cli import EXIT_ERROR
from mersey.rules.refusals import RuleSetError
from mersey.rules.ruleset import RuleSet, ruleset_hash
from mersey.rules.ruleset_file import load_ruleset, ruleset_text, shipped
from mersey.rules.sheet import sheet

group = typer.Typer(no_args_is_help=True, help="List, show and check rule sets.")

Named = Annotated[str, typer.Argument(metavar="ID|FILE", help="A rule set that ships, or a file.")]


def register(app: typer.Typer) -> None:
    """Join the group ``rules`` to the command."""
    app.add_typer(group, name="rules")


@group.command("list")
def list_rules() -> None:
    """List the rule sets that ship."""
    for name in shipped():
        rules = load_ruleset(name)
        typer.echo(f"{name:<10} {_players(rules):<14} {len(rules.rounds)} rounds   {rules.title}")


@group.command()
def show(
    name: Named,
    toml: Annotated[
        bool, typer.Option("--toml", help="The file itself, to make a house variant of.")
    ] = False,
) -> None:
    """Show a rule set as a sheet that a player can read."""
    rules = load_ruleset(name)
    if toml:
        typer.echo(ruleset_text(name), nl=False)
        return
    typer.echo(sheet(rules))
    typer.echo(f"\nFingerprint of these rules: {ruleset_hash(rules)}")


@group.command()
def check(file: Annotated[str, typer.Argument(metavar="FILE", help="A rule set file.")]) -> None:
    """Check a rule set file: one line if it is good, else a line for each fault, by its key."""
    try:
        rules = load_ruleset(file)
    except RuleSetError as error:
        for fault in error.faults:
            typer.echo(f"{file}: {fault}")
        raise typer.Exit(EXIT_ERROR) from None
    typer.echo(f"{file}: ok: {rules.title} ({rules.id}), {_players(rules)}, {len(rules.rounds)} rounds")


def _players(rules: RuleSet) -> str:
    fewest, most = rules.players
    return f"{fewest} players" if fewest == most else f"{fewest} to {most} players"
