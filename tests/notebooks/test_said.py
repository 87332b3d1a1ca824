"""Sentences that say what a picture shows, for pictures small enough to be read by eye."""

from __future__ import annotations

import pytest

from raidlab.notebooks.frame import Axis, bars, pages
from raidlab.notebooks.frame.said import said

BARS = {"type": "bar", "orientation": "h"}


@pytest.mark.parametrize(
    ("trace", "sentence"),
    [
        (
            {"mode": "lines", "name": "IO/s", "x": [1, 2, 4], "y": [100, 400, 200]},
            "IO/s: rises from 100 at 1.00 to 200 at 4.00, with its highest value 400 at 2.00.",
        ),
        (
            {"mode": "markers", "name": "reads", "x": [0.5, 2.5, 1], "y": [7, 3, 5]},
            "reads: 3 dots, across from 0.500 to 2.50, up from 3.00 to 7.00.",
        ),
        (
            {"mode": "markers", "name": "free", "x": [0, 1], "y": [0, 9],
             "marker": {"symbol": "square"}},
            "free: 2 dots.",
        ),
        (
            {"mode": "markers+text", "name": "read", "x": [2, 6], "y": [1, 1],
             "text": ["data", "P"]},
            "read: data at 2, P at 6.",
        ),
        (
            {"mode": "markers", "name": "measured", "x": [120, None], "y": ["read", "write"]},
            "measured: read 120.",
        ),
        ({**BARS, "name": "lost", "x": [3], "y": ["RAID 5"]}, "lost: RAID 5 3.00."),
        (
            {**BARS, "name": "seek", "x": [2.0, 1.0], "y": ["drive 0", "drive 1"],
             "base": [1.0, 4.0]},
            "seek: drive 0 from 1.00 to 3.00, drive 1 from 4.00 to 5.00.",
        ),
        ({"mode": "markers", "x": [8], "y": [868]}, ""),
    ],
)  # fmt: skip
def test_a_trace_is_said(trace, sentence):
    assert said({"data": [trace]}) == sentence


def test_a_number_is_rounded_once() -> None:
    drawn = bars({"disk": 209.4545, "log": 14595.3}, Axis("MB/s"))
    made = pages._described(drawn.to_json())
    # Of 209.5, which is drawn, the words would be 210.
    assert "disk 209, log 14,595" in made["said"]
    assert list(made["data"][0]["x"]) == [209.5, 14595.0]
