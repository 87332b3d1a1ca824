"""From a job file's sections to the threads of the engine's plan.

Source: fio's manual; what is unclear there was read off fio 3.33.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, get_args

from raidlab.devices import plan_types
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.plan_types import Direction, FilePlan, JobPlan, Sizes
from raidlab.devices.units import format_size
from raidlab.scenarios.fio import engines, options, sizes, values
from raidlab.scenarios.fio.jobfile import Section, jobs_of
from raidlab.scenarios.fio.places import Place, Places, Target, name_hash
from raidlab.scenarios.fio.reader import Findings, Reader
from raidlab.scenarios.fio.start_delay import start_delay_ns
from raidlab.scenarios.fio.values import OptionValueError, Share

DIRECTIONS: Final[Mapping[str, tuple[Direction, bool]]] = {
    "read": ("read", False),
    "write": ("write", False),
    "trim": ("trim", False),
    "randread": ("read", True),
    "randwrite": ("write", True),
    "randtrim": ("trim", True),
    "rw": ("read_write", False),
    "readwrite": ("read_write", False),
    "randrw": ("read_write", True),
    "trimwrite": ("trim_write", False),
    "randtrimwrite": ("trim_write", True),
}
"""fio's `rw`: what is asked for, and whether in random order."""

_TRIMS = ("trim", "trim_write")
_DEFAULT_SEED = 0x89
UNSEEDED: Final = -1
"""Of a thread that draws its seed from the run's; no seed of the engine's, which are natural."""
_MOST_THREADS = 4096
_MOST_DEPTH = 1 << 16
_MOST_FILES = 10_000
"""Of a job, all clones together."""
_MSEC = 1_000_000
_PERCENTILES = "1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99"


@dataclass(frozen=True)
class Report:
    """How a thread is reported."""

    name: str
    group: int
    grouped: bool
    """True if all threads of its group are one entry."""
    options: Mapping[str, str]
    """The options of its section, as they were written."""
    percentiles: tuple[float, ...]
    shown: tuple[bool, bool, bool]
    """Percentiles of submission, completion and total latencies."""
    kept: tuple[bool, bool, bool]
    """Submission, completion and total latencies at all."""
    target_ns: int = 0
    """Of `latency_target`."""
    compressed: int | None = None
    """By how many percent data can be compressed; None if the job does not say it."""


@dataclass(frozen=True)
class Jobs:
    """All jobs of a file, as the engine runs them."""

    threads: tuple[JobPlan, ...]
    """Entries of the plan."""
    reports: tuple[Report, ...]
    """Of each thread."""
    loads: tuple[str, ...]
    """Names of the jobs, which the threads' `load` counts."""
    notes: tuple[str, ...]
    """What has no effect, or is otherwise than in fio."""
    options: Mapping[str, str]
    """Global options, as they were written."""


@dataclass
class _Job:
    """A section with its options, before its files have their places."""

    reader: Reader
    section: Section
    clones: int
    inherited: Sequence[tuple[str, str | None]]
    """Options of [global]."""
    files: list[list[str]] = field(default_factory=list)
    """Names of the files of each clone."""


def resolve(
    sections: Iterable[Section],
    file: str,
    targets: Mapping[str, Target],
    default: str,
    variables: Mapping[str, str] | None = None,
) -> Jobs:
    """The threads of all jobs.

    Args:
        sections: As they were read.
        file: Where, for messages.
        targets: Arrays by their names.
        default: The array that stands for any device.
        variables: Values of `${NAME}` besides those of the environment.

    Raises:
        SpecError: Everything that cannot be run.
    """
    findings = Findings(file, variables=variables or {})
    places = Places(targets, targets[default])
    jobs = _jobs(sections, findings)
    if not jobs:
        findings.found.append(Fault("job", None, "at least one section besides [global]", (), file))
    for job in jobs:
        job.reader.check_names()
        job.reader.check_engine()
        sizes.check_places(job.reader)
    clones = sum(job.clones for job in jobs)
    if clones > _MOST_THREADS:
        allowed = f"at most {_MOST_THREADS} threads of all jobs"
        findings.found.append(Fault("numjobs", clones, allowed, (), file))
        raise SpecError(findings.found)
    for job in jobs:
        _name_files(job, places)
    _note_devices(jobs, places)
    if places.total > places.default.size_bytes:
        allowed = (
            f"files of at most {format_size(places.default.size_bytes)} in all, what the array"
            f" holds; these have {format_size(places.total)}"
        )
        findings.found.append(Fault("size", None, allowed, (), file))
    threads: list[JobPlan] = []
    reports: list[Report] = []
    order = _Order()
    for load, job in enumerate(jobs):
        phase, group = order.next(job.reader)
        after = _after(job.reader, jobs[:load])
        for clone in range(job.clones):
            number = len(threads) + 1
            start: plan_types.Start = {
                "after": after,
                "file": 0,
                "phase": phase,
                "delay_ns": start_delay_ns(job.reader, number, _seed(job.reader)),
                "ends_others": job.reader.flag("exitall"),
            }
            threads.append(_thread(job, clone, places, load, number, start))
            reports.append(_report(job, group))
    findings.raise_if_any()
    return Jobs(
        tuple(threads),
        tuple(reports),
        _unique(job.section.name for job in jobs),
        findings.lines(),
        _written(Section("global", [each for job in jobs[:1] for each in job.inherited])),
    )


