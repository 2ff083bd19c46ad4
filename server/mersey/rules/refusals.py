"""Refusals: every reason for which the rules say no (rules.md section 10), and the error that carries one.

MerseyError
├── NotationError   text that can't be read
├── RuleSetError    a rule set file with faults, each named by key
└── Refusal         a command that the rules forbid now; nothing has changed
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final


class MerseyError(Exception):
    """Base of every error that this project raises on purpose."""


class NotationError(MerseyError):
    """Text that is no card, meld or action of the notation."""


class RuleSetError(MerseyError):
    """A rule set file that can't be used; ``faults`` names each key and what is wrong with it."""

    def __init__(self, source: str, faults: Sequence[str]) -> None:
        self.source = source
        self.faults = tuple(faults)
        super().__init__(f"{source}: " + "; ".join(self.faults))


class Code(StrEnum):
    """Why a command was refused; the values are those of rules.md section 10."""

    NOT_SEATED = "not_seated"
    NOT_YOUR_TURN = "not_your_turn"
    GAME_NOT_RUNNING = "game_not_running"
    ROUND_OVER = "round_over"
    MUST_DRAW_FIRST = "must_draw_first"
    ALREADY_DRAWN = "already_drawn"
    BUY_WINDOW_OPEN = "buy_window_open"
    NO_BUY_WINDOW = "no_buy_window"
    ACTIVE_CANNOT_BUY = "active_cannot_buy"
    DISCARDER_CANNOT_BUY = "discarder_cannot_buy"
    OPENED_CANNOT_BUY = "opened_cannot_buy"
    BOUGHT_LAST = "bought_last"
    ALREADY_ANSWERED = "already_answered"
    BUY_LIMIT_REACHED = "buy_limit_reached"
    NO_DISCARD = "no_discard"
    CARD_NOT_IN_HAND = "card_not_in_hand"
    CARD_NAMED_TWICE = "card_named_twice"
    NOT_A_SET = "not_a_set"
    NOT_A_RUN = "not_a_run"
    WRONG_SIZE = "wrong_size"
    CONTRACT_MISMATCH = "contract_mismatch"
    RUNS_ADJACENT = "runs_adjacent"
    JOKER_POSITION_REQUIRED = "joker_position_required"
    JOKER_POSITION_INVALID = "joker_position_invalid"
    JOKER_LIMIT = "joker_limit"
    ALREADY_OPENED = "already_opened"
    NOT_OPENED = "not_opened"
    OPENED_THIS_TURN = "opened_this_turn"
    MUST_KEEP_DISCARD = "must_keep_discard"
    MUST_USE_WHOLE_HAND = "must_use_whole_hand"
    NO_SUCH_MELD = "no_such_meld"
    DOES_NOT_FIT = "does_not_fit"
    MELD_FULL = "meld_full"
    NO_MELDING_THIS_ROUND = "no_melding_this_round"
    JOKER_FIXED = "joker_fixed"
    NO_SUCH_JOKER = "no_such_joker"
    NOT_THE_REPRESENTED_CARD = "not_the_represented_card"
    JOKER_DESTINATION_REQUIRED = "joker_destination_required"
    JOKER_DESTINATION_INVALID = "joker_destination_invalid"
    SWAP_LIMIT = "swap_limit"
    NOT_THE_CUTTER = "not_the_cutter"
    ALREADY_CUT = "already_cut"
    MUST_CUT_FIRST = "must_cut_first"


