use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

#[test]
fn sectors_and_pages_count_what_they_should() {
    assert_eq!(sectors(0, 128), !0);
    assert_eq!(sectors(3, 5), 0b11000);
    assert_eq!(pages(sectors(7, 9)), 2);
    assert_eq!(pages(sectors(0, 8)), 1);
    assert_eq!(pages(!0), 16);
    assert_eq!(pages(0), 0);
}

/// New data for sectors of a line, which belongs to a group of a space.
fn write(cache: &mut Cache, key: u64, written: Sectors, (space, group): (u32, u64)) {
    let (space, group) = (SpaceId::new(space), GroupId::new(group));
    cache.write(LineKey::new(key), written, space, group);
}

/// Two lines of one stripe become full and leave before a stripe that comes earlier in
/// elevator order.
#[test]
fn a_full_stripe_leaves_first() {
    let mut cache = Cache::new(1 << 20, 1 << 20, &[(10, 256)]);
    write(&mut cache, 0, sectors(0, 16), (0, 0));
    write(&mut cache, 10, !0, (0, 5));
    assert!(!cache.groups().has_full());
    write(&mut cache, 11, !0, (0, 5));
    assert!(cache.groups().has_full());
    let (group, _, number) = cache.next_to_leave(Eligible::Full, |_| true).unwrap();
    let mut leaving = Vec::new();
    cache.leave(group, &mut leaving);
    assert_eq!((number.number(), leaving.len()), (5, 2));
    assert_eq!(cache.next_to_leave(Eligible::Full, |_| true), None);
    // New data for a leaving line leave it dirty.
    write(&mut cache, 10, sectors(0, 1), (0, 5));
    cache.left(group);
    assert_eq!(cache.dirty_bytes(), 17 * SECTOR);
    assert_eq!(cache.find(LineKey::new(11), !0), Found::All);
    cache.check().unwrap();
}

#[test]
fn the_least_recently_used_clean_line_makes_room() {
    let mut cache = Cache::new(32 * PAGE, 16 * PAGE, &[(10, 128)]);
    for key in 0..2 {
        assert!(cache.make_room(16));
        cache.expect(LineKey::new(key), !0, 7);
        assert_eq!(cache.find(LineKey::new(key), 1), Found::Coming(7));
        cache.arrived(LineKey::new(key), 7);
    }
    assert_eq!(cache.find(LineKey::new(0), !0), Found::All);
    assert!(cache.make_room(1));
    assert_eq!(cache.find(LineKey::new(1), 1), Found::None);
    write(&mut cache, 2, sectors(0, 8), (0, 2));
    assert!(cache.make_room(15));
    assert_eq!(cache.find(LineKey::new(0), 1), Found::All);
    assert!(!cache.make_room(32), "dirty lines stay");
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Reference {
    valid: Sectors,
    dirty: Sectors,
    leaving: Sectors,
}

/// Groups of one array leave while those of another wait for their drives.
#[test]
fn a_space_does_not_wait_for_another() {
    let (first, second, two) = (SpaceId::new(0), SpaceId::new(1), GroupId::new(2));
    let mut cache = Cache::new(1 << 20, 1 << 20, &[(10, 256), (10, 256)]);
    write(&mut cache, 4, sectors(0, 8), (0, 2));
    write(&mut cache, 6, sectors(0, 8), (1, 3));
    assert!(cache.groups().has(first, two) && !cache.groups().has(second, two));
    let (group, space, number) = cache
        .next_to_leave(Eligible::Any, |space| space == second)
        .unwrap();
    assert_eq!((space, cache.groups().space(group)), (second, second));
    assert_eq!(number, GroupId::new(3));
    let mut list = Vec::new();
    cache.leave(group, &mut list);
    assert_eq!(
        cache.next_to_leave(Eligible::Any, |space| space == second),
        None
    );
    let (_, space, number) = cache.next_to_leave(Eligible::Any, |_| true).unwrap();
    assert_eq!((space, number), (first, two));
}

proptest! {
    /// Against sets of sectors: nothing dirty is ever lost, sums agree.
    #[test]
    fn dirty_data_stay_until_they_have_left(
        steps in prop::collection::vec((0u8..6, 0u64..12, 0u64..128, 1u64..64), 1..120),
    ) {
        let mut cache = Cache::new(40 * PAGE, 24 * PAGE, &[(6, 256)]);
        let mut reference: BTreeMap<u64, Reference> = BTreeMap::new();
        let (mut in_flight, mut list) = (Vec::new(), Vec::new());
        for (what, key, first, length) in steps {
            let mask = sectors(first, first + length);
            let line = reference.entry(key).or_default();
            match what {
                0..=2 => {
                    if cache.may_dirty(16) && cache.make_room(16) {
                        write(&mut cache, key, mask, (0, key / 2));
                        line.valid |= mask;
                        line.dirty |= mask;
                    }
                }
                3 => {
                    if let Some((group, _, number)) = cache.next_to_leave(Eligible::Any, |_| true) {
                        cache.leave(group, &mut list);
                        let number = number.number();
                        for key in [2 * number, 2 * number + 1] {
                            let line = reference.entry(key).or_default();
                            line.leaving = line.dirty;
                            line.dirty = 0;
                            let found = list.iter().find(|l| l.key.number() == key);
                            prop_assert_eq!(found.map_or(0, |l| l.dirty), line.leaving);
                        }
                        in_flight.push((group, number));
                    }
                }
                4 => {
                    if let Some((group, number)) = in_flight.pop() {
                        cache.left(group);
                        for key in [2 * number, 2 * number + 1] {
                            reference.entry(key).or_default().leaving = 0;
                        }
                    }
                }
                _ => {
                    if cache.make_room(16) {
                        cache.expect(LineKey::new(key), mask, 1);
                        cache.arrived(LineKey::new(key), 1);
                    }
                }
            }
            cache.check().map_err(TestCaseError::fail)?;
            for (&key, line) in &reference {
                let must = line.dirty | line.leaving;
                for bit in 0..128 {
                    let dirty = cache.is_dirty_at(LineKey::new(key), 1 << bit);
                    prop_assert_eq!(dirty, must >> bit & 1 == 1);
                }
                if must != 0 {
                    prop_assert_eq!(cache.find(LineKey::new(key), must), Found::All);
                }
            }
        }
    }
}
