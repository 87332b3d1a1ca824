//! Random histories on every level, with and without SSD cache: whatever fails, no wrong version is
//! served as right, and what the redundancy and the cache's backup can bear loses nothing.
//!
//! `RAIDLAB_HISTORIES=100000 cargo test --release -p raidlab-engine --test all histories` runs as many;
//! `RAIDLAB_SEED=7` makes them others.

use crate::common::{plan, stations, to_its_end};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Histories in an ordinary run of the tests.
const USUAL: u32 = 500;

#[derive(Clone, Debug)]
enum Event {
    Fail(u32),
    Replace(u32),
    Unreadable(u32, u64),
    Slow(u32),
    Power(u64),
    Backup(bool),
    Patrol,
    Check,
}

/// Fast drives over the array, behind its own drives and spares.
#[derive(Clone, Debug)]
struct Fast {
    level: (&'static str, u32),
    spares: u32,
    write_back: bool,
    /// Lines that each drive holds.
    lines: u64,
    promote_after: u32,
    dirty_share: f64,
    copies: u32,
    warm: bool,
}

#[derive(Clone, Debug)]
struct History {
    level: (&'static str, u32),
    spares: u32,
    rotation: &'static str,
    write: &'static str,
    read_ahead: &'static str,
    keep_reads: bool,
    backup: bool,
    /// How long the drives' own caches delay a write; 0 for drives without.
    settle_us: u64,
    read_share: f64,
    outstanding: u32,
    block_sectors: u64,
    seed: u64,
    /// Of each drive: so few that a task begins them all at once, or more.
    rows: u64,
    background_share: f64,
    tier: Option<Fast>,
    events: Vec<(u64, Event)>,
}

fn ssd_caches() -> impl Strategy<Value = Option<Fast>> {
    let levels = vec![("raid0", 1), ("raid0", 2), ("raid1", 2), ("raid1e", 3)];
    let fast = (
        prop::sample::select(levels),
        0u32..2,
        any::<bool>(),
        1u64..6,
        1u32..4,
        0.1f64..1.0,
        1u32..6,
        any::<bool>(),
    );
    let fast = fast.prop_map(
        |(level, spares, write_back, lines, promote_after, dirty_share, copies, warm)| Fast {
            level,
            spares,
            write_back,
            lines,
            promote_after,
            dirty_share,
            copies,
            warm,
        },
    );
    prop::option::weighted(0.6, fast)
}

fn events(drives: u32) -> impl Strategy<Value = Vec<(u64, Event)>> {
    // So few rows that unreadable sectors meet, or all.
    let sectors = prop_oneof![0u64..6, 0u64..80];
    let one = prop_oneof![
        3 => (0..drives).prop_map(Event::Fail),
        2 => (0..drives).prop_map(Event::Replace),
        4 => (0..drives, sectors).prop_map(|(drive, sector)| Event::Unreadable(drive, sector)),
        1 => (0..drives).prop_map(Event::Slow),
        3 => (1u64..3000).prop_map(Event::Power),
        1 => any::<bool>().prop_map(Event::Backup),
        1 => Just(Event::Patrol),
        1 => Just(Event::Check),
    ];
    prop::collection::vec((0u64..20_000, one), 0..8)
}

fn histories() -> impl Strategy<Value = History> {
    let levels = prop::sample::select(vec![
        ("jbod", 2),
        ("raid0", 3),
        ("raid1", 2),
        ("raid1", 3),
        ("raid10", 4),
        ("raid1e", 3),
        ("raid1e", 5),
        ("raid5", 3),
        ("raid5", 5),
        ("raid6", 4),
        ("raid6", 6),
        ("raid50", 6),
        ("raid60", 8),
    ]);
    // Some have neither a cache nor an SSD cache: without parity their data go straight to the
    // host.
    let straight = prop::bool::weighted(0.2);
    (levels, 0u32..3, ssd_caches(), straight).prop_flat_map(|(level, spares, tier, straight)| {
        let tier = tier.filter(|_| !straight);
        let fast = tier.as_ref().map_or(0, |tier| tier.level.1 + tier.spares);
        let settings = (
            prop::sample::select(vec![
                "left_symmetric",
                "left_asymmetric",
                "right_symmetric",
                "right_asymmetric",
            ]),
            prop::sample::select(vec!["write_through", "write_back", "always_write_back"]),
            prop::sample::select(vec!["none", "adaptive", "always", "behind_each"]),
            any::<bool>(),
            any::<bool>(),
            prop_oneof![3 => Just(0u64), 1 => 1u64..3000],
        );
        let load = (0.1f64..0.9, 1u32..12, 1u64..25, any::<u64>());
        let background = (
            prop_oneof![Just(20u64), Just(50u64)],
            prop_oneof![3 => Just(0.7), 1 => Just(1.0)],
        );
        let events = events(level.1 + spares + fast);
        (settings, load, background, events).prop_map(
            move |(settings, load, background, events)| {
                let (rotation, mut write, mut read_ahead, mut keep_reads, backup, settle_us) =
                    settings;
                if straight {
                    (write, read_ahead, keep_reads) = ("write_through", "none", false);
                }
                let (read_share, outstanding, block_sectors, seed) = load;
                let (rows, background_share) = background;
                History {
                    level,
                    spares,
                    rotation,
                    write,
                    read_ahead,
                    keep_reads,
                    backup,
                    settle_us,
                    read_share,
                    outstanding,
                    block_sectors,
                    seed,
                    rows,
                    background_share,
                    tier: tier.clone(),
                    events,
                }
            },
        )
    })
}

fn event(at_us: u64, event: &Event) -> Value {
    let mut event = match event {
        Event::Fail(drive) => json!({"action": "fail_drive", "drive": drive}),
        Event::Replace(drive) => json!({"action": "replace_drive", "drive": drive}),
        Event::Unreadable(drive, sector) => json!({"action": "unreadable_sectors",
            "drive": drive, "offset_bytes": sector * 512, "bytes": 1536}),
        Event::Slow(drive) => {
            json!({"action": "slow_drive", "drive": drive, "extra_ns": 300_000})
        }
        Event::Power(us) => json!({"action": "power_fail", "off_ns": us * 1000}),
        Event::Backup(ready) => {
            json!({"action": "backup_ready", "controller": 0, "ready": ready})
        }
        Event::Patrol => json!({"action": "patrol_read", "array": 0}),
        Event::Check => json!({"action": "consistency_check", "array": 0}),
    };
    event["at_ns"] = json!(at_us * 1000);
    event
}

/// A system so small that everything meets everything: 20 or 50 rows of 2 KiB units, a cache
/// of 48 pages, drives of 100 us.
fn value(history: &History) -> Value {
    let (level, members) = history.level;
    let all = members + history.spares;
    let fast = history.tier.as_ref();
    let fast = fast.map_or(0, |tier| tier.level.1 + tier.spares);
    let mut value = stations(all + fast, 100_000, "exponential", 1);
    value["seed"] = json!(history.seed);
    value["devices"][0]["capacity_bytes"] = json!(history.rows * 2048);
    value["devices"][0]["settle_ns"] = json!(history.settle_us * 1000);
    value["links"] = json!([{"name": "x", "bytes_per_s": 500_000_000, "full_duplex": true,
        "frame_bytes": 512}]);
    for drive in 0..all + fast {
        value["drives"][drive as usize]["path"] = json!([0]);
    }
    value["controllers"] = json!([{"name": "c", "queue_depth": 0, "cores": 1, "link": 0,
        "request_ns": 5000, "command_ns": 1000, "latency_ns": 2000,
        "cache": {"bytes": 48 * 4096, "dirty_share": 0.6, "low_share": 0.5,
                  "flush_interval_ns": 2_000_000, "destages_per_drive": 2,
                  "hold_ns": if history.backup { 2_000_000 } else { 0 }}}]);
    let array = &mut value["arrays"][0];
    array["level"] = json!(level);
    array["rotation"] = json!(history.rotation);
    array["controller"] = json!(0);
    array["stripe_unit_bytes"] = json!(2048);
    array["drives"] = json!((0..members).collect::<Vec<_>>());
    array["spares"] = json!((members..all).collect::<Vec<_>>());
    array["background_share"] = json!(history.background_share);
    array["cache"] = json!({"write": history.write, "read_ahead": history.read_ahead,
                            "keep_reads": history.keep_reads});
    if let Some(tier) = &history.tier {
        add_ssd_cache(&mut value, history, tier);
    }
    let load = &mut value["workloads"][0];
    load["read_share"] = json!(history.read_share);
    load["block_bytes"] = json!(history.block_sectors * 512);
    load["align_bytes"] = json!(512);
    load["area_bytes"] = json!(history.rows * 2048);
    load["arrival"] = json!({"kind": "closed", "outstanding": history.outstanding,
                             "think_ns": 20_000});
    value["duration_ns"] = json!(25_000_000);
    value["data"] = json!(true);
    let events = history.events.iter().map(|(at, what)| event(*at, what));
    value["events"] = json!(events.collect::<Vec<_>>());
    value
}

/// An SSD cache of drives of 30 us, so small that lines push each other out; each has two commands
/// in work, which overtake each other.
fn add_ssd_cache(value: &mut Value, history: &History, tier: &Fast) {
    let line = 2048 * history.columns();
    let first = history.level.1 + history.spares;
    let spare = first + tier.level.1;
    let mut device = value["devices"][0].clone();
    device["capacity_bytes"] = json!(tier.lines * line);
    device["service_ns"] = json!(30_000);
    device["settle_ns"] = json!(0);
    device["servers"] = json!(2);
    value["devices"]
        .as_array_mut()
        .expect("a list")
        .push(device);
    for drive in first..spare + tier.spares {
        value["drives"][drive as usize]["device"] = json!(1);
    }
    let array = json!({"name": "tier", "level": tier.level.0, "stripe_unit_bytes": line,
        "drives": (first..spare).collect::<Vec<_>>(),
        "spares": (spare..spare + tier.spares).collect::<Vec<_>>(),
        "controller": 0, "software": false});
    value["arrays"].as_array_mut().expect("a list").push(array);
    value["arrays"][0]["tier"] = json!({"array": 1, "write_back": tier.write_back,
        "promote_after": tier.promote_after, "half_life_ns": 5_000_000,
        "dirty_share": tier.dirty_share, "copies_at_once": tier.copies, "warm": tier.warm});
}

impl History {
    /// Units that leave the controller's cache together.
    fn columns(&self) -> u64 {
        let (level, drives) = self.level;
        let columns = match level {
            "raid5" => drives - 1,
            "raid6" => drives - 2,
            "raid50" => drives / 2 - 1,
            "raid60" => drives / 2 - 2,
            _ => 1,
        };
        u64::from(columns)
    }

