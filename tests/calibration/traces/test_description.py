"""What `raidlab trace describe` says, by hand."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from typer.testing import CliRunner

from raidlab.calibration.traces.description import cache_sizes, describe
from raidlab.cli import app
from raidlab.scenarios.planning.trace_files import TraceFile

BLOCK = 4096


def written(folder: Path, *lines: str) -> TraceFile:
    path = folder / "x.spc"
    path.write_text("".join(f"{line}\n" for line in lines))
    return TraceFile(path)


def test_a_small_trace_by_hand(tmp_path: Path) -> None:
    trace = written(
        tmp_path,
        "0,0,4096,R,0.0",
        "0,8,8192,R,0.5",  # goes on where the first one ended
        "0,800,4096,W,1.0",
        "0,0,4096,R,2.0",  # three blocks since
    )
    found = describe(trace).to_dict()
    assert (found["requests"], found["reads"], found["writes"]) == (4, 3, 1)
    assert found["read_share"] == 0.75
    assert found["sizes"] == [[4096, 2, 1], [8192, 1, 0]]
    assert found["sequential_share"] == 0.25
    assert found["footprint_bytes"] == 4 * BLOCK
    assert found["written_footprint_bytes"] == BLOCK
    assert found["seconds"] == 2.0 and found["rate_per_s"] == 1.5
    # Five accesses to blocks, one of them a second one.
    assert found["first_access_share"] == 0.8
    assert found["miss_ratio"] == [[4 * BLOCK, pytest.approx(0.8)]]
    assert found["hot_spot"][-1] == [1.0, 1.0]
    assert found["sampled_share"] == 1.0


def test_sizes_of_a_cache_are_the_least_that_are_enough() -> None:
    curve = [[10, 0.9], [20, 0.6], [30, 0.25], [40, 0.2]]
    found = cache_sizes(curve, 0.2)
    # Of 0.8 possible hits: half at 0.6 misses, 80 % at 0.36, 90 % at 0.28, 95 % at 0.24.
    assert [each["bytes"] for each in found] == [20, 30, 30, 40, 40]
    assert cache_sizes([], 1.0) == []


@pytest.mark.parametrize(("bursts", "low", "high"), [(False, 0.3, 0.6), (True, 0.75, 1.0)])
def test_bursts_are_no_poisson_stream(
    tmp_path: Path, bursts: bool, low: float, high: float
) -> None:
    draw, now, lines = random.Random(1), 0.0, []
    for at in range(20_000):
        now += draw.expovariate(1000.0)
        if bursts and at % 2000 == 0:
            now += 20.0
        lines.append(f"0,{draw.randrange(1000) * 8},4096,R,{now:.9f}")
    found = describe(written(tmp_path, *lines)).to_dict()
    assert low <= found["hurst"] <= high
    assert (found["dispersion"] > 10) == bursts


def test_the_command_prints_the_document_and_writes_a_page(tmp_path: Path) -> None:
    trace = written(tmp_path, *(f"0,{at % 50 * 8},4096,R,{at * 0.01}" for at in range(4000)))
    page = tmp_path / "p.html"
    runner = CliRunner()
    done = runner.invoke(app, ["trace", "describe", str(trace.path), "--json"])
    document = json.loads(done.stdout)
    assert {"requests", "read_share", "sizes", "sequential_share", "footprint_bytes"} <= set(
        document
    )
    assert {"rate_per_s", "dispersion", "hot_spot", "miss_ratio", "hurst"} <= set(document)
    done = runner.invoke(app, ["trace", "describe", str(trace.path), "--html", str(page)])
    assert done.exit_code == 0, done.output
    assert "Sizes at which an SSD cache pays" in done.output
    # All fifty blocks come again: a cache of them serves all but the first fifty accesses.
    assert "205 kB" in done.output
    assert "Miss ratio" in page.read_text()
