"""``decide`` and ``evolve``: complete, pure, repeatable, and what they give survives its bytes."""

from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from mersey.client.cli.scenario import load_scenario
from mersey.game.commands import Close, Command, LeaveSeat, OpenEntropy, OpenTable, StartGame, TakeSeat
from mersey.game.conservation import check_cards
from mersey.game.decide import DECIDED, decide
from mersey.game.events import EVENTS, DiscardBought, Event
from mersey.game.evolve import EVOLVED, evolve, fold
from mersey.game.refusals import TableCode, TableRefusal
from mersey.game.scenario import ScriptedChance
from mersey.game.scenario_setup import player_at
from mersey.game.state import Game
from mersey.rules.actions import Buy, ChooseStock, Cut, Discard, Pass, Ready, TakeDiscard
from mersey.rules.cards import pack_place
from mersey.rules.melds import Named
from mersey.rules.refusals import Code, Refusal
from mersey.rules.ruleset_file import load_ruleset

SCENARIOS = Path(__file__).parents[1] / "scenarios"
FILES = sorted(SCENARIOS.glob("*.toml"))
PART = "ab" * 16


def asked() -> Iterator[tuple[Game, str, Command, tuple[Event, ...] | None]]:
    """Yield each state, actor and command of all scenarios, and the events or None where refused."""
    for file in FILES:
        case = load_scenario(file)
        game = case.start
        chance = ScriptedChance(case.lifted, case.rebuilt)
        for act in case.plays:
            for _ in range(act.accepted + act.refused):
                try:
                    events = decide(game, player_at(act.seat), act.action, chance)
                except (Refusal, TableRefusal):
                    yield game, player_at(act.seat), act.action, None
                    continue
                yield game, player_at(act.seat), act.action, events
                game = fold(events, game)


def opening() -> list[tuple[str, Command]]:
    """Return the commands, with their actors, that bring a table of three to its first hand and beyond."""
    commitment = sha256(bytes.fromhex(PART)).hexdigest()
    return [
        (
            "host",
            OpenTable("t1", load_ruleset("bga"), 3, "07" * 32, "t1", "given", "none", True),
        ),
        ("a", TakeSeat(commitment=commitment)),
        ("b", TakeSeat(seat=2, strategy="chance")),
        ("b", LeaveSeat()),
        ("b", TakeSeat(seat=2, strategy="chance")),
        ("c", TakeSeat()),
        ("a", OpenEntropy(PART)),
        ("host", StartGame()),
    ]


def next_commands(game: Game) -> list[tuple[str, Command]]:
    """Return what is played next where all draw the stock, buy while hands are small, and discard."""
    player = [held.player for held in game.seats if held is not None]
    active = player[game.active] if player else ""
    if game.step == "round_over":
        return [(name, Ready()) for name in player]
    if game.step == "offer":
        seat = next(seat for seat in game.offer if seat not in game.wanted + game.passed)
        return [(player[seat], Buy() if len(game.hands[seat]) < 14 else Pass())]
    if game.step == "choose":
        return [(active, ChooseStock())]
    return [(active, Discard(Named(max(game.hands[game.active], key=pack_place))))]


def whole_game() -> tuple[list[Event], list[Game]]:
    """Return the events of a whole game, and the state before the first and after each."""
    game = Game()
    events: list[Event] = []
    states = [game]
    commands = opening()
    while commands:
        for actor, command in commands:
            for event in decide(game, actor, command):
                events.append(event)
                game = evolve(game, event)
                states.append(game)
        commands = [] if game.step == "game_over" else next_commands(game)
    return events, states


@pytest.fixture(scope="module")
def played() -> tuple[list[Event], list[Game]]:
    return whole_game()


def every_event(played: tuple[list[Event], list[Game]]) -> list[Event]:
    """Return events of every kind: of a whole game, of all scenarios, of a table closed."""
    events, _ = played
    game = fold(decide(Game(), *opening()[0]))
    closing = decide(game, "host", Close())
    return [*events, *closing, *(event for *_, made in asked() for event in made or ())]


def test_the_fold_knows_every_event_and_decide_every_command() -> None:
    assert set(EVENTS) == EVOLVED
    assert set(get_args(Command)) == DECIDED


def test_tags_are_written_out_and_unique() -> None:
    for union in (EVENTS, get_args(Command)):
        tags = [kind.__struct_config__.tag for kind in union]
        assert all(isinstance(tag, str) and tag == tag.lower() for tag in tags)
        assert len(tags) == len(set(tags))


