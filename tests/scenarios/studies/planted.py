"""Twenty systems with one planted fault each, and five healthy ones: what `why` says of them.

    python -m tests.scenarios.studies.planted

prints a line for each: the planted code, the first cause found, its gain with its interval.
"""

from __future__ import annotations

import time

from raidlab.scenarios.planning.scenario import scenario_of
from raidlab.scenarios.spec.trees import DrivesTree, ScenarioTree
from raidlab.scenarios.studies.why import Diagnosis, why

SHORT = {"warm_up": "2 s", "duration": "5 s"}
QUICK = {"warm_up": "100 ms", "duration": "300 ms"}
RANDOM = {"rw": "randread", "block_size": "8 KiB", "outstanding": 16, "align": "8 KiB"}


def drives(model: str, count: int = 1) -> list[DrivesTree]:
    return [{"model": model, "count": count}]


PLANTED: dict[str, ScenarioTree] = {
    "bitmap": {
        "array": [
            {"level": "raid1", "software_raid": "os", "bitmap": "internal",
             "drives": drives("generic-7200rpm", 2)}
        ],
        "workload": [{"rw": "randwrite", "block_size": "4 KiB", "outstanding": 4}],
        "run": SHORT,
    },
    "write-through": {
        "controller": {"model": "lsi2208-1g-3.0", "write": "write-through"},
        "array": [{"level": "raid5", "drives": drives("generic-15000rpm", 8)}],
        "workload": [{"rw": "randwrite", "block_size": "8 KiB", "rate": "300 IO/s"}],
        "run": SHORT,
    },
    "read-ahead": {
        "controller": {"model": "lsi2208-1g-3.0", "read_ahead": "none"},
        "array": [{"level": "raid5", "drives": drives("generic-15000rpm", 8)}],
        "workload": [{"rw": "read", "block_size": "64 KiB", "outstanding": 1}],
        "run": SHORT,
    },
    "queue-depth": {
        "controller": {"model": "lsi2008"},
        "array": [{"level": "raid0", "drives": drives("generic-15000rpm", 8)}],
        "workload": [RANDOM | {"outstanding": 1}],
        "run": SHORT,
    },
    "stripe-unit": {
        "controller": {"model": "lsi2008"},
        "array": [
            {"level": "raid0", "stripe_unit": "16 KiB", "drives": drives("generic-7200rpm", 8)}
        ],
        "workload": [RANDOM | {"block_size": "128 KiB", "align": "128 KiB", "outstanding": 32}],
        "run": SHORT,
    },
    "degraded": {
        "controller": {"model": "lsi2208-1g-3.0"},
        "array": [{"level": "raid5", "drives": drives("generic-15000rpm", 5)}],
        "workload": [RANDOM | {"block_size": "64 KiB", "align": "64 KiB"}],
        "event": [{"at": "0 s", "action": "fail-drive", "drive": 1}],
        "run": SHORT,
    },
    "link": {
        "controller": {"model": "lsi1068"},
        "array": [{"drives": drives("s4610-480")}],
        "workload": [{"rw": "read", "block_size": "128 KiB", "outstanding": 32}],
        "run": QUICK | {"precondition": "filled"},
    },
    "slc-cache-full": {
        "array": [{"drives": drives("teaching-qlc")}],
        "workload": [{"rw": "write", "block_size": "1 MiB", "outstanding": 4}],
        "run": {"warm_up": "0 s", "duration": "20 s"},
    },
    "sync-flush": {
        "array": [{"drives": drives("teaching-qlc")}],
        "workload": [{"rw": "randwrite", "block_size": "4 KiB", "outstanding": 1, "fdatasync": 1}],
        "run": QUICK,
    },
    "partial-stripe": {
        "array": [
            {"level": "raid5", "software_raid": "os", "stripe_unit": "256 KiB",
             "drives": drives("generic-7200rpm", 5)}
        ],
        "workload": [{"rw": "write", "block_size": "512 KiB", "outstanding": 1}],
        "run": {"warm_up": "1 s", "duration": "2 s"},
    },
    "controller-queue": {
        "controller": {"model": "lsi2008"},
        "array": [{"level": "raid0", "drives": drives("generic-7200rpm", 16)}],
        "workload": [RANDOM | {"outstanding": 256}],
        "run": SHORT,
    },
    "expander": {
        "controller": {"model": "hba-9500-8i"},
        "host": {"model": "nvme-io-uring", "threads": 8},
        "array": [{"level": "raid0", "software_raid": "os", "drives": drives("s4610-480", 24)}],
        "workload": [RANDOM | {"block_size": "64 KiB", "align": "64 KiB", "outstanding": 768}],
        "run": {"warm_up": "10 ms", "duration": "15 ms", "precondition": "filled"},
    },
    "power-state": {
        "array": [{"drives": drives("generic-nvme-gen4-tlc-client")}],
        "host": {"model": "nvme", "c_states": "skylake"},
        "workload": [{"rw": "randread", "block_size": "4 KiB", "rate": "50 IO/s"}],
        "run": SHORT,
    },
    "md-thread": {
        "array": [
            {"level": "raid5", "software_raid": "os", "bitmap": "none",
             "drives": drives("generic-nvme-gen4-tlc", 6)}
        ],
        "workload": [{"rw": "randwrite", "block_size": "4 KiB", "outstanding": 128}],
        "run": {"warm_up": "10 ms", "duration": "20 ms"},
    },
    "host-thread": {
        "host": {"model": "nvme"},
        "array": [{"drives": drives("generic-nvme-gen4-tlc")}],
        "workload": [{"rw": "randread", "block_size": "4 KiB", "outstanding": 128}],
        "run": {"warm_up": "10 ms", "duration": "50 ms", "precondition": "filled"},
    },
    "burst-credits": {
        "array": [{"drives": drives("aws-gp2-100")}],
        "workload": [{"rw": "randread", "block_size": "16 KiB", "outstanding": 16}],
        "run": SHORT | {"precondition": "filled"},
    },
    "smr-band": {
        "array": [{"drives": drives("archive-8t")}],
        "workload": [{"rw": "randwrite", "block_size": "64 KiB", "outstanding": 4}],
        "run": {"warm_up": "600 s", "duration": "300 s"},
    },
    "misaligned": {
        "array": [{"drives": drives("s4610-480")}],
        "workload": [
            {"rw": "randwrite", "block_size": "4 KiB", "align": "512 B", "outstanding": 16}
        ],
        "run": QUICK | {"precondition": "filled"},
    },
    "sync-flush on a disk": {
        "array": [{"drives": drives("generic-7200rpm")}],
        "workload": [{"rw": "randwrite", "block_size": "4 KiB", "outstanding": 1, "fsync": 1}],
        "run": SHORT,
    },
    "neighbour": {
        "array": [{"drives": drives("generic-7200rpm")}],
        "workload": [
            {"rw": "randread", "block_size": "4 KiB", "rate": "20 IO/s"},
            {"rw": "write", "block_size": "1 MiB", "outstanding": 4},
        ],
        "run": SHORT,
    },
}  # fmt: skip
HEALTHY: dict[str, ScenarioTree] = {
    "disk": {
        "array": [{"drives": drives("generic-7200rpm")}],
        "workload": [RANDOM],
        "run": SHORT,
    },
    "SSD": {
        "array": [{"drives": drives("s4610-480")}],
        "workload": [RANDOM],
        "run": QUICK | {"precondition": "filled"},
    },
    "fast drive": {
        "host": {"model": "nvme-io-uring"},
        "array": [{"drives": drives("generic-nvme-gen4-tlc")}],
        "workload": [{"rw": "randread", "block_size": "4 KiB", "rate": "20000 IO/s"}],
        "run": QUICK | {"precondition": "filled"},
    },
    "RAID 6 being read in sequence": {
        "controller": {"model": "lsi2208-1g-3.0", "backup": "fbu"},
        "array": [{"level": "raid6", "drives": drives("generic-7200rpm", 8)}],
        "workload": [{"rw": "read", "block_size": "1 MiB", "outstanding": 8}],
        "run": SHORT,
    },
    "RAID 10 with a cache": {
        "controller": {"model": "lsi2208-1g-3.0", "backup": "fbu"},
        "array": [{"level": "raid10", "drives": drives("generic-15000rpm", 8)}],
        "workload": [{"profile": "database", "outstanding": 32, "area": "100 GB"}],
        "run": SHORT,
    },
}


def diagnosed(tree: ScenarioTree) -> Diagnosis:
    """What `why` says of a system."""
    return why(scenario_of({"title": "planted", **tree}))


def main() -> None:
    """Prints the answer to each system, and how many are right."""
    right = 0
    for name, tree in (PLANTED | HEALTHY).items():
        since = time.process_time()
        found = diagnosed(tree)
        first = found.causes[0] if found.causes else None
        wanted = name.split()[0] if name in PLANTED else None
        right += wanted == (first and first.code)
        said = "nothing" if first is None else f"{first.code} {first.gain_pct:+.0f} %"
        print(f"{name:32} {said:28} {time.process_time() - since:5.1f} s of CPU", flush=True)
    print(f"{right} of {len(PLANTED) + len(HEALTHY)}")


if __name__ == "__main__":
    main()
