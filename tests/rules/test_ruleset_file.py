"""A rule set file is read whole, or refused with each fault named by its key."""

import tomllib
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mersey.rules.refusals import RuleSetError
from mersey.rules.ruleset import RuleSet, ruleset_bytes
from mersey.rules.ruleset_file import (
    load_ruleset,
    parse_ruleset,
    ruleset_from_json,
    ruleset_text,
    shipped,
)
from rules.any_ruleset import rulesets

CONTRACT = ruleset_text("contract")
BGA = ruleset_text("bga")


def faults_of(text: str) -> tuple[str, ...]:
    with pytest.raises(RuleSetError) as caught:
        parse_ruleset(text, "house.toml")
    assert caught.value.source == "house.toml"
    return caught.value.faults


def changed(old: str, new: str, text: str = CONTRACT) -> str:
    assert old in text, old
    return text.replace(old, new, 1)


def deals(rules: RuleSet) -> list[int]:
    return [contract.deal for contract in rules.rounds]


def asked(rules: RuleSet) -> list[tuple[int, int]]:
    return [(contract.sets, contract.runs) for contract in rules.rounds]


SEVEN_ROUNDS = [(2, 0), (1, 1), (0, 2), (3, 0), (2, 1), (1, 2), (0, 3)]


def test_four_rule_sets_ship_each_named_by_its_id() -> None:
    assert set(shipped()) == {"liverpool", "contract", "bga", "bga-short"}
    for name in shipped():
        assert load_ruleset(name).id == name


@pytest.mark.parametrize("name", ["liverpool", "contract"])
def test_liverpool_and_contract_are_those_of_the_rules(name: str) -> None:
    rules = load_ruleset(name)
    assert rules.players == (4, 4)
    assert len(rules.pack_for(4)) == 107
    assert asked(rules) == SEVEN_ROUNDS
    assert deals(rules) == [10, 10, 10, 12, 12, 12, 12]
    assert [contract.whole_hand for contract in rules.rounds] == [False] * 6 + [True]
    assert rules.melds == msgspec.convert(
        {
            "set_size": 3,
            "run_size": 4,
            "open_size": "exact",
            "adjacent_runs": False,
            "lay_off_on_opening_turn": False,
            "min_naturals_per_meld": 0,
        },
        type(rules.melds),
    )
    assert rules.swap.swap_from == ("run",)
    assert not rules.swap.swap_in_opening
    assert (rules.buy.discarder_may_buy, rules.buy.opened_may_buy, rules.buy.chain) == (True, True, True)
    assert (rules.buy.penalty_cards, rules.buy.max_buys_per_round) == (1, None)
    assert rules.stock.max_reshuffles == 10
    faces = {str(number): number for number in range(2, 10)}
    assert rules.score.values == faces | dict.fromkeys("TJQK", 10) | {"A": 15, "X": 15}
    assert rules.score.score_sign == 1


def test_liverpool_and_contract_differ_in_the_cut_and_in_where_a_freed_joker_goes() -> None:
    liverpool, contract = load_ruleset("liverpool"), load_ruleset("contract")
    assert liverpool.cut is not None
    assert (liverpool.cut.bonus, liverpool.cut.cut_spread) == (50, 5)
    assert contract.cut is None
    assert (liverpool.swap.freed_joker, contract.swap.freed_joker) == ("other_meld", "any_meld")


@pytest.mark.parametrize("name", ["bga", "bga-short"])
def test_the_online_rules_are_those_of_the_rules(name: str) -> None:
    rules = load_ruleset(name)
    assert rules.players == (2, 8)
    assert [len(rules.pack_for(players)) for players in range(2, 9)] == [108] * 3 + [162] * 4
    assert not any(contract.whole_hand for contract in rules.rounds)
    assert (rules.melds.set_size, rules.melds.run_size, rules.melds.open_size) == (3, 4, "at_least")
    assert rules.melds.adjacent_runs
    assert rules.melds.lay_off_on_opening_turn
    assert set(rules.swap.swap_from) == {"run", "set"}
    assert (rules.swap.freed_joker, rules.swap.swap_in_opening) == ("hand", True)
    assert (rules.buy.discarder_may_buy, rules.buy.opened_may_buy, rules.buy.chain) == (False, True, False)
    assert rules.stock.max_reshuffles == 5
    assert rules.score.values == dict.fromkeys("23456789", 5) | dict.fromkeys("TJQK", 10) | {"A": 15, "X": 20}
    assert (rules.score.score_sign, rules.cut) == (-1, None)


