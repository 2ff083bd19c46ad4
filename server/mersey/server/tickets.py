"""Ids and secrets that are made from what is asked, so that asking again meets what was made before."""

from __future__ import annotations

import base64
from hashlib import sha256
from typing import Final

ID_CHARACTERS: Final = 16

_LINK: Final = "mersey given link 1"
_DEAL: Final = "mersey given deal 1"
_BOT: Final = "mersey bot 1"


def new_table_id(player: str, command_id: str) -> str:
    """Return the id of the table that ``player`` opens by the command of that id.

    >>> new_table_id("p1", "c1") == new_table_id("p1", "c1") != new_table_id("p1c", "1")
    True
    """
    return _short(_lp(player), _lp(command_id))


def bot_id(host: str, command_id: str, index: int) -> str:
    """Return the player id of the bot of that index which ``host`` adds by the command of that id."""
    return f"bot-{_short(_lp(_BOT), _lp(host), _lp(command_id), index.to_bytes(4, 'big'))}"


def given_link(seed: str) -> str:
    """Return the last link of a deal that is given by ``seed``, in hex."""
    return sha256(_lp(_LINK) + _lp(seed)).hexdigest()


def given_deal_id(seed: str) -> str:
    """Return the deal id of a deal that is given by ``seed``."""
    return _short(_lp(_DEAL), _lp(seed))


def _short(*parts: bytes) -> str:
    digest = sha256(b"".join(parts)).digest()
    return base64.b32encode(digest).decode().lower()[:ID_CHARACTERS]


def _lp(text: str) -> bytes:
    data = text.encode()
    return len(data).to_bytes(4, "big") + data
