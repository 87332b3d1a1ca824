//! An SLC cache: blocks whose cells hold one bit take what the host writes until they are full.
//!
//! A page set of the host is programmed in SLC mode while its die has room, and as usual (or after
//! an older one has been folded) when it has none. Folding reads a page set and programs it again
//! with all bits of the cells. A die that has programmed nothing for `idle_ns` folds one set after
//! the other; reads interrupt that, and neither waits for the other. It is reckoned when the die
//! has a job again, so it costs no event.

use crate::ssd::nand::die::Die;
use crate::ssd::nand::params::{NandParams, SlcCacheParams, WhenFull};
use raidlab_kernel::{Nanos, Spells, Time};

/// A cache that had room for less than this time in between was full all the while.
const FULL: Nanos = Nanos(1_000_000_000);

/// The cache of all dies, which have even parts of it.
#[derive(Debug)]
pub(super) struct SlcCache {
    /// Page sets of a die.
    room: u32,
    program: Nanos,
    idle: Nanos,
    when_full: WhenFull,
    /// What folding a page set takes.
    fold: Nanos,
    /// Page sets folded so far.
    pub(super) folded: u64,
    /// When it had no room for what the host wrote.
    pub(super) full: Spells,
}

impl SlcCache {
    /// The empty cache of a drive, beside data in `mapped_share` of its NAND. `fold` is what folding
    /// a page set of `set_bytes` takes.
    pub(super) fn new(
        params: &SlcCacheParams,
        nand: &NandParams,
        set_bytes: u32,
        mapped_share: f64,
        fold: Nanos,
    ) -> SlcCache {
        let dies = u64::from(nand.channels * nand.dies_per_channel);
        let sets = u64::from(nand.blocks_per_plane) * u64::from(nand.pages_per_block) * dies;
        let bits = nand.program_ns.len().max(1) as f64;
        let empty = sets as f64 * (1.0 - mapped_share).max(0.0) / bits * f64::from(set_bytes);
        let bytes = params.fixed_bytes + params.dynamic_bytes.min(empty as u64);
        SlcCache {
            room: (bytes / u64::from(set_bytes) / dies) as u32,
            program: params.program_ns,
            idle: params.idle_ns,
            when_full: params.when_full,
            fold,
            folded: 0,
            full: Spells::new(FULL),
        }
    }

    /// Page sets of a die that it holds at most.
    pub(super) fn room(&self) -> u32 {
        self.room
    }

    /// True if a die has room for one more page set.
    pub(super) fn has_room(&self, die: &Die) -> bool {
        die.in_slc < self.room
    }

    /// What programming a page set of the host takes from `start` on, where it takes `usual` without
    /// a cache.
    pub(super) fn program(&mut self, die: &mut Die, usual: Nanos, start: Time) -> Nanos {
        if self.has_room(die) {
            die.in_slc += 1;
            return self.program;
        }
        let took = match self.when_full {
            WhenFull::Fold if self.room > 0 => {
                self.folded += 1;
                self.fold + self.program
            }
            _ => usual,
        };
        if self.room > 0 {
            self.full.add(start, start + took);
        }
        took
    }

    /// What a die has folded since it has no job, which ends at `now`.
    #[cold]
    pub(super) fn recover(&mut self, die: &mut Die, now: Time) {
        if die.in_slc > 0 && die.job.is_none() {
            let since = die.job_end.max(die.folded_at) + self.idle;
            let folded = (now.since(since).0 / self.fold.0.max(1)).min(u64::from(die.in_slc));
            die.folded_at = now;
            die.in_slc -= folded as u32;
            die.busy += Nanos(folded * self.fold.0);
            self.folded += folded;
        }
    }
}
