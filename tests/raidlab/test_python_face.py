"""What a user of the package meets: names, help, rows, what a notebook shows, the end."""

import dataclasses
import pydoc
import site
import subprocess
import sys
import types
from itertools import chain
from pathlib import Path

import pytest

import raidlab
from raidlab.scenarios.studies.vary import axes_of

DISK = {
    "title": "One <disk>",
    "array": [{"drives": [{"model": "generic-15000rpm"}]}],
    "workload": [{"name": "pages", "profile": "database", "outstanding": [1, 4, 16]}],
    "run": {"duration": "1 s"},
}


@pytest.fixture(scope="module")
def disk():
    return raidlab.simulate(DISK)


def python(text: str, *, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=False, cwd=cwd
    )


def test_dir_shows_the_public_names_before_any_is_loaded():
    found = python("import raidlab; print(*[n for n in dir(raidlab) if n[0] != '_'])")
    assert found.stdout.split() == sorted(raidlab.__all__)


def test_importing_loads_nothing_of_it():
    found = python("import raidlab, sys; dir(raidlab); print([m for m in sys.modules if m in "
                   "('pydantic', 'polars', 'plotly', 'simpy')])")  # fmt: skip
    assert found.stdout.strip() == "[]"


def test_help_shows_the_public_names():
    text = pydoc.plain(pydoc.render_doc(raidlab))
    for name in ("class LiveSystem", "class Result", "class Row", "simulate("):
        assert name in text
    assert "VERSION" in text


def test_the_version_is_the_engines():
    from raidlab.scenarios import _engine

    assert raidlab.__version__ == _engine.version()


