"""`[run]` of a scenario: how long, in which state, how often."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, ValidationError, WrapValidator
from pydantic_core import PydanticCustomError

from raidlab.devices.faults import Fault
from raidlab.devices.forms import also, word
from raidlab.devices.schema import Table
from raidlab.devices.units import Duration, Share, Size
from raidlab.devices.words_of_keys import RUN_KEYS


def _duration_or_auto(value: Any, duration: Callable[[Any], int]) -> int | None:
    if value == "auto":
        return None
    try:
        return duration(value)
    except ValidationError as error:
        allowed = f'{error.errors()[0]["msg"]}, or "auto"'
        raise PydanticCustomError("warm_up", "{allowed}", {"allowed": allowed}) from None


_LEAST_WARM_UP = 2_000_000_000
_MOST_WARM_UP = 4
"""Durations after which no further recording is taken for a warm-up."""


class RunTable(Table):
    """`[run]`."""

    elsewhere: ClassVar[Mapping[str, str]] = RUN_KEYS

    warm_up: Annotated[Duration | None, WrapValidator(_duration_or_auto), also(word("auto"))] = None
    """None for "auto": 2 s, and whatever was recorded then without a steady state."""
    duration: Duration = Field(default=10_000_000_000, gt=0)
    max_ios: int = Field(default=0, ge=0, lt=2**63)
    """Ends a run earlier, after this many recorded I/Os of all workloads; 0 for no limit."""
    precision: Share = 0.0
    """Ends a run earlier, once the 95 % interval of every workload's rate is within this share of
    it to either side; 0 for never."""
    after_rebuild: Duration = 0
    """Ends a run earlier, so long after the last rebuild is done; 0 for never."""
    state: Literal["as-set", "sustained"] = "as-set"
    """"sustained": the warm-up lasts until controllers' caches are full, and flash drives are in
    their steady state unless `precondition` or `snapshot` says otherwise."""
    precondition: Literal["fresh", "filled", "steady-state"] = "fresh"
    filled: Size | None = None
    """What `precondition` fills of each array, from its start; all of it if left out."""
    snapshot: str | None = Field(default=None, min_length=1)
    """A file of `raidlab run --save-state`: the state in which flash drives begin."""
    replications: int = Field(default=1, ge=1, le=1000)
    seed: int = Field(default=1, ge=0, le=2**63 - 1)
    time_lapse: int = Field(default=1, ge=1, le=1000)
    """How many seconds of the life of a `cache_tier` each simulated second stands for."""
    timeline_step: Duration | None = None
    """Step of the rate and latency over time; a fiftieth of the run if left out."""

    @property
    def begins(self) -> Literal["fresh", "filled", "steady-state"]:
        """The state in which flash drives begin, a snapshot aside."""
        said = "precondition" in self.model_fields_set or self.snapshot is not None
        return self.precondition if said or self.state == "as-set" else "steady-state"

    @property
    def least_warm_up(self) -> int:
        """Nanoseconds in which nothing is recorded."""
        return _LEAST_WARM_UP if self.warm_up is None else self.warm_up

    @property
    def most_warm_up(self) -> int:
        """Nanoseconds up to which a recording can become part of the warm-up.

        0 if the warm-up is given and the sustained state is not asked for, and in a run that ends
        by itself or whose life is the question.
        """
        given = self.warm_up is not None and self.state == "as-set"
        if given or self.time_lapse > 1 or self.after_rebuild:
            return 0
        return self.least_warm_up + _MOST_WARM_UP * self.duration

    def faults(self) -> Iterator[Fault]:
        """Two states at once, runs longer than the clock can count."""
        if self.snapshot is not None and self.precondition != "fresh":
            allowed = 'left out, or "fresh": the snapshot is the state that the drives begin in'
            yield Fault("precondition", self.precondition, allowed)
        if self.least_warm_up + self.duration < 100:
            yield Fault("duration", f"{self.duration} ns", "at least 100 ns with the warm_up")
        elif self.time_lapse * 100 > self.least_warm_up + self.duration:
            yield Fault("time_lapse", self.time_lapse, "less: too little of the run would be left")
        if self.filled == 0:
            yield Fault("filled", "0 B", "above 0 B")
        elif self.filled is not None and self.begins == "fresh":
            yield Fault("filled", None, "left out: it has no effect without `precondition`")
        for key in ("warm_up", "duration"):
            if (getattr(self, key) or 0) > 10 * 365 * 86400 * 10**9:
                yield Fault(key, f"{getattr(self, key)} ns", "at most ten years")
        step = self.timeline_step
        if step is not None and step * 100_000 < self.least_warm_up + self.duration:
            yield Fault("timeline_step", f"{step} ns", "at least a hundred-thousandth of the run")
