"""What rooms share: answers to a page's questions, static pages, the command and its server."""

from __future__ import annotations

import base64
import gzip
import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

pytest.importorskip("marimo")
pytest.importorskip("anywidget")

from raidlab import cli
from raidlab.devices.faults import Fault, SpecError
from raidlab.notebooks.frame import (
    Answer,
    Box,
    Claim,
    Control,
    Exercise,
    Number,
    Prediction,
    Room,
    catalogue,
    static,
)
from raidlab.notebooks.frame.live import Live
from raidlab.notebooks.frame.pages import Links, sign
from raidlab.notebooks.frame.static import page, site

LARGEST_PAGE = 1_500_000
"""Bytes (docs: pages)."""


def answer(values, seed):
    if values["n"] == 3:
        raise SpecError([Fault("n", 3, "1 or 2")])
    if values["n"] == 4:
        raise RuntimeError("the engine is gone")
    return Answer(f"n is {values['n']}", [], {"n": values["n"]}, [Box("1", "seed")])


def small():
    return Room(
        name="small",
        number=99,
        question="How many?",
        about="Nothing is simulated.",
        prediction=Prediction(
            "How many?", "I/Os", lambda at: at(n=2)["n"], "It is two.", Number(0, 9), {"n": 2}
        ),
        controls=[
            Control("n", "Number", (1, 2, 3, 4), 1),
            Control("word", "Word", ("a", "b"), "a", words={"a": "first"}),
        ],
        scenario=lambda values: {"title": "none", "run": {"seed": 1}, "array": [{"n": 1}]},
        answer=answer,
        notice=[Claim("One is.", lambda at: at()["n"] < at(n=2)["n"], "Is one less than two?")],
        exercises=[Exercise("How many?", "1", lambda at: at()["n"] == 1)],
        sources=["none"],
    )


def ask(live, *asked, seed=1, number=1):
    live.question = {"asked": list(asked), "seed": seed, "number": number}
    return live.answer


def test_a_question_is_answered_under_its_number():
    live = Live(small())
    assert ask(live, 1, 0, number=7)["number"] == 7
    assert "n is 2" in live.answer["result"]
    assert live.values == {"n": 2, "word": "a"}


@pytest.mark.parametrize(
    ("asked", "seed", "said"),
    [
        ((2, 0), 1, "1 or 2"),
        ((3, 0), 1, "the engine is gone"),
        ((0, 0), -1, "a whole number"),
        ((0, 0), 1_000_001, "from 0 to 1,000,000"),
        ((0, 0), None, "Seed: a whole number"),
    ],
)
def test_what_goes_wrong_is_a_message_and_the_room_goes_on(asked, seed, said):
    live = Live(small())
    assert said in ask(live, *asked, seed=seed)["wrong"]
    assert "n is 1" in ask(live, 0, 0, number=2)["result"]


def test_messages_are_short_and_name_an_upload_as_the_visitor_knows_it():
    room = Room(**(vars(small()) | {"folder": "Results", "answer": many}))
    live = Live(room)
    files = {f"mine/{at}.json": "{}" for at in range(9)}
    live.question = {"asked": [0, 0], "seed": 1, "number": 1, "folder": "mine", "files": files}
    said = live.answer["wrong"]
    assert said.startswith("mine/0.json: none; ") and said.endswith("; and 4 more")
    live.question = {"asked": [0, 0], "seed": 1, "number": 2, "folder": "x" * 3000}
    assert len(live.answer["wrong"]) < 700


def test_a_page_knows_nothing_of_what_is_to_be_predicted_until_it_asks():
    live = Live(small())
    assert "outcome" not in live.about and "two" not in json.dumps(live.about)
    live.question = {"asked": [1, 0], "seed": 1, "number": 9, "outcome": True}
    assert live.answer == {"number": 9, "why": "It is two.", "value": 2, "text": "2 I/Os"}


def many(values, seed):
    if not values["folder"]:
        return answer(values, seed)
    if not Path(values["folder"]).exists():
        raise SpecError([Fault("folder", values["folder"], "a folder")])
    names = sorted(Path(values["folder"]).rglob("*.json"))
    raise SpecError([Fault("", None, "none", file=str(each)) for each in names])


def test_a_control_starts_at_one_of_its_values():
    with pytest.raises(ValueError, match="none of"):
        Control("n", "Number", (1, 2), 3)
    with pytest.raises(ValueError, match="no control"):
        small().at(m=1)


