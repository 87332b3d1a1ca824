"""What points of a campaign leave for those after them: by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from raidlab.calibration.fio.results import import_fio
from raidlab.calibration.fitting.bench.bench import Bench, Effort
from raidlab.calibration.fitting.recovery import load
from raidlab.calibration.measurements.campaign import in_order, mapped_before
from raidlab.calibration.measurements.measurement import Before, Point
from raidlab.devices.catalogue import find
from raidlab.devices.host import HostSpec
from raidlab.devices.schema import DriveSpec


def ended(rw: str, at_s: float | None, ios: int = 0) -> Point:
    point = load(rw, 1)
    side = point.write.model_copy(update={"ios": ios}) if point.write else None
    return point.model_copy(update={"ended_s": at_s, "write": side or point.write})


def test_points_find_what_earlier_ones_wrote_whatever_their_order_in_the_list() -> None:
    last, first, middle = (
        ended("randread", 30.0),
        ended("randread", 10.0),
        ended("randwrite", 20.0, 5),
    )
    found = in_order([last, first, middle])
    assert [each.before and each.before.random_bytes for each in found] == [5 * 4096, 0, 0]
    assert [each.rw for each in found] == ["randread", "randread", "randwrite"]


def test_without_a_time_of_each_point_nothing_is_known() -> None:
    assert all(
        p.before is None for p in in_order([ended("randwrite", 1.0, 9), ended("randread", None)])
    )
    assert mapped_before(ended("randread", None), 0.25, 1000) == 0.25


def test_random_writes_miss_a_share_that_falls_exponentially() -> None:
    """As many bytes as the drive has leave 1/e of what had no data; half of it streamed before."""
    once = load("randread", 1).model_copy(update={"before": Before(random_bytes=1000)})
    assert mapped_before(once, 0.0, 1000) == pytest.approx(1.0 - math.exp(-1.0))
    assert mapped_before(once, 0.2, 1000) == pytest.approx(1.0 - 0.8 * math.exp(-1.0))
    before = Before(random_bytes=1000, sequential_bytes=500)
    both = once.model_copy(update={"before": before})
    assert mapped_before(both, 0.2, 1000) == pytest.approx(1.0 - 0.5 * math.exp(-1.0))


def test_reads_touch_what_was_written_before_them() -> None:
    """A drive without data answers in less than a sense; after ten of its capacities, not."""
    drive, host = find("s4610-480").spec, find("ahci").spec
    assert isinstance(drive, DriveSpec) and isinstance(host, HostSpec)
    bench = Bench.of(drive, host, mapped=0.0)
    fresh = load("randread", 1).model_copy(update={"before": Before()})
    later = fresh.model_copy(update={"before": Before(random_bytes=10 * bench.capacity)})
    quick, slow = (bench.run(each, Effort(ios=500)).latency_mean_us for each in (fresh, later))
    full = Bench.of(drive, host).run(load("randread", 1), Effort(ios=500)).latency_mean_us
    assert quick < 0.8 * slow
    assert slow == pytest.approx(full, rel=0.01)


def test_the_times_of_fio_are_read(tmp_path: Path) -> None:
    side = {"iops": 100.0, "total_ios": 6000, "runtime": 60_000, "clat_ns": {"mean": 1e7}}
    for name, seconds in (("randread-1-1", 2000), ("randwrite-1-1", 1000)):
        way = name.split("-")[0].removeprefix("rand")
        options = {"rw": f"rand{way}", "bs": "4k", "iodepth": "1", "direct": "1"}
        job = {"jobname": name, "groupid": 0, "error": 0, "job options": options, way: side}
        document = {"fio version": "fio-3.1", "timestamp_ms": seconds * 1000, "jobs": [job]}
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    read, write = import_fio([tmp_path]).points
    assert (read.ended_s, write.ended_s) == (2000.0, 1000.0)
    assert read.before is not None and read.before.random_bytes == 6000 * 4096
    assert write.before == Before()
