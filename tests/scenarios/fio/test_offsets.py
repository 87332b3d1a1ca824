"""The I/Os that threads ask for, block by block as fio itself, and their distributions."""

from __future__ import annotations

import functools
import json
import math
import shutil
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from raidlab.scenarios import _engine
from raidlab.scenarios.fio import jobfile
from raidlab.scenarios.fio.places import Target, name_hash
from raidlab.scenarios.fio.resolve import Jobs, resolve

Io = tuple[str, int, int]

JOBS: Mapping[str, str] = {
    "random": "rw=randread\nbs=4k\nsize=8m",
    "covers": "rw=randread\nbs=4k\nsize=1m",
    "without a map": "rw=randread\nbs=4k\nsize=8m\nnorandommap",
    "mix": "rw=randrw\nbs=4k\nsize=8m\nrwmixread=70",
    "sequential mix": "rw=rw\nbs=8k\nsize=4m\nrwmixwrite=40",
    "range of sizes": "rw=randread\nbsrange=4k-64k\nsize=32m",
    "split": "rw=randrw\nbssplit=4k/50:16k/30:64k/20,8k/60:32k/40\nsize=64m",
    "unaligned": "rw=randread\nbsrange=512-8k\nbs_unaligned\nsize=8m\nnorandommap",
    "aligned": "rw=randwrite\nbs=16k\nba=4k\nsize=32m",
    "both sizes": "rw=randrw\nbs=4k,16k\nsize=32m",
    "every eighth": "rw=randread:8\nbs=4k\nsize=16m",
    "identical": "rw=randwrite:4\nrw_sequencer=identical\nbs=4k\nsize=16m",
    "holes": "rw=read:12k\nbs=4k\nsize=1m",
    "backwards": "rw=read:-8k\nbs=4k\noffset=4m\nsize=4m",
    "partly random": "rw=randread\npercentage_random=30\nbs=4k\nsize=16m",
    "seeded": "rw=randread\nrandseed=4711\nbs=4k\nsize=16m",
    "all repeat": "rw=randrw\nallrandrepeat=1\nbs=4k\nsize=16m",
    "wide": "rw=randread\nrandom_generator=tausworthe64\nbs=4k\nsize=16m",
    "register": "rw=randread\nrandom_generator=lfsr\nbs=4k\nsize=4m",
    "zipf": "rw=randread\nrandom_distribution=zipf:1.2\nbs=4k\nsize=64m",
    "zipf below 1": "rw=randread\nrandom_distribution=zipf:0.8:0.3\nbs=4k\nsize=64m",
    "pareto": "rw=randread\nrandom_distribution=pareto:0.3\nbs=4k\nsize=64m",
    "normal": "rw=randread\nrandom_distribution=normal:15\nbs=4k\nsize=64m",
    "zoned": "rw=randread\nrandom_distribution=zoned:60/10:30/20:10/70\nbs=4k\nsize=64m",
    "zoned in bytes": "rw=randread\nrandom_distribution=zoned_abs:60/8m:40/24m\nsize=64m",
    "offset": "rw=randread\noffset=8m\nsize=8m\nbs=4k",
    "files": "rw=randread\nnrfiles=4\nsize=16m\nbs=4k",
    "random files": "rw=randread\nnrfiles=4\nfile_service_type=random\nsize=16m\nbs=4k",
    "files in turn": "rw=read\nnrfiles=3\nfile_service_type=sequential\nsize=3m\nbs=16k",
    "strides": "rw=read\nzonemode=strided\nzonesize=64k\nzonerange=128k\nzoneskip=64k\nsize=4m",
    "random strides": "rw=randread\nzonemode=strided\nzonesize=64k\nzonerange=256k\nsize=4m",
    "trim and write": "rw=randtrimwrite\nbs=4k\nsize=4m",
    "sync": "rw=randwrite\nfsync=3\nbs=4k\nsize=4m",
    "by order": "rw=randread\npercentage_random=50\nbs=64k,4k\nbs_is_seq_rand=1\nsize=64m",
    "zipf files": "rw=randread\nnrfiles=8\nfile_service_type=zipf:1.2\nsize=16m\nbs=4k",
    "pareto files": "rw=randwrite\nnrfiles=5\nfile_service_type=pareto:0.3\nsize=20m\nbs=4k",
    "normal files": "rw=randread\nnrfiles=7\nfile_service_type=normal:20:0.7\nsize=28m\nbs=4k",
    "files by default": "rw=randread\nnrfiles=4\nfile_service_type=zipf\nsize=16m\nbs=4k",
    "files left of the middle": (
        "rw=randread\nnrfiles=7\nfile_service_type=normal:20:0.3\nsize=28m\nbs=4k"
    ),
    "left of the middle": "rw=randread\nrandom_distribution=normal:15:0.2\nbs=4k\nsize=60m",
}


COUNT = 400


def section(name: str, engine: str) -> str:
    return f"[{name}]\nioengine={engine}\n{JOBS[name]}\nnumber_ios={COUNT}\n"


def resolved(text: str, size: int = 1 << 40) -> Jobs:
    return resolve(jobfile.parse(text, "x.fio"), "x.fio", {"disk": Target(0, size)}, "disk")


