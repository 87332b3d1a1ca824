"""Claims of the reports, which they state in words, and why some are not held.

A claim has the form of a figure: what is compared, its bound, and the runs that show it, from its
columns alone. Bounds of words such as "hardly more" were chosen by a reader, so one that is missed
by little says little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from pydantic import Field

from raidlab.calibration.published.figures import CLAIMS_FOLDER, read_claims, read_published
from raidlab.devices.faults import Faults, SpecError
from raidlab.devices.schema import Table as SpecTable
from raidlab.devices.schema import check, read_toml

DEPTHS: Final = (16, 128, 512)
"""Outstanding I/Os of which a claim takes the best where a report took it over nine depths: a
shallow, a usual and a deep queue, so that all claims take minutes."""


class Cause(SpecTable):
    """Why some claims are not held, or figures missed."""

    ids: tuple[str, ...] = Field(min_length=1)
    why: str


class _Causes(SpecTable):
    cause: tuple[Cause, ...] = ()


def causes() -> Mapping[str, str]:
    """Why claims are not held and figures missed, by their ids.

    Raises:
        SpecError: The file cannot be read, or names one that there is none of, or one twice.
    """
    path = CLAIMS_FOLDER / "causes.toml"
    faults = Faults(str(path))
    found = check(_Causes, read_toml(path), faults)
    faults.raise_if_any()
    if found is None:
        raise AssertionError("a file that cannot be read has faults")
    known = {each.id for each in (*read_claims(), *read_published())}
    named = Counter(id for cause in found.cause for id in cause.ids)
    for id, times in named.items():
        if id not in known:
            faults.add("cause.ids", id, "the id of a claim or a figure", tuple(sorted(known)))
        elif times > 1:
            faults.add("cause.ids", id, "one cause for it")
    if faults.found:
        raise SpecError(faults.found)
    return {id: cause.why for cause in found.cause for id in cause.ids}
