"""Cloud volumes against closed forms: limits, credit, latency."""

import pytest

from raidlab.devices.catalogue import SPECS, load_device
from raidlab.devices.faults import SpecError
from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate

VOLUME = """
kind = "volume"
name = "mine"
capacity = "100 GB"
{limits}
[latency]
read = "2 ms"
write = "1 ms"
[sources]
all = "assumed"
"""
LIMITS = 'limits = { rate = "2000 IO/s", throughput = "100 MB/s" }'


@pytest.fixture
def measured(tmp_path):
    """Rate and mean latency in ms of a load on a volume."""

    def run(limits=LIMITS, precondition="fresh", warm_up="1 s", duration="4 s", **load):
        (tmp_path / "mine.toml").write_text(VOLUME.format(limits=limits))
        tree = {
            "host": {"model": "generic"},
            "array": [{"drives": [{"model": str(tmp_path / "mine.toml")}]}],
            "workload": [{"rw": "randread", "block_size": "4 KiB", "outstanding": 1} | load],
            "run": {"warm_up": warm_up, "duration": duration, "precondition": precondition},
        }
        result = simulate(build_scenario(tree))
        row = result.results[0]
        assert not result.breaches
        return row["iops"], row["latency_us"]["mean"] / 1e3, row

    return run


@pytest.mark.parametrize(
    ("load", "rate"),
    [
        ({"outstanding": 1}, 1 / 2.005e-3),  # its latency: 2 ms and the host's 5 us
        ({"outstanding": 1, "rw": "randwrite"}, 1 / 1.005e-3),
        ({"outstanding": 32}, 2000),
        ({"outstanding": 32, "block_size": "256 KiB"}, 100e6 / 2**18),
        # Five I/Os each, but bytes are the tighter limit.
        ({"outstanding": 32, "block_size": "1280 KiB"}, 100e6 / (5 * 2**18)),
    ],
)
def test_the_least_of_latency_rate_and_throughput(measured, load, rate):
    found, mean, row = measured(**load)
    assert found == pytest.approx(rate, rel=0.02)
    assert mean == pytest.approx(1e3 * load["outstanding"] / rate, rel=0.02)  # Little
    used = {each["kind"]: each["utilization"] for each in row["components"]}["drive"]
    # Of the rate, or of the throughput where that is nearer.
    size = {"256 KiB": 2**18, "1280 KiB": 5 * 2**18}.get(load.get("block_size"), 4096)
    assert used == pytest.approx(max(rate / 2000, rate * size / 100e6), abs=0.02)


def test_a_large_command_counts_as_several(measured):
    limits = 'limits = { rate = "100 IO/s" }\nio_size = "64 KiB"'
    found, _, _ = measured(limits, outstanding=8, block_size="256 KiB", duration="10 s")
    assert found == pytest.approx(25, rel=0.02)


BURST = LIMITS + '\n[burst]\nrate = "8000 IO/s"\ncredit = "3 s"'


def test_credit_lasts_as_long_as_the_file_says(measured):
    """Of 10 s at most 3 at 8000 a second, the rest at 2000."""
    assert measured(BURST, warm_up="0 s", duration="2 s", outstanding=64)[0] == pytest.approx(
        8000, rel=0.02
    )
    found, _, row = measured(BURST, warm_up="0 s", duration="10 s", outstanding=64)
    assert found == pytest.approx((3 * 8000 + 7 * 2000) / 10, rel=0.02)
    # The burst's own limit holds commands up for 3 s, the credit for 7.
    used = {each["kind"]: each["utilization"] for each in row["components"]}["drive"]
    assert used == pytest.approx(0.7, abs=0.2)


def test_who_has_written_before_has_no_credit(measured):
    found, _, _ = measured(BURST, precondition="filled", outstanding=64)
    assert found == pytest.approx(2000, rel=0.02)


def test_every_volume_of_the_catalogue_states_its_limits():
    files = sorted((SPECS / "volume").glob("*.toml"))
    assert len(files) > 8
    for file in files:
        device = load_device(file)
        assert device.sources["limits.rate"].source == "published"
        assert device.sources["latency.read"].range is not None


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ("limits = {}", "limits: a `rate`, a `throughput`, or both"),
        (
            LIMITS + '\nburst = { rate = "2000 IO/s", credit = "1 s" }',
            r'burst.rate = "2000 IO/s": more',
        ),
        (LIMITS + '\nburst = { credit = "1 s" }', "burst: a `rate`"),
        ('limits = { rate = "0 IO/s" }', "limits.rate"),
        (LIMITS + '\nburst = { rate = "3000 IO/s" }', "burst.credit"),
        (LIMITS + '\nio_size = "0 B"', "io_size"),
        ('limits = { iops = "10 IO/s" }', "limits.iops: unknown key"),
    ],
)
def test_what_cannot_be_is_refused(measured, limits, words):
    with pytest.raises(SpecError, match=words):
        measured(limits)