def native(text: str, count: int) -> list[Io]:
    return _engine.job_requests(json.dumps(resolved(text).threads[0]), count)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which fio has written what each job asked for."""
    if shutil.which("fio") is None:
        pytest.skip("fio is missing")
    folder = tmp_path_factory.mktemp("iologs")
    jobs = [f"{section(name, 'null')}write_iolog={folder / name}\n" for name in JOBS]
    job = folder / "jobs.fio"
    job.write_text("\n".join(jobs))
    subprocess.run(["fio", "--thread", str(job)], cwd=folder, capture_output=True, check=True)
    return folder


def of_fio(log: Path, starts: Sequence[int]) -> list[Io]:
    """The I/Os of a log, of files that begin at these bytes."""
    found: list[Io] = []
    files: dict[str, int] = {}
    for line in log.read_text().splitlines():
        words = line.split()
        action = words[-1] if words[-1] in ("add", "open", "close") else words[-3]
        name = words[-2] if words[-1] == action else words[-4]
        if action == "add":
            files[name] = starts[len(files)]
        elif action == "sync":
            found.append(("sync", 0, 0))
        elif action in ("read", "write", "trim"):
            found.append((action, files[name] + int(words[-2]), int(words[-1])))
    return found


@pytest.mark.parametrize("name", JOBS)
def test_the_blocks_are_those_of_fio(logs: Path, name: str) -> None:
    jobs = resolved("\n".join(section(each, "libaio") for each in JOBS))
    thread = jobs.threads[list(JOBS).index(name)]
    expected = of_fio(logs / name, [file["start_bytes"] for file in thread["files"]])
    assert len(expected) > 100
    assert _engine.job_requests(json.dumps(thread), len(expected)) == expected


def chi_square(observed: Sequence[int], expected: Sequence[float]) -> float:
    return sum((a - b) ** 2 / b for a, b in zip(observed, expected, strict=True))


def ranks(text: str, blocks: int, count: int) -> Counter[int]:
    """How often each rank is asked for: offsets without fio's scattering."""
    ios = native(f"[a]\nioengine=libaio\nbs=4k\nsize={blocks * 4}k\nnorandommap\n{text}\n", count)
    return Counter(offset // 4096 for _, offset, _ in ios)


def test_uniform_blocks_are_uniform() -> None:
    seen = ranks("rw=randread", 100, 50_000)
    # 99 degrees of freedom: 148 is exceeded once in a thousand.
    assert chi_square([seen[at] for at in range(100)], [500] * 100) < 148


def test_zones_have_their_shares() -> None:
    seen = ranks("rw=randread\nrandom_distribution=zoned:50/10:30/20:20/70", 100, 50_000)
    shares = [0.5 / 10] * 10 + [0.3 / 20] * 20 + [0.2 / 70] * 70
    expected = [50_000 * share for share in shares]
    assert chi_square([seen[at] for at in range(100)], expected) < 148


def test_zipf_ranks_follow_their_law() -> None:
    """Gray's method is exact for the first two ranks and near it beyond: wide classes."""
    blocks, theta, count = 4000, 1.2, 50_000
    seen = ranks(f"rw=randread\nrandom_distribution=zipf:{theta}:0", blocks, count)
    golden, scattered = 0x61C8864680B583EB, {}
    for rank in range(blocks):
        block = rank * golden % 2**64 % blocks
        scattered[rank] = block
    first = [seen[scattered[0]], seen[scattered[1]]]
    zeta = sum(n**-theta for n in range(1, blocks + 1))
    expected = [count / zeta, count * 2**-theta / zeta]
    rest = count - sum(expected)
    # Two degrees of freedom: 13.8 is exceeded once in a thousand.
    assert chi_square([*first, count - sum(first)], [*expected, rest]) < 13.8


def distance(seen: Counter[int], law: Sequence[float], classes: int = 20) -> float:
    """Chi-square of blocks against a law of ranks, in classes of blocks that are alike.

    A rank times 2^64 over the golden ratio is its block; some blocks have several ranks.
    """
    blocks = len(law)
    place = [rank * 0x61C8864680B583EB % 2**64 % blocks for rank in range(blocks)]
    expected = np.bincount(place, weights=law, minlength=blocks)
    order = np.argsort(-expected)
    # Classes of blocks that all have about equally many I/Os.
    of_block = np.minimum(np.cumsum(expected[order]) * classes, classes - 1).astype(int)
    counted = np.array([seen[block] for block in order])
    a = np.bincount(of_block, weights=counted, minlength=classes)
    b = np.bincount(of_block, weights=expected[order], minlength=classes) * counted.sum()
    return chi_square(a[b > 0].tolist(), b[b > 0].tolist())


def test_pareto_blocks_follow_their_law() -> None:
    """A share u of the ranks has u^(log(1 - h) / log h) of the I/Os: of h it is 1 - h."""
    blocks, h = 1009, 0.2
    seen = ranks(f"rw=randread\nrandom_distribution=pareto:{h}:0", blocks, 50_000)
    below = (np.arange(blocks) / (blocks - 1)) ** (math.log(1 - h) / math.log(h))
    # 19 degrees of freedom: 43.8 is exceeded once in a thousand.
    assert distance(seen, [*np.diff(below), 0.0]) < 43.8


def test_normal_blocks_follow_their_law() -> None:
    """The mean of twelve uniform numbers and one of the width: by convolution."""
    blocks, width = 101, 10
    seen = ranks(f"rw=randread\nrandom_distribution=normal:{width}", blocks, 50_000)
    uniform = np.full(blocks + 1, 1 / (blocks + 1))
    total = functools.reduce(np.convolve, [uniform] * 12)
    means = np.bincount(-(-np.arange(total.size) // 12), weights=total)
    deviation = math.ceil(blocks * width / 100)
    law = np.zeros(3 * blocks)
    for apart in range(deviation):
        law[blocks + apart - deviation // 2 :][: means.size] += means / deviation
    # Nearly nothing lies beyond the blocks.
    assert law[blocks : 2 * blocks].sum() > 1 - 1e-6
    assert distance(seen, law[blocks : 2 * blocks].tolist()) < 43.8


def test_the_hash_of_a_name_is_that_of_fio() -> None:
    # From a zipf job of fio 3.33 on files of these names, by the place of its most wanted block.
    assert name_hash("") == 0x61C88647
