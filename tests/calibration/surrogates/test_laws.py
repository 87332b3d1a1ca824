"""Closed networks, laws and kriging against values by hand; which law a measurement has."""

import numpy as np
import pytest

from raidlab.calibration.fitting.recovery import load
from raidlab.calibration.measurements.measurement import Machine, MovedBy
from raidlab.calibration.surrogates.cpu import host_times
from raidlab.calibration.surrogates.forms import Family
from raidlab.calibration.surrogates.kriging import krige
from raidlab.calibration.surrogates.laws import HostTimes, LinesLaw, ServerLaw, fit_law
from raidlab.calibration.surrogates.loads import Loads, Measured, loads_of, tolerance_of
from raidlab.calibration.surrogates.queueing import closed_rate, erlang_loss, rate_exponential
from raidlab.calibration.surrogates.selection import select


def loads(*rows):
    """Loads of (share of reads, block, depth, jobs, sequential)."""
    return Loads(*np.array(rows, dtype=float).T)


GRID = loads(
    *(
        (share, block, depth, jobs, 0)
        for share in (1, 0, 0.5)
        for block in (4096, 65536, 1 << 20)
        for depth, jobs in ((1, 1), (6, 1), (32, 1), (8, 4))
    )
)


def seen(rates, of=GRID):
    return Measured(of, np.asarray(rates), np.full(len(of), 0.05))


def numbers(*us):
    return np.log(np.array(us) * 1e-6)


def test_machine_repairman_by_hand():
    """Two I/Os, 1 ms of service, 1 ms elsewhere: B(2, 1) = (1/2) / (1 + 1 + 1/2) = 0.2."""
    one = np.array([1e-3])
    assert erlang_loss(np.array([2.0]), np.array([1.0])) == pytest.approx(0.2)
    assert rate_exponential(np.array([2.0]), one, one) == pytest.approx(800)
    assert closed_rate(np.array([2.0]), one, one, spread=0.0) == pytest.approx(1000)
    assert closed_rate(np.array([1.0]), one, one) == pytest.approx(500)
    # Two servers are one of 0.5 ms with 0.5 ms more elsewhere: alone an I/O takes 2 ms as before.
    assert closed_rate(np.array([1.0]), one, one, servers=2) == pytest.approx(500)
    assert closed_rate(np.array([500.0]), one, one, servers=2) == pytest.approx(2000)


def test_long_delays_do_not_overflow():
    found = rate_exponential(np.array([4.0, 1e6]), np.full(2, 1e-6), np.full(2, 1.0))
    assert found == pytest.approx([4.0, 1e6], rel=0.01)


def test_a_server_by_hand():
    """10 us and 100 us a 64 KiB block; 90 us outside: 5,000 alone, 1 / 110 us at the server."""
    law = ServerLaw(0.0)
    at = numbers(10, 10, 100 / 65536, 100 / 65536, 90, 90)
    found = law.rates(at, loads((1, 65536, 1, 1, 0), (1, 65536, 64, 1, 0), (0.5, 65536, 8, 8, 0)))
    assert found == pytest.approx([5000, 1e6 / 110, 1e6 / 110])


def test_a_server_a_job_scales_with_jobs_and_a_cap_does_not():
    at = numbers(10, 10, 1e-9, 1e-9, 90, 90)
    many = loads((1, 4096, 32, 4, 0))
    assert ServerLaw(0.0, each_job=True).rates(at, many) == pytest.approx([4e5])
    assert ServerLaw(0.0).rates(at, many) == pytest.approx([1e5])
    capped = np.append(at, np.log([50_000, 100e6]))
    found = ServerLaw(0.0, capped=True).rates(
        capped, loads(*[(1, b, 32, 4, 0) for b in (512, 4096)])
    )
    assert found == pytest.approx([50_000, 100e6 / 4096])


