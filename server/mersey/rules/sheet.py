"""The rule sheet: a rule set in words that a player can read, made from its fields alone.

Nothing here knows a rule set by name: whatever value a house variant gives a field, its
sheet says so. What is the same in all rule sets is said as well, so that a sheet is
enough to sit down and play.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from textwrap import wrap
from typing import Final

from mersey.rules.cards import FACES, JOKER, RANKS
from mersey.rules.ruleset import Buy, Cut, RuleSet, Swap

WIDTH: Final = 78
"""Characters in a line of the sheet, at most."""

_RANK_NAMES: Final = {"T": "10", "J": "jack", "Q": "queen", "K": "king", "A": "ace"}
_SAME_TURN: Final = "From your opening on, in the same turn too,"
_NEXT_TURN: Final = "From your next own turn after the opening on"
_LOW_TO_HIGH: Final = RANKS[1:] + RANKS[0]


def sheet(rules: RuleSet) -> str:
    r"""Return the rule sheet of ``rules``: plain text, below its title no line longer than ``WIDTH``.

    >>> from mersey.rules.ruleset_file import load_ruleset
    >>> print("\n".join(sheet(load_ruleset("liverpool")).splitlines()[:4]))
    LIVERPOOL RUMMY  (liverpool)
    <BLANKLINE>
    PLAYERS AND PACK
      - 4 players.
    """
    sections = (
        ("PLAYERS AND PACK", _bullets(_players_and_pack(rules))),
        ("ROUNDS", [*_rounds_table(rules), "", *_bullets(_rounds(rules))]),
        ("THE CUT", _bullets(_cut(rules, rules.cut))),
        ("A TURN", _numbered(_turn(rules))),
        ("OPENING AND LAYING OFF", _bullets(_melds(rules))),
        ("JOKERS", _bullets(_jokers(rules))),
        ("SWAPPING A JOKER", _bullets(_swapping(rules, rules.swap))),
        ("BUYING", _bullets(_buying(rules.buy))),
        ("WHEN THE STOCK RUNS OUT", _bullets(_stock(rules))),
        ("SCORE", [*_score_table(rules), "", *_bullets(_score(rules))]),
    )
    head = f"{rules.title.upper()}  ({rules.id})"
    return "\n\n".join([head, *("\n".join([title, *lines]) for title, lines in sections)])


def _bullets(sentences: Iterable[str]) -> list[str]:
    return [line for sentence in sentences for line in _hung("  - ", sentence)]


def _numbered(sentences: Iterable[str]) -> list[str]:
    return [line for n, sentence in enumerate(sentences, 1) for line in _hung(f"  {n}. ", sentence)]


def _hung(mark: str, sentence: str) -> list[str]:
    return wrap(
        sentence, WIDTH, initial_indent=mark, subsequent_indent=" " * len(mark), break_on_hyphens=False
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def _ordinal(number: int) -> str:
    teen = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _span(low: int, high: int, joint: str = "to") -> str:
    return str(low) if low == high else f"{low} {joint} {high}"


def _players_and_pack(rules: RuleSet) -> Iterator[str]:
    fewest, most = rules.players
    yield f"{_span(fewest, most)} players."
    ways = groupby(range(fewest, most + 1), lambda n: (rules.decks_for(n), rules.jokers_for(n)))
    packs = [(decks, jokers, list(players)) for (decks, jokers), players in ways]
    for decks, jokers, players in packs:
        whom = "" if len(packs) == 1 else f" with {_span(players[0], players[-1])} players"
        size = decks * len(FACES) + jokers
        joined = f"{_count(decks, 'deck')} of 52 cards and {_count(jokers, 'joker')}"
        yield f"The pack{whom}: {joined}, {size} cards together."
    yield "The first dealer is drawn at random; then the deal passes to the left, round by round."
    yield (
        "The pack is shuffled anew for each round and dealt one card at a time from the dealer's left. The "
        "next card is turned up and starts the discard pile, the rest is the stock. The dealer's left-hand "
        "neighbour has the first turn."
    )


def _rounds_table(rules: RuleSet) -> list[str]:
    rows = [
        (str(n), _contract(contract.sets, contract.runs), str(contract.deal), contract.whole_hand)
        for n, contract in enumerate(rules.rounds, 1)
    ]
    wide = max(len("contract"), *(len(contract) for _, contract, *_ in rows))
    lines = [f"  round   {'contract':<{wide}}   cards dealt"]
    for number, contract, deal, whole in rows:
        lines.append(f"  {number:>5}   {contract:<{wide}}   {deal:>11}{'   the whole hand' if whole else ''}")
    return lines


def _contract(sets: int, runs: int) -> str:
    parts = [_count(n, what) for n, what in ((sets, "set"), (runs, "run")) if n]
    return ", ".join(parts)


def _rounds(rules: RuleSet) -> Iterator[str]:
    yield "Everybody plays the same contract in a round, and nothing of it carries over to the next."
    if any(contract.whole_hand for contract in rules.rounds):
        melds = f"exactly {_count(rules.rounds[-1].runs, 'run')} of {rules.melds.run_size} or more cards"
        yield (
            "The whole hand: in the last round to open is to go out. Lay all your cards at one stroke, "
            f"those drawn and bought included, as {melds}, with none left and no discard. Until then a turn "
            "is draw and discard: no other opening, no lay-off, no swap."
        )


def _cut(rules: RuleSet, cut: Cut | None) -> Iterator[str]:
    if cut is None:
        yield "The pack is not cut."
        return
    yield "Before each deal the dealer's right-hand neighbour lifts a packet, and it goes to the bottom."
    yield (
        f"A packet of exactly the cards that the deal needs ({_needed(rules)}) takes "
        f"{_count(cut.bonus, 'point')} off the cutter's score, whatever happens in the round."
    )
    if cut.cut_spread:
        yield (
            f"Name the size you aim at. A hand can aim but not count: you lift up to {cut.cut_spread} "
            f"cards fewer or more, each number equally likely."
        )
    else:
        yield "Name the size you lift; exactly that is lifted."


def _needed(rules: RuleSet) -> str:
    """Return how many cards a deal needs: numbers where the players are fixed, else the formula."""
    fewest, most = rules.players
    if fewest != most:
        return "players times cards dealt, and the card turned up"
    needs = [(contract.deal * most + 1, n) for n, contract in enumerate(rules.rounds, 1)]
    spans = []
    for size, group in groupby(needs, lambda need: need[0]):
        numbers = [n for _, n in group]
        word = "round" if len(numbers) == 1 else "rounds"
        spans.append(f"{size} in {word} {_span(numbers[0], numbers[-1])}")
    return ", ".join(spans)


def _turn(rules: RuleSet) -> Iterator[str]:
    if rules.buy.max_buys_per_round == 0:
        yield "Draw one card: the top discard, or the top of the stock."
    else:
        yield (
            "Draw one card: the top discard, or the top of the stock. If you choose the stock, you are "
            "bound to it, and the top discard is first offered to the others (see BUYING)."
        )
    yield "Meld if you can and like, in any order: open, lay off, swap a joker. You need not."
    yield (
        "Discard one card, any card, even the one just taken. That ends the turn. Whoever discards the "
        "last card goes out and ends the round. So keep a card for the discard when you meld."
    )


def _melds(rules: RuleSet) -> Iterator[str]:
    melds = rules.melds
    yield "A set is cards of one rank, whatever their suits. A run is cards of one suit in consecutive ranks."
    yield "The ace is low (A 2 3 4) or high (J Q K A), never in the middle; no run is longer than A to A."
    how = "exactly {}" if melds.open_size == "exact" else "{} or more"
    sizes = f"sets of {how.format(melds.set_size)} cards, runs of {how.format(melds.run_size)}"
    yield f"You open with the round's whole contract at one stroke, no meld more or less: {sizes}."
    if melds.adjacent_runs:
        yield "Two runs of one suit in one opening may touch: 3 to 6 and 7 to 10 of spades are two runs."
    else:
        yield (
            "Two runs of one suit in one opening may not touch (3 to 6 and 7 to 10 of spades are one long "
            "run, not two). They may overlap, be alike, or leave a gap of a rank or more."
        )
    since = _SAME_TURN if melds.lay_off_on_opening_turn else _NEXT_TURN
    yield f"{since} you may lay off: add cards, one at a time, to any meld on the table, whoever laid it."
    yield "Nobody lays a new meld after opening. Melds are never merged or taken back."


def _jokers(rules: RuleSet) -> Iterator[str]:
    melds = rules.melds
    yield (
        "A joker stands for one card, which is named when it is laid and never changes; it need not be "
        "named where only one reading is possible."
    )
    limits = []
    if melds.max_jokers_per_meld is not None:
        limits.append(f"at most {_count(melds.max_jokers_per_meld, 'joker')}")
    if melds.min_naturals_per_meld:
        limits.append(f"at least {_count(melds.min_naturals_per_meld, 'natural card')}")
    yield (
        f"A meld has {' and '.join(limits)}." if limits else "A meld may have any number of jokers, even all."
    )


def _swapping(rules: RuleSet, swap: Swap) -> Iterator[str]:
    if not swap.swap_from:
        yield "A joker on the table stays for good."
        return
    kinds = " or ".join(f"a {kind}" for kind in ("run", "set") if kind in swap.swap_from)
    when = _SAME_TURN if rules.melds.lay_off_on_opening_turn else _NEXT_TURN
    yield f"{when} you may free a joker from {kinds} with a natural card from your hand."
    if "run" in swap.swap_from:
        yield "From a run: exactly the card that the joker stands for takes its place."
    if "set" in swap.swap_from:
        yield "From a set: any card of its rank takes its place."
    if len(swap.swap_from) == 1:
        yield f"A joker in a {'set' if 'run' in swap.swap_from else 'run'} stays for good."
    yield {
        "any_meld": "The freed joker goes at once onto any meld on the table, the same one included.",
        "other_meld": "The freed joker goes at once onto another meld on the table.",
        "hand": "The freed joker goes into your hand, to use or to keep.",
    }[swap.freed_joker]
    if swap.swap_in_opening:
        yield (
            "An opening may itself free one joker from the table and use it in the contract that is being "
            "laid, all at one stroke."
        )
    else:
        yield "An opening uses no joker from the table."


def _buying(buy: Buy) -> Iterator[str]:
    if buy.max_buys_per_round == 0:
        yield "There is no buying."
        return
    yield (
        "When the active player chooses the stock, each other player may buy the top discard or pass. "
        "Of several buyers the one whose turn comes soonest has it."
    )
    barred = [] if buy.discarder_may_buy else ["who discarded the card"]
    barred += [] if buy.opened_may_buy else ["who has opened in this round"]
    if barred:
        yield f"Not to buy: {' and '.join(barred)}."
    else:
        yield "Everybody else may buy: who discarded the card too, and who has opened."
    if not buy.discarder_may_buy:
        yield "The first upcard was discarded by nobody: the dealer may buy it like the others."
    yield _price(buy.penalty_cards)
    if buy.penalty_cards:
        yield "Where no penalty card can be had, nothing is offered."
    if buy.chain:
        yield (
            "After a buy the discard now on top is offered in the same way, but not to the player who "
            "bought last; and so on until nobody buys."
        )
    else:
        yield "One buy a turn: the discard under a bought one is not offered."
    if buy.max_buys_per_round is None:
        yield "Buy as often as you like."
    else:
        yield f"Nobody buys more than {_times(buy.max_buys_per_round)} in a round."


def _price(penalty_cards: int) -> str:
    after = "melds and discards nothing, and the turn does not move."
    if not penalty_cards:
        return f"A buy costs nothing: the buyer takes the discard, {after}"
    cards = "a card" if penalty_cards == 1 else f"{penalty_cards} cards"
    return f"The buyer takes the discard and {cards} from the stock as penalty, {after}"


def _stock(rules: RuleSet) -> Iterator[str]:
    most = rules.stock.max_reshuffles
    if most:
        yield (
            "When a card is needed and the stock is empty, the top discard stays and the rest of the "
            "discards is shuffled into a new stock."
        )
        yield (
            f"At most {_times(most)} a round: where it would be for the {_ordinal(most + 1)} time, the round "
            "ends without a winner."
        )
    else:
        yield "The discards are never shuffled into a new stock."
    yield (
        "If the active player chooses the stock and there is no card to draw, the round ends without a "
        "winner, and all hands count."
    )


def _score_table(rules: RuleSet) -> list[str]:
    values = rules.score.values
    alike = [(value, list(same)) for value, same in groupby(_LOW_TO_HIGH, lambda rank: values[rank])]
    rows: list[tuple[str, str]] = []
    for is_face_value, group in groupby(alike, lambda entry: entry[1] == [str(entry[0])]):
        entries = list(group)
        if is_face_value and len(entries) > 1:
            rows.append((_ranks([rank for _, (rank,) in entries]), "face value"))
        else:
            rows += [(_ranks(ranks), str(value)) for value, ranks in entries]
    rows.append(("joker", str(values[JOKER])))
    wide = max(len(ranks) for ranks, _ in rows)
    return [f"  {ranks:<{wide}}   {value}" for ranks, value in rows]


def _ranks(ranks: list[str]) -> str:
    names = [_RANK_NAMES.get(rank, rank) for rank in ranks]
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"


def _score(rules: RuleSet) -> Iterator[str]:
    yield "Cards left in your hand at the round's end are penalty points; melds count nothing."
    yield "Who goes out has 0."
    shown = "" if rules.score.score_sign == 1 else " Totals are shown as negative numbers."
    yield f"The fewest penalty points over all rounds win; equal totals share a place.{shown}"
