"""The server's clock: UTC at the node's start plus the monotonic clock (design section 6)."""

from __future__ import annotations

import time
from collections.abc import Callable

Clock = Callable[[], int]
"""Returns the time in milliseconds since 1970 in UTC; it never goes back."""


def server_clock() -> Clock:
    """Return a clock that no later change of the machine's time can set back."""
    started_ms = time.time_ns() // 1_000_000
    started_ns = time.monotonic_ns()
    return lambda: started_ms + (time.monotonic_ns() - started_ns) // 1_000_000
