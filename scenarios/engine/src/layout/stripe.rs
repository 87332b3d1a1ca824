//! How a stripe with parity takes new data: which units must be read first, and what is written.
//!
//! New parity needs either the old data and the old parity (*read-modify-write*), or everything
//! else in the stripe (*reconstruct write*), or nothing (*full stripe*). The strategy with fewer
//! commands is taken, among equals the one with fewer bytes; Linux md reads the rest of the stripe
//! then. With drives lost, a strategy that needs their data is impossible. Where none is left, the
//! other units are read and the lost ones are *recovered* (see `repair`).

use crate::ids::{ColumnId, CopyId, ParityId};
use crate::layout::extent::Extent;
use crate::layout::unit::Unit;

/// A unit's part in a stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Data column.
    Data(ColumnId),
    /// Parity.
    Parity(ParityId),
    /// A copy of a data column by its number, where copies are distinguished.
    Copy(ColumnId, CopyId),
}

impl Default for Role {
    fn default() -> Role {
        Role::Data(ColumnId::new(0))
    }
}

/// Bytes of one unit that are read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Which unit.
    pub role: Role,
    /// First byte within the unit.
    pub start: u32,
    /// Byte behind the last one.
    pub end: u32,
}

/// How new parity is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteStrategy {
    /// No parity to make: none on this level, or its drives are lost.
    #[default]
    Plain,
    /// From the new data alone.
    Full,
    /// From old data and old parity.
    Modify,
    /// From the other data.
    Reconstruct,
    /// From everything that is left, lost data included by computing it.
    Recover,
}

/// The stripe as the planner sees it.
pub struct Stripe<'a, L> {
    /// Data columns.
    pub columns: u32,
    /// Parities.
    pub parities: u32,
    /// Copies of a column.
    pub copies: u32,
    /// New data, in ascending order of (column, start), without overlaps.
    pub extents: &'a [Extent],
    /// What has been read of it already.
    pub known: &'a [Transfer],
    /// Whether the rest of the stripe is read where that takes as many commands as reading what is
    /// replaced: so in `handle_stripe_dirtying` of Linux, drivers/md/raid5.c.
    pub rest_first: bool,
    /// What can be read of a unit; none if its drive is not there, so that it cannot be written.
    pub unit: L,
}

