"""Rebuilds against their rate limit."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from raidlab.cli import app
from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import load_scenario
from raidlab.scenarios.report.studies.rebuild import answer, report
from raidlab.scenarios.running.simulate import simulate
from raidlab.scenarios.running.store import Store
from raidlab.scenarios.spec.findings import Code, code_of
from raidlab.scenarios.spec.written import scenario_tree
from raidlab.scenarios.studies import rebuild as study
from raidlab.scenarios.studies import rebuild_samples as sampling
from raidlab.scenarios.studies.rebuild import rebuilds, several_fail
from raidlab.scenarios.studies.rebuild_limit import Cause

SPECS = Path(__file__).parents[3] / "devices" / "specs" / "hdd"
SCENARIO = """
title = "a small rebuild"
[controller]
model = "lsi2208-1g-3.0"
[[array]]
name = "data"
level = "raid5"
drives = [{{ model = "{drive}", count = 4 }}]
used = "4 MiB"
stripe_unit = "16 KiB"
{spares}
[[workload]]
profile = "database"
rate = "500 IO/s"
[run]
warm_up = "0 s"
duration = "60 s"
after_rebuild = "1 s"
{event}
"""
FAILS = """
[[event]]
at = "1 s"
action = "fail-drive"
drive = 1
"""


@pytest.fixture
def scenario(drives, tmp_path):
    def written(spares="hot_spares = 1", event=FAILS):
        path = tmp_path / "rebuild.toml"
        text = SCENARIO.format(drive=drives / "sas.toml", spares=spares, event=event)
        path.write_text(text)
        return path

    return written


@pytest.mark.parametrize("where", ["controller", "host"])
def test_a_larger_rate_rebuilds_sooner_and_users_wait_longer(scenario, where):
    path = scenario()
    if where == "host":
        controller = '[controller]\nmodel = "lsi2208-1g-3.0"\n'
        text = path.read_text().replace(controller, "")
        path.write_text(text.replace("used =", 'software_raid = "os"\nused ='))
    found = rebuilds(path, (0.2, 1.0))
    slow, fast = found.rebuilds
    assert slow.rebuild_s > 2 * fast.rebuild_s > 0
    assert fast.phases["during"].p99_ms > fast.phases["before"].p99_ms
    assert fast.phases["during"].p99_ms >= slow.phases["during"].p99_ms
    assert set(slow.phases) == {"before", "during", "after"}
    assert slow.lost_writes == fast.lost_writes == 0
    assert found.used_bytes == 4 << 20 and found.whole_drive_s(fast) > 1000 * 3600 * fast.hours
    assert fast.mb_per_s == pytest.approx((4 << 20) / fast.hours / 3600 / 1e6)
    assert fast.hours_ci95[0] < fast.hours < fast.hours_ci95[1]
    assert slow.hours > fast.hours and slow.p99_us_before > 0
    page = report(found).html()
    assert "hours without redundancy" in page and "users' p99" in answer(found)


IDLE = """
title = "an idle array"
[controller]
model = "lsi2208-1g-3.0"
disk_cache = false
[[array]]
name = "data"
level = "{level}"
drives = [{{ model = "generic-15000rpm", count = 6 }}]
used = "128 MB"
stripe_unit = "{unit}"
hot_spares = 1
[[workload]]
profile = "database"
rate = "0.01 IO/s"
[run]
warm_up = "0 s"
duration = "5 s"
[[event]]
at = "1 s"
action = "fail-drive"
drive = 1
"""


@pytest.mark.parametrize(
    ("level", "unit"),
    [
        ("raid5", "64 KiB"),
        ("raid5", "1 MiB"),
        ("raid6", "64 KiB"),
        ("raid10", "256 KiB"),
    ],
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_an_idle_array_is_rebuilt_at_the_rate_of_its_disks(tmp_path, level, unit, seed):
    """1800 sectors a track in 4 ms, and 0.4 ms to the next: 209 MB/s, whatever the angles.

    Two revolutions, to the first row on the disks that are read and on the spare, are 1.3 % of it.
    """
    path = tmp_path / "idle.toml"
    path.write_text(IDLE.format(level=level, unit=unit))
    result = simulate(path, seed=seed)
    begun = next(e["t_s"] for e in result.events if e["what"].startswith("rebuild on"))
    done = next(e["t_s"] for e in result.events if e["what"].startswith("rebuild done"))
    assert 128 / (done - begun) > 0.975 * 209


SMALL = """
title = "small disks"
[controller]
model = "lsi2208-1g-3.0"
disk_cache = false
[[array]]
name = "data"
level = "raid6"
drives = [{{ model = "{drive}", count = 6 }}]
hot_spares = 1
rebuild_rate = 0.3
[[workload]]
profile = "database"
rate = "{rate}"
[run]
warm_up = "2 s"
duration = "3000 s"
after_rebuild = "1 s"
[[event]]
at = "12 s"
action = "fail-drive"
drive = 3
"""


@pytest.fixture
def small(tmp_path):
    """A disk of one surface: 2 MB a track at the outside, 0.9 MB at the inside."""

    def written(rate, capacity="12 GB"):
        text = (SPECS / "generic-7200rpm.toml").read_text()
        for old, new in (
            ('"generic-7200rpm"', '"small"'),
            ('"8001563222016 B"', f'"{capacity}"'),
            ("heads = 12", "heads = 1"),
        ):
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "small.toml").write_text(text)
        path = tmp_path / "run.toml"
        path.write_text(SMALL.format(drive=tmp_path / "small.toml", rate=rate))
        return path

    return written


def whole_s(path):
    """Seconds of the scenario's rebuild, simulated from its begin to its end."""
    result = simulate(path)
    begun = next(e["t_s"] for e in result.events if e["what"].startswith("rebuild on"))
    return next(e["t_s"] for e in result.events if e["what"].startswith("rebuild done")) - begun


