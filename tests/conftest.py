"""What holds for every test: in CI nothing is skipped in silence."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure where the environment forbids skips, as CI does."""
    report = yield
    if report.skipped and os.environ.get("MERSEY_FORBID_SKIPS"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, and MERSEY_FORBID_SKIPS is set: {report.longrepr}"
    return report