def possible():
    """The small room without the settings that fail."""
    room = small()
    return Room(
        **(vars(room) | {"controls": [Control("n", "Number", (1, 2), 1), room.controls[1]]})
    )


def test_a_static_page_has_every_answer_and_fetches_nothing():
    text = page(possible(), Links("index.html"))
    assert text == page(possible(), Links("index.html"))
    packed = re.search(r'atob\("([^"]+)"\)', text)
    found = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    answers = found["answers"]
    assert found["outcome"] == {"why": "It is two.", "value": 2, "text": "2 I/Os"}
    assert ["n is 1" in each["result"] for each in answers] == [True, True, False, False]
    own = text.split("<script>")[0] + text.split("</script>")[-1]
    # The empty icon stands in the page itself: without it a browser asks the server for one.
    own = own.replace('<link rel="icon" href="data:,">', "", 1)
    assert 'src="' not in own and "<link" not in own and "http" not in own
    assert len(text.encode()) < LARGEST_PAGE


@pytest.mark.parametrize("name", catalogue.names())
def test_a_room_has_a_sign_that_shows_no_result(name):
    drawn = ElementTree.fromstring(sign(name))
    assert drawn.get("aria-hidden") == "true" and drawn.get("viewBox") == "0 0 96 56"
    assert not "".join(drawn.itertext()).strip() and len(sign(name)) < 1000


def test_a_site_has_an_index(tmp_path):
    site([possible()], tmp_path)
    assert 'href="small.html"' in (tmp_path / "index.html").read_text()
    assert (tmp_path / "small.html").exists()


def raidlab(*arguments):
    return CliRunner().invoke(cli.app, ["lab", *arguments])


def test_the_command_lists_rooms():
    done = raidlab("--list")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        f"{room.name:<20} {room.question}" for room in catalogue.rooms()
    ]


def test_the_command_names_the_nearest_room():
    done = raidlab("kne")
    assert done.exit_code == 2
    assert 'did you mean "knee"?' in done.stderr


@pytest.mark.parametrize(
    ("asked", "pages"),
    [
        (["knee", "arm", "knee"], "arm knee lesson-1 lesson-2 index"),
        (["--lesson", "4"], "write-penalty battery fsync write-cache lesson-4 index"),
    ],
)
def test_a_site_of_several_rooms_or_of_one_lesson(monkeypatch, tmp_path, asked, pages):
    monkeypatch.setattr(static, "page", lambda room, links, progress: room.name)
    done = raidlab(*asked, "--site", str(tmp_path / "site"))
    assert done.exit_code == 0, done.stderr
    written = {each.name for each in (tmp_path / "site").iterdir()}
    assert written == {f"{each}.html" for each in pages.split()}
    index = (tmp_path / "site" / "index.html").read_text()
    assert set(re.findall(r'href="([a-z0-9-]+\.html)"', index)) == written - {"index.html"}


def test_a_wrong_choice_of_rooms_is_named_all_at_once():
    done = raidlab("kne", "am", "--lesson", "7")
    assert done.exit_code == 2
    for said in (
        '"knee"',
        '"arm"',
        "--lesson = 7: a lesson of the course: 1 to 6",
        "beside --lesson",
    ):
        assert said in done.stderr
    assert "one room; with --site FOLDER several" in done.stderr
    assert "left out beside --lesson" in raidlab("knee", "--lesson", "2").stderr
    listed = raidlab("knee", "--lesson", "2", "--list").stderr
    assert listed.count("left out beside --list") == 2


def test_without_marimo_the_command_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "marimo", None)
    assert raidlab("--list").exit_code == 0
    done = raidlab("knee")
    assert done.exit_code == 2
    assert "pip install 'raidlab[lab]'" in done.stderr


def test_the_server_lets_in_who_knows_the_token_as_soon_as_it_says_its_address():
    with subprocess.Popen(
        [sys.executable, "-m", "raidlab", "lab", "--no-browser", "--port", "0"],
        stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            address = process.stderr.readline().split()[-1]
            plain, _, token = address.partition("?token=")
            assert plain.startswith("http://127.0.0.1:") and len(token) > 20
            for refused in (plain, f"{plain}?token=wrong", f"{plain}knee/"):
                with pytest.raises(urllib.error.HTTPError, match="403"):
                    urllib.request.urlopen(refused)
            cookies = urllib.request.HTTPCookieProcessor()
            page = urllib.request.build_opener(cookies).open(address).read().decode()
            assert 'href="/knee/"' in page
        finally:
            process.terminate()
