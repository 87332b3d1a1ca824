"""fio's JSON and json+ output, of any age and naming, as points of a measurement.

What differs between versions and settings, and is brought to one form here:

- text may stand before and after the JSON (warnings, progress), and with `--status-interval` one
  document after the other;
- old files have no `global options`; newer ones keep shared options there only;
- with `group_reporting` a group's jobs are summed in one entry; without it every clone of a job
  has its own, and they are summed here: rates added, means weighted by I/Os, distributions merged
  (exactly from bins, else from percentiles);
- `percentile` and `bins` are missing where no I/O was made; old files pad percentiles with zeros;
- runs without latencies (`gtod_reduce`, `disable_lat` with `disable_clat`) have the mean that
  follows from rate and depth;
- fio 2 counts in microseconds, its buckets too (`bins.py`).

What is not the one load that the options say (`options.py`, `plain.py`) gives no point. What cannot
be read is skipped and named with the reason: nothing disappears.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from raidlab.calibration.fio import plain
from raidlab.calibration.fio.bins import bins_ns
from raidlab.calibration.fio.bundle_facts import machine_of, noise_of
from raidlab.calibration.fio.logs import Naming, is_log, timeline_of, why_unused
from raidlab.calibration.fio.options import OptionError, load_of
from raidlab.calibration.measurements.bundle import damage
from raidlab.calibration.measurements.campaign import in_order
from raidlab.calibration.measurements.distribution import merge
from raidlab.calibration.measurements.measurement import (
    File,
    Latency,
    Measurement,
    Point,
    Side,
    Skipped,
)
from raidlab.calibration.measurements.results import (
    CUT,
    LARGEST_FILE,
    UnreadableError,
    files_below,
    not_of,
    read_result,
    tool_of,
    written,
)
from raidlab.calibration.measurements.state import State, states
from raidlab.devices.faults import Fault, SpecError
from raidlab.devices.reading import read_json, whole_number

_MOST_BRACES = 200
"""That are tried in a row, if no document of fio begins at them."""
_OF_NAME = re.compile(r"(?:^|[^a-z])(rand)?(read|write|rw)-(\d+)-(\d+)\.json", re.IGNORECASE)


def import_fio(
    paths: Iterable[str | Path], name: str = "", state: State | None = None
) -> Measurement:
    """Reads fio output: files, or folders with everything below them.

    Args:
        paths: Files and folders.
        name: Of the measurement; the first path's last part if empty.
        state: Of the drive before each run, where its result does not say it.

    Raises:
        SpecError: A path does not exist, or nothing of it gave a point.
    """
    given = [Path(path) for path in paths]
    missing = [path for path in given if not path.exists()]
    if missing or not given:
        why = "a file or folder with output of fio"
        raise SpecError([Fault("", None, why, (), str(path)) for path in missing or [Path()]])
    points: list[Point] = []
    files: list[File] = []
    skipped: list[Skipped] = []
    found = sorted({file for path in given for file in files_below(path)})
    beside, unusable, known = _of_bundles(found)
    noise = noise_of(found)
    logs = [file for file in found if is_log(file) and file not in unusable]
    used: set[Path] = set()
    skipped += [Skipped(path=written(path), reason=why) for path, why in unusable.items()]
    for path in found:
        if path in beside or path in unusable or path in logs:
            continue
        try:
            text, digest = read_result(path, "fio")
            runs = runs_of(text)
            for tree in runs:
                read = _points(path, tree, logs, used, skipped)
                points += [
                    _in_state(point, known.get(path) or state, noise.get(path, ()))
                    for point in read
                ]
            version = str(runs[-1].get("fio version", ""))
            stamp = str(runs[-1].get("time", "")).strip()
            files.append(File(path=written(path), sha256=digest, tool=version, time=stamp))
        except UnreadableError as error:
            skipped.append(Skipped(path=written(path), reason=str(error)))
    unused = [path for path in logs if path not in used]
    skipped += [Skipped(path=written(path), reason=why_unused(path)) for path in unused]
    if not points:
        faults = [Fault("", None, skip.reason, (), skip.path) for skip in skipped[:20]]
        raise SpecError(faults or [Fault("", str(given[0]), "holds no file")])
    return Measurement(
        name=name or Path(written(given[0].resolve())).stem,
        points=tuple(
            sorted(in_order(points), key=lambda p: (p.rw, p.bs, p.numjobs, p.iodepth, p.file))
        ),
        machine=machine_of(found),
        files=tuple(files),
        skipped=tuple(skipped),
    )


def _in_state(point: Point, state: State | None, noisy: tuple[str, ...]) -> Point:
    return point.model_copy(update={"state": point.state or state, "noisy": noisy})


def _of_bundles(
    found: Sequence[Path],
) -> tuple[set[Path], dict[Path, str], dict[Path, State]]:
    """Of collectors' bundles: files that hold no results, those that are not to be used, states.

    Not to be used are results of steps that measure nothing, and files that are not as the
    collector has left them, each with the reason. States are those of the drive before a result.
    """
    beside: set[Path] = set()
    unusable: dict[Path, str] = {}
    known: dict[Path, State] = {}
    for path in found:
        if path.name != "manifest.json":
            continue
        folder = path.parent
        try:
            tree = read_json(path, LARGEST_FILE, "manifest")
            steps = [
                (f"{step['number']:03}", str(step["purpose"]), dict(step.get("sha256") or {}))
                for step in tree["steps"]
            ]
            before = states(tree)
        except (SpecError, TypeError, KeyError, AttributeError, ValueError):
            continue
        beside |= {path, folder / "simulated.json"}
        known |= {folder / "steps" / f"{number:03}.json": of for number, of in before.items()}
        for stem, purpose, sums in steps:
            beside.add(folder / "steps" / f"{stem}.fio")
            if purpose != "measure":
                result = folder / "steps" / f"{stem}.json"
                unusable[result] = f"the collector's step of {purpose}: no measurement"
                continue
            for fault in damage(folder, sums):
                unusable[Path(fault.file)] = f"of a bundle: {fault.allowed}"
    return beside, unusable, known


def runs_of(text: str) -> list[dict[str, object]]:
    """The JSON documents in fio's output, one for each run, whatever stands around them.

    With `--status-interval` fio writes a document every so often, each of the whole run so far: of
    documents about the same jobs the last counts. One that begins after it must end.

    Raises:
        ValueError: There is none, or the last is not whole; says why.
    """
    decoder = json.JSONDecoder()
    runs: dict[str, dict[str, object]] = {}
    start, farthest, why = text.find("{"), 0, ""
    tried, broken = 0, False
    while start >= 0 and tried < _MOST_BRACES:
        end, tried = start + 1, tried + 1
        try:
            tree, after = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            broken = broken or _begins_at(start, text)
            if error.pos > farthest:
                farthest, why = error.pos, error.msg
        except RecursionError:
            why = why or "nested too deeply"
        except ValueError:
            why = why or "a number of thousands of digits"
        else:
            if isinstance(tree, dict) and ("jobs" in tree or "client_stats" in tree):
                runs[_jobs_of(tree)] = tree
                end, tried, broken = after, 0, False
        start = text.find("{", end)
    if runs and not broken:
        return list(runs.values())
    if broken or (why and '"jobs"' in text):
        raise UnreadableError(f"JSON that breaks at character {farthest}: {why}; {CUT}")
    if tool_of(text) in (None, "fio"):
        form = next((name for name, mark in _OTHER_FORMS if mark.search(text)), None)
        if form is None:
            raise UnreadableError("no JSON output of fio")
        raise UnreadableError(
            f"no JSON output of fio but its {form} one, which does not hold what was run;"
            " --output-format=json or json+ does"
        )
    raise not_of("fio", text)


def _begins_at(start: int, text: str) -> bool:
    """Whether a document of fio begins at a brace, which is the first of its line.

    A text that ends within its first key may be one.
    """
    head = text[start + 1 : start + 100].strip()
    before = text[max(0, start - 100) : start].rstrip(" \t")
    is_first = before.endswith(("\n", "}")) or not before
    return head.startswith(_FIRST_KEY) or (is_first and _FIRST_KEY.startswith(head))


_FIRST_KEY = '"fio version"'
_OTHER_FORMS = (
    ("terse", re.compile(r"^[2-5];fio-\d|^\d;[^;\n]+(;[\d.%=]+){30}", re.MULTILINE)),
    ("usual", re.compile(r"^\s+(read|write) ?: (IOPS|io)=|clat percentiles \([mun]?sec\)", re.M)),
)
"""Forms of fio's results that have neither the size nor the depth of its jobs."""


