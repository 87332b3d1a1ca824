//! What a job knows and makes of its stripe: new data, parity, copies, what was lost.

use crate::integrity::Integrity;
use crate::integrity::sectors::{GRAIN, grains, token};
use crate::integrity::tokens::Tokens;
use crate::layout::{Extent, Role, WriteStrategy, galois};
use raidlab_kernel::IoId;

/// What a job knows of its stripe: tokens by `place`.
#[derive(Debug, Default)]
pub(crate) struct Shadow {
    pub(crate) new: Tokens,
    pub(crate) read: Tokens,
}

/// A number for a sector of each unit of a stripe: sectors of a unit have 24 bits, columns as many,
/// copies 14.
pub(crate) fn place(role: Role, sector: u64) -> u64 {
    let (kind, copy, column) = match role {
        Role::Data(column) => (0, 0, column),
        Role::Parity(which) => (1, 0, which),
        Role::Copy(column, copy) => (2, copy, column),
    };
    kind << 62 | u64::from(copy) << 48 | u64::from(column) << 24 | sector
}

/// The role and the sector of a number.
fn role_at(place: u64) -> (Role, u64) {
    let column = (place >> 24) as u32 & 0xff_ffff;
    let role = match place >> 62 {
        0 => Role::Data(column),
        1 => Role::Parity(column),
        _ => Role::Copy(column, (place >> 48) as u32 & 0x3fff),
    };
    (role, place & 0xff_ffff)
}

impl Integrity {
    /// A job takes new data from the write of its parent, from what its parent has read if that
    /// copies a line, or from the cache if it has none; `offset` is the array's offset of the extent.
    pub fn new_data(&mut self, job: u32, parent: IoId, array: u32, extent: Extent, offset: u64) {
        let write = self.writes.get(&parent).map(|write| write.number);
        for (at, grain) in grains(offset, u64::from(extent.end - extent.start)).enumerate() {
            let value = match write {
                Some(write) => token(write, grain),
                None => match self.readers.get(&parent) {
                    Some(copied) => copied.got.get(grain).unwrap_or(0),
                    None => self.cached(array, grain * GRAIN),
                },
            };
            let sector = u64::from(extent.start) / GRAIN + at as u64;
            let shadow = self.shadows.entry(job).or_default();
            shadow
                .new
                .insert(place(Role::Data(extent.column), sector), value);
        }
    }

    /// A job computes: lost data from what it has read, then new parity.
    pub fn compute(
        &mut self,
        job: u32,
        columns: u32,
        strategy: WriteStrategy,
        ranges: &[(u32, u32)],
    ) {
        let Some(shadow) = self.shadows.get_mut(&job) else {
            return;
        };
        let mut data: Vec<Option<u64>> = Vec::with_capacity(columns as usize);
        for &(start, end) in ranges {
            for sector in grains(u64::from(start), u64::from(end - start)) {
                let read = |role| shadow.read.get(place(role, sector));
                let new = |column| shadow.new.get(place(Role::Data(column), sector));
                let old_parity = [read(Role::Parity(0)), read(Role::Parity(1))];
                let made = if strategy == WriteStrategy::Modify {
                    let changes = (0..columns).filter_map(|c| {
                        let old = read(Role::Data(c)).unwrap_or(0);
                        new(c).map(|new| (c, new ^ old))
                    });
                    changes.fold(old_parity, |[p, q], (c, change)| {
                        [
                            p.map(|p| p ^ change),
                            q.map(|q| q ^ galois::times(change, galois::weight(c))),
                        ]
                    })
                } else {
                    data.clear();
                    data.extend((0..columns).map(|c| read(Role::Data(c))));
                    if strategy == WriteStrategy::Recover {
                        galois::recover(&mut data, old_parity);
                    }
                    for (column, value) in data.iter().enumerate() {
                        if let Some(value) = *value {
                            let role = Role::Data(column as u32);
                            shadow.read.insert_new(place(role, sector), value);
                        }
                    }
                    let new = |column| shadow.new.get(place(Role::Data(column), sector));
                    let whole = (0..columns).map(|c| new(c).or(data[c as usize]));
                    if whole.clone().all(|value| value.is_some()) {
                        galois::parities(whole.flatten()).map(Some)
                    } else {
                        [None, None]
                    }
                };
                for (which, value) in made.into_iter().enumerate() {
                    if let Some(value) = value {
                        let role = Role::Parity(which as u32);
                        shadow.new.insert(place(role, sector), value);
                    }
                }
            }
        }
    }

    /// A job makes a unit's copies anew from the first one that it has read.
    pub fn copy_anew(&mut self, job: u32, copies: u32) {
        let Some(shadow) = self.shadows.get_mut(&job) else {
            return;
        };
        let read: Vec<(Role, u64)> = shadow.read.iter().map(|(at, _)| role_at(at)).collect();
        for (role, sector) in read {
            let (Role::Copy(column, _) | Role::Data(column)) = role else {
                continue;
            };
            let all = (0..copies).map(|copy| Role::Copy(column, copy));
            let mut all = std::iter::once(Role::Data(column)).chain(all);
            let believed = all.find_map(|role| shadow.read.get(place(role, sector)));
            if let Some(believed) = believed {
                shadow
                    .read
                    .insert_new(place(Role::Data(column), sector), believed);
                for copy in 0..copies {
                    shadow
                        .new
                        .insert(place(Role::Copy(column, copy), sector), believed);
                }
            }
        }
    }

    /// Whether the parity or the copies that a job has read differ from those it has made.
    pub fn made_differs(&self, job: u32, parities: u32) -> bool {
        let Some(shadow) = self.shadows.get(&job) else {
            return false;
        };
        let compared = |at: u64| match role_at(at).0 {
            Role::Data(_) => false,
            Role::Parity(which) => which < parities,
            Role::Copy(..) => true,
        };
        let mut made = shadow.new.iter().filter(|&(at, _)| compared(at));
        made.any(|(at, value)| shadow.read.get(at).is_some_and(|read| read != value))
    }

    /// What a job has recovered of an extent goes to whoever waits for it.
    pub fn recovered(&mut self, job: u32, parent: IoId, extent: Extent, offset: u64) {
        let Some(shadow) = self.shadows.get(&job) else {
            return;
        };
        let bytes = u64::from(extent.end - extent.start);
        for (at, grain) in grains(offset, bytes).enumerate() {
            let sector = u64::from(extent.start) / GRAIN + at as u64;
            if let Some(value) = shadow.read.get(place(Role::Data(extent.column), sector)) {
                let got = &mut self.readers.entry(parent).or_default().got;
                got.insert_new(grain, value);
            }
        }
    }

    /// A job begins anew: what it read is out of date.
    pub fn reread(&mut self, job: u32) {
        if let Some(shadow) = self.shadows.get_mut(&job) {
            shadow.read.clear();
        }
    }

    pub fn end_job(&mut self, job: u32) {
        self.shadows.remove(&job);
    }
}
