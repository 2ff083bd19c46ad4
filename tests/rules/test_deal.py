"""The fair deal agrees with the published vectors, and its chance is without bias."""

import json
import subprocess
import sys
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mersey.rules.cards import Card, pack
from mersey.rules.deal import (
    Stream,
    chain_links,
    check_link,
    check_part,
    commitment_of,
    cut,
    deal,
    entropy,
    first_dealer,
    lifted_packet,
    rebuild,
    round_key,
    seal_of,
    shuffle,
)

HERE = Path(__file__).parent
VECTORS = json.loads((HERE / "deal_vectors.json").read_text("utf-8"))

PACKS = st.builds(pack, st.integers(1, 3), st.integers(0, 6))
KEYS = st.binary(min_size=32, max_size=32)


def a_key(number: int) -> bytes:
    return sha256(b"test key %d" % number).digest()


def hexed(text: str) -> bytes:
    return bytes.fromhex(text)


def chi_square(counts: Counter[int], places: int) -> float:
    expected = counts.total() / places
    return sum((counts[place] - expected) ** 2 / expected for place in range(places))


def test_the_vectors_are_those_that_the_independent_script_makes() -> None:
    script = subprocess.run(
        [sys.executable, "-I", str(HERE / "make_deal_vectors.py")], capture_output=True, check=True, text=True
    )
    assert json.loads(script.stdout) == VECTORS
    assert "mersey" not in {
        line.split()[1].partition(".")[0]
        for line in (HERE / "make_deal_vectors.py").read_text("utf-8").splitlines()
        if line.startswith(("import ", "from "))
    }


@pytest.mark.parametrize("case", VECTORS["links"])
def test_links_and_seal_are_those_of_the_vectors(case: dict) -> None:
    links = chain_links(hexed(case["last"]), case["rounds"])
    assert [link.hex() for link in links] == case["links"]
    assert seal_of(links[0]).hex() == case["seal"]


@pytest.mark.parametrize("case", VECTORS["entropy"])
def test_entropy_is_that_of_the_vectors(case: dict) -> None:
    assert entropy(case["deal_id"], [hexed(part) for part in case["parts"]]).hex() == case["entropy"]


@pytest.mark.parametrize("case", VECTORS["keys"])
def test_round_keys_are_those_of_the_vectors(case: dict) -> None:
    key = round_key(hexed(case["link"]), hexed(case["entropy"]), case["round"], case["attempt"])
    assert key.hex() == case["key"]


@pytest.mark.parametrize("case", VECTORS["uniform"], ids=lambda case: case["n"])
def test_streams_are_those_of_the_vectors(case: dict) -> None:
    stream = Stream(hexed(case["key"]), case["purpose"])
    assert [str(stream.uniform(int(case["n"]))) for _ in case["values"]] == case["values"]


def test_the_vectors_force_numbers_to_be_thrown_away() -> None:
    assert sum(case["rejected"] for case in VECTORS["uniform"]) >= 10


@pytest.mark.parametrize("case", VECTORS["shuffles"], ids=lambda case: f"{case['decks']} decks")
def test_shuffles_are_those_of_the_vectors(case: dict) -> None:
    shuffled = shuffle(hexed(case["key"]), case["purpose"], pack(case["decks"], case["jokers"]))
    assert " ".join(shuffled) == case["shuffled"]


def test_first_dealers_are_those_of_the_vectors() -> None:
    for case in VECTORS["dealers"]:
        assert first_dealer(hexed(case["key"]), case["seats"]) == case["dealer"]


def test_lifted_packets_are_those_of_the_vectors() -> None:
    for case in VECTORS["cuts"]:
        packet = lifted_packet(hexed(case["key"]), case["aim"], case["spread"], case["pack_size"])
        assert packet == case["packet"], case


@pytest.mark.parametrize("case", VECTORS["deals"], ids=lambda case: f"{case['seats']} seats")
def test_deals_are_those_of_the_vectors(case: dict) -> None:
    cards = shuffle(hexed(case["key"]), "shuffle", pack(case["decks"], case["jokers"]))
    dealt = deal(cut(cards, case["packet"]), case["seats"], case["dealer"], case["count"])
    assert [" ".join(hand) for hand in dealt.hands] == case["hands"]
    assert dealt.upcard == case["upcard"]
    assert " ".join(dealt.stock) == case["stock"]


def test_rebuilt_stocks_are_those_of_the_vectors() -> None:
    for case in VECTORS["rebuilds"]:
        pile = tuple(Card(name) for name in case["pile"].split())
        assert " ".join(rebuild(hexed(case["key"]), case["n"], pile)) == case["stock"]


@given(KEYS, st.integers(1, 30))
def test_each_link_proves_itself_against_the_one_before_and_no_other(last: bytes, rounds: int) -> None:
    links = chain_links(last, rounds)
    before = (seal_of(links[0]), *links)
    for number, link in enumerate(links):
        assert [check_link(link, other) for other in before].count(True) == 1
        assert check_link(link, before[number])


def test_a_link_of_another_length_proves_nothing() -> None:
    assert not check_link(b"short", sha256(b"short").digest())


