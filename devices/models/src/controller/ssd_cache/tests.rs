use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn ssd_cache(slots: u32, promote_after: u32) -> SsdCache {
    SsdCache::new(&SsdCacheParams {
        slots,
        lines: 64,
        promote_after,
        dirty_share: 0.5,
    })
    .unwrap()
}

fn nth(number: u32) -> ArrayLine {
    ArrayLine::new(number)
}

fn bring(cache: &mut SsdCache, line: ArrayLine) -> Option<SlotId> {
    let slot = cache.begin(line)?;
    assert!(cache.arrived(slot, CopyEnd::Whole));
    Some(slot)
}

#[test]
fn the_third_access_makes_a_line_hot_and_counts_are_halved() {
    let mut cache = ssd_cache(4, 3);
    assert_eq!(cache.access(nth(7)), Lookup::Cold);
    assert_eq!(cache.access(nth(7)), Lookup::Cold);
    cache.halve_counts();
    assert_eq!(cache.access(nth(7)), Lookup::Cold);
    assert_eq!(cache.access(nth(7)), Lookup::Hot);
    let slot = bring(&mut cache, nth(7)).unwrap();
    assert_eq!(
        (cache.access(nth(7)), cache.slot(nth(7))),
        (Lookup::Hit, Some(slot))
    );
}

#[test]
fn the_least_recently_used_clean_line_makes_room() {
    let mut cache = ssd_cache(2, 1);
    bring(&mut cache, nth(1));
    bring(&mut cache, nth(2));
    cache.access(nth(1));
    bring(&mut cache, nth(3));
    assert_eq!(
        [1, 2, 3].map(|line| cache.slot(nth(line)).is_some()),
        [true, false, true]
    );
    cache.check().unwrap();
}

/// Four slots of which two may be dirty: the third dirty line sends the oldest one back.
#[test]
fn dirty_lines_above_the_limit_are_written_back_oldest_first() {
    let mut cache = ssd_cache(4, 1);
    for line in 0..4 {
        bring(&mut cache, nth(line));
    }
    for line in [2, 0] {
        assert!(cache.write(nth(line)).is_some());
        assert_eq!(cache.next_to_clean(), None);
    }
    cache.write(nth(1));
    let slot = cache.next_to_clean().unwrap();
    assert_eq!((cache.line(slot), cache.slot(nth(2))), (nth(2), Some(slot)));
    // New data while it is being written back keep it dirty.
    cache.write(nth(2));
    cache.cleaned(slot, CopyEnd::Whole);
    assert_eq!(cache.dirty(), 3);
    let slot = cache.next_to_clean().unwrap();
    assert_eq!(cache.line(slot), nth(0));
    cache.cleaned(slot, CopyEnd::Whole);
    assert_eq!(cache.dirty(), 2);
    cache.check().unwrap();
}

/// Two slots: a whole line takes one, dirty; a third takes none while both are dirty.
#[test]
fn new_data_of_a_whole_line_take_a_slot() {
    let mut cache = ssd_cache(2, 1);
    let slot = cache.write_new(nth(9)).unwrap();
    assert_eq!((cache.slot(nth(9)), cache.dirty()), (Some(slot), 1));
    assert_eq!(cache.write_new(nth(9)), None);
    assert!(cache.write_new(nth(10)).is_some());
    assert_eq!(cache.write_new(nth(11)), None);
    let slot = cache.next_to_clean().unwrap();
    assert_eq!(cache.line(slot), nth(9));
    cache.cleaned(slot, CopyEnd::Whole);
    assert!(cache.write_new(nth(11)).is_some());
    assert_eq!(cache.slot(nth(9)), None);
    cache.check().unwrap();
}

/// A line that is written through stays clean; one that is on its way is out of date.
#[test]
fn a_write_through_keeps_a_clean_line() {
    let mut cache = ssd_cache(2, 1);
    bring(&mut cache, nth(5));
    assert!(cache.write_through(nth(5)).is_some());
    assert_eq!((cache.dirty(), cache.slot(nth(5)).is_some()), (0, true));
    assert_eq!(cache.write_through(nth(6)), None);
    let slot = cache.begin(nth(6)).unwrap();
    cache.write_through(nth(6));
    assert!(!cache.arrived(slot, CopyEnd::Whole));
    cache.check().unwrap();
}

#[test]
fn a_write_around_the_ssds_makes_a_copy_stale() {
    let mut cache = ssd_cache(2, 1);
    let slot = cache.begin(nth(5)).unwrap();
    assert_eq!(cache.access(nth(5)), Lookup::Cold);
    cache.written_around(nth(5));
    assert!(!cache.arrived(slot, CopyEnd::Whole));
    assert_eq!(cache.slot(nth(5)), None);
    bring(&mut cache, nth(5));
    cache.written_around(nth(5));
    assert_eq!((cache.slot(nth(5)), cache.len()), (None, 0));
    cache.check().unwrap();
}

