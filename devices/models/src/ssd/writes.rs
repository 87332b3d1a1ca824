//! Writes: firmware, the buffer, and what leaves it for NAND.

use super::Ssd;
use super::allocation::Origin;
use super::buffer::{Buffer, WaitingWrite};
use super::firmware::Firmware;
use super::latest::Latest;
use super::look_ups::LookUps;
use super::mapping::NONE;
use super::nand::{Job, Nand};
use super::pace::Pace;
use super::reads::Follows;
use super::token::Token;
use super::translation::Work;
use crate::Port;
use raidlab_kernel::{IoId, Nanos, Op, Part, Time};
use std::collections::VecDeque;

/// Programs on their way.
#[derive(Debug)]
pub(super) struct Programs {
    /// Host units that each die's open page set holds.
    pub(super) units_held: Vec<u32>,
    /// Each die's page sets with host data that are not in NAND yet.
    pub(super) pending: Vec<VecDeque<u32>>,
    /// Page sets since the last parity.
    pub(super) since_parity: u32,
    /// One page set in this many is parity; 0 for none.
    pub(super) parity_stripe: u32,
    /// Page sets of data programmed.
    pub(super) issued: u64,
    /// Page sets of parity programmed.
    pub(super) parities: u64,
    /// Units that the buffer took from the host.
    pub(super) taken: u64,
    /// Units of them that replaced older data in the buffer, which NAND never saw.
    pub(super) overwritten: u64,
    /// Units read because a write covered a part of them.
    pub(super) partial_reads: u64,
}

impl Programs {
    /// True if a page set of a die is on its way to NAND.
    #[inline]
    pub(super) fn are_pending(&self, die: u32, set: u32) -> bool {
        // All are looked at: a loop that does not stop early compares several at once.
        let among = |sets: &[u32]| {
            sets.iter()
                .fold(false, |found, &other| found | (other == set))
        };
        let (older, newer) = self.pending[die as usize].as_slices();
        among(older) | among(newer)
    }
}

/// Turns what the translation layer decides into jobs of the dies.
struct Jobs<'a, P> {
    port: &'a mut P,
    nand: &'a mut Nand,
    firmware: &'a mut Firmware,
    pace: Option<&'a mut Pace>,
    buffer: &'a mut Buffer,
    programs: &'a mut Programs,
    look_ups: Option<&'a mut LookUps>,
    sets_per_block: u32,
    dies: u32,
}

/// The jobs' view of a drive, beside its translation layer.
macro_rules! jobs {
    ($ssd:ident, $port:ident) => {
        Jobs {
            port: $port,
            nand: &mut $ssd.nand,
            firmware: &mut $ssd.firmware,
            pace: $ssd.pace.as_mut(),
            buffer: &mut $ssd.buffer,
            programs: &mut $ssd.programs,
            look_ups: $ssd.look_ups.as_deref_mut(),
            sets_per_block: $ssd.translation.shape().sets_per_block,
            dies: $ssd.translation.shape().dies,
        }
    };
}

/// Background collection's clock on each die.
#[derive(Debug)]
pub(super) struct Background {
    /// When the last step began, `Time::NEVER` if there was none since the last rest.
    since: Vec<Time>,
    /// Until when a die rests.
    rest: Vec<Time>,
    waked: Vec<bool>,
    /// Rest for each nanosecond of work.
    rest_ratio: f64,
    pub(super) started: bool,
}

impl Background {
    pub(super) fn new(dies: u32, share: f64) -> Background {
        Background {
            since: vec![Time::NEVER; dies as usize],
            rest: vec![Time::ZERO; dies as usize],
            waked: vec![false; dies as usize],
            rest_ratio: 1.0 / share - 1.0,
            started: false,
        }
    }

    /// How long a die rests that found nothing: as after a step of a program.
    fn pause(&self) -> Nanos {
        Nanos((1e6 * self.rest_ratio.max(1.0)) as u64)
    }

