//! How a stripe with parity takes new data: which units must be read first, and what is written.
//!
//! New parity needs either the old data and the old parity (*read-modify-write*), or everything
//! else in the stripe (*reconstruct write*), or nothing (*full stripe*). The cheaper way in
//! commands, then in bytes, is taken. With drives lost, a way that needs their data falls away;
//! where none is left, the stripe is read from what remains and the lost units are *recovered*.

/// Bytes of one data column that are new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// The data column.
    pub column: u32,
    /// First byte within the unit.
    pub start: u32,
    /// Byte behind the last one.
    pub end: u32,
}

/// A unit's part in a stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Data column.
    Data(u32),
    /// Parity.
    Parity(u32),
    /// A further copy of a data column, from 1 on, where copies are compared.
    Copy(u32, u32),
}

impl Default for Role {
    fn default() -> Role {
        Role::Data(0)
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

/// Which way new parity is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
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
pub struct Stripe<'a, L: Fn(Role) -> bool> {
    /// Data columns.
    pub columns: u32,
    /// Parities.
    pub parities: u32,
    /// New data, in ascending order of (column, start), without overlaps.
    pub extents: &'a [Extent],
    /// Whether a unit's drive can be read and written.
    pub alive: L,
}

/// The union of the extents over all columns, in ascending order: where parity changes.
pub fn parity_ranges(extents: &[Extent], into: &mut Vec<(u32, u32)>) {
    into.clear();
    into.extend(extents.iter().map(|extent| (extent.start, extent.end)));
    into.sort_unstable();
    let mut kept = 0;
    for at in 1..into.len() {
        let (start, end) = into[at];
        if start <= into[kept].1 {
            into[kept].1 = into[kept].1.max(end);
        } else {
            kept += 1;
            into[kept] = (start, end);
        }
    }
    into.truncate((kept + 1).min(extents.len()));
}

impl<L: Fn(Role) -> bool> Stripe<'_, L> {
    fn lives(&self, role: Role) -> bool {
        (self.alive)(role)
    }

    fn living_parities(&self) -> u32 {
        (0..self.parities)
            .filter(|&p| self.lives(Role::Parity(p)))
            .count() as u32
    }

    /// The way to take; None if more is lost than the parities can make good.
    pub fn way(&self, ranges: &[(u32, u32)]) -> Option<Way> {
        let parities = self.living_parities();
        let lost = (0..self.columns)
            .filter(|&c| !self.lives(Role::Data(c)))
            .count() as u32;
        if lost > parities {
            return None;
        }
        if parities == 0 {
            return Some(Way::Plain);
        }
        let mut modify = Some((0u64, 0u64));
        let mut reconstruct = Some((0u64, 0u64));
        self.modify_reads(ranges, &mut |t| count(&mut modify, t, self.lives(t.role)));
        self.other_data(ranges, &mut |t| {
            count(&mut reconstruct, t, self.lives(t.role));
            // What is no better than to modify need not be known to the end.
            modify.is_none() || reconstruct < modify
        });
        Some(match (modify, reconstruct) {
            (_, Some((0, _))) => Way::Full,
            (Some(modify), Some(reconstruct)) if reconstruct < modify => Way::Reconstruct,
            (Some(_), _) => Way::Modify,
            (None, Some(_)) => Way::Reconstruct,
            (None, None) => Way::Recover,
        })
    }

    /// What must be read first.
    pub fn reads(&self, way: Way, ranges: &[(u32, u32)], into: &mut Vec<Transfer>) {
        into.clear();
        match way {
            Way::Plain | Way::Full => {}
            Way::Modify => self.modify_reads(ranges, &mut |t| into.push(t)),
            Way::Reconstruct => self.other_data(ranges, &mut |t| {
                into.push(t);
                true
            }),
            Way::Recover => {
                for &(start, end) in ranges {
                    self.all_that_is_left(start, end, into);
                }
            }
        }
    }

    /// All units that can be read.
    pub fn living(&self) -> impl Iterator<Item = Role> {
        let data = (0..self.columns).map(Role::Data);
        let parity = (0..self.parities).map(Role::Parity);
        data.chain(parity).filter(|&role| self.lives(role))
    }

