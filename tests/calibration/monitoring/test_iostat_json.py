"""iostat's JSON is read in two ways, fast and from any tree: both give the same samples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from raidlab.calibration.monitoring.readers import iostat_json
from raidlab.calibration.monitoring.readers.iostat_json_fast import OtherFormError
from raidlab.calibration.monitoring.source import Source
from tests.calibration.monitoring.printed_iostat import D12, X12
from tests.calibration.monitoring.printed_iostat import iostat_json as printed


@pytest.mark.parametrize("columns", [X12, D12], ids=["x", "d"])
@pytest.mark.parametrize("end", [None, -1, -40, -700, 2500], ids=str)
def test_both_ways_give_the_same(columns: list[str], end: int | None, tmp_path: Path) -> None:
    path = tmp_path / "iostat.json"
    path.write_text(printed(columns)[:end])
    fast, slow = iostat_json._fast([Source(path)]), iostat_json._any([Source(path)])
    assert (fast.host, fast.version, fast.runs) == (slow.host, slow.version, slow.runs)
    assert (fast.repaired, fast.notes) == (slow.repaired, slow.notes)
    assert list(fast.series) == list(slow.series)
    for name, each in fast.series.items():
        other = slow.series[name]
        assert np.array_equal(each.at, other.at, equal_nan=True)
        assert np.array_equal(each.length, other.length, equal_nan=True)
        assert list(each.columns) == list(other.columns)
        assert each.step == other.step
        for quantity, column in each.columns.items():
            assert np.array_equal(column, other.columns[quantity], equal_nan=True), quantity


@pytest.mark.parametrize(
    ("before", "after"),
    [('"tps": 160', '"tps": 160,'), ('"tps": 160', '"tps": nan, "x": 160'), ("{", "")],
)
def test_another_form_is_left_to_the_other_reader(before: str, after: str, tmp_path: Path) -> None:
    text = printed(D12)
    assert before in text
    path = tmp_path / "iostat.json"
    path.write_text(text + text if not after else text.replace(before, after, 1))
    with pytest.raises(OtherFormError):
        iostat_json._fast([Source(path)])
