"""Readers of one range, unequal mirrors, two dies on a channel, by benchmarks/ssd_states.py."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

_SCRIPT = Path(__file__).parents[2] / "benchmarks" / "ssd_states.py"


@pytest.fixture(scope="module")
def states() -> Any:
    spec = importlib.util.spec_from_file_location("ssd_states", _SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["ssd_states"] = module
    spec.loader.exec_module(module)
    return module


def test_no_reader_of_one_range_is_slower_than_one_alone(states: Any, tmp_path: Path) -> None:
    for line in states.readers(tmp_path):
        assert abs(line.off_pct) < 1, line


def test_reads_of_depth_1_are_those_of_the_mirror_s_faster_drive(
    states: Any, tmp_path: Path
) -> None:
    for line in states.mirrors(tmp_path):
        assert abs(line.off_pct) < 1, line


def test_two_dies_without_cache_reads_share_a_channel(states: Any, tmp_path: Path) -> None:
    """Up to a transfer as long as a sense nothing is lost.

    Beyond, the model has a limit that docs/explanation/ssd.md states: 89 % at 68 us, 94 % at 102.
    """
    lost = [-line.off_pct for line in states.channel(tmp_path)]
    assert lost == pytest.approx([0.8, 0.5, 11, 6], abs=0.5)