def test_every_public_name_is_there():
    for name in raidlab.__all__:
        assert getattr(raidlab, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        _ = raidlab.simulat


def test_rows_have_types_and_the_figures_of_the_document(disk):
    row, plain = disk.rows[1], disk.results[1]
    assert row.iops == plain["iops"]
    assert row.latency_us.p99_9 == plain["latency_us"]["p99_9"]
    assert row.read.bins[0] == tuple(plain["read"]["bins"][0])
    names = [component.name for component in row.components]
    assert names == [component["name"] for component in plain["components"]]
    assert (row.cache.tier, row.cache.read_hit_ratio) == (None, None)


SYSTEMS = {
    "disk": DISK,
    "cached RAID 5 that fails": {
        "controller": {"model": "lsi2108"},
        "array": [{"level": "raid5", "drives": [{"model": "generic-7200rpm", "count": 4}]}],
        "workload": [{"rw": "randwrite", "block_size": "8 KiB", "outstanding": 4, "area": "1 GB"}],
        "event": [{"at": "0.5 s", "action": "fail-drive", "drive": 1}],
        "run": {"warm_up": "10 ms", "duration": "1 s"},
    },
    "flash": {
        "array": [{"drives": [{"model": "p3700-800"}]}],
        "workload": [{"rw": "randwrite", "block_size": "4 KiB", "outstanding": 4, "area": "1 GB"}],
        "run": {"warm_up": "10 ms", "duration": "50 ms"},
    },
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_no_figure_of_the_document_is_missing_in_typed_rows(name):
    """A new field of the document has a type."""
    result = raidlab.simulate(SYSTEMS[name])
    for plain, row in zip(result.results, result.rows, strict=True):
        assert missing(plain, row, "row") == []


def missing(plain, typed, where):
    if dataclasses.is_dataclass(typed) and isinstance(plain, dict):
        names = {field.name for field in dataclasses.fields(typed)}
        inner = (
            missing(plain[key], getattr(typed, key), f"{where}.{key}")
            for key in plain.keys() & names
        )
        return [f"{where}.{key}" for key in plain.keys() - names] + [*chain.from_iterable(inner)]
    if isinstance(plain, list) and plain:
        return missing(plain[0], typed[0], f"{where}.0")
    return []


def test_the_repr_is_a_few_lines(disk):
    lines = repr(disk).splitlines()
    assert len(lines) <= 6
    assert len(repr(disk)) < 500
    assert lines[0] == f"<Result 'One <disk>': seed 1, 3 rows, raidlab {raidlab.__version__}"
    assert lines[1].startswith("  pages: 1 to 16 outstanding, ")
    assert " IO/s, p99 " in lines[1]


def test_rows_and_scenarios_have_short_reprs_too(disk):
    assert len(repr(disk.rows[0])) < 1000
    assert "bins" not in repr(disk.rows[0])
    scenario = raidlab.build_scenario(DISK)
    assert repr(scenario) == "<Scenario 'One <disk>': drives 1, workloads 1, runs 3, seed 1>"


def test_the_repr_of_many_workloads_names_four():
    loads = [{"name": f"w{at}", "rw": "randread", "block_size": "4 KiB", "outstanding": 1}
             for at in range(6)]  # fmt: skip
    result = raidlab.simulate(DISK | {"workload": loads})
    assert "w3: 1 outstanding" in repr(result)
    assert "w4" not in repr(result)
    assert "and 2 more workloads" in repr(result)


def test_a_notebook_shows_the_answer_and_a_small_picture(disk):
    text = disk._repr_html_()
    assert "One &lt;disk&gt;" in text
    assert "<svg" in text
    assert text.count("<polyline") == 1
    assert "queue depth" in text
    assert "<script" not in text
    assert len(text) < 20_000


def test_a_notebook_shows_one_depth_over_time():
    one = raidlab.simulate(DISK | {"workload": [{"profile": "database", "outstanding": 4}]})
    assert "IO/s over s" in one._repr_html_()


def test_a_notebook_shows_a_result_without_rows(disk):
    empty = dataclasses.replace(disk, results=())
    assert "Nothing was simulated" in empty._repr_html_()
    assert "0 rows" in repr(empty)


def test_pandas_gets_the_table_without_arrow(disk, monkeypatch):
    made = []
    pandas = types.SimpleNamespace(DataFrame=lambda rows: made.append(rows) or "frame")
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert disk.to_pandas() == "frame"
    assert [row["iops"] for row in made[0]] == [row["iops"] for row in disk.results]
    assert list(made[0][0]) == disk.table().columns


def test_the_real_pandas_takes_it(disk):
    pandas = pytest.importorskip("pandas")
    frame = disk.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.shape == disk.table().shape
    assert frame["iops"].tolist() == disk.table()["iops"].to_list()


PROCESSES = """
import raidlab
from raidlab.scenarios.studies.vary import axes_of

def worker(env, system):
    while True:
        try:
            yield system.read(0, 4096)
        except raidlab.StorageError:
            yield env.timeout(1)

def supervisor(env, system):
    try:
        yield system.read(0, 4096)
        yield env.timeout(1000)
    except (raidlab.StorageError, raidlab.SpecError) as error:
        print(error)
    finally:
        raidlab.StorageError

env = raidlab.Environment()
system = raidlab.LiveSystem(env, {"array": [{"drives": [{"model": "generic-15000rpm"}]}]})
for make in (worker, supervisor):
    env.process(make(env, system))
env.run(until=0.01)
"""


def test_processes_that_the_program_ends_in_the_middle_end_silently():
    found = python(PROCESSES)
    assert (found.returncode, found.stdout, found.stderr) == (0, "", "")


CLEAN_UP = """
import raidlab, simpy

class Drive:
    def serve(self, env, command):
        with self.head.request() as place:
            yield place
            yield env.timeout(10)

def worker(env, system):
    try:
        yield system.read(0, 4096)
    finally:
        print(system.result().rows[0].ios)

def stubborn(env):
    try:
        yield env.timeout(1)
    finally:
        yield env.timeout(1)

env = raidlab.Environment()
drive = Drive()
drive.head = simpy.Resource(env)
disk = {"array": [{"name": "a", "drives": [{"model": "generic-15000rpm"}]}]}
system = raidlab.LiveSystem(env, disk, drives={"a/generic-15000rpm.0": drive})
env.process(worker(env, system))
env.process(stubborn(env))
env.run(until=0.1)
"""


def test_processes_clean_up_when_the_program_ends():
    """What `finally` does may be the first use of a module: it runs before modules are gone."""
    found = python(CLEAN_UP)
    assert (found.returncode, found.stdout, found.stderr) == (0, "0\n", "")


def test_a_sweep_shows_itself_in_a_line_and_as_a_table():
    axes = axes_of(["array.0.stripe_unit=16,64 KiB"])
    found = raidlab.sweep(raidlab.Experiment(DISK, axes))
    assert len(repr(found)) < 400 and "array.0.stripe_unit: 2 points, 6 rows" in repr(found)
    assert len(found.to_pandas()) == len(found.rows)


def test_a_result_says_which_warning_it_has(disk):
    warned = dataclasses.replace(disk, warnings=("the cache was not full", "another"))
    assert "2 warnings: the cache was not full" in repr(warned)


def test_sizes_may_be_bytes_and_drives_names():
    """In a program; a file has units, and a table for each drive."""
    plain = {
        "array": [{"drives": [{"model": "generic-15000rpm"}] * 2, "level": "raid0",
                   "software_raid": "os", "stripe_unit": "64 KiB"}],
        "workload": [{"rw": "randread", "block_size": "4 KiB", "area": "1 GB", "outstanding": 2}],
        "run": {"duration": "200 ms", "warm_up": "10 ms"},
    }  # fmt: skip
    short = {
        "array": [{"drives": ["generic-15000rpm", "generic-15000rpm"], "level": "raid0",
                   "software_raid": "os", "stripe_unit": 65536}],
        "workload": [{"rw": "randread", "block_size": 4096, "area": 10**9, "outstanding": 2}],
        "run": {"duration": "200 ms", "warm_up": "10 ms"},
    }  # fmt: skip
    assert raidlab.simulate(short).to_json() == raidlab.simulate(plain).to_json()
    one = raidlab.build_scenario({"array": [{"drives": "generic-15000rpm"}]})
    assert len(one.base["drives"]) == 1
    with pytest.raises(raidlab.SpecError, match=r"block_size = .*1 B to 1 GiB"):
        raidlab.build_scenario(
            short | {"workload": [{"rw": "randread", "block_size": 0, "outstanding": 1}]}
        )
    with pytest.raises(raidlab.SpecError, match="a unit is missing"):
        raidlab.build_scenario(short | {"run": {"duration": 1}})


def test_a_file_still_wants_units(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text('[[array]]\nstripe_unit = 65536\ndrives = ["generic-15000rpm"]\n')
    with pytest.raises(raidlab.SpecError) as raised:
        raidlab.load_scenario(file)
    keys = {fault.key for fault in raised.value.faults}
    assert keys == {"array.0.stripe_unit", "array.0.drives.0"}


def test_a_sweep_draws_itself():
    experiment = raidlab.Experiment.of(DISK, {"workload.0.outstanding": [1, 4]})
    found = raidlab.sweep(experiment)
    drawn = found.plot()
    (line,) = drawn.data
    assert list(line.x) == [1, 4]
    assert list(line.y) == [row["iops"] for row in found.rows]


def test_a_sweep_of_nothing_that_runs_says_so():
    found = raidlab.sweep(raidlab.Experiment.of(DISK, {"workload.0.outstanding": [1]}))
    with pytest.raises(ValueError, match="nothing to draw"):
        dataclasses.replace(found, rows=()).plot()


@pytest.mark.parametrize(("offset", "size"), [(3, 512), (0, 100), (512, 700)])
def test_parts_of_sectors_are_refused(offset, size):
    system = raidlab.LiveSystem(raidlab.Environment(), {"array": [{"drives": "five"}]})
    for act in (system.read, system.write):
        with pytest.raises(ValueError, match="whole sectors of 512 bytes"):
            act(offset, size)


def test_type_checkers_see_the_package_from_anywhere():
    """They read plain paths of site-packages, and packages with `py.typed` (PEP 561)."""
    static = [
        Path(line)
        for folder in map(Path, site.getsitepackages())
        for file in folder.glob("__editable__.raidlab*.pth")
        for line in file.read_text().splitlines()
        if not line.startswith("import")
    ]
    if not static:
        pytest.skip("no editable install, or one that was made before the package lay in src")
    assert (static[0] / "raidlab" / "py.typed").is_file()
    assert (static[0] / "raidlab" / "scenarios" / "results" / "result.py").is_file()