def _jobs_of(tree: Mapping[str, object]) -> str:
    """The jobs that a document is about, as text."""
    entries = tree.get("jobs") or tree.get("client_stats")
    jobs = [
        [entry.get(key) for key in ("jobname", "groupid", "hostname", "job options")]
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict)
    ]
    return json.dumps([tree.get("global options"), jobs], sort_keys=True)


def _points(
    path: Path,
    tree: Mapping[str, object],
    logs: Sequence[Path],
    used: set[Path],
    skipped: list[Skipped],
) -> list[Point]:
    entries = tree.get("jobs") or tree.get("client_stats", tree.get("jobs"))
    if not isinstance(entries, list):
        raise UnreadableError('"jobs" is no list')
    if not entries:
        raise UnreadableError('"jobs" is empty: fio has run no job')
    shared = _stated(tree.get("global options"))
    groups: dict[str, list[dict[str, object]]] = {}
    for entry in entries:
        if isinstance(entry, dict) and entry.get("jobname") != "All clients":
            groups.setdefault(repr(entry.get("groupid", 0)), []).append(entry)
    points = []
    listed = list(groups.values())
    beside = plain.beside_others(listed)
    for number, group in enumerate(listed):
        where = f"{path}" if len(groups) == 1 else f"{path} ({group[0].get('jobname')})"
        try:
            options = [_options(path, shared, entry) for entry in group]
            if number in beside:
                raise UnreadableError("it ran while another group of jobs did (new_group)")
            point = _point(path, group, options, is_simulated="raidlab" in tree)
        except (UnreadableError, OptionError) as error:
            skipped.append(Skipped(path=where, reason=str(error)))
            continue
        except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            reason = f"not in fio's form: {_said(error)}"
            skipped.append(Skipped(path=where, reason=reason))
            continue
        naming = Naming(str(group[0].get("jobname", "")), _threads(entries, shared, group))
        timeline = timeline_of(point, options[0], naming, logs)
        used.update(timeline.used, (log for log, _ in timeline.refused))
        skipped += [Skipped(path=written(log), reason=why) for log, why in timeline.refused]
        ended_s = None if "raidlab" in tree else _ended_s(tree)
        points.append(point.model_copy(update={"timeline": timeline.steps, "ended_s": ended_s}))
    return points


