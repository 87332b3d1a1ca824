"""Job files are changed only in what the simulated system stands in for."""

import shutil
import subprocess

import pytest

from raidlab.calibration.fio import jobs as fio_jobs
from raidlab.devices.faults import SpecError

TEXT = """
; a comment
[global]
rw=randrw
ioengine=libaio
direct=1
filename=/dev/sda
bs=8k

[first]
iodepth=16
numjobs=4
# another
[second]
stonewall
filename=/dev/sdb
"""


def names(sections):
    return [section.name for section in sections]


def test_sections_and_options_come_in_order():
    sections = fio_jobs.parse(TEXT)
    assert names(sections) == ["global", "first", "second"]
    assert sections[0].options[0] == ("rw", "randrw")
    assert sections[2].options[0] == ("stonewall", None)
    assert sections[2].get("stonewall") == "1"


def test_files_and_engines_are_replaced_and_nothing_else():
    changed, notes = fio_jobs.simulate(fio_jobs.parse(TEXT))
    assert notes == []
    text = fio_jobs.write(changed)
    assert "/dev/sd" not in text
    assert text.count(f"filename={fio_jobs.ARRAY_FILE}") == 2
    for kept in ("rw=randrw", "bs=8k", "iodepth=16", "numjobs=4", "stonewall"):
        assert kept in text


def test_a_synchronous_engine_keeps_its_depth_of_one():
    changed, notes = fio_jobs.simulate(fio_jobs.parse("[a]\niodepth=32\nrw=read\ndirect=1\n"))
    assert changed[0].get("iodepth") == "1"
    assert "psync" in notes[0]


def test_groups_end_at_walls():
    assert fio_jobs.groups(fio_jobs.parse(TEXT)) == [4, 1]
    assert fio_jobs.groups(fio_jobs.parse("[a]\n[b]\n[c]\nnumjobs=3\n")) == [5]
    assert fio_jobs.groups(fio_jobs.parse("[a]\n[b]\nstartdelay=5\n")) == []
    assert fio_jobs.groups(fio_jobs.parse("[a]\nnumjobs=$ncpus\n")) == []


def test_what_is_not_simulated_is_refused_all_at_once():
    with pytest.raises(SpecError) as caught:
        fio_jobs.simulate(fio_jobs.parse("[a]\nrw=randtrim\nverify=crc32c\n"), "x.fio")
    text = str(caught.value)
    assert "x.fio: [a] rw" in text
    assert "x.fio: [a] verify" in text


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        ("bs=100", "[a] bs"),
        ("bs=4k,1000", "[a] bs"),
        ("bsrange=4k-65000", "[a] bsrange"),
        ("bssplit=4k/50:1000/50", "[a] bssplit"),
        ("size=200g", "[a] size"),
        ("offset=60g\nsize=50g", "[a] size"),
        ("filesize=200g", "[a] filesize"),
    ],
)
def test_what_no_direct_io_to_the_array_can_be_is_refused(options, reported):
    sections = fio_jobs.parse(f"[a]\nrw=read\ndirect=1\n{options}\n")
    with pytest.raises(SpecError) as caught:
        fio_jobs.simulate(sections, "x.fio", 100 * 10**9)
    (fault,) = caught.value.faults
    assert fault.key == reported and fault.file == "x.fio"


@pytest.mark.parametrize(
    "options",
    [
        "bs=4k,64k", "bs=512", "bsrange=1k-64k", "bssplit=4k/50:64k/,8k/", "size=100%",
        "size=50g\noffset=40g", "size=4*1024*1024", "kb_base=1000\nsize=100g", "offset=50%",
    ],
)  # fmt: skip
def test_what_fio_can_do_is_left_to_it(options):
    sections = fio_jobs.parse(f"[a]\nrw=read\ndirect=1\n{options}\n")
    assert fio_jobs.simulate(sections, "x.fio", 100 * 10**9)[1] == []


@pytest.mark.parametrize("direct", ["", "direct=0", "buffered=1"])
def test_a_job_that_would_go_through_the_page_cache_is_reported_that_there_is_none(direct):
    _, notes = fio_jobs.simulate(fio_jobs.parse(f"[a]\nrw=read\n{direct}\n[b]\ndirect=1\n"))
    assert notes == ["[a]: no page cache is here, I/O is as with direct=1"]


def test_an_option_before_any_section_is_a_fault():
    with pytest.raises(SpecError, match="line 1"):
        fio_jobs.parse("rw=read\n", "x.fio")


def test_no_job_is_a_fault():
    with pytest.raises(SpecError, match=r"^job: at least one"):
        fio_jobs.simulate(fio_jobs.parse("[global]\nrw=read\n"))


def test_includes_are_followed(tmp_path):
    (tmp_path / "base.fio").write_text("[global]\nbs=64k\n")
    (tmp_path / "job.fio").write_text("include base.fio\n[a]\nrw=read\n")
    sections = fio_jobs.read(tmp_path / "job.fio")
    assert sections[0].get("bs") == "64k"
    assert names(sections) == ["global", "a"]


def test_the_command_line_comes_apart():
    words = ["--bs=4k", "--name=a", "--rw=read", "--name", "b", "job.fio", "--output-format=json"]
    program, files, sections = fio_jobs.split_command_line(words)
    assert program == ["--output-format=json"]
    assert [str(file) for file in files] == ["job.fio"]
    assert names(sections) == ["global", "a", "b"]
    assert sections[0].options == [("bs", "4k")]


def test_a_value_may_follow_as_the_next_word():
    program, files, _ = fio_jobs.split_command_line(["--output-format", "json", "--minimal", "a"])
    assert program == ["--output-format=json", "--minimal"]
    assert [str(file) for file in files] == ["a"]


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_fio_itself_takes_what_is_written(tmp_path):
    changed, _ = fio_jobs.simulate(fio_jobs.parse(TEXT))
    path = tmp_path / "job.fio"
    path.write_text(fio_jobs.write(changed))
    done = subprocess.run(["fio", "--parse-only", path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