    fn any(&self, what: impl Fn(&Event) -> bool) -> bool {
        self.events.iter().any(|(_, event)| what(event))
    }

    fn has_outage(&self) -> bool {
        self.any(|h| matches!(h, Event::Power(_)))
    }

    fn has_parity(&self) -> bool {
        matches!(self.level.0, "raid5" | "raid6" | "raid50" | "raid60")
    }

    /// The places of the array at which data are lost at some time. A spare stands in a place
    /// that is among them already.
    fn lost_places(&self) -> BTreeSet<u32> {
        self.lost_below(0, self.level.1)
    }

    /// Whether the SSD cache loses no data that it alone has.
    fn ssd_cache_survives(&self) -> bool {
        self.tier.as_ref().is_none_or(|tier| {
            let lost = self.lost_below(self.level.1 + self.spares, tier.level.1);
            !tier.write_back || bears(tier.level, &lost)
        })
    }

    /// The places among `drives` drives from `first` on at which data are lost at some time.
    fn lost_below(&self, first: u32, drives: u32) -> BTreeSet<u32> {
        let lost = self.events.iter().filter_map(|(_, event)| match event {
            Event::Fail(drive) | Event::Replace(drive) => Some(*drive),
            Event::Unreadable(drive, _) => Some(*drive),
            _ => None,
        });
        let places = lost.filter_map(|drive| drive.checked_sub(first));
        places.filter(|&place| place < drives).collect()
    }

