//! An adapter that gathers completions before it interrupts the host.
//!
//! An interrupt costs the host as much for one completion as for several. So an adapter whose drive
//! has more to do anyway waits for a while from the first completion on and reports what has come by
//! then in one interrupt. With few commands outstanding at a drive it reports at once: waiting would
//! gain nothing and cost latency. The CISS interface of Smart Array adapters has delay and count of
//! this as settings of the host's driver (coalescing).

use crate::path::IoPath;
use crate::path::agenda::Up;
use crate::state::event::Event;
use raidlab_io::{IoId, Part};
use raidlab_kernel::{Nanos, Time};
use raidlab_models::CoalescingParams;

/// What waits for the next interrupt, and when that comes.
#[derive(Debug)]
pub(crate) struct Interrupts {
    delay: Nanos,
    above: u32,
    due: Time,
}

impl Interrupts {
    pub(crate) fn new(params: &CoalescingParams) -> Interrupts {
        Interrupts {
            delay: params.delay_ns,
            above: params.above,
            due: Time::ZERO,
        }
    }

    /// When the host hears of a completion at `now`, of a drive with `outstanding` commands,
    /// this one among them; none if at once.
    fn next(&mut self, outstanding: u32, now: Time) -> Option<Time> {
        if self.due <= now {
            if outstanding <= self.above {
                return None;
            }
            self.due = now + self.delay;
        }
        Some(self.due)
    }
}

impl IoPath {
    /// A command is complete at the host's end of its path.
    #[inline(always)]
    pub(crate) fn arrived(&mut self, id: IoId, now: Time) -> Up {
        if self.interrupts.is_some() && self.is_gathered(id, now) {
            return Up::None;
        }
        self.returned(id, now)
    }

    /// Whether a command of a drive on the host itself waits for an interrupt, which is scheduled.
    #[inline(never)]
    fn is_gathered(&mut self, id: IoId, now: Time) -> bool {
        let io = &self.ios[id];
        if self.arrays[io.array].controller.is_some() {
            return false;
        }
        let outstanding = self.drives[io.drive].in_flight;
        let interrupts = self.interrupts.as_mut();
        let Some(due) = interrupts.and_then(|each| each.next(outstanding, now)) else {
            return false;
        };
        self.calendar.push(due, Event::Interrupt(id));
        true
    }

    /// The interrupt that a command waited for.
    pub(crate) fn reported(&mut self, id: IoId, now: Time) -> Up {
        self.ios[id].charge(Part::LinkWait, now);
        self.returned(id, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 110 us from the first of many on; what comes meanwhile goes with it; one of two goes at once.
    #[test]
    fn what_comes_while_an_interrupt_is_due_goes_with_it() {
        let params = CoalescingParams {
            delay_ns: Nanos(110_000),
            above: 2,
        };
        let mut interrupts = Interrupts::new(&params);
        assert_eq!(interrupts.next(2, Time(1000)), None);
        assert_eq!(interrupts.next(3, Time(2000)), Some(Time(112_000)));
        assert_eq!(interrupts.next(1, Time(50_000)), Some(Time(112_000)));
        assert_eq!(interrupts.next(2, Time(112_000)), None);
    }
}
