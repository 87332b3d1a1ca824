"""Systems, loads and questions."""

from __future__ import annotations

from importlib import import_module

_ENGINE = "raidlab.scenarios._engine"
_OFFERS = frozenset({
    "PlanError", "Simulation", "TraceError", "capacities", "describe_trace", "job_requests",
    "plan_schema", "recognise_trace", "result_schema", "rows_of_lines", "rows_of_objects", "run",
    "scan_trace", "synthesize_trace", "trace_columns", "version",
})  # fmt: skip
"""Names of the engine's that this code uses, all of `_engine.pyi`."""


def _check_engine() -> None:
    """Refuses an engine that is not built, or older than this code, before anything is begun.

    Raises:
        ImportError: Says what to do.
    """
    try:
        offered = vars(import_module(_ENGINE))
    except ImportError as error:
        why = f"the engine cannot be loaded: run make setup ({error})"
        raise ImportError(why, name=_ENGINE) from error
    missing = sorted(_OFFERS - offered.keys())
    if missing:
        why = f"the engine is older than this code: run make setup (it has no {missing[0]})"
        raise ImportError(why, name=_ENGINE)


_check_engine()
