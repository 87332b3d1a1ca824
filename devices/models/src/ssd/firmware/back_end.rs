//! A back end that sleeps while the drive has no commands.
//!
//! Channels, error correction and the memory of the map draw most of what a controller draws, and a
//! controller may put them to sleep when no command is outstanding. A read that comes then is
//! taken in by the front end, and waits for the back end before it looks up the map. A write is
//! complete in the buffer and does not wait; its program does. What comes meanwhile shares the
//! wait. Nothing is an event: whether the back end slept is computed when a command needs it.
//! docs/explanation/power.md has the equations.

use raidlab_kernel::{Nanos, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A sleeping back end in the plan.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct BackEndParams {
    /// What waking takes.
    pub wake_ns: Nanos,
    /// Time without commands after which it sleeps.
    #[serde(default)]
    pub sleep_after_ns: Nanos,
}

/// The back end of a drive in a run.
#[derive(Debug)]
pub(crate) struct BackEnd {
    params: BackEndParams,
    /// When it can work, or could last.
    pub(crate) awake: Time,
    /// How often a command has woken it.
    pub(crate) wakes: u64,
}

impl BackEnd {
    /// It is asleep when the run begins.
    pub(crate) fn new(params: BackEndParams) -> BackEnd {
        BackEnd {
            params,
            awake: Time::ZERO,
            wakes: 0,
        }
    }

    /// A command comes at `now` and needs it from `ready` on. `idle_since` says when the drive had
    /// the last command or operation, if it has none now. Returns when the command goes on.
    pub(crate) fn needed(&mut self, idle_since: Option<Time>, now: Time, ready: Time) -> Time {
        let since = idle_since.map(|since| since.max(self.awake));
        if since.is_some_and(|since| since + self.params.sleep_after_ns <= now) {
            self.awake = ready + self.params.wake_ns;
            self.wakes += 1;
        }
        ready.max(self.awake)
    }

    /// The drive has left a power state, and all of it works from `at` on.
    pub(crate) fn woken(&mut self, at: Time) {
        self.awake = self.awake.max(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back_end() -> BackEnd {
        BackEnd::new(BackEndParams {
            wake_ns: Nanos(50_000),
            sleep_after_ns: Nanos(10_000),
        })
    }

    #[test]
    fn it_sleeps_from_so_long_after_the_last_command_on() {
        // Idle since 100 us, so asleep from 110 us on; ready 3 us after it comes.
        for (now, goes_on) in [(109_999, 112_999), (110_000, 163_000)] {
            let found = back_end().needed(Some(Time(100_000)), Time(now), Time(now + 3_000));
            assert_eq!(found, Time(goes_on), "{now}");
        }
    }

    #[test]
    fn what_comes_while_it_wakes_shares_the_wait() {
        let mut back_end = back_end();
        let first = back_end.needed(Some(Time::ZERO), Time(20_000), Time(23_000));
        let second = back_end.needed(None, Time(30_000), Time(33_000));
        let third = back_end.needed(None, Time(90_000), Time(93_000));
        assert_eq!([first.0, second.0, third.0], [73_000, 73_000, 93_000]);
        assert_eq!(back_end.wakes, 1);
    }

    #[test]
    fn a_command_for_which_nothing_waits_holds_it_awake_while_it_wakes() {
        // A write wakes it until 73 us and is done at 23 us: a read at 50 us waits for the same.
        let mut back_end = back_end();
        back_end.needed(Some(Time::ZERO), Time(20_000), Time(23_000));
        let read = back_end.needed(Some(Time(23_000)), Time(50_000), Time(53_000));
        assert_eq!((read, back_end.wakes), (Time(73_000), 1));
    }
}
