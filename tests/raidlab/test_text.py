"""Text of users is text, wherever a command shows it: no markup, no link, no control sequence."""

import json
import os
import pty
import re
import subprocess
import sys

import pytest

from raidlab.calibration.measurements.measurement import Latency, Measurement, Point, Side
from raidlab.devices.printable import label, printable, printable_lines, without_tags
from raidlab.output import say
from tests import command_server
from tests.raidlab.test_cli import command

TEXT = "[/red] [link=http://x.example]a[/link] <b>&amp; \x1b[31mred\x07\u202eturned\nerror: feigned"
TOML = json.dumps(TEXT).replace("\\u001b", "\\u001B")
SHOWN = printable(TEXT)

DRIVE = f"""
kind = "station"
name = "fixed"
title = {TOML}
capacity = "100 GB"
service = {{ value = "1 ms", source = "assumed", note = {TOML} }}
[sources]
capacity = {{ source = "assumed", note = {TOML} }}
"""
SCENARIO = f"""
title = {TOML}
%s
[[workload]]
rw = "randrw"
block_size = "4 KiB"
%s
[run]
warm_up = "10 ms"
duration = "200 ms"
"""
ARRAY = '[[array]]\ndrives = [{ model = "fixed.toml" }]\n'
PAIR = (
    '[[array]]\nname = "a"\nlevel = "raid1"\nsoftware_raid = "os"\nhot_spares = 1\nused = "1 MiB"\n'
    'drives = [{ model = "fixed.toml", count = 2 }]\n'
)
FAILS = '[[event]]\nat = "20 ms"\naction = "fail-drive"\narray = "a"\ndrive = 0\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("text")
    (made / "fixed.toml").write_text(DRIVE)
    (made / "s.toml").write_text(SCENARIO % (ARRAY, "outstanding = [1, 2]"))
    (made / "r.toml").write_text(SCENARIO % (PAIR, "outstanding = 1") + FAILS)
    (made / "bad.toml").write_text((SCENARIO % (ARRAY, "")).replace("randrw", "[/red]\\u001B[31m"))
    (made / "t.csv").write_text("128166372003061629,\x1b[31mhm[/red],0,Read,4096,4096,1000\n")
    side = Side(
        iops=900.0, ios=1000, latency_mean_us=1000.0, spread=0.2,
        completion=Latency(mean_us=1000.0),
    )  # fmt: skip
    point = Point(
        name=TEXT, rw="randread", read_share=1.0, bs=4096, iodepth=1, read=side, file=TEXT
    )
    deep = point.model_copy(update={"iodepth": 2})
    (made / "m.json").write_text(Measurement(name=TEXT, points=(point, deep)).to_json())
    return made


def run(folder, *arguments):
    store = {"RAIDLAB_STORE": str(folder / "store.sqlite")}
    return command_server.run(*arguments, cwd=folder, env=store)


COMMANDS = {
    "run": (("run", "s.toml", "--html", "p.html", "--wide", "--what-if"), 0),
    "run json": (("run", "s.toml", "--json"), 0),
    "rebuild": (("rebuild", "r.toml", "--rates", "50,100", "--html", "p.html"), 0),
    "controllers": (("controllers", "lsi2008", "--drive", "fixed.toml", "--html", "p.html"), None),
    "compare": (("compare", "m.json", "--device", "fixed.toml", "--html", "p.html"), 0),
    "compare scenario": (("compare", "m.json", "--scenario", "s.toml", "--html", "p.html"), 0),
    "calibrate": (
        ("calibrate", "m.json", "--kind", "station", "--name", "x", "--report", "p.html",
         "--out", "d.toml"), 0,
    ),
    "replay": (("replay", "t.csv", "--format", "msr", "--scenario", "s.toml"), 0),
    "import trace": (("import", "trace", "t.csv", "--format", "msr", "--out", "i.json"), 2),
    "devices": (("devices", "fixed.toml", "--wide"), 0),
    "devices json": (("devices", "fixed.toml", "--json"), 0),
    "compression": (("compression", "s.toml"), 2),
    "ssd-cache": (("ssd-cache", "s.toml"), 2),
    "mistake": (("run", "bad.toml"), 2),
    "file": (("run", "\x1b[31m[/red]\n.toml"), 2),
    "option": (("run", "s.toml", "--seed", "\x1b[31m[/red]"), 2),
    "command": (("\x1b[31m[/red]",), 2),
    "name": (("devices", "\x1b[31m[/red]"), 2),
    "import name": (("import", "fio", "\x1b[31m[/red]", "--out", "x.json"), 2),
    "validate": (("validate", "\x1b[31m[/red]"), 2),
    "store": (("store", "\x1b[31m[/red]"), 2),
    "fio": (("fio", "--scenario", "\x1b[31m[/red]", "--name=x"), 2),
}  # fmt: skip
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")


