//! The event of a die: a job has ended, or the next may begin.

use crate::port::Port;
use crate::ssd::drive::Ssd;
use crate::ssd::front::Front;
use crate::ssd::ids::DieId;
use crate::ssd::nand::job::Job;
use crate::ssd::token::Token;
use raidlab_io::{Op, Part};
use raidlab_kernel::Time;

impl<F: Front> Ssd<F> {
    /// A die has ended a job, or may begin one.
    pub(super) fn die_event<P: Port>(&mut self, port: &mut P, die: DieId) {
        let now = port.now();
        let (ended, next) = self.store.nand.step(die, now);
        if let Some(at) = next {
            port.wake(at, Token::Die(die).into());
        }
        if let Some(Job::Program {
            host_units,
            sequence,
            ..
        }) = ended
        {
            self.store.buffer.program_ended(sequence);
            if host_units > 0 {
                let volatile = port.listens() && self.params.is_volatile();
                let settles = volatile.then_some(u64::from(self.params.unit_bytes));
                self.store.set_is_durable(port, die, settles, now);
                self.store.buffer.release(host_units);
                self.take_waiting(port, now);
                self.release(port);
            }
            self.complete_durable(port, now);
        }
        if next.is_none() && self.background.is_some() {
            self.background_event(port, die);
        }
    }

    /// Completes the commands whose data are in NAND.
    #[inline]
    fn complete_durable<P: Port>(&mut self, port: &mut P, now: Time) {
        while let Some(io) = self.store.buffer.next_durable() {
            let record = port.io(io);
            record.charge(Part::NandProgram, now);
            let (op, at) = (record.op, record.mark);
            match op {
                Op::Write if port.io(io).fua && self.params.is_volatile() => {
                    self.forced(port, io, at)
                }
                Op::Write => self.complete_write(port, io, at),
                _ => self.flushed(port, io, at),
            }
        }
    }
}
