"""Commands of the tests: as a new interpreter would run them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import command_server


@pytest.mark.parametrize(
    "words", [("devices",), ("devices", "lsi20008"), ("run", "nowhere.toml", "--json"), ("rum",)]
)
def test_a_copy_prints_what_a_new_interpreter_prints(tmp_path, words):
    line = [Path(sys.executable).parent / "raidlab", *words]
    # Not what libraries have put beside it, such as readline's COLUMNS.
    known = dict(os.environ)
    new = subprocess.run(line, cwd=tmp_path, env=known, capture_output=True, text=True)
    copy = command_server.run(*words, cwd=tmp_path)
    assert copy.returncode == new.returncode
    assert (copy.stdout, copy.stderr) == (new.stdout, new.stderr)


def test_a_copy_has_its_own_folder_and_environment(tmp_path):
    (tmp_path / "here.toml").write_text("kind = 1")
    assert "here.toml" in command_server.run("check", "here.toml", cwd=tmp_path).stderr
    named = {"RAIDLAB_STORE": str(tmp_path)}
    done = command_server.run("store", "list", cwd=tmp_path, env=named)
    assert done.returncode == 2 and str(tmp_path) in done.stderr
    assert command_server.run("store", "list", cwd=tmp_path).returncode == 0
