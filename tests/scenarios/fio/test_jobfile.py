"""Job files are read as fio reads them."""

import pytest

from raidlab.devices.faults import SpecError
from raidlab.scenarios.fio import jobfile as fio_jobs

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


def test_an_option_before_any_section_is_a_fault():
    with pytest.raises(SpecError, match="line 1"):
        fio_jobs.parse("rw=read\n", "x.fio")


def test_options_of_an_included_file_count_where_the_line_stands(tmp_path):
    (tmp_path / "base.fio").write_text("bs=64k\nrw=write\n")
    (tmp_path / "job.fio").write_text("[a]\nbs=4k\ninclude base.fio\nrw=read\n")
    (section,) = fio_jobs.read(tmp_path / "job.fio")
    assert (section.get("bs"), section.get("rw")) == ("64k", "read")


def test_sections_in_an_included_file_are_a_fault_as_with_fio(tmp_path):
    (tmp_path / "base.fio").write_text("bs=64k\n[b]\n")
    (tmp_path / "job.fio").write_text("[a]\ninclude base.fio\n")
    with pytest.raises(SpecError, match=r"base\.fio: section"):
        fio_jobs.read(tmp_path / "job.fio")


def test_comments_end_a_line_wherever_they_begin():
    (section,) = fio_jobs.parse("[a] ; the first\nbs=4k # small\nrw=read;sequential\n")
    assert section.name == "a"
    assert (section.get("bs"), section.get("rw")) == ("4k", "read")


def test_an_option_is_found_under_all_its_names():
    (section,) = fio_jobs.parse("[a]\nreadwrite=read\nblocksize = 8k\n")
    assert (section.get("rw"), section.get("bs")) == ("read", "8k")