    /// Everything needed to compute lost data in a range: living data, and as many living
    /// parities as data columns are lost.
    pub fn all_that_is_left(&self, start: u32, end: u32, into: &mut Vec<Transfer>) {
        let mut lost = 0;
        for column in 0..self.columns {
            let role = Role::Data(column);
            if self.lives(role) {
                into.push(Transfer { role, start, end });
            } else {
                lost += 1;
            }
        }
        for role in (0..self.parities).map(Role::Parity) {
            if lost > 0 && self.lives(role) {
                into.push(Transfer { role, start, end });
                lost -= 1;
            }
        }
    }

    /// What is written: the new data and the living parities.
    pub fn writes(&self, ranges: &[(u32, u32)], into: &mut Vec<Transfer>) {
        into.clear();
        for extent in self.extents {
            let role = Role::Data(extent.column);
            if self.lives(role) {
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
        for role in (0..self.parities).map(Role::Parity) {
            if self.lives(role) {
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
        for column in 0..self.columns {
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

fn count(cost: &mut Option<(u64, u64)>, transfer: Transfer, lives: bool) {
    *cost = match *cost {
        Some((commands, bytes)) if lives => Some((
            commands + 1,
            bytes + u64::from(transfer.end - transfer.start),
        )),
        _ => None,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn extent(column: u32, start: u32, end: u32) -> Extent {
        Extent { column, start, end }
    }

    fn plan(
        columns: u32,
        parities: u32,
        extents: &[Extent],
        lost: &[Role],
    ) -> (Option<Way>, Vec<Transfer>, Vec<Transfer>) {
        let stripe = Stripe {
            columns,
            parities,
            extents,
            alive: |role| !lost.contains(&role),
        };
        let mut ranges = Vec::new();
        parity_ranges(extents, &mut ranges);
        let way = stripe.way(&ranges);
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        if let Some(way) = way {
            stripe.reads(way, &ranges, &mut reads);
            stripe.writes(&ranges, &mut writes);
        }
        (way, reads, writes)
    }

    /// A small write costs 4 commands on RAID 5 and 6 on RAID 6.
    #[test]
    fn a_small_write_costs_what_the_textbook_says() {
        for (parities, commands) in [(1, 4), (2, 6)] {
            let (way, reads, writes) = plan(7, parities, &[extent(2, 0, 8192)], &[]);
            assert_eq!(way, Some(Way::Modify));
            assert_eq!(reads.len() + writes.len(), commands);
        }
    }

    /// Three of four columns new: reading the fourth is cheaper than reading three and parity.
    #[test]
    fn much_new_data_makes_a_reconstruct_write() {
        let extents = [extent(0, 0, 64), extent(1, 0, 64), extent(2, 0, 64)];
        let (way, reads, writes) = plan(4, 1, &extents, &[]);
        assert_eq!(way, Some(Way::Reconstruct));
        assert_eq!(reads.len(), 1);
        assert_eq!(writes.len(), 4);
    }

    #[test]
    fn a_full_stripe_reads_nothing() {
        let extents = [extent(0, 0, 64), extent(1, 0, 64), extent(2, 0, 64)];
        let (way, reads, writes) = plan(3, 1, &extents, &[]);
        assert_eq!((way, reads.len(), writes.len()), (Some(Way::Full), 0, 4));
    }

    #[test]
    fn a_lost_drive_forces_the_way() {
        // Its new data go into parity alone: everything else must be read.
        let (way, reads, writes) = plan(7, 1, &[extent(2, 0, 64)], &[Role::Data(2)]);
        assert_eq!(
            (way, reads.len(), writes.len()),
            (Some(Way::Reconstruct), 6, 1)
        );
        // Another column's drive is lost: read-modify-write works as ever.
        let (way, ..) = plan(7, 1, &[extent(2, 0, 64)], &[Role::Data(3)]);
        assert_eq!(way, Some(Way::Modify));
        // Parity is lost: the data alone are written.
        let (way, reads, writes) = plan(7, 1, &[extent(2, 0, 64)], &[Role::Parity(0)]);
        assert_eq!((way, reads.len(), writes.len()), (Some(Way::Plain), 0, 1));
        // The lost unit is replaced in part only: the rest of it must be recovered.
        let extents = [extent(1, 0, 64), extent(2, 0, 32)];
        let (way, reads, writes) = plan(4, 1, &extents, &[Role::Data(2)]);
        assert_eq!((way, reads.len(), writes.len()), (Some(Way::Recover), 4, 2));
        let (way, ..) = plan(4, 1, &extents, &[Role::Data(2), Role::Data(3)]);
        assert_eq!(way, None);
    }

    /// 64 KiB that begin inside a unit: the parity ranges of both units are two ends of one unit.
    #[test]
    fn ranges_of_parity_are_the_union() {
        let mut ranges = Vec::new();
        parity_ranges(&[extent(0, 512, 65536), extent(1, 0, 512)], &mut ranges);
        assert_eq!(ranges, [(0, 65536)]);
        parity_ranges(&[extent(0, 60000, 65536), extent(1, 0, 512)], &mut ranges);
        assert_eq!(ranges, [(0, 512), (60000, 65536)]);
        parity_ranges(&[], &mut ranges);
        assert!(ranges.is_empty());
    }

    proptest! {
        /// Whatever is lost within the parities' power, what is read is alive, and together
        /// with the new data suffices to compute new parity at every byte where it changes.
        #[test]
        fn reads_suffice_for_new_parity(
            columns in 2u32..6,
            parities in 1u32..3,
            raw in prop::collection::vec((0u32..6, 0u32..8, 1u32..9), 1..6),
            lost in prop::collection::vec(0u32..8, 0..3),
        ) {
            let mut cells: Vec<Vec<bool>> = vec![vec![false; 8]; columns as usize];
            for (column, start, length) in raw {
                for byte in start..(start + length).min(8) {
                    cells[(column % columns) as usize][byte as usize] = true;
                }
            }
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
            let mut lost: Vec<Role> = lost
                .into_iter()
                .map(|n| n % (columns + parities))
                .map(|n| if n < columns { Role::Data(n) } else { Role::Parity(n - columns) })
                .collect();
            lost.sort_unstable_by_key(|role| format!("{role:?}"));
            lost.dedup();
            let (way, reads, writes) = plan(columns, parities, &extents, &lost);
            let Some(way) = way else {
                prop_assert!(lost.len() > parities as usize);
                return Ok(());
            };
            for transfer in reads.iter().chain(&writes) {
                prop_assert!(!lost.contains(&transfer.role));
            }
            let has = |list: &[Transfer], role: Role, byte: u32| {
                list.iter().any(|t| t.role == role && t.start <= byte && byte < t.end)
            };
            let living: Vec<u32> =
                (0..parities).filter(|&p| !lost.contains(&Role::Parity(p))).collect();
            for byte in 0..8u32 {
                let changes = cells.iter().any(|cell| cell[byte as usize]);
                for &p in &living {
                    prop_assert_eq!(has(&writes, Role::Parity(p), byte), changes);
                }
                if !changes || living.is_empty() {
                    continue;
                }
                // Unknown old data that new parity needs, against equations that give them.
                let is_new = |c: u32| cells[c as usize][byte as usize];
                let known = |c: u32| has(&reads, Role::Data(c), byte);
                let equations =
                    living.iter().filter(|&&p| has(&reads, Role::Parity(p), byte)).count();
                let by_delta = (0..columns).all(|c| !is_new(c) || known(c))
                    && equations == living.len();
                let unknown = (0..columns).filter(|&c| !is_new(c) && !known(c)).count();
                // Old values of replaced columns are unknowns of the equations as well.
                let unknowns = (0..columns).filter(|&c| !known(c)).count();
                prop_assert!(
                    by_delta || unknown == 0 || unknowns <= equations,
                    "{:?} cannot make parity at {}", way, byte
                );
            }
        }
    }
}