    /// Until when the die must rest, if it must.
    fn rest(&mut self, die: usize, now: Time) -> Option<Time> {
        let since = std::mem::replace(&mut self.since[die], Time::NEVER);
        if since != Time::NEVER {
            let work = now.since(since);
            let rest = Nanos((work.0 as f64 * self.rest_ratio) as u64);
            self.rest[die] = now + rest;
        }
        Some(self.rest[die]).filter(|&until| until > now)
    }
}

impl<P: Port> Jobs<'_, P> {
    #[inline]
    fn add(&mut self, die: u32, job: Job) {
        let now = self.port.now();
        if let Some(at) = self.nand.add(die, job, now) {
            self.port.wake(at, Token::Die(die).into());
        }
    }
}

impl<P: Port> Work for Jobs<'_, P> {
    fn program(&mut self, die: u32, origin: Origin, set: u32) {
        let index = die as usize;
        let host = origin == Origin::Host;
        let host_units = if host {
            std::mem::take(&mut self.programs.units_held[index])
        } else {
            0
        };
        let sequence = self.buffer.program_issued();
        if host_units > 0 {
            self.programs.pending[index].push_back(set);
        }
        self.programs.issued += 1;
        self.add(
            die,
            Job::Program {
                set: set % self.sets_per_block,
                host_units,
                host,
                sequence,
            },
        );
        self.programs.since_parity += 1;
        if self.programs.parity_stripe > 0
            && self.programs.since_parity == self.programs.parity_stripe - 1
        {
            self.programs.since_parity = 0;
            self.programs.parities += 1;
            let set = set % self.sets_per_block;
            self.add((die + 1) % self.dies, Job::Parity { set });
        }
    }

    fn collect_read(&mut self, die: u32, set: u32, units: u32) {
        let set = set % self.sets_per_block;
        let now = self.port.now();
        self.firmware.moves(units, now);
        if let Some(pace) = &mut self.pace {
            pace.move_set(self.nand.moving_time(set, units), now);
        }
        self.add(die, Job::CollectRead { set, units });
    }

    fn erase(&mut self, die: u32) {
        self.add(die, Job::Erase);
    }

    #[inline]
    fn follows_map(&self) -> bool {
        self.look_ups.is_some()
    }

    fn moved(&mut self, unit: u32) {
        let now = self.port.now();
        if let Some(look_ups) = &mut self.look_ups {
            look_ups.moved(unit, |die, job| {
                if let Some(at) = self.nand.add(die, job, now) {
                    self.port.wake(at, Token::Die(die).into());
                }
            });
        }
    }
}

impl Ssd {
    /// True if writes are told to be complete while only the buffer has them, and the buffer
    /// forgets them when the power fails.
    fn is_volatile(&self) -> bool {
        let buffer = &self.params.buffer;
        !buffer.protected && !buffer.write_through
    }

    pub(super) fn write<P: Port>(&mut self, port: &mut P, id: IoId) {
        let now = port.now();
        let (offset, bytes) = {
            let io = port.io(id);
            (io.offset, io.bytes)
        };
        if let Some(latest) = self.latest.take() {
            self.fill_buffer(port, *latest);
        }
        let (_, units) = self.units(offset, bytes);
        let met = self.write_streams.meet(offset, bytes);
        let served = self.firmware.process(Op::Write, units, met.looked_up, now);
        let processed = served.end + self.firmware.latency(Op::Write, units);
        let io = port.io(id);
        io.charge(Part::Queue, served.start);
        io.charge(Part::Overhead, processed);
        if self.look_ups.is_some() {
            let (first, units) = self.units(offset, bytes);
            if self.waits_for_map(port, id, (first, units), processed, Follows::NOTHING) {
                return;
            }
        }
        self.enter_buffer(port, id, units, processed);
    }

    /// A write whose processing ends at `processed` is taken, or waits for room in the buffer.
    #[inline]
    pub(super) fn enter_buffer<P: Port>(
        &mut self,
        port: &mut P,
        id: IoId,
        units: u32,
        processed: Time,
    ) {
        if self.buffer.waiting.is_empty() && self.buffer.has_room(units) {
            self.take(port, id, processed);
        } else {
            self.buffer.waiting.push_back(WaitingWrite {
                io: id,
                units,
                processed,
                before: self.nand.work,
            });
        }
    }

