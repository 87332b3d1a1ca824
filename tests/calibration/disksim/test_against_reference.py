"""Imported drives in the engine against the independent replay, response by response.

Where the engine departs from DiskSim on purpose (docs/explanation/hard-disk.md) the reference does
as the drives; what DiskSim never does although files ask for it is switched off in both.
"""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raidlab.calibration.disksim.drive import import_disksim
from raidlab.calibration.traces.replay import Target, replay
from raidlab.devices.catalogue import load_device
from raidlab.devices.hdd import HddSpec
from raidlab.scenarios.planning.trace_files import TraceFile
from tests.calibration.disksim import random_disks, variants
from tests.calibration.disksim.disksim_files import FIRST, WHOLE, needs_traces
from tests.reference.disk_replay import Replay, read_validate

GIVEN = ("barracuda", "cheetah9LP", "hp_c2247a")
CLOSE_MS = 0.001
"""The engine's nanoseconds and the reference's floats differ by far less, a cause by more."""
_EARLY = ("read_on_arrival", "write_on_arrival", "read_while_waiting")


def largest_difference_ms(parv: Path, trace: Path, folder: Path) -> float:
    """Of any response of the engine from the reference's."""
    text = import_disksim(parv).to_toml()
    for key in _EARLY:
        text = text.replace(f"{key} = true", f"{key} = false")
    device = folder / "imported.toml"
    device.write_text(text)
    spec = load_device(device).spec
    assert isinstance(spec, HddSpec)
    of_engine = replay(TraceFile(trace, "disksim-validate"), Target.of_drive(spec), each=True)
    of_reference = Replay(parv, as_drives=True).all(read_validate(trace)[0])
    assert of_engine.simulated_us is not None
    return float(np.max(np.abs(of_engine.simulated_us / 1000 - np.array(of_reference))))


@pytest.mark.parametrize("name", GIVEN)
def test_the_first_requests_of_given_drives(tmp_path: Path, name: str) -> None:
    parv, trace = FIRST / f"{name}.parv", FIRST / f"{name}.trace"
    assert largest_difference_ms(parv, trace, tmp_path) < CLOSE_MS


@needs_traces
@pytest.mark.parametrize("name", GIVEN)
def test_all_requests_of_given_drives(tmp_path: Path, name: str) -> None:
    parv, trace = WHOLE / f"{name}.parv", WHOLE / f"{name}.trace"
    assert largest_difference_ms(parv, trace, tmp_path) < CLOSE_MS


@pytest.mark.parametrize("longest_gap_ms", [2, 15, 60])
@pytest.mark.parametrize("name", sorted(variants.VARIANTS))
def test_variants_of_given_drives(tmp_path: Path, name: str, longest_gap_ms: int) -> None:
    parv = variants.write(tmp_path, FIRST, variants.VARIANTS[name])
    sectors = Replay(parv).drive.capacity
    load = random_disks.Load(len(name), 400, longest_gap_ms)
    trace = random_disks.write_trace(tmp_path / "drawn.trace", load, sectors)
    assert largest_difference_ms(parv, trace, tmp_path) < CLOSE_MS


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(seed=st.integers(0, 2**32), scheme=st.sampled_from(random_disks.SCHEMES))
def test_drawn_drives_of_every_scheme(tmp_path: Path, seed: int, scheme: int) -> None:
    parv = random_disks.write(tmp_path, seed, scheme)
    sectors = Replay(parv).drive.capacity
    load = random_disks.Load(seed, 120, (2, 15, 60)[seed % 3])
    trace = random_disks.write_trace(tmp_path / "drawn.trace", load, sectors)
    assert largest_difference_ms(parv, trace, tmp_path) < CLOSE_MS