def _ended_s(tree: Mapping[str, object]) -> float | None:
    """When fio wrote a document, in seconds since 1970; simulated runs have no such time."""
    for key, scale in (("timestamp_ms", 1e-3), ("timestamp", 1.0)):
        stamp = tree.get(key)
        if isinstance(stamp, int | float) and math.isfinite(stamp) and stamp > 0:
            return stamp * scale
    return None


def _threads(
    entries: Sequence[Any], shared: Mapping[str, str], group: Sequence[Mapping[str, object]]
) -> range | None:
    """The numbers of a group's threads in its run of fio; None if they cannot be known.

    An entry is a thread, or with `group_reporting` all of its group.
    """
    first = 1
    for entry in entries:
        if not isinstance(entry, dict) or entry.get("jobname") == "All clients":
            return None
        own = {**shared, **_stated(entry.get("job options"))}
        numjobs = whole_number(str(own.get("numjobs", "1")))
        if numjobs is None:
            return None
        if entry is group[0]:
            count = len(group) if len(group) > 1 else numjobs
            return range(first, first + count)
        first += numjobs if "group_reporting" in own else 1
    return None


def _said(error: Exception) -> str:
    """What was wrong, in one line."""
    if isinstance(error, ValidationError):
        return "; ".join(
            f"{'.'.join(map(str, each['loc']))} = {str(each['input'])[:40]}: {each['msg']}"
            for each in error.errors(include_url=False)
        )
    if isinstance(error, KeyError):
        return f"{error.args[0]}: is missing"
    return str(error)


