"""The fair deal: links, seal, players' parts, and all chance of a round (design section 5, to the byte).

A round's chance comes from a secret *link* and from what the players gave before the
first link was opened. The links form a chain: each is the SHA-256 of the next, and the
*seal*, the hash of link 0, is published before anybody sits down. So no link can be
chosen afterwards, and anyone can check each opened link against the one before it.

From a link, the players' *entropy* and the numbers of round and attempt comes the
round's *key*; from the key and a purpose ("shuffle", "cut", …) comes a ``Stream`` of
numbers without bias. Everything here is a function of its arguments: the same bytes
give the same deal on any machine, in any year. ``tests/rules/deal_vectors.json`` holds
test vectors for other programs.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import count
from struct import Struct
from typing import Final, NamedTuple

from mersey.rules.cards import Card

LINK_BYTES: Final = 32
PART_BYTES_MIN: Final = 16
PART_BYTES_MAX: Final = 64
"""A player's part has 16 to 64 bytes; a seat that gives none has the empty part."""

_KEY_LABEL: Final = b"mersey deal 1"
_WORDS: Final = Struct(">4Q")
_WORD_END: Final = 1 << 64
_INNER_PAD: Final = bytes(byte ^ 0x36 for byte in range(256))
_OUTER_PAD: Final = bytes(byte ^ 0x5C for byte in range(256))

assert sha256().digest_size == LINK_BYTES, "a link is the hash of the next"
assert _WORDS.size == sha256().digest_size, "a block is read as whole words"


class Dealt(NamedTuple):
    """A dealt pack: the hands by seat in the order dealt, the card turned up, the stock from its top."""

    hands: tuple[tuple[Card, ...], ...]
    upcard: Card
    stock: tuple[Card, ...]


def chain_links(last: bytes, rounds: int) -> tuple[bytes, ...]:
    """Return link 0 to link ``rounds`` of the chain that ends in ``last`` (32 secret random bytes).

    >>> links = chain_links(bytes(32), 7)
    >>> len(links), links[7] == bytes(32), links[6] == sha256(bytes(32)).digest()
    (8, True, True)
    """
    assert len(last) == LINK_BYTES, "a link has 32 bytes"
    links = [last]
    for _ in range(rounds):
        links.append(sha256(links[-1]).digest())
    return tuple(reversed(links))


def seal_of(link0: bytes) -> bytes:
    """Return the seal of a chain: the hash of its link 0, published before any seat is taken."""
    return sha256(link0).digest()


def check_link(link: bytes, before: bytes) -> bool:
    """Return whether ``link`` is the one that follows ``before``: the last opened link, or the seal.

    >>> a, b, c = chain_links(bytes(32), 2)
    >>> check_link(a, seal_of(a)), check_link(c, b), check_link(c, a)
    (True, True, False)
    """
    return len(link) == LINK_BYTES and sha256(link).digest() == before


def commitment_of(part: bytes) -> bytes:
    """Return what a player commits to on taking a seat: the hash of the part."""
    return sha256(part).digest()


def check_part(part: bytes, commitment: bytes) -> bool:
    """Return whether ``part`` opens ``commitment``: its hash is that, and its length is allowed.

    >>> check_part(bytes(16), commitment_of(bytes(16))), check_part(b"short", commitment_of(b"short"))
    (True, False)
    """
    return PART_BYTES_MIN <= len(part) <= PART_BYTES_MAX and commitment_of(part) == commitment


def entropy(deal_id: str, parts: Sequence[bytes]) -> bytes:
    """Return E, what the players gave: the hash over the deal's id and the parts by seat.

    The part is empty for a seat that gave none, and the committed hash itself for one
    that did not open its commitment in time.
    """
    return sha256(_lp(deal_id.encode()) + b"".join(map(_lp, parts))).digest()


def round_key(link: bytes, entropy: bytes, round_number: int, attempt: int) -> bytes:
    """Return the key of a round's chance.

    ``round_number`` counts from 1; 0 with link 0 is for the first dealer. ``attempt`` is
    1, and one more for each voided deal of the round.
    """
    return hmac.digest(link, _KEY_LABEL + entropy + _u32(round_number) + _u32(attempt), "sha256")


