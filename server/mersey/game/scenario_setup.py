"""The position of a scenario: the whole pack placed as the file says (scenarios.md, "A scenario").

Cards that the file names take the lowest free copies; hands that it leaves out get the
round's deal from what is left, in pack order; the remainder goes under the stock, under
the discard pile or into a hand. So every scenario holds the whole pack.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from mersey.game.scenario_file import Given, ScenarioError, ScenarioFile
from mersey.game.state import NOBODY, Game, SeatState
from mersey.rules import deal
from mersey.rules.cards import Card, face_of
from mersey.rules.melds import Named, NamedCard, TableMeld, resolve_meld
from mersey.rules.notation import parse_cards, parse_meld
from mersey.rules.refusals import NotationError, Refusal
from mersey.rules.ruleset import MeldKind, RuleSet, ruleset_hash

LAST_LINK: Final = bytes(deal.LINK_BYTES)
"""The last link of every scenario: its chance is given, so that a run repeats itself."""

OPENED_EARLIER: Final = 1
"""The turn of an opening ``"earlier"``; a scenario begins in a later one."""

CUT_EXCLUDES: Final = ("hands", "discard", "stock", "rest", "melds", "discarded_by", "first_upcard")
"""Keys that place cards: before the cut every card lies in the pack."""


def player_at(seat: int) -> str:
    """Return the player of a scenario's seat; of a seat that the table has not, a stranger.

    >>> player_at(2)
    'p2'
    """
    return f"p{seat}"


def build_game(file: ScenarioFile, rules: RuleSet, source: str) -> Game:
    """Return the state in which the scenario begins.

    Raises:
        ScenarioError: a key does not agree with the rule set, the pack or the notation.
    """
    return _Setup(file, rules, source).build()


class _Setup:
    """The parts of a position, read one after another; the faults of all are told together."""

    def __init__(self, file: ScenarioFile, rules: RuleSet, source: str) -> None:
        self.given: Given = file.given
        self.round = file.round
        self.rules = rules
        self.source = source
        self.faults: list[str] = []

    def build(self) -> Game:
        given = self.given
        seats = self._seats()
        game = self._empty_table(seats)
        self._check_seat("given.active", given.active, seats)
        self._check_seat("given.dealer", given.dealer, seats)
        self._set_scores(game, seats)
        game.step = given.step
        game.buys = self._by_seat("given.bought", given.bought, seats)
        game.reshuffles = given.reshuffles
        if given.step == "cut":
            self._leave_uncut(game)
        else:
            self._place_cards(game, seats)
        self._set_opened(game, seats)
        self._raise_faults()
        return game

    def _raise_faults(self) -> None:
        if self.faults:
            raise ScenarioError(self.source, self.faults)

    def _seats(self) -> int:
        """Return the number of players; without a usable one nothing else can be judged."""
        fewest, most = self.rules.players
        seats = self.given.seats
        if seats is None:
            if fewest != most:
                self.faults.append(
                    f"given.seats is missing: {self.rules.id} is for {self.rules.players_said}"
                )
            seats = fewest
        elif not fewest <= seats <= most:
            self.faults.append(f"given.seats: {self.rules.id} is for {self.rules.players_said}, not {seats}")
        if self.round > len(self.rules.rounds):
            rounds = len(self.rules.rounds)
            self.faults.append(f"round: {self.rules.id} has {rounds} rounds, not {self.round}")
        self._raise_faults()
        return seats

    def _empty_table(self, seats: int) -> Game:
        given = self.given
        links = deal.chain_links(LAST_LINK, len(self.rules.rounds))
        return Game(
            table="scenario",
            host=player_at(0),
            rules=self.rules,
            rules_hash=ruleset_hash(self.rules),
            deal_id="scenario",
            seal=deal.seal_of(links[0]).hex(),
            link=LAST_LINK.hex(),
            chance="given",
            seats=tuple(SeatState(player_at(seat)) for seat in range(seats)),
            entropy=deal.entropy("scenario", [b""] * seats).hex(),
            round=self.round,
            attempt=1,
            dealer=(given.active - 1) % seats if given.dealer is None else given.dealer,
            active=given.active,
            turn=OPENED_EARLIER + 1,
            hands=((),) * seats,
            standing=(False,) * seats,
            cut_bonus=(0,) * seats,
            links=tuple(link.hex() for link in links[: self.round]),
        )

    def _check_seat(self, key: str, seat: int | None, seats: int) -> None:
        if seat is not None and not 0 <= seat < seats:
            self.faults.append(f"{key}: seats are 0 to {seats - 1}, not {seat}")

    def _seat_key(self, key: str, name: str, seats: int) -> int:
        """Return the seat that a table's key names; where it names none, tell and return seat 0."""
        if name.isascii() and name.isdigit() and int(name[:4]) < seats:
            return int(name)
        self.faults.append(f"{key}.{name[:40]}: seats are 0 to {seats - 1}")
        return 0

    def _by_seat(self, key: str, table: Mapping[str, int], seats: int) -> tuple[int, ...]:
        values = {self._seat_key(key, name, seats): value for name, value in table.items()}
        return tuple(values.get(seat, 0) for seat in range(seats))

    def _set_scores(self, game: Game, seats: int) -> None:
        scores = self.given.scores
        if scores is not None and len(scores) != seats:
            self.faults.append(f"given.scores: {len(scores)} totals for {seats} seats")
        game.totals = (0,) * seats if scores is None else scores

    def _set_opened(self, game: Game, seats: int) -> None:
        opened = dict.fromkeys((meld.by for meld in game.melds), OPENED_EARLIER)
        for name, when in self.given.opened.items():
            seat = self._seat_key("given.opened", name, seats)
            opened[seat] = game.turn if when == "this turn" else OPENED_EARLIER
        game.opened = tuple(opened.get(seat, 0) for seat in range(seats))

    def _leave_uncut(self, game: Game) -> None:
        if self.rules.cut is None:
            self.faults.append(f'given.step: {self.rules.id} has no cut, so no step "cut"')
        given = self.given
        for name in CUT_EXCLUDES:
            if getattr(given, name) != getattr(_NOTHING_PLACED, name):
                self.faults.append(f"given.{name}: no card is placed before the cut")
        game.pack = self.rules.pack_for(len(game.seats))

    def _place_cards(self, game: Game, seats: int) -> None:
        given = self.given
        if given.discard is None:
            self.faults.append('given.discard is missing ("" is an empty pile)')
        named: dict[str, Sequence[Named]] = {}
        hands = {}
        for name, text in given.hands.items():
            hands[self._seat_key("given.hands", name, seats)] = f"given.hands.{name}"
            named[f"given.hands.{name}"] = self._cards(f"given.hands.{name}", text)
        melds = self._melds(seats)
        named |= {key: meld.cards for key, meld in melds.items()}
        named["given.discard"] = self._cards("given.discard", given.discard or "")
        named["given.stock"] = self._cards("given.stock", given.stock)
        self._raise_faults()
        left = list(self.rules.pack_for(seats))
        placed = _claim(named, left, self.faults)
        self._raise_faults()
        dealt = [
            list(placed[hands[seat]]) if seat in hands else self._deal(seat, left) for seat in range(seats)
        ]
        stock = list(placed["given.stock"])
        pile = list(placed["given.discard"])
        self._put_rest(left, stock, pile, dealt)
        game.hands = tuple(map(tuple, dealt))
        game.stock = tuple(reversed(stock))
        game.pile = tuple(pile)
        game.pile_by = self._discarders(game, seats)
        game.melds = tuple(
            self._laid(number, key, meld, placed[key]) for number, (key, meld) in enumerate(melds.items(), 1)
        )

    def _deal(self, seat: int, left: list[Card]) -> list[Card]:
        """Take the hand of a seat that the file does not give from what is left."""
        count = self.rules.rounds[self.round - 1].deal
        if len(left) < count:
            self.faults.append(f"given: {len(left)} cards are left for the {count} of seat {seat}'s hand")
        hand = left[:count]
        del left[:count]
        return hand

    def _put_rest(
        self, left: list[Card], stock: list[Card], pile: list[Card], hands: list[list[Card]]
    ) -> None:
        rest = self.given.rest
        if rest is None:
            stock += left
        elif isinstance(rest, str):
            pile[:0] = left
        elif rest < len(hands):
            hands[rest] += left
        else:
            self._check_seat("given.rest", rest, len(hands))

    def _discarders(self, game: Game, seats: int) -> tuple[int, ...]:
        """Return who discarded each card of the pile; of those below the top it is not known."""
        given = self.given
        self._check_seat("given.discarded_by", given.discarded_by, seats)
        if given.discarded_by is not None and (given.first_upcard or not game.pile):
            why = "nobody discarded the first upcard" if given.first_upcard else "the pile is empty"
            self.faults.append(f"given.discarded_by: {why}")
        top = (given.active - 1) % seats if given.discarded_by is None else given.discarded_by
        below = (NOBODY,) * (len(game.pile) - 1)
        return (*below, NOBODY if given.first_upcard else top) if game.pile else ()

    def _cards(self, key: str, text: str) -> tuple[Named, ...]:
        try:
            return parse_cards(text)
        except NotationError as error:
            self.faults.append(f"{key}: {error}")
            return ()

    def _melds(self, seats: int) -> dict[str, _GivenMeld]:
        melds = {}
        for number, text in enumerate(self.given.melds, 1):
            key = f"given.melds[{number}]"
            try:
                melds[key] = _read_meld(text)
            except NotationError as error:
                self.faults.append(f"{key}: {error}")
            else:
                self._check_seat(key, melds[key].by, seats)
        return melds

    def _laid(self, number: int, key: str, meld: _GivenMeld, cards: Sequence[Card]) -> TableMeld:
        named = [NamedCard(card, meaning) for card, meaning in zip(cards, meld.meanings, strict=True)]
        try:
            return TableMeld(number, meld.by, meld.kind, resolve_meld(meld.kind, named).cards)
        except Refusal as refusal:
            self.faults.append(f"{key}: {refusal}")
            return TableMeld(number, meld.by, meld.kind, ())