def test_every_event_survives_its_bytes(played: tuple[list[Event], list[Game]]) -> None:
    events = every_event(played)
    decoder = msgspec.json.Decoder(Event)

    for event in events:
        data = msgspec.json.encode(event)
        again = decoder.decode(data)
        assert again == event
        assert type(again) is type(event)
        assert msgspec.json.encode(again) == data
    assert {type(event) for event in events} == set(EVENTS)


def test_every_command_survives_its_bytes() -> None:
    commands: list[Command] = [command for _, command in opening()]
    commands += [Close(), Ready(), Cut(41), TakeDiscard(), *(command for _, _, command, _ in asked())]
    decoder = msgspec.json.Decoder(Command)

    for command in commands:
        assert decoder.decode(msgspec.json.encode(command)) == command
    assert {type(command) for command in commands} == set(get_args(Command))


def test_a_field_that_an_event_has_not_is_no_event() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"type":"seat_left","seat":1,"why":"tired"}', type=Event)


def test_the_state_from_bytes_is_the_state_from_play(played: tuple[list[Event], list[Game]]) -> None:
    events, states = played
    decoded = [msgspec.json.decode(msgspec.json.encode(event), type=Event) for event in events]

    assert fold(decoded) == states[-1]
    half = len(events) // 2
    assert fold(decoded[half:], states[half]) == states[-1]
    assert states[-1].version == len(events)


def test_evolve_leaves_the_state_that_it_is_given(played: tuple[list[Event], list[Game]]) -> None:
    events, states = played

    for event, before, after in zip(events, states[:-1], states[1:], strict=True):
        kept = msgspec.json.encode(before)
        assert evolve(before, event) == after
        assert fold([event], before) == after
        assert msgspec.json.encode(before) == kept
        assert after.version == before.version + 1


def test_decide_changes_nothing_whether_it_accepts_or_refuses() -> None:
    answers: Counter[bool] = Counter()
    for file in FILES:
        case = load_scenario(file)
        game = case.start
        for act in case.plays:
            kept = msgspec.json.encode(game)
            try:
                events = decide(game, player_at(act.seat), act.action, ScriptedChance(None, None))
            except (Refusal, TableRefusal):
                events = ()
            assert msgspec.json.encode(game) == kept
            answers[bool(events)] += 1
            game = fold(events, game)

    assert min(answers.values()) > 100


def test_decide_gives_the_same_events_again(played: tuple[list[Event], list[Game]]) -> None:
    again, _ = whole_game()

    assert msgspec.json.encode(again) == msgspec.json.encode(played[0])
    assert [msgspec.json.encode(made) for *_, made in asked()] == [
        msgspec.json.encode(made) for *_, made in asked()
    ]


def test_an_accepted_command_has_an_event_and_a_refusal_its_section() -> None:
    for game, actor, command, made in asked():
        if made is not None:
            assert made, command
            continue
        with pytest.raises((Refusal, TableRefusal)) as caught:
            decide(game, actor, command)
        if isinstance(caught.value, Refusal):
            assert 1 <= caught.value.section <= 10
            assert caught.value.sentence.endswith(".")


def test_every_card_has_its_place_in_every_state_of_a_game(played: tuple[list[Event], list[Game]]) -> None:
    _, states = played

    for state in states:
        check_cards(state)


def test_a_game_ends_and_its_links_prove_one_another(played: tuple[list[Event], list[Game]]) -> None:
    _, states = played
    last = states[-1]

    chain = [last.seal, *last.links]
    assert len(last.links) == 8
    for before, link in pairwise(chain):
        assert sha256(bytes.fromhex(link)).hexdigest() == before
    assert last.places
    assert sum(result.points[0] for result in last.results) == last.totals[0]


def table(*commands: tuple[str, Command]) -> Game:
    game = Game()
    for actor, command in commands:
        game = fold(decide(game, actor, command), game)
    return game


OPEN, SIT_A, SIT_B, _, _, SIT_C, SHOW_A, START = opening()


@pytest.mark.parametrize(
    ("rules", "said"),
    [("contract", "contract is for exactly 4 players, not 9"), ("bga", "bga is for 2 to 8 players, not 9")],
)
def test_a_wrong_number_of_seats_is_told_the_right_ones_in_plain_words(rules: str, said: str) -> None:
    with pytest.raises(TableRefusal) as caught:
        table(("h", OpenTable("t", load_ruleset(rules), 9, "07" * 32, "t")))

    assert caught.value.fact == said