    /// Fills the buffer with what was written until the run began, and counts from here on.
    #[cold]
    fn fill_buffer<P: Port>(&mut self, port: &mut P, mut latest: Latest) {
        let end = self.translation.map.units();
        // NAND has these still to do; the cores and the pace of collection let them through before.
        let pace = self.pace.take();
        for unit in latest.units(self.buffer.capacity()) {
            self.buffer_unit(port, unit.min(end - 1));
        }
        self.pace = pace;
        self.firmware.set_free();
        self.translation.reset_counts();
        self.programs.issued = 0;
        self.programs.parities = 0;
        self.programs.overwritten = 0;
    }

    /// A unit that the host has written comes into the buffer, and may complete a page set.
    #[inline]
    fn buffer_unit<P: Port>(&mut self, port: &mut P, unit: u32) {
        let unit = self.translation.map.find(unit);
        if unit.slot != NONE {
            let set = self.translation.set(unit.slot);
            let (die, _) = self.translation.locate(set);
            if self.is_buffered(die, set) {
                // New data take the place of those in the buffer.
                self.programs.overwritten += 1;
                return;
            }
        }
        let mut jobs = jobs!(self, port);
        let die = self.translation.current_die();
        jobs.programs.units_held[die as usize] += 1;
        jobs.buffer.take(1);
        self.translation.write_over(unit, &mut jobs);
    }

    /// The buffer takes a write's data.
    fn take<P: Port>(&mut self, port: &mut P, id: IoId, processed: Time) {
        let now = port.now();
        let (offset, bytes) = {
            let io = port.io(id);
            (io.offset, io.bytes)
        };
        let (first, count) = self.units(offset, bytes);
        let end = (first + count).min(self.translation.map.units());
        self.host_bytes += bytes;
        self.programs.taken += u64::from(end.saturating_sub(first));
        if !self.params.sector_mapping {
            self.read_partial_units(offset, bytes, now);
        }
        if self.is_volatile() {
            port.holds(id);
        }
        for unit in first..end {
            self.buffer_unit(port, unit);
        }
        if self.translation.is_stuck() {
            port.fails();
        }
        if self.params.buffer.write_through {
            self.pad(port);
            if self.buffer.wait_until_durable(id) {
                return;
            }
        }
        self.complete_write(port, id, processed.max(now));
    }

    /// A write is taken at `taken`, and complete when the pace of collection lets it through.
    #[inline]
    fn complete_write<P: Port>(&mut self, port: &mut P, id: IoId, taken: Time) {
        let Some(pace) = &self.pace else {
            return self.finish(port, id, taken, Nanos::ZERO);
        };
        let done = pace.let_through(taken);
        port.io(id).charge(Part::GarbageCollection, done);
        // The path of the data is free meanwhile: a turn need not wait for this.
        self.last_done = self.last_done.max(taken);
        port.done(id, done, Nanos::ZERO);
    }

    /// Reads the rest of the units that a write covers only in part. The die works for it; the
    /// write itself does not wait, as its data are in the buffer.
    fn read_partial_units(&mut self, offset: u64, bytes: u64, now: Time) {
        let cut = |byte| {
            let (unit, within) = self.unit_of(byte);
            (within != 0).then_some(unit)
        };
        let (head, tail) = (cut(offset), cut(offset + bytes));
        let tail = tail.filter(|&unit| Some(unit) != head);
        for unit in head.into_iter().chain(tail) {
            if unit >= u64::from(self.translation.map.units()) {
                continue;
            }
            if let Some((set, die, within)) = self.in_nand(unit as u32) {
                self.nand.read(die, within, Some(set), 1, 0, now);
                self.programs.partial_reads += 1;
            }
        }
    }

    /// Programs the open page set as it is.
    pub(super) fn pad<P: Port>(&mut self, port: &mut P) {
        let mut jobs = jobs!(self, port);
        self.translation.pad(&mut jobs);
    }