def test_an_idle_rebuild_takes_what_its_tracks_take(small):
    """Zones of as many cylinders each, 3800 to 1800 sectors a track: 2800 on average.

    4 GB / (2800 · 512 B) = 2790 tracks, each a revolution of 8.33 ms and a skew of 1 ms: 26.0 s.
    """
    seconds = 4e9 / (2800 * 512) * (60 / 7200 + 1e-3)
    path = small("0.01 IO/s", "4 GB")
    assert whole_s(path) == pytest.approx(seconds, rel=0.005)
    (found,) = rebuilds(path, (0.3,)).rebuilds
    assert found.hours_ci95[0] < seconds / 3600 < found.hours_ci95[1]


def test_hours_of_samples_are_those_of_a_rebuild_simulated_whole(small):
    """A sample counted a slice without its pause, and rows under way as missing: up to 10 % off."""
    path = small("50 IO/s", "6 GB")
    (found,) = rebuilds(path, (0.3,)).rebuilds
    low, high = found.hours_ci95
    assert low < whole_s(path) / 3600 < high
    assert high - low < 0.3 * found.hours


def test_an_interrupted_study_shows_the_places_that_it_has_measured(small, monkeypatch):
    real, calls = study.results_of, []

    def interrupted(*args, **settings):
        calls.append(args)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return real(*args, **settings)

    monkeypatch.setattr(study, "results_of", interrupted)
    words = ["rebuild", str(small("50 IO/s")), "--rates", "50", "--json"]
    reported = CliRunner().invoke(app, words)
    assert reported.exit_code == 130
    document = json.loads(reported.stdout)
    assert document["interrupted"]
    (found,) = document["rebuilds"]
    # The load with all drives, a first place, the same for longer: 1 GB has more room.
    assert found["samples"] == 3
    assert found["hours_ci95"][0] < found["hours"] < found["hours_ci95"][1]
    assert "after 3 places" in reported.stderr
    # Before the first place there is nothing to show.
    monkeypatch.setattr(study, "results_of", lambda *_, **__: interrupted_at_once())
    reported = CliRunner().invoke(app, words)
    assert (reported.exit_code, reported.stdout) == (130, "")


def interrupted_at_once():
    raise KeyboardInterrupt


def test_a_run_that_is_too_short_for_its_rebuild_is_left_out(scenario):
    """Its column said that 0 % were done."""
    path = scenario()
    path.write_text(path.read_text().replace('"60 s"', '"1.02 s"'))
    reported = CliRunner().invoke(app, ["rebuild", str(path), "--rates", "20"])
    assert reported.exit_code == 0
    assert "% done" not in reported.stdout and "own run" not in reported.stdout
    (found,) = rebuilds(path, (0.2,)).rebuilds
    assert found.rebuild_s is None and not found.phases and found.hours > 0


UNLOADED = """
title = "nobody waits"
[host]
model = "generic"
[[array]]
level = "raid6"
software_raid = "os"
bitmap = "none"
drives = [{{ model = "{drive}", count = 6 }}]
hot_spares = 1
{more}
[[event]]
at = "1 s"
action = "fail-drive"
drive = 1
"""