def test_cpu_time_bounds_a_job_and_the_host():
    """20 us of CPU an I/O: 50,000 a second a job, 100,000 on two threads."""
    law = ServerLaw(0.0, host=HostTimes(command=20e-6, threads=2))
    at = numbers(1, 1, 1e-9, 1e-9, 1, 1)
    found = law.rates(at, loads((1, 4096, 32, 1, 0), (1, 4096, 32, 8, 0)))
    assert found == pytest.approx([50_000, 100_000])


def test_lines_stay_beyond_what_was_measured():
    of = loads((1, 4096, 1, 1, 0), (1, 4096, 16, 1, 0), (1, 65536, 16, 1, 0))
    fitted = fit_law(LinesLaw.over(of), seen([1000, 4000, 1000], of))
    between = fitted.rates(loads((1, 4096, 4, 1, 0), (1, 1 << 20, 16, 1, 0)))
    assert between == pytest.approx([2000, 1000 / 16], rel=0.02)


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_a_server_is_found_again(spread):
    truth = numbers(10, 8, 0.6 / 1024, 0.3 / 1024, 50, 40)
    rates = ServerLaw(spread).rates(truth, GRID)
    found = select(seen(rates))
    assert found.chosen.form.family is Family.SERVER and not found.no_law
    assert found.chosen.form.law.spread == spread
    # Each measurement is looked at once.
    assert select(seen(rates)) is found
    assert found.chosen.predictor.rates(GRID) == pytest.approx(rates, rel=0.02)
    assert found.chosen.p90_pct < found.lines.p90_pct
    assert np.exp(found.chosen.predictor.fitted.numbers) == pytest.approx(np.exp(truth), rel=0.2)


def test_caps_are_found_again():
    law = ServerLaw(0.0, capped=True)
    truth = np.append(numbers(2, 2, 0.01 / 1024, 0.01 / 1024, 300, 300), np.log([20_000, 300e6]))
    rates = law.rates(truth, GRID)
    found = select(seen(rates))
    named = found.best_device_law.predictor.fitted.named()
    assert found.best_device_law.form.family is Family.CAPS
    assert named["rate"] == pytest.approx(20_000, rel=0.02)
    assert named["throughput"] == pytest.approx(300e6, rel=0.02)


def test_a_form_is_not_judged_by_what_no_other_point_determines():
    """One load of reads has one I/O outstanding: without it caps leave their latency open."""
    few = loads(
        *(
            (share, block, depth, jobs, 0)
            for share in (1, 0)
            for block, depth, jobs in (
                *((4096, 1, 1), (4096, 32, 1), (65536, 8, 1), (4096, 8, 4)),
                *((1 << 20, 1, 1), (1 << 20, 32, 1)),
            )
        ),
        (0, 16384, 4, 1, 0),
        (0.7, 262144, 32, 4, 0),
        (1, 4096, 1, 1, 0),
    )
    law = ServerLaw(0.0, capped=True)
    truth = np.append(numbers(1, 1, 0.01 / 1024, 0.01 / 1024, 300, 600), np.log([11_700, 131e6]))
    found = select(seen(law.rates(truth, few) * (1 + 0.005 * np.sin(np.arange(len(few)))), few))
    assert found.chosen.form.family is Family.CAPS
    # What is said of points left out is what was found, the open one too.
    assert abs(found.chosen.left_out[0]) > 1.0 > abs(found.chosen.comparable[0])
    assert not found.chosen.determined[[0, len(few) - 1]].any()
    share = np.array([1.0, 0.0])
    between = Loads(share, np.full(2, 65536.0), np.ones(2), np.ones(2), np.zeros(2))
    exact = law.rates(truth, between)
    assert found.chosen.predictor.rates(between) == pytest.approx(exact, rel=0.1)


FLIGHT = loads(
    *(
        (share, block, depth, 1, 0)
        for share in (1, 0, 0.5)
        for block in (4096, 65536, 1 << 20)
        for depth in (1, 6, 32)
    )
)


