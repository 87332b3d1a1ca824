"""SSDs and SSD caches in the state of the long run: simulated beside closed forms and long runs.

    python benchmarks/ssd_states.py [PART ...] [--json]

Parts: `steady-state` (random writes from the first second on, with buffers of any size), `readers`
(several of one range), `mirrors` (of unequal drives), `channel` (two dies without cache reads),
`warm` (an SSD cache against minutes 20 to 30 of an empty one). All takes about two minutes.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.results import markdown
from raidlab.scenarios.running.simulate import simulate
from raidlab.scenarios.spec.trees import ArrayTree, ScenarioTree, WorkloadTree

DRIVE = Path(__file__).parent / "ssd_states" / "eight-dies.toml"
UNITS = 456339456 // 4096


@dataclass(frozen=True)
class Line:
    """A figure beside what it should be."""

    part: str
    case: str
    simulated: float
    expected: float
    by: str

    @property
    def off_pct(self) -> float:
        """Percent by which the simulated figure differs."""
        return 100 * (self.simulated / self.expected - 1)


def row(drives: Any, workloads: list[WorkloadTree], **run: Any) -> Any:
    """The result of one array: its first workload's row."""
    return rows({"drives": drives}, workloads, **run)[0]


def rows(array: ArrayTree, workloads: list[WorkloadTree], **run: Any) -> list[Any]:
    """A row each of the workloads, all on one array."""
    controller = run.pop("controller", None)
    tree: ScenarioTree = {"array": [array], "workload": workloads, "run": run}
    if controller:
        tree["controller"] = controller
    return list(simulate(build_scenario(tree)).results)


def changed(folder: Path, *changes: tuple[str, str]) -> str:
    """The path of a drive with other figures."""
    text = DRIVE.read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    path = folder / f"drive-{len(list(folder.iterdir()))}.toml"
    path.write_text(text)
    return str(path)


def steady_state(folder: Path) -> Iterator[Line]:
    """A program takes 510 us of a die, a move 570 us, an erase 62.5 us a page."""
    load = {"rw": "randwrite", "block_size": "4 KiB", "outstanding": 32}
    for kib in (64, 1024, 4096, 16384):
        model = changed(folder, ('"64 KiB"', f'"{kib} KiB"'))
        run = {"precondition": "steady-state", "warm_up": "1 s", "duration": "300 s"}
        found = row([{"model": model}], [load], **run, timeline_step="30 s")
        waf, programmed = found["write_amplification"], 1 - kib / 4 / UNITS
        die = programmed * 510.24e-6 + (waf - programmed) * 570.48e-6 + waf * 62.5e-6
        case = f"buffer {kib} KiB ({100 * kib / 4 / UNITS:.2g} % of the drive)"
        yield Line("steady-state", case, found["iops"], 8 / die, "closed form")
        first, *later = found["timeline"]["iops"][1:-1]
        case += ", first drive write"
        yield Line("steady-state", case, first, statistics.fmean(later), "the next eight")


def readers(_: Path) -> Iterator[Line]:
    """Sequential readers of one range of a P3700: at least as fast together as one alone."""
    load = {"rw": "read", "block_size": "4 KiB", "align": "4 KiB", "area": "4 GiB"}
    run = {"warm_up": "200 ms", "duration": "500 ms", "precondition": "filled", "filled": "16 GiB"}

    def each(count: int) -> float:
        loads = [load | {"name": f"reader-{at}"} for at in range(count)]
        found = rows({"drives": [{"model": "p3700-800"}]}, loads, **run)
        return min(found[at]["iops"] for at in range(count))

    alone = each(1)
    for count in (2, 4, 8):
        yield Line("readers", f"slowest of {count}, IO/s", each(count), alone, "one alone")


