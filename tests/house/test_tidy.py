"""The house stays tidy: limits as a ratchet, and what must never be committed.

The limits are above what good code here has; they stop growth. What is long for a good
reason is listed with its length: it may shrink (then take it off), and never grow.
"""

import ast
import re

import pytest

from house.tracked import modules, texts, tracked, trees

MODULE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70

LONG_FUNCTIONS: dict[str, int] = {}
"""``path:name`` of a function that may be long, and how long it is."""

HERE = "tests/house/test_tidy.py"


def lengths() -> dict[str, int]:
    return {
        f"{path}:{node.name}": node.end_lineno - node.lineno + 1
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno
    }


def found(pattern: str) -> list[str]:
    """Return where a pattern stands in a committed text file, this one left out."""
    compiled = re.compile(pattern)
    return [
        f"{path}:{number}: {line.strip()[:100]}"
        for path, text in texts()
        if str(path) != HERE and compiled.search(text)
        for number, line in enumerate(text.splitlines(), 1)
        if compiled.search(line)
    ]


def test_no_module_outgrows_its_subject() -> None:
    lines = {str(path): len(text.splitlines()) for path, text in modules()}
    assert {path: n for path, n in lines.items() if n > MODULE_LINES_MAX} == {}


def test_no_function_outgrows_its_job() -> None:
    long = {name: n for name, n in lengths().items() if n > FUNCTION_LINES_MAX}
    assert {name: n for name, n in long.items() if n > LONG_FUNCTIONS.get(name, 0)} == {}
    assert LONG_FUNCTIONS.keys() - long.keys() == set(), "no longer long: take it off the list"


PROGRAMS = {"cli", "verifier"}
"""Folders of what is run by itself; the lone verifier is a command line of its own."""


def test_only_the_command_line_prints() -> None:
    printing = [
        f"{path}:{node.lineno}"
        for path, tree in trees()
        if PROGRAMS.isdisjoint(path.with_suffix("").parts)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert printing == []


def test_the_write_path_begins_no_deferred_transaction() -> None:
    bare = re.compile(r"\s*BEGIN(\s+(DEFERRED|TRANSACTION))*\s*;?\s*", re.IGNORECASE)
    deferred = [
        f"{path}:{node.lineno}"
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and bare.fullmatch(node.value)
    ]
    assert deferred == [], "a read that turns into a write fails at once: BEGIN IMMEDIATE"


@pytest.mark.parametrize(
    ("what", "pattern"),
    [
        ("work put off", r"\b(TODO|FIXME|XXX)\b"),
        ("a path of one machine", r"(?<![\w.])/(home|root|work|Users)/\w|[A-Z]:\\\\?Users"),
        (
            "the host of a package index",
            r"pypi\.org|pythonhosted\.org|npmjs\.org|--(extra-)?index-url",
        ),
        ("a merge left half done", r"^(<{7}|>{7}) "),
    ],
)
def test_no_file_holds(what: str, pattern: str) -> None:
    assert found(pattern) == [], what


def test_nothing_generated_is_committed() -> None:
    generated = re.compile(
        r"_pb2(_grpc)?\.pyi?$|__pycache__|\.pyc$|(^|/)uv\.lock$|\.egg-info|(^|/)mersey-data/|\.db$"
    )
    assert [str(path) for path in tracked() if generated.search(str(path))] == []
