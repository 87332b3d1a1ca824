"""The planner: what is chosen, files that are uploaded, questions that are answered."""

from __future__ import annotations

import json
import time
import tomllib

import pytest

pytest.importorskip("marimo")
pytest.importorskip("anywidget")

from raidlab.devices.faults import SpecError
from raidlab.notebooks.planner import page as page_module
from raidlab.notebooks.planner.answers import COMMAND, QUESTION_FILE, Desk, State
from raidlab.notebooks.planner.form import form_of, question_tree, said_of_form
from raidlab.notebooks.planner.page import controllers, drives
from raidlab.notebooks.planner.uploads import UploadKind
from raidlab.scenarios.capacity.plan import plan
from raidlab.scenarios.capacity.question import load_question, question_of
from raidlab.scenarios.files.checks import check_file
from raidlab.scenarios.files.kinds import WrittenKind
from raidlab.scenarios.studies.running import Running

IOSTAT = """\
Linux 5.15.0 (box)  11/27/2026  _x86_64_  (8 CPU)

11/27/2026 10:00:00 AM
Device r/s rkB/s r_await w/s wkB/s w_await aqu-sz %util
sda 5.00 40.00 0.40 1.00 8.00 0.90 0.01 0.10

11/27/2026 10:00:10 AM
Device r/s rkB/s r_await w/s wkB/s w_await aqu-sz %util
sda 900.00 7200.00 0.40 300.00 2400.00 0.90 0.63 40.00

11/27/2026 10:00:20 AM
Device r/s rkB/s r_await w/s wkB/s w_await aqu-sz %util
sda 1100.00 8800.00 0.40 300.00 2400.00 0.90 0.71 42.00
"""
JOB = "[global]\nfilename=/dev/array\nioengine=libaio\ndirect=1\n[db]\nrw=randread\nbs=8k\n"
SHEET = """\
kind = "ssd"
name = "shop-480"
title = "Shop SSD, 480 GB"
capacity = "480 GB"
interface = "sata-6g"
cell = "tlc"
random_read = "90000 IO/s"
"""


def chosen(**changed):
    """The page's values: one drive, one number, one level, so that few runs answer."""
    return {
        "load": {
            "kind": "described", "order": "random", "read_pct": 70, "block_kib": 8, "rate": 3000,
            "area_gb": 100,
        },
        "goals": {"p99_ms": 5, "usable_tb": 0.5, "survives": 1, "budget": None},
        "growth": {"rate_pct": 0, "capacity_pct": 0, "years": 1},
        "drives": ["dc600m-960"], "count_from": 2, "count_to": 2, "levels": ["raid1"],
        "controllers": ["none"], "prices": [], "currency": "EUR", "energy_price": 0, "base_cost": 0,
    } | changed  # fmt: skip


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.setenv("RAIDLAB_STORE", str(tmp_path / "runs.sqlite"))
    return Desk()


def answered(desk, values, tab="a"):
    asked = desk.ask(tab, values)
    while asked.state is State.RUNNING:
        time.sleep(0.02)
    return asked


def test_what_is_chosen_is_a_question():
    prices = [{"device": "dc600m-960", "cost": 190}, {"device": "lsi2208-1g-3.0", "cost": 600}]
    values = chosen(
        prices=prices, controllers=["lsi2208-1g-3.0"], base_cost=2000, energy_price=0.3,
        growth={"rate_pct": 30, "capacity_pct": 10, "years": 3},
        goals={"p99_ms": 2, "usable_tb": 1.5, "survives": 2, "budget": 9000},
    )  # fmt: skip
    tree = question_tree(form_of(values), {})
    assert tree == {
        "title": "Which system serves this load?",
        "horizon": "3 years",
        "goals": ["p99 < 2 ms", "usable >= 1.5 TB", "survives >= 2", "cost < 9000 EUR"],
        "currency": "EUR",
        "energy_price": 0.3,
        "load": [
            {"name": "load", "rw": "randrw", "read_share": 0.7, "block_size": "8 KiB",
             "rate": "3000 IO/s", "area": "100 GB"}
        ],
        "growth": {"rate": 0.3, "capacity": 0.1},
        "run": {"warm_up": "10 s", "duration": "6 s"},
        "candidates": [
            {"drives": ["dc600m-960"], "counts": "2:2", "levels": ["raid1"],
             "controllers": ["lsi2208-1g-3.0"]}
        ],
        "price": prices,
        "base": {"cost": 2000},
    }  # fmt: skip
    assert len(question_of(tree).goals) == 4


