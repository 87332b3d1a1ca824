"""Sound files of every kind that raidlab reads, and what is to be done with a changed one."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from raidlab.calibration.traces.formats import read_trace
from raidlab.cli import app
from raidlab.devices.catalogue import load_device
from raidlab.devices.faults import SpecError
from raidlab.scenarios import _engine
from raidlab.scenarios.fio import jobfile
from raidlab.scenarios.fio.places import Target
from raidlab.scenarios.fio.resolve import resolve
from raidlab.scenarios.planning.scenario import load_scenario
from tests.project.sources import ROOT

TRACES = {
    "disksim-validate": "R Miss 12345 8 5021.3 1000.0\nW Hit 99 16 21.3 10.0\n",
    "disksim-ascii": "2.5 0 12345 8 1\n3.5 1 12 16 0\n",
    "mqsim": "4851300 1 524288 16 0\n4864300 1 524304 16 1\n",
    "msr": "128166372003061629,usr,0,Read,7014609920,24576,41286\n",
    "spc": "0,20941264,8192,W,0.551706\n1,20,512,r,0.6\n",
    "systor17": "Timestamp,Response,IOType,LUN,Offset,Size\n1455592529.03,0.000243,R,1,9216,4096\n",
    "alibaba": "419,W,8792731648,16384,1577808144360767\n",
    "tencent": "1538323200,12910952,128,0,1063\n1538323201,8,8,1,7\n",
    "vscsi": "2147483692,4096,1,write,24048792,2756778716647\n9,512,1,40,1,2756778716648\n",
    "blkparse": "8,0 1 1 0.000010 697 D R 1000 + 8 [fio]\n8,0 1 2 0.000112 697 C R 1000 + 8 [0]\n",
    "fio-iolog": "fio version 3 iolog\n1 /dev/sda add\n2 /dev/sda open\n3 /dev/sda read 4096 512\n",
    "csv": "ts,type,lba,len,rt\n1.5,R,4,4096,10\n1.6,W,8,512,20\n",
}
COLUMNS = "time=ts:s op=type offset=lba:sector size=len:B response=rt:us"
MOST_MAPPED = 1 << 28
"""Bytes of a file up to which its I/Os are drawn: maps and Zipf's sums take time."""
FIO = {
    "fio version": "fio-3.33",
    "timestamp": 1700000000,
    "global options": {"ioengine": "libaio", "direct": "1", "size": "1g"},
    "jobs": [
        {
            "jobname": "a",
            "job options": {"rw": "randread", "bs": "4k", "iodepth": "4", "filename": "/dev/sda"},
            "job_runtime": 60000,
            **{
                side: {
                    "io_bytes": 4096 * ios,
                    "total_ios": ios,
                    "iops": ios / 60,
                    "runtime": 60000 if ios else 0,
                    "clat_ns": {
                        "min": 9000,
                        "max": 99000,
                        "mean": 50000.0,
                        "stddev": 1000.0,
                        "N": ios,
                        "percentile": {"50.000000": 49000, "99.000000": 90000},
                    },
                    "lat_ns": {"min": 9100, "max": 99100, "mean": 50100.0, "stddev": 1000.0},
                }
                for side, ios in (("read", 60_000), ("write", 0), ("trim", 0))
            },
        }
    ],
}


class BrokenError(AssertionError):
    """An oracle does not hold."""


def raidlab(*arguments: object) -> None:
    """The command line in this process: an exit code that is stated, faults with their text."""
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            app([str(each) for each in arguments], prog_name="raidlab")
    except SystemExit as ended:
        code = ended.code
    if code not in (None, 0, 1, 2):
        raise BrokenError(f"exit code {code}")
    if "Traceback" in err.getvalue() or "panicked" in err.getvalue():
        raise BrokenError(err.getvalue())
    if code == 2 and "error" not in err.getvalue().lower():
        raise BrokenError("refused without a word")


@dataclass(frozen=True)
class Kind:
    """A kind of file."""

    make: Callable[[Path], Sequence[Path]]
    """Makes sound files in a folder; those that are changed."""
    use: Callable[[Path], None]
    """Uses the one that was changed; SpecError where it is refused."""


def _written(folder: Path, files: dict[str, str]) -> list[Path]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in files]


def _devices(folder: Path) -> list[Path]:
    names = ("hdd/generic-15000rpm", "ssd/p3700-800", "ssd/iodrive-320", "ssd/sata-ssd-64gb")
    sheets = [ROOT / "devices" / "specs" / f"{name}.toml" for name in names]
    small = ROOT / "tests" / "fuzz" / "systems" / "small-disk.toml"
    found = [path for path in (*sheets, small) if path.exists()]
    return [Path(shutil.copy(path, folder)) for path in found]


def _scenarios(folder: Path) -> list[Path]:
    library = sorted((ROOT / "scenarios" / "library").glob("*.toml"))
    return [Path(shutil.copy(path, folder)) for path in library]


def _traces(folder: Path) -> list[Path]:
    return _written(folder, {f"{form}.trace": text for form, text in TRACES.items()})


def _use_trace(path: Path) -> None:
    read_trace(path, path.stem, columns=COLUMNS if path.stem == "csv" else "")


