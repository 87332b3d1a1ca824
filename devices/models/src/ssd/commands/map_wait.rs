//! Commands that wait for a page of the map (see `map::demand`).

use crate::port::Port;
use crate::ssd::drive::Ssd;
use crate::ssd::firmware::streams::Follows;
use crate::ssd::front::Front;
use crate::ssd::ids::UnitId;
use crate::ssd::map::cache::Use;
use crate::ssd::map::demand::{LookUp, Waiting};
use crate::ssd::token::Token;
use raidlab_io::{IoId, Op, Part};
use raidlab_kernel::Time;

impl<F: Front> Ssd<F> {
    /// True if a command, ready at `at`, has to wait for map pages. It then goes on by an event.
    #[cold]
    pub(super) fn waits_for_map<P: Port>(
        &mut self,
        port: &mut P,
        io: IoId,
        units: (UnitId, u32),
        at: Time,
        follows: Follows,
    ) -> bool {
        let Some(map) = &mut self.demand_map else {
            return false;
        };
        let used = match port.io(io).op {
            Op::Write => Use::Change,
            _ => Use::Read,
        };
        let look_up = LookUp { units, used, at };
        let now = port.now();
        let in_memory = map.look_up(look_up, &mut self.store.nand, |nand, die, job| {
            if let Some(at) = nand.add(die, job, now) {
                port.wake(at, Token::Die(die).into());
            }
        });
        if in_memory <= at {
            return false;
        }
        let number = map.park(Waiting { io, follows });
        port.wake(in_memory, Token::LookedUp(number).into());
        true
    }

    /// The map pages of a command are in memory.
    pub(super) fn looked_up<P: Port>(&mut self, port: &mut P, number: u32) {
        let now = port.now();
        let Some(map) = &mut self.demand_map else {
            return;
        };
        let Some(waited) = map.unpark(number) else {
            return;
        };
        let record = port.io(waited.io);
        record.charge(Part::NandRead, now);
        let (op, range) = (record.op, record.range());
        let (first, count) = self.units(range);
        match op {
            Op::Write => self.enter_buffer(port, waited.io, count, now),
            _ => self.read_data(port, waited.io, (first, count), now, waited.follows),
        }
    }
}
