"""Openings by trying everything, written from rules.md alone; nothing of the finder is used.

Slow on purpose: every group of cards is tried as a meld, every choice of melds as an
opening. A meld is shown by its faces, a joker by what it stands for, as at the table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from mersey.rules.openings import Opening, TableJoker
from mersey.rules.ruleset import Contract, Melds

RANKS_UP = "A23456789TJQKA"
Seen = tuple[str, ...]
Found = tuple[str, Seen, int, int]
"""Kind, faces, and for a run its first place and length."""


def size_allowed(size: int, kind: str, contract: Contract, melds: Melds) -> bool:
    """Section 5: exactly the size, or at least; a run of a whole-hand round may always be longer."""
    asked = melds.set_size if kind == "set" else melds.run_size
    if kind == "run" and size > 14:
        return False
    longer = melds.open_size == "at_least" or (contract.whole_hand and kind == "run")
    return size >= asked if longer else size == asked


def limits_allow(size: int, jokers: int, melds: Melds) -> bool:
    """Section 2: ``max_jokers_per_meld`` and ``min_naturals_per_meld``."""
    most = melds.max_jokers_per_meld
    return (most is None or jokers <= most) and size - jokers >= melds.min_naturals_per_meld


def sets_of(cards: Sequence[str]) -> Iterator[Found]:
    """Every set that these cards, all of them, can be."""
    naturals = sorted(card[:2] for card in cards if card[0] != "X")
    jokers = len(cards) - len(naturals)
    ranks = {face[0] for face in naturals} or set("A23456789TJQK")
    if len({face[0] for face in naturals}) <= 1:
        for rank in ranks:
            yield "set", (*naturals, *[f"X={rank}"] * jokers), 0, 0


def runs_of(cards: Sequence[str]) -> Iterator[Found]:
    """Every run that these cards, all of them, can be."""
    naturals = [card for card in cards if card[0] != "X"]
    if len({card[1] for card in naturals}) > 1:
        return
    held = Counter(card[0] for card in naturals)
    size = len(cards)
    for suit in {card[1] for card in naturals} or set("SHDC"):
        shown = set()
        for start in range(1, 14 - size + 2):
            places = RANKS_UP[start - 1 : start - 1 + size]
            if held <= Counter(places):
                left = Counter(held)
                faces = []
                for rank in places:
                    faces.append(f"{rank}{suit}" if left[rank] else f"X={rank}{suit}")
                    left -= Counter(rank)
                # An ace that fits at both ends goes to the low end: the other is no reading of its own.
                fixed = tuple(sorted(faces))
                if fixed not in shown:
                    shown.add(fixed)
                    yield "run", tuple(faces), start, size


def all_melds(hand: Sequence[str], contract: Contract, melds: Melds) -> dict[str, list[tuple[int, Found]]]:
    """Every meld of an allowed size, with the bits of the cards it takes, one for each way it looks."""
    found: dict[str, list[tuple[int, Found]]] = {"set": [], "run": []}
    kinds = [("set", sets_of, contract.sets), ("run", runs_of, contract.runs)]
    for kind, readings, wanted in kinds if hand else []:
        for size in range(1, len(hand) + 1):
            if not wanted or not size_allowed(size, kind, contract, melds):
                continue
            for chosen in combinations(range(len(hand)), size):
                cards = [hand[index] for index in chosen]
                naturals = {card[0] if kind == "set" else card[1] for card in cards if card[0] != "X"}
                jokers = sum(card[0] == "X" for card in cards)
                if len(naturals) <= 1 and limits_allow(size, jokers, melds):
                    bits = sum(1 << index for index in chosen)
                    found[kind].extend((bits, reading) for reading in readings(cards))
    return found


def touch(first: Found, second: Found) -> bool:
    """Section 5: in one suit, one starts right after the other ends."""
    if first[1][0][-1] != second[1][0][-1]:
        return False
    return first[2] + first[3] == second[2] or second[2] + second[3] == first[2]


def layouts(hand: Sequence[str], contract: Contract, melds: Melds) -> Iterator[tuple[int, tuple[Found, ...]]]:
    """Every opening from these cards without a swap: the bits of the cards it takes, and its melds."""
    found = all_melds(hand, contract, melds)
    options = [(bits, meld) for kind in ("set", "run") for bits, meld in found[kind]]
    need = {"set": contract.sets, "run": contract.runs}
    everything = (1 << len(hand)) - 1

    def lay(
        first: int, used: int, laid: tuple[Found, ...], left: dict[str, int]
    ) -> Iterator[tuple[int, tuple[Found, ...]]]:
        if not any(left.values()):
            if (used == everything) if contract.whole_hand else (used != everything):
                yield used, laid
            return
        for index in range(first, len(options)):
            bits, meld = options[index]
            kind = meld[0]
            if bits & used or not left[kind]:
                continue
            apart = kind == "set" or melds.adjacent_runs
            if apart or not any(touch(meld, other) for other in laid if other[0] == "run"):
                yield from lay(index + 1, used | bits, (*laid, meld), {**left, kind: left[kind] - 1})

    smallest = contract.sets * melds.set_size + contract.runs * melds.run_size
    if 0 < smallest <= len(hand) - (not contract.whole_hand):
        yield from lay(0, 0, (), need)


def look(laid: Sequence[Found], swap: tuple[str, int] | None) -> object:
    """What an opening looks like at the table: openings that look alike are one."""
    return tuple(sorted((meld[0], meld[1]) for meld in laid)), swap


def swaps(
    hand: Sequence[str], contract: Contract, table_jokers: Sequence[TableJoker]
) -> Iterator[tuple[int, tuple[str, int], list[str]]]:
    """Every swap: which card is given, how it looks, and the hand with the freed joker in its place."""
    for freed in table_jokers if not contract.whole_hand else ():
        for index, card in enumerate(hand):
            if card[:2] in freed.faces:
                yield index, (card[:2], freed.meld), [*hand[:index], "X99", *hand[index + 1 :]]


def has_opening(
    hand: Sequence[str], contract: Contract, melds: Melds, table_jokers: Sequence[TableJoker] = ()
) -> bool:
    """Whether there is an opening at all."""
    if next(layouts(hand, contract, melds), None) is not None:
        return True
    return any(
        used >> index & 1
        for index, _, swapped in swaps(hand, contract, table_jokers)
        for used, _ in layouts(swapped, contract, melds)
    )


def all_openings(
    hand: Sequence[str], contract: Contract, melds: Melds, table_jokers: Sequence[TableJoker] = ()
) -> dict[object, list[str]]:
    """Every opening by its look, with the cards that it leaves in the hand."""
    found: dict[object, list[str]] = {}
    for used, laid in layouts(hand, contract, melds):
        found.setdefault(look(laid, None), [card for i, card in enumerate(hand) if not used >> i & 1])
    for index, swap, swapped in swaps(hand, contract, table_jokers):
        for used, laid in layouts(swapped, contract, melds):
            if used >> index & 1:
                rest = [card for i, card in enumerate(hand) if not used >> i & 1]
                found.setdefault(look(laid, swap), rest)
    return found


def opening_look(opening: Opening) -> object:
    """The look of an opening that the finder gave."""
    laid = []
    for meld in opening.melds:
        faces = [f"X={text.partition('=')[2]}" if text[0] == "X" else text[:2] for text in meld.cards]
        if meld.kind == "set":
            faces = sorted(face for face in faces if face[0] != "X") + [f for f in faces if f[0] == "X"]
        laid.append((meld.kind, tuple(faces)))
    swap = opening.swap and (opening.swap[0][:2], opening.swap[1])
    return tuple(sorted(laid)), swap


def fault(
    opening: Opening,
    hand: Sequence[str],
    contract: Contract,
    melds: Melds,
    table_jokers: Sequence[TableJoker] = (),
) -> str | None:
    """What is wrong with an opening by the rules, or None where it is legal."""
    held = Counter(hand)
    if opening.swap is not None:
        given, number = opening.swap
        freed = [j for j in table_jokers if j.meld == number and given[:2] in j.faces]
        if contract.whole_hand or not freed or not held[given]:
            return "no such swap"
        held[given] -= 1
        own = {text.partition("=")[0] for meld in opening.melds for text in meld.cards}
        used = [joker.joker for joker in freed if joker.joker in own]
        if len(used) != 1:
            return "the freed joker is not laid"
        held[used[0]] += 1
    laid = Counter(text.partition("=")[0] for meld in opening.melds for text in meld.cards)
    if not laid <= held:
        return f"cards not held: {laid - held}"
    if (laid == held) != contract.whole_hand:
        return "keeps a card" if contract.whole_hand else "keeps no discard"
    return melds_fault(opening, contract, melds)


def melds_fault(opening: Opening, contract: Contract, melds: Melds) -> str | None:
    """What is wrong with the melds of an opening, wherever their cards come from."""
    kinds = [meld.kind for meld in opening.melds]
    if kinds != ["set"] * contract.sets + ["run"] * contract.runs:
        return f"not the contract: {kinds}"
    for meld in opening.melds:
        jokers = sum(text[0] == "X" for text in meld.cards)
        if not size_allowed(len(meld.cards), meld.kind, contract, melds):
            return f"size of {meld}"
        if not limits_allow(len(meld.cards), jokers, melds):
            return f"joker limit of {meld}"
        if not (is_set(meld.cards) if meld.kind == "set" else as_run(meld.cards)):
            return f"not a {meld.kind}, or out of order: {meld}"
    runs = [run for meld in opening.melds if meld.kind == "run" and (run := as_run(meld.cards))]
    if not melds.adjacent_runs and any(touch(a, b) for a, b in combinations(runs, 2)):
        return "runs touch"
    return None


def is_set(texts: Sequence[str]) -> bool:
    """Whether a stored meld is a set, in the order of section 2's storage."""
    order = [("SHDC".index(text[1]), text[2:]) if text[0] != "X" else (9, text) for text in texts]
    ranks = {text.partition("=")[2] or text[0] for text in texts}
    return len(ranks) == 1 and order == sorted(order)


def as_run(texts: Sequence[str]) -> Found | None:
    """A stored meld as a run, or None where it is none."""
    means = tuple(text.partition("=")[2] or text[:2] for text in texts)
    ranks = "".join(mean[0] for mean in means)
    if len({mean[1] for mean in means}) != 1 or ranks not in RANKS_UP:
        return None
    return "run", means, RANKS_UP.index(ranks) + 1, len(means)
