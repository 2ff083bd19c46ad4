"""The account: a line for each event, in notation, for each viewer what it was shown and nothing else."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from mersey.client.phrases import PHRASED
from mersey.game.events import (
    CardDiscarded,
    CardLaidOff,
    ContractOpened,
    DiscardBought,
    DiscardTaken,
    Event,
    HandsDealt,
    JokerSwapped,
    PackShuffled,
    StockDrawn,
    StockRebuilt,
)
from mersey.game.seen import SeenEvent
from mersey.game.view import OPEN, SPECTATOR, Viewer, seat_viewer, update_bytes, view
from mersey.replay.account import WIDTH, account
from mersey.replay.text import state_text
from mersey.replay.timeline import Timeline
from mersey.rules.notation import parse_action
from recorded import recorded_game

VIEWERS = [OPEN, SPECTATOR, *(seat_viewer(seat) for seat in range(4))]
TIMELINE = Timeline.of(recorded_game("liverpool", 4))
BGA = Timeline.of(recorded_game("bga", 8))
VERSIONS = range(1, TIMELINE.last + 1)
LINE = re.compile(r"#(\d+) +(?:(seat \d|host)  +)?(\S.*)")
COPY = re.compile(r"\b(?:[A2-9TJQK][SHDC][1-9]|X[1-9])\b")


def lines(viewer: Viewer, timeline: Timeline = TIMELINE) -> list[str]:
    return list(account(timeline, viewer, {}))


def by_version(viewer: Viewer, timeline: Timeline = TIMELINE) -> dict[int, tuple[str, str]]:
    """Return who and what for each version, lines that were wrapped put together again."""
    found: dict[int, tuple[str, str]] = {}
    version = 0
    for line in lines(viewer, timeline):
        match = LINE.fullmatch(line)
        if match:
            version = int(match[1])
            found[version] = (match[2] or "", match[3])
        elif (
            version and line.startswith(" " * 16) and not re.match(r" {16}(seat|own|points|cut|total)", line)
        ):
            who, what = found[version]
            found[version] = (who, f"{what} {line.strip()}")
    return found


def test_every_event_that_can_be_shown_has_words() -> None:
    assert {*get_args(SeenEvent), PackShuffled, HandsDealt, StockRebuilt} == PHRASED


@pytest.mark.parametrize("viewer", VIEWERS)
def test_every_event_has_one_line_in_order(viewer: Viewer) -> None:
    numbered = [int(match[1]) for line in lines(viewer) if (match := LINE.fullmatch(line))]
    assert numbered == list(VERSIONS)


@pytest.mark.parametrize("viewer", VIEWERS)
@pytest.mark.parametrize("timeline", [TIMELINE, BGA])
def test_no_line_is_wider_than_a_terminal(viewer: Viewer, timeline: Timeline) -> None:
    assert max(map(len, lines(viewer, timeline))) <= WIDTH == 80


def said_of(event: Event) -> list[str]:
    """Return what the open account must say of an event that moves cards; nothing for another."""
    match event:
        case CardDiscarded(card=card):
            return [f"discard {card}"]
        case DiscardTaken(card=card):
            return [f"take ({card})"]
        case StockDrawn(card=card):
            return [f"draws {card}"]
        case DiscardBought(card=card, penalty=penalty):
            return [f"buys {card}, penalty {' '.join(penalty)}"]
        case CardLaidOff(card=card, meld=meld) | JokerSwapped(card=card, meld=meld):
            return [f" {card} on {meld}"]
        case ContractOpened(melds=melds):
            return ["open ", *(f"{meld.kind} {' '.join(meld.cards)}" for meld in melds)]
    return []


@pytest.mark.parametrize("timeline", [TIMELINE, BGA])
def test_the_open_account_says_every_card_that_moved(timeline: Timeline) -> None:
    said = by_version(OPEN, timeline)
    moved = 0
    for version in range(1, timeline.last + 1):
        event = timeline.moment(version).event
        for words in said_of(event):
            who, what = said[version]
            assert words in what
            assert who == f"seat {event.seat}"
            moved += 1
    assert moved > 300


@pytest.mark.parametrize("viewer", VIEWERS)
def test_what_a_player_did_reads_back_as_notation(viewer: Viewer) -> None:
    verbs = ("stock", "buy", "pass", "open ", "lay ", "swap ", "discard ", "ready")
    read = 0
    for who, what in by_version(viewer).values():
        if who.startswith("seat") and what.startswith(verbs) and not what.startswith("buys"):
            parse_action(what.partition(" (")[0])
            read += 1
    assert read > 300


@pytest.mark.parametrize("seat", range(4))
def test_a_seat_reads_no_copy_of_a_card_that_it_was_not_shown(seat: int) -> None:
    viewer = seat_viewer(seat)
    shown = by_version(viewer)
    for version in VERSIONS:
        moment = TIMELINE.moment(version)
        update = update_bytes(version, moment.at_ms, moment.event, viewer).decode()
        for card in COPY.findall(shown[version][1]):
            assert f'"{card}' in update


def test_a_spectator_reads_no_copy_before_the_hands_are_counted() -> None:
    assert not [what for _, what in by_version(SPECTATOR).values() if COPY.search(what)]


def test_the_deal_shows_all_hands_openly_and_a_seat_its_own() -> None:
    version = next(v for v in VERSIONS if isinstance(TIMELINE.moment(v).event, HandsDealt))
    dealt = TIMELINE.moment(version).event
    assert isinstance(dealt, HandsDealt)
    for viewer, hands in ((OPEN, dealt.hands), (seat_viewer(2), dealt.hands[2:3]), (SPECTATOR, ())):
        shown = lines(viewer)
        at = next(i for i, line in enumerate(shown) if line.startswith(f"#{version} "))
        after = next(i for i, line in enumerate(shown) if line.startswith(f"#{version + 1} "))
        found = [set(COPY.findall(line)) for line in shown[at + 1 : after]]
        assert [cards for cards in found if cards] == [set(hand) for hand in hands]


@pytest.mark.parametrize(("timeline", "sign"), [(TIMELINE, 1), (BGA, -1)])
def test_each_round_ends_with_its_results_as_the_rules_show_them(timeline: Timeline, sign: int) -> None:
    text = "\n".join(lines(SPECTATOR, timeline))
    rows = {
        label: [[int(n) for n in row.split()] for row in re.findall(rf"^ {{16}}{label} +(.*)$", text, re.M)]
        for label in ("points", "total")
    }
    results = timeline.state(timeline.last).results
    assert rows["points"] == [[sign * n for n in result.points] for result in results]
    assert rows["total"] == [[sign * n for n in result.totals] for result in results]


def test_the_account_ends_with_the_places() -> None:
    last = TIMELINE.state(TIMELINE.last)
    placed = re.findall(r"^ +(\d)\.  seat (\d) +(-?\d+)  p\d$", "\n".join(lines(OPEN)), re.M)
    assert sorted((int(s), int(p), int(t)) for p, s, t in placed) == [
        (seat, last.places[seat], last.totals[seat]) for seat in range(4)
    ]
    assert [int(p) for p, _, _ in placed] == sorted(last.places)


def test_each_round_has_a_heading_with_contract_and_dealer() -> None:
    headings = [line for line in lines(SPECTATOR) if line.startswith("Round ")]
    dealers = [TIMELINE.state(TIMELINE.round_start(n)).dealer for n in (1, 2)]
    assert headings == [
        f"Round 1 of 2: 2 sets; 10 cards each, seat {dealers[0]} deals",
        f"Round 2 of 2: 1 set, 1 run; 10 cards each, seat {dealers[1]} deals",
    ]


def test_names_of_the_directory_are_used_for_players() -> None:
    text = "\n".join(account(TIMELINE, SPECTATOR, {"p1": "Ann"}))
    assert "Ann (p1) sits down" in text
    assert re.search(r"seat 1 +-?\d+  Ann$", text, re.M)


@pytest.mark.parametrize("viewer", VIEWERS)
def test_the_table_in_text_shows_the_view_and_fits_a_terminal(viewer: Viewer) -> None:
    for version in range(1, TIMELINE.last + 1, 37):
        seen = view(TIMELINE.state(version), viewer)
        text = state_text(seen, {})
        assert max(map(len, text)) <= 80
        cards = set(COPY.findall(" ".join(text)))
        assert cards == {card for hand in seen.hands or ((seen.hand or ()),) for card in hand}
        for meld in seen.melds:
            assert any(
                line.split()[3:4] == [meld.kind] and int(line.split()[0]) == meld.id for line in text[5:]
            )
