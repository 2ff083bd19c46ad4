"""A node: everything that serves tables, put together, started and stopped in order."""

from __future__ import annotations

import asyncio
import logging
import socket
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final, Self

import grpc
import grpc.aio
from grpc_reflection.v1alpha import reflection

from mersey.client.strategies.catalogue import STRATEGIES
from mersey.log.archive import Archive, commit_transaction
from mersey.log.archive_copies import ArchiveCopies
from mersey.log.connection import NatsConnection
from mersey.log.data_folder import DataFolder
from mersey.log.directory import Directory
from mersey.log.embedded import EmbeddedNats
from mersey.log.failpoints import NO_FAILPOINTS, Failpoints, failing_commit
from mersey.log.jetstream import JetStreamLog
from mersey.log.opening import log_bytes_for, open_embedded
from mersey.log.startup import check_belongs, check_version, unverified_because
from mersey.rules.refusals import MerseyError
from mersey.server.auth import Keys, Role, write_private
from mersey.server.clock import server_clock
from mersey.server.commands import Commands
from mersey.server.config import Config, ConfigError, nats_urls
from mersey.server.edge import Edge
from mersey.server.failing import FailingCommands
from mersey.server.faults import ServiceFault
from mersey.server.follower import Follower
from mersey.server.health import Health
from mersey.server.names import Names
from mersey.server.projection import project
from mersey.server.reach import Reach
from mersey.server.services import play, replay, table, watch
from mersey.server.standins import StandIns
from mersey.server.stopping import Stopping
from mersey.server.tables import Tables

HOST_NAME: Final = "Host"

CLUSTER_REPLICAS: Final = 3
"""On how many servers of a NATS cluster a commit has to be kept."""

_OPTIONS: Final = (
    ("grpc.so_reuseport", 0),  # a port in use is an error, not a second listener
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_ping_strikes", 0),
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.server.max_pending_requests", 10_000),
    ("grpc.max_receive_message_length", 2**20),
)

_logger = logging.getLogger(__name__)


