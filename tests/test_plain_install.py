"""What a user without extras has: the wheel beside its libraries alone, and every command, tool and verb of it asked."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PLAIN = ROOT / ".venv-plain" / "bin" / "python"
"""An environment with the libraries of the package and nothing else; the Makefile makes it."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The folder into which the wheel of this checkout was unpacked, as installers do."""
    if not PLAIN.exists():
        pytest.skip("make .venv-plain/.made makes the environment")
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], check=True, capture_output=True, cwd=ROOT)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as packed:
        packed.extractall(folder / "installed")
    return folder / "installed"


def plain(wheel, *words):
    """What the plain interpreter says."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(wheel.parent), "PYTHONPATH": str(wheel)}
    return subprocess.run([PLAIN, *words], capture_output=True, text=True, check=False, env=environment, cwd=wheel.parent)


def test_every_command_tool_and_verb_works_without_extras(wheel, tmp_path):
    """None of them fails, ends in a trace or needs a library that the package did not bring."""
    done = plain(wheel, ROOT / "tests" / "every_door.py", ROOT, tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


def test_a_fault_of_ours_is_one_line(wheel):
    """No raw trace, unless the environment asks for one; the line says where."""
    code = "from rl_advisor import tools; tools.ask = lambda *_, **__: {}[0]; from rl_advisor.cli.commands import main; main(['load', '.'])"
    done = plain(wheel, "-c", code)
    assert (done.returncode, done.stderr.count("\n"), "Traceback" in done.stderr) == (1, 1, False), done.stderr
    assert "KeyError" in done.stderr and "RL_ADVISOR_TRACE=1" in done.stderr