def test_offers_are_compared_as_they_are():
    offers = [
        {"drive": "c15k600-600", "count": 8, "level": "raid10"},
        {"drive": "dc600m-960", "count": 4, "level": "raid5"},
    ]
    own = {"offers": offers, "drives": ["c15k600-600", "dc600m-960"], "levels": ["raid10", "raid5"]}
    tree = question_tree(form_of(chosen(**own, count_from=9)), {})
    assert tree["candidates"] == [
        {"drives": [each["drive"]], "counts": [each["count"]], "levels": [each["level"]],
         "controllers": ["none"]}
        for each in offers
    ]  # fmt: skip
    # A disk among them: caches and queues take longer to fill.
    assert tree["run"]["warm_up"] == "10 s"
    with pytest.raises(SpecError) as error:
        form_of(chosen(**own, prices=[{"device": "dc600m-960", "cost": 190}]))
    (one,) = said_of_form(error.value.faults)
    assert one.field == "price-c15k600-600"


@pytest.mark.parametrize(
    ("order", "read_pct", "rw", "share"),
    [
        ("random", 100, "randread", None),
        ("random", 0, "randwrite", None),
        ("sequential", 50, "rw", 0.5),
        ("sequential", 0, "write", None),
    ],
)
def test_order_and_reads_are_words_of_fio(order, read_pct, rw, share):
    load = chosen()["load"] | {"order": order, "read_pct": read_pct}
    (made,) = question_tree(form_of(chosen(load=load)), {})["load"]
    assert made["rw"] == rw and made.get("read_share") == share


def test_a_run_is_as_long_as_p99_needs():
    """10,000 I/Os: at 500 a second 20 s; never more than a minute."""
    for rate, duration in ((500, "20 s"), (10, "60 s"), (1e5, "1.5 s")):
        load = chosen()["load"] | {"rate": rate}
        assert question_tree(form_of(chosen(load=load)), {})["run"]["duration"] == duration


def test_every_profile_can_be_asked():
    from typing import get_args

    from raidlab.scenarios.spec.loads import AnyProfile

    for name in get_args(AnyProfile):
        load = {"kind": "profile", "profile": name, "rate": 1000, "area_gb": 200}
        question_of(question_tree(form_of(chosen(load=load)), {}))


def test_all_that_is_wrong_is_said_at_once_at_its_field():
    load = chosen()["load"] | {"rate": None}
    goals = chosen()["goals"] | {"usable_tb": -1}
    with pytest.raises(SpecError) as error:
        form_of(chosen(load=load, goals=goals, levels=[]))
    found = {each.field for each in said_of_form(error.value.faults)}
    assert found == {"rate", "usable_tb", "levels"}
    with pytest.raises(SpecError) as error:
        form_of(chosen(count_from=8, count_to=4))
    (one,) = said_of_form(error.value.faults)
    assert one.field == "count_to" and "at least 8" in one.text


@pytest.mark.parametrize("name", ["../../secret.toml", "/etc/passwd", "dc600m-961"])
def test_a_device_is_of_the_catalogue_or_was_uploaded(name):
    with pytest.raises(SpecError) as error:
        question_tree(form_of(chosen(drives=[name])), {})
    (found,) = said_of_form(error.value.faults)
    assert found.field == "drives" and "was uploaded" in found.text


def test_the_downloaded_question_has_the_same_answer(desk, tmp_path):
    asked = answered(desk, chosen())
    assert asked.state is State.DONE and asked.fits and asked.step
    folder = tmp_path / "downloaded"
    folder.mkdir()
    for name, text in asked.files.items():
        (folder / name).write_text(text)
    again = plan(load_question(folder / QUESTION_FILE), seed=1, running=Running())
    found = json.loads(asked.files["answer.json"])
    assert found["recommended"] == again.recommended.name
    assert found["candidates"] == json.loads(json.dumps(again.to_dict()["candidates"]))
    assert f"raidlab {COMMAND.partition(' ')[2]}" in asked.files["plan.html"]
    assert "array" in tomllib.loads(asked.files["scenario.toml"])


def test_where_none_fits_the_nearest_is_named(desk):
    asked = answered(desk, chosen(goals=chosen()["goals"] | {"p99_ms": 0.01}))
    assert asked.state is State.DONE and not asked.fits
    assert "None of 1 candidate fits. The nearest is" in asked.fragment.html


def test_the_next_question_of_a_tab_stops_the_one_before(desk):
    values = chosen(count_to=8, levels=["raid1", "raid10", "raid5"])
    first = desk.ask("a", values)
    other = desk.ask("b", chosen())
    answered(desk, chosen())
    while State.RUNNING in (first.state, other.state):
        time.sleep(0.02)
    assert first.state is State.STOPPED and other.state is State.DONE


