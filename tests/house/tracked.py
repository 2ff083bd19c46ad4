"""The files of the repository, for the tests that look at them as text."""

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("protos", "server", "replay", "clients")


@cache
def tracked() -> tuple[Path, ...]:
    """Return the committed files that are still there, relative to the repository."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True)
    return tuple(Path(name) for name in listed.stdout.split("\0") if name and (ROOT / name).is_file())


def texts() -> Iterator[tuple[Path, str]]:
    """Yield each committed text file with its text."""
    for path in tracked():
        try:
            yield path, (ROOT / path).read_text("utf-8")
        except UnicodeDecodeError:
            continue


def modules() -> Iterator[tuple[Path, str]]:
    """Yield each module of the product with its text."""
    return ((path, text) for path, text in texts() if path.suffix == ".py" and path.parts[0] in ROOMS)


@cache
def trees() -> tuple[tuple[Path, ast.Module], ...]:
    """Return each module of the product with its syntax tree."""
    return tuple((path, ast.parse(text)) for path, text in modules())


def documents() -> dict[str, str]:
    """Return the documents: every committed Markdown file outside the tests, by its path."""
    return {str(path): text for path, text in texts() if path.suffix == ".md" and path.parts[0] != "tests"}
