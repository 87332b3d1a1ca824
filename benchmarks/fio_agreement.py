"""Does the system's own fio find on a simulated system what `raidlab run` finds?

Both drive the same scenario with the five profiles; printed are rate and mean latency of both
and their difference. Goal: 1 % everywhere.

    python benchmarks/fio_agreement.py SCENARIO.toml ... [--seconds 300]
"""

from __future__ import annotations

import argparse
import copy
import io
import json
import tempfile
import time
import tomllib
from contextlib import redirect_stdout
from pathlib import Path

from raidlab.calibration.fio import virtual as virtual_fio
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.running.simulate import simulate
from raidlab.scenarios.spec.trees import ScenarioTree

PROFILES = {
    "database": "rw=randrw rwmixread=67 bs=8k",
    "file-server": "rw=randrw rwmixread=67 bs=64k",
    "file-copy": "rw=randrw rwmixread=50 bs=64k",
    "streaming": "rw=read bs=64k",
    "restore": "rw=write bs=64k",
}
DEPTHS = (1, 16, 256)
GOAL_PCT = 1.0


def scenario(path: Path, profile: str, depth: int, seconds: int) -> Scenario:
    """The scenario of a file under one point of a profile."""
    tree: ScenarioTree = copy.deepcopy(tomllib.loads(path.read_text(encoding="utf-8")))
    target = tree["array"][0].get("name", "array-0")
    load = {"target": target, "profile": profile, "outstanding": depth, "area": "32 GB"}
    tree["workload"] = [load]
    tree["run"] = tree.get("run", {}) | {"warm_up": "20 s", "duration": f"{seconds} s"}
    return build_scenario(tree, path)


def with_run(checked: Scenario) -> tuple[float, float]:
    """Rate and mean latency by `raidlab run`."""
    point = simulate(checked).to_dict()["results"][0]
    return point["iops"], point["latency_us"]["mean"]


def with_fio(checked: Scenario, profile: str, depth: int, seconds: int) -> tuple[float, float]:
    """Rate and mean latency by fio."""
    plan = checked.plan(0, 0)
    load = plan["workloads"][0]
    system = virtual_fio.of_plan(plan, load["array"], checked)
    options = [
        *PROFILES[profile].split(), "ioengine=libaio", "direct=1", f"iodepth={depth}",
        f"blockalign={load['align_bytes']}", f"size={load['area_bytes']}", "norandommap",
        "time_based", "ramp_time=20", f"runtime={seconds}",
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder, "job.fio")
        job.write_text("\n".join(["[job]", *options, ""]), encoding="utf-8")
        with redirect_stdout(io.StringIO()) as out:
            code = virtual_fio.run(lambda: system, [str(job)], "json+")
    if code != 0:
        raise SystemExit(f"fio: exit code {code}")
    directions = [
        json.loads(out.getvalue())["jobs"][0][direction] for direction in ("read", "write")
    ]
    count = sum(direction["lat_ns"]["N"] for direction in directions)
    total_ns = sum(
        direction["lat_ns"]["N"] * direction["lat_ns"]["mean"] for direction in directions
    )
    return sum(direction["iops"] for direction in directions), total_ns / count / 1e3


def main() -> None:
    """Print a table for each scenario."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenarios", nargs="+", type=Path)
    parser.add_argument("--seconds", type=int, default=300)
    arguments = parser.parse_args()
    worst = 0.0
    for path in arguments.scenarios:
        print(path)
        for profile in PROFILES:
            for depth in DEPTHS:
                checked = scenario(path, profile, depth, arguments.seconds)
                rate, latency = with_run(checked)
                started = time.monotonic()
                fio_rate, fio_latency = with_fio(checked, profile, depth, arguments.seconds)
                wall = time.monotonic() - started
                errors = [100 * (fio_rate / rate - 1), 100 * (fio_latency / latency - 1)]
                worst = max(worst, *map(abs, errors))
                print(
                    f"  {profile:11} {depth:4}  run {rate:11.1f} IO/s {latency:12.2f} us   "
                    f"fio {fio_rate:11.1f} IO/s {fio_latency:12.2f} us   "
                    f"{errors[0]:+.2f} % {errors[1]:+.2f} %   {wall:.1f} s",
                    flush=True,
                )
    print(f"worst {worst:.2f} %, goal {GOAL_PCT} %")


if __name__ == "__main__":
    main()
