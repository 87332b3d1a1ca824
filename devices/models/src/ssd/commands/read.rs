//! Reads: firmware, then one operation for each page set that holds a part of the data.

use crate::port::Port;
use crate::ssd::commands::gather::{Gathered, Spared};
use crate::ssd::drive::Ssd;
use crate::ssd::firmware::streams::Follows;
use crate::ssd::front::Front;
use crate::ssd::ids::UnitId;
use raidlab_io::{IoId, Op, Part};
use raidlab_kernel::Time;

impl<F: Front> Ssd<F> {
    #[inline]
    pub(super) fn read<P: Port>(&mut self, port: &mut P, id: IoId) {
        let now = port.now();
        let range = port.io(id).range();
        let (first, count) = self.units(range);
        self.read_bytes += range.bytes;
        self.store.read_units.units += u64::from(count);
        let met = self.ahead.streams.meet(range);
        let (firmware, front) = (&mut self.firmware, &mut self.front);
        let served = firmware.process(front, Op::Read, count, met.piece, now);
        let taken = served.end + self.firmware.latency(Op::Read, count);
        let ready = self.back_end_needed(now, taken);
        let alone = self.is_alone(now);
        let follows = Follows {
            alone: alone && range.offset == self.ahead.next_byte,
            stream: met.stream,
        };
        self.ahead.next_byte = range.end();
        let io = port.io(id);
        io.charge(Part::Queue, served.start);
        io.charge(Part::Overhead, taken);
        io.charge(Part::Queue, ready);
        if self.demand_map.is_some() && self.waits_for_map(port, id, (first, count), ready, follows)
        {
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
        units: (UnitId, u32),
        ready: Time,
        follows: Follows,
    ) {
        let (first, count) = units;
        // A read of a whole page set or more needs no memory for the rest of it.
        let small = count < self.store.translation.space.shape().units_per_set;
        let keeps = small && self.params.keeps_pages;
        let (stream, ahead, buffered) = self.ahead.take_buffered(units, ready, follows, keeps);
        if ahead > 0 && self.ahead.unwritten {
            self.store.count_unwritten(first, ahead);
        }
        let gathered = if ahead == count {
            Gathered::buffered(buffered)
        } else {
            let mut spared = match self.front.maps_sectors() || self.params.compression.is_some() {
                true => Spared::default(),
                false => Spared::of(port.io(id), u64::from(self.params.unit_bytes)),
            };
            if ahead > 0 {
                spared.head = 0;
            }
            let rest = self
                .store
                .gather(first.plus(ahead), count - ahead, spared, ready);
            rest.with_buffered(buffered)
        };
        let io = port.io(id);
        if let Some(stream) = stream {
            let (next, _) = self.addressing.unit_of(io.offset + io.bytes);
            self.ahead.read_on(&mut self.store, stream, next, ready);
        }
        gathered.charge(io);
        let mut done = gathered.last;
        let mut lead = gathered.last.since(gathered.first.max(ready));
        if let Some(served) = self.front.finish_read(count, gathered.last) {
            io.charge_stay(Part::Queue, Part::Overhead, served);
            (done, lead) = (served.end, served.end - served.start);
        }
        self.finish(port, id, done, lead);
        if self.ahead.prefetch.is_some() {
            self.ahead
                .read_ahead(&mut self.store, self.params.unit_bytes, done);
        }
    }
}
