"""How open loads arrive: what may be written, lists of rates and the knee that they show."""

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.report.runs import answers
from raidlab.scenarios.report.runs.report import html_report, pictures
from raidlab.scenarios.running.simulate import simulate


def scenario(drives, *loads, **run):
    return {
        "array": [{"name": "data", "drives": [{"model": str(drives / "sas.toml")}]}],
        "workload": [
            {"rw": "randread", "block_size": "4 KiB", "area": "32 GB"} | load for load in loads
        ],
        "run": {"warm_up": "1 s", "duration": "4 s"} | run,
    }


def faults_of(tree):
    with pytest.raises(SpecError) as caught:
        build_scenario(tree)
    return {fault.key: fault.allowed for fault in caught.value.faults}


BURSTS = {"kind": "on-off", "on": "1 s", "off": "2 s"}
SIMILAR = {"kind": "self-similar", "hurst": 0.8, "on": "1 s", "off": "2 s"}


@pytest.mark.parametrize(
    ("load", "key", "said"),
    [
        ({"rate": []}, "rate", "a list of rates"),
        ({"rate": ["100 IO/s", "0 IO/s"]}, "rate", "above 0"),
        ({"rate": ["100 IO/s", 5]}, "rate", "a unit is missing"),
        ({"rate": ["100 IO/s", "5 MB/s"]}, "rate", "a rate of I/Os"),
        ({"rate": "-1 IO/s"}, "rate", "not negative"),
        ({"arrivals": "constant"}, "arrivals", "without `rate`"),
        ({"arrivals": "constant", "outstanding": 4}, "arrivals", "without `rate`"),
        ({"rate": "9 IO/s", "arrivals": "bursty"}, "arrivals", "poisson"),
        ({"rate": "9 IO/s", "arrivals": {"kind": "on-off"}}, "arrivals.on", "is required"),
        ({"rate": "9 IO/s", "arrivals": BURSTS | {"off": "0 s"}}, "arrivals.off", "1 us to 10 d"),
        ({"rate": "9 IO/s", "arrivals": BURSTS | {"off": "11 d"}}, "arrivals.off", "1 us to 10 d"),
        ({"rate": "9 IO/s", "arrivals": BURSTS | {"on": 3}}, "arrivals.on", "a unit is missing"),
        ({"rate": "9 IO/s", "arrivals": BURSTS | {"hurst": 0.7}}, "arrivals.hurst", "left out"),
        ({"rate": "9 IO/s", "arrivals": BURSTS | {"off_rate": 2}}, "arrivals.off_rate", "0 to 1"),
        ({"rate": "9 IO/s", "arrivals": SIMILAR | {"hurst": 0.5}}, "arrivals.hurst", "above 0.5"),
        ({"rate": "9 IO/s", "arrivals": SIMILAR | {"sources": 0}}, "arrivals.sources", "1"),
        ({"rate": "9 IO/s", "arrivals": {"kind": "daily"}}, "arrivals.shares", "equal steps"),
        (
            {"rate": "9 IO/s", "arrivals": {"kind": "daily", "shares": [0, -1]}},
            "arrivals.shares",
            "none negative",
        ),
    ],
)
def test_mistakes_are_named(drives, load, key, said):
    found = faults_of(scenario(drives, load))
    key = f"workload.0.{key}"
    assert said in next(allowed for name, allowed in found.items() if name.startswith(key))


def test_lists_go_in_step(drives):
    loads = [{"name": "a", "rate": ["1 IO/s", "2 IO/s"]}, {"name": "b", "outstanding": [1, 2, 3]}]
    assert "a list of 3" in faults_of(scenario(drives, *loads))["workload.0.rate"]
    found = build_scenario(scenario(drives, loads[0], {"outstanding": 5}))
    assert found.points == 2
    rates = [found.plan(point, 0)["workloads"][0]["arrival"]["per_s"] for point in range(2)]
    assert rates == [1, 2]
    assert [each.outstanding for each in found.workloads] == [(0, 0), (5, 5)]


@pytest.fixture(scope="module")
def knee(drives):
    """A drive of 1 ms: it serves 300 and 900 a second, and 1100 and 2000 not."""
    rates = ["300 IO/s", "900 IO/s", "1100 IO/s", "2000 IO/s"]
    return simulate(build_scenario(scenario(drives, {"name": "web", "rate": rates})))


def test_a_list_of_rates_gives_a_run_each_and_the_knee(knee):
    assert [row["offered_iops"] for row in knee.results] == [300, 900, 1100, 2000]
    assert [row.offered_iops for row in knee.rows] == [300, 900, 1100, 2000]
    curve = answers.curves(knee.summary())[0]
    assert curve.knee["offered_iops"] == 900
    text = answers.answer(knee)
    assert text.startswith("900 IO/s are served, p99")
    assert "at 1,100 IO/s the queue grows" in text
    assert "The limit: sas.0" in text or "The limit: data/sas.0" in text or "drive" in text
    assert any("more arrives than is served at 1,100 IO/s, 2,000 IO/s" in w for w in knee.warnings)
    assert len([w for w in knee.warnings if "than is served" in w]) == 1


def test_the_knee_is_drawn(knee):
    first = pictures(knee)[0]
    assert first.seen == "Up to 900 IO/s all is served"
    assert "knee 900" in str(first.figure)
    assert "offered IO/s" in str(first.figure)
    assert "Up to 900" in html_report(knee)


def test_rates_that_are_all_served_or_none(drives):
    served = simulate(build_scenario(scenario(drives, {"rate": ["100 IO/s", "200 IO/s"]})))
    assert answers.answer(served).startswith("All rates up to 200 IO/s are served")
    none = simulate(build_scenario(scenario(drives, {"rate": ["2 kIO/s", "4 kIO/s"]})))
    assert answers.answer(none).startswith("Not even 2,000 IO/s are served")


def test_patterns_arrive_at_their_mean_rate(drives):
    """Constant arrivals below the drive's rate never wait: 1 ms, link and host."""
    loads = [
        {"name": "even", "rate": "100 IO/s", "arrivals": "constant"},
        {"name": "bursts", "rate": "50 IO/s", "arrivals": BURSTS | {"off": "10 ms", "on": "5 ms"}},
        {"name": "similar", "rate": "50 IO/s", "arrivals": SIMILAR | {"sources": 200}},
        {
            "name": "day",
            "rate": "50 IO/s",
            "arrivals": {"kind": "daily", "shares": [1, 3], "day": "1 s"},
        },
    ]
    rows = simulate(build_scenario(scenario(drives, *loads, duration="40 s"))).results
    assert rows[0]["ios"] == pytest.approx(4000, abs=2)
    for row in rows[1:]:
        assert row["iops"] == pytest.approx(50, rel=0.25)


def test_constant_arrivals_alone_never_wait(drives):
    load = {"rate": "900 IO/s", "arrivals": "constant"}
    latency = simulate(build_scenario(scenario(drives, load))).results[0]["latency_us"]
    assert latency["max"] == pytest.approx(latency["min"])
