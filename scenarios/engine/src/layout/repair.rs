//! What of a stripe with unreadable sectors is read, what is computed from it, and what is written
//! back.
//!
//! Sectors go bad one by one: one drive may fail to read one sector, another drive the next one. So
//! a stripe is divided into parts, in each of which a unit can be read throughout or not at all.
//! What is computed for a drive that is present is written back, and the drive reallocates it. Linux'
//! md does so (`fix_read_error` in drivers/md/raid1.c, `R5_ReWrite` in raid5.c), as do controllers.

use crate::ids::{ColumnId, CopyId, ParityId};
use crate::layout::stripe::{Role, Stripe, Transfer};
use crate::layout::unit::Unit;

/// What is wanted of a stripe; of a unit with copies any of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// The data that new ones do not replace, for new parity.
    Others,
    /// The data of the extents.
    Extents,
    /// A unit.
    Unit(Role),
    /// Everything, each copy by itself.
    All,
}

/// What is to be done with a stripe's parts.
#[derive(Clone, Debug, Default)]
pub struct Repair {
    /// What is read.
    pub reads: Vec<Transfer>,
    /// What is computed or copied and written back.
    pub repairs: Vec<Transfer>,
    /// Where something is wanted that can be neither read nor computed.
    pub lost: Vec<(u32, u32)>,
}

impl Repair {
    /// Empties the lists.
    pub fn clear(&mut self) {
        self.reads.clear();
        self.repairs.clear();
        self.lost.clear();
    }
}

impl<'a, L: Fn(Role) -> Option<Unit<'a>>> Stripe<'_, L> {
    /// Lists what is to be done to have what is wanted in ranges.
    pub fn repair(&self, want: Want, ranges: &[(u32, u32)], into: &mut Repair) {
        into.clear();
        for &(start, end) in ranges {
            let mut at = start;
            while at < end {
                let to = self.alike_up_to(at).min(end);
                self.repair_part(want, (at, to), into);
                at = to;
            }
        }
    }

    /// The units that can replace each other: those of the stripe or, without parity, the copies of
    /// one.
    fn units(&self) -> impl Iterator<Item = Role> {
        let (columns, copies) = match self.parities {
            0 => (0, self.copies),
            _ => (self.columns, 0),
        };
        let column = self.extents.first().map_or(ColumnId::new(0), |e| e.column);
        let data = ColumnId::first(columns).map(Role::Data);
        let parity = ParityId::first(self.parities).map(Role::Parity);
        let copies = CopyId::first(copies).map(move |copy| Role::Copy(column, copy));
        data.chain(parity).chain(copies)
    }

    /// Up to where the same holds for the next bytes as for a byte of the stripe.
    fn alike_up_to(&self, at: u32) -> u32 {
        let units = self.units().filter_map(|role| (self.unit)(role));
        let units = units.map(|unit| unit.stretch(at).1);
        let bounds = self.extents.iter().flat_map(|e| [e.start, e.end]);
        let bounds = bounds.filter(|&bound| bound > at);
        units.chain(bounds).min().unwrap_or(u32::MAX)
    }

    fn repair_part(&self, want: Want, (at, to): (u32, u32), into: &mut Repair) {
        let readable = |role: &Role| (self.unit)(*role).is_some_and(|unit| unit.stretch(at).0);
        let lacks = |role: &Role| !readable(role);
        let wanted = |role: &Role| self.wants(want, *role, at);
        let is_parity = |role: &Role| matches!(role, Role::Parity(_));
        let mirrored = self.parities == 0;
        let mut read = |role| put(&mut into.reads, role, at, to);
        if mirrored {
            let copies = if want == Want::All { usize::MAX } else { 1 };
            self.units()
                .filter(readable)
                .take(copies)
                .for_each(&mut read);
        }
        if !self.units().any(|role| wanted(&role) && lacks(&role)) {
            if !mirrored {
                self.units().filter(wanted).for_each(read);
            }
            return;
        }
        let data = || self.units().filter(|role| !is_parity(role));
        let parity = || self.units().filter(is_parity).filter(readable);
        let missing = match mirrored {
            true => usize::from(data().all(|role| lacks(&role))),
            false => data().filter(lacks).count(),
        };
        if missing > parity().count() {
            return into.lost.push((at, to));
        }
        if !mirrored {
            // Work in the background reads all, as md does: a drive that is left out would otherwise
            // fall out of step with its revolution.
            let all = matches!(want, Want::Unit(_) | Want::All);
            let parities = if all { usize::MAX } else { missing };
            data().filter(readable).for_each(&mut read);
            parity().take(parities).for_each(read);
        }
        let present = |role: &Role| (self.unit)(*role).is_some();
        // A write writes parity and its own data in any case.
        let written = |role: &Role| want == Want::Others && !wanted(role);
        for role in self.units().filter(present).filter(lacks) {
            if !written(&role) {
                put(&mut into.repairs, role, at, to);
            }
        }
    }

    fn wants(&self, want: Want, role: Role, at: u32) -> bool {
        let new = |column| {
            let mut extents = self.extents.iter();
            extents.any(|e| e.column == column && e.start <= at && at < e.end)
        };
        match (want, role) {
            (_, Role::Copy(..)) | (Want::All, _) => true,
            (Want::Others, Role::Data(column)) => !new(column),
            (Want::Extents, Role::Data(column)) => new(column),
            (Want::Others | Want::Extents, Role::Parity(_)) => false,
            (Want::Unit(unit), role) => unit == role,
        }
    }
}

/// Puts a part of a unit behind the one before it, if that is in the list.
fn put(list: &mut Vec<Transfer>, role: Role, start: u32, end: u32) {
    let before = |t: &&mut Transfer| t.role == role && t.end == start;
    match list.iter_mut().rev().find(before) {
        Some(transfer) => transfer.end = end,
        None => list.push(Transfer { role, start, end }),
    }
}

/// What of ranges in ascending order is not in others.
pub fn without(ranges: &[(u32, u32)], lost: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut left = ranges.to_vec();
    for &(from, to) in lost {
        let cut = |(start, end): (u32, u32)| {
            let before = (start, end.min(from));
            let behind = (start.max(to), end);
            [before, behind]
                .into_iter()
                .filter(|(start, end)| start < end)
        };
        left = left.into_iter().flat_map(cut).collect();
    }
    left
}
