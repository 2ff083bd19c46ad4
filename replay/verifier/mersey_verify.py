"""Check a Mersey record file with nothing but Python: ``python3 mersey_verify.py FILE.mersey``.

This one file stands alone. It shares no code with the server that wrote the record, so that
an error or a lie there does not repeat itself here; copy it anywhere, read it in an evening.

It checks: the file's header and trailer; the chain of hashes; that every secret link is the
hash of the next, back to the seal published before anybody sat down; the players' parts; the
first dealer and the deal passing to the left; every shuffle, cut, deal and rebuilt stock; that
after each event every physical card is in exactly one place; the points of each round, the
totals and the places.

It does not check: whether an action was allowed by the rules or chosen by the player (``mersey
verify`` decides every command again), times, and names.

The deal, to the byte, with H = SHA-256, HMAC = HMAC-SHA-256, big-endian numbers, lp(x) = length
(4 bytes) and x:

    link k-1 = H(link k), seal = H(link 0)
    E        = H(lp(deal id) lp(part of seat 0) lp(part of seat 1) ...)
    key      = HMAC(link r, "mersey deal 1" E r attempt)
    stream   = HMAC(key, lp(purpose) i) for i = 0, 1, ... (i of 8 bytes), read as numbers of 8 bytes
    below(n) = the next number x, again while x >= 2^64 - 2^64 mod n, then x mod n
"""

from __future__ import annotations

import hashlib
import hmac
import json
import struct
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

JsonObject = dict[str, Any]
RANKS = "A23456789TJQK"
SUITS = "SHDC"


class Fault(Exception):
    """What is wrong with a record; ``commit`` where that is not the commit just read."""

    def __init__(self, what: str, commit: int | None = None) -> None:
        self.commit = commit
        super().__init__(what)


def demand(holds: bool, what: str, commit: int | None = None) -> None:
    """Raise ``Fault`` saying ``what`` unless it ``holds``."""
    if not holds:
        raise Fault(what, commit)


# The fair deal


def digest(data: bytes) -> bytes:
    """Return the SHA-256 of ``data``."""
    return hashlib.sha256(data).digest()


def lp(data: bytes) -> bytes:
    """Return ``data`` after its length."""
    return struct.pack(">I", len(data)) + data


def round_key(link: bytes, entropy: bytes, round_number: int, attempt: int) -> bytes:
    """Return the key from which all chance of a round comes."""
    text = b"mersey deal 1" + entropy + struct.pack(">II", round_number, attempt)
    return hmac.new(link, text, hashlib.sha256).digest()


class Below:
    """Numbers without bias from a key, for one purpose."""

    def __init__(self, key: bytes, purpose: str) -> None:
        self._words = self._stream(key, lp(purpose.encode()))

    @staticmethod
    def _stream(key: bytes, prefix: bytes) -> Iterator[int]:
        count = 0
        while True:
            block = hmac.new(key, prefix + struct.pack(">Q", count), hashlib.sha256).digest()
            yield from struct.unpack(">4Q", block)
            count += 1

    def __call__(self, n: int) -> int:
        """Return the next number from 0 to ``n`` - 1."""
        limit = 2**64 - 2**64 % n
        while True:
            word = next(self._words)
            if word < limit:
                return word % n


def shuffled(key: bytes, purpose: str, cards: list[str]) -> list[str]:
    """Return ``cards`` shuffled; the first is on top."""
    below = Below(key, purpose)
    mixed = list(cards)
    for i in range(len(mixed) - 1, 0, -1):
        j = below(i + 1)
        mixed[i], mixed[j] = mixed[j], mixed[i]
    return mixed


def whole_pack(rules: JsonObject, seats: int) -> list[str]:
    """Return the pack of a rule set in pack order: by deck, suit S H D C, rank A to K, then the jokers."""
    pack = rules["pack"]
    decks = next(d["count"] for d in pack["decks"] if d["players"][0] <= seats <= d["players"][1])
    jokers = pack.get("jokers")
    if jokers is None:
        jokers = pack.get("jokers_per_deck", 0) * decks
    cards = [f"{r}{s}{d}" for d in range(1, decks + 1) for s in SUITS for r in RANKS]
    return cards + [f"X{n}" for n in range(1, jokers + 1)]


