"""The table service: requests in, one command each; views and choices out (design sections 3, 4 and 7)."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Final

from mersey.client.phrases import seats_free
from mersey.client.wire import (
    action_from_proto,
    choices_to_proto,
    durability_to_proto,
    table_id,
    table_name,
    view_to_proto,
)
from mersey.game.choices import choices
from mersey.game.commands import Close, Command, LeaveSeat, OpenEntropy, OpenTable, StartGame, TakeSeat
from mersey.game.display_name import NameRefused, normalised
from mersey.game.events import SeatTaken
from mersey.game.refusals import TableCode, TableRefusal
from mersey.game.view import view, view_bytes
from mersey.rules.refusals import Code, Refusal
from mersey.rules.ruleset import ruleset_bytes
from mersey.server.auth import Caller
from mersey.server.commands import Answer, Commands, Order
from mersey.server.edge import Method, unary
from mersey.server.faults import FieldFault, ServiceCode, ServiceFault
from mersey.server.names import Names
from mersey.server.raw import repeated
from mersey.server.services import fields
from mersey.server.services.cursor import visible
from mersey.server.table import Table
from mersey.server.tables import Tables
from mersey.server.tickets import bot_id, given_deal_id, given_link, new_table_id
from mersey.v1 import table_pb2

SERVICE: Final = "mersey.v1.TableService"

_PLAYERS: Final = frozenset({"host", "player"})
_LINK_BYTES: Final = 32


class TableService:
    """The unary methods of the table service."""

    def __init__(self, commands: Commands, tables: Tables, names: Names, strategies: Sequence[str]) -> None:
        self._commands = commands
        self._tables = tables
        self._names = names
        self._strategies = frozenset(strategies)

    def methods(self) -> dict[str, Method]:
        """Return the methods by name."""
        return {
            "CreateTable": unary(table_pb2.CreateTableRequest, self.create_table),
            "GetTable": unary(table_pb2.GetTableRequest, self.get_table),
            "ListTables": unary(table_pb2.ListTablesRequest, self.list_tables),
            "TakeSeat": unary(table_pb2.TakeSeatRequest, self.take_seat),
            "LeaveSeat": unary(table_pb2.LeaveSeatRequest, self.leave_seat),
            "OpenEntropy": unary(table_pb2.OpenEntropyRequest, self.open_entropy),
            "AddBots": unary(table_pb2.AddBotsRequest, self.add_bots),
            "StartGame": unary(table_pb2.StartGameRequest, self.start_game),
            "CloseTable": unary(table_pb2.CloseTableRequest, self.close_table),
            "Act": unary(table_pb2.ActRequest, self.act),
            "GetView": unary(table_pb2.GetViewRequest, self.get_view),
            "ListChoices": unary(table_pb2.ListChoicesRequest, self.list_choices),
        }

    async def create_table(
        self, caller: Caller, request: table_pb2.CreateTableRequest
    ) -> table_pb2.CreateTableResponse:
        """Open a table; sent again with the same id it meets its own first commit."""
        _check_may_play(caller)
        command_id = fields.command_id(request.command_id)
        rules = fields.rule_set(request)
        seed = fields.seed(request.seed)
        if seed and caller.role != "host":  # who gives the seed can work out every card
            raise ServiceFault(
                ServiceCode.PERMISSION_DENIED, f"seed: only a host's token gives one, not a {caller.role}'s"
            )
        table = new_table_id(caller.sub, command_id)
        command = OpenTable(
            table=table,
            rules=rules,
            seats=request.seat_count or rules.players[0],
            link=given_link(seed) if seed else secrets.token_hex(_LINK_BYTES),
            deal_id=given_deal_id(seed) if seed else table,
            chance="given" if seed else "drawn",
            spectators=fields.spectators(request.spectators),
            archived=request.archived,
        )
        answer = await self._carry_out(table, caller.sub, command_id, command)
        return table_pb2.CreateTableResponse(
            table=await self._table_message(answer.table), durability=durability_to_proto(answer.durability)
        )

    async def get_table(self, caller: Caller, request: table_pb2.GetTableRequest) -> table_pb2.Table:
        """Return what everybody may know of a table."""
        return await self._table_message(await self._table(request.name))

    async def list_tables(
        self, caller: Caller, request: table_pb2.ListTablesRequest
    ) -> table_pb2.ListTablesResponse:
        """List the tables that are open, the newest first."""
        size = fields.page_size(request.page_size)
        before = fields.page_before(request.page_token)
        found = sorted(
            (
                (table.opened_at_ms, table.id, table)
                for table in self._tables
                if table.head.number and not table.fault and not table.is_finished
            ),
            key=lambda row: row[:2],
            reverse=True,
        )
        rows = [row for row in found if before is None or row[:2] < before]
        page = rows[:size]
        more = fields.page_token(page[-1][:2]) if len(rows) > size else ""
        return table_pb2.ListTablesResponse(
            tables=[await self._table_message(table) for _, _, table in page], next_page_token=more
        )

    async def take_seat(
        self, caller: Caller, request: table_pb2.TakeSeatRequest
    ) -> table_pb2.TakeSeatResponse:
        """Seat the caller, and keep the name to show."""
        _check_may_play(caller)
        name = _display_name(caller, request.display_name)
        command = TakeSeat(
            seat=request.seat if request.HasField("seat") else None,
            commitment=fields.commitment(request.commitment),
        )
        answer = await self._give(caller, request.name, request.command_id, command)
        if name:
            await self._names.put(caller.sub, name)
        return table_pb2.TakeSeatResponse(
            seat=_seat_taken(answer),
            version=answer.last,
            durability=durability_to_proto(answer.durability),
        )

    async def leave_seat(
        self, caller: Caller, request: table_pb2.LeaveSeatRequest
    ) -> table_pb2.LeaveSeatResponse:
        """Give the caller's seat back."""
        answer = await self._give(caller, request.name, request.command_id, LeaveSeat())
        return table_pb2.LeaveSeatResponse(
            version=answer.last, durability=durability_to_proto(answer.durability)
        )

    async def open_entropy(
        self, caller: Caller, request: table_pb2.OpenEntropyRequest
    ) -> table_pb2.OpenEntropyResponse:
        """Open the random part that the caller committed to."""
        command = OpenEntropy(part=fields.part(request.part))
        answer = await self._give(caller, request.name, request.command_id, command)
        return table_pb2.OpenEntropyResponse(
            version=answer.last, durability=durability_to_proto(answer.durability)
        )

    async def add_bots(self, caller: Caller, request: table_pb2.AddBotsRequest) -> table_pb2.AddBotsResponse:
        """Seat bots on the lowest free seats, each by a command of its own; all have one id, and one answer.

        Raises:
            TableRefusal: not the host, or fewer free seats than bots.
            ServiceFault: no such strategy; or the id was used for other bots.
        """
        _check_may_play(caller)
        name = table_id(request.name)
        command_id = fields.command_id(request.command_id)
        strategies = self._known(request.strategies)
        table = await self._commands.table(name)
        bots = [bot_id(caller.sub, command_id, index) for index in range(len(strategies))]
        _check_room(table, caller.sub, bots)
        count_id = f"{command_id}/{len(bots)}"  # another number of bots is another content
        answers = []
        for bot, strategy in zip(bots, strategies, strict=True):
            if table.game.seat_of(bot) is not None and table.done(bot, count_id) is None:
                raise ServiceFault(ServiceCode.COMMAND_ID_REUSED)
            answers.append(await self._carry_out(name, bot, count_id, TakeSeat(strategy=strategy)))
        return table_pb2.AddBotsResponse(
            seats=[_seat_taken(answer) for answer in answers],
            version=answers[-1].last,
            durability=durability_to_proto(answers[-1].durability),
        )

    def _known(self, strategies: Sequence[str]) -> Sequence[str]:
        if not strategies:
            raise FieldFault({"strategies": "names no bot"})
        for strategy in strategies:
            if strategy not in self._strategies:
                known = ", ".join(sorted(self._strategies))
                raise ServiceFault(ServiceCode.NO_SUCH_STRATEGY, f"{strategy[:40]!r} is none of {known}")
        return strategies

    async def start_game(
        self, caller: Caller, request: table_pb2.StartGameRequest
    ) -> table_pb2.StartGameResponse:
        """Start the game."""
        answer = await self._give(caller, request.name, request.command_id, StartGame())
        return table_pb2.StartGameResponse(
            version=answer.last, durability=durability_to_proto(answer.durability)
        )

    async def close_table(
        self, caller: Caller, request: table_pb2.CloseTableRequest
    ) -> table_pb2.CloseTableResponse:
        """Close the table."""
        answer = await self._give(caller, request.name, request.command_id, Close())
        return table_pb2.CloseTableResponse(
            version=answer.last, durability=durability_to_proto(answer.durability)
        )

    async def act(self, caller: Caller, request: table_pb2.ActRequest) -> bytes:
        """Play one action of the caller's seat; the answer is a serialised ``ActResponse``."""
        _check_may_play(caller)
        answer = await self._commands.carry_out(
            Order(
                table=table_id(request.name),
                actor=caller.sub,
                command_id=fields.command_id(request.command_id),
                command=action_from_proto(request.action),
                seen_version=fields.version(request.seen_version, "seen_version"),
                only_at=request.only_at,
            )
        )
        response = table_pb2.ActResponse(
            version=answer.last, durability=durability_to_proto(answer.durability)
        )
        viewer = answer.table.viewer(caller.sub)
        shown = answer.table.shown(viewer, answer.first - 1, answer.last)
        return response.SerializeToString() + repeated(table_pb2.ActResponse.UPDATES_FIELD_NUMBER, shown)

    async def get_view(self, caller: Caller, request: table_pb2.GetViewRequest) -> table_pb2.View:
        """Return the table as the caller sees it now."""
        table = await self._table(request.name)
        viewer = table.viewer(caller.sub)
        version = visible(table, viewer)
        return view_to_proto(table.id, version, view_bytes(view(table.game_at(version), viewer)))

    async def list_choices(
        self, caller: Caller, request: table_pb2.ListChoicesRequest
    ) -> table_pb2.ListChoicesResponse:
        """List what the caller's seat may do now."""
        table = await self._table(request.name)
        seat = table.game.seat_of(caller.sub)
        if seat is None:
            raise Refusal(Code.NOT_SEATED)
        return table_pb2.ListChoicesResponse(choices=choices_to_proto(choices(table.game, seat)))

    async def _table(self, name: str) -> Table:
        return await self._commands.table(table_id(name))

    async def _give(self, caller: Caller, name: str, command_id: str, command: Command) -> Answer:
        _check_may_play(caller)
        return await self._carry_out(table_id(name), caller.sub, fields.command_id(command_id), command)

    async def _carry_out(self, table: str, actor: str, command_id: str, command: Command) -> Answer:
        return await self._commands.carry_out(
            Order(table=table, actor=actor, command_id=command_id, command=command)
        )

    async def _table_message(self, table: Table) -> table_pb2.Table:
        game = table.game
        seats = []
        for number, held in enumerate(game.seats):
            if held is None:
                seats.append(table_pb2.Seat(seat=number))
                continue
            name = "" if held.strategy else await self._names.get(held.player)
            seats.append(
                table_pb2.Seat(
                    seat=number, player=held.player, display_name=name, strategy=held.strategy or ""
                )
            )
        return table_pb2.Table(
            name=table_name(table.id),
            state=_state(table),
            rules=game.ruleset.id,
            rules_json=ruleset_bytes(game.ruleset).decode(),
            host=game.host,
            seats=seats,
            version=table.head.version,
            round=game.round,
            update_time_ms=table.head.at_ms,
        )


