"""Display names: bounded, normalised, changed and erased, with the rights of the server's own user."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nats.js.kv import KeyValue

from mersey.game.display_name import NameRefused, normalised
from mersey.log.connection import NatsConnection
from mersey.log.directory import Directory, create_bucket
from mersey.log.stream_config import NAMES_BUCKET, LogMisconfigured


@pytest.fixture
async def directory(admin: NatsConnection, connection: NatsConnection) -> Directory:
    await create_bucket(admin)
    await create_bucket(admin)
    return await Directory.open(connection)


async def test_a_name_is_kept_changed_and_erased(directory: Directory) -> None:
    assert await directory.get("p1") is None
    assert await directory.put("p1", "  Zo\u0065\u0301   Doe ") == "Zo\u00e9 Doe"
    assert await directory.get("p1") == "Zo\u00e9 Doe"
    await directory.put("p1", "Zed")
    await directory.put("p2", "Ann")
    assert await directory.all() == {"p1": "Zed", "p2": "Ann"}

    await directory.erase("p1")

    assert await directory.get("p1") is None
    assert await directory.all() == {"p2": "Ann"}


class Hasty:
    """A bucket whose watchers say "that was all" before anything, as nats-py does now and then."""

    def __init__(self, bucket: KeyValue) -> None:
        self.status = bucket.status
        self._bucket = bucket

    async def watchall(self, **options: bool) -> KeyValue.KeyWatcher:
        watcher = await self._bucket.watchall(**options)
        updates, said = watcher.updates, []

        async def hasty() -> KeyValue.Entry | None:
            if not said:
                said.append(None)
                return None
            return await updates()

        watcher.updates = hasty
        return watcher


async def test_all_names_are_read_even_where_the_library_says_too_early_that_it_has_them(
    directory: Directory, admin: NatsConnection
) -> None:
    names = {f"p{n}": f"Name {n}" for n in range(20)}
    for player, name in {**names, "gone": "Gone"}.items():
        await directory.put(player, name)
    await directory.erase("gone")
    assert await Directory(Hasty(await admin.js.key_value(NAMES_BUCKET))).all() == names


async def test_nothing_of_an_old_or_erased_name_is_left(directory: Directory, admin: NatsConnection) -> None:
    for name in ("First", "Second"):
        await directory.put("p1", name)
    await directory.erase("p1")

    info = await admin.js.stream_info("KV_mersey_names")
    assert info.state.messages == 1
    assert (await admin.js.get_last_msg("KV_mersey_names", "$KV.mersey_names.p1")).data is None


async def test_an_empty_directory_has_no_names(directory: Directory) -> None:
    assert await directory.all() == {}


async def test_a_directory_larger_than_one_delivery_is_read_whole(directory: Directory) -> None:
    expected = {f"p{number}": f"Player {number}" for number in range(600)}
    for player, name in expected.items():
        await directory.put(player, name)

    assert await directory.all() == expected


@pytest.mark.parametrize("player", ["", "a.b", "a b", "p*", ">", "x" * 65, "p\n"])
async def test_a_player_id_that_is_no_key_is_refused(directory: Directory, player: str) -> None:
    with pytest.raises(NameRefused, match="player"):
        await directory.put(player, "Ann")


async def test_a_missing_bucket_is_named(connection: NatsConnection) -> None:
    with pytest.raises(LogMisconfigured, match="mersey_names"):
        await Directory.open(connection)


@pytest.mark.parametrize(
    "name", ["", "   ", "x" * 41, "a\nb", "a\tb", "a\x00", "a\u202eb", "a\u2028b", "\ud800"]
)
def test_a_name_that_can_not_be_shown_is_refused(name: str) -> None:
    with pytest.raises(NameRefused, match=r"^a name "):
        normalised(name)


@given(st.text(max_size=60))
def test_any_text_is_a_name_or_refused_and_a_kept_name_stays_as_it_is(text: str) -> None:
    try:
        kept = normalised(text)
    except NameRefused:
        return
    assert 1 <= len(kept) <= 40
    assert normalised(kept) == kept
