"""The bot in the README plays a whole game, just as it stands there."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

from mersey.client.channel import MerseyClient
from mersey.server.node import Node

README = Path(__file__).parents[2] / "README.md"


async def test_the_bot_in_the_readme_plays_a_whole_game(node: Node, tmp_path: Path) -> None:
    found = re.search(r"<!-- bot -->\n```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert found is not None
    program = tmp_path / "bot.py"
    program.write_text(found[1])
    assert len(found[1].splitlines()) <= 25
    async with MerseyClient(node.address, node.host_token) as host:
        table = (await host.create_table("bga-short", seats=3)).table
        await host.add_bots(table, ["greedy", "greedy"])
        token = node.issue_token("Reader", "player")
        bot = await asyncio.create_subprocess_exec(
            sys.executable, program, node.address, token, table, stderr=asyncio.subprocess.PIPE
        )
        taken = (
            update async for update in host.watch(table) if update.event.__struct_config__.tag == "seat_taken"
        )
        for _ in range(3):
            await anext(taken)
        await host.start_game(table)
        _, errors = await bot.communicate()
        assert bot.returncode == 0, errors.decode()
        assert (await host.get_table(table)).state == "ended"
        assert (await host.verify_game(table)).ok
