"""`tools/get-fio` waits while another process has apt's locks, and for nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "get-fio"
APT = """#!/bin/sh
echo "$*" >> calls
[ "$(wc -l < calls)" -gt {busy} ] && exit {code}
echo "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)" >&2
exit 100
"""


def calls(folder: Path, busy: int, code: int) -> tuple[list[str], str]:
    """The calls of an apt-get that finds its locks taken so often, and what the script says."""
    tools = folder / "bin"
    tools.mkdir()
    for name, text in (("apt-get", APT.format(busy=busy, code=code)), ("id", "#!/bin/sh\necho 0")):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    for name in ("sh", "wc", "sleep"):
        (tools / name).symlink_to(shutil.which(name) or name)
    environment = {"PATH": str(tools), "GET_FIO_PAUSE_S": "0"}
    done = subprocess.run(
        ["sh", SCRIPT], cwd=folder, env=os.environ | environment, capture_output=True, text=True
    )
    assert done.returncode == 0
    return (folder / "calls").read_text().splitlines(), done.stderr


@pytest.mark.parametrize("busy", [0, 1, 5])
def test_it_waits_for_the_lock(tmp_path: Path, busy: int) -> None:
    found, said = calls(tmp_path, busy, 0)
    assert len(found) == busy + 1 and said == ""
    assert all("DPkg::Lock::Timeout" in call and "install" in call for call in found)


def test_it_gives_up_where_the_package_cannot_be_had(tmp_path: Path) -> None:
    found, said = calls(tmp_path, 0, 100)
    assert len(found) == 3 and "fio is missing" in said
