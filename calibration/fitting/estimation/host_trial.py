"""The host that a measurement was made behind, where nobody says which: hosts are tried.

A drive fitted behind a wrong host takes on what the host does: its rates are met where the fit has
seen them, and missed elsewhere. What the host does shows in the points that the fit sees, too: in
fio's CPU time, and in rates that no drive behind another host has at all of their depths. So the
drive is fitted behind each usual host of its kind, and the host stays behind which rates and CPU
time of the training points are met best; the other points are never looked at. Percentiles decide
only where that is open: how one I/O differs from another is mostly the drive's. Hosts that make no
difference to a drive, as to a disk of a hundred I/Os a second, are not tried, and the usual
one stays.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from raidlab.calibration.fitting.estimation.contest import decided_on_all
from raidlab.calibration.fitting.estimation.decision import ABOUT_AS_WELL
from raidlab.calibration.fitting.estimation.fit import Fit
from raidlab.calibration.fitting.estimation.model import FitModel
from raidlab.calibration.fitting.estimation.stages import (
    AFTER,
    Settled,
    Task,
    joint,
    settle,
)
from raidlab.calibration.fitting.parameters.parameter import Parameter
from raidlab.calibration.fitting.search.loss import of_host, robust
from raidlab.calibration.fitting.search.minimise import Array, Budget
from raidlab.devices.trees import Tree, Value
from raidlab.scenarios.running.simulate import Progress

_EACH: Final = 1000
"""Evaluations that the fit behind a host is to have: of a smaller budget fewer hosts are tried."""


@dataclass(frozen=True)
class Tried:
    """A host, and how well the training points are met behind it."""

    host: str
    loss: float | None
    """Of rates and CPU time, fitted behind it; None where it makes no difference."""
    whole: float | None = None
    """Loss of rates and percentiles."""

    def said(self) -> str:
        """In words."""
        if self.loss is None or self.whole is None:
            return f"{self.host} as the first"
        return f"{self.host} {self.loss:.1f}, with percentiles {self.whole:.1f}"


@dataclass(frozen=True)
class Searched:
    """What the searches came to, behind the host that was settled on."""

    task: Task
    settled: Settled
    found: Fit
    tried: tuple[Tried, ...] = ()
    """In the order of the trial; empty if there was one host alone."""
    left: tuple[str, ...] = ()
    """Hosts that the budget was not enough for."""

    @property
    def loss(self) -> float:
        """Of rates and CPU time of the training points."""
        return robust(self.found.residuals[of_host(self.task.points)])

    @property
    def whole(self) -> float:
        """As `loss`, with percentiles."""
        return robust(self.found.residuals)

    def said(self) -> str:
        """What was tried, and how each did, in words; empty if there was one host to try."""
        chosen = str(self.task.host["name"])
        rest = f"the budget was not enough for {' and '.join(self.left)} (--budget, or --host)"
        if not self.tried:
            return f"no --host: behind {chosen}; {rest}" if self.left else ""
        losses = "; ".join(each.said() for each in self.tried)
        text = (
            f"no --host: behind {chosen} rates and CPU time of the training points are met best of"
            f" {len(self.tried)} hosts tried (loss: {losses})"
        )
        near = [
            each.host
            for each in self.tried
            if each.host != chosen and (each.loss is None or each.loss < self.loss + ABOUT_AS_WELL)
        ]
        text += f"; hardly distinguished from {' and '.join(near)}" if near else ""
        return text + (f"; {rest}" if self.left else "")


def fit_behind_each_host(tasks: Sequence[Task], tree: Tree, progress: Progress) -> Searched:
    """The fit behind the host with which the training points are met best.

    Args:
        tasks: The same of each host, the usual one first; they share the budget evenly, as many as
            it is enough for.
        tree: The device file to begin with.
        progress: Called with how many steps are done, and of how many.
    """
    settings = tasks[0].settings
    enough = max(1, settings.budget // _EACH)
    left = tuple(str(task.host["name"]) for task in tasks[enough:])
    tasks = tasks[:enough]
    deadline = time.monotonic() + (settings.time_limit_s or float("inf"))
    fits: list[Searched] = []
    tried: list[Tried] = []
    spent = 0
    for number, task in enumerate(tasks):
        if fits and not _differs(fits[0], task):
            tried.append(Tried(str(task.host["name"]), None))
            continue
        now, sharing = time.monotonic(), len(tasks) - number
        budget = Budget((settings.budget - spent) // sharing, now + (deadline - now) / sharing)
        fits.append(_fitted(task, tree, budget, _after(progress, number, len(tasks))))
        spent += fits[-1].found.evaluations
        tried.append(Tried(str(task.host["name"]), fits[-1].loss, fits[-1].whole))
    least = min(each.loss for each in fits)
    alike = [each for each in fits if each.loss < least + ABOUT_AS_WELL]
    best = min(alike, key=lambda each: each.whole)
    found = replace(best.found, evaluations=spent)
    return replace(best, found=found, tried=tuple(tried) if len(tasks) > 1 else (), left=left)


def _after(progress: Progress, number: int, of: int) -> Progress:
    """The progress of one of several fits that follow each other."""

    def tell(done: int, steps: int) -> None:
        progress(number * (steps - AFTER) + done, of * (steps - AFTER) + AFTER)

    return tell


def _fitted(task: Task, tree: Tree, budget: Budget, progress: Progress) -> Searched:
    """The fit behind one host: half of the budget is for the searches of parts."""
    now = time.monotonic()
    half = Budget(budget.evaluations // 2, now + 0.5 * (budget.deadline - now))
    settled = decided_on_all(task, settle(task, tree, half, progress), half)
    progress(settled.searches, settled.searches + AFTER)
    return Searched(task, settled, joint(task, settled, budget))


def _differs(first: Searched, task: Task) -> bool:
    """True if the points tell the drive of a fit behind another host from that behind its own."""
    model, place = first.settled.model, first.found.place
    kept = [at for at, parameter in enumerate(model.parameters) if _of_drive(parameter)]
    parameters = [model.parameters[at] for at in kept]
    fixed = {key: value for key, value in model.fixed.items() if not key.startswith("host.")}
    ties = {key: to for key, to in model.ties.items() if _of_drive(to)}

    def behind(host: Mapping[str, Value]) -> Array:
        model_of = FitModel(model.tree, host, parameters, ties, model.known, fixed, model.stand)
        found = task.evaluator(model_of)(place[kept], range(len(task.points)), False)
        return found[of_host(task.points)]

    return robust(behind(task.host) - behind(first.task.host)) > ABOUT_AS_WELL


def _of_drive(parameter: Parameter) -> bool:
    return not parameter.key.startswith("host.")
