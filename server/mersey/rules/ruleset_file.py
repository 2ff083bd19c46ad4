"""Rule set files: the ones that ship and those of a house, read and checked (rules.md section 13)."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

import msgspec

from mersey.rules.refusals import RuleSetError
from mersey.rules.ruleset import RuleSet
from mersey.rules.ruleset_check import checked

FILE_BYTES_MAX: Final = 64 * 1024
"""A rule set file is a page of text; what is longer is none."""


def shipped() -> tuple[str, ...]:
    """Return the ids of the rule sets that ship.

    >>> shipped()
    ('bga', 'bga-short', 'contract', 'liverpool')
    """
    names = (entry.name for entry in _folder().iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def load_ruleset(name_or_path: str) -> RuleSet:
    """Return a rule set by the id of one that ships, or by the path of a file.

    Raises:
        RuleSetError: there is no such rule set, or the file can't be read or used.

    >>> load_ruleset("contract").title
    'Contract Rummy'
    """
    return parse_ruleset(ruleset_text(name_or_path), name_or_path)


def ruleset_text(name_or_path: str) -> str:
    """Return the text of a rule set file, unchecked: one that ships by its id, another by its path.

    Raises:
        RuleSetError: there is no such rule set, or the file can't be read.
    """
    if name_or_path in shipped():
        return (_folder() / f"{name_or_path}.toml").read_text("utf-8")
    data = _file_bytes(name_or_path)
    if len(data) > FILE_BYTES_MAX:
        raise RuleSetError(name_or_path, [f"the file is longer than {FILE_BYTES_MAX} bytes"])
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RuleSetError(name_or_path, [f"the file is not UTF-8 text (byte {error.start + 1})"]) from None


def parse_ruleset(text: str, source: str) -> RuleSet:
    """Return the rule set that the TOML ``text`` holds; ``source`` names it in errors.

    Raises:
        RuleSetError: the text is no TOML, or is refused; ``faults`` names every key at fault.
    """
    try:
        data: object = tomllib.loads(text)
    except ValueError as error:
        raise RuleSetError(source, [f"not TOML: {error}"]) from None
    except RecursionError:
        raise RuleSetError(source, ["not a rule set: nested too deeply"]) from None
    return checked(data, source)


def ruleset_from_json(data: bytes, source: str = "rule set") -> RuleSet:
    """Return the rule set of ``ruleset_bytes``, checked as a file is.

    Raises:
        RuleSetError: the bytes are no JSON, or hold what no rule set file may hold.
    """
    try:
        decoded: object = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RuleSetError(source, [f"not JSON: {error}"]) from None
    except RecursionError:
        raise RuleSetError(source, ["not a rule set: nested too deeply"]) from None
    return checked(decoded, source)


def _folder() -> Traversable:
    return files("mersey.rules") / "rulesets"


def _file_bytes(path: str) -> bytes:
    """Return the file's first bytes, one more than a rule set file may have."""
    try:
        with Path(path).open("rb") as file:
            return file.read(FILE_BYTES_MAX + 1)
    except FileNotFoundError:
        ids = ", ".join(shipped())
        raise RuleSetError(path, [f"no such rule set or file (rule sets that ship: {ids})"]) from None
    except OSError as error:
        raise RuleSetError(path, [f"the file can't be read: {error.strerror}"]) from None
    except ValueError:  # a NUL byte in the path
        raise RuleSetError(path.replace("\0", "?"), ["this is no file name"]) from None
