"""What was computed once, kept: who asks for what is under way waits for it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Lock
from typing import Generic, TypeVar

Kept = TypeVar("Kept")


@dataclass
class _Place(Generic[Kept]):
    """One value, or the way to it."""

    lock: Lock = field(default_factory=Lock)
    values: list[Kept] = field(default_factory=list)
    """The value, once there is one."""


class Memory(Generic[Kept]):
    """The values of the last keys. A key is computed by one thread, others wait for it."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._lock = Lock()
        self._places: OrderedDict[Hashable, _Place[Kept]] = OrderedDict()

    def __contains__(self, key: Hashable) -> bool:
        with self._lock:
            found = self._places.get(key)
        return found is not None and bool(found.values)

    def of(self, key: Hashable, compute: Callable[[], Kept]) -> Kept:
        """The value of a key; what `compute` raises is raised, and not kept."""
        with self._lock:
            place = self._places.setdefault(key, _Place())
            self._places.move_to_end(key)
            while len(self._places) > self.most:
                self._places.popitem(last=False)
        with place.lock:
            if not place.values:
                place.values.append(compute())
            return place.values[0]
