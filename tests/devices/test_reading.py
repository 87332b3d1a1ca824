"""Files of others: endless ones, and ones that nest without end, are refused by name."""

import os
import subprocess
import sys
import time

import pytest

from raidlab.devices.faults import SpecError
from raidlab.devices.reading import DEEPEST_LEVEL, check_depth, read_bytes, read_json
from raidlab.devices.schema import read_toml
from raidlab.scenarios.planning.scenario import build_scenario


def faults(of):
    with pytest.raises(SpecError) as caught:
        of()
    return str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        ".".join(["a"] * 3000) + " = 1",
        ".".join(["a"] * 1_000_000) + " = 1",
        "[" + " . ".join(["a"] * 3000) + "]\nb = 1",
        "x = { " + ".".join(["a"] * 3000) + " = 1 }",
        "a = " + "[" * 3000 + "]" * 3000,
        "a = " + "[" * 300 + "]" * 300,
        ".".join(['"a"'] * 100) + " = 1",
    ],
)
def test_toml_that_nests_too_deeply_is_refused(tmp_path, text):
    """Dotted keys of 3,000 parts were a traceback."""
    path = tmp_path / "deep.toml"
    path.write_text(text)
    begun = time.process_time()
    said = faults(lambda: read_toml(path))
    assert said.startswith(f"{path}: ") and said.endswith("nested deeper than 64 levels")
    assert time.process_time() - begun < 5


def test_numbers_with_dots_are_no_deep_keys(tmp_path):
    (tmp_path / "a.toml").write_text("a = [" + ", ".join(["1.5"] * 5000) + "]")
    assert len(read_toml(tmp_path / "a.toml")["a"]) == 5000


def test_json_that_nests_too_deeply_is_refused(tmp_path):
    for depth in (DEEPEST_LEVEL + 2, 100_000):
        (tmp_path / "m.json").write_text("[" * depth + "]" * depth)
        said = faults(lambda: read_json(tmp_path / "m.json", 1 << 20, "measurement"))
        assert said.endswith("nested deeper than 64 levels")


def test_a_tree_that_contains_itself_is_refused():
    tree = {"array": []}
    tree["array"].append(tree)
    assert "nested deeper" in faults(lambda: build_scenario(tree))
    check_depth({"a": [[{"b": 1}]]})


def test_an_endless_device_is_read_to_the_limit():
    said = faults(lambda: read_bytes(__import__("pathlib").Path("/dev/zero"), 1 << 40, "trace"))
    assert said == "/dev/zero: larger than 64 MiB: no trace from a pipe or a device"


def test_what_no_file_is_to_blame_for_is_said_as_such(tmp_path):
    """Too few descriptors were reported as a file that cannot be made."""
    code = """
import resource, sys
from pathlib import Path
from raidlab.devices.faults import SpecError
from raidlab.devices.files import write_file
from raidlab.devices.schema import read_toml
import os
resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))
held = []
while len(held) < 8:
    try:
        held.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        break
for action in (lambda: read_toml(Path(sys.argv[1])), lambda: write_file(Path("x.txt"), "x")):
    try:
        action()
    except SpecError as error:
        print(error)
"""
    (tmp_path / "a.toml").write_text("a = 1")
    line = [sys.executable, "-c", code, str(tmp_path / "a.toml")]
    said = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, env=os.environ)
    assert said.stdout.count("too many files are open at once: raise the limit (ulimit -n)") == 2
