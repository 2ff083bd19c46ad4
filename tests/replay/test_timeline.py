"""The timeline: every version at hand, equal to the fold of the events before it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mersey.game.events import CardDiscarded, HandsDealt, RoundStarted, StockDrawn
from mersey.game.evolve import fold
from mersey.game.state import Game
from mersey.log.table_commit import read_table_commit
from mersey.replay.timeline import Timeline, TimelineError
from recorded import recorded_game
from replay.forging import changed, commit_with, event_changed, rechained

GAME = recorded_game("liverpool", 4)
EVENTS = [event for data in GAME for event in read_table_commit(data).events]
TIMELINE = Timeline.of(GAME)


@given(st.integers(0, len(EVENTS)))
def test_the_state_at_a_version_is_the_fold_of_the_events_up_to_it(version: int) -> None:
    assert TIMELINE.state(version) == fold(EVENTS[:version])


def test_each_moment_has_its_event_and_the_commit_it_came_with() -> None:
    version = 0
    for number, data in enumerate(GAME, start=1):
        commit = read_table_commit(data)
        for event in commit.events:
            version += 1
            moment = TIMELINE.moment(version)
            assert (moment.version, moment.commit, moment.event) == (version, number, event)
            assert (moment.at_ms, moment.actor, moment.cause) == (commit.at_ms, commit.actor, commit.cause)
    assert TIMELINE.last == version == len(EVENTS)


@given(st.integers(1, len(EVENTS) - 1))
def test_neighbouring_states_share_what_did_not_change(version: int) -> None:
    before, after = TIMELINE.state(version), TIMELINE.state(version + 1)
    shared = [name for name in Game.__struct_fields__ if getattr(before, name) is getattr(after, name)]
    assert len(shared) >= len(Game.__struct_fields__) - 21
    assert before.rules is after.rules


def test_a_round_begins_with_the_event_that_starts_it() -> None:
    starts = [v for v, event in enumerate(EVENTS, 1) if isinstance(event, RoundStarted)]
    assert [TIMELINE.round_start(number) for number in (1, 2)] == starts


def test_a_turn_begins_with_the_deal_or_the_discard_before_it() -> None:
    for number in (1, 2):
        start = TIMELINE.round_start(number)
        end = TIMELINE.round_start(2) if number == 1 else len(EVENTS) + 1
        begins = [
            v
            for v in range(start, end)
            if isinstance(EVENTS[v - 1], HandsDealt | CardDiscarded) and TIMELINE.state(v).step == "choose"
        ]
        assert [TIMELINE.turn_start(number, turn) for turn in range(1, len(begins) + 1)] == begins
        with pytest.raises(TimelineError, match=f"no turn {len(begins) + 1} in round {number}"):
            TIMELINE.turn_start(number, len(begins) + 1)


@pytest.mark.parametrize("number", [-1, 0, 3])
def test_a_round_that_was_not_played_is_named(number: int) -> None:
    with pytest.raises(TimelineError, match=f"no round {number}: the game has 1 to 2"):
        TIMELINE.round_start(number)


@pytest.mark.parametrize("turn", [-1, 0, 10**6])
def test_a_turn_that_was_not_played_is_named(turn: int) -> None:
    with pytest.raises(TimelineError, match=f"no turn {turn} in round 1"):
        TIMELINE.turn_start(1, turn)


@pytest.mark.parametrize("version", [-1, len(EVENTS) + 1])
def test_a_version_that_is_not_there_is_named(version: int) -> None:
    with pytest.raises(TimelineError, match=f"no version {version}"):
        TIMELINE.state(version)
    with pytest.raises(TimelineError, match="no version 0"):
        TIMELINE.moment(0)


def test_a_game_is_over_when_it_has_ended_or_its_table_is_closed() -> None:
    assert TIMELINE.is_over
    assert Timeline.of(recorded_game(actions_max=30, close=True)).is_over
    assert not Timeline.of(recorded_game(actions_max=30)).is_over


def test_commits_that_do_not_follow_are_refused_by_number() -> None:
    with pytest.raises(TimelineError, match=r"from commit 8 on: .*number is 9"):
        Timeline.of([*GAME[:7], *GAME[8:]])
    with pytest.raises(TimelineError, match="no commit"):
        Timeline.of([])


def test_an_event_that_has_no_place_is_refused_by_version() -> None:
    number = commit_with(GAME, CardDiscarded)
    forged = rechained(changed(GAME, number, event_changed(CardDiscarded, card="nothing")))
    version = read_table_commit(GAME[number - 1]).first
    with pytest.raises(TimelineError, match=f"from version {version} on: card_discarded"):
        Timeline.of(forged)


def test_a_game_is_shown_whatever_became_of_the_rules() -> None:
    number = commit_with(GAME, StockDrawn, 3)
    stranger = rechained(changed(GAME, number, event_changed(StockDrawn, card="X9")))
    assert Timeline.of(stranger).last == TIMELINE.last
