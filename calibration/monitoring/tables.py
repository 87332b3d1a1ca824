"""Rows of tables whose columns are known by name, in base units."""

from __future__ import annotations

import math
from collections.abc import Sequence

from raidlab.calibration.monitoring.column_names import meaning
from raidlab.calibration.monitoring.numbers import decimals, with_prefix
from raidlab.calibration.monitoring.samples import Quantity


def values_of(names: Sequence[str], words: Sequence[str]) -> dict[Quantity, float]:
    """What a row holds; columns of unknown names and cells that are no number are left out.

    Args:
        names: Of the columns, as sysstat writes them.
        words: The cells.
    """
    found: dict[Quantity, float] = {}
    for name, word in zip(names, words, strict=False):
        sense = meaning(name)
        if sense is None or sense.quantity in found:
            continue
        try:
            value = with_prefix(word.rstrip("%"), comma="," in word)
        except ValueError:
            continue
        if not math.isnan(value):
            human = word[-1:].isalpha()
            found[sense.quantity] = value * (1.0 if human and sense.scale != 1 else sense.scale)
    return found


def steps_of(names: Sequence[str], words: Sequence[str]) -> dict[Quantity, float]:
    """The unit of each column's last digit, in base units."""
    return {
        sense.quantity: sense.scale * 10.0 ** -decimals(word)
        for name, word in zip(names, words, strict=False)
        if (sense := meaning(name)) is not None
    }