def test_monitoring_becomes_a_load(desk):
    (found,) = desk.upload("iostat of box.txt", IOSTAT)
    assert found.kind is UploadKind.MONITORING
    # The first report is since boot. 900 and 1,100 reads beside 300 writes: 1,300, 77 % reads.
    assert "sda: 1,300 IO/s on average, 77 % reads, over 20.0 s" in found.words
    load = {"kind": "uploaded", "upload": found.file}
    tree = question_tree(form_of(chosen(load=load)), desk.uploads)
    assert tree["load"] == [{"name": "load", "monitoring": found.file}]
    assert question_of(tree, desk.folder / "q.toml").monitored[0].steps == 2


def test_a_load_that_waited_can_be_taken_to_arrive(desk):
    """Three in flight all the time: by Little's law the rate is 3 over the wait."""
    head = "Linux 5.15.0 (box)  11/27/2026  _x86_64_  (8 CPU)\n"
    columns = "Device r/s rkB/s r_await w/s wkB/s w_await aqu-sz %util\n"
    text = head
    for at in range(24):
        rate = (600, 1000, 1500)[at % 3]
        text += f"\n11/27/2026 10:{at // 6:02}:{at % 6 * 10:02} AM\n{columns}"
        text += f"sda {rate:.2f} {8 * rate:.2f} {3000 / rate:.2f} 0 0 0 3.00 100.00\n"
    waits, arrives = desk.upload("waits.txt", text)
    assert waits.closed and not arrives.closed
    growth = {"rate_pct": 20, "capacity_pct": 0, "years": 3}
    for each, grows in ((waits, False), (arrives, True)):
        form = form_of(chosen(load={"kind": "uploaded", "upload": each.file}, growth=growth))
        if not grows:
            with pytest.raises(SpecError):
                question_tree(form, desk.uploads)
            continue
        question = question_of(question_tree(form, desk.uploads), desk.folder / "q.toml")
        assert question.monitored[0].loop.kind == "open"


def test_prices_are_taken_by_the_titles_of_the_page_and_with_a_decimal_comma(desk):
    title = next(each.words for each in drives() if each.name == "dc600m-960")
    (prices,) = desk.upload("prices.csv", f'device;cost\n"{title}";189,90\n')
    assert [(each.device, each.cost) for each in prices.prices] == [("dc600m-960", 189.9)]
    with pytest.raises(SpecError) as error:
        desk.upload("prices.csv", "device;cost\ndc600m-960;1,250\n")
    assert "such as 1250" in str(error.value)


def test_the_sheet_to_fill_in_is_one_and_a_horizon_may_be_a_month(tmp_path):
    sheet = tmp_path / "my-drive.toml"
    sheet.write_text(page_module._SHEET)
    assert check_file(sheet, WrittenKind.SHEET).faults == ()
    growth = {"rate_pct": 0, "capacity_pct": 0, "years": 1 / 12}
    tree = question_tree(form_of(chosen(growth=growth, base_watts=150)), {})
    assert tree["horizon"] == "1 month" and tree["base"] == {"power": "150 W"}
    assert question_of(tree).table.horizon == pytest.approx(1 / 12)


def test_a_job_a_sheet_and_prices(desk):
    (job,) = desk.upload("my job.fio", JOB)
    assert job.kind is UploadKind.JOB and "1 job" in job.words
    load = {"kind": "uploaded", "upload": job.file}
    assert job.closed
    assert question_tree(form_of(chosen(load=load)), desk.uploads)["load"][0]["fio"] == "my-job.fio"
    (sheet,) = desk.upload("shop.toml", SHEET)
    assert sheet.kind is UploadKind.DEVICE and sheet.file == "shop-480.toml"
    tree = question_tree(form_of(chosen(drives=[sheet.file])), desk.uploads)
    assert question_of(tree, desk.folder / "q.toml").table.candidates[0].drives == (sheet.file,)
    (prices,) = desk.upload(
        "prices.csv", "device;price;power_w\ndc600m-960;190;\npm983-3840;700;9\n"
    )
    assert [(each.cost, each.watts) for each in prices.prices] == [(190, None), (700, 9)]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("beach.txt", "sand and sea\n", "what monitoring printed"),
        ("empty.csv", " \n", "it is empty"),
        ("broken.toml", "kind = ", "broken.toml"),
        ("s.toml", "[[array]]\nlevel = 'raid1'\n", "array.0.drives"),
        ("j.fio", "[db]\nrw=sideways\nfilename=/dev/x\n", "sideways"),
        ("p.csv", "device,cost\ndc600m-961,-3\n", "line 2"),
        ("p.csv", "device,cost,colour\ndc600m-960,3,red\n", "colour"),
        ("p.csv", "device,cost\n", "a device and its cost in each line"),
        ("c.toml", 'kind = "controller"\nname = "c"\n', "c"),
    ],
)
def test_an_upload_that_is_none_says_what_is_taken(desk, name, text, said):
    with pytest.raises(SpecError) as error:
        desk.upload(name, text)
    shown = "; ".join(str(fault) for fault in error.value.faults)
    assert said in shown and "--" not in shown
    assert str(desk.folder) not in shown


