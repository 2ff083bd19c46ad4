"""Lines of text for a terminal: long ones are parted between words, and hang under their text.

What goes to a pipe or a file is never parted: there a line is a record, for ``grep`` and the like.
"""

from __future__ import annotations

import shutil
from textwrap import wrap
from typing import Final, TextIO

COLUMNS_MIN: Final = 20
"""A terminal narrower than this is written to as if it were this wide: words would not fit."""


def columns_of(stream: TextIO) -> int | None:
    """Return how many columns the terminal behind ``stream`` has, None where there is no terminal."""
    return max(shutil.get_terminal_size().columns, COLUMNS_MIN) if stream.isatty() else None


def hung(text: str, indent: int, columns: int | None) -> list[str]:
    """Return ``text`` in lines of at most ``columns``, all but the first after ``indent`` spaces.

    A word that is longer than a line is left whole; with ``columns`` None so is the text.

    >>> hung("   1 Dan   stock; Ann buys QD +1; discard 2C", 11, 32)
    ['   1 Dan   stock; Ann buys QD', '           +1; discard 2C']
    >>> hung("   1 Dan   stock; Ann buys QD +1; discard 2C", 11, None)
    ['   1 Dan   stock; Ann buys QD +1; discard 2C']
    """
    if columns is None or len(text) <= columns:
        return [text]
    spaces = " " * min(indent, columns // 2)
    return wrap(text, columns, subsequent_indent=spaces, break_long_words=False, break_on_hyphens=False)
