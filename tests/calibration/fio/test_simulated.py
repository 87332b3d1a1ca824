"""Jobs are changed only in what the simulated system stands in for, and it is said."""

import shutil
import subprocess

import pytest

from raidlab.calibration.fio.simulated import ARRAY_FILE, simulate
from raidlab.devices.faults import SpecError
from raidlab.scenarios.fio import engines
from raidlab.scenarios.fio import jobfile as fio_jobs
from tests.scenarios.fio.test_jobfile import TEXT


def test_files_and_engines_are_replaced_and_nothing_else():
    changed, notes = simulate(fio_jobs.parse(TEXT))
    assert notes == []
    text = fio_jobs.write(changed)
    assert "/dev/sd" not in text
    assert text.count(f"filename={ARRAY_FILE}") == 2
    for kept in ("rw=randrw", "bs=8k", "iodepth=16", "numjobs=4", "stonewall"):
        assert kept in text


def test_what_is_not_simulated_is_refused_all_at_once():
    with pytest.raises(SpecError) as caught:
        simulate(fio_jobs.parse("[a]\nzonemode=zbd\nfile_append=1\n"), "x.fio")
    text = str(caught.value)
    assert "x.fio: [a] zonemode" in text
    assert "x.fio: [a] file_append" in text


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
        ("offset=100", "[a] offset"),
        ("offset_increment=1000", "[a] offset_increment"),
        ("rw=read:100", "[a] rw"),
        ("zonemode=strided\nzonesize=1000", "[a] zonesize"),
        ("bs_unaligned=1", "[a] bs_unaligned"),
        ("kb_base=1000\nbs=4k", "[a] bs"),
    ],
)
def test_what_no_direct_io_to_the_array_can_be_is_refused(options, reported):
    sections = fio_jobs.parse(f"[a]\nrw=read\ndirect=1\nioengine=libaio\n{options}\n")
    with pytest.raises(SpecError) as caught:
        simulate(sections, "x.fio", 100 * 10**9)
    (fault,) = caught.value.faults
    assert fault.key == reported and fault.file == "x.fio"


@pytest.mark.parametrize(
    "options",
    [
        "bs=4k,64k", "bs=512", "bsrange=1k-64k", "bssplit=4k/50:64k/,8k/", "size=100%",
        "size=50g\noffset=40g", "size=4*1024*1024", "kb_base=1000\nsize=100g", "offset=50%",
        "kb_base=1000\nbs=64KiB", "rw=read:60k", "rw=randread:7", "bs_unaligned=0",
    ],
)  # fmt: skip
def test_what_fio_can_do_is_left_to_it(options):
    sections = fio_jobs.parse(f"[a]\nrw=read\ndirect=1\nioengine=libaio\n{options}\n")
    assert simulate(sections, "x.fio", 100 * 10**9)[1] == []


@pytest.mark.parametrize("option", ["runtime=0.5", "timeout=0.5m", "ramp_time=0,1"])
def test_a_time_that_fio_takes_for_none_is_refused(option):
    with pytest.raises(SpecError) as caught:
        simulate(fio_jobs.parse(f"[a]\nrw=read\ndirect=1\n{option}\n"), "x.fio")
    (fault,) = caught.value.faults
    assert "takes" in fault.allowed and "for 0" in fault.allowed


def test_a_time_that_fio_cuts_short_is_named(monkeypatch):
    monkeypatch.setenv("LONG", "1.5")
    text = "[global]\nruntime=${LONG}m\n[a]\nrw=read\ndirect=1\nthinktime=2.5ms\n"
    changed, notes = simulate(fio_jobs.parse(text))
    assert changed[0].get("runtime") == "${LONG}m"
    assert any("[global]: runtime: 1.5m is 1s" in note and "90s" in note for note in notes)
    assert any("[a]: thinktime: 2.5ms is 2us" in note and "2500us" in note for note in notes)


@pytest.mark.parametrize("direct", ["", "direct=0", "buffered=1"])
def test_a_job_that_would_go_through_the_page_cache_is_reported_that_there_is_none(direct):
    _, notes = simulate(
        fio_jobs.parse(f"[global]\nioengine=libaio\n[a]\n{direct}\n[b]\ndirect=1\n")
    )
    assert notes == ["[a]: no page cache is here, I/O is as with direct=1"]


def test_no_job_is_a_fault():
    with pytest.raises(SpecError, match=r"^job: at least one"):
        simulate(fio_jobs.parse("[global]\nrw=read\n"))


def refused(text):
    with pytest.raises(SpecError) as caught:
        simulate(fio_jobs.parse(text), "x.fio")
    return {fault.key: fault for fault in caught.value.faults}


@pytest.mark.parametrize("engine", sorted([*engines.REFUSED, "external:/tmp/x.so", "nonesuch"]))
def test_an_engine_that_is_not_simulated_is_refused_by_name(engine):
    (fault,) = refused(f"[global]\nioengine={engine}\n[a]\nrw=read\n").values()
    assert (fault.key, fault.value) == ("[a] ioengine", engine)
    assert engine in fault.allowed.split(";")[1]


@pytest.mark.parametrize("engine", sorted(engines.SIMULATED_AS))
def test_an_engine_that_runs_as_another_is_named(engine):
    changed, notes = simulate(fio_jobs.parse(f"[a]\nrw=read\ndirect=1\nioengine={engine}\n"))
    runs = changed[0].get("ioengine")
    assert runs == engines.SIMULATED_AS[engine]
    assert any(f"{engine} is simulated as {runs}" in note for note in notes) == (engine != runs)


