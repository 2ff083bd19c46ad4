"""What is shown and what is not, event by event (design section 3)."""

from __future__ import annotations

import pytest

from game.walk import settled, walk
from mersey.game.events import BuyPassed, BuyWanted, LinkOpened, RoundEnded, TableOpened
from mersey.game.seen import Answered
from mersey.game.view import OPEN, SPECTATOR, seat_viewer, update_bytes, view, view_bytes, view_event


@pytest.mark.parametrize("viewer", [seat_viewer(0), seat_viewer(2), SPECTATOR], ids=str)
def test_an_answer_of_somebody_else_is_one_stub_for_buy_pass_and_standing_pass(viewer) -> None:
    answers = [BuyWanted(seat=1), BuyPassed(seat=1), BuyPassed(seat=1, standing=True)]
    shown = {update_bytes(7, 0, answer, viewer) for answer in answers}
    assert len(shown) == 1
    assert view_event(answers[0], viewer) == Answered(seat=1)


def test_a_seat_is_shown_its_own_answer() -> None:
    assert view_event(BuyWanted(seat=1), seat_viewer(1)) == BuyWanted(seat=1)


def test_an_open_offer_tells_who_answered_and_to_each_seat_its_own_answer_only() -> None:
    for game in settled("contract", 4, 6):
        for seat in range(4) if game.offer else ():
            offer = view(game, seat_viewer(seat)).offer
            assert offer is not None
            mine = {True: "buy", False: "pass"}.get(seat in game.wanted) if seat in offer.answered else None
            assert offer.mine == mine
            assert set(offer.answered) == set(game.wanted) | set(game.passed)


@pytest.mark.parametrize("viewer", [seat_viewer(0), SPECTATOR, OPEN], ids=str)
def test_a_secret_link_is_shown_to_nobody_before_it_is_opened(viewer) -> None:
    events, states = walk("contract", 4, 6)
    secret = events[0].link
    for version, event in enumerate(events, start=1):
        if isinstance(event, LinkOpened) and event.link == secret:
            break  # the last round's link is the secret itself
        assert secret not in update_bytes(version, 0, event, viewer).decode()
        assert secret not in view_bytes(view(states[version], viewer)).decode()
    assert isinstance(events[0], TableOpened)


def test_a_round_is_public_once_its_link_is_open() -> None:
    events, states = walk("contract", 4, 6)
    ended = next(n for n, event in enumerate(events, start=1) if isinstance(event, RoundEnded))
    for viewer in (seat_viewer(3), SPECTATOR):
        assert view(states[ended - 1], viewer).hands is None
        assert view(states[ended + 1], viewer).hands is not None
        assert view_event(events[ended - 1], viewer) == events[ended - 1]
