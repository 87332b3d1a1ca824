"""What a twin comes to: how far to trust it, what it may not be asked, the document, the files."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from raidlab.calibration.fitting.comparison.compare import summary
from raidlab.calibration.fitting.parameters.kinds import TABLE
from raidlab.calibration.fitting.report.calibration import Calibration
from raidlab.calibration.measurements.measurement import Point
from raidlab.calibration.report.fit import calibration_report
from raidlab.calibration.twin.intervals import interval_pct
from raidlab.calibration.twin.loop import Twin
from raidlab.devices.spec_writer import toml_value
from raidlab.devices.trees import Document

DEVICE, HOST, SCENARIO = "device.toml", "host.toml", "scenario.toml"
MEASUREMENT, PAGE = "measurement.json", "twin.html"
FILES: Final = (DEVICE, HOST, SCENARIO, MEASUREMENT, PAGE)
_UNSTEADY_PCT: Final = 10.0
"""Difference of one load's two measurements from which on the machine is called unsteady."""
_NOISY_SHARE: Final = 0.25


def judgement(twin: Twin) -> str:
    """How far to trust it, in a sentence."""
    found = summary(twin.result.part("test"))
    if not found["points"]:
        return "No load was kept back, so nobody knows how good the twin is."
    p99 = found["p99_latency_median_abs_error_pct"]
    tail = "" if p99 is None else f"; p99 is {p99:.0f} % off in the median"
    within = interval_pct(twin)
    wide = "" if within is None else f" A rate is within {within:.0f} % in 95 of 100 loads."
    return (
        f"Rates of {found['points']} loads that the fit has not seen are"
        f" {found['median_abs_error_pct']:.1f} % off in the median,"
        f" {found['p90_abs_error_pct']:.1f} % in nine in ten{tail}.{wide}"
    )


def limits(twin: Twin) -> list[str]:
    """What the twin may not be asked."""
    result = twin.result
    points = [row.point for row in result.part("train")]
    least, most = (pick(point.bs for point in points) for pick in (min, max))
    deepest = max(point.outstanding for point in points)
    jobs = max(point.numjobs for point in points)
    found = [
        f"blocks below {least // 1024} KiB or above {most // 1024} KiB",
        f"more than {deepest} I/Os in flight, or more than {jobs} jobs",
        "working sets of another size than the measured area: caches may answer them",
        "what changes over minutes: credit for bursts, full caches, heat",
    ]
    if all(point.rw.startswith("rand") for point in points):
        found.append("sequential I/Os: only random ones were measured")
    if not any(point.write for point in points):
        found.append("writes: only reads were measured")
    selection = result.selection
    if selection is not None and selection.no_law:
        found.append(
            "mixes of sizes: no law explains the device, it is a table of what was measured"
        )
    return found


def warnings(twin: Twin) -> list[str]:
    """What makes the measurement doubtful."""
    found = list(twin.result.warnings)
    repeated = twin.repeated_pct
    if repeated is not None and repeated > _UNSTEADY_PCT:
        found.append(
            f"the first load's rate had changed by {repeated:.0f} % when it was measured again:"
            " no twin can be nearer than that"
        )
    drift = twin.drift_pct
    if drift is not None and abs(drift) > _UNSTEADY_PCT and abs(drift) > 2.0 * (repeated or 0.0):
        found.append(
            f"the first load's rate had changed by {drift:+.0f} % at the end, more than noise"
            f" ({repeated or 0.0:.0f} %) explains: the machine drifts, measure again when it is"
            " quiet"
        )
    noisy = sum(bool(row.point.noisy) for row in twin.result.rows)
    if noisy > _NOISY_SHARE * len(twin.result.rows):
        found.append(
            f"{noisy} of {len(twin.result.rows)} points are noisy: others used the machine"
        )
    return found


def document(twin: Twin, folder: Path) -> Document:
    """The document of `raidlab twin --json`."""
    result = twin.result
    written, test = result.to_dict(), result.errors("test")
    kept = {
        "points": test["points"],
        "median_abs_error_pct": test["median_abs_error_pct"],
        "p90_abs_error_pct": test["p90_abs_error_pct"],
        "p99_median_abs_error_pct": test["p99_latency_median_abs_error_pct"],
    }
    return {
        "kind": result.settings.kind,
        "points": twin.points,
        "measured_s": twin.measured_s,
        "wall_s": round(twin.wall_s, 3),
        "device": str(folder / DEVICE),
        "host": str(folder / HOST),
        "scenario": str(folder / SCENARIO),
        "verdict": judgement(twin),
        "kept_back": kept,
        "seen": written["train"],
        "lines": written["baseline"],
        "laws": written["laws"],
        "deviations": list(twin.deviations),
        "repeated_pct": twin.repeated_pct,
        "drift_pct": twin.drift_pct,
        "interval_pct": interval_pct(twin),
        "parameters": written["parameters"],
        "limits": limits(twin),
        "warnings": warnings(twin),
    }


def files(twin: Twin, command: str) -> dict[str, str]:
    """The twin's files by name."""
    result = twin.result
    points = [row.point for row in result.rows]
    measurement = result.measurement.model_copy(update={"points": tuple(points)})
    return {
        DEVICE: result.to_toml(),
        HOST: result.host_toml(),
        SCENARIO: scenario_toml(points[0], result),
        MEASUREMENT: measurement.to_json(),
        PAGE: calibration_report(result).html(command),
    }


def scenario_toml(point: Point, result: Calibration) -> str:
    """A scenario of the twin under a load that was measured."""
    what = "table of latencies" if result.settings.kind == TABLE else "virtual disk"
    return "\n".join(
        [
            f"# The twin of {result.measurement.name}, a {what}, under one of the measured loads.",
            f"title = {toml_value('Twin of ' + result.measurement.name)}",
            "",
            "[host]",
            f"model = {toml_value(HOST)}",
            "",
            "[[array]]",
            f"drives = [{{ model = {toml_value(DEVICE)} }}]",
            "",
            "[[workload]]",
            f"rw = {toml_value(point.rw)}",
            *([f"read_share = {point.read_share:g}"] if "rw" in point.rw else []),
            f"block_size = {toml_value(f'{point.bs} B')}",
            f"outstanding = {point.outstanding}",
            f"threads = {point.numjobs}",
            "",
            "[run]",
            'warm_up = "500 ms"',
            'duration = "2 s"',
            "",
        ]
    )
