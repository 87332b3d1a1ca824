//! Reads: firmware, then one operation for each page set that holds a part of the data.

use super::Ssd;
use super::mapping::NONE;
use super::nand::ReadTimes;
use crate::Port;
use raidlab_kernel::{Io, IoId, Op, Part, Time};

/// When the data of a read are there, and what the last of them met.
pub(super) struct Gathered {
    first: Time,
    last: Time,
    critical: Option<ReadTimes>,
}

impl Gathered {
    /// Nothing from NAND: what the buffer has is there from `first` to `last`.
    #[inline]
    pub(super) fn nothing(first: Time, last: Time) -> Gathered {
        Gathered {
            first,
            last,
            critical: None,
        }
    }
}

/// Bytes that error correction takes together: a part of a page is read in as many of them as hold
/// it. Assumed; those of drives lie between 1 and 4 KiB.
const CODEWORD: u64 = 4096;

/// Bytes of a command's first and last unit that stay in the dies' registers.
#[derive(Clone, Copy, Default)]
struct Spared {
    head: u32,
    tail: u32,
}

/// What a read follows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Follows {
    /// True if it goes on where the last read ended, and nothing else is in the drive.
    alone: bool,
    /// The stream that it goes on with, however many commands are in the drive.
    stream: Option<usize>,
}

impl Follows {
    /// Nothing: a command of another kind.
    pub(super) const NOTHING: Follows = Follows {
        alone: false,
        stream: None,
    };
}

impl Ssd {
    pub(super) fn read<P: Port>(&mut self, port: &mut P, id: IoId) {
        let now = port.now();
        let (offset, bytes) = {
            let io = port.io(id);
            (io.offset, io.bytes)
        };
        let (first, count) = self.units(offset, bytes);
        self.read_bytes += bytes;
        let met = self.read_streams.meet(offset, bytes);
        let served = self.firmware.process(Op::Read, count, met.looked_up, now);
        let ready = served.end + self.firmware.latency(Op::Read, count);
        let alone = self.last_done <= now && !self.buffer.makes_wait();
        let follows = Follows {
            alone: alone && offset == self.next_byte,
            stream: met.stream,
        };
        self.next_byte = offset + bytes;
        let io = port.io(id);
        io.charge(Part::Queue, served.start);
        io.charge(Part::Overhead, ready);
        if self.look_ups.is_some() && self.waits_for_map(port, id, (first, count), ready, follows) {
            return;
        }
        self.read_data(port, id, (first, count), ready, follows);
    }

    /// Reads the data of a command that is ready for NAND at `ready`.
    #[inline(always)]
    pub(super) fn read_data<P: Port>(
        &mut self,
        port: &mut P,
        id: IoId,
        (first, count): (u32, u32),
        ready: Time,
        follows: Follows,
    ) {
        // A read of a whole page set or more needs no memory for the rest of it.
        let small = count < self.translation.shape().units_per_set;
        let mut stream = follows.stream.filter(|_| small && self.params.keeps_pages);
        let (mut ahead, mut buffered) = (0, Gathered::nothing(Time::NEVER, ready));
        if let Some(prefetch) = &mut self.prefetch {
            prefetch.observe(follows.alone);
            (ahead, buffered) = prefetch.ahead.take(first, count, ready);
            // What the stream will want is read ahead anyway.
            stream = stream.filter(|_| !prefetch.follows_a_stream());
        }
        if let Some(stream) = stream.filter(|_| ahead == 0) {
            (ahead, buffered) = self.read_streams.kept(stream).take(first, count, ready);
        }
        let gathered = if ahead == count {
            buffered
        } else {
            let mut spared = self.spared(port.io(id));
            if ahead > 0 {
                spared.head = 0;
            }
            let mut rest = self.gather(first + ahead, count - ahead, spared, ready);
            rest.first = rest.first.min(buffered.first);
            if rest.last < buffered.last {
                rest.last = buffered.last;
                rest.critical = None;
            }
            rest
        };
        let io = port.io(id);
        if let Some(stream) = stream {
            let (next, _) = self.unit_of(io.offset + io.bytes);
            self.read_on(stream, next, ready);
        }
        if let Some(times) = gathered.critical {
            io.charge(Part::Queue, times.reads_before);
            let wait = if times.behind_collection {
                Part::GarbageCollection
            } else {
                Part::NandProgram
            };
            io.charge(wait, times.start);
            io.charge(Part::NandRead, times.sensed);
            io.charge(Part::Queue, times.transfer_start);
            io.charge(Part::Transfer, times.end);
        }
        io.charge(Part::Cache, gathered.last);
        let lead = gathered.last.since(gathered.first.max(ready));
        let mut done = gathered.last;
        let mut lead = lead;
        if let Some(served) = self.firmware.finish(count, gathered.last) {
            io.charge_stay(Part::Queue, Part::Overhead, served);
            (done, lead) = (served.end, served.end - served.start);
        }
        self.finish(port, id, done, lead);
        if self.prefetch.is_some() {
            self.read_ahead(done);
        }
    }