def test_the_full_online_game_has_seven_rounds_and_the_short_one_four() -> None:
    full, short = load_ruleset("bga"), load_ruleset("bga-short")
    assert (asked(full), deals(full)) == (SEVEN_ROUNDS, [10, 11, 11, 12, 12, 12, 12])
    assert (asked(short), deals(short)) == ([(2, 0), (0, 2), (2, 1), (0, 3)], [10, 11, 12, 12])


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("set_size = 3", "set_size = 0", "melds.set_size: must be 1 to 1000000, not 0"),
        ("set_size = 3", "set_size = true", "melds.set_size: must be a whole number, not true"),
        (
            "set_size = 3",
            "set_size = 3.0",
            "melds.set_size: must be a whole number, not a number with a fraction",
        ),
        ("set_size = 3", 'set_size = "3"', 'melds.set_size: must be a whole number, not "3"'),
        (
            "set_size = 3",
            "set_size = 1999-12-31",
            "melds.set_size: must be a whole number, not a date or time",
        ),
        ("run_size = 4", "run_size = 15", "melds.run_size: must be 1 to 14, not 15"),
        ("penalty_cards = 1", "penalty_cards = -1", "buy.penalty_cards: must be 0 to 1000000, not -1"),
        ("chain = true", "chain = 1", "buy.chain: must be true or false, not 1"),
        ("chain = true", "", "buy.chain: is missing"),
        ("chain = true", "chian = true", "buy.chian: is not a known key; meant chain?"),
        ("chain = true", 'chain = true\n"\\u001b[2J" = 1', 'buy."\\x1b[2J": is not a known key'),
        ('"exact"', '"exactly"', 'melds.open_size: must be "exact" or "at_least", not "exactly"'),
        ('"any_meld"', '"table"', 'must be "any_meld" or "other_meld" or "hand", not "table"'),
        ('["run"]', '["run", "row"]', 'swap.swap_from[2]: must be "set" or "run", not "row"'),
        ('["run"]', '["run", "run"]', 'swap.swap_from: names "run" twice'),
        ('["run"]', '"run"', 'swap.swap_from: must be a list, not "run"'),
        (
            '["run"]\nfreed_joker = "any_meld"\nswap_in_opening = false',
            '[]\nfreed_joker = "any_meld"\nswap_in_opening = true',
            "swap.swap_in_opening: needs a swap_from that names a kind of meld",
        ),
        ("score_sign = 1", "score_sign = 0", "score.score_sign: must be 1 or -1, not 0"),
        ("score_sign = 1", "score_sign = true", "score.score_sign: must be 1 or -1, not true"),
        ("{ A = 15, ", "{ ", "score.values.A: is missing"),
        ("{ A = 15, ", "{ A = 15, 1 = 15, ", "score.values.1: is not a known key"),
        ("{ A = 15, ", "{ A = -15, ", "score.values.A: must be 0 to 1000000, not -15"),
        ("players = [4, 4]", "players = [1, 4]", "players: must be the fewest and the most within 2 to 8"),
        ("players = [4, 4]", "players = [4, 9]", "not [4, 9]"),
        ("players = [4, 4]", "players = [4, 2]", "not [4, 2]"),
        (
            "players = [4, 4]",
            "players = [4]",
            "players: must be two whole numbers, the fewest and the most, not a list",
        ),
        ("players = [4, 4]", "players = [2, 4]", "pack.decks: no entry holds for 2 players"),
        ("count = 2 }", "count = 10 }", "pack.decks[1].count: must be 1 to 9, not 10"),
        (
            "count = 2 }",
            "count = 2 }, { players = [2, 5], count = 3 }",
            "pack.decks: two entries hold for 4 players",
        ),
        ("jokers = 3", "", "pack.jokers: is missing, and so is jokers_per_deck"),
        ("jokers = 3", "jokers = 3\njokers_per_deck = 2", "pack.jokers: excludes jokers_per_deck"),
        ("jokers = 3", "jokers = -1", "pack.jokers: must be 0 to 999, not -1"),
        ("deal = 10", "deal = 30", "rounds[1].deal: deals 4 x 30 + 1 cards, the pack holds 107"),
        ("deal = 10", "deal = 0", "rounds[1].deal: must be 1 to 1000000, not 0"),
        ("sets = 2\n", "sets = 0\n", "rounds[1]: demands neither a set nor a run"),
        (
            "whole_hand = false",
            "whole_hand = true",
            "rounds[1].whole_hand: may be true in the last round only",
        ),
        (
            "sets = 0\nruns = 3\n",
            "sets = 1\nruns = 3\n",
            "rounds[7].whole_hand: may be true in a round of runs only",
        ),
        (
            "sets = 0\nruns = 3\n",
            "sets = 3\nruns = 0\n",
            "rounds[7].whole_hand: may be true in a round of runs only",
        ),
        (
            'id = "contract"',
            'id = "My rules"',
            'id: must be 1 to 40 characters of a-z, 0-9 and -, not "My rules"',
        ),
        ('id = "contract"', 'id = "../x"', 'id: must be 1 to 40 characters of a-z, 0-9 and -, not "../x"'),
        ('id = "contract"', 'id = "a/b"', "id: must be 1 to 40 characters of a-z, 0-9 and -"),
        ('id = "contract"', f'id = "{"a" * 41}"', "not a text of 41 characters"),
        ('id = "contract"', 'id = ""', 'id: must be 1 to 40 characters of a-z, 0-9 and -, not ""'),
        ('"Contract Rummy"', '""', 'title: must be 1 to 80 printable characters, not ""'),
        ('"Contract Rummy"', f'"{"x" * 81}"', "title: must be 1 to 80 printable characters"),
        ('"Contract Rummy"', '"a\\nb"', 'title: must be 1 to 80 printable characters, not "a\\nb"'),
        ("score_sign = 1", "score_sign = 1\n[cut]\nbonus = 50", "cut.cut_spread: is missing"),
        ("max_reshuffles = 10", f"max_reshuffles = 0x{'f' * 5000}", "not a number that large"),
        ("[stock]\nmax_reshuffles = 10", "stok = 3", "stock: is missing"),
    ],
)
def test_a_fault_is_named_by_its_key(old: str, new: str, fault: str) -> None:
    faults = faults_of(changed(old, new))
    assert any(fault in line for line in faults), faults
    assert all(line.isprintable() for line in faults)


