"""Wear and temperature of SSDs in the table and on the page of a run."""

from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from raidlab.cli import app
from raidlab.scenarios.planning.scenario import load_scenario
from raidlab.scenarios.report.runs.report import html_report
from raidlab.scenarios.results.endurance import cautions, endurance
from raidlab.scenarios.running.simulate import simulate

SCENARIO = """
[[array]]
name = "data"
level = "raid0"
software_raid = "os"
drives = [{{ model = "{model}", count = 2 }}]
[[workload]]
rw = "{rw}"
block_size = "64 KiB"
outstanding = [1, 32]
[run]
warm_up = "10 ms"
duration = "50 ms"
replications = 2
precondition = "filled"
"""


def scenario(folder, model="p3700-800", rw="randwrite"):
    path = folder / "s.toml"
    path.write_text(SCENARIO.format(model=model, rw=rw))
    return path


def test_drives_of_an_array_are_reported_together(tmp_path):
    result = simulate(load_scenario(scenario(tmp_path)))
    shallow, deep = endurance(result)
    assert (shallow["outstanding"], deep["outstanding"]) == (1, 32)
    assert shallow["drives"] == "2 x data/p3700-800"
    # Bytes of the host: ten writes of 800 GB a day over five years by the data sheet, twice.
    assert deep["rated_tb"] == pytest.approx(2 * 10 * 0.8 * 365 * 5, rel=1e-3)
    assert deep["rated_drive_writes_per_day"] == 10
    assert deep["waf"] >= 1
    runs = [row for row in result.results if row["outstanding"] == 32]
    written, rates = [], []
    for row in runs:
        drives = [c["figures"] for c in row["components"] if c["kind"] == "drive"]
        written.append(sum(figures["nand_bytes_written"] for figures in drives))
        rates.append(max(figures["nand_bytes_written"] for figures in drives))
    assert deep["host_gb"] * deep["waf"] == pytest.approx(sum(written) / 2 / 1e9, rel=1e-3)
    # 1.2 TB of NAND of 20,000 cycles. The drive with the most to take in lives shortest: its
    # cycles over what it writes in 60 ms.
    years = sum(20_000 * 1.23695e12 / (rate / 0.06) for rate in rates) / 2 / 365 / 86_400
    assert deep["life_by_cycles_years"] == pytest.approx(years, rel=0.05)
    # Written more often than rated, it lives shorter than the five years, by as much.
    days = deep["rated_drive_writes_per_day"] / deep["drive_writes_per_day"]
    assert deep["life_years"] == pytest.approx(5 * days, rel=0.02)
    assert 30 < deep["temperature_c_max"] < 70
    assert deep["throttled_s"] == 0


def test_reads_wear_nothing_and_disks_have_no_line(tmp_path):
    (line, _) = endurance(simulate(load_scenario(scenario(tmp_path, rw="randread"))))
    assert line["life_years"] is None
    # What NAND takes of the host depends on the write amplification, and there is none.
    assert line["rated_tb"] is line["waf"] is None
    assert line["temperature_c_max"] > 30
    disks = load_scenario(scenario(tmp_path, "sas-6g-hdd"))
    assert endurance(simulate(disks)) == []


def test_the_table_and_the_page_show_it(tmp_path):
    path = scenario(tmp_path)
    done = CliRunner().invoke(app, ["run", str(path)])
    assert done.exit_code == 0
    wide = CliRunner().invoke(app, ["run", str(path), "--wide"]).stdout
    for words in ("Flash: wear", "WAF", "years", "degC"):
        assert words in wide
    assert "Flash: wear" in done.stdout
    page = html_report(simulate(load_scenario(path)))
    assert "Flash: wear and temperature" in page
    assert "2 x data/p3700-800" in page


def drive(host, waf, by_rating):
    """Figures of a drive of 1 GB whose NAND takes 2 TB, after a second; as the engine has them."""
    found = {
        "host_bytes_written": host,
        "nand_bytes_written": waf * host,
        "host_bytes_until_worn": 2e12 / waf,
        "drive_writes_per_day": host * 86_400 / 1e9,
        "life_years": 2e12 / (waf * host) / 86_400 / 365,
    }
    if by_rating:
        found |= {
            "rated_drive_writes_per_day": 1.0,
            "life_years_by_rating": 1.825e12 / host / 86_400 / 365,
        }
    return {"name": "data/d.0", "figures": found}


