"""The SDK: everything that a player's program does with a server, over gRPC.

    async with MerseyClient("127.0.0.1:7440", token) as client:
        await client.take_seat(table)
        async with client.play(table) as seat:
            async for turn in seat.turns():
                await seat.act(my_choice(turn))

Every command has an id of its own, a UUID unless it is given; a call that finds the
server away is sent again with the same id, and is carried out once at most. On taking
a seat the client commits to a random part of its own for the deal, and opens it when
the table is full (design section 5).
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Sequence
from typing import Final, NamedTuple, Self
from uuid import uuid4

import grpc
import grpc.aio

from mersey.client.errors import ApiError
from mersey.client.following import Moment, follow
from mersey.client.parts import PART_BYTES, all_parts_shown, table_full
from mersey.client.seat_play import Acted, SeatPlay, acted_from_proto
from mersey.client.table_info import (
    GameInfo,
    TableInfo,
    Verified,
    game_from_proto,
    table_from_proto,
    verified_from_proto,
)
from mersey.client.transport import DEFAULT_SERVER, NewId, Transport, error_from_rpc
from mersey.client.wire import (
    Durability,
    RawUpdate,
    action_to_proto,
    choices_from_proto,
    durability_from_proto,
    table_name,
    view_from_proto,
)
from mersey.game.choices import Choices
from mersey.game.commands import Spectators
from mersey.game.seen import TableView, Update
from mersey.rules.actions import Action
from mersey.rules.deal import commitment_of
from mersey.rules.notation import parse_action
from mersey.v1 import replay_pb2, table_pb2

PAGE_SIZE: Final = 50

_SPECTATORS: Final[dict[Spectators, table_pb2.Spectators.ValueType]] = {
    "none": table_pb2.SPECTATORS_NONE,
    "live": table_pb2.SPECTATORS_LIVE,
    "after_round": table_pb2.SPECTATORS_AFTER_ROUND,
    "after_game": table_pb2.SPECTATORS_AFTER_GAME,
}


class Done(NamedTuple):
    """A command was carried out: the version after it, and how safe it is."""

    version: int
    durability: Durability


class Seated(NamedTuple):
    """A seat was taken."""

    seat: int
    version: int
    durability: Durability


class MerseyClient:
    """A player's, host's or spectator's client of one server.

    Args:
        target: HOST:PORT, or several servers of one log with commas between: when one is away, or can't reach
            the log, everything goes on at the next.
        token: who you are, as the server's host gave it to you.
        credentials: TLS; without them the connection is in the clear.
        new_id: makes the ids of commands.
        call_s: how long one call may take, in seconds.
        patience_s: how long the server may be away before a call or stream gives up; None: for ever.
    """

    def __init__(
        self,
        target: str = DEFAULT_SERVER,
        token: str = "",
        *,
        credentials: grpc.ChannelCredentials | None = None,
        new_id: NewId = lambda: str(uuid4()),
        call_s: float = 10.0,
        patience_s: float | None = 30.0,
    ) -> None:
        self.transport: Final = Transport(
            target, token, credentials=credentials, call_s=call_s, patience_s=patience_s
        )
        self._new_id = new_id
        self._parts: dict[str, bytes] = {}
        self._openers: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        """Begin; nothing is sent yet."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close."""
        await self.close()

    async def close(self) -> None:
        """End everything that is going on; what was acknowledged stands."""
        for opener in self._openers:
            opener.cancel()
        await asyncio.gather(*self._openers, return_exceptions=True)
        await self.transport.close()

    async def connect(self, within_s: float = 5.0) -> None:
        """Return once the server answers; UnavailableError where it does not within the time."""
        await self.transport.connect(within_s)

    # Tables

    async def create_table(
        self,
        rules: str = "contract",
        *,
        rules_toml: str = "",
        seats: int = 0,
        spectators: Spectators = "live",
        archived: bool = False,
        seed: str = "",
        command_id: str | None = None,
    ) -> TableInfo:
        """Open a table and become its host.

        ``rules`` is the id of a rule set that ships; ``rules_toml`` the text of a house's file,
        instead. ``seats`` 0: the fewest that the rules are for. ``archived`` makes each answer wait
        for the archive.
        """
        request = table_pb2.CreateTableRequest(
            command_id=command_id or self._new_id(),
            seat_count=seats,
            spectators=_SPECTATORS[spectators],
            archived=archived,
            seed=seed,
        )
        if rules_toml:
            request.rules_toml = rules_toml
        else:
            request.rules = rules
        response = await self.transport.call(self.transport.tables.CreateTable, request)
        return table_from_proto(response.table)

    async def get_table(self, table: str) -> TableInfo:
        """Return what everybody may know of a table."""
        request = table_pb2.GetTableRequest(name=table_name(table))
        return table_from_proto(await self.transport.call(self.transport.tables.GetTable, request))

    async def list_tables(self) -> AsyncIterator[TableInfo]:
        """Yield the tables that are open, the newest first."""
        token = ""
        while True:
            request = table_pb2.ListTablesRequest(page_size=PAGE_SIZE, page_token=token)
            response = await self.transport.call(self.transport.tables.ListTables, request)
            for table in response.tables:
                yield table_from_proto(table)
            token = response.next_page_token
            if not token:
                return

    async def take_seat(
        self,
        table: str,
        *,
        seat: int | None = None,
        display_name: str = "",
        part: bytes | None = None,
        command_id: str | None = None,
    ) -> Seated:
        """Take a seat, the lowest free one unless it is named, and commit to a part of the deal's chance.

        ``part`` (16 to 64 bytes) is drawn at random unless given, and opened when the table is full;
        with ``b""`` the seat gives none.
        """
        if part is None:
            part = secrets.token_bytes(PART_BYTES)
        request = table_pb2.TakeSeatRequest(
            name=table_name(table),
            command_id=command_id or self._new_id(),
            seat=seat,
            commitment=commitment_of(part) if part else b"",
            display_name=display_name,
        )
        response = await self.transport.call(self.transport.tables.TakeSeat, request)
        if part:
            self._parts[table] = part
            opener = asyncio.create_task(self._open_when_full(table))
            self._openers.add(opener)
            opener.add_done_callback(self._openers.discard)
        return Seated(response.seat, response.version, durability_from_proto(response.durability))

    async def leave_seat(self, table: str, *, command_id: str | None = None) -> Done:
        """Give the seat back before the game starts."""
        self._parts.pop(table, None)
        request = table_pb2.LeaveSeatRequest(name=table_name(table), command_id=command_id or self._new_id())
        response = await self.transport.call(self.transport.tables.LeaveSeat, request)
        return Done(response.version, durability_from_proto(response.durability))

    async def open_part(self, table: str) -> None:
        """Open the part that this client committed to at ``table``; nothing where there is none left."""
        part = self._parts.pop(table, None)
        if part is None:
            return
        request = table_pb2.OpenEntropyRequest(name=table_name(table), command_id=self._new_id(), part=part)
        await self.transport.call(self.transport.tables.OpenEntropy, request)

    async def _open_when_full(self, table: str) -> None:
        with contextlib.suppress(ApiError):  # the record shows the commitment in the part's stead
            if await table_full(follow(self.transport, table)):
                await self.open_part(table)

    async def add_bots(
        self, table: str, strategies: Sequence[str], *, command_id: str | None = None
    ) -> tuple[int, ...]:
        """Seat bots that the server plays, one for each name in ``strategies``; return their seats."""
        request = table_pb2.AddBotsRequest(
            name=table_name(table), command_id=command_id or self._new_id(), strategies=strategies
        )
        return tuple((await self.transport.call(self.transport.tables.AddBots, request)).seats)

    async def start_game(self, table: str, *, parts_s: float = 2.0, command_id: str | None = None) -> Done:
        """Start the game, as the host of a full table.

        For up to ``parts_s`` seconds it waits until every player has opened the part committed to.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(parts_s):
                await all_parts_shown(follow(self.transport, table))
        request = table_pb2.StartGameRequest(name=table_name(table), command_id=command_id or self._new_id())
        response = await self.transport.call(self.transport.tables.StartGame, request)
        return Done(response.version, durability_from_proto(response.durability))

    async def close_table(self, table: str, *, command_id: str | None = None) -> Done:
        """Close the table, as its host; a running game ends without a result."""
        request = table_pb2.CloseTableRequest(name=table_name(table), command_id=command_id or self._new_id())
        response = await self.transport.call(self.transport.tables.CloseTable, request)
        return Done(response.version, durability_from_proto(response.durability))

    # Playing and watching

    async def act(
        self,
        table: str,
        action: Action | str,
        *,
        seen_version: int = 0,
        only_at: bool = False,
        command_id: str | None = None,
    ) -> Acted:
        """Play one action of the own seat, given as a value or in the notation.

        Raises:
            NotationError: the text is no action.
            RefusedError: the rules or the table say no.
            MovedOnError: ``only_at``, and the table is not at ``seen_version`` any more.
        """
        value = parse_action(action) if isinstance(action, str) else action
        request = table_pb2.ActRequest(
            name=table_name(table),
            command_id=command_id or self._new_id(),
            seen_version=seen_version,
            only_at=only_at,
            action=action_to_proto(value),
        )
        return acted_from_proto(await self.transport.call(self.transport.tables.Act, request))

    async def view(self, table: str) -> TableView:
        """Return the table as this client may see it now."""
        request = table_pb2.GetViewRequest(name=table_name(table))
        return view_from_proto(await self.transport.call(self.transport.tables.GetView, request))

    async def choices(self, table: str) -> Choices:
        """Return what the own seat may do now, and why not the rest."""
        request = table_pb2.ListChoicesRequest(name=table_name(table))
        response = await self.transport.call(self.transport.tables.ListChoices, request)
        return choices_from_proto(response.choices)

    def follow(self, table: str, after_version: int = 0) -> AsyncIterator[Moment]:
        """Yield moments of a table from after a version on, until it is finished; reconnects by itself."""
        return follow(self.transport, table, after_version)

    async def watch(self, table: str, after_version: int = 0) -> AsyncIterator[Update | RawUpdate]:
        """Yield the updates of a table from after a version on, until it is finished."""
        async for moment in follow(self.transport, table, after_version):
            for update in moment.updates:
                yield update

    @contextlib.asynccontextmanager
    async def play(self, table: str, after_version: int = 0) -> AsyncIterator[SeatPlay]:
        """Play the own seat at a table over one stream; updates come from after ``after_version``."""
        info = await self.get_table(table)
        async with SeatPlay(self.transport, info, self._new_id, after_version) as seat:
            yield seat

    # Recorded games

    async def list_games(self) -> AsyncIterator[GameInfo]:
        """Yield the recorded games, the newest first."""
        token = ""
        while True:
            request = replay_pb2.ListGamesRequest(page_size=PAGE_SIZE, page_token=token)
            response = await self.transport.call(self.transport.replays.ListGames, request)
            for game in response.games:
                yield game_from_proto(game)
            token = response.next_page_token
            if not token:
                return

    async def view_at(
        self, table: str, version: int = 0, *, seat: int | None = None, everything: bool = False
    ) -> TableView:
        """Return a game at a version (0: the last) as a seat saw it, or, once it has ended, all open."""
        request = replay_pb2.GetViewAtRequest(name=table_name(table), version=version)
        if everything:
            request.open = True
        elif seat is not None:
            request.seat = seat
        return view_from_proto(await self.transport.call(self.transport.replays.GetViewAt, request))

    async def get_record(self, table: str) -> AsyncIterator[bytes]:
        """Yield the commits of a game that has ended, or whose table is closed, byte for byte, in order."""
        request = replay_pb2.GetRecordRequest(name=table_name(table))
        call = self.transport.replays.GetRecord(request, metadata=self.transport.metadata)
        try:
            async for response in call:
                for commit in response.commits:
                    yield commit
        except grpc.aio.AioRpcError as error:
            raise error_from_rpc(error) from None
        finally:
            call.cancel()

    async def verify_game(self, table: str) -> Verified:
        """Have the server check a game's record."""
        request = replay_pb2.VerifyGameRequest(name=table_name(table))
        return verified_from_proto(await self.transport.call(self.transport.replays.VerifyGame, request))
