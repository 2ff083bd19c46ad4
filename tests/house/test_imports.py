"""The architecture holds: imports run down only, the core has no I/O, and ``mersey`` stays a namespace."""

import ast
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = [str(ROOT / room) for room in ("protos", "server", "replay", "clients")]
PACKAGES = sorted(path for path in ROOT.glob("*/mersey/*/") if path.name != "__pycache__")


def test_import_contracts_hold() -> None:
    linted = subprocess.run(
        [
            sys.executable,
            "-c",
            "from importlinter.cli import lint_imports_command as lint; lint()",
            "--no-cache",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(ROOMS), "COLUMNS": "200"},
    )
    assert linted.returncode == 0, linted.stdout + linted.stderr


def test_mersey_stays_a_namespace_that_every_room_is_a_part_of() -> None:
    spec = importlib.util.find_spec("mersey")
    assert spec is not None
    assert spec.origin is None, "delete mersey/__init__.py"
    assert not list(ROOT.glob("*/mersey/__init__.py"))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: f"{path.parts[-3]}/{path.name}")
def test_a_package_begins_with_its_docstring_and_nothing_else(package: Path) -> None:
    init = package / "__init__.py"
    if init.exists():
        (statement,) = ast.parse(init.read_text("utf-8")).body
        assert ast.get_docstring(ast.Module([statement], []))
