"""Runs of the engine on threads, or on whatever a `concurrent.futures.Executor` stands for.

A run is a pure function of its plan, so it does not matter where it runs or in which order: results
come as they are finished, each is stored before it is handed on, and what the store has is not run.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)

from raidlab.devices.faults import Fault, SpecError
from raidlab.scenarios import _engine
from raidlab.scenarios.running.engine_faults import other_engine
from raidlab.scenarios.running.store import Store, engine_digest, run_key

_AHEAD = 4
"""Plans for each worker that are made before they are wanted."""
_AHEAD_ELSEWHERE = 256
"""As `_AHEAD`, for all workers together, where nobody says how many there are."""

Progress = Callable[[int, int], None]
"""Called with how much is done, and how much there is to do."""
Outcome = str | _engine.PlanError
"""What the engine gave, or why it refused the plan."""


class OtherEngineError(Exception):
    """A worker elsewhere has another build of the engine; its results would not be the same."""


def outcomes(
    plans: Iterable[str],
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    store: Store | None = None,
    requests: Progress | None = None,
) -> Generator[tuple[int, Outcome], None, None]:
    """The outcome of each plan with its position, as they are finished.

    Args:
        plans: Made when they are wanted: a few for each worker are under way.
        workers: Threads; the number of cores if None. No effect with an executor.
        executor: Runs them instead of threads of this process.
        store: Finds finished runs again, and stores new ones.
        requests: Called now and then with the requests of a run's traces so far, and all of them;
            no effect with an executor.

    Raises:
        SpecError: The executor has lost its workers, or they have another engine.
        KeyboardInterrupt: Ctrl-C. Runs under way are stopped, or cancelled where they wait.
    """
    stop = threading.Event()

    def watch(so_far: int, all_of_them: int) -> bool:
        if requests is not None and all_of_them:
            requests(so_far, all_of_them)
        return stop.is_set()

    threads = max(1, workers or os.cpu_count() or 1)
    own = ThreadPoolExecutor(threads) if executor is None else None
    ahead = _AHEAD * threads if executor is None else _AHEAD_ELSEWHERE
    waiting: dict[Future[str], tuple[int, str]] = {}
    left = iter(enumerate(plans))
    more = True
    try:
        while more or waiting:
            while more and len(waiting) < ahead:
                at, plan = next(left, (0, ""))
                more = bool(plan)
                known = store.get(run_key(plan)) if more and store is not None else None
                if known is not None:
                    yield at, known
                elif more and executor is not None:
                    waiting[executor.submit(run_elsewhere, plan, engine_digest())] = at, plan
                elif more and own is not None:
                    waiting[own.submit(_engine.run, plan, watch)] = at, plan
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in sorted(done, key=lambda each: waiting[each][0]):
                at, plan = waiting.pop(future)
                try:
                    text = _result_of(future, here=own is not None)
                except _engine.PlanError as error:
                    yield at, error
                    continue
                if store is not None:
                    store.put(run_key(plan), text)
                yield at, text
    finally:
        stop.set()
        for future in waiting:
            future.cancel()
        if own is not None:
            own.shutdown(cancel_futures=True)


def run_elsewhere(plan: str, digest: bytes) -> str:
    """The result of a plan, on a worker that must have the engine of this digest.

    Raises:
        OtherEngineError: It has another one.
        PlanError: The engine refuses the plan.
    """
    if engine_digest() != digest:
        raise OtherEngineError(f"its engine is {engine_digest().hex()[:12]}")
    return _engine.run(plan)


def _result_of(future: Future[str], *, here: bool) -> str:
    if here and not future.cancelled() and isinstance(future.exception(), KeyboardInterrupt):
        # Nobody stopped it: Ctrl-C comes to the main thread, and this thread is another.
        raise SpecError([other_engine("it stops where it asks whether to go on")])
    try:
        return future.result()
    except OtherEngineError as error:
        allowed = f"workers with the engine {engine_digest().hex()[:12]}; of one {error}"
    except (BrokenExecutor, CancelledError, OSError) as error:
        allowed = f"workers that stay: {error or type(error).__name__}; finished runs are stored"
    raise SpecError([Fault("executor", None, allowed)])
