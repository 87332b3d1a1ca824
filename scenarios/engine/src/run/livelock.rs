//! A clock that stands: loads whose I/Os take no time go round at one instant without end.

use crate::run::system::Failure;
use crate::run::system::System;
use crate::state::event::Event;
use raidlab_kernel::Time;

/// Events between two looks at the clock.
pub(crate) const EVENTS_BETWEEN_LOOKS: u32 = 1 << 16;
/// Events at one instant that may be a burst, beside those of what is in flight.
const EVENTS_AT_ONCE: u64 = 10_000_000;
/// Events that each I/O and command in flight may have at one instant.
const EVENTS_OF_EACH: u64 = 64;

/// The clock when it was last seen to move.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    at: Time,
    /// Events that had been handled by then.
    handled: u64,
}

impl System {
    /// Ends the run if far too much happens at one instant; called at intervals, counted in events.
    #[cold]
    pub(crate) fn look_at_clock(&mut self) {
        let at = self.now();
        let handled =
            self.layers.path.calendar.scheduled() - self.layers.path.calendar.len() as u64;
        if at > self.clock.at {
            self.clock = Clock { at, handled };
            return;
        }
        let in_flight = (self.layers.path.ios.in_use() + self.layers.path.calendar.len()) as u64;
        let most = EVENTS_AT_ONCE + EVENTS_OF_EACH * in_flight;
        if handled - self.clock.handled > most {
            self.fail_next_load(at);
        }
    }

    /// The load that issues the next I/O is the one whose I/Os take no time. If none does for a
    /// while, the next look finds it.
    fn fail_next_load(&mut self, at: Time) {
        for _ in 0..EVENTS_BETWEEN_LOOKS {
            match self.layers.path.calendar.next_event() {
                Some((due, Event::Issue(slot))) if due == at => {
                    self.failed = Some(Failure::Load(self.layers.path.slots[slot].workload));
                    return;
                }
                _ if !self.step(at) => return,
                _ => {}
            }
        }
    }
}