_NOTHING_PLACED: Final = Given(active=0)


class _GivenMeld:
    """A meld as the file names it: its cards and, beside them, what its jokers stand for."""

    def __init__(self, kind: MeldKind, named: Sequence[Named], by: int) -> None:
        split = [name.partition("=") for name in named]
        self.kind: MeldKind = kind
        self.cards = tuple(Named(card) for card, _, _ in split)
        self.meanings = tuple(meaning for _, _, meaning in split)
        self.by = by


def _read_meld(text: str) -> _GivenMeld:
    words = text.split()
    if len(words) < 3 or words[-2].lower() != "by" or not (words[-1].isascii() and words[-1].isdigit()):
        raise NotationError("say the meld and who laid it, as in: run 5H 6H X=7H 8H by 2")
    meld = parse_meld(" ".join(words[:-2]))
    return _GivenMeld(meld.kind, meld.cards, int(words[-1][:4]))


def _claim(
    named: Mapping[str, Sequence[Named]], left: list[Card], faults: list[str]
) -> dict[str, tuple[Card, ...]]:
    """Take the named cards out of ``left``: exact copies first, then each name its lowest free copy."""
    exact = {str(name) for names in named.values() for name in names} & {str(card) for card in left}
    claimed: dict[str, tuple[Card, ...]] = {}
    for key, names in named.items():
        cards = []
        for name in names:
            card = next((card for card in left if _takes(name, card, exact)), None)
            if card is None:
                faults.append(f"{key}: no {name} is left in the pack")
                continue
            left.remove(card)
            cards.append(card)
        claimed[key] = tuple(cards)
    return claimed


def _takes(name: str, card: str, exact: set[str]) -> bool:
    return name == card if name in exact else face_of(Card(card)) == name and card not in exact
