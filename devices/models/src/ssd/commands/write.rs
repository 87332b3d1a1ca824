//! Writes: firmware, then the write buffer.

use crate::port::Port;
use crate::ssd::buffer::WaitingWrite;
use crate::ssd::buffer::prefilled::Prefilled;
use crate::ssd::drive::Ssd;
use crate::ssd::firmware::streams::Follows;
use crate::ssd::front::Front;
use crate::ssd::ids::{NandSlot, UnitId};
use raidlab_io::{IoId, Op, Part};
use raidlab_kernel::{Nanos, Time};

impl<F: Front> Ssd<F> {
    pub(super) fn write<P: Port>(&mut self, port: &mut P, id: IoId) {
        let now = port.now();
        let range = port.io(id).range();
        if let Some(prefilled) = self.prefilled.take() {
            self.fill_buffer(port, *prefilled);
        }
        let (first, units) = self.units(range);
        let met = self.write_streams.meet(range);
        let (firmware, front) = (&mut self.firmware, &mut self.front);
        let served = firmware.process(front, Op::Write, units, met.piece, now);
        let processed = served.end + self.firmware.latency(Op::Write, units);
        // The write does not wait for it, as its data go to the buffer.
        self.back_end_needed(now, processed);
        let io = port.io(id);
        io.charge(Part::Queue, served.start);
        io.charge(Part::Overhead, processed);
        if self.demand_map.is_some()
            && self.waits_for_map(port, id, (first, units), processed, Follows::NOTHING)
        {
            return;
        }
        self.enter_buffer(port, id, units, processed);
    }

    /// The buffer takes a write whose processing ends at `processed`, or the write waits for room.
    #[inline]
    pub(super) fn enter_buffer<P: Port>(
        &mut self,
        port: &mut P,
        id: IoId,
        units: u32,
        processed: Time,
    ) {
        if self.store.buffer.waiting.is_empty() && self.store.buffer.has_room(units) {
            self.take(port, id, processed);
        } else {
            self.store.buffer.waiting.push_back(WaitingWrite {
                io: id,
                units,
                processed,
                before: self.store.nand.work,
            });
        }
    }

    /// Fills the buffer with what was written until the run began, and counts from here on.
    #[cold]
    fn fill_buffer<P: Port>(&mut self, port: &mut P, mut prefilled: Prefilled) {
        let end = self.store.translation.map.units();
        self.front.prefill_begins();
        for unit in prefilled.units(self.store.buffer.capacity()) {
            self.buffer_unit(port, UnitId::new(unit.min(end - 1)));
        }
        self.front.prefill_ends();
        self.firmware.cores.set_free();
        self.store.translation.reset_counts();
        self.store.programs.reset_counts();
    }

    /// A unit that the host has written comes into the buffer, and may complete a page set.
    #[inline]
    fn buffer_unit<P: Port>(&mut self, port: &mut P, unit: UnitId) {
        let unit = self.store.translation.map.find(unit);
        if unit.slot != NandSlot::NONE {
            let set = self.store.translation.space.set(unit.slot);
            let (die, _) = self.store.translation.space.locate(set);
            if self.store.is_buffered(die, set) {
                // New data take the place of those in the buffer.
                self.store.programs.overwritten += 1;
                return;
            }
        }
        let (translation, mut jobs) = self.jobs(port);
        let die = translation.current_die();
        jobs.programs.open_units[die] += 1;
        jobs.buffer.take(1);
        translation.write_over(unit, &mut jobs);
    }

    /// The buffer takes a write's data.
    fn take<P: Port>(&mut self, port: &mut P, id: IoId, processed: Time) {
        let now = port.now();
        let range = port.io(id).range();
        let (first, count) = self.units(range);
        let first = first.number();
        let end = (first + count).min(self.store.translation.map.units());
        self.host_bytes += range.bytes;
        self.store.programs.taken += u64::from(end.saturating_sub(first));
        if !self.front.maps_sectors() {
            let cut = (
                self.addressing.cut(range.offset),
                self.addressing.cut(range.end()),
            );
            self.store.read_partial_units(cut, now);
        }
        if self.params.is_volatile() {
            port.holds(id);
        }
        for unit in first..end {
            self.buffer_unit(port, UnitId::new(unit));
        }
        if self.store.translation.is_stuck() {
            port.fails();
        }
        let forced = port.io(id).fua && self.params.is_volatile();
        if self.params.buffer.write_through || forced {
            self.pad(port);
            if self.store.buffer.wait_until_durable(id) {
                return;
            }
        }
        if forced {
            return self.forced(port, id, processed.max(now));
        }
        self.complete_write(port, id, processed.max(now));
    }

    /// The data of a write with FUA are in NAND at `at`: the changes of the map follow.
    pub(super) fn forced<P: Port>(&mut self, port: &mut P, id: IoId, at: Time) {
        let end = self.flushes.forced(self.store.programs.taken, at);
        port.io(id).charge(Part::NandProgram, end);
        self.complete_write(port, id, end);
    }

    /// The data of a write are in the buffer at `taken`. The write is complete then, or later where
    /// it waits for garbage collection.
    #[inline]
    pub(super) fn complete_write<P: Port>(&mut self, port: &mut P, id: IoId, taken: Time) {
        let Some(done) = self.front.throttled(taken) else {
            return self.finish(port, id, taken, Nanos::ZERO);
        };
        port.io(id).charge(Part::GarbageCollection, done);
        // The data path is free meanwhile: a turnaround need not wait for this.
        self.last_done = self.last_done.max(taken);
        port.done(id, done, Nanos::ZERO);
    }

    /// Programs the open page set as it is.
    pub(super) fn pad<P: Port>(&mut self, port: &mut P) {
        let (translation, mut jobs) = self.jobs(port);
        translation.pad(&mut jobs);
    }

    /// Takes the writes for which there is room now. Their wait is charged to garbage collection by
    /// its share of what the dies did meanwhile.
    pub(super) fn take_waiting<P: Port>(&mut self, port: &mut P, now: Time) {
        let before = self.store.buffer.waiting.len();
        while let Some(&write) = self.store.buffer.waiting.front() {
            if !self.store.buffer.has_room(write.units) {
                break;
            }
            self.store.buffer.waiting.pop_front();
            self.store.charge_wait(port, &write, now);
            self.take(port, write.io, write.processed);
        }
        self.prefetch_waiting(port, before - self.store.buffer.waiting.len());
    }

    /// Prefetches tables for the writes that wait. Most of a write's time is spent waiting for
    /// memory. As many writes as the buffer `took` now will probably be taken next, so their
    /// entries are prefetched; for as many behind them, what says where the entries are.
    #[inline]
    fn prefetch_waiting<P: Port>(&self, port: &mut P, took: usize) {
        for (place, write) in self.store.buffer.waiting.iter().take(2 * took).enumerate() {
            let io = port.io(write.io);
            let (unit, _) = self.units(io.range());
            if place < took {
                self.store.translation.prefetch(unit);
            } else {
                self.store.translation.prefetch_layout(unit);
            }
        }
    }
}