def test_without_a_load_one_rate_is_run_and_the_disks_are_the_limit(small, tmp_path):
    """12 GB as above in 78.1 s.

    A share f of the tracks, from the outside, has 3800 f - 1000 f^2 of 2800 parts of the bytes: one
    half of them is on f = 0.4134, which take 32.3 s.
    """
    path = tmp_path / "unloaded.toml"
    small("1 IO/s")
    path.write_text(UNLOADED.format(drive=tmp_path / "small.toml", more=""))
    found = rebuilds(path, (0.3, 0.5, 1.0))
    (rebuild,) = found.rebuilds
    assert found.idle and rebuild.limit.cause is Cause.DRIVE
    assert rebuild.hours * 3600 == pytest.approx(78.1, rel=0.02)
    assert rebuild.mb_per_s == pytest.approx(12e9 / 78.1 / 1e6, rel=0.02)
    assert rebuild.p99_us_before is None and rebuild.p99_us_during is None
    said = answer(found)
    assert said.startswith("Without a load a whole drive of 12.0 GB is rebuilt in 78")
    assert "limited by drives, streaming" in said
    half = UNLOADED.format(drive=tmp_path / "small.toml", more='used = "6 GB"')
    path.write_text(half)
    used = rebuilds(path, (0.3,))
    assert used.rebuilds[0].hours * 3600 == pytest.approx(0.4134 * 78.1, rel=0.02)
    assert used.whole_drive_s(used.rebuilds[0]) == pytest.approx(78.1, rel=0.02)


def test_md_keeps_to_its_sync_speed(small, tmp_path):
    """12 GB at 100 MB/s are 120 s; the disks would do with 78."""
    path = tmp_path / "unloaded.toml"
    small("1 IO/s")
    limited = 'sync_speed_max = "100 MB/s"'
    path.write_text(UNLOADED.format(drive=tmp_path / "small.toml", more=limited))
    (rebuild,) = rebuilds(path, (0.3,)).rebuilds
    assert rebuild.limit.cause is Cause.SYNC_SPEED
    assert rebuild.hours * 3600 == pytest.approx(120, rel=0.03)


def test_a_sync_speed_of_a_controller_is_refused(scenario):
    path = scenario()
    path.write_text(path.read_text().replace("used =", 'sync_speed_max = "1 GB/s"\nused ='))
    with pytest.raises(SpecError, match=r"array.0.sync_speed_max = .*see also rebuild_rate"):
        rebuilds(path)


def test_a_rate_that_is_asked_for_twice_is_run_once(scenario):
    found = rebuilds(scenario(), (0.5, 0.5))
    assert [each.rate for each in found.rebuilds] == [0.5]


def test_a_drive_without_a_spare_is_replaced_where_it_stood():
    """A spare wants a port: a card of eight ports was refused nine drives."""
    tree = {"array": [{"level": "raid5", "drives": [{"model": "five", "count": 8}]}]}
    failing = study.with_failure(tree)
    assert [event["action"] for event in failing["event"]] == ["fail-drive", "replace-drive"]
    assert "hot_spares" not in failing["array"][0]


def test_the_console_and_the_json_have_hours_their_interval_and_p99(scenario):
    path = str(scenario())
    shown = CliRunner().invoke(app, ["rebuild", path, "--rates", "30,100"], env={"COLUMNS": "80"})
    assert max(map(len, shown.stdout.splitlines())) <= 80
    headed = " ".join(shown.stdout.split())
    for column in ("rebuilt", "in, s", "95 % interval", "before, ms", "during, ms", "after, ms"):
        assert column in headed, column
    document = CliRunner().invoke(app, ["rebuild", path, "--rates", "30,100", "--json"])
    for each in json.loads(document.stdout)["rebuilds"]:
        fields = ("rate", "hours", "hours_ci95", "p99_us_during", "p99_us_before")
        assert all(each[field] is not None for field in fields)


SECOND = '[[event]]\nat = "13 s"\naction = "fail-drive"\ndrive = 2\n'


def test_a_controller_rebuilds_two_drives_one_after_the_other(small, tmp_path):
    """Each takes what its tracks take, 78.1 s: 156.2 s together."""
    path = small("0.01 IO/s")
    text = path.read_text() + SECOND
    path.write_text(text[: text.index("[[workload]]")] + text[text.index("[run]") :])
    found = rebuilds(path, (1.0,))
    (each,) = found.rebuilds
    assert (found.failed, found.one_pass) == (2, False)
    assert 3600 * each.hours == pytest.approx(78.1, rel=0.03)
    assert 3600 * each.all_hours == pytest.approx(156.2, rel=0.03)
    assert each.all_hours_ci95[0] < each.all_hours < each.all_hours_ci95[1]
    assert "Both failed drives take 2.6" in answer(found)


