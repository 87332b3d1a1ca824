//! Reads: firmware, then one operation for each page set that holds a part of the data.

use crate::port::Port;
use crate::ssd::buffer::read_buffer::Arrival;
use crate::ssd::commands::gather::{Gathered, Spared};
use crate::ssd::drive::Ssd;
use crate::ssd::firmware::streams::Follows;
use crate::ssd::front::Front;
use raidlab_io::{Io, IoId, Op, Part};
use raidlab_kernel::Time;

/// Bytes that error correction takes together: a part of a page is read in as many of them as hold
/// it. Assumed; those of drives lie between 1 and 4 KiB.
const CODEWORD: u64 = 4096;

impl<F: Front> Ssd<F> {
    #[inline]
    pub(super) fn read<P: Port>(&mut self, port: &mut P, id: IoId) {
        let now = port.now();
        let (offset, bytes) = {
            let io = port.io(id);
            (io.offset, io.bytes)
        };
        let (first, count) = self.units(offset, bytes);
        self.read_bytes += bytes;
        self.read_units.units += u64::from(count);
        let met = self.read_streams.meet(offset, bytes);
        let (firmware, front) = (&mut self.firmware, &mut self.front);
        let served = firmware.process(front, Op::Read, count, met.piece, now);
        let taken = served.end + self.firmware.latency(Op::Read, count);
        let ready = self.back_end_needed(now, taken);
        let alone = self.is_alone(now);
        let follows = Follows {
            alone: alone && offset == self.next_byte,
            stream: met.stream,
        };
        self.next_byte = offset + bytes;
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
        units: (u32, u32),
        ready: Time,
        follows: Follows,
    ) {
        let (first, count) = units;
        let (stream, ahead, buffered) = self.take_buffered(units, ready, follows);
        if ahead > 0 && self.unwritten_ahead {
            self.count_unwritten(first, ahead);
        }
        let gathered = if ahead == count {
            Gathered::buffered(buffered)
        } else {
            let mut spared = self.spared(port.io(id));
            if ahead > 0 {
                spared.head = 0;
            }
            let rest = self.gather(first + ahead, count - ahead, spared, ready);
            rest.with_buffered(buffered)
        };
        let io = port.io(id);
        if let Some(stream) = stream {
            let (next, _) = self.unit_of(io.offset + io.bytes);
            self.read_on(stream, next, ready);
        }
        gathered.charge(io);
        let mut done = gathered.last;
        let mut lead = gathered.last.since(gathered.first.max(ready));
        if let Some(served) = self.front.finish_read(count, gathered.last) {
            io.charge_stay(Part::Queue, Part::Overhead, served);
            (done, lead) = (served.end, served.end - served.start);
        }
        self.finish(port, id, done, lead);
        if self.prefetch.is_some() {
            self.read_ahead(done);
        }
    }

    /// How many of a command's first units are in a read buffer, and when; and the stream whose
    /// next page sets are to be read.
    #[inline(always)]
    fn take_buffered(
        &mut self,
        (first, count): (u32, u32),
        ready: Time,
        follows: Follows,
    ) -> (Option<usize>, u32, Arrival) {
        // A read of a whole page set or more needs no memory for the rest of it.
        let small = count < self.translation.shape().units_per_set;
        let mut stream = follows.stream.filter(|_| small && self.params.keeps_pages);
        let (mut ahead, mut buffered) = (0, Arrival::of_nothing(ready));
        if let Some(prefetch) = &mut self.prefetch {
            prefetch.observe(follows);
            (ahead, buffered) = prefetch.ahead.take(first, count, ready);
            // The prefetch reads what the stream needs.
            stream = stream.filter(|_| !prefetch.follows_a_stream());
        }
        if let Some(stream) = stream.filter(|_| ahead == 0) {
            let pages = self.read_streams.pages(stream);
            (ahead, buffered) = pages.take(first, count, ready);
        }
        (stream, ahead, buffered)
    }

    /// What the host has not asked for of the units that it reads.
    #[inline]
    fn spared(&self, io: &Io) -> Spared {
        let unit = u64::from(self.params.unit_bytes);
        let whole_units = self.front.maps_sectors() || self.params.compression.is_some();
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
}
