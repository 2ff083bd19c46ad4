"""Printing a line that may be longer than the terminal is wide."""

from __future__ import annotations

import sys

import typer

from mersey.client.lines import columns_of, hung


def say(text: str, indent: int) -> None:
    """Print ``text``; on a terminal that is too narrow its further lines begin after ``indent`` spaces."""
    for line in hung(text, indent, columns_of(sys.stdout)):
        typer.echo(line)
