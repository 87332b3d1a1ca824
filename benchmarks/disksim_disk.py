"""DiskSim's disk under random reads of 8 KiB: DiskSim 4.0 itself, and its disk in raidlab.

FOLDER has DiskSim's sources, built by `make` with flex and bison. Western Digital's release of it
builds for 64 bits with today's compilers; `-O2` goes into CC of `src` and `diskmodel`. It keeps a
result of each command and ends after 200,000; where commands queue, its cost of an I/O grows
with the length of a run, so that runs are short.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from raidlab.calibration.disksim.drive import import_disksim
from raidlab.scenarios.planning.scenario import build_scenario

DISK, FILE, SECTORS = "SEAGATE_ST39102LW_validate", "cheetah9LP.diskspecs", 17_783_232
"""A 10,000 rpm SCSI disk of 9 GB among DiskSim's own."""
IOS = {1: (5_000, 55_000), 32: (5_000, 15_000)}
"""Of the two runs at each depth."""
OWN_IOS = (100_000, 500_000)
_SCAN = 3
"""DiskSim's number of the policy at depth 32: a scan in one direction."""
_QUEUE = """disksim_ioqueue {
  Scheduling policy = 1, Cylinder mapping strategy = 1, Write initiation delay = 0.0,
  Read initiation delay = 0.0, Sequential stream scheme = 0, Maximum concat size = 128,
  Overlapping request scheme = 0, Sequential stream diff maximum = 0,
  Scheduling timeout scheme = 0, Timeout time/weight = 6, Timeout scheduling = 4,
  Scheduling priority scheme = 0, Priority scheduling = 4 }"""
_GENERATOR = f"""disksim_synthgen {{
  Storage capacity per device = {SECTORS}, devices = [ disk0 ], Blocking factor = 16,
  Probability of sequential access = 0.0, Probability of local access = 0.0,
  Probability of read access = 1.0, Probability of time-critical request = 1.0,
  Probability of time-limited request = 0.0, Time-limited think times = [ normal, 0.0, 0.0 ],
  General inter-arrival times = [ uniform, 0.0, 0.0 ],
  Sequential inter-arrival times = [ uniform, 0.0, 0.0 ],
  Local inter-arrival times = [ uniform, 0.0, 0.0 ], Local distances = [ normal, 0.0, 0.0 ],
  Sizes = [ uniform, 16.0, 16.0 ] }}"""


def disk_of(sources: Path, depth: int) -> str:
    """The disk's parameters with room for `depth` commands, which it orders itself."""
    text = (sources / "valid" / FILE).read_text()
    text = re.sub(r"Max queue length = \d+", f"Max queue length = {depth}", text)
    return re.sub(r"policy = \d+", f"policy = {_SCAN if depth > 1 else 1}", text, count=1)


def parameters(sources: Path, depth: int, ios: int) -> str:
    """DiskSim's parameters of the run: `depth` processes that each wait for their read."""
    statistics = (sources / "valid" / "synthopen.parv").read_text()
    begin = statistics[: statistics.index("disksim_iodriver DRIVER0")]
    bus = "type = 1, Arbitration type = 1, Arbitration time = 0.0, Print stats = 0"
    generators = ", ".join([_GENERATOR] * depth)
    return f"""{begin}
disksim_iodriver DRIVER0 {{ type = 1, Constant access time = 0.0, Scheduler = {_QUEUE},
  Use queueing in subsystem = 1 }}
disksim_bus BUS0 {{ {bus}, Read block transfer time = 0.0, Write block transfer time = 0.0 }}
disksim_bus BUS1 {{ {bus}, Read block transfer time = 0.0512, Write block transfer time = 0.0512 }}
disksim_ctlr CTLR0 {{ type = 1, Scale for delays = 0.0, Bulk sector transfer time = 0.0,
  Maximum queue length = 0, Print stats = 0 }}
source disk.diskspecs
instantiate [ statfoo ] as Stats
instantiate [ bus0 ] as BUS0
instantiate [ bus1 ] as BUS1
instantiate [ disk0 ] as {DISK}
instantiate [ driver0 ] as DRIVER0
instantiate [ ctlr0 ] as CTLR0
topology disksim_iodriver driver0 [ disksim_bus bus0 [ disksim_ctlr ctlr0 [
  disksim_bus bus1 [ disksim_disk disk0 [] ] ] ] ]
disksim_logorg org0 {{ Addressing mode = Parts, Distribution scheme = Asis,
  Redundancy scheme = Noredun, devices = [ disk0 ], Stripe unit = {SECTORS},
  Synch writes for safety = 0, Number of copies = 2, Copy choice on read = 6,
  RMW vs. reconstruct = 0.5, Parity stripe unit = 64, Parity rotation type = 1,
  Time stamp interval = 0.0, Time stamp start time = 0.0, Time stamp stop time = 0.0,
  Time stamp file name = stamps }}
disksim_pf Proc {{ Number of processors = 1, Process-Flow Time Scale = 1.0 }}
disksim_synthio Synthio {{ Number of I/O requests to generate = {ios},
  Maximum time of trace generated = 100000000.0, System call/return with each request = 0,
  Think time from call to request = 0.0, Think time from request to return = 0.0,
  Generators = [ {generators} ] }}
"""


def _write(sources: Path, depth: int, ios: int, folder: Path) -> Path:
    model = FILE.replace("diskspecs", "model")
    for name in (model, FILE.replace("diskspecs", "seek"), "statdefs"):
        (folder / name).write_bytes((sources / "valid" / name).read_bytes())
    (folder / "disk.diskspecs").write_text(disk_of(sources, depth))
    file = folder / "run.parv"
    file.write_text(parameters(sources, depth, ios))
    return file


def of_disksim(
    sources: Path, depth: int, child: Callable[[list[str], Path], float]
) -> Callable[[int], float]:
    """CPU seconds of DiskSim by the number of I/Os; `child` runs a program in a folder."""

    def cost(ios: int) -> float:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            _write(sources, depth, ios, folder)
            program = str(sources / "src" / "disksim")
            return child([program, "run.parv", "out.txt", "ascii", "0", "1"], folder)

    return cost


def of_raidlab(
    sources: Path, depth: int, run: Callable[[dict[str, object], int], float]
) -> Callable[[int], float]:
    """CPU seconds of raidlab, with the disk that `raidlab import disksim` makes of it."""
    with tempfile.TemporaryDirectory() as name:
        device = Path(name) / "disk.toml"
        device.write_text(import_disksim(_write(sources, depth, 1, Path(name))).to_toml())
        load = {"rw": "randread", "block_size": "8 KiB", "align": "8 KiB", "outstanding": depth}
        tree = {
            "array": [{"level": "jbod", "drives": [{"model": str(device)}]}],
            "workload": [load],
            "run": {"warm_up": "1 s", "duration": "1000000 s"},
        }
        plan = build_scenario(tree).plan(0, 0)
    return lambda ios: run(plan, ios)
