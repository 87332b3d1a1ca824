//! What a command does from part to part of the drive, and what the drive's events do.

mod background;
mod die;
pub(crate) mod gather;
mod jobs;
mod map_wait;
mod read;
mod write;

use crate::port::Port;
use crate::ssd::drive::Ssd;
use crate::ssd::firmware::streams::MapPiece;
use crate::ssd::front::{Condition, Front, Release};
use crate::ssd::ids::UnitId;
use crate::ssd::store::Store;
use crate::ssd::token::Token;
use raidlab_io::{ByteRange, IoId, Op, Part};
use raidlab_kernel::{Nanos, Time};

impl<F: Front> Ssd<F> {
    /// Prefetches what a command for these bytes needs of the map. Not while writes wait: the data
    /// would leave the CPU's caches before they are needed.
    #[inline]
    pub fn prefetch_tables(&self, range: ByteRange) {
        if !self.store.buffer.waiting.is_empty() {
            return;
        }
        let (first, count) = self.units(range);
        self.store.translation.prefetch(first);
        if count > 1 {
            self.store.translation.prefetch(first.plus(count - 1));
        }
    }

    /// Takes a command that arrives now, with its data if it is a write.
    #[inline]
    pub fn submit<P: Port>(&mut self, port: &mut P, io: IoId) {
        let Store { nand, buffer, .. } = &mut self.store;
        let (firmware, last_done) = (&mut self.firmware, self.last_done);
        (self.power).command(nand, firmware, buffer, last_done, port.now());
        self.start_background(port);
        match port.io(io).op {
            op @ (Op::Read | Op::Write) => {
                self.store.nand.operations.host_bytes += port.io(io).bytes;
                if self.front.admit(io, op, port.now()) {
                    self.start(port, io, op);
                } else {
                    self.release(port);
                }
            }
            Op::Trim => self.trim(port, io),
            Op::Flush => self.flush(port, io),
        }
    }

    /// An event that the drive asked for is due now.
    #[inline]
    pub fn event<P: Port>(&mut self, port: &mut P, token: u32) {
        match Token::from(token) {
            Token::Die(die) => self.die_event(port, die),
            Token::LookedUp(number) => self.looked_up(port, number),
            Token::Turnaround => self.release(port),
            Token::Rested(die) => self.rested(port, die),
        }
    }

    /// A read or write that the front has let in.
    #[inline]
    fn start<P: Port>(&mut self, port: &mut P, io: IoId, op: Op) {
        match op {
            Op::Write => self.write(port, io),
            _ => self.read(port, io),
        }
    }

    /// Lets commands in that wait in the front, if they may go on.
    #[inline]
    fn release<P: Port>(&mut self, port: &mut P) {
        let drive = Condition {
            now: port.now(),
            last_done: self.last_done,
            writes_wait: !self.store.buffer.waiting.is_empty(),
        };
        match self.front.release(drive) {
            Release::Nothing => {}
            Release::LookAgain(at) => port.wake(at, Token::Turnaround.into()),
            Release::Batch => {
                while let Some(io) = self.front.next() {
                    let op = port.io(io).op;
                    self.start(port, io, op);
                }
            }
        }
    }

    fn trim<P: Port>(&mut self, port: &mut P, io: IoId) {
        let now = port.now();
        let (firmware, front) = (&mut self.firmware, &mut self.front);
        let served = firmware.process(front, Op::Trim, 1, MapPiece::Cached, now);
        let record = port.io(io);
        record.charge_stay(Part::Queue, Part::Overhead, served);
        let unit = u64::from(self.params.unit_bytes);
        let end = (record.offset + record.bytes).min(self.params.capacity_bytes) / unit;
        let first = record.offset.div_ceil(unit);
        // Addresses of other slices share the units.
        if first < end && self.params.slices == 1 {
            self.store
                .translation
                .trim(UnitId::new(first as u32), (end - first) as u32);
        }
        self.finish(port, io, served.end, Nanos::ZERO);
    }

    /// The data of a flush are in NAND: the changes of the map follow.
    pub(crate) fn flushed<P: Port>(&mut self, port: &mut P, io: IoId, now: Time) {
        let end = self.flushes.end(self.store.programs.taken, now);
        port.io(io).charge(Part::NandProgram, end);
        self.finish(port, io, end, Nanos::ZERO);
    }

    fn flush<P: Port>(&mut self, port: &mut P, io: IoId) {
        let now = port.now();
        let (firmware, front) = (&mut self.firmware, &mut self.front);
        let served = firmware.process(front, Op::Flush, 1, MapPiece::Cached, now);
        port.io(io).charge_stay(Part::Queue, Part::Overhead, served);
        if !self.params.buffer.protected {
            self.pad(port);
            if self.store.buffer.wait_until_durable(io) {
                return;
            }
            return self.flushed(port, io, served.end);
        }
        // A protected drive pays its time for the command alone.
        let end = served.end + self.params.firmware.flush_ns;
        port.io(io).charge(Part::Overhead, end);
        self.finish(port, io, end, Nanos::ZERO);
    }
}