RULE: Final[dict[Code, tuple[int, str]]] = {
    Code.NOT_SEATED: (10, "You hold no seat at this table."),
    Code.NOT_YOUR_TURN: (5, "It is another player's turn."),
    Code.GAME_NOT_RUNNING: (10, "No game is running at this table."),
    Code.ROUND_OVER: (10, "The round is over; say when you are ready for the next."),
    Code.MUST_DRAW_FIRST: (5, "Draw a card first."),
    Code.ALREADY_DRAWN: (5, "You have drawn your card for this turn."),
    Code.BUY_WINDOW_OPEN: (6, "The discard is being offered; the draw comes when all have answered."),
    Code.NO_BUY_WINDOW: (6, "No discard is being offered now."),
    Code.ACTIVE_CANNOT_BUY: (6, "The active player chose the stock and can't buy."),
    Code.DISCARDER_CANNOT_BUY: (6, "Who discarded this card may not buy it."),
    Code.OPENED_CANNOT_BUY: (6, "Who has opened may not buy."),
    Code.BOUGHT_LAST: (6, "Who bought last is left out of this offer."),
    Code.ALREADY_ANSWERED: (6, "You have answered this offer."),
    Code.BUY_LIMIT_REACHED: (6, "You have bought as often as this round allows."),
    Code.NO_DISCARD: (6, "The discard pile is empty."),
    Code.CARD_NOT_IN_HAND: (10, "A card is named that you do not hold."),
    Code.CARD_NAMED_TWICE: (10, "The same card is named twice."),
    Code.NOT_A_SET: (1, "A set is cards of one rank."),
    Code.NOT_A_RUN: (1, "A run is cards of one suit in consecutive ranks, each place filled once."),
    Code.WRONG_SIZE: (5, "The meld has not the size that an opening asks for."),
    Code.CONTRACT_MISMATCH: (5, "An opening lays the round's whole contract, no meld more or less."),
    Code.RUNS_ADJACENT: (5, "Two runs of one suit in one opening may not touch."),
    Code.JOKER_POSITION_REQUIRED: (2, "Say which card the joker stands for."),
    Code.JOKER_POSITION_INVALID: (2, "The joker can't stand for that card in this meld."),
    Code.JOKER_LIMIT: (2, "The meld would hold more jokers, or fewer natural cards, than the rules allow."),
    Code.ALREADY_OPENED: (5, "You have opened in this round."),
    Code.NOT_OPENED: (5, "Open first."),
    Code.OPENED_THIS_TURN: (5, "Not in the turn of your opening."),
    Code.MUST_KEEP_DISCARD: (5, "Keep a card for the discard."),
    Code.MUST_USE_WHOLE_HAND: (5, "In this round the opening must lay the whole hand."),
    Code.NO_SUCH_MELD: (1, "There is no meld of that number on the table."),
    Code.DOES_NOT_FIT: (5, "The card does not fit that meld."),
    Code.MELD_FULL: (1, "The meld takes no more cards."),
    Code.NO_MELDING_THIS_ROUND: (5, "In this round there is no lay-off and no swap."),
    Code.JOKER_FIXED: (7, "A joker in such a meld stays for good."),
    Code.NO_SUCH_JOKER: (7, "That meld holds no joker."),
    Code.NOT_THE_REPRESENTED_CARD: (7, "No joker of that meld stands for this card."),
    Code.JOKER_DESTINATION_REQUIRED: (7, "Say where the freed joker goes."),
    Code.JOKER_DESTINATION_INVALID: (7, "The freed joker can't go there."),
    Code.SWAP_LIMIT: (7, "An opening may hold one swap at most, and only where the rule set allows it."),
    Code.NOT_THE_CUTTER: (3, "Only the dealer's right-hand neighbour cuts, where the rule set has a cut."),
    Code.ALREADY_CUT: (3, "The pack has been cut."),
    Code.MUST_CUT_FIRST: (3, "The pack must be cut first."),
}
"""For each code the section of rules.md and a sentence for the player."""

assert RULE.keys() == set(Code), "every code has its section and sentence"


class Refusal(MerseyError):
    """A command that the rules forbid in this position; it changes nothing and records nothing.

    ``cards`` are those at fault, as the player named or holds them; it is empty where none is.
    """

    def __init__(self, code: Code, cards: Sequence[str] = ()) -> None:
        self.code = code
        self.cards = tuple(cards)
        super().__init__(code, self.cards)

    @property
    def section(self) -> int:
        """The section of rules.md that says so."""
        return RULE[self.code][0]

    @property
    def sentence(self) -> str:
        """What to tell the player."""
        return RULE[self.code][1]

    def __str__(self) -> str:
        """Return code, sentence, cards and section in one line."""
        named = f" ({' '.join(self.cards)})" if self.cards else ""
        return f"{self.code}: {self.sentence}{named} [rules section {self.section}]"
