"""What a host does when a half is lost: fill the log from the archive, or make the archive from the log.

Each of these takes the data folder's lock, so that no server runs on it, and can be run again after whatever
stopped it. None changes bytes: ends are copied verbatim, a damaged half is made anew as a whole and the old
one is kept beside, and of two histories none is chosen (design, section 2).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final, Protocol

import msgspec

from mersey.log.archive import Archive
from mersey.log.archive_copies import ArchiveCopies
from mersey.log.archive_schema import ArchiveError
from mersey.log.backup import check_copies
from mersey.log.connection import NatsConnection
from mersey.log.data_folder import DataFolder, sync_folder
from mersey.log.directory import Directory
from mersey.log.embedded import EmbeddedNats
from mersey.log.jetstream import JetStreamLog
from mersey.log.opening import log_bytes_for, open_embedded
from mersey.log.rebuild import free_name, rebuild, swap_in
from mersey.log.reconcile import Comparison, Progress, compare
from mersey.log.refill import catch_up, refill
from mersey.rules.refusals import MerseyError
from mersey.server.config import Config, nats_urls
from mersey.server.mending_report import counted, listed, report
from mersey.server.projection import project

PATIENCE_S: Final = 60.0
"""How long an answer of the log is waited for: a disk that syncs many entries may be slow."""


class MendingRefused(MerseyError):
    """Nothing was changed; the message says why, and what would help."""


class Screen(Protocol):
    """Where it is told what goes on."""

    def say(self, line: str) -> None:
        """Show a line."""

    def task(self, title: str) -> Progress:
        """Show the progress of what begins now."""


class _Open(msgspec.Struct, frozen=True):
    """The stores of a data folder that no server uses."""

    folder: DataFolder
    log: JetStreamLog
    directory: Directory
    screen: Screen

    async def compared(self, source: Path) -> Comparison:
        with ArchiveCopies(source) as copies:
            return await compare(self.log, copies, self.screen.task("comparing"))


@asynccontextmanager
async def _opened(folder: DataFolder, config: Config, screen: Screen) -> AsyncIterator[_Open]:
    async with AsyncExitStack() as stack:
        if config.nats is None:
            server = EmbeddedNats(folder.nats)
            await server.start()
            stack.push_async_callback(server.stop)
            connection = await open_embedded(server, max_bytes=log_bytes_for(folder.path))
        else:
            connection = await NatsConnection.open(
                *nats_urls(config.nats, "nats"), user=config.nats_user, password=config.nats_password
            )
        stack.push_async_callback(connection.close)
        log = await JetStreamLog.open(connection, request_s=PATIENCE_S)
        directory = await Directory.open(connection)
        yield _Open(folder, log, directory, screen)


async def reconcile(config: Config, screen: Screen, *, repair: bool) -> bool:
    """Say how log and archive differ; with ``repair`` copy missing ends to the short side first.

    Returns whether both hold the same in the end.

    Raises:
        MerseyError: a store can't be opened, read or written.
    """
    with DataFolder.open(config.data) as folder:
        _check_archive(folder)
        async with _opened(folder, config, screen) as stores:
            found = await stores.compared(folder.archive)
            if repair and not found.equal:
                for line in report(found):
                    screen.say(line)
                _check_same_games(found)
                await _even_out(stores, found, folder.archive)
                screen.say("after the repair:")
                found = await stores.compared(folder.archive)
            for line in report(found):
                screen.say(line)
            return found.equal


async def restore_log(config: Config, screen: Screen, *, source: Path | None = None) -> None:
    """Fill a log that is new or has lost its end from the archive, or from the backup ``source``.

    Raises:
        MendingRefused: the halves differ, or the log holds other games.
        MerseyError: a store can't be opened, read or written; what was copied so far stays.
    """
    with DataFolder.open(config.data) as folder:
        if source is None:
            _check_archive(folder)
        else:
            check_copies(source, source, screen.task("checking the backup"))
        async with _opened(folder, config, screen) as stores:
            if source is not None:
                await _check_no_better(stores)
            await _restore(stores, source or folder.archive)


async def _restore(stores: _Open, source: Path) -> None:
    found = await stores.compared(source)
    if found.differences or found.lost:
        for line in report(found):
            stores.screen.say(line)
        raise MendingRefused("log and archive differ, nothing was changed: see above what would help")
    if source == stores.folder.archive:
        _check_same_games(found)
    await _even_out(stores, found, source)
    found = await stores.compared(stores.folder.archive)
    for line in report(found):
        stores.screen.say(line)


async def _even_out(stores: _Open, found: Comparison, source: Path) -> None:
    """Copy missing ends to the short side, then give the archive the log's positions if they are others."""
    screen, archive = stores.screen, stores.folder.archive
    with ArchiveCopies(source) as copies:
        if not found.same_log:
            await _put_names(stores.directory, copies.names())
        count = await refill(stores.log, copies, found, screen.task("filling the log"))
    if count:
        screen.say(f"the log was given what it lacked: {counted(count, 'entry')}")
        found = await stores.compared(source)
    if source == archive and found.same_log and not found.moved:
        if found.short_on("archive"):
            count = await _catch_up(stores)
            screen.say(f"the archive was given what it lacked: {counted(count, 'entry')}")
        return
    if found.differences or found.lost:
        screen.say("the archive keeps its old positions, as long as a stream differs")
        return
    with ArchiveCopies(source) as copies:
        known = copies.faults()
    await _make_archive(stores, known)


async def _catch_up(stores: _Open) -> int:
    """Bring the archive to the log's end, names too, or to the first entry that the log can't give out."""
    archive = Archive.open(stores.folder.archive, stores.log.incarnation, project)
    try:
        await archive.put_names(await stores.directory.all())
        return await catch_up(stores.log, archive, stores.screen.task("filling the archive"))
    finally:
        await archive.close()


