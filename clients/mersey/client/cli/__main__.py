"""``python -m mersey.client.cli`` is the ``mersey`` command."""

from mersey.client.cli import main

main()