impl<'a, L: Fn(Role) -> Option<Unit<'a>>> Stripe<'_, L> {
    /// Whether a unit's drive is there to be written.
    fn is_present(&self, role: Role) -> bool {
        (self.unit)(role).is_some()
    }

    /// Whether a part of a unit can be read.
    fn is_readable(&self, Transfer { role, start, end }: Transfer) -> bool {
        (self.unit)(role).is_some_and(|unit| unit.is_readable(start, end))
    }

    /// Whether a part of a unit has been read already.
    fn is_known(&self, of: Transfer) -> bool {
        let mut known = self.known.iter();
        known.any(|k| k.role == of.role && k.start <= of.start && of.end <= k.end)
    }

    /// The cheapest strategy that is possible.
    pub fn strategy(&self, ranges: &[(u32, u32)]) -> WriteStrategy {
        if !ParityId::first(self.parities).any(|which| self.is_present(Role::Parity(which))) {
            return WriteStrategy::Plain;
        }
        let mut modify = Some((0u64, 0u64));
        let mut reconstruct = Some((0u64, 0u64));
        let mut full = true;
        let count = |cost: &mut Option<(u64, u64)>, transfer| {
            if !self.is_known(transfer) {
                count(cost, transfer, self.is_readable(transfer));
            }
        };
        self.modify_reads(ranges, &mut |t| count(&mut modify, t));
        let is_cheaper = |rest: (u64, u64), modify: (u64, u64)| {
            rest < modify || self.rest_first && rest.0 == modify.0
        };
        self.other_data(ranges, &mut |t| {
            full = false;
            count(&mut reconstruct, t);
            // Counting ends as soon as it costs no less than to modify.
            match (modify, reconstruct) {
                (None, _) => true,
                (Some(modify), Some(rest)) => is_cheaper(rest, modify),
                (Some(_), None) => false,
            }
        });
        match (modify, reconstruct) {
            _ if full => WriteStrategy::Full,
            (Some(modify), Some(rest)) if is_cheaper(rest, modify) => WriteStrategy::Reconstruct,
            (Some(_), _) => WriteStrategy::Modify,
            (None, Some(_)) => WriteStrategy::Reconstruct,
            (None, None) => WriteStrategy::Recover,
        }
    }

    /// What must be read first, unless something is to be computed (see `repair`).
    pub fn reads(&self, strategy: WriteStrategy, ranges: &[(u32, u32)], into: &mut Vec<Transfer>) {
        into.clear();
        let mut put = |transfer| {
            if !self.is_known(transfer) {
                into.push(transfer);
            }
        };
        match strategy {
            WriteStrategy::Plain | WriteStrategy::Full | WriteStrategy::Recover => {}
            WriteStrategy::Modify => self.modify_reads(ranges, &mut put),
            WriteStrategy::Reconstruct => self.other_data(ranges, &mut |t| {
                put(t);
                true
            }),
        }
    }

    /// What is written: the new data and, in ranges, the parities.
    pub fn writes(&self, ranges: &[(u32, u32)], into: &mut Vec<Transfer>) {
        into.clear();
        self.append_writes(ranges, into);
    }

    /// Lists what is written behind what is in the list already.
    pub fn append_writes(&self, ranges: &[(u32, u32)], into: &mut Vec<Transfer>) {
        for extent in self.extents {
            let role = Role::Data(extent.column);
            if self.is_present(role) {
                into.push(Transfer {
                    role,
                    start: extent.start,
                    end: extent.end,
                });
            }
        }
        self.parity_transfers(ranges, &mut |t| into.push(t));
    }

    fn parity_transfers(&self, ranges: &[(u32, u32)], each: &mut impl FnMut(Transfer)) {
        for role in ParityId::first(self.parities).map(Role::Parity) {
            if self.is_present(role) {
                for &(start, end) in ranges {
                    each(Transfer { role, start, end });
                }
            }
        }
    }

    fn modify_reads(&self, ranges: &[(u32, u32)], each: &mut impl FnMut(Transfer)) {
        for extent in self.extents {
            each(Transfer {
                role: Role::Data(extent.column),
                start: extent.start,
                end: extent.end,
            });
        }
        self.parity_transfers(ranges, each);
    }

    /// Data in the ranges that the extents do not replace, as long as `each` wants more of them.
    fn other_data(&self, ranges: &[(u32, u32)], each: &mut impl FnMut(Transfer) -> bool) {
        let mut extents = self.extents.iter().peekable();
        for column in ColumnId::first(self.columns) {
            let role = Role::Data(column);
            let own = extents.clone();
            while extents.peek().is_some_and(|e| e.column == column) {
                extents.next();
            }
            for &(start, end) in ranges {
                let mut from = start;
                for extent in own.clone().take_while(|e| e.column == column) {
                    if extent.end <= from || extent.start >= end {
                        continue;
                    }
                    let end = extent.start;
                    if end > from
                        && !each(Transfer {
                            role,
                            start: from,
                            end,
                        })
                    {
                        return;
                    }
                    from = extent.end;
                }
                if from < end
                    && !each(Transfer {
                        role,
                        start: from,
                        end,
                    })
                {
                    return;
                }
            }
        }
    }
}

