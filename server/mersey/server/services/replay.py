"""The replay service: which games there are, what was seen of them, their record, their proof."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from mersey.client.wire import table_id, table_name, view_to_proto
from mersey.game.view import OPEN, Viewer, seat_viewer, view, view_bytes
from mersey.log import archive_reader
from mersey.log.archive_reader import ArchiveReader
from mersey.log.archive_schema import ArchiveBlocked
from mersey.log.table_commit import stream_of
from mersey.replay.verdict import Verdict
from mersey.replay.verify import verify_commits
from mersey.server.auth import Caller
from mersey.server.commands import Commands
from mersey.server.edge import Method, Sink, server_stream, unary
from mersey.server.faults import FieldFault, ServiceCode, ServiceFault
from mersey.server.follower import Follower
from mersey.server.services import fields
from mersey.server.services.cursor import visible
from mersey.server.table import Table
from mersey.v1 import replay_pb2, table_pb2

SERVICE: Final = "mersey.v1.ReplayService"

RECORD_BATCH: Final = 200
"""Commits in one message of a record."""

_STREAM: Final = "table."

ValueT = TypeVar("ValueT")


class ReplayService:
    """The methods of the replay service; it reads the archive by a connection of its own."""

    def __init__(self, commands: Commands, follower: Follower, archive: Path) -> None:
        self._commands = commands
        self._follower = follower
        self._reader = ArchiveReader(archive)
        self._reading = asyncio.Lock()

    def close(self) -> None:
        """Let go of the archive."""
        self._reader.close()

    def methods(self) -> dict[str, Method]:
        """Return the methods by name."""
        return {
            "ListGames": unary(replay_pb2.ListGamesRequest, self.list_games),
            "GetRecord": server_stream(replay_pb2.GetRecordRequest, self.get_record),
            "GetViewAt": unary(replay_pb2.GetViewAtRequest, self.get_view_at),
            "VerifyGame": unary(replay_pb2.VerifyGameRequest, self.verify_game),
        }

    async def list_games(
        self, caller: Caller, request: replay_pb2.ListGamesRequest
    ) -> replay_pb2.ListGamesResponse:
        """List games, the newest first, up to all that this server has shown."""
        size = fields.page_size(request.page_size)
        before = fields.page_before(request.page_token)
        with contextlib.suppress(ArchiveBlocked):  # what it holds can be listed all the same
            await self._follower.archived(self._follower.position)
        games = await self._read(lambda reader: _page(reader, before, size + 1))
        page = games[:size]
        more = fields.page_token(page[-1][0]) if len(games) > size else ""
        return replay_pb2.ListGamesResponse(games=[game for _, game in page], next_page_token=more)

    async def get_record(self, caller: Caller, request: replay_pb2.GetRecordRequest, sink: Sink) -> None:
        """Send the exact bytes of a finished game's commits, in order."""
        table = await self._finished(request.name)
        after = 0
        while batch := await self._commits(table, after, RECORD_BATCH):
            await sink.send(replay_pb2.GetRecordResponse(commits=batch).SerializeToString())
            after += len(batch)

    async def get_view_at(self, caller: Caller, request: replay_pb2.GetViewAtRequest) -> table_pb2.View:
        """Return the table at a version: as the caller saw it; once it is over as any seat did, or open."""
        table = await self._commands.table(table_id(request.name))
        own = table.viewer(caller.sub)
        viewer = _perspective(request, table, own)
        head = table.head.version if table.is_finished else visible(table, own)
        version = fields.version(request.version, "version") or head
        if not 1 <= version <= head:
            raise ServiceFault(ServiceCode.NO_SUCH_VERSION, head_version=head)
        return view_to_proto(table.id, version, view_bytes(view(table.game_at(version), viewer)))

    async def verify_game(
        self, caller: Caller, request: replay_pb2.VerifyGameRequest
    ) -> replay_pb2.VerifyGameResponse:
        """Check a finished game's record."""
        table = await self._finished(request.name)
        commits = await self._commits(table, 0, table.head.number)
        verdict: Verdict = await asyncio.to_thread(verify_commits, commits, table.id)
        fault = verdict.fault
        return replay_pb2.VerifyGameResponse(
            ok=fault is None,
            checks=[
                f"{check.count} {check.meaning}{check.fact and f' ({check.fact})'}"
                for check in verdict.checks
            ],
            fault_commit=fault.commit if fault else 0,
            fault=str(fault) if fault else "",
        )

    async def _finished(self, name: str) -> Table:
        table = await self._commands.table(table_id(name))
        if not table.is_finished:
            raise ServiceFault(ServiceCode.RECORD_NOT_OPEN)
        await self._follower.archived(table.head.position)
        return table

    async def _commits(self, table: Table, after: int, count: int) -> list[bytes]:
        """Return up to ``count`` commits with a number above ``after``."""

        def read(reader: ArchiveReader) -> list[bytes]:
            entries = reader.commits_of(stream_of(table.id), after, page=count)
            return [entry.data for entry, _ in zip(entries, range(count), strict=False)]

        return await self._read(read)

    async def _read(self, read: Callable[[ArchiveReader], ValueT]) -> ValueT:
        async with self._reading:
            return await asyncio.to_thread(read, self._reader)


def _perspective(request: replay_pb2.GetViewAtRequest, table: Table, own: Viewer) -> Viewer:
    """Return whose view is asked for; another than the caller's own only once the game is over."""
    which = request.WhichOneof("perspective")
    if which is None or (which == "open" and not request.open):
        return own
    asked = OPEN if which == "open" else seat_viewer(request.seat)
    if asked.seat is not None and not 0 <= asked.seat < len(table.game.seats):
        raise FieldFault({"seat": f"must be 0 to {len(table.game.seats) - 1}, not {asked.seat}"})
    if asked != own and not table.is_finished:
        raise ServiceFault(ServiceCode.RECORD_NOT_OPEN)
    return asked


def _page(
    reader: ArchiveReader, before: tuple[int, str] | None, count: int
) -> list[tuple[tuple[int, str], replay_pb2.Game]]:
    return [
        ((row.opened_at_ms or 0, row.stream), _game(reader, row)) for row in reader.games(before, page=count)
    ]


def _game(reader: ArchiveReader, row: archive_reader.Game) -> replay_pb2.Game:
    head = reader.head(row.stream)
    seats = {seat.seat: seat for seat in reader.seats(row.stream)}
    numbers = range(row.seat_count or 0)
    messages = []
    for number in numbers:
        held = seats.get(number)
        kind = (held.kind if held else None) or ""
        messages.append(
            table_pb2.Seat(
                seat=number,
                player=(held.player if held else None) or "",
                display_name=(held.name if held else None) or "",
                strategy="" if kind == "player" else kind,
            )
        )
    totals = [held.total for number in numbers if (held := seats.get(number)) and held.total is not None]
    places = [held.place for number in numbers if (held := seats.get(number)) and held.place is not None]
    return replay_pb2.Game(
        name=table_name(row.stream.removeprefix(_STREAM)),
        state=fields.STATE.get(row.status or "", table_pb2.TABLE_STATE_UNSPECIFIED),
        rules=row.rules or "",
        seats=messages,
        totals=totals,
        places=places,
        round=row.round or 0,
        version=head.version,
        create_time_ms=row.opened_at_ms or 0,
        update_time_ms=head.at_ms,
    )