    /// Whether the backup preserves the cache in every outage, and drives preserve what they take.
    fn backup_survives(&self) -> bool {
        let fails = |event: &Event| match event {
            Event::Power(us) => *us > 2000,
            Event::Backup(ready) => !ready,
            _ => false,
        };
        self.backup && self.settle_us == 0 && !self.any(fails)
    }

    /// Whether a write is reported to be complete only when it is on the drives' media.
    fn writes_through(&self) -> bool {
        let never_ready = !self.backup && !self.any(|h| matches!(h, Event::Backup(true)));
        let through = self.write == "write_through" || self.write == "write_back" && never_ready;
        through && self.settle_us == 0
    }

    /// Whether an outage may leave a stripe half written that a lost unit is then computed from:
    /// the write hole, where a real controller serves nonsense too.
    fn may_have_a_hole(&self) -> bool {
        let lost = !self.lost_places().is_empty();
        self.has_parity() && self.has_outage() && lost && !self.backup_survives()
    }

    /// Whether nothing may be lost: no more places than the level bears, and either no outage, or
    /// nothing that only the cache had, and no stripe half written with a unit lost.
    fn must_keep_all(&self) -> bool {
        let lost = self.lost_places();
        let through = self.writes_through() && (lost.is_empty() || !self.has_parity());
        let borne = bears(self.level, &lost) && self.ssd_cache_survives();
        borne && (!self.has_outage() || self.backup_survives() || through)
    }
}

/// Whether a level can bear the loss of all these places at once.
fn bears((level, drives): (&str, u32), lost: &BTreeSet<u32>) -> bool {
    let both = |a: u32, b: u32| lost.contains(&a) && lost.contains(&b);
    let in_span = |span: u32| {
        lost.iter()
            .filter(|&&place| place / (drives / 2) == span)
            .count()
    };
    match level {
        "raid1" => lost.len() < drives as usize,
        "raid10" => (0..drives).step_by(2).all(|first| !both(first, first + 1)),
        "raid1e" => (0..drives).all(|first| !both(first, (first + 1) % drives)),
        "raid5" => lost.len() <= 1,
        "raid6" => lost.len() <= 2,
        "raid50" => (0..2).all(|span| in_span(span) <= 1),
        "raid60" => (0..2).all(|span| in_span(span) <= 2),
        _ => lost.is_empty(),
    }
}

fn check(history: &History) -> Result<(), TestCaseError> {
    let result = to_its_end(&plan(&value(history))).expect("a run");
    prop_assert!(result.breaches.is_empty(), "{:?}", result.breaches);
    let data = result.data.expect("data were followed");
    if !history.may_have_a_hole() {
        prop_assert_eq!(data.stale_reads, 0, "{:?}", result.log);
    }
    if history.must_keep_all() {
        let lost = (data.lost_sectors, data.lost_writes, data.refused_reads);
        prop_assert_eq!(lost, (0, 0, 0), "{:?} {:?}", data, result.log);
    }
    if !history.has_outage() || history.backup_survives() {
        prop_assert_eq!(data.corrupt_stripes, 0, "{:?}", result.log);
    }
    Ok(())
}

/// Asks something of one in `one_in` random histories.
fn of_all(one_in: u32, check: impl Fn(&History) -> Result<(), TestCaseError>) {
    let asked = |key: &str, usual: u32| {
        let asked = std::env::var(key).ok();
        asked.map_or(usual, |n| n.parse().expect("a number"))
    };
    let config = Config {
        cases: asked("RAIDLAB_HISTORIES", USUAL) / one_in,
        failure_persistence: None,
        max_shrink_iters: 2000,
        ..Config::default()
    };
    let seed = asked("RAIDLAB_SEED", 1);
    let bytes: Vec<u8> = seed.to_le_bytes().into_iter().cycle().take(32).collect();
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    TestRunner::new_with_rng(config, random)
        .run(&histories(), |history| check(&history))
        .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
}

#[test]
fn no_wrong_version_is_ever_served_as_right() {
    of_all(1, check);
}

/// Neither rows nor the host's writes wait for each other for ever: half a second later every rebuild
/// is done and requests are still served, but for arrays that are offline.
#[test]
fn everything_that_has_begun_ends() {
    of_all(20, |history| {
        let mut value = value(history);
        value["duration_ns"] = json!(500_000_000);
        let result = to_its_end(&plan(&value)).expect("a run");
        let mut log = result.log.iter();
        let online = log.all(|entry| !entry.what.contains("offline"));
        if online && bears(history.level, &history.lost_places()) {
            let (ios, left) = (result.workloads[0].ios, &result.rebuilding);
            prop_assert!(left.is_empty(), "{:?} {:?}", left, result.log);
            prop_assert!(ios > 100, "{} {:?}", ios, result.log);
        }
        Ok(())
    });
}

/// Unreadable sectors of which no two meet, on any drive, are repaired by whatever meets them: behind a
/// patrol read or a consistency check each place that the level bears may be lost.
#[test]
fn what_has_been_looked_through_bears_a_loss() {
    of_all(5, |history| {
        let mut history = History {
            settle_us: 0,
            tier: None,
            ..history.clone()
        };
        // Copies on neighbours lie in rows next to each other.
        let (_, members) = history.level;
        let rows = history.rows / 2;
        let mut events: Vec<(u64, Event)> = (0..rows)
            .map(|row| (history.seed.rotate_left(row as u32 * 7), row))
            .map(|(bits, row)| {
                let drive = (bits >> 8) as u32 % members;
                let sector = row * 8 + bits % 6;
                (bits % 20_000, Event::Unreadable(drive, sector))
            })
            .collect();
        events.sort_by_key(|&(at, _)| at);
        let looks = [Event::Patrol, Event::Check];
        events.push((20_000, looks[history.seed as usize % 2].clone()));
        let mut lost = BTreeSet::new();
        for place in 0..members {
            let place = (place + (history.seed >> 32) as u32) % members;
            lost.insert(place);
            if bears(history.level, &lost) {
                events.push((400_000, Event::Fail(place)));
            } else {
                lost.remove(&place);
            }
        }
        if lost.is_empty() {
            return Ok(());
        }
        history.events = events;
        let mut value = value(&history);
        value["duration_ns"] = json!(450_000_000);
        let result = to_its_end(&plan(&value)).expect("a run");
        prop_assert!(result.breaches.is_empty(), "{:?}", result.breaches);
        let mut log = result.log.iter();
        prop_assert!(
            log.any(|entry| entry.what.contains("done")),
            "{:?}",
            result.log
        );
        let data = result.data.expect("data were followed");
        let counts = (data.lost_sectors, data.refused_reads, data.stale_reads);
        prop_assert_eq!(counts, (0, 0, 0), "{:?} {:?}", data, result.log);
        prop_assert_eq!(data.corrupt_stripes, 0, "{:?}", result.log);
        Ok(())
    });
}

/// Two mirrors and a spare, without caches, to which nothing happens.
fn with_a_spare(seed: u64) -> History {
    History {
        level: ("raid1", 3),
        spares: 1,
        rotation: "left_symmetric",
        write: "write_through",
        read_ahead: "none",
        keep_reads: false,
        backup: false,
        settle_us: 0,
        read_share: 0.5,
        outstanding: 4,
        block_sectors: 1,
        seed,
        rows: 20,
        background_share: 0.7,
        tier: None,
        events: Vec::new(),
    }
}

/// Seeds under which a write to the drive that a spare is copied to was cut off, and the one to
/// the spare was not.
#[test]
fn a_copyback_that_an_outage_cuts_brings_what_it_lacks() {
    for seed in 0..300 {
        let history = History {
            level: ("raid1", 3),
            write: "always_write_back",
            read_share: 0.2,
            outstanding: 8,
            block_sectors: 1,
            rows: 40,
            events: vec![
                (700, Event::Fail(2)),
                (700, Event::Replace(2)),
                (14_000, Event::Power(90)),
            ],
            ..with_a_spare(seed)
        };
        check(&history).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
}

/// A spare that is copied back while another drive of the array waits for it stands in a new place
/// at once: reads that were in flight to it are of the old one.
#[test]
fn a_spare_serves_nothing_of_the_place_that_it_has_left() {
    for seed in 0..20 {
        let history = History {
            level: ("raid1e", 5),
            write: "write_through",
            read_share: 0.9,
            outstanding: 4,
            block_sectors: 3,
            rows: 20,
            events: vec![
                (1200, Event::Fail(2)),
                (1200, Event::Replace(2)),
                (1600, Event::Fail(0)),
            ],
            ..with_a_spare(seed)
        };
        check(&history).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
}

/// A piece of a read that the SSD cache has lost, and then the drive beneath while it reads.
#[test]
fn a_refused_read_keeps_account_of_its_time() {
    let history = History {
        level: ("jbod", 2),
        spares: 0,
        read_ahead: "always",
        keep_reads: true,
        read_share: 0.858737622246132,
        outstanding: 11,
        block_sectors: 24,
        tier: Some(Fast {
            level: ("raid0", 1),
            spares: 0,
            write_back: false,
            lines: 3,
            promote_after: 1,
            dirty_share: 0.9943782337208346,
            copies: 2,
            warm: false,
        }),
        events: vec![
            (12065, Event::Unreadable(2, 2)),
            (1027, Event::Power(1)),
            (12609, Event::Replace(0)),
        ],
        ..with_a_spare(1739351331668565570)
    };
    check(&history).unwrap_or_else(|error| panic!("{error}"));
}
