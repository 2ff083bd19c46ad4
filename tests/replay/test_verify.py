"""Verification passes on every honest game, and names the first commit at fault in every forged one."""

from __future__ import annotations

import json

import msgspec
import pytest
from msgspec.structs import replace

from mersey.game.commands import OpenTable, StartGame
from mersey.game.events import (
    BuyPassed,
    CardDiscarded,
    DiscardBought,
    EntropyOpened,
    Event,
    GameEnded,
    GameStarted,
    HandsDealt,
    LinkOpened,
    PackCut,
    PackShuffled,
    RoundEnded,
    RoundStarted,
    SeatReady,
    StockDrawn,
    StockRebuilt,
    TableOpened,
)
from mersey.game.evolve import evolve
from mersey.game.state import Game
from mersey.log.table_commit import TableCommit, read_table_commit
from mersey.replay.verdict import CHECKS
from mersey.replay.verify import Verification, verify_commits
from mersey.rules.actions import Cut, Discard
from mersey.rules.deal import Stream
from mersey.rules.melds import Named
from mersey.rules.ruleset_file import load_ruleset
from recorded import HOST, Recorder, recorded_game, short_rules
from replay.forging import Change, changed, commit_with, event_changed, rechained

GAMES = [
    ("contract", 4),
    ("liverpool", 4),
    *(("bga", seats) for seats in range(2, 9)),
    ("bga-short", 3),
    ("bga-short", 8),
]
GAME = recorded_game("liverpool", 4)


def moved(row: tuple[object, ...]) -> tuple[object, ...]:
    """Return ``row`` with its first two entries exchanged."""
    return (row[1], row[0], *row[2:])


