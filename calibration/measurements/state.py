"""The state of a drive before each step of a collector's bundle."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

State = Literal["fresh", "filled", "steady-state"]


class _Assessment(TypedDict):
    window: list[float]


class _Test(TypedDict):
    """Of a stage: whether it reached its steady state, after how many rounds."""

    stage: int | str
    rounds: int
    reached: bool
    assessment: NotRequired[_Assessment | None]


class _Step(TypedDict):
    number: int
    purpose: str
    state: NotRequired[str]
    writes: NotRequired[bool]
    round: NotRequired[int]
    stage: NotRequired[int | str | None]


class ManifestData(TypedDict):
    """What a bundle's manifest says of its steps."""

    steps: list[_Step]
    steady_state: NotRequired[list[_Test] | None]


def states(manifest: ManifestData) -> dict[int, State]:
    """By a step's number: the drive's state before it, where the bundle says it.

    A purged drive is fresh until something writes to it; one that was laid out contains data.
    Where a stage passed its steady-state test, writes of the rounds that the test looked at, its
    last ones, found the steady state.

    Args:
        manifest: Of the bundle, as its JSON.

    Raises:
        KeyError, TypeError, AttributeError: It is no manifest.
    """
    steady_from: dict[int | str | None, float] = {
        test["stage"]: test["rounds"] - len(assessment["window"])
        for test in manifest.get("steady_state") or ()
        if test["reached"] and (assessment := test.get("assessment"))
    }
    found: dict[int, State] = {}
    state: State | None = None
    for step in manifest["steps"]:
        if step.get("state", "done") != "done":
            continue
        if step["purpose"] != "measure":
            state = "fresh" if step["purpose"] == "purge" else "filled"
            continue
        writes = bool(step.get("writes"))
        if writes and step.get("round", 0) > steady_from.get(step.get("stage"), float("inf")):
            found[step["number"]] = "steady-state"
        elif state is not None:
            found[step["number"]] = state
        if writes and state == "fresh":
            state = None
    return found
