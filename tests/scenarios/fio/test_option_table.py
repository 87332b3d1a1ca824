"""The table of fio's options is complete: each option of the installed fio is in it, once."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter

import pytest

from raidlab.scenarios.fio import options
from raidlab.scenarios.fio.jobfile import ALIASES
from raidlab.scenarios.fio.option_table import ENGINES, JOBS, OPTIONS, Handling, Load, Skip

needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is missing")


def names_of(words: str) -> set[str]:
    # An engine without options is an error to fio.
    done = subprocess.run(["fio", words], capture_output=True, text=True, check=False)
    return set(re.findall(r"^\s*([\w-]+)\s*:", done.stdout, re.MULTILINE))


def test_an_option_has_one_row() -> None:
    names = Counter(name for row in (*JOBS, *ENGINES) for name in row.names.split())
    assert [name for name, count in names.items() if count > 1] == []
    assert not OPTIONS.keys() & ALIASES.keys()
    assert set(ALIASES.values()) <= OPTIONS.keys()


def test_what_has_no_effect_or_is_refused_says_why() -> None:
    for name, option in OPTIONS.items():
        if option.native in (Handling.IDLE, Handling.REFUSED):
            assert option.why, name
        if option.bridge in (Handling.IDLE, Handling.NOTED, Handling.REFUSED):
            assert option.why_bridge, name
        if isinstance(option.load, Skip):
            assert option.load.why, name


@needs_fio
def test_every_option_of_the_installed_fio_has_a_row() -> None:
    """A new one fails here: say what it touches, and what it does to a load."""
    of_jobs = names_of("--cmdhelp=all")
    assert len(of_jobs) > 200
    assert of_jobs <= OPTIONS.keys() | ALIASES.keys()


@needs_fio
def test_every_option_of_an_engine_of_the_installed_fio_has_a_row() -> None:
    listed = subprocess.run(["fio", "--enghelp"], capture_output=True, text=True, check=True)
    engines = listed.stdout.split("\n", 1)[1].split()
    assert "libaio" in engines
    found: set[str] = set()
    for engine in engines:
        found |= names_of(f"--enghelp={engine}")
    assert {"hipri", "sqthread_poll"} <= found
    assert found <= OPTIONS.keys() | ALIASES.keys()


# What acts on the machine that runs fio, by hand from its manual: a command, a file that is no
# output, memory, a CPU, a priority, a user.
OF_THE_MACHINE = """
exec_prerun exec_postrun mem iomem_align lockmem hugepage-size gpu_dev_id cpumask cpus_allowed
cpus_allowed_policy numa_cpu_nodes numa_mem_policy log_compression_cpus verify_async_cpus gtod_cpu
sqthread_poll_cpu nice prio prioclass uid gid cgroup cgroup_nodelete cgroup_weight ioscheduler
pre_read verify_dump verify_state_save write_hint opendir unlink unlink_each_loop filename directory
fallocate create_on_open allow_mounted_write verify_state_load merge_blktrace_file file_append
profile
"""


@pytest.mark.parametrize("name", OF_THE_MACHINE.split())
def test_fio_never_has_an_option_that_acts_on_this_machine(name: str) -> None:
    assert OPTIONS[name].bridge not in (Handling.APPLIED, Handling.NOTED)


def test_values_that_depend_on_this_machine_are_read_here() -> None:
    for name in options.OF_THIS_MACHINE:
        assert OPTIONS[name].bridge is Handling.IDLE and OPTIONS[name].native is Handling.IDLE
    assert {"cpus_allowed", "numa_cpu_nodes"} <= options.OF_THIS_MACHINE.keys()


def test_most_options_leave_a_load_plain() -> None:
    loads = Counter(type(option.load).__name__ for option in OPTIONS.values())
    assert loads["Skip"] > 25 and OPTIONS["runtime"].load is Load.JUDGED
