"""What a calibration came to: its document, its files, how well it predicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from raidlab.calibration.fitting.bench.bench import Bench
from raidlab.calibration.fitting.certainty.fitted_file import with_fitted
from raidlab.calibration.fitting.certainty.goodness_of_fit import Goodness, goodness
from raidlab.calibration.fitting.certainty.uncertainty import Estimate
from raidlab.calibration.fitting.comparison.baseline import against_lines
from raidlab.calibration.fitting.comparison.compare import (
    Agreement,
    Compared,
    Summary,
    summary,
    within,
)
from raidlab.calibration.fitting.comparison.regions import by_region
from raidlab.calibration.fitting.estimation.decision import Decision
from raidlab.calibration.fitting.estimation.families import FamilyChoice
from raidlab.calibration.fitting.estimation.fit import Fit
from raidlab.calibration.fitting.estimation.host_trial import Tried
from raidlab.calibration.fitting.estimation.measured_pauses import MeasuredPauses
from raidlab.calibration.fitting.estimation.model import FitModel
from raidlab.calibration.fitting.estimation.stages import Settings
from raidlab.calibration.fitting.parameters.system_kinds import CONTROLLER_TABLE, UNKNOWN_CONTROLLER
from raidlab.calibration.measurements.measurement import Measurement
from raidlab.calibration.surrogates.selection import Selection
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.spec_writer import device_toml
from raidlab.devices.trees import Document, Tree, Value, table_at
from raidlab.scenarios.spec.findings import Warning, typed_warnings


@dataclass(frozen=True)
class LeftOut:
    """Points predicted by a fit that had not seen them."""

    curve: str
    points: int
    median_abs_error_pct: float


@dataclass(frozen=True)
class Calibration:
    """What came out."""

    settings: Settings
    measurement: Measurement
    fit: Fit
    model: FitModel
    bench: Bench
    tree: Mapping[str, Value]
    host: Mapping[str, Value]
    base_sources: Mapping[str, Value]
    rows: tuple[Compared, ...]
    left_out: tuple[LeftOut, ...]
    decisions: tuple[Decision, ...]
    tried: tuple[Tried, ...]
    """The hosts that were tried, if none was named."""
    warnings: tuple[str, ...]
    selection: Selection | None = None
    """What laws make of the training points."""
    host_was_measured: bool = False
    """True if the host's file has CPU times or threads of the machine that was measured."""
    families: FamilyChoice | None = None
    """What families of devices come to at points left out, where no kind was named."""
    pauses: MeasuredPauses | None = None
    """Of the drive, from the tails of the training points; None if they say nothing."""

    def part(self, name: str) -> list[Compared]:
        """The training or the test points."""
        return [row for row in self.rows if row.part == name]

    def errors(self, name: str) -> Summary:
        """How far off the training or the test points are."""
        return summary(self.part(name))

    @property
    def goodness(self) -> Goodness:
        """Statistics of the fit at its training points."""
        return goodness(self.fit.residuals.tolist(), len(self.fit.place))

    @property
    def warnings_typed(self) -> tuple[Warning, ...]:
        """`warnings` with their codes and subjects."""
        return typed_warnings(self.warnings)

    @property
    def where(self) -> str:
        """What it was measured in, for people."""
        system = self.settings.system
        return f"in {Path(system).name}" if system else f"behind {self.host['name']}"

    def agreement(self, tolerance_pct: float | None) -> Agreement | None:
        """Whether unseen rates, or all where none is unseen, are within a tolerance, if any."""
        unseen = self.part("test") or self.part("train")
        return None if tolerance_pct is None else within(unseen, tolerance_pct)

    def to_dict(self, tolerance_pct: float | None = None) -> Document:
        """The document of `raidlab calibrate --json`, judged by a tolerance if one is given."""
        return {
            "device": self.tree["name"],
            "host": self.host["name"],
            "fitted_behind": self.host_name,
            "system": self.settings.system,
            "hosts_tried": [vars(each) for each in self.tried],
            "parameters": [_estimate(estimate) for estimate in self.fit.estimates],
            "modes": [
                {
                    "values": dict(decision.option.values),
                    "as_well": [dict(rival.values) for rival in decision.rivals],
                }
                for decision in self.decisions
            ],
            "pauses": None if self.pauses is None else self.pauses.to_dict(),
            "correlations": np.round(self.fit.correlations, 3).tolist(),
            "train": self.errors("train"),
            "test": self.errors("test"),
            "baseline": against_lines(self.rows),
            "regions": by_region(self.rows),
            "kind": self.settings.kind,
            "families": None if self.families is None else self.families.to_dict(),
            "laws": None if self.selection is None else self.selection.to_dict(),
            "agreement": self.agreement(tolerance_pct),
            "goodness": self.goodness,
            "points": [row.to_dict() for row in self.rows],
            "left_out": [vars(left) for left in self.left_out],
            "evaluations": self.fit.evaluations,
            "wall_s": round(self.fit.wall_s, 3),
            "seed": self.settings.seed,
            "warnings": list(self.warnings),
            "warnings_typed": [each.to_dict() for each in self.warnings_typed],
        }

    def to_toml(self, tree: Mapping[str, Value] | None = None) -> str:
        """The fitted device's file; of another `tree` with the same sources if one is given."""
        sources = with_fitted(
            self.base_sources, self.fit.estimates, self.tree, self.measurement.name,
            self.fit.correlations.tolist(),
        )  # fmt: skip
        test = self.errors("test")
        head = [f"Fitted to {self.measurement.name}, measured {self.where}."]
        if test["points"]:
            head.append(
                f"Predicts {test['points']} points that the fit has not seen within"
                f" {test['median_abs_error_pct']:.1f} % in the median,"
                f" {test['p90_abs_error_pct']:.1f} % in nine in ten."
            )
        head += [
            f"While it was measured {estimate.value:.1%} of it had contained data"
            f" (`compare --mapped {estimate.value:.3g}`)."
            for estimate in self.fit.estimates
            if estimate.parameter.key == "state.mapped"
        ]
        written = dict(self.tree if tree is None else tree)
        written.pop(CONTROLLER_TABLE, None)
        if written["kind"] != "host":
            written["fitted_behind"] = self.host_name
        return device_toml(written, sources, head)

    @property
    def host_name(self) -> str:
        """The host that belongs to the device: the given one, or that of `host_toml`."""
        varied = any(e.parameter.key.startswith("host.") for e in self.fit.estimates)
        if varied or self.host_was_measured:
            return f"{self.host['name']}-of-{self.tree['name']}"
        return str(self.host["name"])

    def host_toml(self) -> str:
        """The host's file as the fit found it: what was not varied is as before."""
        title = f"{self.host['title']}, as fitted with {self.tree['name']}"
        head = [f"The host {self.host['name']} as a fit to {self.measurement.name} found it."]
        written = dict(self.host) | {"name": self.host_name, "title": title}
        return device_toml(written, self._varied("host", str(self.host["name"])), head)

    def controller_toml(self) -> str:
        """The file of the controller that was fitted together with the drives.

        Raises:
            SpecError: There was none.
        """
        if CONTROLLER_TABLE not in self.tree:
            allowed = f'left out: no controller of --system is model = "{UNKNOWN_CONTROLLER}"'
            raise SpecError([Fault("--controller-out", None, allowed)])
        beside = dict(table_at(self.tree, CONTROLLER_TABLE))
        head = [f"A controller as a fit to {self.measurement.name} found it, with its drives."]
        title = f"{beside['title']}, as fitted with {self.tree['name']}"
        named = {"name": f"{beside['name']}-of-{self.tree['name']}", "title": title}
        return device_toml(
            beside | named, self._varied(CONTROLLER_TABLE, str(beside["name"])), head
        )

    def _varied(self, owner: str, begun: str) -> Tree:
        """The sources of what stands around the drives: what the fit has varied of it."""
        varied = [e for e in self.fit.estimates if e.parameter.key.startswith(f"{owner}.")]
        said = ", ".join(
            f"{e.parameter.key} {e.value:.4g} {e.parameter.unit}".rstrip() for e in varied
        )
        if owner == "host" and self.host_was_measured:
            note = f"as {begun}, CPU times as fio counted them in {self.measurement.name}"
            return {"all": {"source": "assumed", "note": note}}
        note = f"as {begun}; fitted to {self.measurement.name}: {said or 'nothing'}"
        return {"all": {"source": "assumed", "note": note}}


def _estimate(estimate: Estimate) -> Document:
    parameter = estimate.parameter
    return {
        "name": parameter.key,
        "value": estimate.value,
        "unit": parameter.unit,
        "of": parameter.of,
        "stderr": estimate.stderr,
        "low": estimate.low,
        "high": estimate.high,
        "bounds": [parameter.low, parameter.high],
        "at_bound": estimate.at_bound,
        "identifiable": estimate.identifiable,
        "like": estimate.like,
    }
