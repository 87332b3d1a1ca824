"""Which family of device was measured: what excludes one, what is taken, how sure that is."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

from raidlab.calibration.fitting.calibrate import calibrate
from raidlab.calibration.fitting.estimation import families
from raidlab.calibration.fitting.estimation.families import Family, Tried, choose_family
from raidlab.calibration.fitting.estimation.stages import Settings
from raidlab.calibration.fitting.estimation.start import base_of, kind_for, kind_in, known_of
from raidlab.calibration.fitting.estimation.start import system_of as system
from raidlab.calibration.fitting.parameters.facts import bound, facts_of
from raidlab.calibration.fitting.parameters.kinds import kind_of
from raidlab.calibration.fitting.recovery import SYSTEMS
from raidlab.calibration.measurements.measurement import Machine
from raidlab.cli import app
from raidlab.devices.faults import SpecError
from tests.calibration.fitting.test_calibrate_input import measured

FEW = (1, 4, 16)


def tried(family: Family, kind: str, error: float) -> Tried:
    return Tried(family, kind, np.full(12, error), np.zeros(12))


def test_the_family_of_least_error_is_taken_and_sure() -> None:
    """The example by hand: 0.05 at each point beside 0.20."""
    of = [tried(Family.VOLUME, "virtual-disk", 0.2), tried(Family.DISK, "hdd", 0.05)]
    found = families._choice(of, ())
    assert (found.kind, found.confidence) == ("hdd", 1.0)
    assert "disk (hdd)" in next(found.said()) and "volume 22 %" in next(found.said())


def test_of_families_that_predict_alike_the_simpler_one_is_taken_but_a_table_last() -> None:
    of = [tried(Family.FLASH, "ssd", 0.20), tried(Family.STATION, "station", 0.21)]
    assert families._choice(of, ()).kind == "station"
    of = [tried(Family.VOLUME, "table", 0.20), tried(Family.DISK, "hdd", 0.21)]
    assert families._choice(of, ()).kind == "hdd"


def test_points_that_differ_leave_the_choice_unsure() -> None:
    """Each is right on half of the points, so about half of the samples say either."""
    half = np.array([0.0, 0.4] * 6)
    of = [Tried(Family.DISK, "hdd", half, half), Tried(Family.FLASH, "ssd", 0.4 - half, half)]
    assert 0.4 < families._choice(of, ()).confidence < 0.9


def test_facts_and_times_exclude_families() -> None:
    points = measured(FEW).points
    virtual = choose_family(points, Machine(device="vda"), (), Settings(kind=""))
    assert virtual.only == "virtual-disk" and virtual.kind == ""
    by_time = choose_family(points, None, (), Settings(kind=""))
    assert any("random read alone" in each.why for each in by_time.excluded)
    assert Family.DISK in {each.family for each in by_time.excluded}
    slow, facts = measured((1, 2, 3), 8000.0).points, facts_of(["rpm=7200"])
    known = choose_family(slow, None, facts, Settings(kind=""))
    assert known.kind == "hdd" and "only one" in next(known.said())


def test_facts_that_no_device_has_together_are_refused() -> None:
    with pytest.raises(SpecError, match="no disk, as a random read alone takes 206 us"):
        choose_family(measured(FEW).points, None, facts_of(["rpm=7200"]), Settings(kind=""))
    facts = facts_of(["rpm=7200", "virtual=yes"])
    with pytest.raises(SpecError, match="a device that can be"):
        choose_family(measured(FEW).points, None, facts, Settings(kind=""))


def test_families_are_tried_on_points_left_out() -> None:
    """Eight servers of 200 us: a station predicts what it has not seen."""
    settings = Settings(kind="station", host="generic")
    points = measured().points
    parts = families._parts(points)
    assert sorted(at for part in parts for at in part) == list(range(6))
    found = families._try(Family.STATION, "station", points, parts, None, (), settings)
    assert found.rate_pct < 10.0 and found.error < 0.1


def test_a_calibration_says_what_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = {Family.STATION: 0.3, Family.VOLUME: 0.1, Family.FLASH: 0.5}

    def fake(family: Family, kind: str, *rest: object) -> Tried:
        return tried(family, kind, errors[family])

    monkeypatch.setattr(families, "_try", fake)
    found = calibrate(measured(), Settings(kind="", host="generic"))
    assert found.settings.kind in ("virtual-disk", "table")
    document = found.to_dict()["families"]
    assert (document["taken"], document["confidence"]) == ("volume", 1.0)
    assert [each["family"] for each in document["tried"]] == ["volume", "station", "flash"]
    assert "disk" in document["excluded"]
    assert any("sure to 100 %" in text for text in found.warnings)


def test_wrong_facts_are_all_said_at_once() -> None:
    with pytest.raises(SpecError) as refused:
        facts_of(["rmp=7200", "rpm=fast", "virtual=perhaps", "capacity=4 parsecs", "x"])
    assert len(refused.value.faults) == 5
    assert "did you mean" in str(refused.value) and "rpm" in str(refused.value)
    with pytest.raises(SpecError, match="one value"):
        facts_of(["rpm=7200", "rpm=5400"])


def test_a_kind_without_the_fact_is_refused_by_name() -> None:
    with pytest.raises(SpecError, match="no nvme has it; of kinds that do: hdd"):
        bound("nvme", facts_of(["rpm=7200"]))
    with pytest.raises(SpecError, match="no hdd has it"):
        bound("hdd", facts_of(["link=pcie-4.0-x4"]))


def test_facts_bind_the_device() -> None:
    facts = facts_of(["rpm=10000", "capacity=300 GB", "link=sas-6g"])
    said = bound("hdd", facts)
    tree, sources = base_of(
        kind_of("hdd"), Settings(kind="hdd", overrides=said, facts=facts), "m", None
    )
    assert (tree["speed"], tree["capacity"]) == ("10000 rpm", "300000000000 B")
    assert sources["speed"]["source"] == "data-sheet"


@pytest.mark.parametrize("kind", ["ssd", "nvme"])
def test_flash_gets_blocks_for_its_capacity(kind: str) -> None:
    """A template's flash would not hold 8 TB; each number of dies gets blocks for it."""
    facts = facts_of(["capacity=8 TB"])
    settings = Settings(kind=kind, overrides=bound(kind, facts), facts=facts)
    found = kind_for(settings)
    tree, _ = base_of(found, settings, "m", None)
    assert tree["capacity"] == "8000000000000 B"
    for mode in found.modes:
        for option in mode.options:
            assert option.values["nand.blocks_per_plane"] > 2000


def test_the_drives_of_a_system_say_kind_and_facts(tmp_path) -> None:
    own = 'kind = "hdd"\nname = "own"\nlike = "sas-6g-hdd"\nspeed = "10000 rpm"\n'
    own += '[sources]\nspeed = { source = "measured", note = "read from x.txt" }\n'
    (tmp_path / "own.toml").write_text(own)
    text = (SYSTEMS / "disks.toml").read_text().replace('"unknown"', '"./own.toml"')
    path = tmp_path / "s.toml"
    path.write_text(text)
    assert kind_in(str(path)) == "hdd"
    around = system(kind_of("hdd"), Settings(kind="hdd", system=str(path)))
    assert "speed" in known_of(around)
    with pytest.raises(SpecError, match="unknown"):
        kind_in(str(SYSTEMS / "disks.toml"))


def test_the_command_refuses_what_is_no_fact(tmp_path) -> None:
    (tmp_path / "m.json").write_text(measured(FEW).to_json())
    done = CliRunner().invoke(
        app, ["calibrate", str(tmp_path / "m.json"), "--kind", "nvme", "--fact", "rpm=7200"]
    )
    assert done.exit_code == 2 and "no nvme has it" in done.output
