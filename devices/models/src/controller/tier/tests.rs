use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn tier(slots: u32, promote_after: u32) -> Tier {
    Tier::new(&TierParams {
        slots,
        lines: 64,
        promote_after,
        dirty_share: 0.5,
    })
    .unwrap()
}

fn bring(tier: &mut Tier, line: u64) -> Option<u32> {
    let slot = tier.begin(line)?;
    assert!(tier.arrived(slot, true));
    Some(slot)
}

#[test]
fn the_third_access_makes_a_line_hot_and_half_the_heat_is_forgotten() {
    let mut tier = tier(4, 3);
    assert_eq!(tier.access(7), Heat::Cold);
    assert_eq!(tier.access(7), Heat::Cold);
    tier.cool_down();
    assert_eq!(tier.access(7), Heat::Cold);
    assert_eq!(tier.access(7), Heat::Hot);
    let slot = bring(&mut tier, 7).unwrap();
    assert_eq!((tier.access(7), tier.slot(7)), (Heat::Here, Some(slot)));
}

#[test]
fn the_clean_line_used_longest_ago_makes_room() {
    let mut tier = tier(2, 1);
    bring(&mut tier, 1);
    bring(&mut tier, 2);
    tier.access(1);
    bring(&mut tier, 3);
    assert_eq!(
        [1, 2, 3].map(|line| tier.slot(line).is_some()),
        [true, false, true]
    );
    tier.check().unwrap();
}

/// Four slots of which two may be dirty: the third dirty line sends the oldest one back.
#[test]
fn dirty_lines_above_the_mark_are_written_back_oldest_first() {
    let mut tier = tier(4, 1);
    for line in 0..4 {
        bring(&mut tier, line);
    }
    for line in [2, 0] {
        assert!(tier.write(line).is_some());
        assert_eq!(tier.next_to_clean(), None);
    }
    tier.write(1);
    let slot = tier.next_to_clean().unwrap();
    assert_eq!((tier.line(slot), tier.slot(2)), (2, Some(slot)));
    // New data while it is being written back keep it dirty.
    tier.write(2);
    tier.cleaned(slot, true);
    assert_eq!(tier.dirty(), 3);
    let slot = tier.next_to_clean().unwrap();
    assert_eq!(tier.line(slot), 0);
    tier.cleaned(slot, true);
    assert_eq!(tier.dirty(), 2);
    tier.check().unwrap();
}

#[test]
fn a_write_past_the_tier_spoils_what_is_on_its_way() {
    let mut tier = tier(2, 1);
    let slot = tier.begin(5).unwrap();
    assert_eq!(tier.access(5), Heat::Cold);
    tier.written_past(5);
    assert!(!tier.arrived(slot, true));
    assert_eq!(tier.slot(5), None);
    bring(&mut tier, 5);
    tier.written_past(5);
    assert_eq!((tier.slot(5), tier.len()), (None, 0));
    tier.check().unwrap();
}

/// Two slots, both read: no line comes before one has been read, then into that one.
#[test]
fn a_slot_that_is_read_is_not_given_to_another_line() {
    let mut tier = tier(2, 1);
    let slots = [1, 2].map(|line| bring(&mut tier, line).unwrap());
    slots.iter().for_each(|&slot| tier.pin(slot));
    assert_eq!(tier.begin(3), None);
    tier.pin(slots[1]);
    tier.unpin(slots[1]);
    assert_eq!(tier.begin(3), None);
    tier.unpin(slots[1]);
    assert_eq!(tier.begin(3), Some(slots[1]));
    // A line that was written past the tier while it was read: its slot is free when that is over.
    tier.written_past(1);
    assert_eq!((tier.slot(1), tier.begin(4)), (None, None));
    tier.check().unwrap();
    tier.unpin(slots[0]);
    assert_eq!(tier.begin(4), Some(slots[0]));
    tier.check().unwrap();
}

