"""Is every point of a sweep run once, whatever is killed? 2,000 points, SIGKILL, a lost worker.

    python benchmarks/killed_sweep.py [--points 2000] [--only kill|dask]

The sweep is killed by SIGKILL at five moments and each time begun again with the same store. The
same sweep runs on a Dask cluster of two workers, of which one is killed. Both documents must be
that of an undisturbed sweep, byte by byte. A point is run once if the store holds as many results
as there are points, and what it held at each kill was not run again.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NotRequired, TypedDict

from raidlab.devices.schema import read_toml
from raidlab.scenarios.running.cluster import dask_executor
from raidlab.scenarios.running.store import Store
from raidlab.scenarios.studies.sweep import Experiment, sweep
from raidlab.scenarios.studies.vary import axes_of

SCENARIO = Path(__file__).with_name("intervals") / "station.toml"
SHARES = (0.05, 0.25, 0.45, 0.65, 0.85)
"""Of the points that are stored when the sweep is killed."""


def vary(points: int) -> list[str]:
    """What varies: seeds and rates; the duration is another one."""
    seeds = f"run.seed=1:{points // 4}"
    rates = ",".join(f"{rate} IO/s" for rate in (1000, 2000, 4000, 8000))
    return [seeds, f"workload.0.rate={rates}", "run.duration=2 s"]


def entries(store: Path) -> int:
    """Results that a store holds."""
    if not store.exists():
        return 0
    with Store(store) as known:
        return known.overview().entries


def command(points: int, store: str) -> list[str]:
    """The sweep as one types it."""
    words = [sys.executable, "-m", "raidlab", "sweep", str(SCENARIO), "--json", "--store", store]
    return [*words, *(word for each in vary(points) for word in ("--vary", each))]


class Seen(TypedDict):
    """What a sweep that was disturbed has stored and given."""

    stored: int
    rows: int
    identical: bool
    kills: NotRequired[list[dict[str, object]]]
    lost_at: NotRequired[list[int]]


def killed(folder: Path, points: int) -> Seen:
    """Kills the sweep at five moments, ends it, and compares it with one that nobody disturbed."""
    store, kills = folder / "killed.sqlite", []
    for share in SHARES:
        line = command(points, store.name)
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(line, cwd=folder, stdout=quiet, stderr=quiet)
        while process.poll() is None and entries(store) < share * points:
            time.sleep(0.02)
        alive = process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills.append({"alive": alive, "stored": entries(store)})
    last = subprocess.run(command(points, store.name), cwd=folder, capture_output=True)
    whole = subprocess.run(command(points, "whole.sqlite"), cwd=folder, capture_output=True)
    return {
        "kills": kills,
        "stored": entries(store),
        "rows": len(json.loads(last.stdout)["rows"]),
        "identical": last.stdout == whole.stdout,
    }


def on_dask(folder: Path, points: int) -> Seen:
    """Kills one of two workers when a tenth of the points is done."""
    from distributed import LocalCluster

    wanted = Experiment(read_toml(SCENARIO), axes_of(vary(points)), SCENARIO)
    lost: list[dict[str, int]] = []
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        dask_executor(cluster.scheduler_address) as executor,
        Store(folder / "dask.sqlite") as store,
    ):

        def kill(done: int, of: int) -> None:
            if done >= of // 10 and not lost:
                worker = next(iter(cluster.workers.values()))
                lost.append({"pid": worker.pid, "done": done})
                os.kill(worker.pid, signal.SIGKILL)

        found = sweep(wanted, executor=executor, progress=kill, store=store)
        stored = store.overview().entries
    document = found.to_dict()
    return {
        "lost_at": [each["done"] for each in lost],
        "stored": stored,
        "rows": len(found.rows),
        "identical": document == sweep(wanted).to_dict(),
    }


def main() -> int:
    """Prints what was seen; 1 if anything was lost."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--only", choices=["kill", "dask"])
    given = parser.parse_args()
    seen: dict[str, Seen] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.only != "dask":
            seen["kill"] = killed(folder, given.points)
        if given.only != "kill":
            seen["dask"] = on_dask(folder, given.points)
    print(json.dumps(seen, indent=2))
    whole = all(
        one["identical"] and one["stored"] == one["rows"] == given.points for one in seen.values()
    )
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main())