async def _put_names(directory: Directory, names: dict[str, str]) -> None:
    """Put back the names that a new directory lacks."""
    held = await directory.all()
    for player, name in names.items():
        if player not in held:
            await directory.put(player, name)


async def restore_archive(config: Config, screen: Screen) -> None:
    """Make a new archive from the log, if that is whole; the old one is kept beside it.

    Raises:
        MendingRefused: the log is not whole, or the archive holds more than it.
        MerseyError: a store can't be opened, read or written; the old archive is as it was.
    """
    with DataFolder.open(config.data) as folder:
        async with _opened(folder, config, screen) as stores:
            await stores.log.check_whole()
            known = await _known_faults(stores)
            await _make_archive(stores, known)


async def _known_faults(stores: _Open) -> dict[str, str] | None:
    """Return what the old archive has set aside, which must not hold more; None where it can't be read."""
    try:
        with ArchiveCopies(stores.folder.archive) as old:
            position, copied, faults = old.position(), old.incarnation(), old.faults()
    except ArchiveError:
        return None
    if position and copied != stores.log.incarnation:
        raise MendingRefused(
            f"{old.path}: a copy of another log than this one: mersey restore fills this log from it, "
            "mersey restore --from FILE does so from a backup"
        )
    last = await stores.log.last_position()
    if last < position:
        raise MendingRefused(
            f"the log ends at position {last}, the archive at {position}: mersey restore fills it first"
        )
    return faults


async def _make_archive(stores: _Open, known: dict[str, str] | None) -> None:
    """Make the archive anew; a stream that is whole in the one before must be so in the log.

    Where the one before can't be read (``known`` is None), the log's copy is the best there is.
    """
    archive, names = stores.folder.archive, await stores.directory.all()
    made = await rebuild(stores.log, archive, project, names, stores.screen.task("making the archive"))
    broken = [
        f"{stream} at {fault}"
        for stream, fault in made.faults.items()
        if known is None or _without_position(known.get(stream, "")) != _without_position(fault)
    ]
    if broken and known is not None:
        made.path.unlink()
        raise MendingRefused(
            f"the log is not whole, the archive is left as it is: {listed(broken)}: "
            "mersey reconcile says which half is at fault"
        )
    kept = swap_in(made, archive)
    for stream in broken:
        stores.screen.say(f"can't be read on and is set aside from there on: {stream}")
    stores.screen.say(f"{archive}: made from the log, {counted(made.entries, 'entry')}")
    if kept is not None:
        stores.screen.say(f"{kept}: the archive before, kept; delete it once all is well")


def _without_position(fault: str) -> str:
    """Return what is wrong, without where in the log: an entry may stand elsewhere in a log made anew."""
    return fault.partition(": ")[2]


async def renew_log(config: Config, screen: Screen) -> None:
    """Make a new log from the archive in place of one whose store is damaged; the old store is kept beside.

    Raises:
        MendingRefused: the NATS server is not the embedded one, the log is sound, or the archive does not
            hold all that can be read in it.
        MerseyError: a store can't be opened, read or written.
    """
    if config.nats is not None:
        raise MendingRefused(
            "the log is on a NATS server of your own: stop all nodes, let its admin delete the stream and "
            "make it anew, then run mersey restore"
        )
    with DataFolder.open(config.data) as folder:
        _check_archive(folder)
        async with _opened(folder, config, screen) as stores:
            await _check_replaceable(stores)
        store = folder.nats / "store"
        kept = free_name(store)
        store.rename(kept)
        sync_folder(folder.nats)
        screen.say(f"{kept}: the log's store before, kept; delete it once all is well")
        async with _opened(folder, config, screen) as stores:
            await _restore(stores, folder.archive)


async def _check_replaceable(stores: _Open) -> None:
    """Raise unless the log is damaged and the archive, brought up to date, holds all that is good in it."""
    found = await stores.compared(stores.folder.archive)
    if found.same_log and found.short_on("archive"):
        await _catch_up(stores)
        found = await stores.compared(stores.folder.archive)
    if not found.lost and not found.differences:
        raise MendingRefused("the log's store is sound: mersey restore fills it where it is short")
    unsound = [str(found) for found in found.differences if found.sound != "archive"]
    missing = [str(short) for short in found.short_on("archive")]
    lost = [f"position {lost.last} of the log" for lost in found.lost if lost.last > found.position]
    if unsound or missing or lost:
        raise MendingRefused(
            "the archive can't stand for all of the log, nothing was changed: "
            + listed(unsound + missing + lost)
        )


def _check_archive(folder: DataFolder) -> None:
    if not folder.archive.is_file():
        raise MendingRefused(
            f"{folder.archive}: there is none: mersey restore --archive makes it from the log, "
            "mersey restore --from FILE from a backup"
        )


def _check_same_games(found: Comparison) -> None:
    """Raise if the log is another one than the archive is a copy of, and holds games of its own."""
    strange = [short.stream for short in found.short_on("archive") if not short.has]
    if strange and not found.same_log:
        raise MendingRefused(
            f"this log holds games that the archive does not know ({listed(strange)}): is it the log of "
            "another server? If both belong together, move the archive away and name it with --from"
        )


async def _check_no_better(stores: _Open) -> None:
    """Raise if the data folder has an archive that holds what the log does not: a backup may hold less."""
    try:
        with ArchiveCopies(stores.folder.archive) as old:
            position, copied = old.position(), old.incarnation()
    except ArchiveError:
        return
    if position and (copied != stores.log.incarnation or position > await stores.log.last_position()):
        raise MendingRefused(
            f"{stores.folder.archive}: holds games that this log has lost, up to position {position}: "
            "run mersey restore without --from, or move that file away first"
        )
