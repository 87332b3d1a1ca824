"""What a load waits for has a utilization and can be named as the limit."""

import pytest

from raidlab.scenarios.report.runs import answers
from raidlab.scenarios.running.simulate import simulate


def _run(model, rw, block="4 KiB", depth=4, area="1 GB", **run):
    """Rate, utilization by kind of the only drive's components, and the answer."""
    load = {"rw": rw, "block_size": block, "outstanding": depth, "area": area, "align": block}
    found = simulate(
        {
            "host": {"model": "generic"},
            "array": [{"drives": [{"model": model}]}],
            "workload": [load],
            "run": {"warm_up": "1 s", "duration": "1 s"} | run,
        }
    )
    (row,) = found.results
    busy = {each["kind"]: each["utilization"] for each in row["components"]}
    return row, busy, answers.answer(found)


@pytest.mark.parametrize(
    ("rw", "area"), [("randread", "4 KiB"), ("write", "1 GB"), ("read", "1 GB")]
)
def test_a_disk_that_its_command_processing_limits_says_so(rw, area):
    """60 us a command are 16,667 a second: hits of the buffer, and streams of small blocks."""
    row, busy, answer = _run("generic-15000rpm", rw, area=area)
    assert row["iops"] == pytest.approx(1e6 / 60, rel=1e-3)
    assert busy["firmware"] == pytest.approx(1, abs=1e-3)
    assert busy["drive"] < 0.8
    assert "The limit: array-0/generic-15000rpm.0 firmware 100 %" in answer


def test_command_processing_counts_each_command():
    """By hand: the rate times 60 us."""
    row, busy, _ = _run("generic-15000rpm", "randread", depth=1, duration="4 s")
    assert busy["firmware"] == pytest.approx(row["iops"] * 60e-6, rel=0.01)


def test_a_head_that_a_stream_waits_for_is_at_work():
    """One reader of large blocks waits for the head for all but command, link and host."""
    row, busy, answer = _run("generic-15000rpm", "read", block="256 KiB", depth=1)
    waits = row["breakdown_us"]["transfer"] / row["latency_us"]["mean"]
    assert 0.85 < waits < busy["drive"] <= 1
    assert "The limit: array-0/generic-15000rpm.0 9" in answer


def test_a_disk_on_a_scsi_bus_works_while_it_serves_a_command():
    """It serves one command at a time: with others waiting it never rests."""
    row, busy, answer = _run("cheetah9lp", "randread", area="4 KiB")
    assert row["ios"] > 100
    assert busy["drive"] == pytest.approx(1, abs=0.01)
    assert "firmware" not in busy
    assert "The limit: array-0/cheetah9lp.0 100 %" in answer


def test_a_limit_of_power_is_a_component(tmp_path):
    path = tmp_path / "limited.toml"
    path.write_text(
        'kind = "ssd"\nname = "limited"\ntitle = "Limited"\nlike = "pm9a3-960"\n'
        '[power]\nlimit = "6 W"\n'
    )
    _, busy, answer = _run(str(path), "randread", depth=128, precondition="filled")
    assert busy["power limit"] == pytest.approx(1, abs=0.02)
    assert "power limit 100 %" in answer


def test_a_thread_of_fio_is_a_server(tmp_path):
    """One thread of 3 us an I/O asks for no more than 333,333 a second, whatever the drive does."""
    (tmp_path / "j.fio").write_text(
        "[a]\nioengine=libaio\ndirect=1\nrw=randread\nbs=4k\niodepth=256\nsize=1g\n"
        "runtime=50ms\ntime_based\nfilename=/dev/x\n"
    )
    found = simulate(
        {
            "host": {"model": "nvme"},
            "array": [{"drives": [{"model": "p3700-1600"}]}],
            "workload": [{"fio": str(tmp_path / "j.fio")}],
            "run": {"precondition": "filled"},
        }
    )
    (row,) = found.results
    (thread,) = [each for each in row["components"] if each["kind"] == "host"]
    assert thread["utilization"] == pytest.approx(row["iops"] * 3e-6, rel=0.01)
    assert "The limit: host thread 0 100 %" in answers.answer(found)
