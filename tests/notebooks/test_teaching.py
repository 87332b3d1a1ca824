"""Lessons, the teacher's pack, the question bank and the predictions of a class."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import xml.etree.ElementTree as ElementTree
import zipfile
from types import SimpleNamespace

import pytest

pytest.importorskip("marimo")
pytest.importorskip("anywidget")

from typer.testing import CliRunner

from raidlab import cli
from raidlab.notebooks.course import bank, collected, exported, pack
from raidlab.notebooks.course.axes import paper
from raidlab.notebooks.course.bank import questions
from raidlab.notebooks.course.exports import moodle, qti
from raidlab.notebooks.course.lessons import LESSONS
from raidlab.notebooks.course.misconceptions import MISCONCEPTIONS, of_lesson
from raidlab.notebooks.course.page import page_of, render, slides
from raidlab.notebooks.course.text import text_of
from raidlab.notebooks.frame import catalogue
from tests.project.sources import ROOT

HEAD = '"student","room","prediction","outcome","unit","kept"\n'


def raidlab(*arguments):
    return CliRunner().invoke(cli.app, ["lab", *arguments])


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda each: each.name)
def test_the_minutes_of_a_lesson_fit(lesson):
    assert lesson.minutes == 90
    brief = [stop.minutes for stop in lesson.stops if stop.room in lesson.briefly]
    assert sum(brief) + sum(lesson.brief_minutes) == 45
    assert len(brief) == 2 and min(lesson.brief_minutes) >= 5
    assert {*lesson.rooms} <= {*catalogue.names()}
    assert all(stop.expect for stop in lesson.stops)


def test_every_room_has_a_lesson():
    assert {room for lesson in LESSONS for room in lesson.rooms} == {*catalogue.names()}


@pytest.mark.parametrize("heard", MISCONCEPTIONS, ids=lambda each: each.text)
def test_a_misconception_is_contradicted_by_a_picture(heard):
    room = catalogue.room(heard.room)
    assert heard.holds(room.at), heard.shows
    controls = {control.name: control.values for control in room.controls}
    assert heard.room in LESSONS[heard.lesson - 1].rooms  # its link works in a lesson's pages
    assert heard.at and all(value in controls[name] for name, value in heard.at.items())
    assert room.opening != room.start | dict(heard.at)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda each: each.name)
def test_the_pages_of_the_course_list_the_same_misconceptions(lesson):
    text = (ROOT / "docs" / "course" / f"{lesson.name}.md").read_text()
    listed = re.findall(r'^- "(.*?[.?])" ', text.split("## Misconceptions")[1], re.M | re.S)
    assert [" ".join(each.split()) for each in listed] == [
        each.text for each in of_lesson(lesson.number)
    ]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda each: each.name)
def test_the_page_of_a_lesson_is_a_text_to_learn_from(lesson):
    page = page_of(lesson, LESSONS, catalogue.names())
    text, teacher = text_of(lesson.name), pack._render("teacher.html.j2", lesson)
    linked = text_of(lesson.name, catalogue.names(), "{}.html".format)
    assert len(re.sub(r"<[^>]*>", "", text.theory)) > 500
    assert linked.theory in page and "<table>" in text_of("lesson-2").theory
    assert "Solution" not in text.exercises and "Solution" in text.solutions
    assert linked.exercises in page and linked.solutions not in page
    assert text.solutions in teacher
    assert text.predictions in teacher and text.predictions.count("<li>") == len(lesson.answers)
    assert "Answers</b>" in teacher and "Answers</b>" not in page
    first = of_lesson(lesson.number)[0]
    assert f'href="{first.room}.html{first.fragment}"'.replace("&", "&amp;") in page
    # Links to pages of the documentation lead nowhere here: their words stay.
    assert "../" not in page and "](" not in page


def test_a_lesson_links_to_rooms_that_have_a_page():
    text = page_of(LESSONS[0], LESSONS, ["arm"])
    assert 'href="arm.html"' in text and "one-io.html" not in text
    assert 'href="lesson-2.html"' in text and 'href="index.html"' in text


@pytest.mark.parametrize("seed", [1, 2])
def test_a_question_is_answered_by_the_engine_as_by_the_closed_form(seed):
    found = questions(seed)
    for each in found:
        assert each.answer == pytest.approx(each.closed, rel=each.tolerance), each.text
    assert found == questions(seed)


def test_the_variants_of_a_question_differ(monkeypatch):
    row = SimpleNamespace(
        iops=1.0, latency_us=SimpleNamespace(mean=1.0), breakdown_us={"rotation": 1.0}
    )
    monkeypatch.setattr(bank, "_rate", lambda *_, **__: row)
    found = [each for seed in range(1, 1 + pack.SEEDS) for each in questions(seed)]
    assert len({each.text for each in found}) == len(found)
    assert len({each.title for each in found}) == len(found)


def test_questions_for_learning_platforms():
    found = questions(1)
    quiz = ElementTree.fromstring(moodle(found))
    asked = [each for each in quiz if each.get("type") == "numerical"]
    kept = sorted(found, key=lambda each: each.lesson)
    answers = [float(each.findtext("answer/text")) for each in asked]
    assert answers == [pytest.approx(each.closed, rel=5e-3) for each in kept]
    assert [each.findtext("name/text") for each in asked] == [f"{each.name} 1" for each in kept]
    lessons = sorted({each.lesson for each in found})
    categories = [each.findtext("category/text") for each in quiz if each not in asked]
    assert categories == [f"$course$/raidlab/Lesson {each}" for each in lessons]
    with zipfile.ZipFile(io.BytesIO(qti(found))) as archive:
        manifest = ElementTree.fromstring(archive.read("imsmanifest.xml"))
        named = {each.get("href") for each in manifest.iter() if each.get("href")}
        assert named | {"imsmanifest.xml"} == {*archive.namelist()}
        for each in found:
            root = ElementTree.fromstring(archive.read(f"{each.name}.xml"))
            assert root.get("identifier") == each.name
            assert each.why in "".join(root.itertext())
    assert qti(found) == qti(found)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda each: each.name)
def test_no_table_of_students_is_filled_in(lesson):
    """Of a table in an exercise students get the names of rows and columns."""
    text = text_of(lesson.name)
    page = page_of(lesson, LESSONS, catalogue.names())
    sheet = pack._render("worksheet.html.j2", lesson)
    rows = re.findall(r"<tr>\s*<td[^>]*>(.*?)</td>(.*?)</tr>", text.solutions, re.S)
    solved = {cell for _, rest in rows for cell in re.findall(r"<td[^>]*>(.*?)</td>", rest)}
    parts = "".join(re.findall(r'<section class="room exercise">.*?</section>', sheet, re.S))
    for made in (page.partition("<h2>Exercises</h2>")[2].partition("<h2>")[0], parts):
        assert made.count("<td") == text.solutions.count("<td")
        filled = {*re.findall(r"<td[^>]*>(.*?)</td>", made)} - {""}
        assert not filled & solved and len(filled) == len(rows)
    for at, result in ((4, "98,304"), (3, "24, 48 and 75 %")):
        text = text_of(f"lesson-{at}")
        assert result not in text.exercises and result in text.solutions


def test_the_pack_has_worksheets_without_solutions(tmp_path, monkeypatch):
    monkeypatch.setattr(pack, "SEEDS", 1)
    asked = ("--pack", str(tmp_path), "--seed", "3", "--lesson", "1")
    done = raidlab(*asked)
    assert done.exit_code == 0, done.output
    made = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert made == {*pack.names(3, 1)} < {*pack.names(3)}
    sheet = (tmp_path / "lesson-1-worksheet.html").read_text()
    teacher = (tmp_path / "lesson-1-teacher.html").read_text()
    room = catalogue.room("one-io")
    for text in (room.exercises[0].solution, room.notice[0].text, "0.439"):
        own = text.replace(" %", "")[:40]
        assert own not in sheet and own in teacher.replace("\xa0", " "), text
    text = (tmp_path / "lesson-1-slides.md").read_text()
    shown = (tmp_path / "lesson-1-slides.html").read_text()
    assert text.startswith("---\nmarp: true") and "    half a revolution = 30 / rpm seconds" in text
    assert shown.count('<section class="slide">') == text.count("\n---\n")
    brief = (tmp_path / "lesson-1-slides-45.md").read_text()
    short = [f"`{each}`\n" in brief for each in ("one-io", "arm", "block-size")]
    assert short == [True, True, False] and "in 45 minutes" in brief
    assert "raidlab lab one-io arm --site DIR" in teacher
    for each in (room.notice[0].ask, room.notice[0].text, "half a revolution = 30 / rpm seconds"):
        assert f"{each}" in text and each in shown
    assert not re.search(r"(src|href)=\"(?!data:)", shown)  # one file, which fetches nothing
    notebook = json.loads((tmp_path / "notebooks" / "arm.ipynb").read_text())
    assert 'catalogue.room("arm")' in notebook["cells"][-1]["source"]
    contents = (tmp_path / "README.md").read_text()
    assert contents.startswith("# Teacher's pack of raidlab") and "- lesson-1: " in contents
    glossary = (tmp_path / "glossary.html").read_text()
    assert "<strong>queue depth</strong>" in glossary and "](" not in glossary
    rows = list(csv.reader((tmp_path / "questions.csv").open()))
    assert len(rows) > 1 and {tuple(row[:2]) for row in rows[1:]} == {("3", "1")}
    assert raidlab(*asked).exit_code == 0  # its own files


def test_a_slide_has_no_wall_of_answers():
    text = pack._render("slides.md.j2", LESSONS[2])
    seen = [part for part in text.split("\n---\n") if "What was seen" in part]
    found = [re.findall(r"^(\d)\. ", part, re.M) for part in seen]
    claims = [len(catalogue.room(stop.room).notice) for stop in LESSONS[2].stops]
    assert max(map(len, found)) == 3 and sum(map(len, found)) == sum(claims)
    assert ["7"] in found and '<ol start="7">' in slides(LESSONS[2], text)


def test_a_notebook_of_the_pack_says_how_to_get_raidlab(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cell = json.loads(pack.notebook(catalogue.room("knee")))["cells"][1]["source"]
    code = cell.replace("%pip install -q ", "installed = f")
    assert "installed" in code
    exec(code, {})  # raidlab is here: nothing to install
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="make wheel"):
        exec(code, {})
    (tmp_path / "raidlab-1.0-py3-none-any.whl").touch()
    exec(code, made := {})
    assert made["installed"] == "raidlab-1.0-py3-none-any.whl[lab]"


def test_the_predictions_of_a_class_are_put_together(tmp_path):
    drawn = " ".join("200" for _ in catalogue.room("knee").prediction.form.x)
    for name, value in (("Ada", 100), ("Bo", 150), ("Cy", 400)):
        rows = f'"{name}","arm","{value}","164","IO/s",""\n'
        rows += f'"{name}","knee","{drawn}","{drawn}","IO/s",""\n'
        (tmp_path / f"{name}.csv").write_text(HEAD + rows)
    (row, curve) = collected.summary(exported.read(tmp_path).predictions).rows
    assert list(row) == ["arm", "3", "150", "100", "400", "164", "IO/s", "1 of 3", ""]
    assert list(curve)[:2] == ["knee", "3"]
    done = raidlab("--class", str(tmp_path))
    assert done.exit_code == 0 and "arm" in done.stdout


def test_a_student_counts_once_and_files_without_a_name_are_of_several(tmp_path):
    def row(student, value, kept):
        return f'"{student}","arm","{value}","164","IO/s","{kept}"\n'

    (tmp_path / "a.csv").write_text(HEAD + row("Ada", 164, "2026-01-02T10:00"))
    (tmp_path / "a (1).csv").write_text(HEAD + row("Ada", 90, "2026-01-02T09:00"))
    for name in ("b", "c"):
        (tmp_path / f"{name}.csv").write_text(HEAD + row("student", 200, ""))
    (only,) = collected.summary(exported.read(tmp_path).predictions).rows
    assert list(only)[1:5] == ["3", "200", "90.0", "200"]


def test_what_was_predicted_after_the_result_is_counted_apart(tmp_path):
    head = ",".join(exported.HEAD) + "\n"
    first, later, waived = (
        f"arm,{value},164,IO/s,2026-01-0{day}T10:00,{seen}\n"
        for value, day, seen in ((900, 1, "no"), (164, 2, "yes"), ("", 1, "yes"))
    )
    (tmp_path / "a.csv").write_text(head + f"Ada,{first}Ada,{later}")
    (tmp_path / "b.csv").write_text(head + f"Bo,{later}")
    (tmp_path / "c.csv").write_text(head + f"Cy,{waived}")
    (tmp_path / "d.csv").write_text(HEAD + ROW.format("Di", 100, "2026-01-01T10:00"))  # of 0.2.0
    done = raidlab("--class", str(tmp_path))
    flat = " ".join(done.stderr.split())
    assert done.exit_code == 0 and "students: 4, predictions: 2" in flat
    assert "2 more were made after the result was seen" in flat and "left out" not in flat
    assert "note: no prediction before a result: Bo, Cy" in flat
    (row,) = collected.summary(exported.read(tmp_path).predictions).rows
    assert list(row) == ["arm", "2", "500", "100", "900", "164", "IO/s", "0 of 2", "2"]
    (tmp_path / "a.csv").unlink()
    (tmp_path / "d.csv").unlink()
    (row,) = collected.summary(exported.read(tmp_path).predictions).rows
    assert list(row) == ["arm", "0", "", "", "", "164", "IO/s", "", "1"]
    (tmp_path / "c.csv").write_text(head + "Cy," + later.replace("yes", "maybe"))
    assert 'seen_before = "maybe": yes or no' in " ".join(
        raidlab("--class", str(tmp_path)).stderr.split()
    )


def test_a_spreadsheet_with_decimal_commas_is_read(tmp_path):
    text = HEAD.replace(",", ";").replace('"', "") + "Ada;arm;82,5;164,25;IO/s;2026\r\n"
    (tmp_path / "a.csv").write_text("\ufeff" + text)
    (row,) = exported.read(tmp_path).predictions
    assert (row.number, row.outcome) == (82.5, "164.25")


def test_sentences_and_curves_of_a_class_have_tables(tmp_path):
    wrong, right = catalogue.room("how-long").prediction.form.words[::2]
    x = catalogue.room("qlc").prediction.form.x
    for name, words, height in (("Ada", wrong, 1), ("Bo", right, 3)):
        drawn = " ".join(str(height * each) for each in x)
        said = f'"{name}","how-long","{words}","{right}","",""\n'
        said += f'"{name}","qlc","{drawn}","{" ".join(map(str, x))}","MB/s",""\n'
        (tmp_path / f"{name}.csv").write_text(HEAD + said)
    found = exported.read(tmp_path).predictions
    assert [list(row)[2:] for row in collected.choices(found).rows] == [
        ["1", ""],
        ["0", ""],
        ["1", "simulated"],
    ]
    assert list(collected.curves(found).rows[0]) == ["qlc", "1", "2.00", "1.00", "3.00", "1.00",
                                                     "MB/s"]  # fmt: skip
    said = raidlab("--class", str(tmp_path)).stdout
    assert "What the class chose" in said and "What the class drew" in said


def test_a_worksheet_has_axes_to_draw_on():
    drawn = paper(catalogue.room("knee").prediction.form)
    assert drawn.count("<line") == 5 + 9 and ">256</text>" in drawn and "IO/s" in drawn
    # Both axes are logarithmic: 1,000 of 100 to 2,000 stands at 77 % of the height.
    texts = ElementTree.fromstring(drawn).iter("text")
    heights = {each.text: float(each.get("y")) - 5 for each in texts}
    share = math.log(10) / math.log(20)
    assert heights["1,000"] == pytest.approx(214 - share * (214 - 12), abs=0.06)
    even = paper(catalogue.room("qlc").prediction.form)
    assert ">750</text>" in even and ">2,250</text>" in even and ">0</text>" in even


def test_the_teacher_has_the_setting_of_each_answer_and_no_powers_of_ten():
    lesson = LESSONS[1]
    found = {stop.room: {"text": "They differ.", "why": "Why."} for stop in lesson.stops}
    form = catalogue.room("knee").prediction.form
    found["knee"] = {"text": "", "values": [1130.4 for _ in form.x], "why": "Why."}
    more = {"outcomes": found, "axes": {}, "points": (), "text": text_of(lesson.name)}
    teacher = render("teacher.html.j2", lesson, **more)
    assert "1,130 at 256 (IO/s). Reads" in teacher and "They differ. Who" in teacher
    assert teacher.count("Setting: Outstanding I/Os: ") == 1 + len(catalogue.room("knee").notice)


ROW = '"{}","arm","{}","164","IO/s","{}"\n'


def test_what_is_no_number_is_left_out_and_named(tmp_path):
    for name, value in (("Ada", "100"), ("Bo", "nan"), ("Cy", "inf"), ("Di", "1e300")):
        (tmp_path / f"{name}.csv").write_text(HEAD + ROW.format(name, value, ""))
    gaps = " ".join(["1", "nan"] + ["1"] * 7)
    (tmp_path / "Ed.csv").write_text(HEAD + f'"Ed","knee","{gaps}","","IO/s",""\n')
    done = raidlab("--class", str(tmp_path))
    assert done.exit_code == 1 and "nan" not in done.stdout
    flat = " ".join(done.stderr.split())
    for said in ('Bo.csv: line 2: arm: prediction = "nan": a number from', "Cy.csv", "Di.csv"):
        assert said in flat
    assert "Ed.csv" in flat and "9 numbers from 100 to 2,000" in flat
    (row,) = collected.summary(exported.read(tmp_path).predictions).rows
    assert list(row)[:3] == ["arm", "1", "100"]


def test_a_name_in_two_files_is_named(tmp_path):
    (tmp_path / "a.csv").write_text(HEAD + ROW.format("Ada", 100, "2026-01-02T10:00"))
    (tmp_path / "b.csv").write_text(HEAD + ROW.format("Ada", 200, "2026-01-02T11:00"))
    (tmp_path / "c.csv").write_text(HEAD + ROW.format("Bo", 200, "2026-01-02T11:00"))
    (tmp_path / "d.csv").write_text(HEAD)
    done = raidlab("--class", str(tmp_path))
    flat = " ".join(done.stderr.split())
    assert done.exit_code == 0 and "note: Ada: a.csv, b.csv: " in flat and "1 of 2 rows" in flat
    assert "Bo" not in flat and "d.csv: no prediction in it" in flat


def test_one_bad_file_does_not_stop_a_class(tmp_path):
    (tmp_path / "a.csv").write_text(HEAD + ROW.format("Ada", 100, ""))
    (tmp_path / "b.csv").write_text("a,b\n")
    (tmp_path / "c.csv").write_text(HEAD + ROW.format("Cy", 150, "") + '"Cy","kne","1","","",""\n')
    done = raidlab("--class", str(tmp_path))
    flat = " ".join(done.stderr.split())
    assert f"reading what students exported into {tmp_path}" in flat
    assert "students: 2, predictions: 2" in flat
    assert done.exit_code == 1 and flat.count("left out:") == 2
    assert "b.csv" in flat and "export it anew" in flat and 'did you mean "knee"?' in flat
    assert len(exported.read(tmp_path).predictions) == 2


@pytest.mark.parametrize(
    ("encoding", "mark"), [("utf-16", "\t"), ("latin-1", ";"), ("latin-1", ","), ("utf-8-sig", ";")]
)
def test_files_that_a_spreadsheet_saved_are_read(tmp_path, encoding, mark):
    number = "82,5" if mark != "," else "82.5"
    text = (
        mark.join(exported.HEAD)
        + "\r\n"
        + mark.join(["Jürgen", "arm", number, "164", "IO/s", "", "no"])
    )
    (tmp_path / "a.csv").write_bytes((text + "\r\n").encode(encoding))
    (row,) = exported.read(tmp_path).predictions
    assert (row.student, row.number) == ("Jürgen", 82.5)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the columns student, room"),
        ("a,b\n", "the columns student, room"),
        (HEAD + '"Ada","kne","1","2","",""\n', 'did you mean "knee"?'),
        (HEAD + '"Ada","knee"\n', "line 2"),
        ("\x00\xff", "the columns student, room"),
    ],
)
def test_a_file_that_is_none_is_named(tmp_path, text, said):
    (tmp_path / "x.csv").write_bytes(text.encode("latin-1"))
    done = raidlab("--class", str(tmp_path))
    assert done.exit_code == 2
    flat = " ".join(done.stderr.split())
    assert said in flat and "x.csv" in flat


def test_a_folder_without_predictions_is_named(tmp_path):
    for folder in (tmp_path, tmp_path / "none"):
        done = raidlab("--class", str(folder))
        assert done.exit_code == 2 and "files of predictions" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--class a --list --pack b", ["--class: left out beside --pack", "--list: left out"]),
        ("knee --pack a", ['NAME = "knee": left out beside --pack: only for --site or']),
        ("knee --class a --seed 3", ['NAME = "knee": left', "--seed = 3: left out beside --class"]),
        ("--list --lesson 2 --port 0", ["--lesson = 2: left out", "--port = 0: left out"]),
        ("--seed 3", ["--seed = 3: only for --pack"]),
    ],
)
def test_what_would_not_be_heeded_is_refused_by_name(arguments, said):
    done = raidlab(*arguments.split())
    flat = " ".join(done.stderr.split())
    assert done.exit_code == 2 and all(each in flat for each in said), flat
    assert flat.count("error:") == len(said)
