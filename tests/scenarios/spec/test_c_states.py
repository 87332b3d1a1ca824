"""C-states of the host's CPU: the closed form at depth 1, depth, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from raidlab import simulate
from raidlab.devices.c_states import C_STATES
from raidlab.devices.faults import SpecError


def result(
    tmp_path_factory: Any, service_us: int, host: Mapping[str, str], outstanding: int = 1
) -> float:
    """I/Os a second of a drive that takes the same time for each, on a host of 2 + 2 us."""
    folder = tmp_path_factory.mktemp("host")
    sources = '[sources]\nall = { source = "assumed", note = "an example" }\n'
    (folder / "fixed.toml").write_text(
        f'kind = "station"\nname = "fixed"\ntitle = "Fixed"\ncapacity = "1 TB"\n'
        f'service = "{service_us} us"\ndistribution = "fixed"\n{sources}'
    )
    (folder / "plain.toml").write_text(
        'kind = "host"\nname = "plain"\ntitle = "Plain"\nclock = "1 GHz"\nsubmit = "2 us"\n'
        f'complete = "2 us"\nraid_command = "0 us"\nthreads = 8\n{sources}'
    )
    tree = {
        "host": {"model": str(folder / "plain.toml"), **host},
        "array": [{"drives": [{"model": str(folder / "fixed.toml")}]}],
        "workload": [{"rw": "randread", "block_size": "4 KiB", "outstanding": outstanding}],
        "run": {"warm_up": "0 s", "duration": "100 ms"},
    }
    return simulate(tree).rows[0].iops


@pytest.mark.parametrize(
    ("service_us", "host", "latency_us"),
    [
        (80, {}, 84),
        (80, {"c_states": "haswell"}, 94),
        (120, {"c_states": "haswell"}, 157),
        (120, {"c_states": "haswell", "deepest_c_state": "C1E"}, 134),
        (5000, {"c_states": "haswell"}, 5137),
        (700, {"c_states": "skylake"}, 837),
    ],
)
def test_one_read_at_a_time_takes_the_exit_latency_longer(
    tmp_path_factory: Any, service_us: int, host: dict[str, str], latency_us: int
) -> None:
    """2 us to submit, the drive, the exit latency of the state that pays, 2 us to complete."""
    rate = result(tmp_path_factory, service_us, host)
    assert 1e6 / rate == pytest.approx(latency_us, rel=0.03)


def test_a_thread_that_is_never_idle_loses_nothing(tmp_path_factory: Any) -> None:
    awake = result(tmp_path_factory, 1, {}, outstanding=64)
    assert result(tmp_path_factory, 1, {"c_states": "haswell"}, outstanding=64) == awake


def test_states_of_every_generation_go_deeper_and_take_longer() -> None:
    for states in C_STATES.values():
        exits = [state.exit_us for state in states]
        residencies = [state.residency_us for state in states]
        assert exits == sorted(exits)
        assert residencies == sorted(residencies)


@pytest.mark.parametrize(
    ("host", "key", "words"),
    [
        ({"c_states": "haswel"}, "host.c_states", "haswell"),
        ({"c_states": "skylake", "deepest_c_state": "C3"}, "host.deepest_c_state", "C1, C1E, C6"),
        ({"deepest_c_state": "C3"}, "host.deepest_c_state", "without `c_states`"),
    ],
)
def test_what_no_cpu_has_is_refused(host: dict[str, str], key: str, words: str) -> None:
    tree = {"host": host, "array": [{"drives": [{"model": "five"}]}]}
    with pytest.raises(SpecError) as refused:
        simulate(tree)
    assert key in str(refused.value)
    assert words in str(refused.value)
