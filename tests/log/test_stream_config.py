"""Every setting of the log's stream that could lose, change or drop commits is refused by its name."""

from __future__ import annotations

import pytest
from nats.js import api

from mersey.log.stream_config import LogMisconfigured, check, wanted

GOOD = wanted(max_bytes=2**20, replicas=3)


def test_the_stream_that_we_make_is_good() -> None:
    check(GOOD, 3)
    check(GOOD, 1)
    check(GOOD.evolve(max_consumers=-1, max_msg_size=-1, allow_direct=True, compression="s2"), 3)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("subjects", ["mersey.log.0.table.>"]),
        ("subjects", ["mersey.log.0.>", "other"]),
        ("retention", api.RetentionPolicy.INTEREST),
        ("retention", api.RetentionPolicy.WORK_QUEUE),
        ("storage", api.StorageType.MEMORY),
        ("discard", api.DiscardPolicy.OLD),
        ("max_msgs", 1000),
        ("max_age", 60.0),
        ("max_msgs_per_subject", 1),
        ("max_bytes", -1),
        ("max_bytes", 0),
        ("max_consumers", 1),
        ("max_msg_size", 1000),
        ("num_replicas", 1),
        ("deny_delete", False),
        ("deny_purge", False),
        ("no_ack", True),
        ("sealed", True),
        ("mirror", api.StreamSource(name="x")),
        ("sources", [api.StreamSource(name="x")]),
        ("discard_new_per_subject", True),
        ("allow_rollup_hdrs", True),
        ("subject_transform", api.SubjectTransform(src="a", dest="b")),
        ("allow_msg_ttl", True),
        ("allow_msg_counter", True),
        ("allow_msg_schedules", True),
        ("subject_delete_marker_ttl", 60.0),
        ("persist_mode", api.PersistMode.ASYNC),
    ],
)
def test_a_setting_that_could_lose_commits_is_named(setting: str, value: object) -> None:
    with pytest.raises(LogMisconfigured, match=setting):
        check(GOOD.evolve(**{setting: value}), 3)


def test_every_fault_is_named_at_once() -> None:
    with pytest.raises(LogMisconfigured, match=r"max_age.*deny_purge.*no_ack"):
        check(GOOD.evolve(max_age=1.0, deny_purge=False, no_ack=True), 3)