@pytest.mark.parametrize("name", COMMANDS)
def test_text_of_users_shows_and_does_nothing_else(folder, name):
    """`[/red]` was a traceback, `[red]` was eaten, control sequences reached the terminal."""
    arguments, code = COMMANDS[name]
    page = folder / "p.html"
    page.unlink(missing_ok=True)
    done = run(folder, *arguments)
    said = done.stdout + done.stderr
    assert "Traceback" not in said, said
    assert code is None or done.returncode == code, said
    assert not CONTROL.search(said), CONTROL.search(said)
    assert not any(line.startswith("error: feigned") for line in said.splitlines())
    if name in ("run", "rebuild", "replay"):
        assert "[/red] [link=http://x.example]a[/link]" in said
    if page.exists():
        html = page.read_text()
        assert not CONTROL.search(html)
        body, _, drawn = html.partition("<script>")
        assert "<b>&amp; " not in body and 'href="http' not in body
        assert "link=" not in drawn.rpartition("draw([")[2]
        assert "[/red] [link=http://x.example]a[/link] &lt;b&gt;&amp;amp; \\x1b[31mred" in html


def test_the_progress_bar_of_a_terminal_shows_the_title(folder):
    """There the title went through Rich's markup."""
    reader, writer = pty.openpty()
    environment = os.environ | {
        "RAIDLAB_STORE": str(folder / "pty.sqlite"), "COLUMNS": "300", "TERM": "xterm",
    }  # fmt: skip
    process = subprocess.Popen(
        command("run", "s.toml"), cwd=folder, env=environment, stdout=writer, stderr=writer
    )
    os.close(writer)
    seen = b""
    while True:
        try:
            piece = os.read(reader, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    os.close(reader)
    assert process.wait() == 0
    text = seen.decode()
    assert "Traceback" not in text and "\x1b[31mred" not in text and "\x07" not in text
    assert "[/red] [link=http://x.example]a[/link]" in text


def test_what_shows_itself_stays_and_what_acts_is_written_out():
    assert printable("µs, 東京, é, \u00a0 and 👩‍💻") == "µs, 東京, é, \u00a0 and 👩‍💻"
    assert printable("a\tb\nc\x1b\x9b\u2028\udcff") == "a\\tb\\nc\\x1b\\x9b\\u2028\\udcff"
    assert printable_lines("a\nb\rc") == "a\nb\\rc"
    assert label("<a href='x'>\x1b") == "&lt;a href='x'&gt;\\x1b"


def test_a_picture_has_no_tags_but_its_own():
    drawn = {"a": ["<b>own</b><br>", '<a href="http://x">y</a>', "<span style='x'>"], "b": 1}
    assert without_tags(drawn) == {
        "a": ["<b>own</b><br>", '&lt;a href="http://x">y&lt;/a>', "&lt;span style='x'>"],
        "b": 1,
    }


def test_messages_break_between_words_on_a_terminal(monkeypatch, capsys):
    message = "warning: " + "the rate changes so slowly that its interval is a guess " * 3
    monkeypatch.setenv("COLUMNS", "60")
    say(message)
    assert capsys.readouterr().err == message + "\n"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    say(message)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 2
    assert max(len(line) for line in lines) <= 60
    assert " ".join(line.strip() for line in lines) == message.strip()