def test_bytes_beyond_a_cpu_cache_by_hand():
    """100 us a 64 KiB block; 8 MiB in flight, half of it beyond 4 MiB: 100 * (1 + 0.5) us."""
    law = ServerLaw(1.0, cached=True)
    at = np.append(numbers(10, 10, 100 / 65536, 100 / 65536, 1, 1), np.log([4 << 20, 2.0]))
    found = law.rates(at, loads((1, 65536, 16, 1, 0), (1, 65536, 128, 1, 0)))
    assert found == pytest.approx([1e6 / 110, 1e6 / 160], rel=1e-3)


def test_a_cpu_cache_is_found_again_and_a_copied_device_has_no_caps():
    law = ServerLaw(1.0, cached=True)
    truth = np.append(numbers(6, 9, 0.1 / 1024, 0.2 / 1024, 20, 30), np.log([4 << 20, 2.5]))
    rates = law.rates(truth, FLIGHT)
    found = select(seen(rates, FLIGHT), moved_by=MovedBy.KERNEL)
    assert found.chosen.form.family is Family.SERVER_CACHED
    named = found.chosen.predictor.fitted.named()
    assert named["cache"] == pytest.approx(4 << 20, rel=0.2)
    assert named["uncached"] == pytest.approx(2.5, rel=0.1)
    families = {each.form.family for each in found.scored}
    assert not families & {Family.CAPS, Family.SERVER_APART}


@pytest.mark.parametrize(
    ("device", "moved_by"),
    [
        ("loop0", MovedBy.KERNEL), ("zram1", MovedBy.ISSUER), ("pmem0", MovedBy.ISSUER),
        ("vda", MovedBy.DEVICE), (None, MovedBy.DEVICE),
    ],
)  # fmt: skip
def test_devices_that_the_machine_itself_copies(device, moved_by):
    assert Machine(device=device).moved_by is moved_by


def test_memory_as_a_disk_serves_each_job_by_its_own_thread():
    """4 us and 1 us a page on two CPUs, whatever is outstanding; jobs between are not measured.

    Two jobs of 8 KiB take 6 us each, so 2 / 6 us = 333,333 a second; eight have two CPUs as well.
    """
    measured = [
        load("randread", depth, jobs, block).model_copy(update={"cpu_share": None})
        for depth in (1, 32)
        for jobs in (1, 4)
        for block in (4096, 65536, 1 << 20)
    ]
    rates = [min(p.numjobs, 2) / (4e-6 + 1e-6 * p.bs / 4096) for p in measured]
    sides = [
        p.read.model_copy(update={"iops": rate}) for p, rate in zip(measured, rates, strict=True)
    ]
    points = [p.model_copy(update={"read": side}) for p, side in zip(measured, sides, strict=True)]
    host = host_times(points, 2, always_busy=True)
    assert (host.command, host.page, host.wake) == pytest.approx((4e-6, 1e-6, 0.0), abs=1e-9)
    found = select(seen(rates, loads_of(points)), host, MovedBy.ISSUER)
    assert found.chosen.form.family is Family.SERVER
    unseen = loads((1, 8192, 1, 2, 0), (1, 8192, 16, 2, 0), (1, 8192, 4, 8, 0))
    assert found.chosen.predictor.rates(unseen) == pytest.approx([1e6 / 3] * 3, rel=0.02)


def test_where_nothing_is_nearer_than_lines_the_table_is_one_of_lines():
    """Rates that are lines, with noise: no law is nearer by a standard error."""
    lines = LinesLaw.over(GRID)
    rates = lines.rates(np.array([10.0, -0.4, 0.3, 9.0, -0.2, 0.1]), GRID)
    noise = np.random.default_rng(5).normal(0.0, 0.1, len(GRID))
    found = select(seen(rates * np.exp(noise)))
    assert found.no_law
    assert [each.form.name for each, _ in found.average.members] == ["table over lines"]
    assert found.said().startswith("no law, use the table")


