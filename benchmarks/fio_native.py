"""Do jobs of fio without fio find what the system's own fio finds?

Runs ten jobs on a system both ways and prints rate and p99 of both; with --examples lists what
becomes of a folder of job files. Goals: 1 % of the rate, 3 % of p99.

    python benchmarks/fio_native.py SCENARIO.toml ...
    python benchmarks/fio_native.py --examples fio/examples
"""

from __future__ import annotations

import argparse
import io
import json
import tempfile
import time
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from raidlab.calibration.fio import virtual
from raidlab.calibration.fio.native import run_line
from raidlab.devices.faults import SpecError
from raidlab.scenarios.fio import jobfile
from raidlab.scenarios.fio.places import Target
from raidlab.scenarios.fio.report import FioSide
from raidlab.scenarios.fio.resolve import resolve

_AIO = "ioengine=libaio direct=1 filename=/dev/sda time_based"
JOBS: Mapping[str, str] = {
    "random reads": f"{_AIO} rw=randread bs=4k iodepth=16 runtime=20",
    "one at a time": "ioengine=psync direct=1 filename=/dev/sda time_based rw=randread bs=8k"
    " runtime=20",
    "mix of sizes": f"{_AIO} rw=randrw rwmixread=70 bssplit=4k/60:64k/40 iodepth=8 runtime=20",
    "zipf": f"{_AIO} rw=randrw bs=16k iodepth=32 random_distribution=zipf:1.1 randseed=7"
    " runtime=20",
    "four streams": f"{_AIO} rw=read bs=128k iodepth=4 numjobs=4 offset_increment=10g size=10g"
    " runtime=10",
    "batches": f"{_AIO} rw=randread bs=4k iodepth=32 iodepth_batch=8"
    " iodepth_batch_complete_min=8 runtime=20",
    "fsync": "ioengine=psync direct=1 filename=/dev/sda time_based rw=randwrite bs=8k numjobs=4"
    " fsync=8 runtime=10",
    "think time": f"{_AIO} rw=randread bs=4k iodepth=8 thinktime=20ms thinktime_blocks=16"
    " runtime=20",
    "rate": f"{_AIO} rw=randrw bs=4k iodepth=8 rate_iops=100,50 runtime=20",
    "ramp, partly random": f"{_AIO} rw=randread percentage_random=30 bs=32k iodepth=8 ramp_time=2"
    " runtime=20",
}
_EXAMPLE_BYTES = 1_200_000_000_000


def _figures(text: str) -> tuple[float, dict[str, float]]:
    """Rate of all jobs and directions; p99 of each direction, in us."""
    rate, p99 = 0.0, {}
    for job in json.loads(text)["jobs"]:
        for name in ("read", "write"):
            side: FioSide = job[name]
            rate += side["iops"]
            if side["clat_ns"]["N"]:
                own = side["clat_ns"]["percentile"]["99.000000"] / 1000
                p99[name] = max(own, p99.get(name, 0.0))
    return rate, p99


def compare(scenario: Path) -> tuple[float, float]:
    """Prints a line for each job; the greatest differences of rate and p99 in percent."""
    worst = [0.0, 0.0]
    with tempfile.TemporaryDirectory() as folder:
        for name, words in JOBS.items():
            job = Path(folder, "job.fio")
            options = ["group_reporting", *words.split()]
            job.write_text("\n".join(["[job]", *options, ""]), encoding="utf-8")
            errors = io.StringIO()
            began = time.monotonic()
            with redirect_stdout(io.StringIO()) as bridged, redirect_stderr(errors):
                system = virtual.bridge(scenario)
                if virtual.run(lambda known=system: known, [str(job)], "json+"):
                    raise SystemExit(errors.getvalue())
            between = time.monotonic()
            with redirect_stdout(io.StringIO()) as native, redirect_stderr(errors):
                run_line([str(job)], scenario=scenario)
            ended = time.monotonic()
            (rate, p99), (own, own_p99) = _figures(bridged.getvalue()), _figures(native.getvalue())
            by_rate = 100 * (own / rate - 1)
            by_p99 = {side: 100 * (own_p99[side] / p99[side] - 1) for side in p99}
            worst = [max(worst[0], abs(by_rate)), max(worst[1], *map(abs, by_p99.values()))]
            tails = ", ".join(
                f"{side} {p99[side]:.0f} {own_p99[side]:.0f} us {by_p99[side]:+.2f} %"
                for side in p99
            )
            print(
                f"  {name:20} {rate:10.2f} {own:10.2f} IO/s {by_rate:+.3f} %   p99 {tails}"
                f"   {between - began:.1f} s {ended - between:.1f} s",
                flush=True,
            )
    return worst[0], worst[1]


def examples(folder: Path) -> None:
    """Prints what becomes of each job file: threads, or the first fault."""
    target = {"array": Target(0, _EXAMPLE_BYTES)}
    for path in sorted(folder.glob("*.fio")):
        try:
            found = resolve(jobfile.read(path), path.name, target, "array")
        except SpecError as error:
            print(f"{path.stem:34} refused: {error.faults[0]}")
            continue
        print(f"{path.stem:34} {len(found.threads)} threads, {len(found.notes)} notes")


def main() -> None:
    """Print the table of each system, or of the examples."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenarios", nargs="*", type=Path)
    parser.add_argument("--examples", type=Path)
    arguments = parser.parse_args()
    if arguments.examples is not None:
        examples(arguments.examples)
    for path in arguments.scenarios:
        print(path)
        rate, p99 = compare(path)
        print(f"  worst: rate {rate:.3f} %, p99 {p99:.2f} %")


if __name__ == "__main__":
    main()
