//! The event of a die: a job has ended, or the next may begin.

use crate::port::Port;
use crate::ssd::drive::Ssd;
use crate::ssd::front::Front;
use crate::ssd::nand::job::Job;
use crate::ssd::token::Token;
use raidlab_io::{Op, Part};
use raidlab_kernel::Time;

impl<F: Front> Ssd<F> {
    /// A die has ended a job, or may begin one.
    pub(super) fn die_event<P: Port>(&mut self, port: &mut P, die: u32) {
        let now = port.now();
        let (ended, next) = self.nand.step(die, now);
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
                self.set_is_durable(port, die, now);
                self.buffer.release(host_units);
                self.take_waiting(port, now);
                self.release(port);
            }
            self.complete_durable(port, now);
        }
        if next.is_none() && self.background.is_some() {
            self.background_event(port, die);
        }
    }

    /// The oldest page set in flight to a die is in NAND.
    #[inline]
    fn set_is_durable<P: Port>(&mut self, port: &mut P, die: u32, now: Time) {
        let set = self.programs.pending[die as usize].pop_front();
        if let Some(set) = set.filter(|_| port.listens() && self.is_volatile()) {
            for unit in self.translation.units_of(set) {
                let bytes = u64::from(self.params.unit_bytes);
                port.settles(u64::from(unit) * bytes, bytes, now);
            }
        }
    }

    /// Completes the commands whose data are in NAND.
    #[inline]
    fn complete_durable<P: Port>(&mut self, port: &mut P, now: Time) {
        while let Some(io) = self.buffer.next_durable() {
            let record = port.io(io);
            record.charge(Part::NandProgram, now);
            let (op, at) = (record.op, record.mark);
            match op {
                Op::Write if self.is_forced(port, io) => self.forced(port, io, at),
                Op::Write => self.complete_write(port, io, at),
                _ => self.flushed(port, io, at),
            }
        }
    }
}
