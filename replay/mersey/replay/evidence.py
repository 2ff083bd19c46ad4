"""Evidence: all that can be proved of a game without deciding anything again.

Links, parts, shuffles, cuts, deals, rebuilt stocks, points, totals and places are worked out here from the
record itself, by ``mersey.rules.deal`` and arithmetic. ``mersey.replay.verify`` decides each cause again as
well, so that a fault of the engine can't vouch for itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

from mersey.game.commands import Chance
from mersey.game.conservation import CardsLost, check_cards
from mersey.game.events import (
    EntropyOpened,
    Event,
    GameEnded,
    GameStarted,
    HandsDealt,
    LinkOpened,
    PackCut,
    PackShuffled,
    RoundEnded,
    RoundStarted,
    StockRebuilt,
    TableOpened,
)
from mersey.game.state import Game
from mersey.rules import deal
from mersey.rules.cards import Card
from mersey.rules.melds import card_of
from mersey.rules.refusals import MerseyError, RuleSetError
from mersey.rules.ruleset import RuleSet, ruleset_bytes, ruleset_hash
from mersey.rules.ruleset_file import ruleset_from_json
from mersey.rules.scoring import hand_points, places

_CHANCE: Final[dict[Chance, str]] = {
    "drawn": "chance drawn: the server drew the links when the table was opened",
    "given": "chance given: the links come from a seed, and who knew it knew every card",
}


class Disproved(MerseyError):
    """An event that is not what the record before it demands; ``check`` names the check."""

    def __init__(self, check: str, what: str) -> None:
        self.check = check
        super().__init__(what)


def check_rules(rules: RuleSet) -> None:
    """Raise Disproved unless ``rules`` could stand in a rule set file (rules.md section 13)."""
    try:
        ruleset_from_json(ruleset_bytes(rules))
    except RuleSetError as error:
        raise Disproved("rules", str(error)) from error


class Evidence:
    """What the record has said so far that later events must agree with."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        """How often each check held."""
        self.parts = ""
        """How many seats took part in the deal, in words; empty before the start."""
        self.chance = ""
        """Where the links come from, in words; empty before the table was opened."""
        self._links: tuple[bytes, ...] = ()
        self._entropy = b""
        self._key = b""
        self._totals: list[int] = []
        self._whole: frozenset[Card] = frozenset()

    def check(self, before: Game, event: Event) -> None:
        """Take ``event`` into account, which follows the state ``before``.

        Raises:
            Disproved: it is not what the record before it demands.
        """
        checker = _CHECKERS.get(type(event))
        if checker is not None:
            checker(self, before, event)

    def check_cards(self, before: Game, after: Game) -> None:
        """Check that every physical card is in exactly one place in the state ``after`` an event.

        Raises:
            Disproved: with the cards that are not.
        """
        if after.round == 0:
            return
        if _cards_moved(before, after):
            cards = [*after.pack, *after.stock, *after.pile]
            for hand in after.hands:
                cards += hand
            for meld in after.melds:
                cards += map(card_of, meld.cards)
            if len(cards) != len(self._whole) or set(cards) != self._whole:
                _name_lost_cards(after)
        self.counts["cards"] += 1

    def _demand(self, check: str, holds: bool, what: str) -> None:
        if not holds:
            raise Disproved(check, what)

    def _table_opened(self, before: Game, event: TableOpened) -> None:
        check_rules(event.rules)
        self.chance = _CHANCE[event.chance]
        self._demand(
            "rules", event.rules_hash == ruleset_hash(event.rules), "rules_hash is not that of the rules"
        )
        self.counts["rules"] += 1
        self._whole = frozenset(event.rules.pack_for(event.seats))
        self._links = deal.chain_links(bytes.fromhex(event.link), len(event.rules.rounds))
        sealed = deal.seal_of(self._links[0]).hex() == event.seal
        self._demand("links", sealed, "the seal is not that of the links")
        self._demand(
            "entropy",
            event.deal_id == event.table or event.chance == "given",
            f"deal_id is {event.deal_id}, not the table's id, though chance is not given",
        )

    def _entropy_opened(self, before: Game, event: EntropyOpened) -> None:
        held = before.seats[event.seat]
        commitment = "" if held is None else held.commitment or ""
        opens = deal.check_part(bytes.fromhex(event.part), bytes.fromhex(commitment))
        self._demand("parts", opens, f"the part of seat {event.seat} does not open its commitment")
        self.counts["parts"] += 1

    def _game_started(self, before: Game, event: GameStarted) -> None:
        gave = [held for held in before.seats if held is not None and held.commitment]
        opened = [held for held in gave if held.part]
        parts = tuple("" if held is None else held.part or held.commitment or "" for held in before.seats)
        self._demand("parts", event.parts == parts, "parts are not those that the seats gave")
        self.parts = (
            f"{len(gave)} of {len(parts)} seats took part: {len(opened)} opened their part, "
            f"{len(gave) - len(opened)} left the commitment in its place"
        )
        self._entropy = deal.entropy(before.deal_id, [bytes.fromhex(part) for part in parts])
        self._demand("entropy", event.entropy == self._entropy.hex(), "entropy is not that of the parts")
        self.counts["entropy"] += 1
        self._check_link(before, 0, event.link)
        dealer = deal.first_dealer(deal.round_key(self._links[0], self._entropy, 0, 1), len(parts))
        self._demand("dealers", event.dealer == dealer, f"the first dealer is {event.dealer}, drawn {dealer}")
        self._totals = [0] * len(parts)

    def _check_link(self, before: Game, number: int, link: str) -> None:
        """Check the link of a round against the one before it, which is known, and against the secret."""
        known = before.links[number - 1] if number else before.seal
        follows = deal.check_link(bytes.fromhex(link), bytes.fromhex(known))
        before_it = f"link {number - 1}" if number else "the seal"
        self._demand("links", follows, f"the hash of link {number} is not {before_it}")
        self._demand("links", link == self._links[number].hex(), f"link {number} is not the table's")
        self.counts["links"] += 1

    def _round_started(self, before: Game, event: RoundStarted) -> None:
        number = before.round + 1
        self._demand("dealers", event.round == number, f"round {event.round} follows round {before.round}")
        self._demand("dealers", event.attempt == 1, f"attempt {event.attempt} of a round never voided")
        dealer = before.dealer if number == 1 else (before.dealer + 1) % len(before.seats)
        self._demand("dealers", event.dealer == dealer, f"seat {event.dealer} deals, must be {dealer}")
        self.counts["dealers"] += 1
        self._key = deal.round_key(self._links[number], self._entropy, number, event.attempt)

    def _pack_shuffled(self, before: Game, event: PackShuffled) -> None:
        whole = before.ruleset.pack_for(len(before.seats))
        self._demand(
            "shuffles",
            event.pack == deal.shuffle(self._key, "shuffle", whole),
            f"the pack of round {before.round} is not the one that link {before.round} and the entropy give",
        )
        self.counts["shuffles"] += 1

    def _pack_cut(self, before: Game, event: PackCut) -> None:
        rules = before.ruleset
        seats = len(before.seats)
        cutter = (before.dealer - 1) % seats
        self._demand("cuts", event.seat == cutter, f"seat {event.seat} cut, the cutter is {cutter}")
        if rules.cut is None:
            raise Disproved("cuts", "a cut where the rules have none")
        size = len(before.pack)
        packet = deal.lifted_packet(self._key, event.aim, rules.cut.cut_spread, size)
        self._demand(
            "cuts",
            event.packet == packet,
            f"an aim at {event.aim} lifts {packet} in round {before.round}, recorded {event.packet}",
        )
        exact = packet == seats * before.contract.deal + 1
        bonus = rules.cut.bonus if exact else 0
        self._demand("cuts", event.bonus == bonus, f"the bonus is {event.bonus}, must be {bonus}")
        self._totals[cutter] -= bonus
        self.counts["cuts"] += 1

    def _hands_dealt(self, before: Game, event: HandsDealt) -> None:
        dealt = deal.deal(before.pack, len(before.seats), before.dealer, before.contract.deal)
        self._demand(
            "deals",
            (event.hands, event.upcard, event.stock) == dealt,
            f"the deal of round {before.round} is not that of its pack",
        )
        self.counts["deals"] += 1

    def _stock_rebuilt(self, before: Game, event: StockRebuilt) -> None:
        number = before.reshuffles + 1
        self._demand("stocks", event.number == number, f"rebuilding {event.number} comes as number {number}")
        self._demand("stocks", event.kept in (1, 2), f"{event.kept} discards were kept")
        rebuilt = deal.rebuild(self._key, number, before.pile[: -event.kept])
        self._demand(
            "stocks",
            event.stock == rebuilt,
            f"stock {number} of round {before.round} is not the one that its link and the pile give",
        )
        self.counts["stocks"] += 1

    def _round_ended(self, before: Game, event: RoundEnded) -> None:
        self._demand("points", event.hands == before.hands, "the hands counted are not those held")
        score = before.ruleset.score
        points = tuple(hand_points(hand, score) for hand in before.hands)
        self._demand(
            "points", event.points == points, f"points are {_row(event.points)}, count {_row(points)}"
        )
        empty = [seat for seat, hand in enumerate(before.hands) if not hand]
        out = [] if event.winner is None else [event.winner]
        self._demand("points", out == empty, f"the winner is {event.winner}, without cards is {_row(empty)}")
        self.counts["points"] += 1
        self._totals = [total + more for total, more in zip(self._totals, points, strict=True)]
        self._check_totals(event.totals)

    def _check_totals(self, totals: tuple[int, ...]) -> None:
        right = list(totals) == self._totals
        self._demand("totals", right, f"totals are {_row(totals)}, add up to {_row(self._totals)}")
        self.counts["totals"] += 1

    def _link_opened(self, before: Game, event: LinkOpened) -> None:
        self._demand(
            "links",
            event.round == before.round == len(before.links),
            f"link {event.round} is opened in round {before.round}, after {len(before.links)} links",
        )
        self._check_link(before, event.round, event.link)

    def _game_ended(self, before: Game, event: GameEnded) -> None:
        self._check_totals(event.totals)
        right = places(self._totals)
        self._demand(
            "places", event.places == right, f"places are {_row(event.places)}, must be {_row(right)}"
        )
        self.counts["places"] += 1


def _cards_moved(before: Game, after: Game) -> bool:
    return (
        after.hands is not before.hands
        or after.stock is not before.stock
        or after.pile is not before.pile
        or after.melds is not before.melds
        or after.pack is not before.pack
    )


def _name_lost_cards(game: Game) -> None:
    try:
        check_cards(game)
    except CardsLost as error:
        raise Disproved("cards", str(error)) from error


def _row(numbers: Sequence[int]) -> str:
    return " ".join(map(str, numbers)) or "nobody"


_CHECKERS: Final[dict[type[Event], Callable[[Evidence, Game, Any], None]]] = {
    TableOpened: Evidence._table_opened,
    EntropyOpened: Evidence._entropy_opened,
    GameStarted: Evidence._game_started,
    RoundStarted: Evidence._round_started,
    PackShuffled: Evidence._pack_shuffled,
    PackCut: Evidence._pack_cut,
    HandsDealt: Evidence._hands_dealt,
    StockRebuilt: Evidence._stock_rebuilt,
    RoundEnded: Evidence._round_ended,
    LinkOpened: Evidence._link_opened,
    GameEnded: Evidence._game_ended,
}