def test_a_single_fault_is_named_once_and_nothing_else_with_it() -> None:
    assert len(faults_of(changed("set_size = 3", "set_size = 0"))) == 1
    assert len(faults_of(changed("players = [4, 4]", "players = 4"))) == 1
    assert len(faults_of(changed("deal = 10", "deal = 30"))) == 1
    assert len(faults_of(changed("deal = 12", "deal = 30", BGA))) == 1


def test_every_fault_of_a_file_is_named_at_once() -> None:
    text = changed("set_size = 3", "set_size = true")
    text = changed("chain = true", "chian = true", text)
    text = changed("deal = 10", "deal = 30", text)
    text = changed("sets = 0\nruns = 3\ndeal = 12", "sets = 1\nruns = 3\ndeal = 99", text)
    text = changed("max_reshuffles = 10", "max_reshuffles = -1", text)
    assert [line.partition(":")[0] for line in faults_of(text)] == [
        "melds.set_size",
        "buy.chain",
        "buy.chian",
        "stock.max_reshuffles",
        "rounds[1].deal",
        "rounds[7].deal",
        "rounds[7].whole_hand",
    ]


def test_a_deal_is_held_against_the_pack_of_every_number_of_players() -> None:
    assert faults_of(changed("{ players = [5, 8], count = 3 }", "{ players = [5, 8], count = 1 }", BGA)) == (
        "rounds[1].deal: deals 6 x 10 + 1 cards, the pack holds 54",
        "rounds[2].deal: deals 5 x 11 + 1 cards, the pack holds 54",
        "rounds[3].deal: deals 5 x 11 + 1 cards, the pack holds 54",
        *(f"rounds[{number}].deal: deals 5 x 12 + 1 cards, the pack holds 54" for number in range(4, 8)),
    )


def test_a_deal_may_take_the_whole_pack_and_not_one_card_more() -> None:
    fits = changed("jokers = 3", "jokers = 1").replace("deal = 10", "deal = 26", 1)
    assert parse_ruleset(fits, "fits").rounds[0].deal == 26
    assert faults_of(fits.replace("jokers = 1", "jokers = 0")) == (
        "rounds[1].deal: deals 4 x 26 + 1 cards, the pack holds 104",
    )