# The table: where each card lies, and what the record must say of it


class Table:
    """A table as its events make it, each checked against what it must be."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.rules: JsonObject = {}
        self.seats = 0
        self.link = b""
        self.parts: list[str] = []
        self.commitments: dict[int, str] = {}
        self.opened_parts: dict[int, str] = {}
        self.entropy = b""
        self.links: list[bytes] = []
        self.dealer = self.round = self.attempt = -1
        self.totals: list[int] = []
        self.cards: list[str] = []
        self.pack: list[str] = []
        self.hands: list[list[str]] = []
        self.stock: list[str] = []
        self.pile: list[str] = []
        self.melds: list[list[str]] = []
        self.rebuilt = 0
        self.state = "open"
        self.commit = 0
        self.waiting: list[tuple[str, JsonObject, list[str], int]] = []

    def take(self, event: JsonObject) -> None:
        """Take the next event; ``Fault`` where it can't be so."""
        handler = getattr(self, "on_" + str(event.get("type")), None)
        if handler is not None:
            handler(event)
        if self.cards:
            self.check_cards()

    def check_cards(self) -> None:
        """Demand that every physical card is in exactly one place."""
        places = [*self.pack, *self.stock, *self.pile]
        places += [card for hand in self.hands for card in hand]
        places += [card.partition("=")[0] for meld in self.melds for card in meld]
        demand(sorted(places) == self.cards, "a physical card is missing, twice, or not of the pack")
        self.counts["states hold each physical card once"] += 1

    def on_table_opened(self, event: JsonObject) -> None:
        """Check the links behind the seal, where the record is given out with them."""
        self.rules, self.seats, self.deal_id = event["rules"], event["seats"], event["deal_id"]
        canonical = json.dumps(self.rules, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
        demand(hashlib.sha256(canonical.encode()).hexdigest() == event["rules_hash"], "the rule set's hash")
        link = bytes.fromhex(event["link"])
        for _ in self.rules["rounds"]:
            link = digest(link)
        self.seal = digest(link)
        demand(self.seal.hex() == event["seal"], "the seal is not that of the links")
        if event.get("chance", "drawn") == "drawn":
            demand(event["deal_id"] == event["table"], "the deal's id is not the table's")

    def on_seat_taken(self, event: JsonObject) -> None:
        """Note what a player committed to."""
        self.commitments[event["seat"]] = event.get("commitment") or ""
        self.opened_parts.pop(event["seat"], None)

    def on_seat_left(self, event: JsonObject) -> None:
        """Forget who left."""
        self.commitments.pop(event["seat"], None)
        self.opened_parts.pop(event["seat"], None)

    def on_entropy_opened(self, event: JsonObject) -> None:
        """Check an opened part against its commitment."""
        part = bytes.fromhex(event["part"])
        demand(
            digest(part).hex() == self.commitments.get(event["seat"]), "a part is not the one committed to"
        )
        self.opened_parts[event["seat"]] = event["part"]

    def on_game_started(self, event: JsonObject) -> None:
        """Check the parts, the entropy, link 0 and the first dealer."""
        expected = [self.opened_parts.get(s) or self.commitments.get(s, "") for s in range(self.seats)]
        demand(list(event["parts"]) == expected, "the parts are not those of the seats")
        text = lp(self.deal_id.encode()) + b"".join(lp(bytes.fromhex(part)) for part in expected)
        self.entropy = digest(text)
        demand(self.entropy.hex() == event["entropy"], "the entropy is not that of the parts")
        self.add_link(event["link"], self.seal, 0)
        key = round_key(self.links[0], self.entropy, 0, 1)
        demand(Below(key, "dealer")(self.seats) == event["dealer"], "the first dealer was not drawn so")
        self.first_dealer = event["dealer"]
        self.totals = [0] * self.seats

    def add_link(self, text: str, before: bytes, number: int) -> None:
        """Check an opened link against the one before it, or the seal."""
        link = bytes.fromhex(text)
        demand(digest(link) == before, f"link {number} is not the one before the next")
        self.links.append(link)
        self.counts["links lead back to the seal"] += 1

    def on_round_started(self, event: JsonObject) -> None:
        """Gather the cards; check round and dealer."""
        number = event["round"]
        demand(number == len(self.links), "a round starts before the link of the last is open")
        demand(event["dealer"] == (self.first_dealer + number - 1) % self.seats, "the wrong seat deals")
        self.round, self.attempt, self.dealer = number, event["attempt"], event["dealer"]
        self.pack = whole_pack(self.rules, self.seats)
        self.cards = sorted(self.pack)
        self.hands = [[] for _ in range(self.seats)]
        self.stock, self.pile, self.melds, self.rebuilt = [], [], [], 0
        self.waiting = []

    def on_pack_shuffled(self, event: JsonObject) -> None:
        """Take the shuffled pack; it is proved when the link opens."""
        demand(sorted(event["pack"]) == self.cards, "what was shuffled is not the whole pack")
        self.pack = list(event["pack"])
        self.waiting.append(("shuffle", event, [], self.commit))

    def on_pack_cut(self, event: JsonObject) -> None:
        """Move the lifted packet to the bottom, count its bonus."""
        contract, cut = self.rules["rounds"][self.round - 1], self.rules["cut"]
        exact = event["packet"] == self.seats * contract["deal"] + 1
        demand(event["bonus"] == (cut["bonus"] if exact else 0), "the cut's bonus")
        demand(event["seat"] == (self.dealer - 1) % self.seats, "the wrong seat cuts")
        self.totals[event["seat"]] -= event["bonus"]
        self.waiting.append(("cut", event, [], self.commit))
        self.pack = self.pack[event["packet"] :] + self.pack[: event["packet"]]

    def on_hands_dealt(self, event: JsonObject) -> None:
        """Deal from the top, one at a time from the dealer's left."""
        count = self.rules["rounds"][self.round - 1]["deal"]
        hands: list[list[str]] = [[] for _ in range(self.seats)]
        for place in range(count * self.seats):
            hands[(self.dealer + 1 + place) % self.seats].append(self.pack[place])
        upcard, stock = self.pack[count * self.seats], self.pack[count * self.seats + 1 :]
        demand([list(hand) for hand in event["hands"]] == hands, "the hands are not those of the pack")
        demand(event["upcard"] == upcard and list(event["stock"]) == stock, "upcard or stock")
        self.hands, self.pile, self.stock, self.pack = hands, [upcard], stock, []
        self.counts["deals come from the top of the pack"] += 1

    def drop(self, seat: int, card: str) -> None:
        """Take a card out of a hand."""
        demand(card in self.hands[seat], f"seat {seat} does not hold {card}")
        self.hands[seat].remove(card)

    def top_discard(self, card: str) -> None:
        """Take the top discard, which must be ``card``."""
        demand(bool(self.pile) and self.pile[-1] == card, f"{card} is not the top discard")
        self.pile.pop()

    def top_stock(self, card: str) -> None:
        """Take the top of the stock, which must be ``card``."""
        demand(bool(self.stock) and self.stock[0] == card, f"{card} is not the top of the stock")
        self.stock.pop(0)

    def on_discard_taken(self, event: JsonObject) -> None:
        """Move the top discard to a hand."""
        self.top_discard(event["card"])
        self.hands[event["seat"]].append(event["card"])

    def on_discard_bought(self, event: JsonObject) -> None:
        """Move the discard and the penalty cards to the buyer's hand."""
        self.top_discard(event["card"])
        for card in event["penalty"]:
            self.top_stock(card)
        self.hands[event["seat"]] += [event["card"], *event["penalty"]]

    def on_stock_drawn(self, event: JsonObject) -> None:
        """Move the top of the stock to a hand."""
        self.top_stock(event["card"])
        self.hands[event["seat"]].append(event["card"])

    def on_stock_rebuilt(self, event: JsonObject) -> None:
        """Make stock of the pile but for the cards kept; it is proved when the link opens."""
        kept = event["kept"]
        under = self.pile[:-kept]
        self.rebuilt += 1
        demand(event["number"] == self.rebuilt, "rebuilt stocks are not counted one by one")
        self.waiting.append(("rebuild", event, under, self.commit))
        self.stock += event["stock"]
        self.pile = self.pile[-kept:]

    def on_contract_opened(self, event: JsonObject) -> None:
        """Move the melds' cards from the hand to the table."""
        freed = event.get("freed")
        if freed:
            self.drop(event["seat"], freed["card"])
            self.lay(freed["meld"], freed["card"], freed["at"], freed["joker"])
        for meld in event["melds"]:
            for placed in meld["cards"]:
                card = placed.partition("=")[0]
                if not freed or card != freed["joker"]:
                    self.drop(event["seat"], card)
            self.melds.append(list(meld["cards"]))

    def lay(self, number: int, placed: str, at: int, gone: str = "") -> None:
        """Lay a card on a meld at an index, in the place of a joker that is gone, if one is."""
        demand(1 <= number <= len(self.melds), "no such meld")
        meld = self.melds[number - 1]
        rest = [card for card in meld if card.partition("=")[0] != gone]
        demand(not gone or len(rest) == len(meld) - 1, f"{gone} does not lie in meld {number}")
        self.melds[number - 1] = [*rest[:at], placed, *rest[at:]]

    def on_card_laid_off(self, event: JsonObject) -> None:
        """Move a card from a hand to a meld."""
        self.drop(event["seat"], event["card"].partition("=")[0])
        self.lay(event["meld"], event["card"], event["at"])

    def on_joker_swapped(self, event: JsonObject) -> None:
        """Put the natural card in the joker's place and move the joker."""
        self.drop(event["seat"], event["card"])
        self.lay(event["meld"], event["card"], event["at"], event["joker"])
        to = event.get("to")
        if to:
            demand(to["joker"].partition("=")[0] == event["joker"], "another joker moved")
            self.lay(to["meld"], to["joker"], to["at"])
        else:
            self.hands[event["seat"]].append(event["joker"])

    def on_card_discarded(self, event: JsonObject) -> None:
        """Move a card from a hand to the pile."""
        self.drop(event["seat"], event["card"])
        self.pile.append(event["card"])

    def on_round_ended(self, event: JsonObject) -> None:
        """Count the hands and add up the totals."""
        demand([list(hand) for hand in event["hands"]] == self.hands, "the hands at the round's end")
        values = self.rules["score"]["values"]
        points = [sum(values[card[0]] for card in hand) for hand in self.hands]
        demand(list(event["points"]) == points, "the round's points")
        self.totals = [total + more for total, more in zip(self.totals, points, strict=True)]
        demand(list(event["totals"]) == self.totals, "the totals")
        winner = event.get("winner")
        demand((winner is None) == (event["ended_by"] != "out"), "how the round ended")
        demand(winner is None or not self.hands[winner], "the winner has cards left")
        self.counts["rounds count what was left in the hands"] += 1

    def on_link_opened(self, event: JsonObject) -> None:
        """Prove the chance of the round from its link."""
        if not self.links:
            self.add_link(event["link"], self.seal, 0)
            return
        demand(event["round"] == len(self.links), "links are opened in their order")
        self.add_link(event["link"], self.links[-1], event["round"])
        key = round_key(self.links[-1], self.entropy, self.round, self.attempt)
        for what, told, under, commit in self.waiting:
            demand(self.is_drawn(key, what, told, under), f"the {what} of round {self.round}", commit)
            self.counts[f"{what}s are those of their link"] += 1
        self.waiting = []

    def is_drawn(self, key: bytes, what: str, told: JsonObject, under: list[str]) -> bool:
        """Return whether what was drawn by chance comes from the key."""
        if what == "shuffle":
            return list(told["pack"]) == shuffled(key, "shuffle", whole_pack(self.rules, self.seats))
        if what == "rebuild":
            return list(told["stock"]) == shuffled(key, f"rebuild {told['number']}", under)
        spread = self.rules["cut"]["cut_spread"]
        packet = told["aim"] + Below(key, "cut")(2 * spread + 1) - spread
        return bool(told["packet"] == min(max(packet, 1), len(self.cards) - 1))

    def on_game_ended(self, event: JsonObject) -> None:
        """Check totals and places."""
        demand(list(event["totals"]) == self.totals, "the final totals")
        places = [1 + sum(other < total for other in self.totals) for total in self.totals]
        demand(list(event["places"]) == places, "the places")
        self.state = "ended"

    def on_table_closed(self, event: JsonObject) -> None:
        """Note that the host closed the table."""
        self.state = "closed"


# The file


def read_lines(data: bytes) -> tuple[JsonObject, list[bytes]]:
    """Return header and commits of a record file whose header and trailer hold."""
    lines = data.split(b"\n")
    demand(len(lines) >= 4 and lines[-1] == b"", "not a record file: header, commits, trailer, each a line")
    header, trailer = json.loads(lines[0]), json.loads(lines[-2])
    demand(
        header.get("format") == "mersey record" and header.get("version") == 1, "not a record of version 1"
    )
    commits = lines[1:-2]
    demand(trailer.get("end") == "mersey record" and trailer.get("commits") == len(commits), "the trailer")
    body = data[: len(data) - len(lines[-2]) - 1]
    demand(trailer.get("sha256") == digest(body).hex(), "the trailer's hash of the file")
    demand(trailer.get("head") == digest(commits[-1]).hex(), "the trailer's hash of the last commit")
    for what, line in ((header, lines[0]), (trailer, lines[-2])):
        demand(
            json.dumps(what, separators=(",", ":")).encode() == line, "header or trailer is spelled otherwise"
        )
    return header, commits


def check_commit(table: Table, number: int, version: int, previous: str, stream: str, data: bytes) -> int:
    """Check one commit and take its events; return the version after it."""
    commit = json.loads(data)
    demand(commit["v"] == 1, f"schema {commit['v']} is not known here")
    demand(commit["stream"] == stream, "it belongs to another table")
    demand(commit["number"] == number, f"it is numbered {commit['number']}")
    demand(commit["first"] == version + 1, f"its first event is {commit['first']}, not {version + 1}")
    demand(commit["previous"] == previous, "it does not name the hash of the commit before")
    demand(bool(commit["events"]), "it holds no event")
    table.commit = number
    for event in commit["events"]:
        table.take(event)
    return version + len(commit["events"])


def check(data: bytes) -> tuple[str, Table, int]:
    """Return the id, the table at its end and the number of events; ``Fault`` names the first fault."""
    header, commits = read_lines(data)
    stream = f"table.{header['table']}"
    table, version, previous = Table(), 0, digest(stream.encode()).hex()
    for number, commit in enumerate(commits, start=1):
        try:
            version = check_commit(table, number, version, previous, stream, commit)
        except Fault as fault:
            raise Fault(f"commit {fault.commit or number}: {fault}", fault.commit or number) from None
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, StopIteration) as error:
            raise Fault(
                f"commit {number}: not what a commit must be ({type(error).__name__})", number
            ) from None
        previous = digest(commit).hex()
        table.counts["commits follow one another by hash"] += 1
    demand(header.get("rules") == table.rules.get("id") and header.get("seats") == table.seats, "the header")
    return header["table"], table, version


def main(arguments: list[str]) -> int:
    """Check the files named; return 0 where all hold, 1 where one does not, 2 where one can't be read."""
    if not arguments:
        print("usage: python3 mersey_verify.py FILE.mersey ...", file=sys.stderr)
        return 2
    status = 0
    for name in arguments:
        try:
            with open(name, "rb") as file:
                table_id, table, events = check(file.read())
        except OSError as error:
            print(f"{name}: can't be read: {error.strerror}", file=sys.stderr)
            status = 2
        except (Fault, ValueError, AttributeError) as fault:
            print(f"FAULT {name}: {fault}")
            status = max(status, 1)
        else:
            for what, count in table.counts.items():
                print(f"  {count:>6} {what}")
            part = sum(bool(commitment) for commitment in table.commitments.values())
            print(f"  {part:>6} of {table.seats} seats gave a part to the deal")
            print(f"OK {name}: table {table_id}, {events} events, {table.state}")
    if status == 0:
        print("Not checked here: whether the rules allowed each action (mersey verify), times, names.")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
