"""The notation: one codec, both ways, for actions, melds and hands (scenarios.md).

``parse_action`` reads what a person types, in any case; ``format_action`` writes the
one canonical form. What is written reads back; any text is an action or a
``NotationError`` that says which word is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, assert_never

from mersey.rules.actions import (
    Action,
    Buy,
    ChooseStock,
    Cut,
    Destination,
    Discard,
    LayOff,
    NamedMeld,
    OpenContract,
    OpeningSwap,
    Pass,
    Ready,
    SwapJoker,
    TakeDiscard,
)
from mersey.rules.melds import Named
from mersey.rules.refusals import NotationError
from mersey.rules.ruleset import MeldKind

TEXT_MAX: Final = 2000
"""The longest action text that is read, in characters."""

NUMBER_MAX: Final = 999_999
"""The largest number that is read: a packet's size or a meld's number."""

_CARD: Final = re.compile(r"[A2-9TJQK][SHDC][1-9]?")
_JOKER: Final = re.compile(r"(X(?:[1-9][0-9]{0,2})?)(?:=(?:([A2-9TJQK][SHDC])[1-9]?|([A2-9TJQK])))?")
_KINDS: Final[dict[str, MeldKind]] = {"SET": "set", "RUN": "run"}


def parse_named(word: str) -> Named:
    """Return the card or joker that ``word`` names, in canonical form.

    >>> parse_named("7s2"), parse_named("x=5h1"), parse_named("X2=t")
    ('7S2', 'X=5H', 'X2=T')

    Raises:
        NotationError: where ``word`` is neither.
    """
    text = word.upper()
    if _CARD.fullmatch(text):
        return Named(text)
    joker = _JOKER.fullmatch(text)
    if joker is None:
        raise NotationError(f"not a card: {_shown(word)} (say 7S, TH, AD2, X, X=5H or X=7)")
    meaning = joker[2] or joker[3]
    return Named(f"{joker[1]}={meaning}" if meaning else joker[1])


def parse_card_name(word: str) -> Named:
    """Return the card that ``word`` names: a face, an exact card or a joker, without a meaning.

    >>> parse_card_name("td1"), parse_card_name("x")
    ('TD1', 'X')
    """
    named = parse_named(word)
    if "=" in named:
        raise NotationError(f"a card on its own stands for nothing else: {_shown(word)}")
    return named


def parse_cards(text: str) -> tuple[Named, ...]:
    """Return the cards of a hand or pile written with spaces; ``""`` is none.

    >>> parse_cards("7S TH2 X")
    ('7S', 'TH2', 'X')
    """
    return tuple(parse_card_name(word) for word in text.split())


def parse_meld(text: str) -> NamedMeld:
    """Return the meld that ``text`` names.

    >>> parse_meld("run 5h x=6h 7h 8h").cards
    ('5H', 'X=6H', '7H', '8H')
    """
    words = text.split()
    kind = _KINDS.get(words[0].upper()) if words else None
    if kind is None:
        raise NotationError(f"not a meld: {_shown(text)} (say 'set' or 'run' and its cards)")
    if len(words) == 1:
        raise NotationError(f"a {kind} of no cards: {_shown(text)}")
    return NamedMeld(kind, tuple(parse_named(word) for word in words[1:]))


def parse_action(text: str) -> Action:
    """Return the action that ``text`` says.

    >>> parse_action("LAY 7d ON 1")
    LayOff(card='7D', meld=1)

    Raises:
        NotationError: with the word at fault.
    """
    if len(text) > TEXT_MAX:
        raise NotationError(f"an action has at most {TEXT_MAX} characters, not {len(text)}")
    parts = [part.split() for part in text.split(",")]
    words = parts[0]
    verb = words[0].lower() if words else ""
    reader = _READERS.get(verb)
    if reader is None:
        raise NotationError(f"not an action: {_shown(text)} (one of {', '.join(_READERS)})")
    return reader(words[1:], parts[1:])


def format_meld(meld: NamedMeld) -> str:
    """Return the notation of ``meld``."""
    return f"{meld.kind} {' '.join(meld.cards)}"


def format_action(action: Action) -> str:
    """Return the notation of ``action``.

    >>> format_action(LayOff(Named("7D"), 1))
    'lay 7D on 1'
    """
    match action:
        case Cut(aim):
            return f"cut {aim}"
        case TakeDiscard():
            return "take"
        case ChooseStock():
            return "stock"
        case Buy():
            return "buy"
        case Pass(standing):
            return "pass round" if standing else "pass"
        case Ready():
            return "ready"
        case Discard(card):
            return f"discard {card}"
        case _:
            return _format_melding(action)


def _format_melding(action: OpenContract | LayOff | SwapJoker) -> str:
    match action:
        case OpenContract(melds, swaps):
            parts = [format_meld(meld) for meld in melds]
            parts += [f"swap {swap.card} on {swap.meld}" for swap in swaps]
            return f"open {', '.join(parts)}"
        case LayOff(card, meld):
            return f"lay {card} on {meld}"
        case SwapJoker(card, meld, to):
            place = f", {to.joker} on {to.meld}" if to else ""
            return f"swap {card} on {meld}{place}"
        case _:
            assert_never(action)


Words = Sequence[str]
Reader = Callable[[Words, Sequence[Words]], Action]


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


def _number(word: str, what: str) -> int:
    if not (word.isascii() and word.isdigit()) or int(word[:7]) > NUMBER_MAX:
        raise NotationError(f"not {what}: {_shown(word)}")
    return int(word)


def _bare(verb: str, action: Action) -> Reader:
    def read(words: Words, parts: Sequence[Words]) -> Action:
        if words or parts:
            raise NotationError(f"'{verb}' takes nothing after it")
        return action

    return read


def _no_parts(verb: str, parts: Sequence[Words]) -> None:
    if parts:
        raise NotationError(f"'{verb}' takes no second part after a comma")


def _read_cut(words: Words, parts: Sequence[Words]) -> Action:
    _no_parts("cut", parts)
    if len(words) != 1:
        raise NotationError("say 'cut' and the size aimed at, as in: cut 41")
    return Cut(_number(words[0], "a packet size"))


def _read_pass(words: Words, parts: Sequence[Words]) -> Action:
    _no_parts("pass", parts)
    if [word.lower() for word in words] not in ([], ["round"]):
        raise NotationError("say 'pass', or 'pass round' till the round's end")
    return Pass(standing=bool(words))


def _read_discard(words: Words, parts: Sequence[Words]) -> Action:
    _no_parts("discard", parts)
    if len(words) != 1:
        raise NotationError("say 'discard' and one card, as in: discard 7S")
    return Discard(parse_card_name(words[0]))


def _on(words: Words, example: str) -> tuple[str, int]:
    if len(words) != 3 or words[1].lower() != "on":
        raise NotationError(f"say the card, 'on' and the meld's number, as in: {example}")
    return words[0], _number(words[2], "a meld's number")


def _read_lay(words: Words, parts: Sequence[Words]) -> Action:
    _no_parts("lay", parts)
    card, meld = _on(words, "lay 7D on 1")
    return LayOff(parse_named(card), meld)


def _natural(word: str) -> Named:
    card = parse_card_name(word)
    if card[0] == "X":
        raise NotationError(f"the natural card is named, not the joker: {_shown(word)}")
    return card


def _read_swap(words: Words, parts: Sequence[Words]) -> Action:
    card, meld = _on(words, "swap 5H on 1, X=8H on 3")
    natural = _natural(card)
    if not parts:
        return SwapJoker(natural, meld)
    if len(parts) > 1:
        raise NotationError("a swap has one new place for its joker, as in: swap 5H on 1, X=8H on 3")
    joker, to = _on(parts[0], "swap 5H on 1, X=8H on 3")
    named = parse_named(joker)
    if named[0] != "X":
        raise NotationError(f"the freed joker is named X, not {_shown(joker)}")
    return SwapJoker(natural, meld, Destination(named, to))


def _read_open(words: Words, parts: Sequence[Words]) -> Action:
    melds: list[NamedMeld] = []
    swaps: list[OpeningSwap] = []
    for part in (words, *parts):
        if part and part[0].lower() == "swap":
            card, meld = _on(part[1:], "open set KS KH X, swap 5H on 2")
            swaps.append(OpeningSwap(_natural(card), meld))
        elif swaps:
            raise NotationError("in an opening the melds come first, then the swap")
        else:
            melds.append(parse_meld(" ".join(part)))
    if not melds:
        raise NotationError("an opening names its melds, as in: open set 7S 7H 7D, run 3C 4C 5C 6C")
    return OpenContract(tuple(melds), tuple(swaps))


_READERS: Final[dict[str, Reader]] = {
    "cut": _read_cut,
    "stock": _bare("stock", ChooseStock()),
    "take": _bare("take", TakeDiscard()),
    "buy": _bare("buy", Buy()),
    "pass": _read_pass,
    "ready": _bare("ready", Ready()),
    "open": _read_open,
    "lay": _read_lay,
    "swap": _read_swap,
    "discard": _read_discard,
}
