"""The running machine beside its twin: the observed load, simulated; drift; drives that stand out.

What the machine's counters show is a load as any recording is (`record`, `load`). The twin is
simulated under it window by window (`scenarios.studies.present`); the trend of what was monitored
over what was simulated is the drift (`drift`); equal drives are compared with each other
(`sisters`). Logs of NVMe drives, where they may be read, say what a drive counted meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from raidlab.calibration.monitoring.drift import Drift, drift_of
from raidlab.calibration.monitoring.importing import Imported
from raidlab.calibration.monitoring.load import load_of
from raidlab.calibration.monitoring.nvme_log import SmartLog, changes
from raidlab.calibration.monitoring.sisters import SYS_BLOCK, Unlike, compared, families
from raidlab.devices.trees import Document
from raidlab.scenarios import _engine
from raidlab.scenarios.spec.monitored import MonitoredLoad
from raidlab.scenarios.studies.openness import doubt
from raidlab.scenarios.studies.present import Present, System, beside
from raidlab.scenarios.studies.running import Running


@dataclass(frozen=True)
class Live:
    """What a machine did beside its twin."""

    load: MonitoredLoad
    present: Present
    drift: Drift | None
    """None of too few windows."""
    drives: tuple[Unlike, ...]
    """Every drive that has sisters, beside them."""
    logs: Mapping[str, tuple[str, ...]]
    """What NVMe drives counted meanwhile that may slow them."""
    seed: int
    breaches: tuple[str, ...] = ()

    @property
    def unlike(self) -> list[Unlike]:
        """Drives that stand out, the furthest first."""
        return sorted(
            (each for each in self.drives if each.stands_out), key=lambda each: -abs(each.errors)
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may change the answer."""
        said = [each.said() for each in self.unlike]
        said += [f"{name}: {text}" for name, of in self.logs.items() for text in of]
        if far := doubt(self.present):
            said.append(far)
        if self.drift is None:
            said.append(
                f"{len(self.present.hours)} windows show no trend: watch for longer (--for)"
            )
        return tuple(said)

    def to_dict(self) -> Document:
        """The document of `raidlab compare --live --json`."""
        drift = self.drift
        return {
            "title": self.present.system,
            "version": _engine.version(),
            "seed": self.seed,
            "seconds": self.load.seconds,
            "devices": list(self.load.devices),
            "present": self.present.to_dict(),
            "drift": None if drift is None else {**vars(drift), "sure": drift.sure},
            "drives": [
                {
                    "name": each.name,
                    "sisters": each.sisters,
                    "wait_ratio": each.wait_ratio,
                    "rate_ratio": each.rate_ratio,
                    "errors": each.errors,
                    "unlike": each.stands_out,
                }
                for each in self.drives
            ],
            "logs": {name: list(of) for name, of in self.logs.items()},
            "warnings": list(self.warnings),
        }


def watched(
    system: System,
    found: Imported,
    devices: Sequence[str],
    running: Running,
    seed: int,
    logs: tuple[Mapping[str, SmartLog], Mapping[str, SmartLog]] = ({}, {}),
    sys_block: Path = SYS_BLOCK,
) -> Live:
    """Lays what was recorded beside the twin.

    Args:
        system: The twin.
        found: What was recorded.
        devices: Whose load the twin gets; the usual ones if empty.
        running: Workers and store.
        seed: Of the simulation.
        logs: Of NVMe drives, before and after.
        sys_block: Where the kernel says of which model drives are.

    Raises:
        SpecError: Devices that were not seen, no waits, or a system that cannot be.
    """
    drives = compared(found.capture.series, families(found.default_devices, sys_block))
    found.take("--watch", devices)
    load = load_of(found)
    present = beside(system, load, running, seed)
    both = [
        (each.at_s / 3600.0, each.monitored.mean_ms, each.simulated.mean_ms)
        for each in present.hours
        if each.monitored.mean_ms and each.simulated.mean_ms
    ]
    drift = drift_of(*zip(*both, strict=True)) if both else None
    before, after = logs
    counted = {
        name: tuple(said)
        for name, log in after.items()
        if name in before and (said := changes(before[name], log))
    }
    return Live(load, present, drift, tuple(drives), counted, seed)
