"""A first scenario of five answers: drives, their number, a level, a controller, a load.

The text has a comment at each line, so that it also says what to change next.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from raidlab.devices.catalogue import find_for
from raidlab.devices.controller import ControllerSpec
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.hdd import HddSpec
from raidlab.devices.levels import LEVELS, LevelFacts
from raidlab.devices.schema import DriveSpec
from raidlab.devices.spec_writer import toml_value
from raidlab.devices.ssd import SsdSpec
from raidlab.scenarios.planning.scenario import Scenario, build_scenario
from raidlab.scenarios.spec.loads import RW, AnyProfile, profile_file

_LEVELS: Mapping[str, LevelFacts] = {str(name): facts for name, facts in LEVELS.items()}
NO_CONTROLLER = "none"
"""Drives on the host, whose operating system has the RAID."""
_COMMENT_COLUMN = 28
"""Column at which comments begin."""
_RATE = "500 IO/s"
"""Of profiles that want one."""
_OPTIONS = {
    "array.0.drives.0.model": "--model",
    "array.0.drives.0.count": "--drives",
    "array.0.level": "--level",
    "controller.model": "--controller",
    "workload.0.rw": "--load",
    "workload.0.profile": "--load",
    "workload.0.block_size": "--block-size",
    "workload.0.outstanding": "--outstanding",
    "workload.0.rate": "--rate",
}
"""Keys of the scenario, and the options that they come of."""


@dataclass(frozen=True)
class Answers:
    """What the first scenario is to be of; None for what the others suggest."""

    model: str = "generic-7200rpm"
    drives: int = 4
    level: str | None = None
    controller: str = NO_CONTROLLER
    load: str = "randread"
    """fio's word, or a profile."""
    block_size: str | None = None
    outstanding: int | None = None
    rate: str | None = None

    @property
    def suggested_level(self) -> str:
        """A level that this many drives can be, with redundancy where they can have it."""
        if self.drives < 3:
            return "jbod" if self.drives == 1 else "raid1"
        return "raid5"


def loads() -> tuple[str, ...]:
    """What a load can be called."""
    return (*RW, *get_args(AnyProfile))


def faults_of(answers: Answers) -> Iterator[Fault]:
    """What is wrong with single answers, before a scenario is made of them."""
    yield from _unknown("--model", answers.model, DriveSpec)
    if not 1 <= answers.drives <= 4096:
        yield Fault("--drives", answers.drives, "1 to 4096")
    elif (facts := _LEVELS.get(answers.level or "")) and not facts.fits(answers.drives):
        wanted = facts.wanted
        yield Fault("--drives", answers.drives, f"what {answers.level} wants: {wanted}")
    if answers.level is not None and answers.level not in _LEVELS:
        allowed = f"one of {', '.join(_LEVELS)}"
        yield Fault("--level", answers.level, allowed, tuple(_LEVELS))
    if answers.controller != NO_CONTROLLER:
        yield from _unknown("--controller", answers.controller, ControllerSpec)
    if answers.load not in loads():
        yield Fault("--load", answers.load, f"one of {', '.join(loads())}", loads())
    elif answers.load not in RW:
        for option in ("block_size", "outstanding"):
            value = getattr(answers, option)
            if value is not None and (option == "block_size" or _file(answers.load)):
                allowed = f"left out: {answers.load} says it"
                yield Fault(f"--{option.replace('_', '-')}", value, allowed)
    if answers.rate is not None and answers.outstanding is not None:
        yield Fault("--outstanding", answers.outstanding, "left out beside --rate: one of them")


def _unknown(
    option: str, name: str, kind: type[DriveSpec] | type[ControllerSpec]
) -> Iterator[Fault]:
    try:
        found = find_for(option, name, kind)
    except SpecError as error:
        yield from error.faults
        return
    if not isinstance(found.spec, kind):
        yield Fault(option, name, f"a {kind.role}; this is of kind {found.spec.kind}")


def first_scenario(answers: Answers, path: Path) -> tuple[str, Scenario]:
    """The text of a scenario that runs, and the scenario.

    Args:
        answers: What it is of.
        path: The file that it is for: paths in answers count from its folder.

    Raises:
        SpecError: Everything that is wrong with the answers, by option.
    """
    faults = list(faults_of(answers))
    if faults:
        raise SpecError(faults)
    text = "\n".join(_lines(answers)) + "\n"
    try:
        return text, build_scenario(tomllib.loads(text), path)
    except SpecError as error:
        raise SpecError(_by_option(fault) for fault in error.faults) from None


