"""Bursts, limits and shares of the engine against SimPy, request by request."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from raidlab.devices.plan_types import WorkloadPlan
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.trace_files import Timing, TraceFile
from raidlab.scenarios.planning.traces import UNTIL_OVER_NS, trace_plan
from tests.reference.plans import station_plan
from tests.reference.tenants import limited, on_off, poisson, shared

SERVICE_NS = 100_000


def responses(
    folder: Path, arrivals: Sequence[Sequence[int]], loads: Sequence[WorkloadPlan], depth: int = 0
) -> list[list[int]]:
    """What the engine gives for tenants that read at these times."""
    plan = json.loads(station_plan(service_ns=SERVICE_NS)) | {"duration_ns": UNTIL_OVER_NS}
    for at, (own, load) in enumerate(zip(arrivals, loads, strict=True)):
        path = folder / f"{at}.csv"
        path.write_text("t,op,at,n\n" + "".join(f"{ns},R,0,4096\n" for ns in own))
        # Times count from the first request of the file: it says where that is.
        trace = TraceFile(path, "csv", "time=t:ns op=op offset=at:B size=n:B")
        found = trace_plan(trace, Timing(), 1 << 30, each=True)
        plan["workloads"].append(found.workload(f"{at}", 0) | load)
    if depth:
        plan["arrays"][0]["shared_depth"] = depth
    result = json.loads(_engine.run(json.dumps(plan)))
    assert not result["breaches"]
    return [load["trace"]["each_ns"] for load in result["workloads"]]


@pytest.mark.parametrize("burst", [1, 50])
def test_a_token_bucket_lets_each_request_through_when_a_level_says_so(
    tmp_path: Path, burst: int
) -> None:
    """5000 tokens a second; bursts of 20,000 a second for 10 ms on average, 40 ms apart."""
    arrivals = [0, *on_off(3, 20_000, 10e6, 40e6, 1000)]
    gap_ns = 200_000
    limit = {"counts": "ios", "milli_per_s": 5_000_000, "burst_ns": burst * gap_ns}
    (found,) = responses(tmp_path, [arrivals], [{"limits": [limit]}])
    expected = limited(arrivals, gap_ns, burst, SERVICE_NS)
    assert found == expected
    # What waits for its tokens is most of it: the bursts are four times the limit.
    assert np.mean(expected) > 10 * SERVICE_NS


@pytest.mark.parametrize(("weights", "depth"), [((4, 1), 1), ((1, 1), 4)])
def test_tenants_get_their_shares_request_by_request(
    tmp_path: Path, weights: tuple[int, int], depth: int
) -> None:
    """A steady tenant within its share, and one that asks for more than its own, in bursts."""
    arrivals = [[0, *poisson(1, 4000, 1000)], [0, *on_off(2, 16_000, 20e6, 30e6, 1600)]]
    loads = [{"share": {"weight": weight, "priority": 0}} for weight in weights]
    found = responses(tmp_path, arrivals, loads, depth)
    assert found == shared(arrivals, weights, depth, SERVICE_NS)
    assert np.mean(found[1]) > 3 * np.mean(found[0])
