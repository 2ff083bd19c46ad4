"""Hypothesis strategies: any rule set that the checks accept, not only those that ship."""

from hypothesis import strategies as st

from mersey.rules.cards import JOKER, RANKS
from mersey.rules.ruleset import (
    Buy,
    Contract,
    Cut,
    DeckRange,
    Melds,
    Pack,
    RuleSet,
    Score,
    Stock,
    Swap,
)

FLAGS = st.booleans()
LIMITS = st.integers(0, 1_000_000)
MAYBE_LIMITS = st.none() | LIMITS


@st.composite
def packs(draw: st.DrawFn, fewest: int, most: int) -> Pack:
    split = draw(st.integers(fewest, most))
    low = DeckRange(players=(fewest, split), count=draw(st.integers(1, 9)))
    high = DeckRange(players=(split + 1, most), count=draw(st.integers(1, 9))) if split < most else None
    decks = (low,) if high is None else draw(st.permutations([low, high]).map(tuple))
    jokers = draw(st.integers(0, 20))
    if draw(FLAGS):
        return Pack(decks=decks, jokers=jokers)
    return Pack(decks=decks, jokers_per_deck=jokers)


@st.composite
def contracts(draw: st.DrawFn, deal_most: int, last: bool) -> Contract:
    deal = draw(st.integers(1, deal_most))
    if last and draw(FLAGS):
        return Contract(sets=0, runs=draw(st.integers(1, 4)), deal=deal, whole_hand=True)
    sets, runs = draw(st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(any))
    return Contract(sets=sets, runs=runs, deal=deal, whole_hand=False)


@st.composite
def swaps(draw: st.DrawFn) -> Swap:
    swap_from = draw(st.sampled_from([(), ("run",), ("set",), ("run", "set"), ("set", "run")]))
    freed = draw(st.sampled_from(["any_meld", "other_meld", "hand"]))
    return Swap(swap_from=swap_from, freed_joker=freed, swap_in_opening=bool(swap_from) and draw(FLAGS))


MELDS = st.builds(
    Melds,
    set_size=st.integers(1, 10),
    run_size=st.integers(1, 14),
    open_size=st.sampled_from(["exact", "at_least"]),
    adjacent_runs=FLAGS,
    lay_off_on_opening_turn=FLAGS,
    min_naturals_per_meld=st.integers(0, 5),
    max_jokers_per_meld=st.none() | st.integers(0, 5),
)
BUYS = st.builds(
    Buy,
    discarder_may_buy=FLAGS,
    opened_may_buy=FLAGS,
    penalty_cards=st.integers(0, 5),
    chain=FLAGS,
    max_buys_per_round=MAYBE_LIMITS,
)
SCORES = st.builds(
    Score,
    values=st.fixed_dictionaries(dict.fromkeys([*RANKS, JOKER], LIMITS)),
    score_sign=st.sampled_from([1, -1]),
)
TITLES = st.text(min_size=1, max_size=80).filter(str.isprintable)


@st.composite
def rulesets(draw: st.DrawFn) -> RuleSet:
    fewest = draw(st.integers(2, 8))
    most = draw(st.integers(fewest, 8))
    count = draw(st.integers(1, 5))
    deal_most = (52 - 1) // most
    return RuleSet(
        id=draw(st.from_regex(r"\A[a-z0-9-]{1,40}\Z")),
        title=draw(TITLES),
        players=(fewest, most),
        pack=draw(packs(fewest, most)),
        rounds=tuple(draw(contracts(deal_most, place == count - 1)) for place in range(count)),
        melds=draw(MELDS),
        swap=draw(swaps()),
        buy=draw(BUYS),
        stock=Stock(max_reshuffles=draw(LIMITS)),
        score=draw(SCORES),
        cut=draw(st.none() | st.builds(Cut, bonus=LIMITS, cut_spread=LIMITS)),
    )
