"""Evaluations of a fit, stored so that the same fit finds them again, stopped or not.

A search asks for the same places in the same order every time, so a fit that begins again finds
what it had computed in the store and goes on from there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from raidlab.calibration.fitting.search.minimise import Evaluate
from raidlab.scenarios.running.store import Key, Store, work_key

Array = npt.NDArray[np.float64]

_PACKAGES = "raidlab.devices", "raidlab.scenarios", "raidlab.calibration"
"""What turns numbers into residuals, beside the engine."""


def key_of(what: Any) -> Key:
    """The key of an evaluation of `what`, plain data, by the present sources."""
    return work_key(json.dumps(what, sort_keys=True, default=str), *_PACKAGES)


def stored(store: Store, key: Key) -> Array | None:
    """Numbers that were kept under a key."""
    found = store.get(key)
    return None if found is None else np.array([float.fromhex(x) for x in json.loads(found)])


def keep(store: Store, key: Key, numbers: Array) -> None:
    """Keeps numbers to the last bit."""
    store.put(key, json.dumps([float(x).hex() for x in numbers]))


class Checkpoint:
    """Residuals by what they are of, in a store."""

    def __init__(self, store: Store) -> None:
        """Keeps residuals in `store`."""
        self._store = store

    def of(self, what: Mapping[str, object], evaluate: Evaluate) -> Evaluate:
        """`evaluate` with every result looked up first; `what` distinguishes models."""
        text = json.dumps(what, sort_keys=True, default=str)
        digest = hashlib.sha256(text.encode()).hexdigest()

        def looked_up(at: Array, points: Sequence[int], rough: bool) -> Array:  # noqa: FBT001
            place = [float(x).hex() for x in at]
            key = key_of(["fit", digest, place, list(points), rough])
            found = stored(self._store, key)
            if found is None:
                found = evaluate(at, points, rough)
                keep(self._store, key, found)
            return found

        return looked_up
