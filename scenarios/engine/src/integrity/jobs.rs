//! Tokens of jobs: what each has read of its stripe, and the data, parity and copies it makes.

use crate::ids::{ColumnId, CopyId, JobId, ParityId};
use crate::integrity::sectors::sectors;
use crate::integrity::tokens::Tokens;
use crate::layout::{Role, Token, WriteStrategy, galois};
use raidlab_io::ByteRange;
use std::collections::HashMap;

/// The tokens of a job's stripe, by `key`.
#[derive(Debug, Default)]
pub(super) struct StripeTokens {
    /// What the job makes.
    pub(super) new: Tokens,
    /// What it has read or recovered.
    pub(super) read: Tokens,
}

/// A number for a sector of each unit of a stripe: sectors of a unit have 24 bits, columns as many,
/// copies 14.
pub(super) fn key(role: Role, sector: u64) -> u64 {
    let (kind, copy, column) = match role {
        Role::Data(column) => (0, 0, column.number()),
        Role::Parity(which) => (1, 0, which.number()),
        Role::Copy(column, copy) => (2, copy.number(), column.number()),
    };
    kind << 62 | u64::from(copy) << 48 | u64::from(column) << 24 | sector
}

/// The role and the sector of a number.
fn role_at(key: u64) -> (Role, u64) {
    let unit = (key >> 24) as u32 & 0xff_ffff;
    let column = ColumnId::new(unit);
    let role = match key >> 62 {
        0 => Role::Data(column),
        1 => Role::Parity(ParityId::new(unit)),
        _ => Role::Copy(column, CopyId::new((key >> 48) as u32 & 0x3fff)),
    };
    (role, key & 0xff_ffff)
}

/// The tokens of all jobs at work.
#[derive(Debug, Default)]
pub(crate) struct JobTokens(HashMap<JobId, StripeTokens>);

impl JobTokens {
    /// A job's tokens; none yet if it is new.
    pub(super) fn of(&mut self, job: JobId) -> &mut StripeTokens {
        self.0.entry(job).or_default()
    }

    /// What a job has recovered of a sector of a unit, or has read there.
    pub(super) fn read(&self, job: JobId, role: Role, sector: u64) -> Option<Token> {
        self.0.get(&job)?.read.get(key(role, sector))
    }

    /// Jobs end, but for those that are preserved.
    pub(super) fn keep(&mut self, saved: &[JobId]) {
        self.0.retain(|job, _| saved.contains(job));
    }

    /// A job computes: lost data from what it has read, then new parity.
    pub fn compute(
        &mut self,
        job: JobId,
        columns: u32,
        strategy: WriteStrategy,
        ranges: &[(u32, u32)],
    ) {
        let Some(stripe) = self.0.get_mut(&job) else {
            return;
        };
        let mut data: Vec<Option<Token>> = Vec::with_capacity(columns as usize);
        for &(start, end) in ranges {
            for sector in sectors(ByteRange::between(u64::from(start), u64::from(end))) {
                let read = |role| stripe.read.get(key(role, sector));
                let new = |column| stripe.new.get(key(Role::Data(column), sector));
                let old_parity = [0, 1].map(|which| read(Role::Parity(ParityId::new(which))));
                let made = if strategy == WriteStrategy::Modify {
                    let changes = ColumnId::first(columns).filter_map(|c| {
                        let old = read(Role::Data(c)).unwrap_or_default();
                        new(c).map(|new| (c, new ^ old))
                    });
                    changes.fold(old_parity, |[p, q], (c, change)| {
                        [
                            p.map(|p| p ^ change),
                            q.map(|q| q ^ galois::times(change, galois::weight(c.number()))),
                        ]
                    })
                } else {
                    data.clear();
                    data.extend(ColumnId::first(columns).map(|c| read(Role::Data(c))));
                    if strategy == WriteStrategy::Recover {
                        galois::recover(&mut data, old_parity);
                    }
                    for (column, value) in ColumnId::first(columns).zip(&data) {
                        if let Some(value) = *value {
                            let role = Role::Data(column);
                            stripe.read.insert_new(key(role, sector), value);
                        }
                    }
                    let new = |column| stripe.new.get(key(Role::Data(column), sector));
                    let whole = ColumnId::first(columns).map(|c| new(c).or(data[c.index()]));
                    if whole.clone().all(|value| value.is_some()) {
                        galois::parities(whole.flatten()).map(Some)
                    } else {
                        [None, None]
                    }
                };
                for (which, value) in ParityId::first(2).zip(made) {
                    if let Some(value) = value {
                        let role = Role::Parity(which);
                        stripe.new.insert(key(role, sector), value);
                    }
                }
            }
        }
    }

    /// A job makes a unit's copies from the first one that it has read.
    pub fn make_copies(&mut self, job: JobId, copies: u32) {
        let Some(stripe) = self.0.get_mut(&job) else {
            return;
        };
        let read: Vec<(Role, u64)> = stripe.read.iter().map(|(at, _)| role_at(at)).collect();
        for (role, sector) in read {
            let (Role::Copy(column, _) | Role::Data(column)) = role else {
                continue;
            };
            let all = CopyId::first(copies).map(|copy| Role::Copy(column, copy));
            let mut all = std::iter::once(Role::Data(column)).chain(all);
            let first = all.find_map(|role| stripe.read.get(key(role, sector)));
            if let Some(first) = first {
                stripe
                    .read
                    .insert_new(key(Role::Data(column), sector), first);
                for copy in CopyId::first(copies) {
                    stripe
                        .new
                        .insert(key(Role::Copy(column, copy), sector), first);
                }
            }
        }
    }

    /// Whether the parity or the copies that a job has read differ from those it has made.
    pub fn differs(&self, job: JobId, parities: u32) -> bool {
        let Some(stripe) = self.0.get(&job) else {
            return false;
        };
        let compared = |at: u64| match role_at(at).0 {
            Role::Data(_) => false,
            Role::Parity(which) => which.number() < parities,
            Role::Copy(..) => true,
        };
        let mut made = stripe.new.iter().filter(|&(at, _)| compared(at));
        made.any(|(at, value)| stripe.read.get(at).is_some_and(|read| read != value))
    }

    /// A job's new data are those of another one, which it joins.
    pub fn join(&mut self, job: JobId, other: JobId) {
        let Some(joined) = self.0.remove(&job) else {
            return;
        };
        let stripe = self.of(other);
        for (at, value) in joined.new.iter() {
            stripe.new.insert(at, value);
        }
    }

    /// A job plans again: what it has read is out of date.
    pub fn plan_again(&mut self, job: JobId) {
        if let Some(stripe) = self.0.get_mut(&job) {
            stripe.read.clear();
        }
    }

    /// A job is done.
    pub fn end_job(&mut self, job: JobId) {
        self.0.remove(&job);
    }
}