class Node:
    """One server; ``async with Node(config) as node:`` serves while the block runs."""

    def __init__(self, config: Config, failpoints: Failpoints = NO_FAILPOINTS) -> None:
        self.config: Final = config
        self._failpoints = failpoints
        self.address = ""
        """Where it listens, as clients name it: ``127.0.0.1:7440``."""
        self.failed: asyncio.Future[MerseyError] = asyncio.get_running_loop().create_future()
        """Set when the node can't go on: what is beyond repair."""
        self._stack = AsyncExitStack()
        self._stopping = Stopping()
        self._keys: Keys | None = None
        self._log: JetStreamLog | None = None

    async def __aenter__(self) -> Self:
        """Start; return once calls are answered."""
        try:
            await self._start()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop in order: streams end with a hint, what was logged is archived, the data folder is let go."""
        await self._stack.aclose()

    @property
    def keys(self) -> Keys:
        """What signs and checks tokens."""
        assert self._keys is not None, "the node has started"
        return self._keys

    @property
    def log(self) -> JetStreamLog:
        """The log that it follows."""
        assert self._log is not None, "the node has started"
        return self._log

    @property
    def host_token_file(self) -> Path:
        """Where the host's token of a server for this machine alone lies."""
        return self.config.data.resolve() / "host.token"

    @property
    def host_token(self) -> str:
        """The host's token; a node that others can reach has none of its own, and gives a new one."""
        if self.host_token_file.exists():
            return self.host_token_file.read_text().strip()
        return self.issue_token(HOST_NAME, "host")

    def issue_token(self, name: str, role: Role) -> str:
        """Return a token for a new player of that name."""
        return self.keys.issue(name, role)

    async def _start(self) -> None:
        config = self.config
        folder = self._stack.enter_context(DataFolder.open(config.data))
        _check_free(config)
        self._keys = Keys.open(config.keys or folder.path / "keys")
        if config.nats is None and config.is_loopback:
            self._keep_host_token()
        connection = await self._connect(folder)
        replicas = CLUSTER_REPLICAS if connection.in_cluster else 1
        self._log = log = await JetStreamLog.open(connection, replicas=replicas)
        points = self._failpoints
        commit = failing_commit(points) if points else commit_transaction
        archive = Archive.open(folder.archive, log.incarnation, project, commit)
        self._stack.push_async_callback(archive.close)
        with ArchiveCopies(folder.archive) as copies:
            await check_belongs(log, copies)
        tables = Tables(archive)
        self._stack.callback(tables.close)
        await tables.load_running()
        follower = Follower(log, archive, tables, self._fail)
        self._stack.push_async_callback(follower.stop)
        await follower.start()
        names = Names(await Directory.open(connection), archive)
        self._stack.callback(names.close)
        await names.copy_all()
        clock = server_clock()
        if points:
            commands: Commands = FailingCommands(points, log, follower, tables, clock)
        else:
            commands = Commands(log, follower, tables, clock)
        await self._serve(commands, tables, follower, names, folder.archive)
        standins = StandIns(commands, STRATEGIES)
        self._stack.push_async_callback(standins.stop)
        tables.changed = standins.look
        for running in tables:
            standins.look(running)

    def _keep_host_token(self) -> None:
        """Make the host's token, at the first start or for a new key; one that is good stays."""
        path = self.host_token_file
        try:
            self.keys.caller(path.read_text().strip())
        except (OSError, ServiceFault):
            path.unlink(missing_ok=True)
            write_private(path, f"{self.issue_token(HOST_NAME, 'host')}\n".encode())

    def _fail(self, error: MerseyError) -> None:
        if not self.failed.done():
            self.failed.set_result(error)

    async def _connect(self, folder: DataFolder) -> NatsConnection:
        if self.config.nats is not None:
            connection = await NatsConnection.open(
                *nats_urls(self.config.nats, "nats"),
                user=self.config.nats_user,
                password=self.config.nats_password,
            )
            self._stack.push_async_callback(connection.close)
            check_version(connection)
            if reason := await unverified_because(self.config.nats_monitors, connection):
                _logger.warning("durability of the log is unverified: %s", reason)
            return connection
        nats = EmbeddedNats(folder.nats)
        await nats.start()
        self._stack.push_async_callback(nats.stop)
        connection = await open_embedded(nats, max_bytes=log_bytes_for(folder.path))
        self._stack.push_async_callback(connection.close)
        return connection

    async def _serve(
        self, commands: Commands, tables: Tables, follower: Follower, names: Names, archive: Path
    ) -> None:
        config = self.config
        server = grpc.aio.server(options=_OPTIONS)
        edge = Edge(self.keys, config.write_s)
        tabling = table.TableService(commands, tables, names, tuple(STRATEGIES))
        reach = Reach(lambda: self.log.is_away)
        watching = watch.Watching(commands, tables, self._stopping, reach, config.heartbeat_s)
        playing = play.Playing(commands, tables, tabling.act, self._stopping, reach, config.heartbeat_s)
        replaying = replay.ReplayService(commands, follower, archive)
        self._stack.callback(replaying.close)
        methods = tabling.methods() | watching.methods() | playing.methods()
        server.add_generic_rpc_handlers(
            (edge.handler(table.SERVICE, methods), edge.handler(replay.SERVICE, replaying.methods()))
        )
        health = Health(server, lambda: not reach.is_away and follower.blocked is None)
        await health.start(("", table.SERVICE, replay.SERVICE))
        reflection.enable_server_reflection(
            (table.SERVICE, replay.SERVICE, "grpc.health.v1.Health", reflection.SERVICE_NAME), server
        )
        looking = asyncio.create_task(reach.watch())
        await self._listen(server)

        async def stop() -> None:
            await health.stop()
            looking.cancel()
            self._stopping.set()
            await server.stop(config.grace_s)

        self._stack.push_async_callback(stop)

    async def _listen(self, server: grpc.aio.Server) -> None:
        config = self.config
        try:
            port = server.add_insecure_port(_address(config.host, config.port))
        except RuntimeError:
            raise _cannot_listen(config) from None
        await server.start()
        self.address = _address(config.host, port)
        _logger.info("serving on %s", self.address)


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _cannot_listen(config: Config) -> ConfigError:
    return ConfigError(
        f"{_address(config.host, config.port)}: can't listen there, the port is in use or not allowed: "
        "stop what uses it, or name another with --listen HOST:PORT"
    )


def _check_free(config: Config) -> None:
    """Raise ConfigError if the port can't be had: before anything else is started, and in our own words."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((config.host, config.port))
        except OSError:
            raise _cannot_listen(config) from None
