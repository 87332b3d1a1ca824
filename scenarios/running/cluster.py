"""A Dask cluster as an executor: runs on many machines, those of lost workers again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from importlib import import_module

from raidlab.devices.faults import Fault, SpecError

_ANSWERS_S = 10
"""Seconds in which a scheduler must answer."""
_ADDRESS = re.compile(r"([a-z]+://)?(\[[0-9a-fA-F:.]+\]|[^\s:/\[\]]+):\d{1,5}/?|inproc://\S+")
_LOST = 3
"""How often a run is begun again whose worker was lost."""


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """The cluster whose scheduler is at `address`, such as `tcp://10.0.0.1:8786`.

    Raises:
        SpecError: Dask is not installed, or no scheduler answers there.
    """
    try:
        distributed = import_module("distributed")
    except ModuleNotFoundError:
        allowed = "needs Dask, which is not installed: pip install 'raidlab[dask]'"
        raise SpecError([Fault("--dask", address, allowed)]) from None
    allowed = f"the address of a Dask scheduler that answers within {_ANSWERS_S} s"
    if _ADDRESS.fullmatch(address) is None:
        # Dask would try to close what was never open, and say so at length.
        raise SpecError([Fault("--dask", address, f"{allowed}, such as tcp://10.0.0.1:8786")])
    try:
        client = distributed.Client(address, timeout=_ANSWERS_S, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SpecError([Fault("--dask", address, f"{allowed}: {why}")]) from None
    try:
        yield client.get_executor(pure=False, retries=_LOST)
    finally:
        client.close()
