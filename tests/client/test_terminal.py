"""The line client's text: what fits 80 columns, says what is possible, and reads what is typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.positions import play_until, seated, started, turn_of
from mersey.client.errors import RefusedError
from mersey.client.strategies.greedy import GreedyStrategy
from mersey.client.strategies.turn import Draw, Turn
from mersey.client.table_info import SeatInfo, TableInfo
from mersey.client.terminal import (
    WIDTH,
    Entry,
    event_text,
    help_text,
    labels_of,
    prompt_text,
    read_entry,
    refusal_text,
    sentence_of,
    table_text,
)
from mersey.client.wire import RawUpdate
from mersey.game.choices import Choice, Choices, due
from mersey.game.events import ContractOpened, RoundEnded
from mersey.game.refusals import TableCode
from mersey.game.seen import Update
from mersey.game.state import Game
from mersey.game.view import seat_viewer, view, view_event
from mersey.rules.actions import Action, ChooseStock, Discard, Ready, TakeDiscard
from mersey.rules.melds import Named, Placed, TableMeld
from mersey.rules.notation import format_action, parse_action
from mersey.rules.refusals import Code, NotationError
from mersey.rules.ruleset_file import load_ruleset

LABELS = {0: "Ann (0)", 1: "you", 2: "greedy (2)", 3: "a-name-of-forty-characters-and-no-space-x (3)"}


def greedy(turn: Turn) -> Action:
    return GreedyStrategy().choose(turn, Draw("s", turn.view))


@pytest.mark.parametrize("rules", ["contract", "liverpool", "bga"])
def test_every_line_of_a_whole_game_fits_80_columns(rules: str) -> None:
    shown = 0

    def look(game: Game) -> bool:
        nonlocal shown
        for seat in due(game):
            turn = turn_of(game, seat)
            lines = table_text(turn.view, turn.rules, LABELS)
            lines += help_text(turn.choices)
            shown += len(lines)
            lines += prompt_text(turn.view, turn.choices)
            assert max(map(len, lines)) <= WIDTH
        return game.round == 3

    play_until(started(load_ruleset(rules), 4), greedy, look)
    assert shown > 1000


def test_the_table_shows_seats_hand_melds_piles_and_whose_turn() -> None:
    opened = play_until(started(load_ruleset("contract"), 4), greedy, lambda game: len(game.melds) == 2)
    seat = (opened.active + 1) % 4
    view = turn_of(opened, seat).view
    text = "\n".join(table_text(view, opened.ruleset, LABELS))

    assert f"Round 1 of 7: 2 sets   stock {view.stock}, discard {view.discard_top}" in text
    assert f"  > {LABELS[opened.active]}" in text
    assert all(card[:2] in text for card in view.hand or () if card[0] != "X")
    assert f"   1  set  {' '.join(view.melds[0].cards)}   by {LABELS[opened.active]}" in text


@pytest.mark.parametrize(
    ("taken", "said"), [(2, "2 seats are free"), (3, "1 seat is free"), (4, "no seat is free")]
)
def test_a_table_that_waits_for_players_says_how_many_seats_are_free(taken: int, said: str) -> None:
    game = seated(load_ruleset("contract"), 4, taken)

    assert table_text(view(game, seat_viewer(0)), game.ruleset, LABELS)[0] == f"Table t: {said}"


def test_the_hand_is_sorted_by_suit_and_written_as_the_notation_takes_it() -> None:
    game = started(load_ruleset("contract"), 4)
    line = table_text(turn_of(game, 1).view, game.ruleset, LABELS)[-1]
    groups = [group.split() for group in line.removeprefix("hand  ").split("   ")]

    assert [len({card[-1] for card in group}) for group in groups] == [1] * len(groups)
    assert all(isinstance(parse_action(f"discard {card}"), Discard) for group in groups for card in group)


def test_the_prompt_says_what_is_possible() -> None:
    game = started(load_ruleset("contract"), 4)
    view = turn_of(game, game.active).view
    choices = turn_of(game, game.active).choices

    assert prompt_text(view, choices) == [f"take ({view.discard_top}), stock"]


def test_the_help_lists_every_form_and_why_the_rest_is_missing() -> None:
    choices = Choices(
        1,
        0,
        (Choice("take_discard", (TakeDiscard(),)), Choice("choose_stock", (ChooseStock(),))),
        {"discard": "must_draw_first", "ready": "round_not_over"},
    )
    text = "\n".join(help_text(choices))

    assert "  take\n  stock\n" in text
    assert "discard: Draw a card first. [rules section 5]" in text
    assert "ready: The round is not over." in text
    assert help_text(None)[-1] == "It is not your turn."


def test_long_lists_say_how_many_more_there_are() -> None:
    many = tuple(Discard(Named(f"{rank}S")) for rank in "A23456789TJQK")

    assert help_text(Choices(1, 0, (Choice("discard", many),), {}))[-1] == "  … and 1 more"
    assert help_text(Choices(1, 0, (Choice("discard", many[:2], more=True),), {}))[-1] == "  … and more"


def test_what_happens_is_told_in_the_notation_with_names() -> None:
    melds = (TableMeld(1, 0, "set", (Placed("7S1"), Placed("7H1"), Placed("X1=7"))),)
    event = view_event(ContractOpened(seat=0, melds=melds), seat_viewer(1))
    rules = load_ruleset("bga")
    ended = RoundEnded(
        round=1,
        ended_by="out",
        winner=1,
        hands=((), (), (), ()),
        points=(5, 0, 20, 40),
        totals=(5, 0, 20, 40),
    )

    assert event_text(Update(1, 0, event), LABELS, rules) == ["  Ann (0): open set 7S 7H X=7"]
    lines = event_text(Update(2, 0, ended), LABELS, rules)
    assert lines[0] == "  round 1 ends: you are out"
    assert "greedy (2) -20" in "\n".join(lines)
    assert event_text(RawUpdate(3, 0, "sung", b"{}"), LABELS, rules) == []


def test_a_refusal_is_one_sentence_with_the_section_and_the_cards() -> None:
    refused = RefusedError(9, "NOT_A_SET", "A set is cards of one rank.", {"section": "1", "cards": "7S 8S"})

    assert refusal_text(refused) == "A set is cards of one rank. (7S 8S) [rules section 1]"


def test_every_code_has_its_sentence() -> None:
    for code in (*Code, *TableCode):
        assert sentence_of(code).endswith((".", "]"))
    assert sentence_of("brand_new") == "brand_new"


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        ("?\n", Entry("help")),
        (" QUIT ", Entry("quit")),
        ("", Entry("show")),
        ("Take\n", Entry("act", TakeDiscard())),
    ],
)
def test_lines_are_read(line: str, entry: Entry) -> None:
    assert read_entry(line, None) == entry


def test_an_empty_line_says_ready_where_that_is_asked() -> None:
    asked = Choices(1, 0, (Choice("ready", (Ready(),)),), {})

    assert read_entry("\n", asked) == Entry("act", Ready())


@given(st.text(max_size=30))
def test_any_line_is_an_entry_or_a_notation_error(line: str) -> None:
    try:
        entry = read_entry(line, None)
    except NotationError:
        return
    if entry.action is not None:
        assert read_entry(format_action(entry.action), None) == entry


def test_labels_name_the_own_seat_people_and_bots() -> None:
    seats = (
        SeatInfo(0, "p-1", "Ann", ""),
        SeatInfo(1, "p-2", "", ""),
        SeatInfo(2, "bot-1", "", "greedy"),
        SeatInfo(3, "", "", ""),
    )
    info = TableInfo("t", "seating", load_ruleset("contract"), "p-1", seats, 1, 0)

    assert labels_of(info, 1) == {0: "Ann (0)", 1: "you", 2: "greedy (2)", 3: "free (3)"}