def test_an_upload_stays_in_its_folder(desk):
    (found,) = desk.upload("../../../tmp/escaped.fio", JOB)
    assert found.file == "escaped.fio" and (desk.folder / found.file).is_file()


def test_all_drives_and_controllers_have_a_class_and_words():
    assert len(drives()) > 80 and len(controllers()) > 20
    for each in (*drives(), *controllers()):
        assert each.family and each.words and "-" not in each.family


def test_each_monitored_device_is_a_load_of_its_own(desk):
    two = IOSTAT.replace("sda 900.00", "sdb 90.00 720.00 0.4 30.0 240.0 0.9 0.1 4.0\nsda 900.00")
    two = two.replace("sda 1100.00", "sdb 90.00 720.00 0.4 30.0 240.0 0.9 0.1 4.0\nsda 1100.00")
    two = two.replace("sda 5.00", "sdb 1.00 8.00 0.4 1.0 8.0 0.9 0.1 0.1\nsda 5.00")
    loads = {each.file: each.words for each in desk.upload("two.txt", two)}
    assert list(loads) == ["two.load.json", "two-sdb.load.json", "two-sda.load.json"]
    assert "1,420 IO/s" in loads["two.load.json"] and "120 IO/s" in loads["two-sdb.load.json"]


@pytest.mark.parametrize("profile", ["backup", "ai-training"])
def test_a_load_without_a_rate_does_not_grow(profile):
    load = {"kind": "profile", "profile": profile, "rate": 1000, "area_gb": 200}
    growth = {"rate_pct": 20, "capacity_pct": 0, "years": 3}
    with pytest.raises(SpecError) as error:
        question_tree(form_of(chosen(load=load, growth=growth)), {})
    (one,) = said_of_form(error.value.faults)
    assert one.field == "rate_pct" and "no rate of its own" in one.text


def test_all_have_prices_or_none():
    prices = [{"device": "dc600m-960", "cost": 190}]
    with pytest.raises(SpecError) as error:
        form_of(chosen(drives=["dc600m-960", "pm983-3840"], prices=prices))
    (one,) = said_of_form(error.value.faults)
    assert one.field == "price-pm983-3840"


TODAY = """\
title = "old box"
[[array]]
level = "raid1"
software_raid = "os"
drives = [{ model = "dc600m-960", count = 2 }]
[[workload]]
fio = "not-here.fio"
"""


def test_the_present_system_is_a_scenario_from_which_data_move(desk):
    """It stands in the question beside the load, its own loads left out."""
    (system,) = desk.upload("today.toml", TODAY)
    assert system.kind is UploadKind.SYSTEM
    assert system.words == "the present system: old box, 2 drives, 960 GB usable"
    values = chosen(present=system.file, moves_tb=0.5)
    asked = answered(desk, values)
    assert asked.state is State.DONE, asked.faults
    assert asked.files["today.toml"] == TODAY
    assert 'moves = "0.5 TB"' in asked.files[QUESTION_FILE]
    moved = json.loads(asked.files["answer.json"])["migration"]
    assert moved["moves"] == 5e11 and moved["copies"][0]["hours"] < moved["copies"][-1]["hours"]
    assert "Moving 500 GB takes" in asked.fragment.html


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (('"dc600m-960"', '"/etc/passwd.toml"'), "a device of the catalogue"),
        (('"raid1"', '"raid11"'), "array.0.level"),
        (("[[workload]]", '[run]\nsnapshot = "state"\n[[workload]]'), "run.snapshot"),
    ],
)
def test_a_present_system_that_cannot_be_is_refused(desk, changes, said):
    with pytest.raises(SpecError, match=said):
        desk.upload("today.toml", TODAY.replace(*changes))
    missing = answered(desk, chosen(present="gone.toml"))
    assert [each.field for each in missing.faults] == ["present"]
