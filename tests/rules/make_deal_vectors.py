"""Print the test vectors of the fair deal (design section 5) as JSON.

Standard library only, written from the text of the design and sharing no code with the
engine: not even HMAC. Run it as ``python tests/rules/make_deal_vectors.py``.
"""

import hashlib
import json


def sha(data):
    return hashlib.sha256(data).digest()


def mac(key, message):
    if len(key) > 64:
        key = sha(key)
    key = key + bytes(64 - len(key))
    inner = sha(bytes(b ^ 0x36 for b in key) + message)
    return sha(bytes(b ^ 0x5C for b in key) + inner)


def big(number, size):
    return bytes((number >> (8 * (size - 1 - i))) & 0xFF for i in range(size))


def with_length(data):
    return big(len(data), 4) + data


class Numbers:
    """Eight bytes at a time from an endless byte string, which is kept whole."""

    def __init__(self, key, purpose):
        self.key, self.purpose = key, with_length(purpose.encode("utf-8"))
        self.data, self.at, self.blocks, self.thrown_away = b"", 0, 0, 0

    def below(self, n):
        while True:
            while len(self.data) < self.at + 8:
                self.data += mac(self.key, self.purpose + big(self.blocks, 8))
                self.blocks += 1
            x = 0
            for byte in self.data[self.at : self.at + 8]:
                x = x * 256 + byte
            self.at += 8
            if x < 2**64 - (2**64 % n):
                return x % n
            self.thrown_away += 1


def shuffled(key, purpose, cards):
    cards = list(cards)
    numbers = Numbers(key, purpose)
    i = len(cards) - 1
    while i >= 1:
        j = numbers.below(i + 1)
        cards[i], cards[j] = cards[j], cards[i]
        i -= 1
    return cards


def whole_pack(decks, jokers):
    names = []
    for deck in range(1, decks + 1):
        for suit in "SHDC":
            names += [rank + suit + str(deck) for rank in "A23456789TJQK"]
    return names + ["X" + str(n) for n in range(1, jokers + 1)]


def links_case(seed, rounds):
    links = [sha(seed)]
    for _ in range(rounds):
        links.insert(0, sha(links[0]))
    return {
        "last": links[-1].hex(),
        "rounds": rounds,
        "links": [link.hex() for link in links],
        "seal": sha(links[0]).hex(),
    }


def entropy_case(deal_id, parts):
    joined = with_length(deal_id.encode("utf-8")) + b"".join(with_length(part) for part in parts)
    return {"deal_id": deal_id, "parts": [part.hex() for part in parts], "entropy": sha(joined).hex()}


def key_of(link, given, round_number, attempt):
    return mac(link, b"mersey deal 1" + given + big(round_number, 4) + big(attempt, 4))


def uniform_case(key, purpose, n, count):
    numbers = Numbers(key, purpose)
    values = [numbers.below(n) for _ in range(count)]
    return {
        "key": key.hex(),
        "purpose": purpose,
        "n": str(n),
        "values": [str(value) for value in values],
        "rejected": numbers.thrown_away,
    }


def cut_case(key, aim, spread, size):
    packet = aim + Numbers(key, "cut").below(2 * spread + 1) - spread
    packet = 1 if packet < 1 else size - 1 if packet > size - 1 else packet
    return {"key": key.hex(), "aim": aim, "spread": spread, "pack_size": size, "packet": packet}


def deal_case(key, decks, jokers, seats, dealer, count, packet):
    top_first = shuffled(key, "shuffle", whole_pack(decks, jokers))
    if packet:
        top_first = top_first[packet:] + top_first[:packet]
    waiting = list(top_first)
    hands = [[] for _ in range(seats)]
    for _ in range(count):
        for step in range(1, seats + 1):
            hands[(dealer + step) % seats].append(waiting.pop(0))
    return {
        "key": key.hex(),
        "decks": decks,
        "jokers": jokers,
        "seats": seats,
        "dealer": dealer,
        "count": count,
        "packet": packet,
        "hands": [" ".join(hand) for hand in hands],
        "upcard": waiting[0],
        "stock": " ".join(waiting[1:]),
    }


def vectors():
    chains = [links_case(b"chain of seven", 7), links_case(b"chain of one", 1), links_case(b"long", 20)]
    parts = [
        entropy_case("t1", [b"", b"", b"", b""]),
        entropy_case("t1", [sha(b"north"), b"", sha(b"east")[:16], sha(b"w") + sha(b"w2")]),
        entropy_case("größer", [b"\x00" * 16, b"\x00" * 17]),
    ]
    keys = []
    for link, given, round_number, attempt in (
        (chains[0]["links"][0], parts[0]["entropy"], 0, 1),
        (chains[0]["links"][1], parts[0]["entropy"], 1, 1),
        (chains[0]["links"][7], parts[1]["entropy"], 7, 1),
        (chains[0]["links"][7], parts[1]["entropy"], 7, 2),
        (chains[2]["links"][20], parts[2]["entropy"], 20, 300),
    ):
        key = key_of(bytes.fromhex(link), bytes.fromhex(given), round_number, attempt)
        keys.append(
            {"link": link, "entropy": given, "round": round_number, "attempt": attempt, "key": key.hex()}
        )
    some = [bytes.fromhex(entry["key"]) for entry in keys]
    uniforms = [
        uniform_case(some[0], "shuffle", 1, 3),
        uniform_case(some[0], "shuffle", 2, 40),
        uniform_case(some[1], "any purpose", 107, 40),
        uniform_case(some[2], "ü", 2**32 + 1, 9),
        uniform_case(some[3], "rejections", 2**63 + 1, 20),
        uniform_case(some[4], "", 2**64, 5),
    ]
    shuffles = [
        {
            "key": key.hex(),
            "purpose": purpose,
            "decks": decks,
            "jokers": jokers,
            "shuffled": " ".join(shuffled(key, purpose, whole_pack(decks, jokers))),
        }
        for key, purpose, decks, jokers in (
            (some[1], "shuffle", 2, 3),
            (some[2], "shuffle", 2, 4),
            (some[3], "shuffle", 3, 6),
        )
    ]
    rebuilds = []
    for key, n, size in (
        (some[1], 1, 18),
        (some[1], 2, 18),
        (some[4], 10, 60),
        (some[0], 1, 1),
        (some[0], 1, 0),
    ):
        pile = whole_pack(2, 3)[7 : 7 + size]
        rebuilds.append(
            {
                "key": key.hex(),
                "n": n,
                "pile": " ".join(pile),
                "stock": " ".join(shuffled(key, "rebuild " + str(n), pile)),
            }
        )
    return {
        "links": chains,
        "entropy": parts,
        "keys": keys,
        "uniform": uniforms,
        "shuffles": shuffles,
        "dealers": [
            {"key": key.hex(), "seats": seats, "dealer": Numbers(key, "dealer").below(seats)}
            for key in some
            for seats in range(2, 9)
        ],
        "cuts": [
            cut_case(key, aim, spread, 107) for key in some for aim, spread in ((41, 5), (49, 5), (41, 0))
        ]
        + [cut_case(some[0], aim, 5, 107) for aim in (-(10**9), 0, 1, 106, 107, 10**9)],
        "deals": [
            deal_case(some[1], 2, 3, 4, 0, 10, 0),
            deal_case(some[1], 2, 3, 4, 3, 12, 49),
            deal_case(some[2], 2, 4, 2, 1, 11, 0),
            deal_case(some[3], 3, 6, 8, 5, 12, 0),
        ],
        "rebuilds": rebuilds,
    }


if __name__ == "__main__":
    print(json.dumps(vectors(), indent=1))