def _stated(options: object) -> Mapping[str, str]:
    """Options of a document, as they were written."""
    return options if isinstance(options, Mapping) else {}


def _options(
    path: Path, shared: Mapping[str, str], entry: Mapping[str, object]
) -> Mapping[str, str]:
    options = {**shared, **_stated(entry.get("job options"))}
    match = _OF_NAME.search(path.name)
    if "rw" not in options and "readwrite" not in options and match is not None:
        rw = f"{(match[1] or '').lower()}{match[2].lower()}"
        options = {"ioengine": "libaio", "direct": "1", "rw": rw}
        options |= {"iodepth": match[3], "numjobs": match[4]}
    return options


def _point(
    path: Path,
    group: Sequence[Mapping[str, object]],
    options: Sequence[Mapping[str, str]],
    *,
    is_simulated: bool,
) -> Point:
    failed = next((entry["error"] for entry in group if entry.get("error")), None)
    if failed is not None:
        raise UnreadableError(f"fio ended with error {failed}")
    loads = {load_of(own) for own in options}
    if len(loads) > 1:
        raise UnreadableError("jobs with different loads ran together: no single load to compare")
    _raise_if_any(plain.why_no_group(options))
    load = plain.settled(loads.pop(), group, options[0])
    # Several entries are clones of a job, reported one by one.
    jobs = len(group) if len(group) > 1 else load.numjobs
    moved = {
        name: _moved([_table(entry, name) for entry in group if name in entry]) for name in _SIDES
    }
    iops = sum(_number(entry, "iops") for entries in moved.values() for entry in entries)
    if not iops:
        if any("mixed" in entry for entry in group):
            raise UnreadableError("reads and writes in one figure (unified_rw_reporting)")
        raise UnreadableError("no I/O was completed")
    _raise_if_any(plain.why_not_plain(load, jobs, group, options[0]))
    mean_us = 1e6 * load.iodepth * jobs / iops
    sides = {name: _side(entries, mean_us) if entries else None for name, entries in moved.items()}
    spent = [_number(entry, "usr_cpu") + _number(entry, "sys_cpu") for entry in group]
    runtimes = [_number(_table(e, n), "runtime") for e in group for n in _SIDES if n in e]
    return Point(
        name=str(group[0].get("jobname", path.stem)),
        rw=load.rw,  # type: ignore[arg-type]
        read_share=load.read_share,
        bs=load.bs,
        iodepth=load.iodepth,
        numjobs=jobs,
        area_bytes=load.area_bytes,
        area_start_bytes=load.area_start_bytes,
        state="steady-state" if all(_is_steady(entry) for entry in group) else None,
        buffered=load.buffered,
        runtime_s=max(runtimes, default=0.0) / 1000,
        read=sides["read"],
        write=sides["write"],
        # Of a simulated run fio counts the simulator's CPU time.
        cpu_share=sum(spent) / len(spent) / 100 if any(spent) and not is_simulated else None,
        file=written(path),
    )


def _raise_if_any(reasons: Iterable[str]) -> None:
    if found := list(dict.fromkeys(reasons)):
        raise UnreadableError("; ".join(found))


def _is_steady(entry: Mapping[str, object]) -> bool:
    """Whether fio's own test of a steady state ended the job."""
    test = entry.get("steadystate")
    return isinstance(test, dict) and bool(test.get("attained"))


_SIDES = ("read", "write")


def _moved(entries: Sequence[Mapping[str, object]]) -> list[Mapping[str, object]]:
    return [entry for entry in entries if _number(entry, "iops") > 0]


