"""Watts of a sheet: energies by hand, and streams that draw what is stated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from raidlab.devices.catalogue import SPECS, load_device
from raidlab.devices.datasheet.flash import first
from raidlab.devices.datasheet.flash_device import device
from raidlab.devices.datasheet.nand import amplification
from raidlab.devices.datasheet.power import energies, watts
from raidlab.devices.datasheet.sheet import Sheet, read_sheet
from raidlab.devices.faults import Faults, SpecError
from raidlab.devices.power import PowerState
from raidlab.devices.schema import check
from raidlab.devices.ssd import SsdSpec
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate
from tests.figures import result_of

SHEETS = SPECS.parent / "datasheets"
_SHEET = {
    "kind": "ssd",
    "name": "example",
    "capacity": "3.2 TB",
    "interface": "pcie-5.0-x4",
    "sequential_read": "14000 MB/s",
    "sequential_write": "10000 MB/s",
    "active_power": "18 W",
    "idle_power": "4 W",
    "cell": "tlc",
}


def _sheet(**changes: Any) -> Sheet:
    faults = Faults()
    sheet = check(Sheet, {key: value for key, value in (_SHEET | changes).items() if value}, faults)
    assert sheet is not None and not faults.found
    return sheet


def test_energies_by_hand() -> None:
    """14 W over 14 GB/s are 1 nJ a byte; a page's 48 us at 80 mW, over 64 KiB, 0.0586 of them. 14 W
    over 10 GB/s are 1.4 nJ: the rest is 0.4586 nJ for each of 65,536 bytes of a program."""
    flash = first(_sheet())
    assert (flash.planes, flash.read_us) == (4, 48)
    found = energies(flash)
    assert found.read_uj == pytest.approx(3.84)
    assert found.byte_nj == pytest.approx(1 - 3.84e3 / 65536)
    assert found.program_uj == pytest.approx(0.4586 * 65.536, rel=1e-3)


def test_what_is_not_stated_is_usual_of_the_class() -> None:
    assert watts(_sheet()) == (4, 18)
    assert watts(_sheet(idle_power=None)) == (4.5, 18)
    assert watts(_sheet(active_power=None, idle_power=None)) == (5, 20)
    disk = {"kind": "hdd", "interface": "sata-6g", "cell": None, "rpm": "7200 rpm"}
    slow = {"sequential_read": "250 MB/s", "sequential_write": None, "capacity": "20 TB"}
    assert watts(_sheet(**disk, **slow, active_power="9 W", idle_power="5 W")) == (5, 9)


def _run(model: str, rw: str, duration: str = "20 ms", **load: Any) -> Any:
    tree = {
        "host": {"model": "nvme-gen5"},
        "array": [{"drives": [{"model": model}]}],
        "workload": [{"rw": rw, "outstanding": [64], "block_size": "128 KiB"} | load],
        "run": {"precondition": "filled", "warm_up": "10 ms", "duration": duration, "seed": 1},
    }
    (row,) = simulate(build_scenario(tree), workers=1).results
    return row


def test_streams_draw_the_stated_power() -> None:
    row = _run("micron-9550-max-3200", "read")
    assert row["power"]["watts"] == pytest.approx(18, rel=0.03)
    assert row["power"]["joules"] == pytest.approx(row["power"]["watts"] * row["duration_s"])
    assert row["power"]["drives"] == 1
    slow = _run("micron-9550-max-3200", "randread", outstanding=[1], block_size="4 KiB")
    assert 4.5 < slow["power"]["watts"] < 5.0


def steady_w(spec: SsdSpec) -> float:
    """Watts under random writes while all dies program: by the page's formula."""
    power, nand = spec.power, spec.nand
    assert power is not None
    page_set = nand.planes * nand.page
    dies = nand.channels * nand.dies_per_channel
    each = sum(nand.program) / len(nand.program) + nand.erase / nand.pages_per_block
    sets = 1e9 * dies / each
    if nand.program_rate is not None:
        sets = min(sets, nand.program_rate / page_set)
    blocks = dies * nand.planes * nand.blocks_per_plane
    spare = blocks * nand.pages_per_block * nand.page / spec.capacity - 1
    moved = 1 - 1 / amplification(max(0.02, spare))
    joules = power.program + power.erase / nand.pages_per_block + moved * power.read
    return power.idle + sets * (joules + (1 - moved) * page_set * power.byte * 1e-9)


def test_every_ssd_draws_no_more_than_its_sheet_states() -> None:
    """SATA drives drew 11 to 28 W in steady state: bytes of collection passed no link."""
    checked = 0
    for path in sorted((SPECS / "ssd").glob("*.toml")):
        spec, sheet = load_device(path).spec, SHEETS / path.name
        if not isinstance(spec, SsdSpec) or spec.power is None or not sheet.exists():
            continue
        _, active = watts(read_sheet(sheet).sheet)
        assert steady_w(spec) <= 1.02 * active, spec.name
        checked += 1
    assert checked > 60


def test_steady_random_writes_of_a_sata_drive_draw_a_few_watts() -> None:
    """By hand: 0.04 W idle, 15,900 programs of 96 uJ, moved reads of 4.8 uJ, a few bytes."""
    tree = {
        "host": {"model": "onboard-sata"},
        "array": [{"drives": [{"model": "860-pro-1000"}]}],
        "workload": [{"rw": "randwrite", "outstanding": [32], "block_size": "4 KiB"}],
        "run": {"precondition": "steady-state", "warm_up": "0.5 s", "duration": "1 s"},
    }
    (row,) = result_of(tree).results
    assert 1.5 < row["power"]["watts"] < 5.5


