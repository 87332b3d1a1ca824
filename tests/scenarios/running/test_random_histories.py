"""Random small scenarios with random events: what `data` in the result must say of them.

The engine's own histories (`scenarios/engine/tests/histories.rs`) run by the hundred thousand;
these go the whole way from a scenario's words to the result.
"""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from raidlab.scenarios.planning.scenario import build_scenario
from raidlab.scenarios.running.simulate import simulate

LEVELS = (
    ("raid0", 3), ("raid1", 2), ("raid10", 4), ("raid1e", 3), ("raid5", 3), ("raid5", 5),
    ("raid6", 4), ("raid50", 6), ("raid60", 8),
)  # fmt: skip

US = st.integers(0, 90_000)


TIERS = (None, None, ("raid0", 1), ("raid0", 2), ("raid1", 2), ("raid1e", 3))


def events_of(drives, fast):
    """Lists of events on an array of this many drives, spares included, and on its tier's."""
    own = st.integers(0, drives - 1).map(lambda drive: {"array": "data", "drive": drive})
    drive = own
    if fast:
        above = st.integers(0, fast - 1).map(lambda drive: {"array": "data-tier", "drive": drive})
        drive = st.one_of(own, above)
    at = US.map(lambda us: f"{us} us")
    one = st.one_of(
        st.builds(lambda at, drive: {"at": at, "action": "fail-drive"} | drive, at, drive),
        st.builds(lambda at, drive: {"at": at, "action": "replace-drive"} | drive, at, drive),
        st.builds(
            lambda at, drive, offset: (
                {
                    "at": at,
                    "action": "unreadable-sectors",
                    "offset": f"{offset * 512} B",
                    "size": "1 KiB",
                }
                | drive
            ),
            at,
            drive,
            # So few that those of several drives meet, or all.
            st.one_of(st.integers(0, 6), st.integers(0, 254)),
        ),
        st.builds(
            lambda at, lasts: {"at": at, "action": "power-fail", "lasts": f"{lasts} us"},
            at,
            st.integers(1, 5000),
        ),
        st.builds(lambda at: {"at": at, "action": "battery-learn", "lasts": "10 ms"}, at),
        st.builds(lambda at: {"at": at, "action": "patrol-read"}, at),
        st.builds(lambda at: {"at": at, "action": "consistency-check"}, at),
        st.builds(
            lambda at, drive: {"at": at, "action": "slow-drive", "extra": "2 ms"} | drive,
            at,
            drive,
        ),
    )
    return st.lists(one, max_size=6).filter(apart)


def apart(events):
    """Whether the power is on whenever it fails."""

    def us(text):
        return int(text.removesuffix(" us"))

    outages = by_action(events, "power-fail")
    spans = sorted((us(event["at"]), us(event["lasts"])) for event in outages)
    return all(at + lasts <= after for (at, lasts), (after, _) in pairwise(spans))


@st.composite
def scenarios(draw):
    level, count = draw(st.sampled_from(LEVELS))
    spares = 0 if level == "raid0" else draw(st.integers(0, 2))
    write = draw(st.sampled_from(["write-through", "write-back", "always-write-back"]))
    backup = draw(st.sampled_from(["none", "fbu"]))
    through = write == "write-through" or (write == "write-back" and backup == "none")
    fast = draw(st.sampled_from(TIERS))
    tier = {}
    if fast is not None:
        tier["cache_tier"] = {
            "level": fast[0],
            "drives": [{"model": "tiny", "count": fast[1]}],
            "write": draw(st.sampled_from(["read", "write-back"])),
            "state": draw(st.sampled_from(["empty", "warm"])),
        }
    return {
        "controller": {
            "model": "lsi2208-1g-3.0",
            "write": write,
            "read_ahead": draw(st.sampled_from(["none", "adaptive", "always"])),
            "io_cache": draw(st.sampled_from(["direct", "cached"])),
            "backup": backup,
        },
        "array": [
            {
                "name": "data",
                "level": level,
                "drives": [{"model": draw(st.sampled_from(["tiny", "forgetful"])), "count": count}],
                "stripe_unit": draw(st.sampled_from(["2 KiB", "8 KiB"])),
                "hot_spares": spares,
                "rebuild_rate": draw(st.sampled_from([0.2, 1.0])),
                **tier,
            }
        ],
        "workload": [
            {
                "rw": "randrw",
                "read_share": draw(st.sampled_from([0.3, 0.7])),
                "block_size": f"{draw(st.integers(1, 20)) * 512} B",
                "area": "64 KiB",
                "outstanding": draw(st.integers(1, 12)),
            }
        ],
        "run": {"warm_up": "0 s", "duration": "100 ms", "seed": draw(st.integers(0, 2**32))},
        "event": draw(
            # A battery that nothing needs does not learn.
            events_of(count + spares, fast[1] if fast else 0).filter(
                lambda events: not (through and _learns(events))
            )
        ),
    }


def _learns(events):
    return any(event["action"] == "battery-learn" for event in events)


def borne(level, count, lost):
    """Whether the level bears the loss of these places at once."""
    if level in ("raid50", "raid60"):
        most = 1 if level == "raid50" else 2
        return all(sum(place * 2 // count == span for place in lost) <= most for span in (0, 1))
    if level == "raid10":
        return not any({first, first + 1} <= lost for first in range(0, count, 2))
    most = {"raid0": 0, "raid1": count - 1, "raid1e": 1, "raid5": 1, "raid6": 2}
    return len(lost) <= most[level]


def by_action(events, *actions):
    return [event for event in events if event["action"] in actions]


@settings(max_examples=60, deadline=None)
@given(scenario=scenarios())
def test_what_the_data_say_of_a_history(tiny_drives, scenario):
    array, controller, events = scenario["array"][0], scenario["controller"], scenario["event"]
    entry = array["drives"][0]
    forgets, level, count = entry["model"] == "forgetful", array["level"], entry["count"]
    entry["model"] = str(tiny_drives / f"{entry['model']}.toml")
    tier = array.get("cache_tier")
    if tier is not None:
        tier["drives"][0]["model"] = str(tiny_drives / "tiny.toml")
    result = simulate(build_scenario(scenario), workers=1)
    assert result.breaches == ()
    if not events:
        assert result.data is None
        return
    data = result.data
    damage = by_action(events, "fail-drive", "replace-drive", "unreadable-sectors")
    own = [event for event in damage if event["array"] == "data"]
    lost = {event["drive"] for event in own if event["drive"] < count}
    above = {event["drive"] for event in damage if event["array"] == "data-tier"}
    alone = tier is not None and tier["write"] == "write-back"
    tier_bears = not alone or borne(tier["level"], tier["drives"][0]["count"], above)
    outage = bool(by_action(events, "power-fail"))
    kept = controller["backup"] == "fbu" and not forgets and not _learns(events)
    through = not forgets and (
        controller["write"] == "write-through"
        or (controller["write"] == "write-back" and controller["backup"] == "none")
    )
    parity = level in ("raid5", "raid6", "raid50", "raid60")
    if not (parity and outage and lost and not kept):
        assert data["stale_reads"] == 0
    whole = borne(level, count, lost) and tier_bears
    if whole and (not outage or kept or (through and not (parity and lost))):
        assert data["lost_writes"] == data["lost_sectors"] == data["refused_reads"] == 0
    if not outage or kept:
        assert data["corrupt_stripes"] == 0
    if not (forgets and outage):
        assert data["lost_in_drive_caches"] == 0
    assert data["lost_writes"] <= data["acknowledged_writes"]
    assert data["lost_in_drive_caches"] <= data["lost_writes"]