def test_md_rebuilds_two_drives_in_one_pass(small):
    path = small("0.01 IO/s")
    text = path.read_text() + SECOND
    text = text[: text.index("[[workload]]")] + text[text.index("[run]") :]
    controller = '[controller]\nmodel = "lsi2208-1g-3.0"\ndisk_cache = false\n'
    assert controller in text
    path.write_text(text.replace(controller, "").replace("hot", 'software_raid = "os"\nhot'))
    found = rebuilds(path, (1.0,))
    (each,) = found.rebuilds
    assert (found.failed, found.one_pass) == (2, True)
    assert each.all_hours == each.hours
    assert "Both failed drives are rebuilt in that pass" in answer(found)


def test_more_failures_than_a_level_survives_are_not_added_up(scenario):
    """RAID 5 without two drives is offline; it may have been rebuilt between the failures."""
    path = scenario(spares="hot_spares = 2", event=FAILS + SECOND)
    (said,) = several_fail(load_scenario(path))
    assert "2 drives fail, and raid5 survives fewer at a time" in said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"event": ""}, "nothing is rebuilt"),
        ({"spares": ""}, "without a spare nothing is rebuilt"),
    ],
)
def test_a_scenario_without_a_rebuild_is_refused(scenario, changes, said):
    with pytest.raises(SpecError, match=said):
        rebuilds(scenario(**changes))


def test_a_failed_drive_of_a_tier_without_a_spare_is_refused_alike(scenario):
    """A tier is an array without hot spares of its own."""
    tier = 'cache_tier = { drives = [{ model = "sas-6g-ssd", count = 2 }] }'
    path = scenario(spares=tier, event=FAILS + 'array = "data-tier"\n')
    path.write_text(path.read_text().replace('"16 KiB"', '"64 KiB"'))
    with pytest.raises(SpecError, match="without a spare nothing is rebuilt"):
        rebuilds(path)


def test_the_command_gives_json_and_refuses_nonsense(scenario):
    path = str(scenario())
    reported = CliRunner().invoke(app, ["rebuild", path, "--rates", "100", "--json"])
    assert reported.exit_code == 0
    assert json.loads(reported.stdout)["rebuilds"][0]["rebuild_s"] > 0
    assert CliRunner().invoke(app, ["rebuild", path, "--rates", "0"]).exit_code == 2
    assert CliRunner().invoke(app, ["rebuild", path, "--rates", "x"]).exit_code == 2


def test_a_page_that_cannot_be_written_is_reported_before_the_work(scenario, tmp_path):
    reported = CliRunner().invoke(app, ["rebuild", str(scenario()), "--html", str(tmp_path)])
    assert reported.exit_code == 2
    assert "is a folder" in reported.stderr


def test_a_rate_below_one_percent_is_reported_as_it_is(scenario, tmp_path):
    """It said `0%`."""
    path, page = str(scenario()), tmp_path / "rebuild.html"
    done = CliRunner().invoke(app, ["rebuild", path, "--rates", "0.5,12.5", "--html", str(page)])
    assert "\n0.5 %" in done.output and "\n12.5 %" in done.output
    assert "0.5 %" in page.read_text()


def test_finished_rates_are_found_again(scenario, tmp_path):
    class StoppedError(Exception):
        pass

    def stop(done, total):
        if done:
            raise StoppedError

    path, file = scenario(), tmp_path / "unfinished.sqlite"
    with Store(file) as store:
        with pytest.raises(StoppedError):
            rebuilds(path, (0.5, 1.0), workers=1, progress=stop, store=store)
        reported = []
        again = rebuilds(
            path, (0.5, 1.0), progress=lambda done, _: reported.append(done), store=store
        )
    assert reported[0] >= 1
    assert again == rebuilds(path, (0.5, 1.0))


def test_an_overload_has_no_p99_and_a_worn_drive_is_worn(tmp_path):
    text = """
[[array]]
level = "raid1"
software_raid = "os"
drives = [{{ model = "generic-sas-10k", count = 2 }}]
hot_spares = 1
[[workload]]
rw = "randread"
block_size = "8 KiB"
rate = "{rate} IO/s"
[run]
state = "sustained"
[[event]]
at = "1 s"
action = "fail-drive"
"""
    path = tmp_path / "s.toml"
    path.write_text(text.format(rate=2000))
    found = rebuilds(path, (0.3,))
    (each,) = found.rebuilds
    assert each.overloaded and each.p99_us_before is None and each.p99_us_during is None
    assert "more I/Os arrive than are served" in answer(found)
    assert Code.OVERLOAD in {code_of(text) for text in found.warnings}
    assert (
        sampling.before_scenario(scenario_tree(path), path, sampling.ARMS).written["run"]["state"]
        == "sustained"
    )
