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

/// Units of the piece of the map that a look-up brings near the core: 4 KiB of entries of four
/// bytes. Assumed, as usual for maps of 4 KiB units.
const PIECE_UNITS: u64 = 1024;

impl Ssd {
    /// Whether the part of the map that a command needs has been looked up by the last one of its
    /// kind, which ended at `last_end`: it goes on there, or begins in the same piece, as on one of
    /// two mirrors, which sees every other piece of a stream.
    pub(super) fn is_looked_up(&self, offset: u64, last_end: u64) -> bool {
        let piece = PIECE_UNITS * u64::from(self.params.unit_bytes);
        let same_piece =
            |last: u64| offset.abs_diff(last) < piece && offset / piece == last / piece;
        offset == last_end || (last_end > 0 && same_piece(last_end - 1))
    }

    pub(super) fn read<P: Port>(&mut self, port: &mut P, id: IoId) {
        let now = port.now();
        let (offset, bytes) = {
            let io = port.io(id);
            (io.offset, io.bytes)
        };
        let (first, count) = self.units(offset, bytes);
        self.read_bytes += bytes;
        let looked_up = self.is_looked_up(offset, self.next_byte);
        let served = self.firmware.process(Op::Read, count, looked_up, now);
        let ready = served.end + self.firmware.latency(Op::Read, count);
        let alone = self.last_done <= now && !self.buffer.makes_wait();
        let of_the_stream = alone && offset == self.next_byte;
        self.next_byte = offset + bytes;
        let io = port.io(id);
        io.charge(Part::Queue, served.start);
        io.charge(Part::Overhead, ready);
        if self.look_ups.is_some()
            && self.waits_for_map(port, id, (first, count), ready, of_the_stream)
        {
            return;
        }
        self.read_data(port, id, (first, count), ready, of_the_stream);
    }

    /// Reads the data of a command that is ready for NAND at `ready`.
    #[inline(always)]
    pub(super) fn read_data<P: Port>(
        &mut self,
        port: &mut P,
        id: IoId,
        (first, count): (u32, u32),
        ready: Time,
        of_the_stream: bool,
    ) {
        let (ahead, buffered) = match &mut self.prefetch {
            Some(prefetch) => {
                prefetch.observe(of_the_stream);
                prefetch.take(first, count, ready)
            }
            None => (0, Gathered::nothing(Time::NEVER, ready)),
        };
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
                (from..from + count).for_each(|unit| prefetch.fetched(unit, read.last));
            }
            from += count;
        }
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