def test_a_part_has_16_to_64_bytes_and_is_the_one_committed_to() -> None:
    for length in (16, 64):
        assert check_part(bytes(length), commitment_of(bytes(length)))
    for length in (0, 15, 65):
        assert not check_part(bytes(length), commitment_of(bytes(length)))
    assert not check_part(bytes(16), commitment_of(bytes(17)))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("t", [b"ab", b"c"]), ("t", [b"a", b"bc"])),
        (("ta", [b"b"]), ("t", [b"ab"])),
        (("t", [b"", b"a"]), ("t", [b"a", b""])),
        (("t", [b"a"]), ("t", [b"a", b""])),
    ],
)
def test_entropy_tells_apart_what_only_its_lengths_tell_apart(first: tuple, second: tuple) -> None:
    assert entropy(*first) != entropy(*second)


def test_rounds_attempts_and_purposes_have_chance_of_their_own() -> None:
    keys = {round_key(bytes(32), bytes(32), r, a) for r in range(8) for a in range(1, 4)}
    assert len(keys) == 24
    numbers = {Stream(bytes(32), purpose).uniform(2**64) for purpose in ("shuffle", "cut", "rebuild 1")}
    assert len(numbers) == 3


def test_the_first_number_that_would_favour_small_ones_is_thrown_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    n = 2**63 + 1
    words = iter([2**64 - 1, n, n - 1, 5])
    monkeypatch.setattr("mersey.rules.deal._words", lambda key, prefix: words)
    stream = Stream(bytes(32), "any")
    assert [stream.uniform(n), stream.uniform(n)] == [n - 1, 5]


@given(KEYS, PACKS)
def test_a_shuffle_loses_and_makes_no_card(key: bytes, cards: tuple[Card, ...]) -> None:
    assert sorted(shuffle(key, "shuffle", cards)) == sorted(cards)


@given(KEYS, PACKS, st.data())
def test_cut_and_deal_put_every_card_in_one_place(
    key: bytes, cards: tuple[Card, ...], data: st.DataObject
) -> None:
    seats = data.draw(st.integers(2, 8))
    each = data.draw(st.integers(1, (len(cards) - 1) // seats))
    dealer = data.draw(st.integers(0, seats - 1))
    packet = lifted_packet(key, data.draw(st.integers()), data.draw(st.integers(0, 200)), len(cards))

    dealt = deal(cut(cards, packet), seats, dealer, each)

    assert 1 <= packet < len(cards)
    assert [len(hand) for hand in dealt.hands] == [each] * seats
    assert sorted([*sum(dealt.hands, ()), dealt.upcard, *dealt.stock]) == sorted(cards)
    assert dealt.hands[(dealer + 1) % seats][0] == cut(cards, packet)[0]


# The bounds below are the 99.9 % quantiles of chi-square. The keys are fixed, so that a
# test passes always or never; a biased draw misses them by orders of magnitude.


def test_every_card_of_a_small_pack_comes_to_every_place_equally_often() -> None:
    cards = pack(1, 0)[:8]
    places: dict[Card, Counter[int]] = {card: Counter() for card in cards}
    for number in range(4000):
        for place, card in enumerate(shuffle(a_key(number), "shuffle", cards)):
            places[card][place] += 1
    assert sum(chi_square(counts, 8) for counts in places.values()) < 85.4  # 49 degrees of freedom


def test_the_top_and_bottom_card_of_a_whole_pack_may_be_any() -> None:
    cards = pack(2, 3)
    top, bottom = Counter[int](), Counter[int]()
    for number in range(5000):
        shuffled = shuffle(a_key(number), "shuffle", cards)
        top[cards.index(shuffled[0])] += 1
        bottom[cards.index(shuffled[-1])] += 1
    assert chi_square(top, 107) < 155.5  # 106 degrees of freedom
    assert chi_square(bottom, 107) < 155.5


def test_all_orders_of_four_cards_are_equally_likely() -> None:
    cards = pack(1, 0)[:4]
    orders = Counter(shuffle(a_key(number), "rebuild 1", cards) for number in range(6000))
    assert len(orders) == 24
    assert sum((n - 250) ** 2 / 250 for n in orders.values()) < 49.7  # 23 degrees of freedom


def test_every_seat_deals_first_equally_often() -> None:
    for seats, bound in ((2, 10.8), (4, 16.3), (7, 22.5)):
        counts = Counter(first_dealer(a_key(number), seats) for number in range(4000))
        assert chi_square(counts, seats) < bound


def test_a_cut_strays_equally_often_to_each_distance() -> None:
    counts = Counter(lifted_packet(a_key(number), 41, 5, 107) - 36 for number in range(5500))
    assert set(counts) == set(range(11))
    assert chi_square(counts, 11) < 29.6  # 10 degrees of freedom


def test_a_number_that_fills_most_of_a_word_is_without_bias() -> None:
    n = 3 * 2**62
    stream = Stream(a_key(1), "thirds")
    thirds = Counter(stream.uniform(n) // 2**62 for _ in range(3000))
    assert chi_square(thirds, 3) < 13.8  # 2 degrees of freedom