def _check_may_play(caller: Caller) -> None:
    if caller.role not in _PLAYERS:
        raise ServiceFault(ServiceCode.PERMISSION_DENIED, f"role {caller.role}")


def _check_room(table: Table, host: str, bots: Sequence[str]) -> None:
    if table.game.host != host:
        raise TableRefusal(TableCode.NOT_THE_HOST)
    to_seat = sum(table.game.seat_of(bot) is None for bot in bots)
    if table.game.step == "seating" and to_seat > table.game.seats.count(None):
        raise TableRefusal(TableCode.TABLE_FULL, seats_free(table.game.seats.count(None)))


def _display_name(caller: Caller, asked: str) -> str:
    try:
        return normalised(asked or caller.name) if asked or caller.name else ""
    except NameRefused as error:
        raise FieldFault({"display_name": str(error)}) from None


def _seat_taken(answer: Answer) -> int:
    event = answer.table.event(answer.first)
    assert isinstance(event, SeatTaken), "taking a seat is one event"
    return event.seat


def _state(table: Table) -> table_pb2.TableState.ValueType:
    match table.game.step:
        case "seating":
            return table_pb2.TABLE_STATE_SEATING
        case "game_over":
            return table_pb2.TABLE_STATE_ENDED
        case "closed":
            return table_pb2.TABLE_STATE_CLOSED
        case _:
            return table_pb2.TABLE_STATE_RUNNING
