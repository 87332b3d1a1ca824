"""A synthetic trace beside its original: statistics, and what systems make of both."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from typer.testing import CliRunner

from raidlab.calibration.traces.replay import Target, replay
from raidlab.calibration.traces.synthesis import Statistic, synthesize
from raidlab.cli import app
from raidlab.devices.catalogue import find_for
from raidlab.devices.faults import SpecError
from raidlab.devices.schema import DriveSpec
from raidlab.scenarios.planning.trace_files import TraceFile


def original(folder: Path) -> TraceFile:
    """12,000 requests in bursts, skewed, some in streams of 20."""
    draw, now, lines = random.Random(1), 0.0, []
    stream, left = 0, 0
    for at in range(12_000):
        now += draw.expovariate(80.0 if at % 2000 < 1500 else 20.0)
        if left == 0 and draw.random() < 0.01:
            stream, left = draw.randrange(1 << 17) * 128, 20
        if left:
            left, stream = left - 1, stream + 128
            lines.append(f"0,{stream},65536,R,{now:.9f}\n")
        else:
            block = int(draw.random() ** 3 * 2_000_000) * 8
            lines.append(f"0,{block},4096,{'RRW'[at % 3]},{now:.9f}\n")
    path = folder / "original.spc"
    path.write_text("".join(lines))
    return TraceFile(path)


def test_statistics_and_latencies_are_those_of_the_original(tmp_path: Path) -> None:
    trace = original(tmp_path)
    made = synthesize(trace, tmp_path / "made.spc")
    assert [each.name for each in made.statistics if not each.holds] == []
    # An empty SSD answers most reads without NAND: there p99 would stand on a step.
    for name, state in (
        ("generic-15000rpm", "fresh"),
        ("generic-7200rpm", "fresh"),
        ("p3700-800", "filled"),
    ):
        spec = find_for("--device", name).spec
        assert isinstance(spec, DriveSpec)
        target = Target.of_drive(spec, 1, state)  # type: ignore[arg-type]
        rows = [
            replay(each, target).result.results[0]["latency_us"]
            for each in (trace, TraceFile(made.out, "spc"))
        ]
        for key in ("p50", "p99"):
            assert rows[1][key] == pytest.approx(rows[0][key], rel=0.1), (name, key)


def test_shares_differ_by_their_difference_and_quantities_by_their_ratio() -> None:
    assert Statistic("", "", 0.5, 0.58, share=True).holds
    assert not Statistic("", "", 0.5, 0.62, share=True).holds
    assert not Statistic("", "B", 100, 111).holds
    assert Statistic("", "B", None, 111).difference is None


def test_the_command_writes_and_compares(tmp_path: Path) -> None:
    trace, out, html = original(tmp_path), tmp_path / "out.spc", tmp_path / "page.html"
    line = ["trace", "synthesize", str(trace.path), "--out", str(out), "--html", str(html)]
    done = CliRunner().invoke(app, [*line, "--json"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["requests"] == 12_000 == len(out.read_text().splitlines())
    page = html.read_text()
    assert "Is out.spc like original.spc?" in page
    # Four pictures, a curve of each trace in each.
    for picture in ("Rate over time", "Burstiness", "Miss ratio", "Hot spots"):
        assert picture in page
    assert page.count('"name":"original"') == page.count('"name":"synthetic"') == 4
    first = out.read_bytes()
    synthesize(trace, out)
    assert out.read_bytes() == first


def test_a_closed_trace_has_no_times_to_be_copied(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("R Miss 16 8 5000.0 1000.0\n")
    with pytest.raises(SpecError, match="a format with times"):
        synthesize(TraceFile(path), tmp_path / "out")


def test_no_statistic_stands_twice(tmp_path: Path) -> None:
    """Of a small trace half of all hits and nine in ten need the same cache."""
    path = tmp_path / "small.spc"
    path.write_text("".join(f"0,{8 * (at % 2)},4096,R,{at / 10}\n" for at in range(40)))
    found = synthesize(TraceFile(path), tmp_path / "out.spc")
    names = [each.name for each in found.statistics]
    assert len(names) == len(set(names))
    assert any(name.startswith("misses of a cache of") for name in names)
