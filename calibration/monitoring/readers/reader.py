"""What a reader is: how sure it is of a file by its content, and what it makes of files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from raidlab.calibration.monitoring.samples import Capture
from raidlab.calibration.monitoring.source import Source


@dataclass(frozen=True)
class Options:
    """What a user may say where a file does not."""

    interval_s: float | None = None
    """Distance of samples or snapshots without times."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """By the name of a column or series: what it is, `sda:read_iops`."""
    metric: str | None = None
    """What series without a name are: `read_iops`."""
    statistic: str | None = None
    """Of figures per period: `sum` or `average`."""


@dataclass(frozen=True)
class Reader:
    """A format."""

    name: str
    what: str
    """For the help and for messages."""
    recognises: Callable[[str], float]
    """How sure it is that the head of a file is of its format: 0 to 1."""
    read: Callable[[Sequence[Source], Options], Capture]
    """Reads files of one capture, in the order given."""