@pytest.mark.parametrize(
    ("asked", "depth", "runs", "said"),
    [
        ("libaio", 1, "posixaio", "libaio is simulated as posixaio"),
        ("libaio", 8, "libaio", "counts a flush's latency from an earlier I/O"),
        ("io_uring", 8, "posixaio", "io_uring is simulated as posixaio"),
    ],
)
def test_flushes_between_ios_wait_as_their_engine_does(asked, depth, runs, said):
    text = f"[a]\nrw=write\ndirect=1\nioengine={asked}\niodepth={depth}\nfsync=8\n"
    changed, (note,) = simulate(fio_jobs.parse(text))
    assert changed[0].get("ioengine") == runs
    assert said in note


def test_options_of_io_uring_are_left_out_and_named():
    text = "[a]\nrw=read\ndirect=1\nioengine=io_uring\nhipri\nregisterfiles=1\nsqthread_poll=1\n"
    changed, notes = simulate(fio_jobs.parse(text))
    for key in ("hipri", "registerfiles", "sqthread_poll"):
        assert changed[0].get(key) is None
        assert any(key in note for note in notes)


def test_what_files_were_named_is_left_out_and_said_once_for_all_jobs():
    text = "[a]\nopenfiles=2\nnrfiles=8\n[b]\nnrfiles=8\nopenfiles=4\n"
    _, notes = simulate(fio_jobs.parse(f"[global]\nrw=read\ndirect=1\nioengine=libaio\n{text}"))
    assert notes == ["[a], [b]: nrfiles, openfiles: the simulated array stands in"]


def test_a_replayed_log_never_opens_the_files_that_it_names():
    changed, _ = simulate(fio_jobs.parse("[a]\nread_iolog=x.log\nreplay_redirect=/dev/sda\n"))
    assert changed[0].get("replay_redirect") == ARRAY_FILE


@pytest.mark.parametrize(
    "option",
    [
        "exec_prerun=blkdiscard /dev/sda",
        "exec_postrun=nvme format /dev/nvme0",
        "mem=mmap:/tmp/x",
        "iomem=shmhuge",
        "lockmem=64g",
        "cpus_allowed=0-63",
        "cpumask=0xffff",
        "numa_cpu_nodes=0",
        "numa_mem_policy=interleave:0-1",
        "verify_async_cpus=7",
        "log_compression_cpus=7,9-11",
        "gtod_cpu=0",
        "nice=-5",
        "prio=3",
        "cgroup=slow",
        "uid=1000",
        "ioscheduler=mq-deadline",
        "pre_read=1",
        "verify_dump=1",
        "write_hint=short",
    ],
)
def test_what_acts_on_this_machine_is_left_out_and_named(option):
    changed, notes = simulate(fio_jobs.parse(f"[a]\nrw=read\ndirect=1\n{option}\n"))
    name = fio_jobs.ALIASES.get(option.partition("=")[0], option.partition("=")[0])
    assert changed[0].get(name) is None
    assert any(note.startswith(f"[a]: {name} left out: ") for note in notes)


def test_options_that_are_left_out_for_one_reason_are_named_together():
    _, notes = simulate(fio_jobs.parse("[a]\ndirect=1\nexec_prerun=a\nexec_postrun=b\nprio=0\n"))
    assert notes == ["[a]: exec_prerun, exec_postrun left out: no command is run"]


@pytest.mark.parametrize(
    "option",
    ["cpus_allowed=all", "cpus_allowed=3-1", "cpumask=x", "gtod_cpu=-1", "numa_mem_policy=near"],
)
def test_a_value_that_fio_does_not_see_is_read_all_the_same(option):
    (fault,) = refused(f"[a]\nrw=read\n{option}\n").values()
    assert fault.key == f"[a] {option.partition('=')[0]}"


def test_what_was_verified_is_written_to_no_file():
    changed, _ = simulate(fio_jobs.parse("[a]\nrw=write\ndirect=1\nverify=md5\n"))
    assert changed[0].get("verify_state_save") == "0"


def test_a_log_replaces_no_file_of_another_kind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "letter").write_text("Dear all")
    (tmp_path / "old.log").write_text("fio version 2 iolog\n")
    (tmp_path / "x_bw.1.log").symlink_to("/dev/null")
    text = "[a]\nrw=read\ndirect=1\nioengine=libaio\n"
    simulate(fio_jobs.parse(f"{text}write_iolog=old.log\nwrite_bw_log=new\nwrite_lat_log\n"))
    for option in ("write_iolog=letter", "write_bw_log=x", "write_iolog=/dev/sda9"):
        (fault,) = refused(f"{text}{option}\n").values()
        assert fault.key == f"[a] {option.partition('=')[0]}" and fault.file == "x.fio"
    (fault,) = refused(f"[global]\nwrite_hist_log=/dev/shm/x\n{text}").values()
    assert fault.value == "/dev/shm/x"


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_fio_itself_takes_what_is_written(tmp_path):
    changed, _ = simulate(fio_jobs.parse(TEXT))
    path = tmp_path / "job.fio"
    path.write_text(fio_jobs.write(changed))
    done = subprocess.run(["fio", "--parse-only", path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
