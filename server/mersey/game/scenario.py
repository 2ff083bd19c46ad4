"""Scenarios: rule cases as files, played on the real ``decide`` and ``evolve`` (scenarios.md).

``parse_scenario`` reads the text of a file to a position, the acts and what is
expected; ``run_scenario`` plays it and says what differed. Reading files is the
caller's business, and so is finding the rule set that a file names.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from mersey.game.chance import FAIR, Chance
from mersey.game.conservation import CardsLost, check_cards
from mersey.game.decide import decide
from mersey.game.evolve import evolve
from mersey.game.refusals import TableCode, TableRefusal
from mersey.game.scenario_expect import differences, expect_faults
from mersey.game.scenario_file import Expect, PlayLine, ScenarioError, read_scenario
from mersey.game.scenario_setup import build_game, player_at
from mersey.game.state import Game
from mersey.rules.actions import Action, Ready
from mersey.rules.cards import Card, face_of
from mersey.rules.melds import Named
from mersey.rules.notation import parse_action, parse_cards
from mersey.rules.refusals import Code, MerseyError, NotationError, Refusal, RuleSetError
from mersey.rules.ruleset import RuleSet

CODES = frozenset(map(str, Code)) | frozenset(map(str, TableCode))
"""What ``refused`` may name."""


class Act(msgspec.Struct, frozen=True):
    """An act to play: ``accepted`` times it must be taken, then ``refused`` times refused, with ``code``.

    Without a code any refusal will do.
    """

    seat: int
    text: str
    action: Action
    accepted: int
    refused: int
    code: str | None


class Scenario(msgspec.Struct, frozen=True):
    """A scenario ready to be played: where it starts, what is played, what must come of it."""

    name: str
    start: Game
    plays: tuple[Act, ...]
    expect: Expect
    go_on: bool
    lifted: int | None
    rebuilt: tuple[Named, ...] | None


class ChanceMismatch(MerseyError):
    """A scenario's own chance does not fit the position in which it is asked for."""


class ScriptedChance:
    """The scenario's own chance for the next cut and the next rebuilt stock, then the table's."""

    def __init__(self, lifted: int | None, rebuilt: tuple[Named, ...] | None) -> None:
        self._lifted = lifted
        self._rebuilt = rebuilt

    def dealer(self, game: Game, entropy: str) -> int:
        """Return the first dealer from the table's links."""
        return FAIR.dealer(game, entropy)

    def shuffled(self, game: Game) -> tuple[Card, ...]:
        """Return the pack shuffled from the table's links."""
        return FAIR.shuffled(game)

    def packet(self, game: Game, aim: int) -> int:
        """Return the packet that the file says, once."""
        lifted, self._lifted = self._lifted, None
        return FAIR.packet(game, aim) if lifted is None else lifted

    def rebuilt(self, game: Game, pile: tuple[Card, ...]) -> tuple[Card, ...]:
        """Return the stock that the file says, once; its names take the pile's lowest copies.

        Raises:
            ChanceMismatch: the file names other cards than those that are rebuilt.
        """
        names, self._rebuilt = self._rebuilt, None
        if names is None:
            return FAIR.rebuilt(game, pile)
        left = sorted(pile)
        stock = []
        for name in names:
            card = next((card for card in left if str(name) in (card, face_of(card))), None)
            if card is None:
                raise ChanceMismatch(f"given.rebuilt: {name} is not among the cards that are rebuilt")
            left.remove(card)
            stock.append(card)
        if left:
            raise ChanceMismatch(f"given.rebuilt: {' '.join(left)} would be rebuilt too")
        return tuple(stock)