def mirrors(_: Path) -> Iterator[Line]:
    """Reads of depth 1: the faster drive's alone, unless Linux md mirrors them."""
    load = {"rw": "randread", "block_size": "4 KiB", "outstanding": 1, "area": "8 GB"}
    run = {"warm_up": "100 ms", "duration": "2 s", "precondition": "filled"}
    fast = "sas-6g-ssd"
    alone = row([{"model": fast}], [load], **run)["iops"]
    for pair in ((fast, "sas-6g-hdd"), ("sas-6g-hdd", fast)):
        drives = [{"model": model} for model in pair]
        array = {
            "level": "raid1",
            "drives": drives,
            "software_raid": "os",
            "read_balance": "shortest-queue",
        }
        found = rows(array, [load], **run)[0]
        yield Line("mirrors", " and ".join(pair), found["iops"], alone, f"{fast} alone")


def channel(folder: Path) -> Iterator[Line]:
    """Random reads at depth 256 of two dies on one channel that sense in 50 us. The channel is busy
    all the time if a transfer takes longer than that; else each die, but for conflicts."""
    load = {"rw": "randread", "block_size": "4 KiB", "outstanding": 256}
    for mb, transfer in ((400, 10.24), (82, 49.95), (60, 68.27), (40, 102.4)):
        model = changed(
            folder,
            ("channels = 4", "channels = 1"),
            ('"400 MB/s"', f'"{mb} MB/s"'),
            ('capacity = "456339456 B"', 'capacity = "114084864 B"'),
        )
        run = {"precondition": "filled", "warm_up": "1 s", "duration": "10 s"}
        found = row([{"model": model}], [load], **run)
        bound = min(1e6 / transfer, 2e6 / (50 + transfer))
        yield Line("channel", f"transfer of {transfer:.3g} us", found["iops"], bound, "closed form")


def warm(_: Path) -> Iterator[Line]:
    """Hits of an SSD cache of 913 MB: at once if warm, and minutes 20 to 30 from empty on.

    The life of an empty cache begins with the recording, so two recordings give these minutes.
    """
    tier = {"drives": [{"model": str(DRIVE), "count": 2}], "level": "raid0"}
    disks = {"drives": [{"model": "generic-15000rpm", "count": 4}], "level": "raid0"}
    controller = {"model": "lsi2208-1g-3.0", "write": "write-through", "read_ahead": "none"}
    for case, area, spot in (
        ("tight: hot spot 800 MB of 8 GB", "8 GB", "800 MB"),
        ("large: hot spot 1.8 GB of 5.4 GB", "5.4 GB", "1.8 GB"),
        ("roomy: hot spot 450 MB of 3.2 GB", "3.2 GB", "450 MB"),
    ):
        load = {"rw": "randrw", "read_share": 0.8, "block_size": "64 KiB", "align": "64 KiB"}
        load |= {"area": area, "hot_spot": spot, "hot_share": "85 %", "outstanding": 16}

        def counts(state: str, seconds: int, load: WorkloadTree = load) -> tuple[int, int]:
            array = disks | {"cache_tier": tier | {"state": state}}
            run = {"warm_up": "10 s", "duration": f"{seconds} s", "precondition": "fresh"}
            found = rows(array, [load], controller=controller, **run)[0]
            (cache,) = (each for each in found["caches"] if each["kind"] == "tier")
            return cache["read_hits"], cache["reads"]

        hits, reads = counts("warm", 60)
        (early, of_early), (late, of_late) = counts("empty", 1200), counts("empty", 1800)
        long = (late - early) / (of_late - of_early)
        yield Line("warm", case, hits / reads, long, "minutes 20 to 30 from empty")


PARTS: dict[str, Callable[[Path], Iterator[Line]]] = {
    "steady-state": steady_state,
    "readers": readers,
    "mirrors": mirrors,
    "channel": channel,
    "warm": warm,
}


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], default=[])
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lines = [line for part in given.parts or PARTS for line in PARTS[part](Path(folder))]
    if given.json:
        print(json.dumps([asdict(line) for line in lines], indent=2))
        return
    rows = []
    for line in lines:
        shown = (
            f"{value:,.0f}" if value > 10 else f"{value:.3f}"
            for value in (line.simulated, line.expected)
        )
        rows.append((line.part, line.case, *shown, line.by, f"{line.off_pct:+.1f} %"))
    heads = "part | case | simulated | expected | by | difference"
    print("\n".join(markdown.table(heads, rows)))


if __name__ == "__main__":
    main()
