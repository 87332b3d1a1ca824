"""Time and memory of `raidlab replay` by a trace of random requests: docs/evidence/speed.md.

    python benchmarks/traces.py [REQUESTS]

Writes a trace of 10 million requests, or of REQUESTS, into a temporary folder for each working set
and replays it on RAID 5 of 24 SAS SSDs of 800 GB, new and filled: a Markdown row each.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

import numpy as np

from raidlab.scenarios.results import markdown

ROOT: Final = Path(__file__).parent.parent
WORKING_SETS: Final = {"2 TB": 2 * 10**12, "18.4 TB, all": 23 * 800 * 10**9}
SMALLER: Final = {
    'capacity = "15360000000000 B"': 'capacity = "800 GB"',
    "dies_per_channel = 16": "dies_per_channel = 4",
    "blocks_per_plane = 2953": "blocks_per_plane = 615",
    'name = "generic-sas-ssd"': 'name = "sas-800"',
}
SYSTEM: Final = """[controller]
model = "lsi2208-1g-3.0"
[[array]]
level = "raid5"
drives = [{{ model = "./sas-800.toml", count = 24 }}]
[run]
warm_up = "0 s"
precondition = "{}"
"""
COLUMNS: Final = "time=time_us:us op=op offset=offset:B size=size:B"


def write_trace(path: Path, requests: int, working_set: int) -> None:
    """100,000 requests of 4 to 16 KiB a second, three of ten writes, at multiples of 16 KiB."""
    draws = np.random.default_rng(1)
    times = np.cumsum(draws.exponential(10e3, requests)).astype(np.int64)
    writes = draws.random(requests) < 0.3
    sizes = draws.integers(1, 5, requests) * 4096
    offsets = draws.integers(0, working_set // 16384, requests) * 16384
    with path.open("w") as file:
        file.write("time_us,op,offset,size\n")
        for at in range(requests):
            op = "W" if writes[at] else "R"
            file.write(f"{times[at] / 1000:.3f},{op},{offsets[at]},{sizes[at]}\n")


def main() -> None:
    """Prints the table."""
    requests = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        drive = (ROOT / "devices/specs/ssd/generic-sas-ssd.toml").read_text()
        for old, new in SMALLER.items():
            drive = drive.replace(old, new)
        (folder / "sas-800.toml").write_text(drive)
        rows = []
        for words, working_set in WORKING_SETS.items():
            write_trace(folder / "trace.csv", requests, working_set)
            for state in ("fresh", "filled"):
                (folder / "system.toml").write_text(SYSTEM.format(state))
                command = [sys.executable, "-m", "raidlab", "replay", "trace.csv", "--json"]
                command += ["--format", "csv", "--columns", COLUMNS, "--scenario", "system.toml"]
                timed = ["/usr/bin/time", "-f", "%U %S %M", *command]
                ran = subprocess.run(timed, cwd=folder, capture_output=True, text=True, check=True)
                user, system, kib = map(float, ran.stderr.splitlines()[-1].split())
                rows.append([words, state, f"{user + system:.1f} s", f"{kib / 1000:.0f} MB"])
        print("\n".join(markdown.table("requests over | drives | CPU time | largest memory", rows)))


if __name__ == "__main__":
    main()
