"""Which points of a measurement a fit sees: `--train "iodepth=1,8,64 numjobs=1"`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from raidlab.calibration.fio.options import OptionError, size
from raidlab.calibration.measurements.measurement import Point
from raidlab.devices.faults import Fault, SpecError

_KEYS: Mapping[str, Callable[[Point], str]] = {
    "rw": lambda point: point.rw,
    "bs": lambda point: str(point.bs),
    "iodepth": lambda point: str(point.iodepth),
    "numjobs": lambda point: str(point.numjobs),
}


def split(
    points: Sequence[Point], wanted: str, option: str = "--train"
) -> tuple[list[int], list[int]]:
    """Indices of the points that fit a selection, and of the others.

    Args:
        points: All points.
        wanted: `key=value,value key=value`, all of which must hold; empty for every point.
        option: Where it was written, for messages.

    Raises:
        SpecError: It cannot be understood, or no point fits it.
    """
    rules = _rules(wanted, option)
    chosen = [
        index
        for index, point in enumerate(points)
        if all(_KEYS[key](point) in allowed for key, allowed in rules.items())
    ]
    if not chosen:
        known = ", ".join(
            f"{key} {' '.join(sorted({of(point) for point in points}, key=_in_order))}"
            for key, of in _KEYS.items()
        )
        raise SpecError([Fault(option, wanted, f"a choice that some point fits: {known}")])
    return chosen, [index for index in range(len(points)) if index not in set(chosen)]


def missing(points: Sequence[Point], wanted: str) -> list[str]:
    """Values of the selection that no point has."""
    found = []
    for key, allowed in _rules(wanted, "--train").items():
        for value in sorted(allowed - {_KEYS[key](point) for point in points}):
            found.append(f"--train {key}={value}: no point has it")
    return found


def _in_order(value: str) -> tuple[int, str]:
    return (int(value) if value.isdecimal() else 0, value)


def _block(text: str) -> int:
    """Bytes of a block as people write them: `4k`, `4KiB`; fio would take the latter for 4000."""
    return size(text, 1000 if "i" in text.lower() else 1024)


def _rules(wanted: str, option: str) -> dict[str, set[str]]:
    rules: dict[str, set[str]] = {}
    for word in wanted.replace(";", " ").split():
        key, equals, text = word.partition("=")
        values = {value for value in text.split(",") if value}
        if key not in _KEYS or not equals or not values:
            allowed = f"words such as iodepth=1,8,64; keys are {', '.join(_KEYS)}"
            raise SpecError([Fault(option, word, allowed, tuple(_KEYS))])
        if key == "bs":
            try:
                values = {str(_block(value)) for value in values}
            except OptionError as error:
                raise SpecError([Fault(option, word, str(error))]) from None
        rules.setdefault(key, set()).update(values)
    return rules