def _disksim(folder: Path) -> list[Path]:
    for path in (ROOT / "tests" / "data" / "disksim").iterdir():
        shutil.copy(path, folder)
    return [*folder.glob("*.parv"), *folder.glob("*.model"), *folder.glob("*.seek")]


def _use_disksim(path: Path) -> None:
    for parameters in path.parent.glob(f"{path.stem}*.parv"):
        raidlab("import", "disksim", parameters, "--out", path.parent / "made.toml")


def _bundle(folder: Path) -> list[Path]:
    result = json.dumps(FIO)
    steps = [{"number": 1, "purpose": "layout"}, {"number": 2, "purpose": "measure"}]
    manifest = json.dumps({"format": 1, "steps": steps})
    files = {"manifest.json": manifest, "steps/002.json": result, "steps/002.fio": "[a]\n"}
    return _written(folder, files)


def _use_bundle(path: Path) -> None:
    folder = path.parent if path.name == "manifest.json" else path.parent.parent
    raidlab("import", "fio", folder, "--out", folder.parent / "made.json")


def _fio(folder: Path) -> list[Path]:
    return _written(folder, {"one.json": json.dumps(FIO, indent=1)})


def _use_fio(path: Path) -> None:
    raidlab("import", "fio", path, "--out", path.parent / "made.measurement")


def _jobs(folder: Path) -> list[Path]:
    found = sorted((ROOT / "scenarios" / "library" / "profiles").glob("*.fio"))
    return [Path(shutil.copy(path, folder)) for path in found]


def _use_jobs(path: Path) -> None:
    """Resolves a job file, and draws the first I/Os of some of its threads."""
    array = Target(0, 1 << 36)
    variables = {"RATE": "100", "STREAMS": "2"}
    jobs = resolve(jobfile.read(path), path.name, {"a": array}, "a", variables)
    for thread in jobs.threads[:2]:
        own = {**thread, "number": 1, "load": 0}
        own["seeds"] = {**thread["seeds"], "seed": thread["seeds"]["seed"] or 1}
        if all(file["io_bytes"] <= MOST_MAPPED for file in thread["files"]):
            _engine.job_requests(json.dumps(own), 20)


def _measurement(folder: Path) -> list[Path]:
    (source,) = _fio(folder)
    raidlab("import", "fio", source, "--out", folder / "m.json")
    return [folder / "m.json"]


def _use_measurement(path: Path) -> None:
    raidlab("compare", path, "--device", "null", "--only", "queue_depth=1", "--json")


def _published(folder: Path) -> list[Path]:
    found = sorted((ROOT / "calibration" / "published").rglob("*.csv"))
    return [Path(shutil.copy(path, folder)) for path in found]


def _use_published(path: Path) -> None:
    raidlab("import", "published", path, "--drive", "x", "--out", path.parent / "made.json")


def _states(folder: Path) -> list[Path]:
    system = ROOT / "tests" / "fuzz" / "systems"
    raidlab("run", system / "ssd.toml", "--save-state", folder / "one.state")
    return [folder / "one.state"]


def _use_state(path: Path) -> None:
    system = ROOT / "tests" / "fuzz" / "systems"
    text = (system / "ssd.toml").read_text(encoding="utf-8")
    text = text.replace("../../..", str(ROOT)).replace(
        'precondition = "steady-state"', f'snapshot = "{path}"'
    )
    own = path.parent / "with.toml"
    own.write_text(text.replace('"2 s"', '"1 ms"').replace('"0.1 s"', '"1 ms"'), encoding="utf-8")
    raidlab("run", own, "--json")


def _stores(folder: Path) -> list[Path]:
    os.environ["RAIDLAB_STORE"] = str(folder / "store.sqlite")
    raidlab("run", ROOT / "tests" / "fuzz" / "systems" / "station.toml", "--json")
    with contextlib.closing(sqlite3.connect(folder / "store.sqlite")) as store:
        store.execute("pragma wal_checkpoint(truncate)")
    return [folder / "store.sqlite"]


def _use_store(path: Path) -> None:
    os.environ["RAIDLAB_STORE"] = str(path)
    raidlab("store", "list", "--json")
    raidlab("run", ROOT / "tests" / "fuzz" / "systems" / "station.toml", "--json")


def _api(function: Callable[[Path], object]) -> Callable[[Path], None]:
    def use(path: Path) -> None:
        function(path)

    return use


KINDS = {
    "device sheets": Kind(_devices, _api(load_device)),
    "scenarios": Kind(_scenarios, _api(load_scenario)),
    "traces": Kind(_traces, _use_trace),
    "DiskSim's parameters": Kind(_disksim, _use_disksim),
    "fio's results": Kind(_fio, _use_fio),
    "fio's jobs": Kind(_jobs, _use_jobs),
    "bundles": Kind(_bundle, _use_bundle),
    "measurements": Kind(_measurement, _use_measurement),
    "published figures": Kind(_published, _use_published),
    "states": Kind(_states, _use_state),
    "stores": Kind(_stores, _use_store),
}

REFUSED = (SpecError, _engine.PlanError)
