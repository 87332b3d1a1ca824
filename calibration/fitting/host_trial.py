"""The host that a measurement was made behind, where nobody says which: hosts are tried.

A drive fitted behind a wrong host takes on what the host does: its rates are met where the fit has
seen them, and missed elsewhere. What the host does shows in the points that the fit sees, too: in
fio's CPU time, in the shape of latencies at depth, in the rates that one drive leads to at all of
them. So the drive is fitted behind each usual host of its kind, and the host stays under which the
training points are met best; the others are never looked at. A parameter more must be worth it
(Akaike 1974). Hosts that make no difference to a drive, as to a disk of a hundred I/Os a second,
are not told apart, and the usual one stays.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from raidlab.calibration.fitting.fit import Fit
from raidlab.calibration.fitting.fit_model import FitModel
from raidlab.calibration.fitting.loss import robust
from raidlab.calibration.fitting.parameters import Parameter
from raidlab.calibration.fitting.search import Budget
from raidlab.calibration.fitting.stages import (
    ABOUT_AS_WELL,
    AFTER,
    PER_PARAMETER,
    Settled,
    Task,
    joint,
    settle,
)
from raidlab.scenarios.running.simulate import Progress

_EACH = 1000
"""Evaluations that the fit behind a host is to have: of a smaller budget fewer hosts are tried."""


@dataclass(frozen=True)
class Tried:
    """A host, and how well the training points are met behind it."""

    host: str
    loss: float | None
    """Of the fit behind it, with 2 for each parameter; None where it makes no difference."""

    def said(self) -> str:
        """In words."""
        return f"{self.host} {'as the first' if self.loss is None else f'{self.loss:.1f}'}"


@dataclass(frozen=True)
class Searched:
    """What the searches came to, behind the host that was settled on."""

    task: Task
    settled: Settled
    found: Fit
    tried: tuple[Tried, ...] = ()
    """In the order of the trial; empty if there was one host alone."""

    @property
    def loss(self) -> float:
        """Of the fit, with what its parameters must be worth."""
        return robust(self.found.residuals) + PER_PARAMETER * len(self.found.place)

    def said(self) -> str:
        """What was tried, and how each did, in words; empty if nothing was."""
        if not self.tried:
            return ""
        text = f"no --host: behind {self.task.host['name']} the training points are met best"
        losses = ", ".join(each.said() for each in self.tried)
        text += f" of {len(self.tried)} hosts tried (loss: {losses})"
        least = ABOUT_AS_WELL * max(1.0, self.loss / len(self.found.residuals))
        chosen = str(self.task.host["name"])
        near = [
            each.host
            for each in self.tried
            if each.host != chosen and (each.loss is None or each.loss < self.loss + least)
        ]
        return text + (f"; hardly distinguished from {' and '.join(near)}" if near else "")


def behind_best(tasks: Sequence[Task], tree: dict[str, Any], progress: Progress) -> Searched:
    """The fit behind the host with which the training points are met best.

    Args:
        tasks: The same of each host, the usual one first; they share the budget evenly, as many as
            it is enough for.
        tree: The device file to begin with.
        progress: Called with how many steps are done, and of how many.
    """
    settings = tasks[0].settings
    tasks = tasks[: max(1, settings.budget // _EACH)]
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
        tried.append(Tried(str(task.host["name"]), fits[-1].loss))
    best = min(fits, key=lambda each: each.loss)
    found = replace(best.found, evaluations=spent)
    return replace(best, found=found, tried=tuple(tried) if len(tasks) > 1 else ())


def _after(progress: Progress, number: int, of: int) -> Progress:
    """The progress of one of several fits that follow each other."""

    def tell(done: int, steps: int) -> None:
        progress(number * (steps - AFTER) + done, of * (steps - AFTER) + AFTER)

    return tell


def _fitted(task: Task, tree: dict[str, Any], budget: Budget, progress: Progress) -> Searched:
    """The fit behind one host: half of the budget is for the searches of parts."""
    now = time.monotonic()
    half = Budget(budget.evaluations // 2, now + 0.5 * (budget.deadline - now))
    settled = settle(task, tree, half, progress)
    progress(settled.searches, settled.searches + AFTER)
    return Searched(task, settled, joint(task, settled, budget))


def _differs(first: Searched, task: Task) -> bool:
    """True if the points tell the drive of a fit behind another host from that behind its own."""
    model, place = first.settled.model, first.found.place
    kept = [at for at, parameter in enumerate(model.parameters) if _of_drive(parameter)]
    parameters = [model.parameters[at] for at in kept]
    fixed = {key: value for key, value in model.fixed.items() if not key.startswith("host.")}
    ties = {key: to for key, to in model.ties.items() if _of_drive(to)}
    hosts = (first.task.host, task.host)
    points = range(len(task.points))
    one, other = (
        robust(
            task.evaluator(
                FitModel(model.tree, host, parameters, ties, model.known, fixed, model.stand)
            )(place[kept], points, False)
        )
        for host in hosts
    )
    return abs(one - other) > ABOUT_AS_WELL


def _of_drive(parameter: Parameter) -> bool:
    return not parameter.key.startswith("host.")
