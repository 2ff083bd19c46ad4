"""The course of a drill: bots play, server and nats-server are killed by plan, all is stopped and judged."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from mersey.log.failpoints import LOST_ACK
from mersey.server.auth import Keys
from mersey.server.drill.bots import Drilled, play_games
from mersey.server.drill.checks import Findings, judge
from mersey.server.drill.journal import Journal
from mersey.server.drill.plan import NATS, SERVER, Life, lives
from mersey.server.drill.process import ServerFault, ServerProcess

STALLED_S: Final = 60.0
"""After so long without an acknowledged command a drill ends: something waits for ever."""

_SETTLE_S: Final = 60.0

Say = Callable[[str], None]


class DrillConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What a drill is told."""

    data: Path
    """The server's data folder, made if there is none."""
    words: Path
    """The file to which the server's own words are added."""
    seed: str
    tables: int
    commands: int
    """About how many commands a server's life lasts at most."""
    kills: int | None = None
    """How many kills end the drill."""
    seconds: float | None = None
    """How long it lasts; None: till the kills are done."""


class Course(msgspec.Struct, frozen=True, kw_only=True):
    """What happened in a drill, and what was found."""

    seconds: float
    strikes: dict[str, int]
    """How often each kind of kill, and each loss of an acknowledgement, was dealt out."""
    accepted: int
    refused: int
    pause_max_s: float
    findings: Findings

    @property
    def kills(self) -> int:
        """How many processes were killed."""
        return sum(count for kind, count in self.strikes.items() if kind != LOST_ACK)


class _Done(Exception):
    """The drill has had all its kills."""


class Drill:
    """One drill: ``await Drill(config, say).run()``."""

    def __init__(self, config: DrillConfig, say: Say) -> None:
        self._config = config
        self._say = say
        self._journal = Journal()
        self._server = ServerProcess(config.data, config.words)
        self._strikes: Counter[str] = Counter()
        self._started_s = time.monotonic()
        self._closing = asyncio.Event()

    async def run(self) -> Course:
        """Run the drill and return its course; what went wrong is among its findings."""
        config, journal = self._config, self._journal
        shared = Drilled(
            address=self._server.address,
            keys=Keys.open(config.data / "keys"),
            journal=journal,
            seed=config.seed,
            closing=self._closing,
        )
        bots = [asyncio.create_task(play_games(shared, number)) for number in range(config.tables)]
        try:
            await self._strike()
            await self._close()
        except ServerFault as fault:
            journal.faults.append(str(fault))
        finally:
            for bot in bots:
                bot.cancel()
            outcomes = await asyncio.gather(*bots, return_exceptions=True)
            await self._server.kill()
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                journal.faults.append(f"a bot failed: {outcome!r}")
        seconds = time.monotonic() - self._started_s
        self._say(f"{self._at()} stopped; comparing what clients were told with log and archive")
        return Course(
            seconds=seconds,
            strikes=dict(self._strikes),
            accepted=journal.accepted,
            refused=sum(told.outcome == "refused" for told in journal),
            pause_max_s=journal.pause_max_s,
            findings=await judge(journal, config.data),
        )

    # Striking

    async def _strike(self) -> None:
        """Lead the server from life to life until time or kills are over; it is dead or alive then."""
        with contextlib.suppress(_Done, TimeoutError):
            async with asyncio.timeout(self._config.seconds):
                for life in lives(self._config.seed, self._config.commands):
                    await self._live(life)

    async def _live(self, life: Life) -> None:
        if not await self._server.start(life.failpoints):
            self._died(killed=False)
            return
        killed = False
        death = asyncio.create_task(self._server.died())
        try:
            for after in life.nats_after:
                if not await self._acknowledged(after, death):
                    break
                if self._server.kill_nats():
                    self._struck(NATS)
            if life.end == SERVER and await self._acknowledged(life.after, death):
                killed = True
                await self._server.kill()
            await self._acknowledged(None, death)
            await death
        finally:
            death.cancel()
        self._died(killed=killed)

    def _died(self, *, killed: bool) -> None:
        """Count the death of the server: at the fail point that its words name, or from outside."""
        acted = self._server.acted()
        self._strikes[LOST_ACK] += acted.count(LOST_ACK)
        fatal = [point for point in acted if point != LOST_ACK]
        if not fatal and not killed:
            raise ServerFault("the server was killed, and not by this drill")
        self._struck(fatal[-1] if fatal else SERVER)

    async def _acknowledged(self, more: int | None, death: asyncio.Task[None]) -> bool:
        """Return whether so many more commands are acknowledged before the server dies; None: till it does.

        Raises:
            ServerFault: for too long none is.
        """
        wanted = self._journal.accepted + more if more is not None else None
        while True:
            before = self._journal.accepted
            target = wanted if wanted is not None else before + 1
            reached = asyncio.create_task(self._journal.reach(target))
            try:
                await asyncio.wait((reached, death), timeout=STALLED_S, return_when=asyncio.FIRST_COMPLETED)
            finally:
                reached.cancel()
            if death.done():
                return False
            if wanted is not None and self._journal.accepted >= wanted:
                return True
            if self._journal.accepted == before:
                raise ServerFault(
                    f"no command was acknowledged for {STALLED_S:.0f} s: see {self._config.words}"
                )

    def _struck(self, kind: str) -> None:
        self._strikes[kind] += 1
        kills = sum(self._strikes.values()) - self._strikes[LOST_ACK]
        self._say(f"{self._at()} kill {kills}: {kind}; {self._journal.accepted} commands acknowledged")
        if self._config.kills is not None and kills >= self._config.kills:
            raise _Done

    def _at(self) -> str:
        return f"{time.monotonic() - self._started_s:6.1f} s"

    async def _close(self) -> None:
        """Let every command have its answer, and stop the server as a host does."""
        self._closing.set()
        await self._server.kill()
        if not await self._server.start():
            raise ServerFault(f"the server does not start: see {self._config.words}")
        try:
            async with asyncio.timeout(_SETTLE_S):
                await self._journal.settled()
        except TimeoutError:
            self._journal.faults.append(
                f"{self._journal.open} commands had no answer {_SETTLE_S:.0f} s after the last start"
            )
        await self._server.stop()
