"""`raidlab discover` from captured files to a scenario."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import command_server

DATA = Path(__file__).parents[1] / "data" / "discover"


@pytest.fixture
def raidlab(tmp_path):
    def run(*arguments):
        done = command_server.run(*arguments, cwd=tmp_path)
        assert "Traceback" not in done.stderr + done.stdout
        return done

    return run


def test_a_capture_becomes_facts_matches_and_a_scenario(raidlab, tmp_path):
    source, out = DATA / "ssacli-p816-ssd-smartpath.txt", tmp_path / "s.toml"
    done = raidlab("discover", "--from", source, "--out", out, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["scenario"] == str(out)
    assert found["files"] == [{"file": source.name, "reader": "ssacli"}]
    assert found["facts"]["controllers"][0]["cache"] == "4 GiB"
    assert {each["quality"] for each in found["matches"]} <= {"exact", "family", "near", "class"}
    assert 'write = "write-through"' in out.read_text()


def test_what_no_reader_knows_is_bad_input(raidlab, tmp_path):
    (tmp_path / "notes.txt").write_text("nothing of storage\n")
    done = raidlab("discover", "--from", tmp_path / "notes.txt")
    assert done.returncode == 2
    assert "no reader knows this output" in done.stderr


def test_a_path_that_does_not_exist_is_bad_input(raidlab):
    done = raidlab("discover", "--from", "nowhere.txt")
    assert done.returncode == 2
    assert "nowhere.txt" in done.stderr


def test_files_of_a_folder_are_one_machine(raidlab, tmp_path):
    for name in ("nvme-list-table.txt", "lscpu-two-sockets.txt", "sysfs-tail-queue.txt"):
        (tmp_path / name).write_text((DATA / name).read_text())
    done = raidlab("discover", "--from", tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)["facts"]
    assert facts["host"]["threads"] == 64
    assert len([each for each in facts["drives"] if each["interface"] == "nvme"]) == 3
    # Both captures have an nvme0, of two makes.
    assert "contradiction" in {each["code"] for each in json.loads(done.stdout)["warnings"]}


def test_the_capturing_script_is_printed(raidlab):
    done = raidlab("discover", "--capture", "-")
    assert done.stdout.startswith("#!/bin/sh")


def test_capture_stands_alone(raidlab):
    done = raidlab("discover", "--capture", "x", "--from", "y")
    assert done.returncode == 2


LSBLK = '{"blockdevices": [{"name": "vdq", "size": 68719476736, "type": "disk"}]}'
CPU = "CPU(s): 4\nModel name: Blue {number}\n"


def test_a_virtual_disk_is_named_and_no_scenario_is_1(raidlab, tmp_path):
    (tmp_path / "lsblk.json").write_text(LSBLK)
    (tmp_path / "lscpu.txt").write_text(CPU.format(number=7) + "Hypervisor vendor: KVM\n")
    (tmp_path / "cpuinfo.txt").write_text("processor : 0\nflags : fpu hypervisor\n")
    (tmp_path / "diskstats.txt").write_text(" 254 0 vdq" + " 1" * 17 + "\n")
    done = raidlab("discover", "--from", tmp_path, "--out", "s.toml")
    assert done.returncode == 1
    assert "vdq, 64 GiB, virtual, virtio" in done.stderr and "raidlab twin" in done.stderr
    assert "drive vdq: 64 GiB, virtual, virtio" in done.stdout
    assert "hypervisor KVM" in done.stdout
    assert "no reader knows it" not in done.stdout
    looked = raidlab("discover", "--from", tmp_path)
    assert looked.returncode == 0 and "raidlab twin" in looked.stderr
    alone = raidlab("discover", "--from", tmp_path / "diskstats.txt")
    assert alone.returncode == 2 and "import monitoring" in alone.stderr


def test_captures_of_two_machines_are_said_to_be_mixed(raidlab, tmp_path):
    (tmp_path / "lsblk.json").write_text(LSBLK)
    for number, name in (7, "one"), (8, "two"):
        (tmp_path / f"lscpu-{name}.txt").write_text(CPU.format(number=number))
        (tmp_path / f"hostname-{name}").write_text(f"{name}.example.org\n")
    done = raidlab("discover", "--from", tmp_path)
    assert done.stderr.count("several machines are mixed") == 2
    assert "one.example.org" in done.stderr and "Blue 8" in done.stderr
