//! Tokens of commands: to the drives' media and volatile caches, and back.

use crate::ids::{DriveId, JobId};
use crate::integrity::jobs::{StripeTokens, key};
use crate::integrity::medium::Medium;
use crate::integrity::sectors::sectors;
use crate::layout::{Role, Token};
use raidlab_io::{ByteRange, IoId, Op};
use raidlab_kernel::{Stream, Table, Time};
use raidlab_models::SECTOR;
use std::collections::HashMap;

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
    tokens: Vec<Token>,
    /// True if the drive's cache has taken them.
    cached: bool,
}

impl Payload {
    /// `bytes` bytes of a target more belong to it; `stripe` has the tokens of a write to a unit.
    fn add(&mut self, target: Target, stripe: Option<&StripeTokens>, bytes: u64) {
        if let (Some(stripe), Target::Unit(_, role, start)) = (stripe, target) {
            for sector in sectors(ByteRange::new(u64::from(start), bytes)) {
                let key = key(role, sector);
                // A repaired unit goes back as it was recovered.
                let value = stripe.new.get(key).or_else(|| stripe.read.get(key));
                self.tokens.push(value.unwrap_or_default());
            }
        }
        let start = match target {
            Target::Unit(_, _, start) => u64::from(start),
            Target::Range(offset) => offset,
        };
        let count = sectors(ByteRange::new(start, bytes)).count();
        self.targets.push((target, count));
    }

    /// Its tokens, each with the target and the number there.
    pub(super) fn delivered(self) -> impl Iterator<Item = (Target, u64, Token)> {
        let targets = self.targets.into_iter();
        let places = targets.flat_map(|(target, count)| (0..count).map(move |at| (target, at)));
        let tokens = places.zip(self.tokens);
        tokens.map(|((target, at), value)| (target, at as u64, value))
    }
}

/// The content of all drives, and what commands carry to them and back.
#[derive(Debug)]
pub(crate) struct DriveTokens {
    /// By drive.
    media: Table<DriveId, Medium>,
    /// By command.
    payloads: HashMap<IoId, Payload>,
    /// How much of a write has reached the medium when the power fails.
    torn: Stream,
}

impl DriveTokens {
    /// Nothing has been written yet.
    pub(super) fn new(seed: u64, drives: usize) -> DriveTokens {
        DriveTokens {
            media: (0..drives).map(|_| Medium::default()).collect(),
            payloads: HashMap::new(),
            torn: Stream::new(seed, "data", "torn writes"),
        }
    }

    /// A command is about to go, with `bytes` bytes more for a target; a write's data go with it,
    /// from the tokens of its job's stripe.
    pub(super) fn attach(
        &mut self,
        command: IoId,
        target: Target,
        stripe: Option<&StripeTokens>,
        bytes: u64,
    ) {
        let payload = self.payloads.entry(command).or_default();
        payload.add(target, stripe, bytes);
    }

    /// What a command carries.
    pub(super) fn take(&mut self, command: IoId) -> Option<Payload> {
        self.payloads.remove(&command)
    }

    /// The power has failed: no command is under way.
    pub(super) fn power_failed(&mut self) {
        self.payloads.clear();
    }

    /// A command is at the medium.
    pub fn at_medium(&mut self, command: IoId, op: Op, drive: DriveId, range: ByteRange) {
        let Some(payload) = self.payloads.get_mut(&command) else {
            return;
        };
        let medium = &mut self.media[drive];
        for (at, sector) in sectors(range).enumerate() {
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
            let medium = &mut self.media[drive];
            for (at, &value) in payload.tokens.iter().enumerate() {
                medium.cache(offset / SECTOR + at as u64, value);
            }
        }
    }

    /// The present content of a range in a drive's volatile cache is on the medium
    /// from `at` on.
    pub fn write_back(&mut self, drive: DriveId, range: ByteRange, at: Time, now: Time) {
        self.media[drive].write_back(range, at, now);
    }

    /// A drive's volatile cache loses its content. Returns the sectors that have older content now.
    pub fn drive_loses_power(&mut self, drive: DriveId, now: Time) -> Vec<u64> {
        self.media[drive].lose_power(now)
    }

    /// The power fails while a write is in flight: some of its sectors, from the first on, may
    /// have reached the medium.
    pub fn tear(&mut self, command: IoId, drive: DriveId, offset: u64) {
        if let Some(payload) = self.payloads.remove(&command) {
            let reached = self.torn.below(payload.tokens.len() as u64 + 1) as usize;
            for (at, &value) in payload.tokens.iter().take(reached).enumerate() {
                let sector = offset / SECTOR + at as u64;
                self.media[drive].write(sector, value);
            }
        }
    }

    /// A command's data are dropped.
    pub fn drop_payload(&mut self, command: IoId) {
        self.payloads.remove(&command);
    }

    /// A drive is replaced by an empty one.
    pub fn empty(&mut self, drive: DriveId) {
        self.media[drive] = Medium::default();
    }

    /// The token that a drive has at an offset.
    pub fn content(&self, drive: DriveId, offset: u64) -> Token {
        self.media[drive].read(offset / SECTOR)
    }
}