@pytest.mark.parametrize(
    ("done", "asking", "code"),
    [
        ([], ("a", TakeSeat()), TableCode.NO_SUCH_TABLE),
        ([], ("a", Close()), TableCode.NO_SUCH_TABLE),
        ([OPEN], OPEN, TableCode.TABLE_EXISTS),
        ([], ("h", OpenTable("t", load_ruleset("bga"), 9, "07" * 32, "t")), TableCode.PLAYERS_OUT_OF_RANGE),
        ([OPEN], ("a", TakeSeat(seat=3)), TableCode.NO_SUCH_SEAT),
        ([OPEN], ("a", TakeSeat(seat=-1)), TableCode.NO_SUCH_SEAT),
        ([OPEN, SIT_A], ("b", TakeSeat(seat=0)), TableCode.SEAT_TAKEN),
        ([OPEN, SIT_A], SIT_A, TableCode.ALREADY_SEATED),
        ([OPEN, SIT_A, SIT_B, SIT_C], ("d", TakeSeat()), TableCode.TABLE_FULL),
        ([OPEN], ("a", LeaveSeat()), TableCode.NOT_AT_THE_TABLE),
        ([OPEN, SIT_A, SIT_B], START, TableCode.SEATS_EMPTY),
        ([OPEN, SIT_A, SIT_B, SIT_C], ("a", StartGame()), TableCode.NOT_THE_HOST),
        ([OPEN, SIT_A], ("a", Close()), TableCode.NOT_THE_HOST),
        ([OPEN, SIT_B], ("b", OpenEntropy(PART)), TableCode.NO_COMMITMENT),
        ([OPEN, SIT_A], ("a", OpenEntropy("cd" * 16)), TableCode.ENTROPY_MISMATCH),
        ([OPEN, SIT_A, SHOW_A], SHOW_A, TableCode.ENTROPY_OPENED),
        ([OPEN, SIT_A, SIT_B, SIT_C, START], ("a", LeaveSeat()), TableCode.GAME_STARTED),
        ([OPEN, ("host", Close())], ("a", TakeSeat()), TableCode.TABLE_CLOSED),
        ([OPEN, ("host", Close())], ("host", Close()), TableCode.TABLE_CLOSED),
        ([OPEN, SIT_A, SIT_B, SIT_C, START], ("a", Ready()), TableCode.ROUND_NOT_OVER),
        ([OPEN, SIT_A], ("a", ChooseStock()), Code.GAME_NOT_RUNNING),
        ([OPEN, SIT_A], ("x", ChooseStock()), Code.NOT_SEATED),
        ([OPEN, SIT_A, SIT_B, SIT_C, START, ("host", Close())], ("a", Buy()), Code.GAME_NOT_RUNNING),
    ],
    ids=str,
)
def test_the_table_refuses_with_its_code(
    done: list[tuple[str, Command]], asking: tuple[str, Command], code: TableCode | Code
) -> None:
    game = table(*done)
    with pytest.raises((TableRefusal, Refusal)) as caught:
        decide(game, *asking)

    assert caught.value.code == code


def test_penalty_cards_are_named_from_the_top_of_the_stock() -> None:
    case = load_scenario(SCENARIOS / "house-two-penalty-cards.toml")
    game = fold(decide(case.start, "p1", ChooseStock()), case.start)

    bought = [event for event in decide(game, "p2", Buy()) if isinstance(event, DiscardBought)]
    assert [event.penalty for event in bought] == [("2C1", "3C1")]


def test_who_is_ready_is_ready_once(played: tuple[list[Event], list[Game]]) -> None:
    over = next(state for state in played[1] if state.step == "round_over" and len(state.ready) == 1)

    with pytest.raises(TableRefusal) as caught:
        decide(over, "a", Ready())
    assert caught.value.code is TableCode.ALREADY_READY


def test_a_part_that_was_not_opened_is_replaced_by_its_commitment() -> None:
    shown = table(OPEN, SIT_A, SIT_B, SIT_C, SHOW_A, START)
    kept = table(OPEN, SIT_A, SIT_B, SIT_C, START)

    assert shown.entropy != kept.entropy


def test_closing_a_running_table_opens_the_link_of_its_round() -> None:
    game = table(OPEN, SIT_A, SIT_B, SIT_C, START, ("host", Close()))

    assert (game.step, len(game.links)) == ("closed", 2)
