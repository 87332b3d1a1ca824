"""What was settled on among options, and the options that may have been measured instead."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from raidlab.calibration.fitting.parameters.parameter import Mode, Option

ABOUT_AS_WELL: Final = 4.0
"""Loss by which the fits of two modes of operation differ, beyond their share of it, if they do."""
_IN_DOUBT: Final = 2.0
"""Times that: searches of parts end as far apart by where they begin."""


@dataclass(frozen=True)
class Found:
    """Where the search under another option has ended."""

    option: Option
    places: Mapping[str, float]
    """Of the parameters that it has moved, by key, in the unit cube."""
    above: float
    """By how much its loss is above that of the option that was settled on."""


@dataclass(frozen=True)
class Decision:
    """The option of a mode of operation that was settled on."""

    mode: Mode
    option: Option
    others: tuple[Found, ...] = ()
    margin: float = ABOUT_AS_WELL
    """Loss above that of the option below which another meets the points about as well."""

    @property
    def near(self) -> tuple[Found, ...]:
        """Those under which the points are met about as well."""
        return tuple(each for each in self.others if each.above < self.margin)

    @property
    def rivals(self) -> tuple[Option, ...]:
        """Their options."""
        return tuple(each.option for each in self.near)

    @property
    def in_doubt(self) -> tuple[Found, ...]:
        """Those whose search of parts may have ended too early to say."""
        return tuple(each for each in self.others if each.above < _IN_DOUBT * self.margin)

    @property
    def open(self) -> frozenset[str]:
        """Parameters whose values hang on it, if the points hardly determine it."""
        return frozenset(self.mode.decides if self.near else ())

    def said(self) -> str:
        """In words."""
        text = f"{_said(self.option)}: fits best of {len(self.mode.options)} that were tried"
        if self.near:
            text += (
                f"; these points hardly distinguish it from {' and '.join(map(_said, self.rivals))}"
                " (--set says what is known)"
            )
            if self.open:
                text += (
                    f"; what hangs on it ({', '.join(sorted(self.open))}) is not determined either"
                )
        return text


def decided(
    mode: Mode, tried: Sequence[tuple[Option, Mapping[str, float], float]], residuals: int
) -> Decision:
    """The option that is met best; the most usual one stays unless another fits clearly better.

    Args:
        mode: What is decided.
        tried: Options in the order of the mode, with the places where their searches have ended
            and the loss there.
        residuals: Comparisons that a loss is the sum of.
    """
    least = min(loss for *_, loss in tried)
    margin = ABOUT_AS_WELL * max(1.0, least / residuals)
    # Options come with the most usual one first.
    alike = [each for each in tried if each[2] < least + margin]
    chosen, _, at = min(alike, key=lambda each: not each[0].preferred)
    others = [Found(option, places, loss - at) for option, places, loss in tried]
    return Decision(mode, chosen, tuple(o for o in others if o.option is not chosen), margin)


def _said(option: Option) -> str:
    """As a device file would have it."""
    return ", ".join(f"{key} = {json.dumps(value)}" for key, value in option.values.items())
