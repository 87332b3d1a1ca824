"""A replay that streams its trace, against the same requests submitted one by one."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from raidlab.calibration.traces.formats import read_trace
from raidlab.calibration.traces.replay import Target, replay
from raidlab.devices.catalogue import find_for
from raidlab.devices.faults import SpecError
from raidlab.devices.schema import DriveSpec
from raidlab.scenarios import _engine
from raidlab.scenarios.planning.scenario import scenario_of
from raidlab.scenarios.planning.trace_files import Timing, TraceFile

NEVER = 2**64 - 1


def numbers(seed: int) -> Iterator[int]:
    """A linear congruential generator (Knuth's MMIX constants), its upper bits."""
    while True:
        seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
        yield seed >> 33


def written(folder: Path, requests: int = 400) -> TraceFile:
    """Random requests, some a little too late in the file."""
    draw, now, lines = numbers(7), 0, []
    for at in range(requests):
        now += next(draw) % 4000
        late = next(draw) % 5000 if at % 17 == 0 else 0
        op, sectors = "RW"[next(draw) % 3 == 0], 1 + next(draw) % 64
        sector = next(draw) % 10_000_000
        time = f"{max(0, now - late) / 1e6:.6f}"
        lines.append(f"0,{sector},{512 * sectors},{op},{time}\n")
    path = folder / "x.spc"
    path.write_text("".join(lines))
    return TraceFile(path)


def drive(name: str) -> Target:
    spec = find_for("--device", name).spec
    assert isinstance(spec, DriveSpec)
    return Target.of_drive(spec)


def array() -> Target:
    return Target.of_scenario(
        scenario_of(
            {
                "title": "x",
                "host": {"model": "generic"},
                "array": [
                    {
                        "name": "data",
                        "level": "raid5",
                        "software_raid": "os",
                        "drives": [{"model": "generic-15000rpm", "count": 4}],
                    }
                ],
            }
        )
    )


TARGETS = {"disk": lambda: drive("generic-15000rpm"), "ssd": lambda: drive("p3700-800")}
TARGETS["array"] = array


def one_by_one(trace: TraceFile, target: Target, *, closed: bool) -> list[int]:
    """Response times in ns of requests that this loop submits and awaits itself."""
    held = read_trace(trace.path, "spc")
    simulation = _engine.Simulation(json.dumps(target.scenario.base))
    took = [0] * len(held)

    def until(limit: int) -> bool:
        done = simulation.advance(limit)
        if done is None:
            return False
        took[done[5]] = done[6] - done[7]
        return True

    asked = zip(held.ops, held.offsets, held.sizes, held.times_ns, strict=True)
    for at, (op, offset, size, time) in enumerate(asked):
        while not closed and until(int(time)):
            pass
        simulation.submit(target.array, int(op), int(offset), int(size), at)
        if closed:
            assert until(NEVER)
    while until(NEVER):
        pass
    return took


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_each_response_time_is_that_of_the_request_alone(tmp_path: Path, name: str) -> None:
    trace, target = written(tmp_path), TARGETS[name]()
    for timing, closed in ((Timing(), False), (Timing(1, pauses=False), True)):
        found = replay(trace, target, timing, each=True)
        expected = one_by_one(trace, target, closed=closed)
        assert np.round(found.simulated_us * 1000).astype(int).tolist() == expected
        row = found.result.results[0]
        assert row["ios"] == row["read"]["ios"] + row["write"]["ios"] == 400
        assert row["latency_us"]["mean"] == pytest.approx(np.mean(expected) / 1000)
        assert row["bottleneck"] is not None and not found.result.breaches
        assert sum(row["timeline"]["iops"]) > 0


def test_closed_loops_keep_their_number_in_flight_and_their_pauses(tmp_path: Path) -> None:
    """By hand: 1 ms of service; 20 requests, 10 ms apart in the trace."""
    path = tmp_path / "x"
    path.write_text("t,op,at,n,took\n" + "".join(f"{10 * at},R,0,512,4\n" for at in range(20)))
    trace = TraceFile(path, "csv", "time=t:ms op=op offset=at:B size=n:B response=took:ms")
    target = _station(servers=4, service_us=1000)

    def seconds(timing: Timing) -> float:
        return float(replay(trace, target, timing).result.results[0]["duration_s"])

    assert seconds(Timing()) == pytest.approx(0.191)
    # The trace's pause is 10 - 4 = 6 ms: 20 services and 19 pauses.
    assert seconds(Timing(1)) == pytest.approx(0.020 + 19 * 0.006)
    assert seconds(Timing(1, slower=0.5)) == pytest.approx(0.020 + 19 * (0.005 - 0.004))
    assert seconds(Timing(1, pauses=False)) == pytest.approx(0.020)
    assert seconds(Timing(4, pauses=False)) == pytest.approx(0.005)


def _station(servers: int, service_us: int) -> Target:
    station = {
        "kind": "station",
        "capacity_bytes": 1 << 40,
        "service_ns": service_us * 1000,
        "distribution": "fixed",
        "servers": servers,
    }
    plan = {**drive("generic-15000rpm").scenario.base, "devices": [station]}
    plan["drives"] = [{**plan["drives"][0], "queue_depth": 0}]
    return Target.of_plan(plan, 1 << 40)


def test_a_trace_in_steady_state_reads_nand(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("".join(f"0,{at * 8},4096,R,{at * 0.001:.3f}\n" for at in range(100)))
    spec = find_for("--device", "p3700-800").spec
    assert isinstance(spec, DriveSpec)
    fresh, filled = (
        replay(TraceFile(path), Target.of_drive(spec, 1, state))  # type: ignore[arg-type]
        for state in ("fresh", "filled")
    )
    assert any("--precondition filled" in warning for warning in fresh.result.warnings)
    assert not filled.result.warnings
    parts = [each.result.results[0]["breakdown_us"]["nand_read"] for each in (fresh, filled)]
    assert parts[0] == 0 < parts[1]


def test_what_comes_from_a_pipe_is_recognised_and_replayed(tmp_path: Path) -> None:
    text, pipe = written(tmp_path).path.read_bytes(), tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(text,))
    writer.start()
    found = replay(TraceFile(pipe), drive("generic-15000rpm"))
    writer.join()
    document = found.to_dict()
    assert document["requests"] == 400
    assert "tmp" not in json.dumps(document).replace(str(tmp_path), "")
    assert document["fingerprint"] == ""


@pytest.mark.parametrize("copies", [1, 2])
def test_gzip_is_the_same_trace_also_in_several_members(tmp_path: Path, copies: int) -> None:
    text = written(tmp_path).path.read_bytes()
    packed = tmp_path / "x.gz"
    half = text.index(b"\n", len(text) // 2) + 1
    parts = [text] if copies == 1 else [text[:half], text[half:]]
    packed.write_bytes(b"".join(map(gzip.compress, parts)))
    assert len(read_trace(packed, "")) == 400


def test_what_stands_much_too_late_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x"
    lines = [f"0,8,4096,R,{at}\n" for at in range(262_200)]
    path.write_text("".join([*lines, "0,8,4096,R,1\n"]))
    with pytest.raises(SpecError, match=r"line 262201 = .*sort the file by time"):
        read_trace(path, "spc")
    path.write_text("".join([*lines[:200_000], "0,8,4096,R,1\n"]))
    times = read_trace(path, "spc").times_ns
    assert all(one <= other for one, other in itertools.pairwise(times.tolist()[:10]))
    assert times[1] == times[2] == 10**9


_GROWTH = """
import sys
from pathlib import Path
from raidlab.calibration.traces.replay import Target, replay
from raidlab.scenarios.planning.scenario import scenario_of
from raidlab.scenarios.planning.trace_files import TraceFile

def peak_mb():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1000

drives = [{"model": "p3700-800", "count": 12}]
array = {"name": "data", "level": "raid5", "software_raid": "os", "drives": drives}
target = Target.of_scenario(scenario_of({"title": "x", "array": [array]}))
before = peak_mb()
replay(TraceFile(Path(sys.argv[1])), target)
print(peak_mb() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_what_a_replay_does_not_touch_takes_no_memory(tmp_path: Path) -> None:
    """Twelve drives of 800 GB have tables of 28 MB and more each; 400 requests need little."""
    path = written(tmp_path).path
    done = subprocess.run(
        [sys.executable, "-c", _GROWTH, str(path)], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) < 60