def test_where_no_law_is_the_table_is_taken():
    """A rate with a dent of a factor of 4 about 64 KiB, which no server has."""
    rates = ServerLaw(0.0).rates(numbers(10, 8, 1e-6, 1e-6, 50, 40), GRID)
    rates = rates * np.where(GRID.block == 65536, 0.25, 1.0)
    found = select(seen(rates))
    assert found.no_law and found.chosen is None
    assert found.said().startswith("no law, use the table")
    assert found.average.rates(GRID) == pytest.approx(rates, rel=0.15)


def test_servers_of_each_direction_are_found():
    """100 us of bytes each way: 64 KiB half reads pass twice as fast as either alone."""
    truth = np.append(numbers(2, 2, 100 / 65536, 100 / 65536, 50, 50), np.log([1e6, 1e10]))
    law = ServerLaw(0.0, apart=True, capped=True)
    deep = loads((1, 65536, 64, 1, 0), (0.5, 65536, 64, 1, 0))
    assert law.rates(truth, deep) == pytest.approx([1e6 / 102, 2e6 / 102])
    found = select(seen(law.rates(truth, GRID)))
    assert found.chosen.form.family is Family.SERVER_APART
    assert found.chosen.predictor.rates(deep) == pytest.approx([1e6 / 102, 2e6 / 102], rel=0.02)


def test_rates_of_several_rows_of_numbers_are_those_of_each():
    at = np.array([numbers(10, 8, 1e-3, 1e-3, 50, 40), numbers(20, 9, 1e-3, 1e-3, 70, 40)])
    law = ServerLaw(1.0)
    assert law.rates(at, GRID) == pytest.approx(np.array([law.rates(row, GRID) for row in at]))
    planes = LinesLaw.over(GRID)
    many = np.array([[9.0, -0.5, 0.4, 8.0, -0.3, 0.2]] * 2)
    assert planes.rates(many, GRID)[1] == pytest.approx(planes.rates(many[0], GRID))


def test_kriging_keeps_points_and_knows_where_it_is_unsure():
    of = loads((1, 4096, 1, 1, 0), (1, 4096, 32, 1, 0), (1, 65536, 1, 1, 0), (1, 65536, 32, 1, 0))
    measured = Measured(of, np.array([10_000.0, 90_000, 7000, 30_000]), np.full(4, 0.01))
    field = krige(fit_law(LinesLaw.over(of), measured), measured)
    assert field.rates(of) == pytest.approx(measured.rate, rel=0.03)
    near, far = field.deviations(loads((1, 4096, 1, 1, 0), (0, 1 << 20, 512, 16, 1)))
    assert near < 0.3 * far


def test_cpu_times_by_hand():
    """Reads of 4 KiB take 5 us and 15 us more alone; of 64 KiB 15 pages of 0.2 us more."""
    us = {(1, 4096): 20.2, (32, 4096): 5.2 + 15 / 32, (32, 65536): 8.2 + 15 / 32, (1, 65536): 23.2}
    points = []
    for (depth, block), spent in us.items():
        point = load("randread", depth, 1, block)
        points.append(point.model_copy(update={"cpu_share": spent * 1e-6 * point.iops}))
    found = host_times(points, 2)
    assert found.command == pytest.approx(5e-6, rel=0.01)
    assert found.page == pytest.approx(0.2e-6, rel=0.01)
    assert found.wake == pytest.approx(15e-6, rel=0.01)
    assert found.threads == 2
    assert host_times([load("randread", 1, 1, 4096).model_copy(update={"cpu_share": None})]) is None


def test_noisy_points_weigh_less():
    quiet = load("randread", 1, 1, 4096)
    noisy = quiet.model_copy(update={"noisy": ("other programs used 50 % of the CPU time",)})
    assert tolerance_of(noisy) == pytest.approx(3 * tolerance_of(quiet))
