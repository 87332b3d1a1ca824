//! Tokens of commands: to the drives' media and volatile caches, and back.

use crate::ids::{DriveId, JobId};
use crate::integrity::Integrity;
use crate::integrity::jobs::key;
use crate::integrity::medium::Medium;
use crate::integrity::sectors::sectors;
use crate::layout::Role;
use raidlab_io::{IoId, Op};
use raidlab_kernel::Time;
use raidlab_models::SECTOR;

/// Where a command's data belong.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    /// A unit of a job's stripe, from a byte within the unit on.
    Unit(JobId, Role, u32),
    /// An offset of the array, for the request that waits.
    Range(u64),
}

#[derive(Debug, Default)]
pub(crate) struct Payload {
    /// Where the tokens belong, one target after the other, each with its number of tokens.
    targets: Vec<(Target, usize)>,
    tokens: Vec<u64>,
    /// True if the drive's cache has taken them.
    cached: bool,
}

impl Integrity {
    /// A command is about to go, with `bytes` bytes more for a target; a write's data go with it.
    pub fn attach(&mut self, command: IoId, op: Op, target: Target, bytes: u64) {
        let payload = self.payloads.entry(command).or_default();
        if let (Op::Write, Target::Unit(job, role, start)) = (op, target) {
            let stripe = self.stripes.entry(job).or_default();
            for sector in sectors(u64::from(start), bytes) {
                let key = key(role, sector);
                // A repaired unit goes back as it was recovered.
                let value = stripe.new.get(key).or_else(|| stripe.read.get(key));
                payload.tokens.push(value.unwrap_or(0));
            }
        }
        let start = match target {
            Target::Unit(_, _, start) => u64::from(start),
            Target::Range(offset) => offset,
        };
        let count = sectors(start, bytes).count();
        payload.targets.push((target, count));
    }

    /// A command is at the medium.
    pub fn at_medium(&mut self, command: IoId, op: Op, drive: DriveId, offset: u64, bytes: u64) {
        let Some(payload) = self.payloads.get_mut(&command) else {
            return;
        };
        let medium = &mut self.drives[drive];
        for (at, sector) in sectors(offset, bytes).enumerate() {
            if op != Op::Write {
                payload.tokens.push(medium.read(sector));
            } else if let Some(&value) = payload.tokens.get(at).filter(|_| !payload.cached) {
                medium.write(sector, value);
            }
        }
    }

    /// A drive's volatile cache takes a command's data.
    pub fn cache_in_drive(&mut self, command: IoId, drive: DriveId, offset: u64) {
        if let Some(payload) = self.payloads.get_mut(&command) {
            payload.cached = true;
            let medium = &mut self.drives[drive];
            for (at, &value) in payload.tokens.iter().enumerate() {
                medium.cache(offset / SECTOR + at as u64, value);
            }
        }
    }

    /// The present content of a range (offset, bytes) in a drive's volatile cache is on the medium
    /// from `at` on.
    pub fn write_back(&mut self, drive: DriveId, range: (u64, u64), at: Time, now: Time) {
        self.drives[drive].write_back(range.0, range.1, at, now);
    }

    /// A drive's volatile cache loses its content. Returns the sectors that have older content now.
    pub fn drive_loses_power(&mut self, drive: DriveId, now: Time) -> Vec<u64> {
        self.drives[drive].lose_power(now)
    }

    /// The power fails while a write is in flight: some of its sectors, from the first on, may
    /// have reached the medium.
    pub fn tear(&mut self, command: IoId, drive: DriveId, offset: u64) {
        if let Some(payload) = self.payloads.remove(&command) {
            let reached = self.torn.below(payload.tokens.len() as u64 + 1) as usize;
            for (at, &value) in payload.tokens.iter().take(reached).enumerate() {
                let sector = offset / SECTOR + at as u64;
                self.drives[drive].write(sector, value);
            }
        }
    }

    /// A command's data reach the job or request that sent it.
    pub fn deliver(&mut self, command: IoId, parent: IoId, op: Op) {
        let Some(payload) = self.payloads.remove(&command) else {
            return;
        };
        if op != Op::Read {
            return;
        }
        let mut tokens = payload.tokens.into_iter();
        for (target, count) in payload.targets {
            for (at, value) in tokens.by_ref().take(count).enumerate() {
                match target {
                    Target::Unit(job, role, start) => {
                        let sector = u64::from(start) / SECTOR + at as u64;
                        let stripe = self.stripes.entry(job).or_default();
                        stripe.read.insert(key(role, sector), value);
                    }
                    Target::Range(offset) => {
                        let sector = offset / SECTOR + at as u64;
                        let got = &mut self.readers.entry(parent).or_default().got;
                        got.insert_new(sector, value);
                    }
                }
            }
        }
    }

    /// A command's data are dropped.
    pub fn drop_payload(&mut self, command: IoId) {
        self.payloads.remove(&command);
    }

    /// A drive is replaced by an empty one.
    pub fn empty(&mut self, drive: DriveId) {
        self.drives[drive] = Medium::default();
    }

    /// The token that a drive has at an offset.
    pub fn content(&self, drive: DriveId, offset: u64) -> u64 {
        self.drives[drive].read(offset / SECTOR)
    }
}
