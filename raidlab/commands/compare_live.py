"""`raidlab compare --live`: the running machine's counters beside its twin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from raidlab.commands.common import say, seconds_of
from raidlab.commands.file_kinds import FileKind
from raidlab.commands.files_written import also_writes
from raidlab.commands.outputs import deliver, give
from raidlab.commands.recorded import recorded
from raidlab.commands.tables import Output
from raidlab.devices.faults import Fault, SpecError

LOAD = Path("live.json")
_LEAST_STEPS = 2


@dataclass(frozen=True)
class Watch:
    """What a user says of it."""

    scenario: str
    length: str
    interval: str
    devices: Sequence[str]
    load: Path
    """The observed load; the journal beside it goes on."""
    html: Path | None
    seed: int
    workers: int | None
    output: Output


def compare_live(watch: Watch) -> None:
    """Records the counters of this machine and lays its twin beside them.

    Raises:
        SpecError: No scenario, no time, no counters.
        Exit: It was interrupted; what was seen until then is shown.
    """
    from raidlab.calibration.monitoring import record as recording
    from raidlab.calibration.monitoring.live import watched
    from raidlab.calibration.monitoring.nvme_log import read_logs
    from raidlab.calibration.report import live as report
    from raidlab.scenarios.spec.written import scenario_tree
    from raidlab.scenarios.studies.present import System
    from raidlab.scenarios.studies.running import Running

    if not watch.scenario:
        allowed = "the scenario of the twin, which --live simulates under the observed load"
        raise SpecError([Fault("--scenario", None, allowed)])
    also_writes("--load", {watch.load: FileKind.LOAD}, say)
    seconds, step = seconds_of("--for", watch.length), seconds_of("--interval", watch.interval)
    if seconds < _LEAST_STEPS * step:
        allowed = f"at least {_LEAST_STEPS} intervals of {watch.interval}"
        raise SpecError([Fault("--for", watch.length, allowed)])
    path = Path(watch.scenario)
    system = System(scenario_tree(path), path)
    # What cannot be built is refused before an hour of recording.
    system.loaded([{"rw": "randread", "block_size": "4 KiB"}], {})
    names = list(recording.snapshot(recording.DISKSTATS, 0.0))
    before = read_logs(names)
    with recorded(watch.load, seconds, step, "--watch", watch.devices) as seen:
        logs = before, read_logs(names)
        found = watched(system, seen, watch.devices, Running(watch.workers), watch.seed, logs)
        deliver([{watch.load: found.load.to_json}], lambda: None)
        give(found, report.report, "compare", watch.output, watch.html)
