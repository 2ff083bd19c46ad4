"""Laws over random whole games: every shipped rule set, every number of players."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from game.walk import TABLES, exchanged, round_starts, settled, walk
from mersey.game.choices import choices, due
from mersey.game.commands import Command
from mersey.game.conservation import check_cards
from mersey.game.decide import decide
from mersey.game.evolve import evolve, fold
from mersey.game.refusals import TableRefusal
from mersey.game.state import Game
from mersey.game.view import SPECTATOR, Viewer, seat_viewer, update_bytes, view, view_bytes
from mersey.log.table_commit import read_table_commit
from mersey.rules.actions import (
    Action,
    Buy,
    ChooseStock,
    Cut,
    Destination,
    Discard,
    LayOff,
    OpenContract,
    Pass,
    Ready,
    SwapJoker,
    TakeDiscard,
)
from mersey.rules.cards import FACES, face_of
from mersey.rules.melds import Named, card_of
from mersey.rules.refusals import Refusal
from recorded import recorded_game


def games(law: Callable[..., None]) -> Callable[..., None]:
    """Try ``law`` on a few games by chance, each by its ``seed``."""
    return settings(max_examples=2, deadline=None)(given(seed=st.integers(0, 2**32 - 1))(law))


RUNNING = ("cut", "choose", "offer", "play", "round_over")


def refused(game: Game, seat: int, action: Command) -> str | None:
    """Return the whole text of the refusal that ``action`` gets, None where it is accepted."""
    held = game.seats[seat]
    assert held is not None
    try:
        decide(game, held.player, action)
    except (Refusal, TableRefusal) as refusal:
        return str(refusal)
    return None


def any_action(rng: random.Random, game: Game) -> Action:
    """Return an action that somebody might try, cards by faces, jokers named in full."""
    hand = [face_of(card) for card in rng.choice(game.hands)] if any(game.hands) else []
    card = Named(rng.choice(hand if hand and rng.random() < 0.7 else FACES))
    joker = Named("X=" + rng.choice([card[:1], card])) if card[0] != "X" else Named("X=7")
    meld = rng.randint(1, max(1, len(game.melds)))
    other = rng.randint(1, max(1, len(game.melds)))
    natural = card if card[0] != "X" else Named("7S")
    return rng.choice(
        [
            Buy(),
            Pass(),
            Pass(standing=True),
            Ready(),
            TakeDiscard(),
            ChooseStock(),
            Cut(rng.randint(1, 52)),
            Discard(card),
            LayOff(card if card[0] != "X" else joker, meld),
            LayOff(joker, meld),
            SwapJoker(natural, meld),
            SwapJoker(natural, meld, Destination(joker, other)),
        ]
    )


@pytest.mark.parametrize(("rules", "seats"), TABLES)
@games
def test_after_every_event_each_card_is_in_exactly_one_place(rules: str, seats: int, seed: int) -> None:
    _, states = walk(rules, seats, seed)
    for state in states:
        check_cards(state)
    assert states[-1].step == "game_over"


@pytest.mark.parametrize(("rules", "seats"), TABLES)
@games
def test_what_is_rebuilt_from_bytes_equals_what_was_decided(rules: str, seats: int, seed: int) -> None:
    game = Game()
    for data in recorded_game(rules, seats, seed):
        commit = read_table_commit(data)
        decided = decide(game, commit.actor, commit.cause)
        assert decided == commit.events
        after = fold(commit.events, game)
        for event in decided:
            game = evolve(game, event)
        assert after == game


@pytest.mark.parametrize(("rules", "seats"), TABLES)
@games
def test_listed_choices_are_accepted_and_whatever_is_not_listed_is_refused(
    rules: str, seats: int, seed: int
) -> None:
    rng = random.Random(f"{rules} {seats} {seed}")
    states = settled(rules, seats, seed)
    kinds: Counter[str] = Counter()
    for game in rng.sample([state for state in states if state.step in RUNNING], 40):
        for seat in range(seats):
            listed = choices(game, seat)
            forms = {action for choice in listed.legal for action in choice.actions}
            kinds.update(choice.kind for choice in listed.legal)
            assert bool(forms) == (seat in due(game))
            for action in forms:
                assert refused(game, seat, action) is None, action
            for kind, code in listed.missing.items():
                assert kind not in {choice.kind for choice in listed.legal}
                assert code
            for _ in range(25):
                action = any_action(rng, game)
                if action not in forms and not isinstance(action, OpenContract):
                    assert refused(game, seat, action) is not None, (game.version, seat, action)
    assert kinds


def seen_cards(states: tuple[Game, ...], viewer: Viewer) -> tuple[set[str], set[str]]:
    """Return the cards whose copy, and the cards of which at least the face, the viewer has been shown."""
    copies: set[str] = set()
    faces: set[str] = set()
    for state in states:
        if viewer.seat is not None and state.hands:
            copies.update(state.hands[viewer.seat])
        faces.update(state.pile)
        faces.update(card_of(placed) for meld in state.melds for placed in meld.cards)
    return copies, faces | copies


def exchanges(rng: random.Random, states: tuple[Game, ...], viewer: Viewer) -> list[tuple[str, str]]:
    """Return pairs of cards that the viewer can't tell apart: both never seen, or twins seen by face only."""
    game = states[-1]
    copies, known = seen_cards(states, viewer)
    unseen = [card for card in game.ruleset.pack_for(len(game.seats)) if card not in known]
    pairs = [tuple(rng.sample(unseen, 2)) for _ in range(3) if len(unseen) > 1]
    free = [card for card in game.ruleset.pack_for(len(game.seats)) if card not in copies]
    twins = [(a, b) for a in known - copies for b in free if a != b and face_of(a) == face_of(b)]
    twins.sort()
    return pairs + rng.sample(twins, min(3, len(twins)))  # type: ignore[return-value]


