"""What the line client shows and understands: text from views, updates and choices, entries from lines.

Everything here is a function of its arguments; ``mersey play`` reads and prints. Lines
fit 80 columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Final, Literal, NamedTuple

from mersey.client.errors import ApiError, RefusedError
from mersey.client.phrases import by_suit, contract_named, phrase, seats_free
from mersey.client.table_info import TableInfo
from mersey.client.wire import RawUpdate
from mersey.game.choices import Choices
from mersey.game.events import (
    BuyPassed,
    DiscardOffered,
    EntropyOpened,
    GameStarted,
    LinkOpened,
    OfferClosed,
    PackShuffled,
    RoundEnded,
    SeatReady,
)
from mersey.game.refusals import SENTENCE, TableCode
from mersey.game.seen import Answered, PackShuffledSeen, SeatView, TableView, Update
from mersey.rules.actions import Action, Ready
from mersey.rules.cards import face_of
from mersey.rules.notation import format_action, parse_action
from mersey.rules.refusals import RULE, Code
from mersey.rules.ruleset import RuleSet

WIDTH: Final = 80
FORMS_SHOWN: Final = 12
"""How many forms of one kind of action the help lists."""
LAY_OFFS_SHOWN: Final = 4
LABEL_SHOWN: Final = 24
"""How many characters of a name the table has room for."""

Labels = Mapping[int, str]
"""What each seat is called: ``Ann (1)``, the own one ``you``."""

_SEAT: Final = re.compile(r"\bseat (\d)\b")
_SILENT: Final = (
    Answered,
    BuyPassed,
    DiscardOffered,
    EntropyOpened,
    GameStarted,
    LinkOpened,
    OfferClosed,
    PackShuffled,
    PackShuffledSeen,
    SeatReady,
)
"""Events that a player is not told of: nothing that is seen changes, or the next one or a prompt says it."""

_OPENED: Final = {"no": "no", "this_turn": "this turn", "earlier": "yes"}


def labels_of(info: TableInfo, you: int | None) -> dict[int, str]:
    """Return what each seat of a table is called."""
    return {
        seat.seat: "you"
        if seat.seat == you
        else f"{seat.display_name or seat.strategy or seat.player or 'free'} ({seat.seat})"
        for seat in info.seats
    }


# The table


def table_text(view: TableView, rules: RuleSet, labels: Labels) -> list[str]:
    """Return the table as the view shows it: seats, melds, piles, the own hand."""
    lines = [_headline(view)]
    lines += [_seat_line(view, seat, rules, labels) for seat in range(len(view.seats))]
    for meld in view.melds:
        by = labels.get(meld.by, f"seat {meld.by}")
        lines += _hung(f"{meld.id:>4}  {meld.kind}  ", f"{' '.join(meld.cards)}   by {by}")
    return lines + hand_lines(view)


def _headline(view: TableView) -> str:
    if view.contract is None:
        return f"Table {view.table}: {seats_free(sum(seat is None for seat in view.seats))}"
    contract = contract_named(view.contract.sets, view.contract.runs)
    whole = " with the whole hand" if view.contract.whole_hand else ""
    top = f"discard {view.discard_top}" if view.discard_top else "no discard"
    return f"Round {view.round} of {view.rounds}: {contract}{whole}   stock {view.stock}, {top}"


def _seat_line(view: TableView, seat: int, rules: RuleSet, labels: Labels) -> str:
    held: SeatView | None = view.seats[seat]
    mark = ">" if seat == view.active and view.step not in ("round_over", "game_over") else " "
    if held is None:
        return f"  {mark} (free)"
    total = rules.score.score_sign * view.totals[seat] if view.totals else 0
    place = f"  place {view.places[seat]}" if view.places else ""
    opened = "" if held.opened == "no" else f"  opened: {_OPENED[held.opened]}"
    cards = f"{held.cards} card{'s' * (held.cards != 1)}"
    label = labels.get(seat, f"seat {seat}")[:LABEL_SHOWN]
    return f"  {mark} {label:<{LABEL_SHOWN}}{cards:>9}{total:>7} points{opened}{place}"


def hand_lines(view: TableView) -> list[str]:
    """Return the own hand, suit by suit; cards are written as the notation takes them."""
    suits: dict[str, list[str]] = {}
    for card in by_suit(view.hand or ()):
        face = face_of(card)
        suits.setdefault(face[-1], []).append(face)
    return _hung("hand  ", "   ".join(" ".join(cards) for cards in suits.values())) if suits else []


def _hung(label: str, text: str) -> list[str]:
    indent = " " * len(label)
    return wrap(f"{label}{text}", WIDTH, subsequent_indent=indent, break_long_words=False)


# What happens


def event_text(update: Update | RawUpdate, labels: Labels, rules: RuleSet) -> list[str]:
    """Return the lines that tell of an update, none for what a player need not be told."""
    if isinstance(update, RawUpdate) or isinstance(update.event, _SILENT):
        return []
    event = update.event
    said = phrase(event, {})
    lines = _named(f"{said.who}: {said.what}" if said.who else said.what, labels)
    if isinstance(event, RoundEnded):
        points = (f"seat {seat} {rules.score.score_sign * more:+d}" for seat, more in enumerate(event.points))
        lines += _named(", ".join(points), labels)
    return lines


def _named(text: str, labels: Labels) -> list[str]:
    named = _SEAT.sub(lambda found: labels.get(int(found[1]), found[0]), text)
    named = named.replace("you is ", "you are ").replace("you buys ", "you buy ")
    return wrap(f"  {named}", WIDTH, subsequent_indent="    ", break_long_words=False)


# What is asked


def prompt_text(view: TableView, choices: Choices) -> list[str]:
    """Return what the seat may do now, in a line where it fits."""
    parts = [_asked(choice.kind, choice.actions, choice.more, view) for choice in choices.legal]
    return wrapped(", ".join(parts))


def wrapped(text: str) -> list[str]:
    """Return ``text`` in lines."""
    return wrap(text, WIDTH, subsequent_indent="  ", break_long_words=False)


def _asked(kind: str, actions: Sequence[Action], more: bool, view: TableView) -> str:
    match kind:
        case "cut":
            contract = view.contract
            best = len(view.seats) * contract.deal + 1 if contract else 0
            return f"cut NUMBER ({best} lifted has the bonus)"
        case "take_discard":
            return f"take ({view.discard_top})"
        case "buy":
            return f"buy ({view.offer.card if view.offer else ''} and a penalty card)"
        case "open_contract":
            return format_action(actions[0]) if len(actions) == 1 and not more else "open … (? shows how)"
        case "lay_off" | "swap_joker":
            return _some(actions)
        case _:
            return _WORDS.get(kind, kind)


_WORDS: Final = {
    "choose_stock": "stock",
    "pass": "pass, pass round",
    "ready": "ready (or Enter)",
    "discard": "discard CARD",
}


def _some(actions: Sequence[Action]) -> str:
    shown = ", ".join(map(format_action, actions[:LAY_OFFS_SHOWN]))
    return f"{shown} …" if len(actions) > LAY_OFFS_SHOWN else shown


def help_text(choices: Choices | None) -> list[str]:
    """Return the forms of everything that the seat may do now, and why not the rest."""
    lines = ["Cards: rank and suit, 7S TH AD; X is a joker, X=5H says what it stands for."]
    lines.append("Enter shows the table again; quit leaves it, and your seat is kept.")
    if choices is None:
        return [*lines, "It is not your turn."]
    for choice in choices.legal:
        lines += _forms(choice.actions, choice.more)
    if choices.missing:
        lines.append("Not now:")
        lines += _reasons(choices.missing)
    return lines


def _forms(actions: Sequence[Action], more: bool) -> Iterator[str]:
    for action in actions[:FORMS_SHOWN]:
        yield from _hung("  ", format_action(action))
    left = len(actions) - FORMS_SHOWN
    if left > 0 or more:
        yield f"  … and {left} more" if left > 0 else "  … and more"


def _reasons(missing: Mapping[str, str]) -> Iterator[str]:
    for kind, code in missing.items():
        yield from _hung(f"  {kind.replace('_', ' ')}: ", sentence_of(code))


def sentence_of(code: str) -> str:
    """Return the sentence for a code of the rules or the table, the code itself where there is none.

    >>> sentence_of("not_your_turn")
    "It is another player's turn. [rules section 5]"
    """
    if code in set(Code):
        section, sentence = RULE[Code(code)]
        return f"{sentence} [rules section {section}]"
    return SENTENCE[TableCode(code)] if code in set(TableCode) else code


def refusal_text(error: ApiError) -> str:
    """Return an error of the server in one sentence, with the section of the rules where it is one."""
    if not isinstance(error, RefusedError):
        return f"{error}"
    cards = f" ({' '.join(error.cards)})" if error.cards else ""
    section = f" [rules section {error.section}]" if error.section else ""
    return f"{error}{cards}{section}"


# What is typed


class Entry(NamedTuple):
    """What a line asks for: an action to be played, or something of the client itself."""

    wish: Literal["act", "help", "show", "quit"]
    action: Action | None = None


def read_entry(line: str, choices: Choices | None) -> Entry:
    """Return what a typed line asks for; an empty one is ``ready`` where that is asked.

    Raises:
        NotationError: it is nothing that is understood.
    """
    word = line.strip().lower()
    if word in ("?", "h", "help"):
        return Entry("help")
    if word in ("q", "quit", "exit"):
        return Entry("quit")
    if not word:
        asked = choices is not None and bool(choices.actions("ready"))
        return Entry("act", Ready()) if asked else Entry("show")
    return Entry("act", parse_action(line.strip()))
