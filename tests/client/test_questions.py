"""The questions of a player at the terminal: none without the hand, the table first, nothing twice."""

from __future__ import annotations

import msgspec
import pytest

from client.positions import play, play_until, started, turn_of
from mersey.client.questions import Questions
from mersey.client.strategies.greedy import GreedyStrategy
from mersey.client.strategies.turn import Draw, Turn
from mersey.client.terminal import hand_lines, prompt_text
from mersey.game.choices import due
from mersey.game.state import Game
from mersey.rules.actions import Action, ChooseStock, Pass
from mersey.rules.ruleset_file import load_ruleset

LABELS = {0: "Ann (0)", 1: "Ben (1)", 2: "Cleo (2)", 3: "Dan (3)"}


def greedy(turn: Turn) -> Action:
    return GreedyStrategy().choose(turn, Draw("s", turn.view))


def first_offer() -> tuple[Game, int]:
    """Return a round whose first player has chosen the stock, and the seat that is asked last."""
    game = started(load_ruleset("contract"), 4)
    return play(game, game.active, ChooseStock()), (game.active + 3) % 4


@pytest.mark.parametrize("rules", ["contract", "liverpool", "bga"])
def test_every_question_of_a_game_comes_with_the_hand_and_the_rounds_first_with_the_table(rules: str) -> None:
    questions = [Questions() for _ in range(4)]
    heads: set[tuple[int, int]] = set()
    firsts = set()

    def ask(game: Game) -> bool:
        for seat in due(game):
            turn = turn_of(game, seat)
            lines = questions[seat].lines(turn, LABELS)
            if not lines:
                continue
            if (seat, game.round) not in heads:
                heads.add((seat, game.round))
                firsts.add(turn.view.step)
                assert lines[0].startswith(f"Round {game.round} of ")
            before = lines[: -len(prompt_text(turn.view, turn.choices))]
            hand = hand_lines(turn.view)
            assert before[len(before) - len(hand) :] == hand
        return game.round == 4

    play_until(started(load_ruleset(rules), 4), greedy, ask)
    assert "offer" in firsts, "else nothing is proved of a round that begins with an offer"


def test_a_later_offer_comes_with_the_hand_and_without_the_table() -> None:
    game, seat = first_offer()
    questions = Questions()
    assert questions.lines(turn_of(game, seat), LABELS)[0].startswith("Round 1 of 7")

    def later(game: Game) -> bool:
        return game.step == "offer" and seat in due(game) and game.active == (seat + 2) % 4

    game = play_until(game, greedy, later)
    turn = turn_of(game, seat)
    assert questions.lines(turn, LABELS) == hand_lines(turn.view) + prompt_text(turn.view, turn.choices)


def test_what_others_answer_does_not_ask_again_and_a_server_that_was_away_does() -> None:
    game, seat = first_offer()
    questions = Questions()
    questions.lines(turn_of(game, seat), LABELS)
    game = play(game, due(game)[0], Pass())
    turn = turn_of(game, seat)

    assert questions.lines(turn, LABELS) == []
    questions.repeat()
    assert questions.lines(turn, LABELS) == hand_lines(turn.view) + prompt_text(turn.view, turn.choices)


def test_the_same_card_offered_again_is_asked_again() -> None:
    game, seat = first_offer()
    questions = Questions()
    questions.lines(turn_of(game, seat), LABELS)
    turn = turn_of(game, seat)
    again = turn._replace(view=msgspec.structs.replace(turn.view, turn=turn.view.turn + 1))

    assert questions.lines(again, LABELS)[-1] == prompt_text(turn.view, turn.choices)[-1]


def test_a_table_that_has_just_been_shown_is_not_shown_again() -> None:
    game = started(load_ruleset("contract"), 4)
    turn = turn_of(game, game.active)
    questions = Questions()
    questions.shown(turn.view)

    assert questions.lines(turn, LABELS) == prompt_text(turn.view, turn.choices)