#[test]
fn a_dirty_line_that_is_being_written_is_not_written_back() {
    let mut tier = tier(4, 1);
    let slots = [1, 2, 3].map(|line| bring(&mut tier, line).unwrap());
    for line in 1..4 {
        tier.write(line);
    }
    tier.pin(slots[0]);
    assert_eq!(tier.next_to_clean(), Some(slots[1]));
}

/// After an outage dirty lines are dirty, clean ones clean; copies and heat are gone.
#[test]
fn what_a_tier_holds_outlives_an_outage() {
    let mut tier = tier(4, 2);
    for line in 0..4 {
        bring(&mut tier, line);
    }
    for line in 0..3 {
        tier.write(line);
    }
    assert!(tier.next_to_clean().is_some());
    tier.begin(7);
    tier.access(9);
    tier.power_fails();
    assert_eq!((tier.len(), tier.dirty()), (3, 3));
    assert_eq!((tier.slot(3), tier.slot(7)), (None, None));
    assert_eq!(tier.access(9), Heat::Cold);
    tier.check().unwrap();
    tier.clear();
    assert_eq!((tier.len(), tier.slot(0)), (0, None));
    tier.check().unwrap();
}

proptest! {
    /// Against sets: a dirty line stays readable until it has been written back as it is.
    #[test]
    fn dirty_lines_are_never_lost(steps in prop::collection::vec((0u8..7, 0u64..16), 1..400)) {
        let mut tier = tier(6, 2);
        let mut dirty: BTreeSet<u64> = BTreeSet::new();
        let (mut coming, mut leaving) = (Vec::new(), BTreeMap::new());
        for (what, line) in steps {
            match what {
                0 | 1 => {
                    if tier.access(line) == Heat::Hot {
                        coming.extend(tier.begin(line));
                    }
                }
                2 => {
                    if let Some(slot) = coming.pop() {
                        tier.arrived(slot, line % 5 != 0);
                    }
                }
                3 => {
                    if tier.write(line).is_some() {
                        dirty.insert(line);
                        leaving.values_mut().filter(|(l, _)| *l == line).for_each(|l| l.1 = false);
                    }
                }
                4 => {
                    if let Some(slot) = tier.next_to_clean() {
                        leaving.insert(slot, (tier.line(slot), true));
                    }
                }
                5 => {
                    if let Some((slot, (line, as_it_was))) = leaving.pop_first() {
                        tier.cleaned(slot, true);
                        if as_it_was {
                            dirty.remove(&line);
                        }
                    }
                }
                _ => {
                    if !dirty.contains(&line) {
                        tier.written_past(line);
                    }
                }
            }
            tier.check().map_err(TestCaseError::fail)?;
            prop_assert_eq!(tier.dirty() as usize, dirty.len());
            for &line in &dirty {
                prop_assert!(tier.slot(line).is_some());
            }
        }
    }
}

/// A copy is as the original, and what happens to one does not happen to the other.
#[test]
fn a_copy_goes_its_own_way() {
    let lines = 100_000;
    let mut tier = Tier::new(&TierParams {
        slots: 8,
        lines,
        promote_after: 3,
        dirty_share: 0.5,
    })
    .unwrap();
    // Lines of several pages, one of them touched for its heat alone.
    for line in [0, 5000, 99_999] {
        bring(&mut tier, line);
    }
    assert_eq!(
        (tier.access(50_000), tier.access(50_000)),
        (Heat::Cold, Heat::Cold)
    );
    tier.fetch([0, 1, 50_000, 99_999].into_iter());
    let mut copy = tier.clone();
    assert_eq!(copy.access(50_000), Heat::Hot);
    copy.written_past(5000);
    copy.check().unwrap();
    assert_eq!((copy.slot(5000), copy.len()), (None, 2));
    assert!(tier.slot(5000).is_some());
    tier.cool_down();
    assert_eq!(tier.access(50_000), Heat::Cold);
    tier.check().unwrap();
}