def test_a_limit_leaves_its_share_of_the_rate(tmp_path: Path) -> None:
    """8 W leave 3.5 W beside idling, of 13.5 W."""
    limited = tmp_path / "limited.toml"
    limited.write_text(
        'kind = "ssd"\nname = "limited"\nlike = "micron-9550-max-3200"\n[power]\nlimit = "8 W"\n'
        '[sources]\n"power.limit" = "data-sheet"\n'
    )
    row = _run(str(limited), "read")
    assert row["power"]["watts"] == pytest.approx(8, rel=0.03)
    assert row["mb_per_s"] == pytest.approx(14000 * 3.5 / 13.5, rel=0.05)


_STATES = """
[power]
idle = "4 W"
[[power.states]]
most = "25 W"
[[power.states]]
most = "8 W"
[[power.states]]
operational = false
most = "0.5 W"
entry = "1 ms"
exit = "2 ms"
after = "10 ms"
[sources]
power = "data-sheet"
"""


def _with_states(tmp_path: Path, text: str = _STATES) -> Path:
    path = tmp_path / "states.toml"
    path.write_text(f'kind = "ssd"\nname = "states"\nlike = "micron-9550-max-3200"\n{text}')
    return path


def test_an_operational_state_is_a_limit(tmp_path: Path) -> None:
    """State 1 of 8 W leaves 4 W beside idling, of 14 W; state 0 of 25 W limits nothing."""
    path = str(_with_states(tmp_path))
    assert _run(path, "read")["mb_per_s"] == pytest.approx(14000, rel=0.03)
    _with_states(tmp_path, _STATES.replace('idle = "4 W"', 'idle = "4 W"\nstate = 1'))
    row = _run(path, "read")
    assert row["power"]["watts"] == pytest.approx(8, rel=0.03)
    assert row["mb_per_s"] == pytest.approx(14000 * 4 / 13.9, rel=0.06)


def test_the_first_read_after_a_rest_pays_the_exit_latency(tmp_path: Path) -> None:
    """A read 20 ms after the last one: after 10 ms the drive enters the state, which takes 1 ms,
    and needs 2 ms to leave it. Of each round it is there for 9 ms, at 0.5 W instead of 4 W."""
    load = {"outstanding": [1], "block_size": "4 KiB", "think_time": "20 ms", "duration": "660 ms"}
    awake = _run("micron-9550-max-3200", "randread", **load)
    slept = _run(str(_with_states(tmp_path)), "randread", **load)
    mean = slept["latency_us"]["mean"]
    assert mean - awake["latency_us"]["mean"] == pytest.approx(2000, abs=1)
    round_ms = 20 + mean / 1000
    assert slept["power"]["watts"] == pytest.approx(4 - 3.5 * 9 / round_ms, rel=0.02)


def test_a_time_left_out_is_that_of_linux() -> None:
    """The first state without operation of a Samsung 950: 50 times (0.5 + 5) ms."""
    written = {"most": "0.07 W", "operational": False, "entry": "500 us", "exit": "5 ms"}
    state = check(PowerState, written, Faults())
    assert state is not None
    assert state.entered_after == 275_000_000


def test_states_of_a_sheet_come_into_the_device(tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.toml"
    sheet.write_text(
        "".join(f'{key} = "{value}"\n' for key, value in _SHEET.items())
        + '[[power_states]]\nmost = "25 W"\n'
        + '[[power_states]]\nmost = "0.5 W"\noperational = false\nentry = "1 ms"\nexit = "2 ms"\n'
    )
    read = read_sheet(sheet)
    out = tmp_path / "device.toml"
    out.write_text(device(first(read.sheet), read).to_toml())
    spec = load_device(out).spec
    assert isinstance(spec, SsdSpec) and spec.power is not None
    assert [state.most for state in spec.power.states] == [25, 0.5]
    assert spec.power.idle_states() == [
        {"after_ns": 150_000_000, "entry_ns": 10**6, "exit_ns": 2 * 10**6, "watts": 0.5}
    ]


@pytest.mark.parametrize(
    ("model", "text", "said"),
    [
        ("micron-9550-max-3200", _STATES.replace("8 W", "26 W"), "power.states.1.most"),
        ("micron-9550-max-3200", _STATES.replace("0.5 W", "6 W"), "power.states.2.most"),
        ("micron-9550-max-3200", _STATES.replace("8 W", "3 W"), "power.states.1.most"),
        ("micron-9550-max-3200", _STATES.replace("4 W", '4 W"\nstate = 2\n#', 1), "power.state"),
        ("micron-9550-max-3200", _STATES.replace("4 W", '4 W"\nlimit = "9 W', 1), "power.limit"),
        (
            "micron-9550-max-3200",
            _STATES.replace("operational = false\n", "").replace("0.5", "7"),
            "power.states.2.after",
        ),
        ("micron-9550-max-3200", '[power]\nlimit = "4 W"\n', "power.limit"),
        ("hc560-sata", '[power]\nactive = "1 W"\n', "power.active"),
        ("p3700-800", '[thermal]\nidle = "5 W"\n', "is named power.idle now"),
    ],
)
def test_faults_are_named(tmp_path: Path, model: str, text: str, said: str) -> None:
    kind = "hdd" if model.startswith("hc") else "ssd"
    path = tmp_path / "x.toml"
    path.write_text(f'kind = "{kind}"\nname = "x"\nlike = "{model}"\n{text}')
    with pytest.raises(SpecError, match=said):
        load_device(path)
