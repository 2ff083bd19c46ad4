"""``mersey scenario run``: play scenario files on the engine (scenarios.md)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer

from mersey.client.cli import EXIT_ERROR
from mersey.game.scenario import Scenario, parse_scenario, run_scenario
from mersey.game.scenario_file import ScenarioError
from mersey.rules.ruleset import RuleSet
from mersey.rules.ruleset_file import load_ruleset, shipped

EXIT_UNREADABLE: Final = 2
FILE_BYTES_MAX: Final = 1024 * 1024

group = typer.Typer(no_args_is_help=True, help="Play rule cases from files on the engine.")


def register(app: typer.Typer) -> None:
    """Join the group ``scenario`` to the command."""
    app.add_typer(group, name="scenario")


@group.callback()
def _of_scenarios() -> None:
    """Keep ``run`` a word of the command though it is the only one."""


@group.command()
def run(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH…", help="Scenario files, and folders: their own *.toml.")
    ],
) -> None:
    """Play scenarios and print a line for each; exit with 1 if any failed, 2 if a file can't be read."""
    passed = failed = unreadable = 0
    for path in paths:
        for file in _files(Path(path)):
            try:
                scenario = load_scenario(file)
            except ScenarioError as error:
                typer.echo(f"mersey: error: {' '.join(str(error).split())}", err=True)
                unreadable += 1
                continue
            differs = run_scenario(scenario)
            typer.echo(f"FAIL {scenario.name}: {'; '.join(differs)}" if differs else f"ok {scenario.name}")
            passed, failed = (passed, failed + 1) if differs else (passed + 1, failed)
    typer.echo(f"{passed} passed, {failed} failed")
    if unreadable or failed:
        raise typer.Exit(EXIT_UNREADABLE if unreadable else EXIT_ERROR)


def load_scenario(file: Path) -> Scenario:
    """Return the scenario of ``file``; the rule set is one that ships, or a file beside it.

    Raises:
        ScenarioError: the file can't be read or used; each fault is named by its key.
    """

    def resolve(name: str) -> RuleSet:
        return load_ruleset(name if name in shipped() else str(file.parent / name))

    return parse_scenario(_text(file), str(file), resolve)


def _files(path: Path) -> Iterator[Path]:
    """Yield the scenario files that ``path`` means: itself, or a folder's own in order of their names.

    A folder without any is yielded itself: it can't be read as scenarios, and must not pass in silence.
    """
    if not path.is_dir():
        yield path
        return
    yield from sorted(path.glob("*.toml")) or [path]


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            data = opened.read(FILE_BYTES_MAX + 1)
        if len(data) > FILE_BYTES_MAX:
            raise ScenarioError(str(file), [f"the file is longer than {FILE_BYTES_MAX} bytes"])
        return data.decode("utf-8-sig")
    except FileNotFoundError:
        raise ScenarioError(str(file), ["there is no such file or folder"]) from None
    except IsADirectoryError:
        raise ScenarioError(str(file), ["the folder holds no *.toml file"]) from None
    except OSError as error:
        raise ScenarioError(str(file), [f"the file can't be read: {error.strerror}"]) from None
    except UnicodeDecodeError as error:
        raise ScenarioError(str(file), [f"the file is not UTF-8 text (byte {error.start + 1})"]) from None
    except ValueError:  # a NUL byte in the path
        raise ScenarioError(str(file).replace("\0", "?"), ["this is no file name"]) from None