def _side(moved: Sequence[Mapping[str, object]], mean_us: float) -> Side:
    """A direction; `mean_us` is its mean latency by Little's law, for runs that count none."""
    counts = [_whole(entry, "total_ios") or _count(entry) for entry in moved]
    total = sum(counts)
    weights = [count / total for count in counts] if total else [1 / len(moved)] * len(moved)
    slat = sum(w * _times(e, "slat")[0] for w, e in zip(weights, moved, strict=True))
    completion = merge([_latency(entry) for entry in moved], weights)
    means = [_times(entry, "lat")[0] for entry in moved]
    lat = sum(w * mean for w, mean in zip(weights, means, strict=True))
    if not lat and not completion.mean_us:
        lat, completion = mean_us, Latency(mean_us=mean_us)
    return Side(
        iops=sum(_number(entry, "iops") for entry in moved),
        ios=total,
        bytes_per_s=sum(_bandwidth(entry) for entry in moved),
        latency_mean_us=lat or completion.mean_us + slat,
        submission_mean_us=slat,
        completion=completion,
        spread=max(_spread(entry) for entry in moved),
    )


def _count(entry: Mapping[str, object]) -> int:
    for kind in ("clat_ns", "lat_ns"):
        if count := _whole(_table(entry, kind), "N"):
            return count
    return 0


def _table(table: Mapping[str, object], key: str) -> Mapping[str, object]:
    """A table of fio's; an empty one where there is none."""
    value = table.get(key, {})
    if not isinstance(value, Mapping):
        raise UnreadableError(f"not in fio's form: {key} = {str(value)[:40]}: a table")
    return value


def _number(table: Mapping[str, object], key: str) -> float:
    """A number of fio's; 0 where there is none."""
    value = table.get(key, 0)
    try:
        number = float(value) if isinstance(value, int | float | str) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        shown = str(value)
        shown = shown if len(shown) <= 40 else f"{shown[:37]}..."
        raise UnreadableError(f"not in fio's form: {key} = {shown}: a finite number")
    return number


def _whole(table: Mapping[str, object], key: str) -> int:
    """A count of fio's; 0 where there is none."""
    number = _number(table, key)
    value = table.get(key, 0)
    return value if isinstance(value, int) else int(number)


def _bandwidth(entry: Mapping[str, object]) -> float:
    return _number(entry, "bw_bytes") or _number(entry, "bw") * 1024


def _times(entry: Mapping[str, object], kind: str) -> tuple[float, float, float, float]:
    """Mean, deviation, least and most of a kind of latency in microseconds."""
    table, scale = _timed(entry, kind)
    mean, stddev, least, most = (
        _number(table, key) * scale for key in ("mean", "stddev", "min", "max")
    )
    return mean, stddev, least, most


def _timed(entry: Mapping[str, object], kind: str) -> tuple[Mapping[str, object], float]:
    """A kind of latency, and microseconds of its unit."""
    in_ns = f"{kind}_ns"
    if entry.get(in_ns) is None:
        return _table(entry, kind), 1.0
    return _table(entry, in_ns), 1e-3


def _latency(entry: Mapping[str, object]) -> Latency:
    mean, stddev, least, most = _times(entry, "clat")
    kind = "clat"
    if mean == 0.0:
        kind, (mean, stddev, least, most) = "lat", _times(entry, "lat")
    table, scale = _timed(entry, kind)
    if "percentile" not in table and "percentile" in _table(entry, "lat_ns"):
        table = _table(entry, "lat_ns")  # lat_percentiles=1 without clat_percentiles
    ranks = _table(table, "percentile")
    percentiles = {
        f"{float(key):g}": _number(ranks, key) * scale for key in ranks if float(key) > 0
    }
    bins = _table(table, "bins")
    return Latency(
        mean_us=mean,
        stddev_us=stddev,
        min_us=least,
        max_us=most,
        percentiles_us=dict(sorted(percentiles.items(), key=lambda item: float(item[0]))),
        bins_ns=bins_ns({key: _whole(bins, key) for key in bins}, round(scale * 1000)),
    )


def _spread(entry: Mapping[str, object]) -> float:
    mean, deviation = _number(entry, "bw_mean"), _number(entry, "bw_dev")
    return deviation / mean if mean > 0 else 0.0
