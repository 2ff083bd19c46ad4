"""``mersey play`` and ``mersey bot`` as a person starts them, against a real server."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

from mersey.client.channel import MerseyClient
from mersey.server.auth import Keys
from mersey.server.node import Node
from server.people import one_round


async def start(*arguments: str, folder: Path, token: str = "") -> asyncio.subprocess.Process:
    """Start the command in an empty folder, with no token but the one given."""
    environment = {**os.environ, "MERSEY_TOKEN": token, "PYTHONUNBUFFERED": "1"}
    environment.pop("MERSEY_SERVER", None)
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "mersey.client.cli",
        *arguments,
        cwd=folder,
        env=environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def ended(process: asyncio.subprocess.Process, typed: bytes = b"") -> tuple[int, str, str]:
    out, err = await asyncio.wait_for(process.communicate(typed), 60)
    return process.returncode or 0, out.decode(), err.decode()


def answer_to(prompt: str, hand: list[str]) -> str:
    """Return what somebody types who plays to be done with it."""
    if prompt.startswith(("take", "stock")):
        return "stock"
    if "pass" in prompt:
        return "pass round"
    if prompt.startswith("ready"):
        return ""
    return f"discard {hand[-1]}"


async def test_a_person_plays_a_game_to_its_end(node: Node, tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text(one_round())
    token = node.issue_token("Ann", "host")
    questions = 0
    process = await start(
        "play", "--server", node.address, "--rules", "short.toml", "--bots", "3", folder=tmp_path, token=token
    )
    assert process.stdin is not None
    assert process.stdout is not None
    hand: list[str] = []
    said: list[str] = []
    process.stdin.write(b"?\nsing\ndiscard 7Z\n")
    async with asyncio.timeout(60):
        while line := (await process.stdout.readline()).decode():
            line = line.rstrip()
            said.append(line)
            if line.startswith("hand  "):
                hand = line.split()[1:]
            if re.match(r"take |stock|buy |pass|ready|open |discard CARD|lay ", line):
                questions += 1
                assert said[-2].startswith(("hand  ", "      ")), "nobody is asked without their hand"
                process.stdin.write(f"{answer_to(line, hand)}\n".encode())
    text = "\n".join(said)
    assert questions > 2
    assert await process.wait() == 0, await process.stderr.read() if process.stderr else ""
    assert "Table " in said[0]
    assert "not an action: 'sing'" in text
    assert "not a card: '7Z'" in text
    assert "  the game is over" in said
    assert "place 1" in text
    assert max(map(len, said)) <= 80


async def test_two_people_sit_at_one_table_and_the_first_starts_it(node: Node, tmp_path: Path) -> None:
    ann, bob = (node.issue_token(name, "player") for name in ("Ann", "Bob"))
    server = ("--server", node.address)
    host = await start(
        "play", *server, "--rules", "bga", "--bots", "1", "--seats", "3", folder=tmp_path, token=ann
    )
    assert host.stdout is not None
    first = (await host.stdout.readline()).decode()
    assert first.endswith(", 3 seats, 1 bot\n")
    table = first.split()[1].rstrip(":")
    guest = await start(
        "play", *server, "--table", f"tables/{table}", "--name", "Bobby", folder=tmp_path, token=bob
    )
    async with MerseyClient(node.address, ann) as client:
        async for _ in client.follow(table):
            if (await client.get_table(table)).state == "running":
                break
        names = [seat.display_name for seat in (await client.get_table(table)).seats]
    code, out, err = await ended(guest, b"\nquit\n")

    assert names == ["", "Ann", "Bobby"]
    assert (code, err) == (0, "")
    assert f"Your seat is kept: mersey play --table {table}" in out
    assert "Ann (1)" in out
    assert (await ended(host, b"quit\n"))[0] == 0


async def test_a_bot_plays_to_the_end_and_says_how_it_did(node: Node, tmp_path: Path) -> None:
    async with MerseyClient(node.address, node.issue_token("Host", "host")) as host:
        table = (await host.create_table(rules_toml=one_round())).table
        await host.add_bots(table, ["greedy"] * 3)
        (tmp_path / "bot.token").write_text(node.issue_token("Bot", "player") + "\n")
        bot = await start(
            *(
                "bot",
                "--server",
                node.address,
                "--table",
                f"tables/{table}",
                "--token",
                "bot.token",
                "--strategy",
                "chance",
            ),
            folder=tmp_path,
        )
        async for _ in host.follow(table):
            if (await host.get_table(table)).free == 0:
                break
        await host.start_game(table)
        code, out, err = await ended(bot)

    assert (code, err) == (0, "")
    assert re.fullmatch(r"seat 3: place \d with \d+ penalty points, \d+ actions\n", out)


async def test_what_is_wrong_is_said_in_one_line(node: Node, tmp_path: Path, unused_tcp_port: int) -> None:
    token = node.issue_token("Ann", "player")
    strange = Keys.open(tmp_path / "keys").issue("Ann", "player")
    nobody = ("--server", f"127.0.0.1:{unused_tcp_port}", "--token", "t")
    here = ("--server", node.address)
    cases = [
        (("play", *nobody), "", "start one with 'mersey serve'"),
        (("play", *here), "", "no token: say --token FILE, or start 'mersey serve' here"),
        (("play", *here, "--bots", "4", "--seats", "4"), token, "--bots 4: leaves you no seat of 4"),
        (("play", *here, "--strategy", "wise"), token, "no strategy 'wise': one of greedy, chance"),
        (("bot", *here, "--table", "nosuchtable"), token, "There is no such table."),
        (("bot", *here, "--table", "tables/nosuchtable"), token, "There is no such table."),
        (("bot", *here, "--table", "tables/"), token, "--table: not a table's name"),
        (("play", *here, "--table", "a/b"), token, "--table: not a table's name"),
        (
            ("bot", *here, "--table", "t", "--token", "no.file"),
            "",
            "--token (MERSEY_TOKEN): the token is not one",
        ),
        (
            ("bot", *here, "--table", "t", "--token", "no.file"),
            "",
            "there is no file of that name: give a token",
        ),
        (("play", *here), strange, "this server's: give a token of this server, or a file that holds one"),
        (("play", *here, "--name", "x" * 41), token, "--name: a name is 1 to 40 characters long, not 41"),
        (("play", *here, "--name", "\u202eAnn"), token, "--name: a name can't hold U+202E"),
    ]
    processes = [await start(*arguments, folder=tmp_path, token=given) for arguments, given, _ in cases]
    for process, (arguments, _, message) in zip(processes, cases, strict=True):
        code, out, err = await ended(process)
        assert (code, out) == (1, ""), arguments
        assert err.startswith("mersey: error: "), err
        assert message in err
        assert err.count("\n") == 1
        assert "authorization" not in err
    async with MerseyClient(node.address, token) as client:
        me = (await client.create_table()).host
        assert [info.table async for info in client.list_tables() if info.host == me][1:] == []


async def test_the_token_that_a_server_left_here_is_named_where_another_does_not_take_it(
    node: Node, tmp_path: Path
) -> None:
    (tmp_path / "mersey-data").mkdir()
    other = Keys.open(tmp_path / "keys").issue("Host", "host")
    (tmp_path / "mersey-data" / "host.token").write_text(other)

    code, out, err = await ended(await start("play", "--server", node.address, folder=tmp_path))

    assert (code, out) == (1, "")
    assert err == (
        "mersey: error: the token in mersey-data/host.token: the token is not one of this server's: "
        "name yours with --token FILE|TEXT, or in MERSEY_TOKEN\n"
    )
