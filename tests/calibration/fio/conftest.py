"""fio on a simulated system, under a watchdog: a hang is a failure."""

import json

import pytest

from tests import command_server
from tests.calibration.fio.test_virtual import FOUR, SCENARIO, UNPROTECTED

WATCHDOG_S = 120


@pytest.fixture
def fio(tmp_path):
    """Runs `raidlab fio` on a job's text and arguments; fio's JSON."""
    (tmp_path / "four.toml").write_text(FOUR)
    (tmp_path / "s.toml").write_text(SCENARIO)
    (tmp_path / "ssd.toml").write_text(UNPROTECTED)

    def run(job, *arguments, scenario="s.toml"):
        (tmp_path / "job.fio").write_text(job)
        words = ("fio", "--scenario", scenario, "job.fio", *arguments)
        done = command_server.run(*words, cwd=tmp_path, kill_after_s=WATCHDOG_S)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run
