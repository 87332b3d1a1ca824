"""Settings of Linux md that candidates take, as arrays of a scenario do."""

from __future__ import annotations

from typing import Any

import pytest

from raidlab.devices.faults import SpecError
from raidlab.devices.trees import Tree
from raidlab.scenarios.capacity.assumptions import assumptions
from raidlab.scenarios.capacity.candidates import expand
from raidlab.scenarios.capacity.question import question_of

GROUP: Tree = {"drives": ["dc600m-960"], "counts": [4], "levels": ["raid5"]}


def asked(*groups: Tree) -> Any:
    load = {"rw": "randwrite", "block_size": "4 KiB", "rate": "100 IO/s"}
    return question_of({"goals": ["p99 < 10 ms"], "load": [load], "candidates": list(groups)})


def test_settings_of_md_reach_the_array_and_the_name() -> None:
    own = {"bitmap_chunk": "512 MiB", "group_thread_cnt": 4, "sync_speed_max": "500 MB/s"}
    question = asked(GROUP, GROUP | own, GROUP | {"bitmap": "none"})
    plain, large, bare = expand(question)
    assert plain.tree["array"][0]["bitmap"] == "internal" and plain.name.endswith(", raid5")
    array = large.tree["array"][0]
    assert {key: array.get(key) for key in own} == own and array["bitmap"] == "internal"
    assert large.name.endswith(
        "raid5, bitmap_chunk 512 MiB, group_thread_cnt 4, sync_speed_max 500 MB/s"
    )
    assert large.scenario is not None and bare.scenario is not None
    assert large.scenario.base["arrays"][0]["bitmap"]["chunk_bytes"] == 512 << 20
    assert bare.scenario.base["arrays"][0].get("bitmap") is None
    assert bare.name.endswith(", raid5, bitmap none")
    # What is said of md's own bitmap is said where one has it.
    said = "RAID in the host has a write-intent bitmap"
    assert any(line.startswith(said) for line in assumptions(question, [plain], [plain]))
    assert not any(line.startswith(said) for line in assumptions(question, [large, bare], [large]))


def test_only_levels_in_the_host_that_have_a_setting_take_it() -> None:
    both = {"levels": ["raid0", "raid10"], "controllers": ["none", "lsi2208-1g-3.0"]}
    found = expand(asked(GROUP | both | {"bitmap": "none"}))
    trees = {each.name: each.tree["array"][0] for each in found}
    assert [name for name, array in trees.items() if "bitmap" in array] == [
        "4 x dc600m-960, raid10, bitmap none"
    ]
    assert all(each.scenario is not None for each in found)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"controllers": ["lsi2208-1g-3.0"], "bitmap": "none"}, r'candidates\.0\.bitmap = "none"'),
        ({"levels": ["raid10"], "group_thread_cnt": 4}, "only raid5, raid6 with controllers"),
        ({"levels": ["raid0"], "sync_speed_max": "1 GB/s"}, "left out: only raid1, raid10"),
        ({"bitmap_chunk": "much"}, r'bitmap_chunk = .*such as "512 MiB"'),
        ({"sync_speed_max": "0 MB/s"}, 'such as "500 MB/s"'),
        ({"bitmap": "none", "bitmap_chunk": "1 GiB"}, 'left out beside bitmap = "none"'),
        ({"bitmap": "external"}, r"candidates\.0\.bitmap"),
    ],
)
def test_settings_without_md_are_refused(wrong: Tree, text: str) -> None:
    with pytest.raises(SpecError, match=text):
        asked(GROUP | wrong)