fn count(cost: &mut Option<(u64, u64)>, transfer: Transfer, readable: bool) {
    *cost = match *cost {
        Some((commands, bytes)) if readable => Some((
            commands + 1,
            bytes + u64::from(transfer.end - transfer.start),
        )),
        _ => None,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::extent::parity_ranges;
    use proptest::prelude::*;
    use raidlab_io::ByteRange;

    fn extent(column: u32, start: u32, end: u32) -> Extent {
        Extent {
            column: ColumnId::new(column),
            start,
            end,
        }
    }

    fn data(column: u32) -> Role {
        Role::Data(ColumnId::new(column))
    }

    fn parity(which: u32) -> Role {
        Role::Parity(ParityId::new(which))
    }

    use crate::layout::ranges::Ranges;
    use crate::layout::repair::{Repair, Want, without};

    /// The strategy, what is read and what is written, with units that are lost and bytes of others that
    /// are unreadable.
    fn plan_with(
        (columns, parities): (u32, u32),
        extents: &[Extent],
        lost: &[Role],
        bad: &[(Role, u32)],
    ) -> (WriteStrategy, Repair, Vec<Transfer>) {
        let ranges_of = |role: &Role| {
            let mut ranges = Ranges::default();
            let bytes = bad.iter().filter(|(of, _)| of == role);
            bytes.for_each(|&(_, at)| ranges.insert(ByteRange::new(u64::from(at), 1)));
            (*role, ranges)
        };
        let roles: Vec<Role> = ColumnId::first(columns)
            .map(Role::Data)
            .chain(ParityId::first(parities).map(Role::Parity))
            .collect();
        let unreadable: Vec<(Role, Ranges)> = roles.iter().map(ranges_of).collect();
        let stripe = Stripe {
            columns,
            parities,
            copies: 1,
            extents,
            known: &[],
            rest_first: false,
            unit: |role| {
                let unit = unreadable.iter().find(|(of, _)| *of == role);
                let unit = unit.filter(|_| !lost.contains(&role));
                unit.map(|(_, ranges)| Unit::new(ranges, 0))
            },
        };
        let mut ranges = Vec::new();
        parity_ranges(extents, &mut ranges);
        let strategy = stripe.strategy(&ranges);
        let (mut repair, mut writes) = (Repair::default(), Vec::new());
        match strategy {
            WriteStrategy::Recover => stripe.repair(Want::Others, &ranges, &mut repair),
            _ => stripe.reads(strategy, &ranges, &mut repair.reads),
        }
        stripe.writes(&without(&ranges, &repair.lost), &mut writes);
        (strategy, repair, writes)
    }

    fn plan(
        columns: u32,
        parities: u32,
        extents: &[Extent],
        lost: &[Role],
    ) -> (WriteStrategy, Vec<Transfer>, Vec<Transfer>) {
        let (strategy, repair, writes) = plan_with((columns, parities), extents, lost, &[]);
        (strategy, repair.reads, writes)
    }

    /// A small write costs 4 commands on RAID 5 and 6 on RAID 6.
    #[test]
    fn a_small_write_costs_what_the_textbook_says() {
        for (parities, commands) in [(1, 4), (2, 6)] {
            let (strategy, reads, writes) = plan(7, parities, &[extent(2, 0, 8192)], &[]);
            assert_eq!(strategy, WriteStrategy::Modify);
            assert_eq!(reads.len() + writes.len(), commands);
        }
    }

    /// Three of four columns new: reading the fourth is cheaper than reading three and parity.
    #[test]
    fn much_new_data_makes_a_reconstruct_write() {
        let extents = [extent(0, 0, 64), extent(1, 0, 64), extent(2, 0, 64)];
        let (strategy, reads, writes) = plan(4, 1, &extents, &[]);
        assert_eq!(strategy, WriteStrategy::Reconstruct);
        assert_eq!(reads.len(), 1);
        assert_eq!(writes.len(), 4);
    }

    /// Of three columns one is new: old data and parity are two reads, and so is the rest. md takes the
    /// rest. What has been read needs not be read again: once the others are known, nothing.
    #[test]
    fn the_rest_is_read_where_that_is_no_more() {
        let extents = [extent(1, 0, 64)];
        let known = [unit(data(0), 0, 64), unit(data(2), 0, 64)];
        let of = |rest_first, known: &[Transfer]| {
            let stripe = Stripe {
                columns: 3,
                parities: 1,
                copies: 1,
                extents: &extents,
                known,
                rest_first,
                unit: |_| Some(Unit::WHOLE),
            };
            let mut reads = Vec::new();
            let strategy = stripe.strategy(&[(0, 64)]);
            stripe.reads(strategy, &[(0, 64)], &mut reads);
            (strategy, reads)
        };
        let modify = [unit(data(1), 0, 64), unit(parity(0), 0, 64)];
        assert_eq!(of(false, &[]), (WriteStrategy::Modify, modify.to_vec()));
        assert_eq!(of(true, &[]), (WriteStrategy::Reconstruct, known.to_vec()));
        assert_eq!(of(false, &known), (WriteStrategy::Reconstruct, vec![]));
        assert_eq!(of(true, &modify), (WriteStrategy::Modify, vec![]));
    }

    #[test]
    fn a_full_stripe_reads_nothing() {
        let extents = [extent(0, 0, 64), extent(1, 0, 64), extent(2, 0, 64)];
        let (strategy, reads, writes) = plan(3, 1, &extents, &[]);
        assert_eq!(
            (strategy, reads.len(), writes.len()),
            (WriteStrategy::Full, 0, 4)
        );
    }

    #[test]
    fn a_lost_drive_forces_the_strategy() {
        // Its new data go into parity alone: everything else must be read.
        let (strategy, reads, writes) = plan(7, 1, &[extent(2, 0, 64)], &[data(2)]);
        assert_eq!(
            (strategy, reads.len(), writes.len()),
            (WriteStrategy::Reconstruct, 6, 1)
        );
        // Another column's drive is lost: read-modify-write works as ever.
        let (strategy, ..) = plan(7, 1, &[extent(2, 0, 64)], &[data(3)]);
        assert_eq!(strategy, WriteStrategy::Modify);
        // Parity is lost: the data alone are written.
        let (strategy, reads, writes) = plan(7, 1, &[extent(2, 0, 64)], &[parity(0)]);
        assert_eq!(
            (strategy, reads.len(), writes.len()),
            (WriteStrategy::Plain, 0, 1)
        );
        // The lost unit is replaced in part only: the rest of it must be recovered.
        let extents = [extent(1, 0, 64), extent(2, 0, 32)];
        let (strategy, reads, writes) = plan(4, 1, &extents, &[data(2)]);
        assert_eq!(
            (strategy, reads.len(), writes.len()),
            (WriteStrategy::Recover, 4, 2)
        );
    }

    fn unit(role: Role, start: u32, end: u32) -> Transfer {
        Transfer { role, start, end }
    }

    /// Column 0 cannot be read in its second half. What is written over needs not be read; beside it the
    /// rest of the stripe gives parity as long as that is not needed.
    #[test]
    fn unreadable_sectors_force_the_strategy_in_their_range() {
        let bad: Vec<(Role, u32)> = (4..8).map(|at| (data(0), at)).collect();
        let of = |start, end| plan_with((4, 1), &[extent(0, start, end)], &[], &bad);
        assert_eq!(of(0, 4).0, WriteStrategy::Modify);
        let (strategy, repair, writes) = of(4, 8);
        assert_eq!(
            (strategy, repair.reads.len(), writes.len()),
            (WriteStrategy::Reconstruct, 3, 2)
        );
        // Of another column too: only where both are bad is nothing left to make parity of.
        let more = [bad.clone(), vec![(data(1), 7)]].concat();
        let (strategy, repair, writes) = plan_with((4, 1), &[extent(2, 0, 8)], &[], &more);
        assert_eq!((strategy, writes.len()), (WriteStrategy::Modify, 2));
        assert_eq!(repair.lost, []);
        let (strategy, repair, writes) = plan_with((4, 1), &[extent(0, 6, 8)], &[], &more);
        assert_eq!(
            (strategy, &repair.lost[..]),
            (WriteStrategy::Recover, &[(7, 8)][..])
        );
        assert_eq!(writes, [unit(data(0), 6, 8), unit(parity(0), 6, 7)]);
        let others = [1, 2, 3].map(|column| unit(data(column), 6, 7));
        assert_eq!(repair.reads, others);
    }

    /// Parity cannot be read where a column cannot be read either: it is lost there until new data
    /// replace it. Elsewhere it is computed, and written back.
    #[test]
    fn what_is_computed_is_written_back() {
        let bad = [(data(0), 0), (data(0), 1), (parity(0), 1)];
        let extents = [extent(1, 0, 2), extent(2, 0, 2)];
        let (strategy, repair, writes) = plan_with((4, 1), &extents, &[], &bad);
        assert_eq!(
            (strategy, &repair.lost[..]),
            (WriteStrategy::Recover, &[(1, 2)][..])
        );
        assert_eq!(repair.repairs, [unit(data(0), 0, 1)]);
        assert_eq!(writes.last(), Some(&unit(parity(0), 0, 1)));
        let (strategy, repair, writes) = plan_with((4, 1), &[extent(0, 0, 2)], &[], &bad);
        assert_eq!(
            (strategy, &repair.lost[..]),
            (WriteStrategy::Reconstruct, &[][..])
        );
        assert_eq!(writes.last(), Some(&unit(parity(0), 0, 2)));
    }

    #[test]
    fn copies_stand_for_each_other_sector_by_sector() {
        let mut bad = [Ranges::default(), Ranges::default()];
        bad[0].insert(ByteRange::new(0, 2));
        bad[1].insert(ByteRange::new(1, 2));
        let stripe = Stripe {
            columns: 1,
            parities: 0,
            copies: 3,
            extents: &[extent(0, 0, 4)],
            known: &[],
            rest_first: false,
            unit: |role| match role {
                Role::Copy(_, copy) => Some(Unit::new(bad.get(copy.index())?, 0)),
                _ => None,
            },
        };
        let copy =
            |copy, start, end| unit(Role::Copy(ColumnId::new(0), CopyId::new(copy)), start, end);
        let mut repair = Repair::default();
        stripe.repair(Want::Extents, &[(0, 4)], &mut repair);
        assert_eq!(repair.reads, [copy(1, 0, 1), copy(0, 2, 4)]);
        assert_eq!(repair.repairs, [copy(0, 0, 1), copy(1, 2, 3)]);
        assert_eq!(repair.lost, [(1, 2)]);
        stripe.repair(Want::All, &[(0, 4)], &mut repair);
        assert_eq!(repair.reads, [copy(1, 0, 1), copy(0, 2, 4), copy(1, 3, 4)]);
    }

    /// Eight bytes of each column: true where `raw` (column, start, length) writes.
    fn cells_of(columns: u32, raw: &[(u32, u32, u32)]) -> Vec<Vec<bool>> {
        let mut cells = vec![vec![false; 8]; columns as usize];
        for &(column, start, length) in raw {
            for byte in start..(start + length).min(8) {
                cells[(column % columns) as usize][byte as usize] = true;
            }
        }
        cells
    }

    /// The runs of true cells.
    fn extents_of(cells: &[Vec<bool>]) -> Vec<Extent> {
        let mut extents = Vec::new();
        for (column, cell) in cells.iter().enumerate() {
            let mut at = 0;
            while at < 8 {
                let end = (at..8).find(|&b| !cell[b]).unwrap_or(8);
                if end > at {
                    extents.push(extent(column as u32, at as u32, end as u32));
                }
                at = end.max(at + 1);
            }
        }
        extents
    }

    proptest! {
        /// Whatever is lost or unreadable, only what can be read is, and together with the new data
        /// it suffices to compute new parity at every byte where it changes, but for those where more is
        /// missing than the parities give. What is written back could not be read, and is computed.
        #[test]
        fn reads_suffice_for_new_parity(
            columns in 2u32..6,
            parities in 1u32..3,
            raw in prop::collection::vec((0u32..6, 0u32..8, 1u32..9), 1..6),
            lost in prop::collection::vec(0u32..8, 0..3),
            bad in prop::collection::vec((0u32..8, 0u32..8), 0..12),
        ) {
            let cells = cells_of(columns, &raw);
            let extents = extents_of(&cells);
            let role = |n: u32| match n % (columns + parities) {
                n if n < columns => data(n),
                n => parity(n - columns),
            };
            let lost: Vec<Role> = lost.into_iter().map(role).collect();
            let bad: Vec<(Role, u32)> = bad.into_iter().map(|(n, at)| (role(n), at)).collect();
            let (strategy, repair, writes) = plan_with((columns, parities), &extents, &lost, &bad);
            let has = |list: &[Transfer], role: Role, byte: u32| {
                list.iter().any(|t| t.role == role && t.start <= byte && byte < t.end)
            };
            let gives = |role: Role, byte: u32| {
                !lost.contains(&role) && !bad.contains(&(role, byte))
            };
            for transfer in &repair.reads {
                prop_assert!((transfer.start..transfer.end).all(|at| gives(transfer.role, at)));
            }
            for transfer in writes.iter().chain(&repair.repairs) {
                prop_assert!(!lost.contains(&transfer.role));
            }
            let living: Vec<u32> =
                (0..parities).filter(|&p| !lost.contains(&parity(p))).collect();
            for byte in 0..8u32 {
                let changes = cells.iter().any(|cell| cell[byte as usize]);
                let is_new = |c: u32| cells[c as usize][byte as usize];
                let missing = (0..columns).filter(|&c| !gives(data(c), byte));
                let given = (0..parities).filter(|&p| gives(parity(p), byte)).count();
                let not_made = repair.lost.iter().any(|&(start, end)| start <= byte && byte < end);
                if not_made {
                    prop_assert!(missing.clone().count() > given);
                    prop_assert!(missing.clone().any(|c| !is_new(c)));
                }
                for &p in &living {
                    let written = has(&writes, parity(p), byte);
                    prop_assert_eq!(written, changes && !not_made);
                }
                // Unknown old data that new parity needs, against equations that give them.
                let known = |c: u32| has(&repair.reads, data(c), byte);
                let equations =
                    (0..parities).filter(|&p| has(&repair.reads, parity(p), byte)).count();
                let unknowns = (0..columns).filter(|&c| !known(c)).count();
                for column in 0..columns {
                    let role = data(column);
                    if has(&repair.repairs, role, byte) {
                        prop_assert!(!gives(role, byte) && !is_new(column));
                        prop_assert!(unknowns <= equations);
                    }
                }
                if !changes || living.is_empty() || not_made {
                    continue;
                }
                let by_delta = (0..columns).all(|c| !is_new(c) || known(c))
                    && equations == living.len();
                let unknown = (0..columns).filter(|&c| !is_new(c) && !known(c)).count();
                // Old values of replaced columns are unknowns of the equations as well.
                prop_assert!(
                    by_delta || unknown == 0 || unknowns <= equations,
                    "{:?} cannot make parity at {}", strategy, byte
                );
            }
        }
    }
}