def hand_moved(hands: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """Return hands in which two players have exchanged their first cards."""
    (a, *first), (b, *second), *rest = hands
    return ((b, *first), (a, *second), *rest)


def added(row: tuple[int, ...]) -> tuple[int, ...]:
    return (row[0] + 5, *row[1:])


def turned(text: str) -> str:
    """Return a hash with its first digit changed."""
    return ("1" if text[0] == "0" else "0") + text[1:]


@pytest.mark.parametrize(("rules", "seats"), GAMES)
def test_a_game_by_chance_is_proved(rules: str, seats: int) -> None:
    commits = recorded_game(rules, seats, parts=seats)
    verdict = verify_commits(commits, "t1")
    assert (verdict.fault, verdict.outcome, verdict.commits) == (None, "finished", len(commits))
    assert (verdict.table, verdict.rules, verdict.seats) == ("t1", f"{rules}-quick", seats)


def test_a_whole_game_of_seven_rounds_is_proved_and_every_check_counted() -> None:
    verdict = verify_commits(recorded_game("liverpool", 4, quick=False))
    counts = {check.name: check.count for check in verdict.checks}
    assert verdict.ok
    assert counts.keys() == CHECKS.keys()
    assert (counts["shuffles"], counts["cuts"], counts["deals"], counts["points"]) == (7, 7, 7, 7)
    assert (counts["links"], counts["places"], counts["entropy"]) == (8, 1, 1)
    assert counts["cards"] + 10 == counts["schema"] == verdict.events


def test_how_many_seats_took_part_in_the_deal_is_said() -> None:
    fact = next(check.fact for check in verify_commits(GAME).checks if check.name == "entropy")
    assert fact == "3 of 4 seats took part: 2 opened their part, 1 left the commitment in its place"


def test_a_given_chance_is_said() -> None:
    facts = [
        next(check.fact for check in verify_commits(game).checks if check.name == "links")
        for game in (GAME, recorded_game(deal_id="evening", chance="given", actions_max=30))
    ]
    assert [fact.partition(":")[0] for fact in facts] == ["chance drawn", "chance given"]


def test_a_game_that_is_not_finished_is_said_and_no_fault() -> None:
    running = verify_commits(recorded_game("contract", 4, actions_max=60))
    closed = verify_commits(recorded_game("contract", 4, actions_max=60, close=True))
    assert (running.ok, running.outcome) == (True, "running")
    assert (closed.ok, closed.outcome) == (True, "closed")


def test_a_table_closed_while_seats_are_taken_is_proved() -> None:
    verdict = verify_commits(recorded_game("contract", 4, actions_max=0, close=False)[:4])
    assert (verdict.ok, verdict.outcome, verdict.commits) == (True, "running", 4)


def test_no_commit_at_all_is_an_empty_record() -> None:
    assert (verify_commits([]).outcome, verify_commits([], "t1").commits) == ("empty", 0)


def test_another_deal_id_than_the_tables_needs_given_chance() -> None:
    assert verify_commits(recorded_game(deal_id="evening", chance="given", actions_max=30)).ok
    fault = verify_commits(recorded_game(deal_id="evening", actions_max=30)).fault
    assert fault is not None
    assert (fault.commit, fault.version, fault.check) == (1, 1, "entropy")


def test_a_record_of_another_table_is_no_record_of_this_one() -> None:
    fault = verify_commits(GAME, "t2").fault
    assert fault is not None
    assert (fault.commit, fault.check) == (1, "chain")


def test_a_commit_spelled_by_another_program_is_fine_as_long_as_the_chain_holds() -> None:
    spaced = [json.dumps(json.loads(GAME[0]), indent=1).encode(), *GAME[1:]]
    assert not verify_commits(spaced).ok
    previous = verify_commits(spaced[:1])
    assert previous.ok
    second = replace(read_table_commit(GAME[1]), previous=previous.head)
    assert verify_commits([spaced[0], msgspec.json.encode(second)]).ok


def test_a_key_that_stands_twice_is_a_fault() -> None:
    twice = GAME[0].replace(b'"seats":4', b'"seats":4,"seats":4', 1)
    fault = verify_commits([twice]).fault
    assert fault is not None
    assert (fault.check, fault.what) == ("schema", 'the key "seats" stands twice in an object')


def test_a_table_in_the_stream_of_another_is_a_fault() -> None:
    stranger = recorded_game("liverpool", 4, table="t2")
    moved_over = rechained(
        [msgspec.json.encode(replace(read_table_commit(data), stream="table.t1")) for data in stranger]
    )
    fault = verify_commits(moved_over).fault
    assert fault is not None
    assert (fault.commit, fault.check, fault.what) == (1, "chain", "table.t1 can't hold the table t2")


def test_a_cut_bonus_comes_off_the_total_that_is_proved() -> None:
    rules = short_rules(load_ruleset("liverpool"), rounds=1)
    assert rules.cut is not None
    steady = replace(rules, cut=replace(rules.cut, cut_spread=0))
    recorder = Recorder()
    recorder.do(HOST, OpenTable(table="t1", rules=steady, seats=4, link="ab" * 32, deal_id="t1"))
    recorder.seat_players(2)
    recorder.do(HOST, StartGame())
    cutter = recorder.game.cutter
    recorder.do(f"p{cutter}", Cut(41))
    for _ in recorder.play(Stream(bytes(32), "play").uniform):
        pass
    verdict = verify_commits(recorder.commits)
    assert (verdict.fault, verdict.outcome) == (None, "finished")
    result = recorder.game.results[0]
    assert result.totals[cutter] == result.points[cutter] - 50


def test_a_false_link_is_told_by_the_link_before_it() -> None:
    number = commit_with(GAME, LinkOpened)
    fault = verify_commits(rechained(changed(GAME, number, event_changed(LinkOpened, link=turned)))).fault
    assert fault is not None
    assert fault.what == "the hash of link 1 is not link 0"


@pytest.mark.parametrize("at", [b'{"v":1', b'"cause":{', b'"events":[{', b'"rules":{'])
def test_a_field_that_nobody_knows_is_a_fault(at: bytes) -> None:
    extra = b'"extra":1,'
    brace = at.index(b"{") + 1
    forged = GAME[0].replace(at, at[:brace] + extra + at[brace:], 1)
    fault = verify_commits([forged, *GAME[1:]]).fault
    assert fault is not None
    assert (fault.commit, fault.check) == (1, "schema")
    assert "extra" in fault.what


def test_a_newer_schema_is_named_as_such() -> None:
    fault = verify_commits([GAME[0].replace(b'"v":1', b'"v":2', 1)]).fault
    assert fault is not None
    assert "use a newer mersey" in fault.what


@pytest.mark.parametrize("number", [1, 2, 40, len(GAME)])
def test_a_changed_byte_without_new_hashes_is_found_at_its_commit_or_the_next(number: int) -> None:
    forged = changed(GAME, number, lambda commit: replace(commit, salt=turned(commit.salt)))
    fault = verify_commits(forged).fault
    if number == len(GAME):  # nothing follows that could betray it: a record file's trailer does
        assert fault is None
    else:
        assert fault is not None
        assert (fault.commit, fault.check) == (number + 1, "chain")


def test_a_dropped_repeated_or_swapped_commit_is_found_at_its_place() -> None:
    dropped = [*GAME[:50], *GAME[51:]]
    repeated = [*GAME[:51], *GAME[50:]]
    swapped = [*GAME[:50], GAME[51], GAME[50], *GAME[52:]]
    for forged, at in ((dropped, 51), (repeated, 52), (swapped, 51)):
        fault = verify_commits(forged).fault
        assert fault is not None
        assert (fault.commit, fault.check) == (at, "chain")


def test_times_that_go_back_are_found() -> None:
    forged = rechained(changed(GAME, 50, lambda commit: replace(commit, at_ms=commit.at_ms - 1000)))
    fault = verify_commits(forged).fault
    assert fault is not None
    assert (fault.commit, fault.check) == (50, "chain")


def test_commits_dropped_repeated_and_swapped_under_a_new_chain_are_found() -> None:
    taken = commit_with(GAME, StockDrawn, 3)
    again = [*GAME[:taken], GAME[taken - 1], *GAME[taken:]]
    dropped = [*GAME[: taken - 1], *GAME[taken:]]
    swapped = [*GAME[: taken - 1], GAME[taken], GAME[taken - 1], *GAME[taken + 1 :]]
    for forged, at, check in (
        (again, taken + 1, "commands"),
        (dropped, taken, "causes"),
        (swapped, taken, "causes"),
    ):
        fault = verify_commits(rechained([*forged])).fault
        assert fault is not None
        assert fault.commit == at
        assert fault.check in (check, "chain")


FORGERIES: list[tuple[type, int, Change, str]] = [
    (TableOpened, 0, event_changed(TableOpened, seal=turned), "links"),
    (TableOpened, 0, event_changed(TableOpened, rules_hash=turned), "rules"),
    (EntropyOpened, 0, event_changed(EntropyOpened, part=turned), "parts"),
    (GameStarted, 0, event_changed(GameStarted, parts=moved), "parts"),
    (GameStarted, 0, event_changed(GameStarted, entropy=turned), "entropy"),
    (GameStarted, 0, event_changed(GameStarted, link=turned), "links"),
    (GameStarted, 0, event_changed(GameStarted, dealer=lambda seat: (seat + 1) % 4), "dealers"),
    (RoundStarted, 1, event_changed(RoundStarted, dealer=lambda seat: (seat + 1) % 4), "dealers"),
    (RoundStarted, 1, event_changed(RoundStarted, attempt=2), "dealers"),
    (PackShuffled, 1, event_changed(PackShuffled, pack=moved), "shuffles"),
    (PackCut, 0, event_changed(PackCut, packet=lambda size: size + 1), "cuts"),
    (PackCut, 0, event_changed(PackCut, bonus=50), "cuts"),
    (PackCut, 1, event_changed(PackCut, seat=lambda seat: (seat + 1) % 4), "cuts"),
    (HandsDealt, 0, event_changed(HandsDealt, hands=hand_moved), "deals"),
    (HandsDealt, 1, event_changed(HandsDealt, stock=moved), "deals"),
    (StockRebuilt, 0, event_changed(StockRebuilt, stock=moved), "stocks"),
    (StockDrawn, 5, event_changed(StockDrawn, card="X1"), "causes"),
    (DiscardBought, 1, event_changed(DiscardBought, penalty=("AS1",)), "causes"),
    (CardDiscarded, 9, event_changed(CardDiscarded, card="2H1"), "causes"),
    (BuyPassed, 4, event_changed(BuyPassed, standing=lambda standing: not standing), "causes"),
    (RoundEnded, 0, event_changed(RoundEnded, hands=hand_moved), "points"),
    (RoundEnded, 0, event_changed(RoundEnded, points=added), "points"),
    (RoundEnded, 0, event_changed(RoundEnded, totals=added), "totals"),
    (RoundEnded, 0, event_changed(RoundEnded, winner=lambda seat: 3 if seat is None else None), "points"),
    (LinkOpened, 0, event_changed(LinkOpened, link=turned), "links"),
    (GameEnded, 0, event_changed(GameEnded, totals=added), "totals"),
    (GameEnded, 0, event_changed(GameEnded, places=moved), "places"),
]


@pytest.mark.parametrize(("kind", "nth", "change", "check"), FORGERIES)
@pytest.mark.parametrize("remake", [False, True])
def test_a_forged_event_is_found_and_named_at_its_commit(
    kind: type, nth: int, change: Change, check: str, remake: bool
) -> None:
    number = commit_with(GAME, kind, nth)
    forged = changed(GAME, number, change)
    assert forged != list(GAME)
    verdict = verify_commits(rechained(forged) if remake else forged)
    assert verdict.fault is not None
    assert (verdict.fault.commit, verdict.fault.check) == (number, check)
    event = next(i for i, e in enumerate(read_table_commit(GAME[number - 1]).events) if type(e) is kind)
    assert verdict.fault.version == read_table_commit(GAME[number - 1]).first + event
    assert verdict.commits == number - 1, "what stands before the fault is good"


def other_actor(commit: TableCommit) -> TableCommit:
    return replace(commit, actor="p0" if commit.actor != "p0" else "p1")


def inserted(commit: TableCommit) -> TableCommit:
    return replace(commit, events=(*commit.events, SeatReady(seat=0)))


def left_out(commit: TableCommit) -> TableCommit:
    return replace(commit, events=commit.events[:-1])


def other_cause(commit: TableCommit) -> TableCommit:
    held = {card for event in commit.events if isinstance(event, CardDiscarded) for card in [event.card]}
    return replace(commit, cause=Discard(Named("3S1" if "3S1" not in held else "4S1")))


@pytest.mark.parametrize("change", [other_actor, inserted, other_cause])
@pytest.mark.parametrize("nth", [0, 7, 30])
def test_a_false_actor_cause_or_event_under_a_new_chain_is_found(change: Change, nth: int) -> None:
    number = commit_with(GAME, CardDiscarded, nth)
    fault = verify_commits(rechained(changed(GAME, number, change))).fault
    assert fault is not None
    assert (fault.commit, fault.check) == (number, "causes")


def test_an_event_left_out_under_a_new_chain_is_found() -> None:
    number = commit_with(GAME, GameEnded)
    fault = verify_commits(rechained(changed(GAME, number, left_out))).fault
    assert fault is not None
    assert (fault.commit, fault.check, fault.what) == (
        number,
        "causes",
        "game_ended must follow and is missing",
    )


def test_a_rule_set_that_no_file_could_hold_is_a_fault() -> None:
    def more_cards(commit: TableCommit) -> TableCommit:
        rules = commit.cause.rules
        bad = replace(rules, rounds=(replace(rules.rounds[0], deal=40), *rules.rounds[1:]))
        return replace(commit, cause=replace(commit.cause, rules=bad))

    fault = verify_commits(rechained(changed(GAME, 1, more_cards))).fault
    assert fault is not None
    assert (fault.commit, fault.check) == (1, "rules")


def test_after_a_fault_nothing_more_is_taken() -> None:
    verification = Verification()
    assert [verification.feed(data) for data in (GAME[0], b"{}", GAME[1])] == [True, False, False]
    assert verification.verdict().commits == 1


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"{}", b"[" * 100_000, b"\xff", b"null", b'{"v":1}', GAME[0][:-1]]
)
def test_bytes_that_are_no_commit_are_a_fault_of_the_schema(data: bytes) -> None:
    fault = verify_commits([data]).fault
    assert fault is not None
    assert (fault.commit, fault.check) == (1, "schema")


@pytest.mark.parametrize(("kind", "nth", "change", "check"), [row for row in FORGERIES if row[3] != "causes"])
def test_an_engine_that_decides_falsely_can_not_vouch_for_itself(
    kind: type, nth: int, change: Change, check: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Verification, "_decide", lambda self, commit, version: commit.events)
    number = commit_with(GAME, kind, nth)
    fault = verify_commits(rechained(changed(GAME, number, change))).fault
    assert fault is not None
    assert (fault.commit, fault.check) == (number, check)


def test_a_fold_that_loses_a_card_is_found_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def losing(game: Game, event: Event) -> Game:
        after = evolve(game, event)
        return replace(after, stock=after.stock[1:]) if after.version == 100 else after

    monkeypatch.setattr("mersey.replay.verify.evolve", losing)
    fault = verify_commits(GAME).fault
    assert fault is not None
    assert (fault.version, fault.check) == (100, "cards")
    assert fault.what.endswith(" is nowhere")