class Stream:
    """The numbers that a key gives for one purpose, always the same and in the same order."""

    __slots__ = ("_words",)

    def __init__(self, key: bytes, purpose: str) -> None:
        self._words = _words(key, _lp(purpose.encode()))

    def uniform(self, n: int) -> int:
        """Return the next number of 0 … ``n`` - 1, each equally likely; ``n`` is 1 to 2**64.

        >>> coin = Stream(bytes(32), "coin")
        >>> [coin.uniform(2) for _ in range(8)]
        [1, 1, 1, 0, 1, 0, 0, 1]
        """
        end = _WORD_END - _WORD_END % n
        for word in self._words:
            if word < end:
                return word % n
        raise AssertionError("a stream never ends")


def shuffle(key: bytes, purpose: str, cards: Sequence[Card]) -> tuple[Card, ...]:
    """Return ``cards`` shuffled; place 0 is the top."""
    shuffled = list(cards)
    uniform = Stream(key, purpose).uniform
    for place in range(len(shuffled) - 1, 0, -1):
        other = uniform(place + 1)
        shuffled[place], shuffled[other] = shuffled[other], shuffled[place]
    return tuple(shuffled)


def first_dealer(key: bytes, seats: int) -> int:
    """Return the seat that deals round 1; ``key`` is that of round 0, attempt 1."""
    return Stream(key, "dealer").uniform(seats)


def lifted_packet(key: bytes, aim: int, spread: int, pack_size: int) -> int:
    """Return the size of the packet that a cutter who aims at ``aim`` lifts (rules.md section 3).

    The error is uniform in -``spread`` … ``spread``; the packet is held within
    1 … ``pack_size`` - 1, so ``aim`` may be any number.
    """
    packet = aim + Stream(key, "cut").uniform(2 * spread + 1) - spread
    return max(1, min(packet, pack_size - 1))


def cut(pack: Sequence[Card], packet: int) -> tuple[Card, ...]:
    """Return ``pack`` with its top ``packet`` cards put to the bottom.

    >>> cut((Card("AS1"), Card("2S1"), Card("3S1")), 1)
    ('2S1', '3S1', 'AS1')
    """
    return (*pack[packet:], *pack[:packet])


def deal(pack: Sequence[Card], seats: int, dealer: int, cards_each: int) -> Dealt:
    """Return ``pack`` dealt from its top, one card at a time, clockwise, from the dealer's left.

    >>> deal((Card("AS1"), Card("2S1"), Card("3S1"), Card("4S1"), Card("5S1"), Card("6S1")), 2, 0, 2)
    Dealt(hands=(('2S1', '4S1'), ('AS1', '3S1')), upcard='5S1', stock=('6S1',))
    """
    dealt = seats * cards_each
    assert len(pack) > dealt, "the pack holds every hand and the upcard"
    hands = tuple(tuple(pack[(seat - dealer - 1) % seats : dealt : seats]) for seat in range(seats))
    return Dealt(hands, pack[dealt], tuple(pack[dealt + 1 :]))


def rebuild(key: bytes, n: int, pile: Sequence[Card]) -> tuple[Card, ...]:
    """Return the stock rebuilt for the ``n``-th time in the round (from 1), top first.

    ``pile`` is the discard pile without its top card, listed bottom to top.
    """
    return shuffle(key, f"rebuild {n}", pile)


def _lp(data: bytes) -> bytes:
    return _u32(len(data)) + data


def _u32(number: int) -> bytes:
    return number.to_bytes(4, "big")


def _words(key: bytes, prefix: bytes) -> Iterator[int]:
    """Yield the words of HMAC(``key``, ``prefix`` and a counter), block by block.

    HMAC is written out so that the key and the prefix are hashed once and not for each
    block: a whole shuffle takes a third less time.
    """
    assert len(key) <= sha256().block_size, "a longer key would be hashed first"
    inner = sha256(key.ljust(sha256().block_size, b"\0").translate(_INNER_PAD) + prefix)
    outer = sha256(key.ljust(sha256().block_size, b"\0").translate(_OUTER_PAD))
    for block in count():
        message = inner.copy()
        message.update(block.to_bytes(8, "big"))
        mac = outer.copy()
        mac.update(message.digest())
        yield from _WORDS.unpack(mac.digest())
