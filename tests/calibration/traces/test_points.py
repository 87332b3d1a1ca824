"""Traces with response times and published figures in the one form of measurements."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from raidlab.calibration.measurements.measurement import load_measurement
from raidlab.calibration.published.points import measurement_of as points_of_figures
from raidlab.calibration.traces.formats import read_trace
from raidlab.calibration.traces.points import measurement_of as points_of_trace
from raidlab.cli import app
from raidlab.devices.faults import SpecError

HEADER = (
    "source,id,controller,drive,format,count,level,raid_by,settings,load,outstanding,per,quantity,"
    "relation,value,high,baseline,note,ref\n"
)
ROWS = (
    "mine,a,,disk,,1,single,,,rw=randread bs=4k,8,system,iops,=,400,,,,t\n"
    "mine,b,,disk,,1,single,,threads=4,database,max,system,mib_per_s,~,2,,,,t\n"
    "mine,c,,disk,,1,single,,compressible=98,rw=write bs=4k,1,system,iops,=,50,,,,t\n"
    "mine,d,,disk,,4,raid5,os,,database,1,system,iops,=,50,,,,t\n"
    "mine,e,,other,,1,single,,,database,1,system,iops,=,50,,,,t\n"
)


def trace_file(folder: Path) -> Path:
    """Pairs issued at once, every 10 ms: one takes 1 ms, the other 2 ms; then lone writes."""
    lines = ["ts,kind,at,bytes,took"]
    for pair in range(60):
        lines += [
            f"{10 * pair},read,{pair * 80960},4096,1",
            f"{10 * pair},read,{pair * 4096},4096,2",
        ]
    lines += [f"{1000 + 10 * n},write,{(n * 7919 % 60) * 8192},8192,4" for n in range(60)]
    path = folder / "x.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


COLUMNS = "time=ts:ms op=kind offset=at size=bytes response=took:ms"


def test_requests_of_a_trace_become_loads_by_how_many_were_in_flight(tmp_path: Path) -> None:
    trace = read_trace(trace_file(tmp_path), "csv", columns=COLUMNS)
    found = {(p.rw, p.iodepth): p for p in points_of_trace(trace).points}
    assert set(found) == {("randread", 1), ("randread", 2), ("randwrite", 1)}
    alone, second = found["randread", 1], found["randread", 2]
    # A closed loop of one I/O of 1 ms: 1000 a second; of two that take 2 ms each: 1000 too.
    assert (alone.iops, second.iops) == pytest.approx((1000, 1000))
    assert second.read is not None and second.read.completion.percentile(50) == 2000
    assert found["randwrite", 1].iops == pytest.approx(250)
    assert found["randwrite", 1].bs == 8192


def test_a_trace_without_response_times_or_with_few_requests_is_refused(tmp_path: Path) -> None:
    path = trace_file(tmp_path)
    bare = read_trace(path, "csv", columns=COLUMNS.rsplit(" ", 1)[0])
    with pytest.raises(SpecError, match="response time for every request"):
        points_of_trace(bare)
    path.write_text("\n".join(path.read_text().splitlines()[:20]) + "\n")
    with pytest.raises(SpecError, match="at least 50 requests"):
        points_of_trace(read_trace(path, "csv", columns=COLUMNS))


def test_published_rates_of_a_drive_become_points_and_the_rest_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(HEADER + ROWS)
    found = points_of_figures(path, "disk")
    first, second = found.points
    assert (first.rw, first.bs, first.iodepth, first.iops) == ("randread", 4096, 8, 400)
    # Little's law: 8 outstanding at 400 IO/s stay 20 ms each.
    assert first.latency_mean_us == pytest.approx(20_000)
    assert (second.rw, second.iodepth, second.numjobs) == ("randrw", 128, 4)
    assert second.iops == pytest.approx(2 * 2**20 / 8192)
    reasons = [skipped.reason for skipped in found.skipped]
    assert reasons == [
        "c: measured with compressible",
        "d: an array or a controller, not a drive alone",
    ]
    with pytest.raises(SpecError, match="disk, other"):
        points_of_figures(path, "dis")


def test_the_commands_write_measurements_that_calibrate_takes(tmp_path: Path) -> None:
    figures, out = tmp_path / "mine.csv", tmp_path / "m.json"
    figures.write_text(HEADER + ROWS)
    runner = CliRunner()
    given = ["import", "published", str(figures), "--drive", "disk", "--out", str(out), "--json"]
    result = runner.invoke(app, given)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["points"] == 2
    assert len(load_measurement(out).points) == 2
    of_trace = [
        "import",
        "trace",
        str(trace_file(tmp_path)),
        "--format",
        "csv",
        "--columns",
        COLUMNS,
    ]
    result = runner.invoke(app, [*of_trace, "--out", str(out)])
    assert result.exit_code == 0, result.output
    fit = ["calibrate", str(out), "--kind", "station", "--host", "generic", "--budget", "500"]
    result = runner.invoke(app, fit)
    assert result.exit_code == 0, result.output
    assert runner.invoke(app, [*given[:3], "--drive", "x", "--out", str(out)]).exit_code == 2