def _jobs(sections: Iterable[Section], findings: Findings) -> list[_Job]:
    jobs = []
    for inherited, section in jobs_of(sections, findings.file):
        reader = Reader(section.name, inherited, section, findings)
        clones = reader.read("numjobs", lambda text: values.whole(text, 1, _MOST_THREADS), 1)
        jobs.append(_Job(reader, section, clones, inherited.options))
    return jobs


def _after(reader: Reader, earlier: Sequence[_Job]) -> int | None:
    """The job whose end a job waits for."""
    wanted = reader.text("wait_for")
    if not wanted or wanted == "none":
        return None
    names = [job.section.name for job in earlier]
    if wanted not in names:
        reader.fault("wait_for", "the name of an earlier job", names)
        return None
    return names.index(wanted)


class _Order:
    """Phases between stonewalls, and groups of reports."""

    def __init__(self) -> None:
        self._phase = self._group = 0
        self._first = True

    def next(self, reader: Reader) -> tuple[int, int]:
        """Phase and group of the next job."""
        walled, parted = reader.flag("stonewall"), reader.flag("new_group")
        if not self._first:
            self._phase += walled
            self._group += walled or parted
        self._first = False
        return self._phase, self._group


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    found: list[str] = []
    for name in names:
        number, unique = 1, name
        while unique in found:
            number += 1
            unique = f"{name}-{number}"
        found.append(unique)
    return tuple(found)


def _written(section: Section) -> dict[str, str]:
    return {key: "1" if value is None else value for key, value in section.options}


def _report(job: _Job, group: int) -> Report:
    reader = job.reader
    listed = reader.read("percentile_list", _percentiles, _percentiles(_PERCENTILES))
    kept = tuple(not reader.flag(f"disable_{name}") for name in ("slat", "clat", "lat"))
    shown = (
        reader.flag("slat_percentiles"),
        reader.flag("clat_percentiles", default=not reader.flag("lat_percentiles")),
        reader.flag("lat_percentiles"),
    )
    return Report(
        name=job.section.name,
        group=group,
        grouped=reader.flag("group_reporting"),
        options=_written(job.section),
        percentiles=listed,
        shown=shown,
        kept=(kept[0], kept[1], kept[2]),
        compressed=sizes.compressed(reader),
        target_ns=reader.time("latency_target"),
    )


def _percentiles(text: str) -> tuple[float, ...]:
    found = tuple(values.number(part) for part in text.split(":") if part)
    if not found or len(found) > 20 or max(found) > 100:
        raise OptionValueError("up to 20 percentages with colons between them")
    return tuple(sorted(found))