def _by_option(fault: Fault) -> Fault:
    """A fault of the scenario as one of the option that it comes of."""
    option = next((name for key, name in _OPTIONS.items() if fault.key.startswith(key)), "")
    return replace(fault, key=option, file="") if option else fault


def _file(load: str) -> Path | None:
    """The job file of a load that has one."""
    return None if load in RW else profile_file(load)


def _line(key: str, value: object, comment: str = "") -> str:
    text = f"{key} = {toml_value(value)}"
    return f"{text:<{_COMMENT_COLUMN}}  # {comment}" if comment else text


def _lines(answers: Answers) -> Iterator[str]:
    spec = find_for("--model", answers.model, DriveSpec).spec
    level = answers.level or answers.suggested_level
    of = "" if answers.drives == 1 else f", {level} of {answers.drives}"
    title = f"{answers.load} on {spec.title or spec.name}{of}"
    yield "# A first scenario, made by `raidlab new`. What each key means, and which others there"
    yield "# are: docs/reference/scenario.md. To run it: raidlab run FILE --html page.html"
    yield _line("title", title)
    yield ""
    yield "[host]"
    yield _line("model", "generic", "its CPU and system: raidlab devices --kind host")
    if answers.controller != NO_CONTROLLER:
        yield ""
        yield "[controller]"
        yield _line("model", answers.controller, "raidlab devices --kind controller")
        if _has_cache(answers.controller):
            yield _line("write", "write-back", 'or "write-through": each write waits for drives')
    yield ""
    yield "[[array]]"
    yield _line("level", level, f"others: {', '.join(each for each in _LEVELS if each != level)}")
    if answers.controller == NO_CONTROLLER and level != "jbod":
        yield _line("software_raid", "os", "the operating system's RAID; no [controller] does it")
    yield '# raidlab devices lists the drives of the catalogue; a file of your own: "mine.toml".'
    yield f"drives = [{{ model = {toml_value(answers.model)}, count = {answers.drives} }}]"
    if _LEVELS[level].striped and answers.drives > 1:
        yield _line("stripe_unit", "64 KiB", "of one drive, before the next one has its turn")
    yield ""
    yield "[[workload]]"
    yield from _load_lines(answers)
    yield ""
    yield "[run]"
    yield from _run_lines(answers, spec)


def _has_cache(controller: str) -> bool:
    spec = find_for("--controller", controller, ControllerSpec).spec
    return isinstance(spec, ControllerSpec) and spec.cache is not None


def _load_lines(answers: Answers) -> Iterator[str]:
    file = _file(answers.load)
    if answers.load in RW:
        yield _line("rw", answers.load, f"fio's words: {', '.join(RW)}")
        if _is_mixed(answers.load):
            yield _line("read_share", 0.7, "of the I/Os")
        usual = "4 KiB" if answers.load.startswith("rand") else "128 KiB"
        yield _line("block_size", answers.block_size or usual, "of each I/O")
    else:
        yield _line("profile", answers.load, "a published load: docs/reference/profiles.md")
    if answers.rate is not None or _wants_rate(file):
        yield _line("rate", answers.rate or _RATE, "I/Os arrive, whether others are done or not")
    elif file is None:
        yield _line("outstanding", answers.outstanding or [1, 8, 32], "I/Os in flight, a run each")
        yield (
            f'# rate = "{_RATE}"'.ljust(_COMMENT_COLUMN)
            + "  # instead: I/Os that arrive by themselves"
        )
    yield '# goal = "p99 < 20 ms"'.ljust(_COMMENT_COLUMN) + "  # what the load is to reach"


def _is_mixed(load: str) -> bool:
    """Whether fio's word leaves the share of reads open."""
    return any(word == load and share is None for word, (_, share) in RW.items())


def _wants_rate(file: Path | None) -> bool:
    return file is not None and "${RATE}" in file.read_text("utf-8")


def _run_lines(answers: Answers, spec: object) -> Iterator[str]:
    yield _line("duration", "30 s" if isinstance(spec, HddSpec) else "5 s", "that is recorded")
    if isinstance(spec, SsdSpec):
        state = "filled" if answers.load in ("read", "randread") else "steady-state"
        yield _line("precondition", state, "flash as after months; or fresh, filled, steady-state")
    yield _line("seed", 1, "the same seed gives the same result, everywhere")