    /// What the host has not asked for of the units that it reads.
    #[inline]
    fn spared(&self, io: &Io) -> Spared {
        let unit = u64::from(self.params.unit_bytes);
        let whole_units = self.params.sector_mapping || self.params.compression.is_some();
        if unit <= CODEWORD || whole_units {
            return Spared::default();
        }
        let end = io.offset + io.bytes;
        let whole = |bytes: u64| (bytes / CODEWORD * CODEWORD) as u32;
        Spared {
            head: whole(io.offset % unit),
            tail: whole((unit - end % unit) % unit),
        }
    }

    /// Reads units from NAND, or from the write buffer what has not got there yet.
    #[inline(always)]
    fn gather(&mut self, first: u32, count: u32, spared: Spared, at: Time) -> Gathered {
        let mut gathered = Gathered::nothing(Time::NEVER, at);
        let end = (first + count).min(self.translation.map.units());
        let mut unit = first;
        while unit < end {
            let slot = self.translation.map.find(unit).slot;
            let mut left_out = if unit == first { spared.head } else { 0 };
            unit += 1;
            if slot == NONE {
                gathered.first = gathered.first.min(at);
                continue;
            }
            let set = self.translation.set(slot);
            let per_set = self.translation.shape().units_per_set;
            let slots = set * per_set..(set + 1) * per_set;
            let mut together = 1;
            while unit < end && together < per_set {
                if !slots.contains(&self.translation.map.find(unit).slot) {
                    break;
                }
                together += 1;
                unit += 1;
            }
            let (die, within) = self.translation.locate(set);
            if self.is_buffered(die, set) {
                gathered.first = gathered.first.min(at);
                continue;
            }
            if unit == end {
                left_out += spared.tail;
            }
            let times = self
                .nand
                .read(die, within, Some(set), together, left_out, at);
            gathered.first = gathered.first.min(times.end);
            if times.end > gathered.last {
                gathered.last = times.end;
                gathered.critical = Some(times);
            }
        }
        gathered.first = gathered.first.min(gathered.last);
        gathered
    }

    /// Reads ahead of a stream once the command that went before is done, at `at`.
    #[inline]
    fn read_ahead(&mut self, at: Time) {
        let following = self.prefetch.as_ref().filter(|it| it.follows_a_stream());
        let Some(prefetch) = following else {
            return;
        };
        let units = u64::from(self.translation.map.units());
        let next = self.next_byte / u64::from(self.params.unit_bytes);
        let (mut from, to) = prefetch.wanted(next, units);
        let per_set = u64::from(self.translation.shape().units_per_set);
        while from < to {
            let count = (per_set - from % per_set).min(to - from);
            let read = self.gather(from as u32, count as u32, Spared::default(), at);
            if let Some(prefetch) = &mut self.prefetch {
                (from..from + count).for_each(|unit| prefetch.ahead.put(unit, read.last));
            }
            from += count;
        }
    }

    /// Reads page sets of a stream of small reads, which goes on in unit `next`, until a set's worth
    /// of units is there beyond it: while the host takes what it asks for of one, the other comes.
    fn read_on(&mut self, stream: usize, next: u64, at: Time) {
        let per_set = self.translation.shape().units_per_set;
        let units = u64::from(self.translation.map.units());
        let to = (next + u64::from(per_set)).min(units);
        let mut unit = self.read_streams.kept(stream).end().max(next);
        while unit < to {
            let Some((set, die, within)) = self.in_nand(unit as u32) else {
                self.read_streams.kept(stream).put(unit, at);
                unit += 1;
                continue;
            };
            let times = self.nand.read(die, within, Some(set), 1, 0, at);
            let slots = set * per_set..(set + 1) * per_set;
            let kept = self.read_streams.kept(stream);
            kept.put(unit, times.end);
            unit += 1;
            while unit < units && slots.contains(&self.translation.map.find(unit as u32).slot) {
                kept.put(unit, self.nand.read_more(die, times.sensed));
                unit += 1;
            }
        }
    }

    /// The page set, die and place on it where a unit is read: none if it was never written, or the
    /// buffer has it.
    pub(super) fn in_nand(&self, unit: u32) -> Option<(u32, u32, u32)> {
        let slot = self.translation.map.find(unit).slot;
        if slot == NONE {
            return None;
        }
        let set = self.translation.set(slot);
        let (die, within) = self.translation.locate(set);
        (!self.is_buffered(die, set)).then_some((set, die, within))
    }

    /// True if the page set is on its way to NAND: its data are in the buffer.
    #[inline]
    pub(super) fn is_buffered(&self, die: u32, set: u32) -> bool {
        if self.buffer.used() == 0 {
            return false;
        }
        self.programs.are_pending(die, set) || self.translation.open_set(die) == set
    }
}
