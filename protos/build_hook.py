"""Generate the protobuf and gRPC modules when the package is built or installed for development.

Nothing generated is committed: the protos are the source, and the modules are
made beside them, where the editable install and the wheel both find them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLUGINS = ("protoc-gen-mypy", "protoc-gen-mypy_grpc")


class ProtoBuildHook(BuildHookInterface):
    """Hatch's hook: runs protoc over ``protos/mersey/v1`` before files are collected."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Generate ``*_pb2.py``, ``*_pb2_grpc.py`` and their stubs in place."""
        root = Path(self.root) / "protos"
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        plugins = [f"--plugin={name}={found}" for name in PLUGINS if (found := shutil.which(name, path=path))]
        kinds = ("python_out", "grpc_python_out") + (("mypy_out", "mypy_grpc_out") if plugins else ())
        outputs = [f"--{kind}={root}" for kind in kinds]
        protos = sorted(str(p.relative_to(root)) for p in root.glob("mersey/v1/*.proto"))
        subprocess.run(
            [sys.executable, "-m", "grpc_tools.protoc", f"-I{root}", *plugins, *outputs, *protos],
            check=True,
        )
