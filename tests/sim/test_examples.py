"""The examples of the documentation run and show what they say."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_backup_slows_a_database_on_the_same_disks_down() -> None:
    example = runpy.run_path(str(ROOT / "docs/examples/database_and_backup.py"))
    before, during = example["run"](ROOT / "docs/examples/database_on_raid10.toml")
    # A page read is a seek and half a revolution of a 15,000 rpm disk or less; the backup's reads
    # of 1 MiB take the arms away for milliseconds, now and then.
    assert 0.5 < before < 6
    assert during > 1.03 * before


def test_the_documentation_names_the_example_that_is_there() -> None:
    text = (ROOT / "docs/tutorials/simpy.md").read_text()
    assert "docs/examples/database_and_backup.py" in text
    assert "docs/examples/database_on_raid10.toml" in text
