"""The one ``mersey`` command: its rules group, its exit codes, and the rooms that join it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mersey.rules.ruleset_file import ruleset_text, shipped

ROOTS = [str(Path(__file__).parents[2] / room) for room in ("protos", "server", "replay", "clients")]


def environment(*first: Path) -> dict[str, str]:
    path = os.pathsep.join([*map(str, first), *ROOTS])
    ours = {"PYTHONPATH": path, "PYTHONUNBUFFERED": "", "TERM": "dumb", "COLUMNS": "200"}
    return os.environ | ours


def mersey(*arguments: str, path: tuple[Path, ...] = ()) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mersey.client.cli", *arguments],
        capture_output=True,
        text=True,
        env=environment(*path),
        timeout=60,
    )


@pytest.fixture
def room(tmp_path: Path) -> Path:
    """A folder with an installed room, whose commands fail in every way."""
    package = tmp_path / "room-1.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: room\nVersion: 1\n")
    (package / "entry_points.txt").write_text(
        "[mersey.commands]\nroom = room_commands:register\nbroken = no_such_room:register\n"
    )
    (tmp_path / "room_commands.py").write_text(
        "import os, signal, sys\n"
        "from mersey.rules.refusals import MerseyError, RuleSetError\n"
        "def register(app):\n"
        "    @app.command()\n"
        "    def fail():\n"
        "        raise RuleSetError('a file', ['one\\nfault', 'another'])\n"
        "    @app.command()\n"
        "    def interrupted():\n"
        "        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        signal.pause()\n"
        "    @app.command()\n"
        "    def talk():\n"
        "        sys.stdin.readline()\n"
        "        print('a line')\n"
        "    @app.command()\n"
        "    def needy():\n"
        "        import no_such_library\n"
        "    @app.command()\n"
        "    def joined():\n"
        "        print('the real one')\n"
    )
    return tmp_path


def test_list_names_every_rule_set_that_ships() -> None:
    done = mersey("rules", "list")
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(shipped())
    assert "2 to 8 players" in done.stdout


def test_show_prints_the_sheet() -> None:
    done = mersey("rules", "show", "liverpool")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("LIVERPOOL RUMMY")
    assert "Fingerprint of these rules: " in done.stdout


def test_a_house_variant_starts_from_the_file_that_show_prints(tmp_path: Path) -> None:
    shown = mersey("rules", "show", "contract", "--toml")
    assert shown.stdout == ruleset_text("contract")
    house = tmp_path / "house.toml"
    house.write_text(shown.stdout.replace('id = "contract"', 'id = "house"').replace("deal = 10", "deal = 9"))
    done = mersey("rules", "check", str(house))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{house}: ok: Contract Rummy (house), 4 players, 7 rounds\n"
    assert "1   2 sets                    9" in mersey("rules", "show", str(house)).stdout


def test_check_names_each_fault_on_a_line_of_its_own(tmp_path: Path) -> None:
    house = tmp_path / "house.toml"
    text = ruleset_text("contract").replace("chain = true", "chian = true")
    house.write_text(text.replace("deal = 12", "deal = 30", 1))
    done = mersey("rules", "check", str(house))
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines() == [
        f"{house}: buy.chain: is missing",
        f"{house}: buy.chian: is not a known key; meant chain?",
        f"{house}: rounds[4].deal: deals 4 x 30 + 1 cards, the pack holds 107",
    ]


def test_an_unknown_rule_set_is_one_line_and_exit_1() -> None:
    done = mersey("rules", "show", "none")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("mersey: error: none: no such rule set or file (rule sets that ship: bga, ")
    assert done.stderr.count("\n") == 1


def test_an_error_of_a_command_is_one_line_and_exit_1(room: Path) -> None:
    done = mersey("fail", path=(room,))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "mersey: error: a file: one fault; another\n"


def test_an_interrupted_command_exits_130_without_a_word(room: Path) -> None:
    done = mersey("interrupted", path=(room,))
    assert (done.returncode, done.stdout, done.stderr) == (128 + signal.SIGINT, "", "")


def test_a_reader_that_has_gone_is_no_error(room: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "mersey.client.cli", "talk"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(room),
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        process.stdin.write(b"now\n")
        process.stdin.close()
        assert process.stderr.read() == b""
    assert process.returncode in (0, 1)


def test_an_installed_room_joins_with_its_commands_and_a_broken_one_does_not_stop_it(room: Path) -> None:
    assert mersey("joined", path=(room,)).stdout == "the real one\n"


def test_a_command_of_a_room_that_is_not_installed_says_what_to_install() -> None:
    script = (
        "import sys, importlib.metadata as m; m.entry_points = lambda **k: []\n"
        "from mersey.client.cli import main; sys.argv = ['mersey', 'replay', 'last', '--dump']; main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment())
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "mersey: error: 'replay' is not installed here: pip install 'mersey[server]'\n"


def test_without_typer_one_line_says_what_to_install() -> None:
    script = "import sys; sys.modules['typer'] = None\nfrom mersey.client.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment())
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "mersey: error: the command line needs an extra: pip install 'mersey[terminal]'\n"


def test_a_library_that_is_missing_is_one_line_with_what_to_install(room: Path) -> None:
    done = mersey("needy", path=(room,))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "mersey: error: No module named 'no_such_library': pip install 'mersey[server]'\n"


def test_help_is_a_page_and_a_wrong_command_is_exit_2() -> None:
    assert "rules" in mersey("--help").stdout
    assert mersey("rules", "--help").returncode == 0
    assert mersey("nonsense").returncode == 2