def test_deck_ranges_may_reach_beyond_the_players_of_the_rule_set() -> None:
    wide = changed("{ players = [4, 4], count = 2 }", "{ players = [2, 8], count = 2 }")
    assert parse_ruleset(wide, "wide").decks_for(4) == 2


def test_what_may_be_left_out_may_be_given() -> None:
    text = changed("chain = true", "chain = true\nmax_buys_per_round = 0")
    text = changed("min_naturals_per_meld = 0", "min_naturals_per_meld = 0\nmax_jokers_per_meld = 2", text)
    rules = parse_ruleset(text, "house")
    assert (rules.buy.max_buys_per_round, rules.melds.max_jokers_per_meld) == (0, 2)


def test_broken_toml_is_named_with_its_line() -> None:
    (fault,) = faults_of('id = "x"\ntitle "y"\n')
    assert fault == "not TOML: Expected '=' after a key in a key/value pair (at line 2, column 7)"
    assert faults_of("x = " + "[" * 50_000) == ("not a rule set: nested too deeply",)
    assert "not TOML" in faults_of("x = " + "9" * 5000)[0]


def test_a_file_is_found_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "house.toml"
    path.write_text("\ufeff" + changed('"contract"', '"house"'), "utf-8", newline="\r\n")
    assert load_ruleset(str(path)).id == "house"


def test_a_file_that_cannot_be_read_is_said_to_be_so(tmp_path: Path) -> None:
    latin, long = tmp_path / "latin.toml", tmp_path / "long.toml"
    latin.write_bytes(b'title = "\xe4"')
    long.write_bytes(b"#" * 70_000)
    for path, fault in (
        (
            tmp_path / "none.toml",
            "no such rule set or file (rule sets that ship: bga, bga-short, contract, liverpool)",
        ),
        (tmp_path, "the file can't be read: Is a directory"),
        (latin, "the file is not UTF-8 text (byte 10)"),
        (long, "the file is longer than 65536 bytes"),
    ):
        with pytest.raises(RuleSetError) as caught:
            load_ruleset(str(path))
        assert (caught.value.source, caught.value.faults) == (str(path), (fault,))
    with pytest.raises(RuleSetError):
        load_ruleset("a\0b")


@given(rulesets())
def test_every_rule_set_reads_back_from_its_bytes(rules: RuleSet) -> None:
    data = ruleset_bytes(rules)
    read = ruleset_from_json(data)
    assert read == rules
    assert ruleset_bytes(read) == data


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 20)
    | st.floats(allow_nan=False)
    | st.sampled_from(["run", "hand", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)


def places(value: object, path: tuple = ()) -> list[tuple]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path] + [place for key, entry in inner for place in places(entry, (*path, key))]


PLACES = places(tomllib.loads(BGA))


@given(st.sampled_from(PLACES), VALUES)
def test_any_value_at_any_key_is_a_rule_set_or_a_named_fault(place: tuple, value: object) -> None:
    data = tomllib.loads(BGA)
    if place:
        *above, last = place
        holder = data
        for key in above:
            holder = holder[key]
        holder[last] = value
    else:
        data = value
    try:
        rules = ruleset_from_json(msgspec.json.encode(data))
    except RuleSetError as error:
        faults = error.faults
    else:
        faults = ("none",)
        assert ruleset_from_json(ruleset_bytes(rules)) == rules
    assert faults
    assert all(fault.isprintable() for fault in faults)


@given(st.sampled_from(PLACES[1:]))
def test_no_key_can_be_left_out_unnoticed(place: tuple) -> None:
    data = tomllib.loads(BGA)
    *above, last = place
    holder = data
    for key in above:
        holder = holder[key]
    del holder[last]
    if place in {("rounds", n) for n in range(7)} | {("swap", "swap_from", n) for n in range(2)}:
        return
    with pytest.raises(RuleSetError):
        ruleset_from_json(msgspec.json.encode(data))


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_a_rule_set_or_a_rule_set_error(data: bytes) -> None:
    with pytest.raises(RuleSetError):
        ruleset_from_json(data)


@given(st.text(max_size=200))
def test_any_text_is_a_rule_set_or_a_rule_set_error(text: str) -> None:
    with pytest.raises(RuleSetError):
        parse_ruleset(text, "any")
