"""The documents run, and name everything that a reader could ask for."""

import doctest
import re
import shlex
from collections.abc import Iterator

import pytest
import typer.main

from house.tracked import ROOT, documents
from mersey.client.cli.app import build_app
from mersey.rules.refusals import Code

BOOKS = ("README.md", "ARCHITECTURE.md")
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"^```(?:console|sh|bash)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

COMMAND = typer.main.get_command(build_app())


def commands(command: object = COMMAND, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield every command that does something, as it is typed."""
    inner = getattr(command, "commands", {})
    if not inner:
        yield " ".join(path)
    for name, sub in inner.items():
        yield from commands(sub, (*path, name))


def typed_lines(block: str) -> list[str]:
    """Return what is typed in a console block: where prompts stand, what has none is an answer."""
    lines = block.splitlines()
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")] or lines


def console_lines() -> list[tuple[str, list[str]]]:
    """Return the words after each ``mersey`` in the documents' console blocks, and the document."""
    return [
        (document, shlex.split(part, comments=True)[1:])
        for document, text in documents().items()
        for block in CONSOLE.findall(text)
        for line in typed_lines(block)
        for part in re.split(r"&&|\||;", line)
        if re.match(r"\s*(\S*/)?mersey\s", part)
    ]


@pytest.mark.parametrize("book", BOOKS)
def test_examples_run(book: str) -> None:
    text = "\n".join(PYTHON.findall((ROOT / book).read_text("utf-8")))
    example = doctest.DocTestParser().get_doctest(text, {}, book, book, 0)
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example).failed == 0


def test_the_readme_shows_commands_at_a_console() -> None:
    assert [words for document, words in console_lines() if document == "README.md"]


def test_every_command_in_a_document_exists() -> None:
    known = set(commands())
    for document, words in console_lines():
        plain = [word for word in words if not word.startswith("-")]
        typed = {" ".join(plain[:n]) for n in (1, 2)}
        assert typed & known, f"{document}: mersey {' '.join(words)}"


@pytest.mark.parametrize("command", sorted(commands()))
def test_every_command_is_named_in_a_document(command: str) -> None:
    assert any(f"mersey {command}" in text for text in documents().values())


@pytest.mark.parametrize("code", list(Code))
def test_every_refusal_is_named_in_a_document(code: Code) -> None:
    assert any(re.search(rf"\b{code}\b", text) for text in documents().values())


def test_links_between_documents_lead_somewhere() -> None:
    for document, text in documents().items():
        for target in re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)", text):
            assert ((ROOT / document).parent / target).exists(), f"{document}: {target}"
