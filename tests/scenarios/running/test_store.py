"""The store of finished runs: nothing is lost, nothing wrong is found, damage heals."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest

from raidlab.scenarios.running import store as module
from raidlab.scenarios.running.store import Key, Store, StoreError, run_key, work_key


def key(number):
    return Key(number.to_bytes(32))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "store.sqlite"


def test_what_is_put_is_got_by_a_later_process(path):
    with Store(path) as store:
        assert store.get(key(1)) is None
        store.put(key(1), "first")
        store.put(key(1), "second")
        store.put(key(2), "µs " * 1000)
    with Store(path) as store:
        assert store.get(key(1)) == "second"
        assert store.get(key(2)) == "µs " * 1000
        assert store.overview().entries == 2
    assert [each.name for each in path.parent.iterdir()] == ["store.sqlite"]


def test_the_key_is_of_plan_engine_and_the_files_that_a_plan_names(tmp_path, monkeypatch):
    state = tmp_path / "s.state"
    plan = json.dumps({"seed": 1, "devices": [{"kind": "ssd", "snapshot": str(state)}]})
    keys = [run_key(plan), run_key(plan.replace("1", "2"))]
    for content in ("one", "two"):
        state.write_text(content)
        keys.append(run_key(plan))
    assert run_key(plan) == keys[-1]
    monkeypatch.setattr(module, "engine_digest", lambda: b"another engine")
    keys.append(run_key(plan))
    assert len(set(keys)) == 5


def test_work_of_other_sources_is_not_found(monkeypatch):
    known = work_key("residuals", "raidlab.devices")
    assert known == work_key("residuals", "raidlab.devices") != work_key("residuals")
    monkeypatch.setattr(module, "_sources", lambda package: b"a changed line")
    assert work_key("residuals", "raidlab.devices") != known


def test_what_was_not_used_for_longest_leaves_when_the_store_is_full(path, monkeypatch):
    now = [1000]
    monkeypatch.setattr(time, "time", lambda: now[0])
    content = os.urandom(50_000).hex()  # 50 kB compressed
    for number in range(20):
        now[0] += 10
        with Store(path) as store:
            store.put(key(number), content)
    now[0] += 10
    with Store(path) as store:
        assert store.get(key(3)) == content
    now[0] += 10
    with Store(path, limit_bytes=500_000) as store:
        store.put(key(99), content)
    with Store(path, limit_bytes=500_000) as store:
        left = [number for number in range(100) if store.get(key(number)) is not None]
        assert store.overview().file_bytes <= 500_000
    # Used last: 99, 3, then the newest ones; 50 kB and a page each, down to 90 %.
    assert left == [3, *range(20 - (len(left) - 2), 20), 99] and 7 <= len(left) <= 9


def test_what_a_process_has_stored_itself_it_does_not_evict(path):
    content = os.urandom(50_000).hex()
    with Store(path, limit_bytes=200_000) as store:
        for number in range(10):
            store.put(key(number), content)
    with Store(path) as store:
        assert all(store.get(key(number)) == content for number in range(10))


def test_clearing_gives_the_space_back(path, monkeypatch):
    with Store(path) as store:
        store.put(key(1), os.urandom(50_000).hex())
        monkeypatch.setattr(module, "engine_digest", lambda: b"another engine")
        store.put(key(2), "small")
        overview = store.overview()
        assert [(each.entries, each.current) for each in overview.engines].count((1, True)) == 1
        assert store.clear(others_only=True) == 1
        assert store.get(key(2)) == "small" and store.get(key(1)) is None
        assert store.overview().file_bytes < 40_000 < overview.file_bytes
        assert store.clear() == 1 and store.overview().entries == 0


def damaged(path, how):
    """A store of 200 entries, damaged in one of several ways."""
    with Store(path) as store:
        for number in range(200):
            store.put(key(number), f"{number}" * 500)
    whole = path.read_bytes()
    size = len(whole)
    if how == "no database":
        path.write_bytes(b"no database at all" * 100)
    elif how == "cut":
        path.write_bytes(whole[: size // 2])
    elif how == "zeros":
        path.write_bytes(whole[:100] + bytes(size - 100))
    elif how == "noise":
        path.write_bytes(whole[:4096] + os.urandom(size - 4096))
    elif how == "head":
        path.write_bytes(os.urandom(100) + whole[100:])
    elif how == "schema":
        # SQLite quotes the name in its message, as it is.
        path.write_bytes(whole.replace(b"sqlite_autoindex_entry", b"sqlite_autoindex_e\xcftry"))
    elif how == "log":
        path.with_name(path.name + "-wal").write_bytes(os.urandom(40_000))
        path.with_name(path.name + "-shm").write_bytes(os.urandom(32_768))
    elif how == "table":
        with sqlite3.connect(path) as db:
            db.execute("DROP TABLE entry")
    elif how == "types":
        with sqlite3.connect(path) as db:
            db.execute("UPDATE entry SET content = 'text'")
    elif how == "swapped":
        with sqlite3.connect(path) as db:
            other = db.execute("SELECT content FROM entry WHERE key = ?", (key(7),)).fetchone()
            db.execute("UPDATE entry SET content = ?", other)
    elif how == "content":
        with sqlite3.connect(path) as db:
            wrong = zlib.compress(b"12345")[:-1] + b"\1"
            db.execute("UPDATE entry SET content = ?", (wrong,))


@pytest.mark.parametrize(
    "how",
    [
        "no database",
        "cut",
        "zeros",
        "noise",
        "head",
        "schema",
        "log",
        "table",
        "types",
        "content",
        "swapped",
    ],
)
def test_a_damaged_store_heals(path, how):
    damaged(path, how)
    said = []
    for _ in range(2):
        with Store(path, warn=said.append) as store:
            found = [store.get(key(number)) for number in range(200)]
            wanted = [f"{number}" * 500 for number in range(200)]
            assert all(each in (None, right) for each, right in zip(found, wanted, strict=True))
            for number in range(200):
                store.put(key(number), wanted[number])
            assert [store.get(key(number)) for number in range(200)] == wanted
    # Said once, and what was there is kept.
    aside = path.with_name("store.sqlite.damaged-1")
    assert len(said) == aside.exists() == (how not in ("log", "types", "content", "swapped"))
    assert all("moved to store.sqlite.damaged-1" in each for each in said)


def test_damage_that_shows_while_the_store_is_open_heals(path):
    damaged(path, "none")
    said = []
    with Store(path, warn=said.append) as store:
        content = path.read_bytes()
        path.write_bytes(content[:4096] + os.urandom(len(content) - 4096))
        store._db.execute("PRAGMA shrink_memory")
        for number in range(200):
            store.put(key(number), "new")
        assert [store.get(key(number)) for number in range(200)].count("new") >= 199
    assert len(said) == 1 and "moved to" in said[0]


def test_a_store_of_the_first_format_is_emptied(path):
    path.parent.mkdir()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE run (key TEXT PRIMARY KEY, result TEXT)")
        db.execute("INSERT INTO run VALUES ('a', 'b')")
    with Store(path) as store:
        store.put(key(1), "new")
        assert store.get(key(1)) == "new"
        tables = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
        assert store._db.execute(tables).fetchall() == [("engine",), ("entry",)]


def test_databases_of_others_and_of_later_versions_are_left_alone(path, tmp_path):
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE letters (content TEXT)")
    with pytest.raises(StoreError, match="a database of another program"):
        Store(other)
    with Store(path) as store:
        store.put(key(1), "here")
        store._db.execute("PRAGMA user_version = 3")
    with pytest.raises(StoreError, match="format 3, of a later raidlab"):
        Store(path)
    assert sqlite3.connect(path).execute("SELECT count(*) FROM entry").fetchone() == (1,)
    with pytest.raises(StoreError, match="no file"):
        Store(tmp_path)
    with pytest.raises(StoreError, match="File exists"):
        Store(other / "below")


def test_a_full_disk_is_reported_once_and_costs_no_result(path):
    said = []
    with Store(path, warn=said.append) as store:
        store.put(key(1), "before")
        store._db.execute("PRAGMA max_page_count = 12")
        for number in range(2, 6):
            store.put(key(number), os.urandom(50_000).hex())
        assert store.get(key(1)) == "before"
    assert len(said) == 1
    assert "full; finished runs are not stored from here on" in said[0]


WRITER = """
import sys
from pathlib import Path
from raidlab.scenarios.running.store import Key, Store
first = int(sys.argv[2])
with Store(Path(sys.argv[1]), warn=lambda text: print("said", text, flush=True)) as store:
    for number in range(first, first + int(sys.argv[3])):
        store.put(Key(number.to_bytes(32)), f"{number}" * 300)
        print(number, flush=True)