def shown(events: list, start: Game, version: int, viewer: Viewer) -> list[bytes]:
    """Return all that the viewer gets from ``start`` on: updates, view, choices."""
    game = fold(events, start)
    out = [update_bytes(start.version + n, 0, event, viewer) for n, event in enumerate(events, start=1)]
    out.append(view_bytes(view(game, viewer)))
    if viewer.seat is not None:
        out.append(repr(choices(game, viewer.seat)).encode())
    assert game.version == version
    return out


@pytest.mark.parametrize(("rules", "seats"), TABLES)
@games
def test_cards_that_a_viewer_has_not_seen_change_nothing_that_it_is_shown(
    rules: str, seats: int, seed: int
) -> None:
    rng = random.Random(f"leak {rules} {seats} {seed}")
    events, states = walk(rules, seats, seed)
    starts = list(round_starts(events))
    versions = [g.version for g in settled(rules, seats, seed) if g.step in ("choose", "offer", "play")]
    tried = 0
    for version in rng.sample(versions, 8):
        start = max(begin for begin in starts if begin < version)
        part = events[start:version]
        if any(type(event).__name__ == "RoundEnded" for event in part):
            continue
        for viewer in (*map(seat_viewer, range(seats)), SPECTATOR):
            before = shown(list(part), states[start], version, viewer)
            for one, other in exchanges(rng, states[start : version + 1], viewer):
                other_events = exchanged(part, one, other)
                assert shown(other_events, states[start], version, viewer) == before, (version, viewer)
                tried += 1
                if viewer.seat is not None:
                    elsewhere = fold(other_events, states[start])
                    for _ in range(5):
                        action = any_action(rng, states[version])
                        assert refused(elsewhere, viewer.seat, action) == refused(
                            states[version], viewer.seat, action
                        ), (version, viewer, action)
    assert tried > 20


@pytest.mark.parametrize(("rules", "seats"), TABLES[:3])
@games
def test_a_viewers_bytes_never_name_a_copy_that_it_has_not_held(rules: str, seats: int, seed: int) -> None:
    events, states = walk(rules, seats, seed)
    for seat in range(seats):
        held: set[str] = set()
        for version, event in enumerate(events, start=1):
            state = states[version]
            kind = type(event).__name__
            held = set() if kind == "RoundStarted" else held | set(state.hands[seat] if state.hands else ())
            if kind in ("RoundEnded", "LinkOpened", "GameEnded"):
                continue  # the round is public now
            text = update_bytes(version, 0, event, seat_viewer(seat)).decode()
            for card in state.ruleset.pack_for(seats):
                if card not in held:
                    assert f'"{card}"' not in text
                    assert f'"{card}=' not in text
