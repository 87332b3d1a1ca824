"""Does the interval of a monitored load hold the p99 on another system? Over loads that are drawn.

    python benchmarks/monitored.py [NUMBER ...] [--plain]

Each load is drawn by its number: over a day's course in a part of the system, a share of it in
sequence, a share of the rest in a hot spot; with `--plain` all at random over the part. It is
simulated on one system, sampled as iostat would each minute, imported, and what it leaves open is
fitted there. Another system is simulated with each choice that was kept. True is the p99 of the
load itself there, of the slowest of its parts.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from raidlab.calibration.monitoring.importing import import_monitoring
from raidlab.calibration.monitoring.load import load_of
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.results import markdown
from raidlab.scenarios.results.sampled import iostat
from raidlab.scenarios.running.simulate import results_of
from raidlab.scenarios.spec.trees import ArrayTree, ScenarioTree, WorkloadTree
from raidlab.scenarios.studies.openness import fit_open
from raidlab.scenarios.studies.present import System
from raidlab.scenarios.studies.running import Running
from raidlab.scenarios.studies.size import slowest_p99, slowest_p99_ci95

SYSTEMS: Final[Mapping[str, ArrayTree]] = {
    "7200 rpm": {"drives": [{"model": "generic-7200rpm"}]},
    "15000 rpm": {"drives": [{"model": "generic-15000rpm"}]},
    "md RAID 10": {
        "level": "raid10", "software_raid": "os",
        "drives": [{"model": "generic-7200rpm", "count": 4}],
    },
}  # fmt: skip
PAIRS: Final = (
    ("7200 rpm", "15000 rpm"), ("7200 rpm", "md RAID 10"), ("15000 rpm", "7200 rpm"),
    ("md RAID 10", "15000 rpm"),
)  # fmt: skip
"""What is monitored, and what is asked for: in turn."""
AREAS_GB: Final = ((20, 100, 250), (20, 100, 500, 2000))
"""Parts of systems of which one has 300 GB, and of others."""
DAY: Final = "7200 s"


def drawn(number: int, area_gb: int, *, plain: bool) -> list[WorkloadTree]:
    """A load, by its number."""
    draw = random.Random(number)
    shares = [round(draw.uniform(0.3, 1.7), 3) for _ in range(12)]
    rates = draw.uniform(10, 35), draw.uniform(5, 20)
    orders = (0.0, 0.0) if plain else (draw.uniform(0, 0.5), draw.uniform(0, 0.5))
    hot = None if plain else (round(draw.uniform(0.3, 0.9), 2), draw.choice((2, 5, 10)))
    sides = (("read", "8 KiB"), ("write", "16 KiB"))
    found: list[WorkloadTree] = []
    for (side, size), rate, order in zip(sides, rates, orders, strict=True):
        for name, share in ((f"rand{side}", 1 - order), (side, order)):
            load: WorkloadTree = {
                "name": name, "rw": name, "block_size": size, "area": f"{area_gb} GB",
                "rate": f"{rate * share:.3f} IO/s",
                "arrivals": {"kind": "daily", "shares": shares, "day": DAY},
            }  # fmt: skip
            if hot is not None and name != side:
                load |= {"hot_share": hot[0], "hot_spot": f"{area_gb * hot[1] * 10} MB"}
            if share:
                found.append(load)
    return found


def scenario(system: str, loads: list[WorkloadTree]) -> ScenarioTree:
    """A day of loads on a system."""
    return {
        "title": system, "array": [{"name": "a", **SYSTEMS[system]}], "workload": loads,
        "run": {"warm_up": "10 s", "duration": DAY, "timeline_step": "60 s"},
    }  # fmt: skip


def row(number: int, *, plain: bool) -> str:
    """A row of the table: true p99, that of the nearest choice, the interval of all, in ms."""
    present, other = PAIRS[number % len(PAIRS)]
    areas = AREAS_GB["15000 rpm" not in (present, other)]
    area = areas[number // len(PAIRS) % len(areas)]
    loads = drawn(number, area, plain=plain)
    with tempfile.TemporaryDirectory() as folder:
        text, file = Path(folder) / "iostat.txt", Path(folder) / "load.json"
        (run,) = results_of([build_scenario(scenario(present, loads))], number)
        text.write_text(iostat(run))
        load = load_of(import_monitoring([text]))
        fitted = fit_open(System(scenario(present, [])), load, Running(), number)
        file.write_text(fitted.load.to_json())
        asked = [
            scenario(other, [{"name": "m", "monitoring": str(file), "monitoring_member": at}])
            for at in range(len(fitted.fit.members))
        ]
        every = [build_scenario(tree) for tree in (scenario(other, loads), *asked)]
        true, *choices = [each.summary() for each in results_of(every, number + 1000)]
    ends = [each for rows in choices if (each := slowest_p99_ci95(rows)) is not None]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    value, nearest = slowest_p99(true) or 0.0, slowest_p99(choices[0]) or 0.0
    holds = "yes" if low <= value <= high else "no"
    figures = [f"{us / 1000:.1f}" for us in (value, nearest, low, high)]
    interval = f"{figures[2]} to {figures[3]}"
    return markdown.row((number, f"{present}, {other}", area, *figures[:2], interval, holds))


def main() -> int:
    """Prints rows of Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("numbers", nargs="*", type=int, default=range(1, 41))
    parser.add_argument("--plain", action="store_true", help="all at random over the part")
    given = parser.parse_args()
    heads = "load | system, other | GB | true p99 | nearest | interval | holds"
    print("\n".join(markdown.table(heads)))
    for number in given.numbers:
        print(row(number, plain=given.plain), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