def parse_scenario(text: str, source: str, resolve: Callable[[str], RuleSet]) -> Scenario:
    """Return the scenario of a file's ``text``; ``source`` names it in errors.

    ``resolve`` gives the rule set that the file names: an id, or a path beside the file.

    Raises:
        ScenarioError: ``faults`` names each key at fault and what is wrong with it.
    """
    file = read_scenario(text, source)
    try:
        rules = resolve(file.rules)
    except RuleSetError as error:
        raise ScenarioError(source, [f"rules: {error}"]) from None
    start = build_game(file, rules, source)
    faults: list[str] = []
    plays = [_read_act(line, f"play[{number}]", faults) for number, line in enumerate(file.play, 1)]
    faults += expect_faults(file.expect, len(start.seats))
    given = file.given
    pack = rules.pack_for(len(start.seats))
    if given.lifted is not None and not 1 <= given.lifted < len(pack):
        faults.append(f"given.lifted: a packet holds 1 to {len(pack) - 1} cards, not {given.lifted}")
    rebuilt = _read_rebuilt(given.rebuilt, faults)
    if faults:
        raise ScenarioError(source, faults)
    acts = tuple(act for act in plays if act is not None)
    return Scenario(file.name, start, acts, file.expect, given.go_on, given.lifted, rebuilt)


def _read_rebuilt(text: str | None, faults: list[str]) -> tuple[Named, ...] | None:
    try:
        return None if text is None else parse_cards(text)
    except NotationError as error:
        faults.append(f"given.rebuilt: {error}")
        return None


def _read_act(line: PlayLine, key: str, faults: list[str]) -> Act | None:
    refused = line.refused
    before = len(faults)
    if refused is False:
        faults.append(f"{key}.refused: must be a code or true; leave it out where the act is accepted")
    elif isinstance(refused, str) and refused not in CODES:
        faults.append(f"{key}.refused: there is no code {refused[:40]!r}")
    if refused is not None and line.times == 1:
        faults.append(f"{key}.times: the first is accepted, so a refusal needs at least 2")
    try:
        action = parse_action(line.act)
    except NotationError as error:
        faults.append(f"{key}.act: {error}")
        return None
    if len(faults) > before:
        return None
    times = line.times or 1
    accepted = times if refused is None else int(times > 1)
    code = refused if isinstance(refused, str) else None
    return Act(line.seat, line.act, action, accepted, times - accepted, code)


class _Differs(MerseyError):
    """What differed: play stops there."""


def run_scenario(scenario: Scenario) -> tuple[str, ...]:
    """Play ``scenario`` and return what differed; nothing where it holds.

    An act that is not answered as it must be ends the play; else every line that is
    expected is compared. Each event must leave each card in exactly one place.
    """
    chance = ScriptedChance(scenario.lifted, scenario.rebuilt)
    game = scenario.start
    try:
        check_cards(game)
        for number, act in enumerate(scenario.plays, 1):
            game = _play_act(game, act, f"play[{number}] (seat {act.seat}: {act.text})", chance)
            if scenario.go_on and game.step == "round_over":
                game = _all_ready(game, chance)
    except (_Differs, CardsLost, ChanceMismatch) as error:
        return (str(error),)
    return tuple(differences(scenario.expect, game))


def _play_act(game: Game, act: Act, where: str, chance: Chance) -> Game:
    for _ in range(act.accepted):
        try:
            game = _play(game, act.seat, act.action, chance)
        except (Refusal, TableRefusal) as refusal:
            raise _Differs(f"{where}: refused, {refusal}") from None
        except (CardsLost, ChanceMismatch) as error:
            raise _Differs(f"{where}: {error}") from None
    for _ in range(act.refused):
        try:
            _play(game, act.seat, act.action, chance)
        except (Refusal, TableRefusal) as refusal:
            if act.code is not None and act.code != refusal.code:
                raise _Differs(f"{where}: expected {act.code}, refused with {refusal.code}") from None
        else:
            raise _Differs(f"{where}: accepted, expected {act.code or 'a refusal'}")
    return game


def _play(game: Game, seat: int, action: Action, chance: Chance) -> Game:
    for event in decide(game, player_at(seat), action, chance):
        game = evolve(game, event)
        check_cards(game)
    return game


def _all_ready(game: Game, chance: Chance) -> Game:
    for seat in range(len(game.seats)):
        game = _play(game, seat, Ready(), chance)
    return game
