//! Commands that wait for a page of the map (see `map_cache`).
//!
//! The read of a map page takes its turn on a die like any other; the command goes on when the last
//! page that it needs is there. Map pages lie over the dies in turn. Changed pages that leave are
//! gathered to a page set and programmed together. The blocks of the map are taken to be emptied
//! at no cost.

use super::Ssd;
use super::map_cache::MapCache;
use super::nand::{Job, Nand};
use super::reads::Follows;
use super::token::Token;
use crate::Port;
use raidlab_kernel::{IoId, Op, Part, Time};

/// The map cache with the commands that wait for it.
#[derive(Debug)]
pub(super) struct LookUps {
    pub(super) cache: MapCache,
    /// Page bytes in mapping units as they are stored, for the transfer.
    units: u32,
    pages_per_set: u32,
    dies: u32,
    sets_per_block: u32,
    /// Changed pages that are not programmed yet.
    gathered: u32,
    /// Page sets programmed.
    pub(super) sets: u64,
    /// Commands by the number in their event; `None` for a free number.
    waiting: Vec<Option<Waiting>>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    io: IoId,
    follows: Follows,
}

impl LookUps {
    pub(super) fn new(
        cache: MapCache,
        (page_bytes, unit_bytes, set_bytes): (u32, u32, u32),
        (dies, sets_per_block): (u32, u32),
    ) -> LookUps {
        LookUps {
            cache,
            units: page_bytes.div_ceil(unit_bytes),
            pages_per_set: (set_bytes / page_bytes).max(1),
            dies,
            sets_per_block,
            gathered: 0,
            sets: 0,
            waiting: vec![None; 1024],
        }
    }

    /// The die and page set of a map page.
    fn place(&self, page: u32) -> (u32, u32) {
        (page % self.dies, page / self.dies % self.sets_per_block)
    }

    /// A changed page leaves memory: the die and set to program if a page set is full.
    fn leaves(&mut self) -> Option<(u32, Job)> {
        self.gathered += 1;
        if self.gathered < self.pages_per_set {
            return None;
        }
        self.gathered = 0;
        self.sets += 1;
        let (die, set) = self.place(self.sets as u32);
        Some((die, Job::Map { set }))
    }

    /// The map changes for a unit that is moved: jobs for the dies, handed to `add`.
    pub(super) fn moved(&mut self, unit: u32, mut add: impl FnMut(u32, Job)) {
        let (page, _) = self.cache.pages(unit, 1);
        let look = self.cache.look(page, true);
        if look.read {
            let (die, set) = self.place(page);
            let units = self.units;
            add(die, Job::CollectRead { set, units });
        }
        if let Some((die, job)) = look.program.then(|| self.leaves()).flatten() {
            add(die, job);
        }
    }

    /// When all map pages of a command that is ready at `at` are in memory.
    fn look_up(
        &mut self,
        (first, count): (u32, u32),
        changes: bool,
        at: Time,
        nand: &mut Nand,
        mut add: impl FnMut(&mut Nand, u32, Job),
    ) -> Time {
        let (from, to) = self.cache.pages(first, count);
        let mut there = at;
        for page in from..=to {
            let look = self.cache.look(page, changes);
            there = there.max(look.ready);
            if look.read {
                let (die, set) = self.place(page);
                let end = nand.read(die, set, None, self.units, 0, at).end;
                self.cache.comes(page, end);
                there = there.max(end);
            }
            if let Some((die, job)) = look.program.then(|| self.leaves()).flatten() {
                add(nand, die, job);
            }
        }
        there
    }

    fn park(&mut self, waiting: Waiting) -> u32 {
        let free = self.waiting.iter().position(Option::is_none);
        let at = free.unwrap_or(self.waiting.len());
        if free.is_none() {
            self.waiting.push(None);
        }
        self.waiting[at] = Some(waiting);
        at as u32
    }
}

impl Ssd {
    /// True if a command, ready at `at`, has to wait for map pages; it goes on by an event then.
    #[cold]
    pub(super) fn waits_for_map<P: Port>(
        &mut self,
        port: &mut P,
        io: IoId,
        (first, count): (u32, u32),
        at: Time,
        follows: Follows,
    ) -> bool {
        let Some(look_ups) = &mut self.look_ups else {
            return false;
        };
        let changes = port.io(io).op == Op::Write;
        let now = port.now();
        let there = look_ups.look_up(
            (first, count),
            changes,
            at,
            &mut self.nand,
            |nand, die, job| {
                if let Some(at) = nand.add(die, job, now) {
                    port.wake(at, Token::Die(die).into());
                }
            },
        );
        if there <= at {
            return false;
        }
        let number = look_ups.park(Waiting { io, follows });
        port.wake(there, Token::LookedUp(number).into());
        true
    }

    /// The map pages of a command have come.
    pub(super) fn looked_up<P: Port>(&mut self, port: &mut P, number: u32) {
        let now = port.now();
        let Some(look_ups) = &mut self.look_ups else {
            return;
        };
        let Some(waited) = look_ups.waiting[number as usize].take() else {
            return;
        };
        let record = port.io(waited.io);
        record.charge(Part::NandRead, now);
        let (op, offset, bytes) = (record.op, record.offset, record.bytes);
        let (first, count) = self.units(offset, bytes);
        match op {
            Op::Write => self.enter_buffer(port, waited.io, count, now),
            _ => self.read_data(port, waited.io, (first, count), now, waited.follows),
        }
    }
}