/// Two slots, both pinned: no line is copied before one is unpinned, then into that one.
#[test]
fn a_pinned_slot_is_not_given_to_another_line() {
    let mut cache = ssd_cache(2, 1);
    let slots = [1, 2].map(|line| bring(&mut cache, nth(line)).unwrap());
    slots.iter().for_each(|&slot| cache.pin(slot));
    assert_eq!(cache.begin(nth(3)), None);
    cache.pin(slots[1]);
    cache.unpin(slots[1]);
    assert_eq!(cache.begin(nth(3)), None);
    cache.unpin(slots[1]);
    assert_eq!(cache.begin(nth(3)), Some(slots[1]));
    // A line that is written around the SSDs while it is read: its slot is free after the read.
    cache.written_around(nth(1));
    assert_eq!((cache.slot(nth(1)), cache.begin(nth(4))), (None, None));
    cache.check().unwrap();
    cache.unpin(slots[0]);
    assert_eq!(cache.begin(nth(4)), Some(slots[0]));
    cache.check().unwrap();
}

#[test]
fn a_dirty_line_that_is_being_written_is_not_written_back() {
    let mut cache = ssd_cache(4, 1);
    let slots = [1, 2, 3].map(|line| bring(&mut cache, nth(line)).unwrap());
    for line in 1..4 {
        cache.write(nth(line));
    }
    cache.pin(slots[0]);
    assert_eq!(cache.next_to_clean(), Some(slots[1]));
}

/// After an outage dirty lines are dirty, clean ones clean; copies and access counts are lost.
#[test]
fn lines_on_the_ssds_survive_an_outage() {
    let mut cache = ssd_cache(4, 2);
    for line in 0..4 {
        bring(&mut cache, nth(line));
    }
    for line in 0..3 {
        cache.write(nth(line));
    }
    assert!(cache.next_to_clean().is_some());
    cache.begin(nth(7));
    cache.access(nth(9));
    cache.power_fails();
    assert_eq!((cache.len(), cache.dirty()), (3, 3));
    assert_eq!((cache.slot(nth(3)), cache.slot(nth(7))), (None, None));
    assert_eq!(cache.access(nth(9)), Lookup::Cold);
    cache.check().unwrap();
    cache.clear();
    assert_eq!((cache.len(), cache.slot(nth(0))), (0, None));
    cache.check().unwrap();
}

proptest! {
    /// Against sets: a dirty line stays readable until it has been written back as it is.
    #[test]
    fn dirty_lines_are_never_lost(steps in prop::collection::vec((0u8..7, 0u32..16), 1..400)) {
        let mut cache = ssd_cache(6, 2);
        let mut dirty: BTreeSet<u32> = BTreeSet::new();
        let (mut coming, mut leaving) = (Vec::new(), BTreeMap::new());
        for (what, line) in steps {
            match what {
                0 | 1 => {
                    if cache.access(nth(line)) == Lookup::Hot {
                        coming.extend(cache.begin(nth(line)));
                    }
                }
                2 => {
                    if let Some(slot) = coming.pop() {
                        let failed = line % 5 == 0;
                        let end = if failed { CopyEnd::Failed } else { CopyEnd::Whole };
                        cache.arrived(slot, end);
                    }
                }
                3 => {
                    if cache.write(nth(line)).is_some() {
                        dirty.insert(line);
                        leaving.values_mut().filter(|(l, _)| *l == line).for_each(|l| l.1 = false);
                    }
                }
                4 => {
                    if let Some(slot) = cache.next_to_clean() {
                        leaving.insert(slot, (cache.line(slot).number(), true));
                    }
                }
                5 => {
                    if let Some((slot, (line, as_it_was))) = leaving.pop_first() {
                        cache.cleaned(slot, CopyEnd::Whole);
                        if as_it_was {
                            dirty.remove(&line);
                        }
                    }
                }
                _ => {
                    if !dirty.contains(&line) {
                        cache.written_around(nth(line));
                    }
                }
            }
            cache.check().map_err(TestCaseError::fail)?;
            prop_assert_eq!(cache.dirty() as usize, dirty.len());
            for &line in &dirty {
                prop_assert!(cache.slot(nth(line)).is_some());
            }
        }
    }
}

/// A clone equals the original, and changes of one do not change the other.
#[test]
fn a_clone_is_independent() {
    let lines = 100_000;
    let mut cache = SsdCache::new(&SsdCacheParams {
        slots: 8,
        lines,
        promote_after: 3,
        dirty_share: 0.5,
    })
    .unwrap();
    // Lines of several pages, one of them touched for its access count alone.
    for line in [0, 5000, 99_999] {
        bring(&mut cache, nth(line));
    }
    assert_eq!(
        (cache.access(nth(50_000)), cache.access(nth(50_000))),
        (Lookup::Cold, Lookup::Cold)
    );
    cache.fetch([0, 1, 50_000, 99_999].map(nth).into_iter());
    let mut copy = cache.clone();
    assert_eq!(copy.access(nth(50_000)), Lookup::Hot);
    copy.written_around(nth(5000));
    copy.check().unwrap();
    assert_eq!((copy.slot(nth(5000)), copy.len()), (None, 2));
    assert!(cache.slot(nth(5000)).is_some());
    cache.halve_counts();
    assert_eq!(cache.access(nth(50_000)), Lookup::Cold);
    cache.check().unwrap();
}
