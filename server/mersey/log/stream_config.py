"""The JetStream stream that is the log: how it is made, and what is refused when it differs.

The server's own NATS user can neither make nor alter it: `create_stream` runs as another user.
"""

from __future__ import annotations

from typing import Final

import nats.errors
import nats.js.errors
from nats.js import api

from mersey.log.connection import NatsConnection
from mersey.log.ports import LogError, LogUnavailable

STREAM: Final = "mersey_log_0"
SUBJECT_PREFIX: Final = "mersey.log.0."
NAMES_BUCKET: Final = "mersey_names"

STREAM_NOT_FOUND: Final = 10059
_NAME_IN_USE: Final = 10058
NOT_NOW: Final = 500
"""From this code on, an error of JetStream is about the servers, not about what was asked."""


class LogMisconfigured(LogError):
    """The stream is missing, or could lose, change or drop commits."""


def wanted(max_bytes: int, replicas: int) -> api.StreamConfig:
    """Return the configuration of the log's stream."""
    return api.StreamConfig(
        name=STREAM,
        description="The log of Mersey: append only, the only truth",
        subjects=[SUBJECT_PREFIX + ">"],
        retention=api.RetentionPolicy.LIMITS,
        storage=api.StorageType.FILE,
        discard=api.DiscardPolicy.NEW,
        max_bytes=max_bytes,
        max_msgs=-1,
        max_age=0,
        max_msgs_per_subject=-1,
        num_replicas=replicas,
        deny_delete=True,
        deny_purge=True,
        allow_direct=False,
    )


async def create_stream(connection: NatsConnection, *, max_bytes: int, replicas: int = 1) -> None:
    """Make the log's stream unless it is there; one that is there is left as it is.

    Raises:
        LogUnavailable: the server does not answer, or not to this user.
        LogMisconfigured: it refuses to make such a stream.
    """
    try:
        await connection.js.add_stream(wanted(max_bytes, replicas))
    except nats.js.errors.APIError as error:
        if error.err_code == _NAME_IN_USE:
            return
        fault = f"NATS refuses to make the stream {STREAM}: {error.description}"
        raise (LogUnavailable if (error.code or 0) >= NOT_NOW else LogMisconfigured)(fault) from error
    except nats.errors.Error as error:
        raise LogUnavailable(f"NATS does not answer to making the stream {STREAM}") from error


def check(found: api.StreamConfig, replicas: int) -> None:
    """Raise `LogMisconfigured`, each setting at fault named, unless the stream keeps what it acknowledges."""
    asked = wanted(max_bytes=1, replicas=replicas)
    exact = ("subjects", "retention", "storage", "discard", "max_msgs", "max_age", "max_msgs_per_subject")
    must_be_off = (
        "discard_new_per_subject",
        "no_ack",
        "sealed",
        "mirror",
        "sources",
        "allow_rollup_hdrs",
        "subject_transform",
        "allow_msg_ttl",
        "allow_msg_counter",
        "allow_msg_schedules",
        "subject_delete_marker_ttl",
    )
    faults = [
        f"{name} is {getattr(found, name)}, must be {getattr(asked, name)}"
        for name in exact
        if (getattr(found, name) or 0) != (getattr(asked, name) or 0)
    ]
    faults += [
        f"{name} is {getattr(found, name)}, must be unlimited"
        for name in ("max_consumers", "max_msg_size")
        if (getattr(found, name) or 0) > 0
    ]
    faults += [f"{name} must be on" for name in ("deny_delete", "deny_purge") if not getattr(found, name)]
    faults += [f"{name} must be off" for name in must_be_off if getattr(found, name)]
    if (found.max_bytes or 0) <= 0:
        faults.append("max_bytes must be set, below the size of the disk")
    if (found.num_replicas or 1) < replicas:
        faults.append(f"num_replicas is {found.num_replicas}, must be {replicas} at least")
    if found.persist_mode == api.PersistMode.ASYNC:
        faults.append("persist_mode must not be async")
    if faults:
        raise LogMisconfigured(f"stream {STREAM} can't be the log: " + "; ".join(faults))
