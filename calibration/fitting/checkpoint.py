"""Evaluations of an unfinished fit, stored so that it goes on where it was stopped.

A search asks for the same places in the same order every time, so a fit that begins again finds
what it had computed in the store and goes on from there. When a fit is done its evaluations are
taken out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from raidlab.calibration.fitting.search import Evaluate
from raidlab.scenarios.running.run_cache import RunCache

Array = npt.NDArray[np.float64]


class Checkpoint:
    """Residuals by what they are of, in a store."""

    def __init__(self, store: RunCache) -> None:
        """Nothing has been asked for yet."""
        self._store = store
        self._keys: list[str] = []

    def of(self, what: Mapping[str, Any], evaluate: Evaluate) -> Evaluate:
        """`evaluate` with every result looked up first; `what` distinguishes models."""
        text = json.dumps(what, sort_keys=True, default=str)
        digest = hashlib.sha256(text.encode()).hexdigest()

        def looked_up(at: Array, points: Sequence[int], rough: bool) -> Array:
            place = [float(x).hex() for x in at]
            key = self._store.key(json.dumps(["fit", digest, place, list(points), rough]))
            self._keys.append(key)
            found = self._store.get(key)
            if found is not None:
                return np.array([float.fromhex(x) for x in json.loads(found)])
            residuals = evaluate(at, points, rough)
            self._store.put(key, json.dumps([float(x).hex() for x in residuals]))
            return residuals

        return looked_up

    def forget(self) -> None:
        """The fit is done."""
        self._store.forget(self._keys)
        self._keys.clear()
