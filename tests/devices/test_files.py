"""Files are written whole or not at all, where nobody can put another one in the way."""

import os
import resource
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from raidlab.devices import files
from raidlab.devices.faults import SpecError
from raidlab.devices.files import new_folders, partial_name, whole, write_file, write_files


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_has_the_mode_that_the_process_gives(tmp_path):
    was = os.umask(0o027)
    try:
        write_file(tmp_path / "made" / "new.json", "text")
        with whole(tmp_path / "engine") as beside:
            # As the engine does it: a file of its own in the place of the one made.
            beside.unlink()
            beside.write_text("state")
            beside.chmod(0o600)
    finally:
        os.umask(was)
    assert mode(tmp_path / "made" / "new.json") == 0o640 == mode(tmp_path / "engine")
    assert (tmp_path / "engine").read_text() == "state"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["engine", "made"]


@pytest.mark.parametrize("kept", [0o600, 0o644, 0o664])
def test_a_rewritten_file_keeps_mode_and_owner(tmp_path, kept):
    """One of mode 600 became 644."""
    path = tmp_path / "private.json"
    path.write_text("before")
    path.chmod(kept)
    if os.geteuid() == 0:
        os.chown(path, 1234, 4321)
    owner = path.stat().st_uid, path.stat().st_gid
    write_file(path, "after")
    assert path.read_text() == "after" and mode(path) == kept
    assert (path.stat().st_uid, path.stat().st_gid) == owner
    with whole(path) as beside:
        assert mode(beside) == 0o600
        beside.write_text("by another program")
    assert path.read_text() == "by another program" and mode(path) == kept


def test_no_link_that_stands_in_the_way_is_followed(tmp_path, monkeypatch):
    """The name of the temporary file was known: a link there led to another user's file."""
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    (tmp_path / f".page.html.{os.getpid()}").symlink_to(victim)
    write_file(tmp_path / "page.html", "page")
    assert victim.read_text() == "untouched"
    # Where the name could be guessed nevertheless.
    monkeypatch.setattr(files.secrets, "token_hex", lambda count: "guessed")
    (tmp_path / ".other.html.guessed").symlink_to(victim)
    with pytest.raises(SpecError, match="File exists"):
        write_file(tmp_path / "other.html", "page")
    assert victim.read_text() == "untouched" and not (tmp_path / "other.html").exists()


def test_names_of_temporary_files_differ(tmp_path):
    names = set()
    for _ in range(20):
        with whole(tmp_path / "x") as beside:
            names.add(beside.name)
            beside.write_text("y")
    assert len(names) == 20


def test_a_link_to_a_result_stays_one(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "r.json").write_text("before")
    (tmp_path / "r.json").symlink_to(tmp_path / "real" / "r.json")
    write_file(tmp_path / "r.json", "after")
    assert (tmp_path / "r.json").is_symlink()
    assert (tmp_path / "real" / "r.json").read_text() == "after"


def test_several_files_are_replaced_together_or_not_at_all(tmp_path):
    first, second = tmp_path / "a", tmp_path / "folder"
    first.write_text("before")
    second.mkdir()
    with pytest.raises(SpecError):
        write_files({first: "after", second: "after"})
    assert first.read_text() == "before"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a", "folder"]


def test_a_file_that_grows_too_large_leaves_what_was_there(tmp_path):
    (tmp_path / "page.html").write_text("before")
    code = """
import resource, sys
from pathlib import Path
from raidlab.devices.faults import SpecError
from raidlab.devices.files import write_file
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    write_file(Path(sys.argv[1]), "x" * 100_000)
except SpecError as error:
    print(error)
"""
    line = [sys.executable, "-c", code, str(tmp_path / "page.html")]
    said = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    assert said.endswith("page.html: cannot be written: File too large\n")
    assert (tmp_path / "page.html").read_text() == "before"
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 10_000


def test_what_is_written_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    done = []
    real_sync, real_replace = os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (done.append("sync"), real_sync(fd))[1])
    monkeypatch.setattr(
        Path, "replace", lambda self, to: (done.append("name"), real_replace(self, to))[1]
    )
    write_file(tmp_path / "a", "text")
    assert done == ["sync", "name", "sync"]


def test_what_is_no_unicode_does_not_stop_a_page(tmp_path):
    write_file(tmp_path / "a", os.fsdecode(b"name-\xff"))
    assert (tmp_path / "a").read_text() == "name-\\udcff"


def test_a_partial_result_is_named_so(tmp_path):
    assert partial_name(Path("o/result.json")) == Path("o/result.partial.json")
    assert partial_name(Path("page")) == Path("page.partial")
    assert partial_name(Path("/dev/null")) == Path("/dev/null")


def test_a_folder_that_will_be_made_is_named_with_the_nearest_that_exists(tmp_path):
    (tmp_path / "results").mkdir()
    paths = [tmp_path / "resuts" / "a" / "b.json", tmp_path / "resuts" / "c.json"]
    made = f"the folder {tmp_path / 'resuts'} does not exist: it is made"
    assert new_folders(paths) == [f'{made} (there is "results")']
    far = tmp_path / "other" / "b.json"
    assert new_folders([far]) == [f"the folder {tmp_path / 'other'} does not exist: it is made"]
    assert new_folders([tmp_path / "results" / "b.json", Path("b.json")]) == []
