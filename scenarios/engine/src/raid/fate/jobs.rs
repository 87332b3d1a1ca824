//! What a job knows and makes of its stripe: new data, parity, copies, what was lost.

use super::{Fate, GRAIN, grains, token};
use crate::raid::gf;
use crate::raid::stripe::{Extent, Role, Way};
use raidlab_kernel::IoId;
use std::collections::HashMap;

/// What a job knows of its stripe: tokens by (role, sector of the unit).
#[derive(Debug, Default)]
pub(super) struct Shadow {
    pub(super) new: HashMap<(Role, u64), u64>,
    pub(super) read: HashMap<(Role, u64), u64>,
}

impl Fate {
    /// A job takes new data from the write of its parent, from what its parent has read if that
    /// copies a line, or from the cache if it has none; `offset` is the array's offset of the extent.
    pub fn new_data(&mut self, job: u32, parent: IoId, array: u32, extent: Extent, offset: u64) {
        let write = self.writes.get(&parent).map(|write| write.number);
        for (at, grain) in grains(offset, u64::from(extent.end - extent.start)).enumerate() {
            let value = match write {
                Some(write) => token(write, grain),
                None => match self.readers.get(&parent) {
                    Some(copied) => copied.got.get(&grain).copied().unwrap_or(0),
                    None => self.cached(array, grain * GRAIN),
                },
            };
            let sector = u64::from(extent.start) / GRAIN + at as u64;
            let shadow = self.shadows.entry(job).or_default();
            shadow
                .new
                .insert((Role::Data(extent.column), sector), value);
        }
    }

    /// A job computes: lost data from what it has read, then new parity.
    pub fn compute(&mut self, job: u32, columns: u32, way: Way, ranges: &[(u32, u32)]) {
        let Some(shadow) = self.shadows.get_mut(&job) else {
            return;
        };
        for &(start, end) in ranges {
            for sector in grains(u64::from(start), u64::from(end - start)) {
                let read = |role| shadow.read.get(&(role, sector)).copied();
                let new = |column| shadow.new.get(&(Role::Data(column), sector)).copied();
                let old_parity = [read(Role::Parity(0)), read(Role::Parity(1))];
                let made = if way == Way::Modify {
                    let changes = (0..columns).filter_map(|c| {
                        let old = read(Role::Data(c)).unwrap_or(0);
                        new(c).map(|new| (c, new ^ old))
                    });
                    changes.fold(old_parity, |[p, q], (c, change)| {
                        [
                            p.map(|p| p ^ change),
                            q.map(|q| q ^ gf::times(change, gf::weight(c))),
                        ]
                    })
                } else {
                    let mut data: Vec<Option<u64>> =
                        (0..columns).map(|c| read(Role::Data(c))).collect();
                    if way == Way::Recover {
                        gf::recover(&mut data, old_parity);
                    }
                    for (column, value) in data.iter().enumerate() {
                        if let Some(value) = *value {
                            let role = Role::Data(column as u32);
                            shadow.read.entry((role, sector)).or_insert(value);
                        }
                    }
                    let new = |column| shadow.new.get(&(Role::Data(column), sector)).copied();
                    let whole = (0..columns).map(|c| new(c).or(data[c as usize]).unwrap_or(0));
                    let [p, q] = gf::parities(whole);
                    [Some(p), Some(q)]
                };
                for (which, value) in made.into_iter().enumerate() {
                    if let Some(value) = value {
                        let role = Role::Parity(which as u32);
                        shadow.new.insert((role, sector), value);
                    }
                }
            }
        }
    }

    /// A job makes a unit's copies anew from the one that it believes.
    pub fn copy_anew(&mut self, job: u32) {
        let Some(shadow) = self.shadows.get_mut(&job) else {
            return;
        };
        let believed = |(role, sector): &(Role, u64)| match role {
            Role::Copy(column, _) => shadow.read.get(&(Role::Data(*column), *sector)),
            _ => None,
        };
        let made = shadow
            .read
            .keys()
            .filter_map(|key| Some((*key, *believed(key)?)));
        shadow.new.extend(made);
    }

    /// Whether the parity or the copies that a job has read differ from those it has made.
    pub fn made_differs(&self, job: u32, parities: u32) -> bool {
        let Some(shadow) = self.shadows.get(&job) else {
            return false;
        };
        let compared = |role: Role| match role {
            Role::Data(_) => false,
            Role::Parity(which) => which < parities,
            Role::Copy(..) => true,
        };
        let mut made = shadow.new.iter().filter(|((role, _), _)| compared(*role));
        made.any(|(key, value)| shadow.read.get(key).is_some_and(|read| read != value))
    }

    /// What a job has recovered of an extent goes to whoever waits for it.
    pub fn recovered(&mut self, job: u32, parent: IoId, extent: Extent, offset: u64) {
        let Some(shadow) = self.shadows.get(&job) else {
            return;
        };
        let bytes = u64::from(extent.end - extent.start);
        for (at, grain) in grains(offset, bytes).enumerate() {
            let sector = u64::from(extent.start) / GRAIN + at as u64;
            if let Some(&value) = shadow.read.get(&(Role::Data(extent.column), sector)) {
                let got = &mut self.readers.entry(parent).or_default().got;
                got.entry(grain).or_insert(value);
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