"""


def writer(path, first, count):
    line = [sys.executable, "-c", WRITER, str(path), str(first), str(count)]
    return subprocess.Popen(line, stdout=subprocess.PIPE, text=True)


def test_several_processes_write_one_store_at_once(path):
    processes = [writer(path, 1000 * at, 300) for at in range(4)]
    outputs = [process.communicate(timeout=120)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    assert not any("said" in each for each in outputs)
    with Store(path) as store:
        for at in range(4):
            for number in range(1000 * at, 1000 * at + 300):
                assert store.get(key(number)) == f"{number}" * 300


def test_processes_that_meet_a_damaged_store_move_it_aside_once(path):
    damaged(path, "noise")
    processes = [writer(path, 1000 * at, 100) for at in range(1, 4)]
    outputs = [process.communicate(timeout=120)[0] for process in processes]
    assert sum(each.count("said") for each in outputs) == 1
    with Store(path) as store:
        for at in range(1, 4):
            assert all(store.get(key(1000 * at + number)) for number in range(100))
    assert not path.with_name("store.sqlite.damaged-2").exists()


def test_a_killed_process_loses_nothing_that_it_had_stored(path):
    for round_ in range(5):
        process = writer(path, 100_000 * round_, 100_000)
        time.sleep(0.3 + 0.07 * round_)
        process.send_signal(signal.SIGKILL)
        lines = process.communicate()[0].splitlines()
        done = [int(line) for line in lines if line.isdigit()]
        with Store(path) as store:
            assert all(store.get(key(number)) == f"{number}" * 300 for number in done)
    assert Path(path).with_name("store.sqlite.damaged-1").exists() is False


def test_a_store_that_may_not_be_written_is_read(path, monkeypatch):
    with Store(path) as store:
        store.put(key(1), "first")
    before, names = path.read_bytes(), sorted(path.parent.iterdir())
    real = os.access
    monkeypatch.setattr(module.os, "access", lambda at, mode: mode != os.W_OK and real(at, mode))
    said = []
    with Store(path, warn=said.append) as store:
        assert store.get(key(1)) == "first"
        store.put(key(2), "second")
        assert store.get(key(2)) is None
        assert store.overview().entries == 1
    assert said == [f"{path}: can only be read; finished runs are found, new ones are not stored"]
    assert path.read_bytes() == before
    assert sorted(path.parent.iterdir()) == names
