//! Non-operational power states, as NVMe drives have them.
//!
//! A drive without commands enters one state after the other, each after a time of its own. The
//! next command finds it there: a transition that has begun ends, then the drive leaves the state,
//! then the command begins. Nothing is an event: what the drive did is computed when the command
//! comes, from the time at which it became idle. docs/explanation/power.md has the equations.

use crate::fault::Fault;
use raidlab_kernel::{Nanos, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A non-operational state in the plan.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct IdleStateParams {
    /// Time without commands after which the drive enters it.
    pub after_ns: Nanos,
    /// What entering takes.
    pub entry_ns: Nanos,
    /// What leaving takes.
    pub exit_ns: Nanos,
    /// What the drive draws in it.
    pub watts: f64,
}

/// States that do not follow each other.
pub(crate) fn faults(states: &[IdleStateParams], idle_w: f64) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut ready = Nanos::ZERO;
    for state in states {
        if state.after_ns < ready {
            let allowed = format!("{} or more, when the state before it is entered", ready.0);
            faults.push(Fault::new(
                "idle_states.after_ns",
                state.after_ns.0,
                allowed,
            ));
        }
        if !(0.0..=idle_w).contains(&state.watts) {
            let allowed = format!("0 to the {idle_w} W of the idle drive");
            faults.push(Fault::new("idle_states.watts", state.watts, allowed));
        }
        ready = state.after_ns + state.entry_ns + state.exit_ns;
    }
    faults
}

/// The non-operational states of a drive in a run.
#[derive(Debug)]
pub(crate) struct IdleStates {
    states: Vec<IdleStateParams>,
    idle_w: f64,
    last_command: Time,
    /// When the command that found the drive in a state can begin; nothing is entered before.
    awake: Time,
    /// Energy that states before the last command have saved.
    saved_j: f64,
    /// Commands that found the drive in a state.
    exits: u64,
}

impl IdleStates {
    /// None of a drive without such states.
    pub(crate) fn of(states: &[IdleStateParams], idle_w: f64) -> Option<Box<IdleStates>> {
        (!states.is_empty()).then(|| {
            Box::new(IdleStates {
                states: states.to_vec(),
                idle_w,
                last_command: Time::ZERO,
                awake: Time::ZERO,
                saved_j: 0.0,
                exits: 0,
            })
        })
    }

    /// A command comes now to a drive whose commands were done at `last_done`; `waited` if one of
    /// them still is not. Returns when it can begin, if the drive was in a state or on its way.
    pub(crate) fn command(&mut self, now: Time, last_done: Time, waited: bool) -> Option<Time> {
        let since = self.idle_since(last_done);
        self.last_command = now;
        if waited {
            return None;
        }
        self.saved_j += self.saved(since, now);
        let (at, entered, state) = self
            .transitions(since)
            .take_while(|it| it.0 <= now)
            .last()?;
        debug_assert!(at <= entered);
        self.awake = entered.max(now) + state.exit_ns;
        self.exits += 1;
        Some(self.awake)
    }

    fn idle_since(&self, last_done: Time) -> Time {
        last_done.max(self.last_command).max(self.awake)
    }

    /// When each state begins to be entered, when it is, and which it is. From one to the next
    /// takes the first one's exit and the second one's entry.
    fn transitions(&self, since: Time) -> impl Iterator<Item = (Time, Time, IdleStateParams)> {
        let mut exit = Nanos::ZERO;
        self.states.iter().map(move |&state| {
            let at = since + state.after_ns;
            let entered = at + exit + state.entry_ns;
            exit = state.exit_ns;
            (at, entered, state)
        })
    }

    /// Joules that the states save until `now` on a drive idle since `since`. A transition draws
    /// what the idle drive draws.
    fn saved(&self, since: Time, now: Time) -> f64 {
        let mut spans = self.transitions(since).peekable();
        let mut saved = 0.0;
        while let Some((_, entered, state)) = spans.next() {
            let end = spans.peek().map_or(now, |next| next.0.min(now));
            saved += (self.idle_w - state.watts) * end.since(entered).seconds();
        }
        saved
    }

    /// Joules saved up to `now`, and how many commands found the drive in a state.
    pub(crate) fn figures(&self, now: Time, last_done: Time, waits: bool) -> (f64, u64) {
        let current = if waits {
            0.0
        } else {
            self.saved(self.idle_since(last_done), now)
        };
        (self.saved_j + current, self.exits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000;

    fn state(after_us: u64, entry_us: u64, exit_us: u64, watts: f64) -> IdleStateParams {
        IdleStateParams {
            after_ns: Nanos(after_us * US),
            entry_ns: Nanos(entry_us * US),
            exit_ns: Nanos(exit_us * US),
            watts,
        }
    }

    /// Two states of a Samsung 950 as its controller lists them, entered after 275 and 1200 ms.
    fn states() -> Box<IdleStates> {
        let states = [
            state(275_000, 500, 5_000, 0.07),
            state(1_200_000, 2_000, 22_000, 0.005),
        ];
        assert!(faults(&states, 1.0).is_empty());
        IdleStates::of(&states, 1.0).unwrap()
    }

    #[test]
    fn a_command_waits_for_the_exit_of_the_state_that_it_meets() {
        // Idle since 1 ms: in neither; in the first; on the way to the second: its exit of 5 ms
        // and the entry of 2 ms end at 1208 ms; in the second.
        for (now_us, begins_us) in [
            (275_999, None),
            (276_200, Some(276_500 + 5_000)),
            (900_000, Some(905_000)),
            (1_204_000, Some(1_208_000 + 22_000)),
            (2_000_000, Some(2_022_000)),
        ] {
            let mut drive = states();
            let begins = drive.command(Time(now_us * US), Time(1_000 * US), false);
            assert_eq!(begins, begins_us.map(|us| Time(us * US)), "{now_us}");
        }
    }

    #[test]
    fn one_exit_serves_all_commands_that_come_meanwhile() {
        let mut drive = states();
        let last = Time(1_000 * US);
        assert!(drive.command(Time(900_000 * US), last, false).is_some());
        // Its command is not done, so `last` is still that of the one before.
        assert_eq!(drive.command(Time(904_000 * US), last, false), None);
        assert_eq!(drive.figures(Time(904_000 * US), last, false).1, 1);
    }

    #[test]
    fn a_command_that_still_waits_keeps_the_drive_awake() {
        let mut drive = states();
        assert_eq!(drive.command(Time(900_000 * US), Time::ZERO, true), None);
        assert_eq!(
            drive.figures(Time(900_000 * US), Time::ZERO, true),
            (0.0, 0)
        );
    }

    /// By hand: idle since 0, 923.5 ms of the first state lie before 1199 ms; of the second
    /// 2000 - 1207 = 793 ms.
    #[test]
    fn a_state_saves_the_difference_of_two_powers_while_it_lasts() {
        let (saved, _) = states().figures(Time(1_199_000 * US), Time::ZERO, false);
        assert!((saved - 0.9235 * 0.93).abs() < 1e-9, "{saved}");
        let (saved, _) = states().figures(Time(2_000_000 * US), Time::ZERO, false);
        assert!(
            (saved - 0.9245 * 0.93 - 0.793 * 0.995).abs() < 1e-9,
            "{saved}"
        );
    }

    #[test]
    fn a_state_that_begins_before_the_one_before_it_is_a_fault() {
        let wrong = [state(100, 50, 50, 0.5), state(150, 1, 1, 2.0)];
        let found = faults(&wrong, 1.0);
        assert_eq!(found.len(), 2, "{found:?}");
    }
}
