"""What the server's own NATS user may do: append to the log, read it, keep names, and nothing else.

The embedded NATS server is configured from here, and ``deploy/nats.conf`` says the same for a server of one's
own (a test holds the two together). Whatever is not listed is refused by NATS: to delete, purge, alter or
make a stream, to delete a message, to take snapshots, to copy from another stream.
"""

from __future__ import annotations

from typing import Final

from mersey.log.stream_config import NAMES_BUCKET, STREAM, SUBJECT_PREFIX

_NAMES_STREAM: Final = f"KV_{NAMES_BUCKET}"
_STREAMS: Final = (STREAM, _NAMES_STREAM)
_CONSUMER_VERBS: Final = ("CREATE", "INFO", "DELETE")

APP_PUBLISH: Final = (
    SUBJECT_PREFIX + ">",
    f"$KV.{NAMES_BUCKET}.>",
    *(f"$JS.API.STREAM.INFO.{stream}" for stream in _STREAMS),
    *(f"$JS.API.STREAM.MSG.GET.{stream}" for stream in _STREAMS),
    *(
        f"$JS.API.CONSUMER.{verb}.{stream}{rest}"
        for stream in _STREAMS
        for verb in _CONSUMER_VERBS
        for rest in ("", ".>")
    ),
    *(f"$JS.FC.{stream}.>" for stream in _STREAMS),
)
"""The subjects to which the server's user may publish: requests to JetStream are publishes as well."""

APP_SUBSCRIBE: Final = ("_INBOX.>", SUBJECT_PREFIX + ">")
"""The subjects that it may hear: answers, and the log as it grows."""