    /// A die has ended a job, or may begin one.
    pub(super) fn die_event<P: Port>(&mut self, port: &mut P, die: u32) {
        let now = port.now();
        let (ended, next) = self.nand.turn(die, now);
        if let Some(at) = next {
            port.wake(at, Token::Die(die).into());
        }
        if let Some(Job::Program {
            host_units,
            sequence,
            ..
        }) = ended
        {
            self.buffer.program_ended(sequence);
            if host_units > 0 {
                let set = self.programs.pending[die as usize].pop_front();
                if let Some(set) = set.filter(|_| port.listens() && self.is_volatile()) {
                    for unit in self.translation.units_of(set) {
                        let bytes = u64::from(self.params.unit_bytes);
                        port.settles(u64::from(unit) * bytes, bytes, now);
                    }
                }
                self.buffer.release(host_units);
                self.take_waiting(port, now);
                self.next_turn(port);
            }
            while let Some(io) = self.buffer.next_durable() {
                port.io(io).charge(Part::NandProgram, now);
                let record = port.io(io);
                let (op, at) = (record.op, record.mark);
                match op {
                    Op::Write => self.complete_write(port, io, at),
                    _ => self.finish(port, io, at, Nanos::ZERO),
                }
            }
        }
        if next.is_none() && self.background.is_some() {
            self.background_event(port, die);
        }
    }

    /// A die that has nothing to do collects in the background, and rests between the steps so
    /// that it spends no more than its share on that.
    pub(super) fn background_event<P: Port>(&mut self, port: &mut P, die: u32) {
        let now = port.now();
        let Some(background) = &mut self.background else {
            return;
        };
        if self.nand.is_awake(die) {
            return;
        }
        if let Some(until) = background.rest(die as usize, now) {
            if !background.waked[die as usize] {
                background.waked[die as usize] = true;
                port.wake(until, Token::Rested(die).into());
            }
            return;
        }
        background.since[die as usize] = now;
        let mut jobs = jobs!(self, port);
        let found = self.translation.collect_in_background(die, &mut jobs);
        if !found && self.translation.wants_free_blocks(die) {
            // Nothing worth emptying among the candidates: it looks again later.
            let Some(background) = &mut self.background else {
                return;
            };
            background.since[die as usize] = Time::NEVER;
            if !background.waked[die as usize] {
                background.waked[die as usize] = true;
                port.wake(now + background.pause(), Token::Rested(die).into());
            }
        }
    }

    /// The wake of a die that rested.
    pub(super) fn rested<P: Port>(&mut self, port: &mut P, die: u32) {
        if let Some(background) = &mut self.background {
            background.waked[die as usize] = false;
        }
        self.background_event(port, die);
    }

    /// Takes the writes that now find room. Their waiting is charged to garbage collection by
    /// its share of what the dies did meanwhile.
    fn take_waiting<P: Port>(&mut self, port: &mut P, now: Time) {
        let before = self.buffer.waiting.len();
        while let Some(&write) = self.buffer.waiting.front() {
            if !self.buffer.has_room(write.units) {
                break;
            }
            self.buffer.waiting.pop_front();
            let all = self.nand.work.all - write.before.all;
            let collection = self.nand.work.collection - write.before.collection;
            let io = port.io(write.io);
            let wait = now.since(io.mark);
            if all > Nanos::ZERO {
                let share = u128::from(wait.0) * u128::from(collection.0) / u128::from(all.0);
                io.charge(Part::GarbageCollection, io.mark + Nanos(share as u64));
            }
            io.charge(Part::NandProgram, now);
            self.take(port, write.io, write.processed);
        }
        // Most of what a write takes is waiting for memory: as many as went now will find theirs at
        // hand when it is their turn, and as many behind them what says which memory that is.
        let taken = before - self.buffer.waiting.len();
        for (place, write) in self.buffer.waiting.iter().take(2 * taken).enumerate() {
            let io = port.io(write.io);
            let (unit, _) = self.units(io.offset, io.bytes);
            if place < taken {
                self.translation.touch(unit);
            } else {
                self.translation.foresee(unit);
            }
        }
    }
}
