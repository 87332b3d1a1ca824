"""A room that takes a visitor's folder: what it fits, what it refuses, what was fitted before."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("marimo")
pytest.importorskip("anywidget")

from raidlab import calibration, notebooks
from raidlab.calibration.fitting.bench.bench import Bench, Effort
from raidlab.calibration.fitting.comparison.compare import compare
from raidlab.devices.catalogue import find_for
from raidlab.notebooks import own_disk
from raidlab.notebooks.frame import catalogue, pages
from raidlab.notebooks.frame.live import Live
from tests.project.sources import ROOT

EXAMPLES = ROOT / "notebooks" / "examples" / "own-disk"


@pytest.fixture(scope="module")
def live():
    return Live(catalogue.room("own-disk"))


def ask(live, number, **question):
    live.question = {"asked": [1, 1], "seed": 1, "number": number, **question}
    return live.answer


def fio_job(depth, rate_per_s):
    """What fio prints of random reads of 4 KiB."""
    mean_ns = 1e9 * depth / rate_per_s
    read = {"iops": rate_per_s, "total_ios": 1000, "runtime": 1000, "io_bytes": 4096_000}
    read |= {"clat_ns": {"mean": mean_ns, "min": 1, "max": 9 * mean_ns, "stddev": 1}}
    read |= {"lat_ns": read["clat_ns"], "slat_ns": {"mean": 0, "min": 0, "max": 0, "stddev": 0}}
    options = {"rw": "randread", "bs": "4k", "iodepth": str(depth), "ioengine": "libaio"}
    job = {"jobname": f"reads-{depth}", "error": 0, "job options": options | {"direct": "1"}}
    return json.dumps({"fio version": "fio-3.33", "jobs": [job | {"read": read}]})


def test_a_folder_of_results_is_fitted_with_progress(live, monkeypatch, tmp_path):
    monkeypatch.setattr(own_disk, "BUDGET", 20)
    for depth, rate in ((1, 9_000.0),):
        (tmp_path / f"{depth}.json").write_text(fio_job(depth, rate))
    steps = []
    live.observe(lambda change: steps.append(change.new), names=["progress"])
    found = ask(live, 5, folder=str(tmp_path))
    assert "wrong" not in found
    assert "The fit saw 1 of 1 points" in found["result"]
    assert "raidlab calibrate searches" in found["result"]
    assert [step["number"] for step in steps] == [5] * len(steps) and len(steps) > 1
    assert found["files"].keys() == {"disk.toml", "host.toml"}
    assert 'model = "./disk.toml"' in found["scenario"]


@pytest.mark.parametrize(
    ("files", "said"),
    [({"results/notes.json": "not a result"}, "notes.json"), ({"../out.json": "{}"}, "inside")],
)
def test_an_upload_that_is_none_is_a_message_and_the_room_goes_on(live, files, said):
    found = ask(live, 6, folder="results, uploaded (1 files)", files=files)
    assert said in found["wrong"]
    assert "The fit saw 7 of 12 points" in ask(live, 7, folder="")["result"]


def test_a_folder_that_is_not_there_is_a_message(live):
    assert "/nowhere" in ask(live, 8, folder="/nowhere")["wrong"]


def test_an_upload_is_what_its_folder_is():
    live = Live(catalogue.room("own-disk"))
    text = (EXAMPLES / "own-disk.json").read_text()
    files = {"mine/own-disk.json": text}
    live.question = {"asked": [1, 0], "seed": 1, "number": 1, "folder": "mine", "files": files}
    points = own_disk.measured(live.values["folder"] + "/mine/own-disk.json").points
    assert len(points) == 12


def test_a_page_without_an_engine_takes_no_folder():
    room = catalogue.room("own-disk")
    page = pages.body(room, live=False, links=pages.Links(""))
    assert 'id="folder"' not in page and 'id="control-1"' not in page
    assert 'id="folder"' in pages.body(room, live=True, links=pages.Links(""))
    assert len(pages.about(room, live=False)["controls"]) == 1
    assert [values["seen"] for values in room.settings()] == list(own_disk.SEEN)


def test_points_of_few_jobs_and_two_depths_train():
    points = calibration.load_measurement(str(EXAMPLES / "own-disk.json")).points
    assert own_disk.training(points, "ends") == "iodepth=1,32"
    more = [points[0], points[0].model_copy(update={"numjobs": 4})]
    assert own_disk.training(more, "least") == "iodepth=1 numjobs=1"


@pytest.mark.parametrize("seen", list(own_disk.SEEN))
def test_the_example_is_what_its_files_give(seen):
    document = json.loads((EXAMPLES / f"{seen}.json").read_text())
    drive = find_for("", str(EXAMPLES / f"{seen}.device.toml")).spec
    host = find_for("", str(EXAMPLES / f"{seen}.host.toml")).spec
    points = calibration.load_measurement(str(EXAMPLES / "own-disk.json")).points
    (row,) = compare(Bench.of(drive, host), points[1:2], Effort(ios=2000))
    (kept,) = (
        each for each in document["points"] if (each["rw"], each["iodepth"]) == ("randread", 32)
    )
    assert row.simulated.iops == pytest.approx(kept["simulated_iops"], rel=0.03)


def test_the_package_has_the_example():
    assert notebooks.__file__
    assert own_disk.EXAMPLE.joinpath("own-disk.json").is_file()
