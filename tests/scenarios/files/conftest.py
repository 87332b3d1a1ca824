"""The command line, in this process: these commands simulate nothing."""

import pytest
from typer.testing import CliRunner

from raidlab.cli import app


class Done:
    """What a command left."""

    def __init__(self, result):
        self.returncode = result.exit_code
        self.stdout, self.stderr = result.stdout, result.stderr


@pytest.fixture
def raidlab():
    def run(*words, typed=None):
        result = CliRunner().invoke(app, [str(word) for word in words], input=typed)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return Done(result)

    return run
