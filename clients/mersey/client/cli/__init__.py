"""The one ``mersey`` command: this room's own commands, and those that other rooms join by entry points.

An entry point of the group ``mersey.commands`` is a function ``register(app: typer.Typer) -> None``.
"""

import os
import sys

EXIT_ERROR = 1
EXIT_INTERRUPTED = 130
"""What shells report for a program that Ctrl-C ended."""


def main() -> None:
    """Run the ``mersey`` command; without its extra installed, say in one line what to install."""
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")  # else gRPC tells of a server that stops
    try:
        from mersey.client.cli.app import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        print(
            "mersey: error: the command line needs an extra: pip install 'mersey[terminal]'", file=sys.stderr
        )
        sys.exit(EXIT_ERROR)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    run()