@pytest.mark.parametrize("by_rating", [True, False])
def test_rated_bytes_are_the_hosts_and_life_agrees_with_drive_writes(by_rating):
    idle = {"name": "data/d.0", "figures": {"host_bytes_written": 0, "nand_bytes_written": 0}}
    row = {"point": 0, "replication": 0, "outstanding": 8, "caches": []}
    parts = [drive(1e7, 4.0, by_rating), drive(1e7, 4.0, by_rating), idle]
    (line,) = endurance(SimpleNamespace(results=[row | {"components": parts}]))
    # By hand: a drive write a day of 1 GB over five years are 1.825 TB. By cycles 2 TB of NAND at a
    # WAF of 4 are 0.5 TB of the host's. The drive that was not written takes as much.
    assert line["rated_tb"] == pytest.approx(3 * (1.825 if by_rating else 0.5))
    assert line["host_gb"] == pytest.approx(0.02) and line["waf"] == pytest.approx(4.0)
    a_day = line["rated_tb"] / 3 * 1e3 / (5 * 365)
    assert line["life_years"] == pytest.approx(5 * a_day / line["drive_writes_per_day"])
    assert line["life_by_cycles_years"] == pytest.approx(5e11 / 1e7 / 86_400 / 365)


CACHED = """
[controller]
model = "lsi2208-1g"
write = "always-write-back"
[[array]]
name = "data"
level = "raid0"
drives = [{{ model = "sas-6g-ssd", count = 4 }}]
[[workload]]
rw = "randwrite"
block_size = "64 KiB"
outstanding = 32
[run]
warm_up = "50 ms"
duration = "{duration}"
precondition = "filled"
"""


def test_life_is_not_given_while_a_cache_takes_the_writes(tmp_path):
    path = tmp_path / "s.toml"

    def reported(duration):
        path.write_text(CACHED.format(duration=duration))
        result = simulate(load_scenario(path))
        (line,) = endurance(result)
        (cache,) = result.results[0]["caches"]
        return result, line, cache["waiting_bytes"] / 1e9

    result, line, waiting = reported("100 ms")
    assert waiting > 0.1 * (waiting + line["host_gb"])
    assert line["life_years"] is line["drive_writes_per_day"] is None
    assert line["rated_tb"] > 0
    (said,) = cautions([line])
    assert said.startswith("32 outstanding: how long the drives live is not given")
    assert said.replace("'", "&#39;") in html_report(result)
    _, line, waiting = reported("12 s")
    assert waiting < 0.1 * (waiting + line["host_gb"])
    assert line["life_years"] > 0
    assert cautions([line]) == []


def test_life_is_that_of_the_recorded_time_where_a_full_cache_stays_full() -> None:
    """Twice the rate of the whole run: half of its life, whatever still waits in the cache."""
    part = drive(1e7, 4.0, True) | {"written": {"host_bytes": 10**6}}
    row = {"point": 0, "replication": 0, "outstanding": 8, "warm_up_s": 19.0, "duration_s": 1.0}
    row["write"] = {"mib_per_s": 1.0}
    full = {"name": "card", "waiting_bytes": 10**9, "gathered_bytes": 0}
    (line,) = endurance(SimpleNamespace(results=[row | {"caches": [full], "components": [part]}]))
    (whole,) = endurance(SimpleNamespace(results=[row | {"caches": [], "components": [part]}]))
    assert line["life_years"] == pytest.approx(whole["life_years"] / 2)
    assert line["drive_writes_per_day"] == pytest.approx(2 * whole["drive_writes_per_day"])
    # Each replication has its own rate: 1 and 2 times the life's.
    steady = row | {"caches": [full], "components": [part]}
    other = drive(1e7, 4.0, True) | {"written": {"host_bytes": 5 * 10**5}}
    slower = steady | {"replication": 1, "components": [other]}
    (both,) = endurance(SimpleNamespace(results=[steady, slower]))
    assert both["life_years"] == pytest.approx(whole["life_years"] * 0.75)
    fills = full | {"gathered_bytes": 10**6}
    (line,) = endurance(SimpleNamespace(results=[row | {"caches": [fills], "components": [part]}]))
    assert line["life_years"] is None
