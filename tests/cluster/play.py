"""Players of the cluster's tests: they play by chance at any node, and write down what they were told."""

from __future__ import annotations

import asyncio
import itertools
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple
from uuid import uuid4

from mersey.client.channel import MerseyClient
from mersey.client.errors import MovedOnError, RefusedError
from mersey.client.strategies.chance import ChanceStrategy
from mersey.client.strategies.turn import Draw, due_now
from mersey.server.auth import Keys

STUCK_S = 60.0
"""After how long without enough commands a table is taken to be stuck for good."""


class Told(NamedTuple):
    """An acknowledged command: the version that it was said to lead to."""

    table: str
    command_id: str
    version: int


class Ledger:
    """All that the players were told, and when the last word came."""

    def __init__(self) -> None:
        self.told: list[Told] = []
        self.seen: dict[str, list[list[int]]] = defaultdict(list)
        self._at_s: dict[str, float] = {}
        self._pause_s = 0.0
        self._count: dict[str, int] = defaultdict(int)

    def write(self, table: str, command_id: str, version: int) -> None:
        """Write down an acknowledgement."""
        now_s = asyncio.get_running_loop().time()
        self._pause_s = max(self._pause_s, now_s - self._at_s.get(table, now_s))
        self._at_s[table] = now_s
        self.told.append(Told(table, command_id, version))
        self._count[table] += 1

    def pause_s(self) -> float:
        """Return the longest time without an acknowledgement at a table since this was last asked."""
        pause_s, self._pause_s = self._pause_s, 0.0
        return pause_s

    async def until_all_move(self, tables: Sequence[str], commands: int = 8) -> None:
        """Return once that many more commands were acknowledged at each table."""
        wanted = {table: self._count[table] + commands for table in tables}
        loop = asyncio.get_running_loop()
        ends_s = loop.time() + STUCK_S
        while waiting := [table for table, count in wanted.items() if self._count[table] < count]:
            assert loop.time() < ends_s, f"nothing moves at {waiting}"
            await asyncio.sleep(0.02)


class Players:
    """Tables with players at different nodes; every player knows all nodes, each another one first."""

    def __init__(self, addresses: Sequence[str], keys: Keys) -> None:
        self.ledger = Ledger()
        self.tables: list[str] = []
        self._addresses = list(addresses)
        self._keys = keys
        self._turn = itertools.count()
        self._clients: list[MerseyClient] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._hosts: dict[str, MerseyClient] = {}

    def client(self, token: str, first: int | None = None) -> MerseyClient:
        """Return a client that begins at the node of that number, or at the next in turn."""
        if first is None:
            first = next(self._turn) % len(self._addresses)
        order = self._addresses[first:] + self._addresses[:first]
        client = MerseyClient(",".join(order), token, patience_s=60)
        self._clients.append(client)
        return client

    async def open_table(self, *, twins: bool = False, first: int | None = None) -> None:
        """Open a table of three players and a bot of the server's, and let them play.

        With ``twins`` each player plays the same seat at two nodes at once, so that these race all the time.
        """
        tokens = [self._keys.issue(f"P{seat}", "host") for seat in range(3)]
        clients = [self.client(token, first) for token in tokens]
        table = (await clients[0].create_table("contract")).table
        for client in clients:
            await client.take_seat(table, part=b"")
        await clients[0].add_bots(table, ["chance"])
        await clients[0].start_game(table)
        self.tables.append(table)
        self._hosts[table] = clients[0]
        if twins:
            clients += [self.client(token) for token in tokens]
        self._tasks += [asyncio.create_task(self._play(client, table)) for client in clients]

    async def _play(self, client: MerseyClient, table: str) -> None:
        versions: list[int] = []
        self.ledger.seen[table].append(versions)
        async with client.play(table) as seat:
            async for moment in seat.moments():
                versions += [update.version for update in moment.updates]
                turn = moment.turn
                if turn is None or not seat.is_current(turn) or not due_now(turn.view):
                    continue
                command_id = str(uuid4())
                action = ChanceStrategy().choose(turn, Draw(command_id, turn.view))
                try:
                    acted = await seat.act(
                        action, seen_version=turn.view.version, only_at=True, command_id=command_id
                    )
                except (RefusedError, MovedOnError):
                    continue
                self.ledger.write(table, command_id, acted.version)

    async def close_tables(self) -> None:
        """Close all tables, and return once every player has seen the end."""
        for table, host in self._hosts.items():
            await host.close_table(table)
        await asyncio.gather(*self._tasks)

    async def stop(self) -> None:
        """End whatever still plays."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for client in self._clients:
            await client.close()

    def check_playing(self) -> None:
        """Raise what a player has met that should not have reached it."""
        for task in self._tasks:
            if task.done():
                task.result()
