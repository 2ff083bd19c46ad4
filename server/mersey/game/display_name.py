"""The name that a player is shown by: what can be one, the same for servers, clients and tokens."""

from __future__ import annotations

import unicodedata
from typing import Final

from mersey.rules.refusals import MerseyError

NAME_CHARACTERS_MAX: Final = 40

_REFUSED: Final = frozenset({"Cc", "Cs", "Co", "Cn", "Zl", "Zp"})
_TURNERS: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that turn the direction of writing, and so what stands around a name on a screen."""


class NameRefused(MerseyError):
    """A display name or player id that can't be taken; the message says why."""


def normalised(name: str) -> str:
    """Return ``name`` as it is kept: composed (NFC), with single spaces inside and none around.

    >>> normalised("  Ann   of  Mersey ")
    'Ann of Mersey'

    Raises:
        NameRefused: it holds a control character, or is not 1 to 40 characters long.
    """
    for character in name:
        if unicodedata.category(character) in _REFUSED or character in _TURNERS:
            raise NameRefused(f"a name can't hold U+{ord(character):04X}, which can't be shown")
    kept = unicodedata.normalize("NFC", " ".join(name.split()))
    if not 1 <= len(kept) <= NAME_CHARACTERS_MAX:
        raise NameRefused(f"a name is 1 to {NAME_CHARACTERS_MAX} characters long, not {len(kept)}")
    return kept