def _name_files(job: _Job, places: Places) -> None:
    """The names of the files of each clone, and how large files of their own must be."""
    reader = job.reader
    named = _split_names(reader.text("filename"))
    most = max(1, _MOST_FILES // job.clones)
    count = reader.read("nrfiles", lambda text: values.whole(text, 1, most), 1)
    folder = reader.text("directory")
    sized = "size" in reader or "filesize" in reader
    if not sized:
        named = [name if places.device(name) else f"/dev/{name}" for name in named]
    for clone in range(job.clones):
        names = list(named)
        if not named and not sized and count == 1:
            names = ["/dev/array"]
        elif not named:
            before = f"{folder}/" if folder else ""
            names = [f"{before}{job.section.name}.{clone}.{at}" for at in range(count)]
        job.files.append(names)
        own = [name for name in names if places.device(name) is None]
        for name in own:
            places.need(name, _own_size(reader, clone, len(names)))


def _note_devices(jobs: Sequence[_Job], places: Places) -> None:
    """Several names of devices that are one array here."""
    of_jobs = [{name for names in job.files for name in names} for job in jobs]
    alike = places.stand_ins(name for names in of_jobs for name in names)
    text = f"{', '.join(alike[:6])} are one array: names of the scenario's arrays are several"
    for job, names in zip(jobs, of_jobs, strict=True):
        if len(alike) > 1 and not names.isdisjoint(alike):
            job.reader.findings.note(job.reader.name, text)


def _split_names(text: str) -> list[str]:
    kept = text.replace("\\:", "\0")
    return [part.replace("\0", ":") for part in kept.split(":") if part]


def _own_size(reader: Reader, clone: int, count: int) -> int:
    """Bytes of a file that is no array: all that the job uses of it."""
    whole = reader.bytes("filesize")
    if whole:
        return whole
    found = reader.bytes_or_share("size")
    if reader.is_at_fault("size"):
        return 0
    if isinstance(found, Share) or not found:
        reader.fault("size", "bytes, for a file that is no device and has no filesize=")
        return 0
    return _offset(reader, clone, 0) + -(-found // count)


def _offset(reader: Reader, clone: int, whole: int) -> int:
    """Where a clone's I/O begins."""
    first, increment = reader.bytes_or_share("offset"), reader.bytes_or_share("offset_increment")
    share = isinstance(first, Share) or isinstance(increment, Share)
    offset = (first.of(whole) if isinstance(first, Share) else first) + clone * (
        increment.of(whole) if isinstance(increment, Share) else increment
    )
    if not share:
        return offset
    align = reader.bytes("offset_align")
    align = align or min(each["min"] for each in sizes.of_directions(reader))
    return -(-offset // align) * align


def _thread(
    job: _Job, clone: int, places: Places, load: int, number: int, start: plan_types.Start
) -> JobPlan:
    reader = job.reader
    direction, random, sequence = _direction(reader)
    of_directions = sizes.of_directions(reader)
    law = sizes.distribution(reader)
    if not random:
        for each in of_directions:
            each["align"] = each["min"]
    mapped = law["kind"] == "uniform" and not reader.flag("norandommap")
    mapped = mapped and all(each["align"] == each["min"] for each in of_directions)
    files, size, array = _files(job, clone, places, of_directions)
    if law["kind"] == "zoned_abs" and not reader.is_at_fault("size", "filesize", "offset"):
        sizes.check_zones(reader, of_directions, min(file["io_bytes"] for file in files))
    if direction in _TRIMS and not places.takes_trim(array):
        reader.fault("rw", "reads and writes: the array has hard disks, which have no TRIM")
    ran = reader.choice("random_generator", "tausworthe", get_args(plan_types.RandomGenerator))
    seeded = "randseed" in reader
    seed = _seed(reader)
    repeats = reader.flag("randrepeat", default=True)
    service = sizes.file_service(reader)
    synchronous, depth = _depth(reader)
    thread: JobPlan = {
        "load": load,
        "number": number,
        "start": start,
        "array": array,
        "extent": _extent(reader, size),
        "direction": direction,
        "random": random,
        "read_percent": _read_percent(reader),
        "sequence": sequence,
        "sizes": of_directions,
        "unaligned": reader.flag("bs_unaligned"),
        "sizes_by_order": reader.flag("bs_is_seq_rand"),
        "distribution": law,
        "random_map": mapped,
        "generator": ran,
        "seeds": {
            "seed": seed if seeded or repeats else UNSEEDED,
            "repeat_offsets": repeats,
            # fio 3.33 seeds offsets before it reads that a randseed is given.
            "repeat_passes": repeats and not seeded,
            "repeat_all": reader.flag("allrandrepeat"),
            "same_sizes": _is_verified(reader),
        },
        "files": files,
        "file_service": service.kind,
        "file_service_ios": service.ios,
        "strides": _strides(reader),
        "synchronous": synchronous,
        "depth": depth,
        "caps": _caps(reader, of_directions),
        "think": _think(reader),
        "syncs": _syncs(reader, direction),
        "verify": _verify(reader, direction, in_order=not (random and mapped) or ran == "lfsr"),
        "latency_target": _latency_target(reader),
        "max_latency_ns": reader.time("max_latency"),
        "sample_ns": reader.whole("bwavgtime", 500) * _MSEC,
    }
    if service.law is not None:
        thread["file_distribution"] = service.law
    return thread


def _seed(reader: Reader) -> int:
    return reader.read("randseed", lambda text: values.size(text), _DEFAULT_SEED)


def _direction(reader: Reader) -> tuple[Direction, bool, plan_types.Sequence]:
    """What is asked for, whether in random order, and fio's number behind `rw`."""
    word, _, number = reader.text("rw", "read").partition(":")
    if word not in DIRECTIONS:
        reader.fault("rw", f"one of {', '.join(DIRECTIONS)}", list(DIRECTIONS))
        word = "read"
    direction, random = DIRECTIONS[word]
    between = reader.choice("rw_sequencer", "sequential", get_args(plan_types.Sequencer))
    sequence: plan_types.Sequence = {"every": 1, "step_bytes": 0, "between": between}
    try:
        if number and random:
            sequence["every"] = values.whole(number, 1)
        elif number:
            back = number.startswith("-")
            step = values.size(number.lstrip("-"), reader.kb_base)
            sequence["step_bytes"] = -step if back else step
    except OptionValueError as fault:
        reader.fault("rw", f"behind the colon, {fault}")
    return direction, random, sequence


def _read_percent(reader: Reader) -> int:
    percent = lambda text: values.whole(text, 0, 100)  # noqa: E731
    if "rwmixread" in reader:
        return reader.read("rwmixread", percent, 50)
    return 100 - reader.read("rwmixwrite", percent, 50)


def _extent(reader: Reader, size: int) -> plan_types.Extent:
    io_size = reader.bytes_or_share("io_size")
    runtime = reader.time("runtime")
    time_based = reader.flag("time_based")
    if time_based and not runtime:
        reader.findings.note(reader.name, "time_based has no effect: it wants a runtime")
    return {
        "size": size,
        "io_size": io_size.of(size) if isinstance(io_size, Share) else io_size,
        "loops": reader.whole("loops", 1, 1),
        "number_ios": reader.whole("number_ios", 0),
        "runtime_ns": runtime,
        "time_based": time_based and runtime > 0,
        "ramp_ns": reader.time("ramp_time"),
    }


def _files(
    job: _Job,
    clone: int,
    places: Places,
    of_directions: Sequence[Sizes],
) -> tuple[list[FilePlan], int, int]:
    """The files of a clone, the bytes that it uses of all of them, and their array."""
    reader = job.reader
    names = job.files[clone]
    size = reader.bytes_or_share("size")
    least = min(each["min"] for each in of_directions)
    each_size, extra = (0, 0)
    if not isinstance(size, Share) and "filesize" not in reader:
        each_size = size // len(names)
        extra = (size - each_size * len(names)) // least
    files: list[FilePlan] = []
    total, arrays = 0, set()
    for name in names:
        target = places.device(name)
        place = places.place(name) if target is None else Place(target, 0, target.size_bytes)
        arrays.add(place.target.index)
        offset = _offset(reader, clone, place.size)
        used = each_size
        if extra and used:
            extra, used = extra - 1, used + least
        used = used or place.size - offset
        if isinstance(size, Share) and size.percent != 100:
            used = min(size.of(used + offset), place.size - offset)
            used -= used % least
        wrong = offset + used > place.size or used < least
        # Of a size that cannot be, nothing follows.
        if wrong and not reader.is_at_fault("size", "filesize"):
            key = "offset" if offset + least > place.size else "size"
            space = max(0, place.size - offset)
            allowed = f"at least a block of {least} B, at most {space} B, what {name} has there"
            reader.fault(key, allowed)
        total += used
        files.append(
            {
                "start_bytes": place.start,
                "offset_bytes": offset,
                "io_bytes": used,
                "real_bytes": place.size,
                "name_hash": name_hash(name),
            }
        )
    if len(arrays) > 1:
        reader.fault("filename", "files of one array for each job")
    if not isinstance(size, Share) and size:
        total = min(size, total)
    return files, total, min(arrays)


def _strides(reader: Reader) -> plan_types.Strides | None:
    mode = reader.choice("zonemode", "none", ("none", "strided"))
    size = reader.bytes("zonesize")
    if mode == "none" and ("zonemode" in reader or not size):
        return None
    if not size:
        reader.fault("zonemode", "strided with a zonesize=")
        return None
    given = reader.bytes("zonerange")
    skip = reader.bytes("zoneskip")
    return {"size": size, "range": given or size, "skip": skip}


def _depth(reader: Reader) -> tuple[bool, plan_types.Depth]:
    """Whether a thread waits for each I/O, and how many it has."""
    engine = engines.name_of(reader.text("ioengine", "psync"))
    synchronous = engines.SIMULATED_AS.get(engine) not in ("libaio", "posixaio")
    asked = reader.read("iodepth", lambda text: values.whole(text, 1, _MOST_DEPTH), 1)
    depth = 1 if synchronous else asked
    if synchronous and asked > 1:
        reader.findings.note(
            reader.name, f"iodepth has no effect: ioengine={engine} has one I/O at once"
        )
    batch = reader.whole("iodepth_batch", 1)
    low = reader.whole("iodepth_low", 0)
    least = reader.whole("iodepth_batch_complete_min", 1)
    return synchronous, {
        "depth": depth,
        "batch": batch if 0 < batch <= depth else depth,
        "complete_min": least,
        "complete_max": max(least, reader.whole("iodepth_batch_complete_max", 0)),
        "low": low if 0 < low <= depth else depth,
    }


def _caps(reader: Reader, of_directions: Sequence[Sizes]) -> list[plan_types.Cap]:
    """Bytes a second of each direction; 0 without a cap."""
    kind = reader.choice("rate_process", "linear", ("linear", "poisson"))

    def rates(text: str) -> list[float]:
        parts = values.by_direction(text, ("0", "0", "0"))
        return [values.amount(part, reader.kb_base) for part in parts]

    none = [0.0, 0.0, 0.0]
    by_bytes, by_ios = reader.read("rate", rates, none), reader.read("rate_iops", rates, none)
    if any(by_bytes) and any(by_ios):
        reader.fault("rate_iops", "left out beside rate")
    caps = [
        round(each or ios * sizes["min"])
        for each, ios, sizes in zip(by_bytes, by_ios, of_directions, strict=True)
    ]
    if max(caps) >= 1 << 40:
        reader.fault("rate" if any(by_bytes) else "rate_iops", "at most 2^40 B/s")
    return [{"bytes_per_s": cap, "poisson": kind == "poisson"} for cap in caps]


def _think(reader: Reader) -> plan_types.Think | None:
    pause = reader.time("thinktime")
    if not pause:
        return None
    after = reader.time("thinktime_iotime")
    kind = reader.choice("thinktime_blocks_type", "complete", ("complete", "issue"))
    given = "thinktime_blocks" in reader or not after
    return {
        "pause_ns": pause,
        "blocks": reader.whole("thinktime_blocks", 1, 1) if given else 0,
        "completed": kind == "complete",
        "after_ns": after,
    }


def _syncs(reader: Reader, direction: str) -> plan_types.Syncs:
    word = reader.choice("sync", "none", ("none", "0", "sync", "1", "dsync"))
    syncs: plan_types.Syncs = {
        "fsync": reader.whole("fsync", 0),
        "fdatasync": reader.whole("fdatasync", 0),
        "at_end": reader.flag("end_fsync"),
        "each_write": word not in ("none", "0"),
        "allocates": direction in ("write", "randwrite") and not reader.flag("overwrite"),
    }
    if word == "dsync":
        syncs["data_only"] = True
    if engines.queues_flushes(engines.name_of(reader.text("ioengine", "psync"))):
        syncs["queued"] = True
    return syncs


def _is_verified(reader: Reader) -> bool:
    return reader.choice("verify", "none", options.CHECKSUMS) not in ("none", "0")


def _verify(reader: Reader, direction: str, *, in_order: bool) -> plan_types.Verify | None:
    """Reads of what a job has written; `in_order`: in the order of offsets, each block once."""
    backlog = reader.whole("verify_backlog", 0)
    batch = reader.whole("verify_backlog_batch", 0)
    if not _is_verified(reader):
        return None
    if direction in ("read", "trim") or not reader.flag("do_verify", default=True):
        reader.findings.note(reader.name, "verify reads nothing back: no contents are compared")
        return None
    return {"by_offset": in_order, "backlog": backlog, "batch": batch or backlog}


def _latency_target(reader: Reader) -> plan_types.LatencyTarget | None:
    target = reader.time("latency_target")
    if not target:
        return None
    window = reader.time("latency_window")
    return {
        "target_ns": target,
        "window_ns": window,
        "percentile": reader.read("latency_percentile", values.number, 100.0),
        "runs_on": reader.flag("latency_run"),
    }
