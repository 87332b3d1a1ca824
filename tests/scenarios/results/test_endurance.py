"""Wear and heat of SSDs as the table and the page of a run tell them."""

import pytest
from typer.testing import CliRunner

from raidlab.cli import app
from raidlab.scenarios.planning.scenario import load_scenario
from raidlab.scenarios.results.endurance import cautions, endurance
from raidlab.scenarios.results.report import html_report
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
    # 1.2 TB of NAND of 20,000 cycles each, twice; ten drive writes a day by the data sheet.
    assert deep["rated_tb"] == pytest.approx(2 * 20_000 * 1.23695, rel=1e-4)
    assert deep["rated_drive_writes_per_day"] == 10
    assert deep["nand_per_host_byte"] >= 1
    runs = [row for row in result.results if row["outstanding"] == 32]
    written, rates = [], []
    for row in runs:
        drives = [c["figures"] for c in row["components"] if c["kind"] == "drive"]
        written.append(sum(figures["nand_bytes_written"] for figures in drives))
        rates.append(max(figures["nand_bytes_written"] for figures in drives))
    assert deep["nand_gb"] == pytest.approx(sum(written) / 2 / 1e9)
    # The drive with the most to take in lives shortest: its cycles over what it writes in 60 ms.
    years = sum(20_000 * 1.23695e12 / (rate / 0.06) for rate in rates) / 2 / 365 / 86_400
    assert deep["life_years"] == pytest.approx(years, rel=0.05)
    assert 30 < deep["temperature_c_max"] < 70
    assert deep["throttled_s"] == 0


def test_reads_wear_nothing_and_disks_have_no_line(tmp_path):
    (line, _) = endurance(simulate(load_scenario(scenario(tmp_path, rw="randread"))))
    assert line["life_years"] is None
    # What the NAND takes is the same for a drive that takes nothing in.
    assert line["rated_tb"] == pytest.approx(2 * 20_000 * 1.23695, rel=1e-4)
    assert line["nand_per_host_byte"] is None
    assert line["temperature_c_max"] > 30
    disks = load_scenario(scenario(tmp_path, "sas-6g-hdd"))
    assert endurance(simulate(disks)) == []


def test_the_table_and_the_page_show_it(tmp_path):
    path = scenario(tmp_path)
    done = CliRunner().invoke(app, ["run", str(path)])
    assert done.exit_code == 0
    wide = CliRunner().invoke(app, ["run", str(path), "--wide"]).stdout
    for words in ("Flash: wear", "/ host byte", "years", "degC"):
        assert words in wide
    assert "Flash: wear" in done.stdout
    page = html_report(simulate(load_scenario(path)))
    assert "Flash: wear and temperature" in page
    assert "2 x data/p3700-800" in page


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
    assert waiting > 0.1 * (waiting + line["nand_gb"] / line["nand_per_host_byte"])
    assert line["life_years"] is line["drive_writes_per_day"] is None
    assert line["rated_tb"] > 0
    (said,) = cautions([line])
    assert said.startswith("32 outstanding: how long the drives live is not given")
    assert said.replace("'", "&#39;") in html_report(result)
    _, line, waiting = reported("12 s")
    assert waiting < 0.1 * (waiting + line["nand_gb"] / line["nand_per_host_byte"])
    assert line["life_years"] > 0
    assert cautions([line]) == []
