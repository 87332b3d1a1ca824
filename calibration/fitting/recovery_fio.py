"""Drives of known parameters, measured by fio itself on the simulated system.

The bench of a fit and what fio sees share a drive's model and nothing else: the load is fio's own,
its clock, offsets and percentiles too, and its results go through the importer. Systematic
differences between both are in what comes out.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from raidlab.calibration.fio.results import import_fio
from raidlab.calibration.measurements.measurement import Measurement, Point
from raidlab.devices.spec_writer import device_toml
from raidlab.devices.trees import Value

_SECONDS = {"hdd": 120, "ssd": 2}
"""Simulated time that is recorded of a load: some thousand I/Os at least. Half as long before."""
_SECONDS_DEFAULT: Final = 10
_ASSUMED = {"all": {"source": "assumed", "note": "drawn"}}
_SCENARIO = """
title = "{name}"
[host]
model = "./host.toml"
[[array]]
name = "drive"
level = "jbod"
drives = [{{ model = "./drive.toml", count = 1 }}]
[run]
seed = {seed}
{state}
"""


def measure_by_fio(
    device: Mapping[str, Value],
    host: Mapping[str, Value],
    loads: Sequence[Point],
    name: str,
    seed: int,
) -> Measurement:
    """What fio measures of a drive behind a host, one load after the other.

    Args:
        device: The drive's file; a solid-state drive was filled before.
        host: The host's file.
        loads: What is asked for: order, direction, blocks, depth, jobs.
        name: Of the measurement.
        seed: Of the simulated system and of fio's offsets.

    Raises:
        SpecError: No result that can be read.
        CalledProcessError: fio ended with a fault.
    """
    is_ssd = device["kind"] == "ssd"
    seconds = _SECONDS.get(str(device["kind"]), _SECONDS_DEFAULT)
    with tempfile.TemporaryDirectory(prefix="raidlab-recovery-") as given:
        folder = Path(given)
        state = 'precondition = "filled"' if is_ssd else ""
        _write(folder / "drive.toml", device_toml(dict(device), _ASSUMED, []))
        _write(folder / "host.toml", device_toml(dict(host), _ASSUMED, []))
        _write(folder / "system.toml", _SCENARIO.format(name=name, seed=seed, state=state))
        _write(folder / "loads.fio", _jobs(loads, seconds, seed))
        command = [sys.executable, "-m", "raidlab", "fio", "--scenario", "system.toml"]
        command += ["loads.fio", "--output-format=json+", "--output=loads.json"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        return import_fio([folder / "loads.json"], name, "filled" if is_ssd else None)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _jobs(loads: Sequence[Point], seconds: int, seed: int) -> str:
    lines = [
        "[global]",
        "direct=1",
        "time_based=1",
        f"runtime={seconds}",
        f"ramp_time={seconds / 2:g}",
        f"randseed={seed}",
        "group_reporting=1",
        "ioengine=libaio",
    ]
    for load in loads:
        lines += [
            f"[{load.name}]",
            "stonewall",
            f"rw={load.rw}",
            f"bs={load.bs}",
            f"iodepth={load.iodepth}",
            f"numjobs={load.numjobs}",
        ]
    return "\n".join(lines) + "\n"
