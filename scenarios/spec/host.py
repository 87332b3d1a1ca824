"""`[host]` of a scenario, and which of its software does the RAID work of an array."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from raidlab.devices.c_states import C_STATES, CState, c_states
from raidlab.devices.faults import Fault
from raidlab.devices.forms import also, word
from raidlab.devices.host import clock_faults
from raidlab.devices.instances import instances
from raidlab.devices.kernels import parse_version
from raidlab.devices.schema import Table
from raidlab.devices.units import Frequency
from raidlab.devices.words import HOST_KEYS, folded, nearest_to

_SOFTWARE: Final[Mapping[str, str]] = {
    "md": "os",
    "mdadm": "os",
    "mdraid": "os",
    "dmraid": "lvm",
    "lvmraid": "lvm",
}
"""Other words for what does RAID in the host."""


def _software(value: Any) -> Any:
    """The word of this file for another one; what is not modelled says what comes nearest."""
    if not isinstance(value, str):
        return value
    nearest = nearest_to(value)
    if nearest:
        allowed = f"none, os, lvm{nearest}"
        raise PydanticCustomError("software_raid", "{allowed}", {"allowed": allowed})
    return _SOFTWARE.get(folded(value), value)


Software = Annotated[
    Literal["none", "os", "lvm"], BeforeValidator(_software), also(word(*_SOFTWARE))
]
"""`os`: Linux's md, or a RAID of another system; `lvm`: device mapper's RAID."""


class HostTable(Table):
    """`[host]`."""

    elsewhere: ClassVar[Mapping[str, str]] = HOST_KEYS

    model: str = "generic"
    threads: int = Field(default=1, ge=1, le=1024)
    """Load threads of each workload that does not say otherwise."""
    clock: Frequency | None = None
    """Clock of the CPU if it differs from the model's."""
    c_states: str | None = None
    """Generation of the CPU, such as `haswell`, whose idle cores sleep; they wake up at once if
    left out."""
    deepest_c_state: str | None = None
    """The deepest state that the BIOS and the kernel allow, such as `C1E`; all if left out."""
    kernel: str | None = None
    """Version of Linux, as `uname -r` prints it: what md's counters and locks cost follows from it.
    They cost nothing if left out."""
    sockets: int = Field(default=1, ge=1, le=8)
    """Sockets of the machine: md's workers, and how far its cache lines move."""

    instance: str | None = None
    """Instance of AWS or Azure whose ceilings its volumes share, such as `r5b.large`."""

    def faults(self) -> Iterator[Fault]:
        """A clock that no CPU has, a version that no kernel has, sockets without effect."""
        if self.kernel is not None and parse_version(self.kernel) is None:
            yield Fault("kernel", self.kernel, 'a version of Linux such as "4.4" or "6.8.0-45"')
        if self.instance is not None and self.instance not in instances():
            allowed = (
                "an instance of AWS or Azure whose ceilings are known, such as r5b.large or"
                " Standard_D8s_v5; elsewhere the least of its ceiling and what was bought, as"
                " `iops` and `throughput` of the drives"
            )
            yield Fault("instance", self.instance, allowed, tuple(instances()))
        if self.clock is not None:
            yield from clock_faults(self.clock)
        yield from self._idle_faults()

    def _idle_faults(self) -> Iterator[Fault]:
        """A generation that is not known, a state that it has not, a limit of nothing."""
        if self.c_states is None:
            if self.deepest_c_state is not None:
                allowed = "left out without `c_states`, the generation of the CPU"
                yield Fault("deepest_c_state", self.deepest_c_state, allowed)
            return
        states = C_STATES.get(self.c_states)
        if states is None:
            allowed = f"a generation of Xeons: {', '.join(C_STATES)}"
            yield Fault("c_states", self.c_states, allowed, tuple(C_STATES))
            return
        names = tuple(state.name for state in states)
        if self.deepest_c_state is not None and self.deepest_c_state not in names:
            allowed = f"a state of {self.c_states}: {', '.join(names)}"
            yield Fault("deepest_c_state", self.deepest_c_state, allowed, names)

    @property
    def sleeps(self) -> tuple[CState, ...]:
        """What idle cores sleep in; none if they wake up at once."""
        if self.c_states is None:
            return ()
        return c_states(self.c_states, self.deepest_c_state)
