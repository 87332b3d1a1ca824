//! Idle states of a CPU core (C-states): the longer it will be idle, the deeper it sleeps, and the
//! longer the interrupt that wakes it waits.
//!
//! A state pays from a target residency on. The governor of the operating system predicts how long
//! the core will be idle and takes the deepest state that pays; here its prediction is right. The
//! core is not at work while it wakes up.
//!
//! Source: Linux's `cpuidle` (admin guide, "CPU Idle Time Management") and its driver `intel_idle`,
//! whose tables have the worst latency of each state; docs/explanation/host.md.

use crate::bounds::CPU_TIME_NS;
use raidlab_kernel::Nanos;
use schemars::JsonSchema;
use serde::Deserialize;

/// A state that an idle core may take.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CStateParams {
    /// Time from the interrupt until the core is at work.
    #[schemars(transform = CPU_TIME_NS.said())]
    pub exit_ns: Nanos,
    /// Idle time from which on the state is taken.
    pub residency_ns: Nanos,
}

/// How long a core that was idle for `idle` takes to wake up.
///
/// **Example.** States of 2 and 33 us from 2 and 100 us on: after 80 us 2 us, after 100 us 33 us.
#[inline]
pub(crate) fn exit_latency(states: &[CStateParams], idle: Nanos) -> Nanos {
    let taken = states.iter().filter(|state| state.residency_ns <= idle);
    let deepest = taken.max_by_key(|state| state.residency_ns);
    deepest.map_or(Nanos::ZERO, |state| state.exit_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_takes_the_deepest_state_that_pays() {
        let states = [(2, 2), (33, 100)].map(|(exit, residency)| CStateParams {
            exit_ns: Nanos(exit),
            residency_ns: Nanos(residency),
        });
        let latency = |idle| exit_latency(&states, Nanos(idle)).0;
        assert_eq!([1, 2, 80, 100, 5_000].map(latency), [0, 2, 2, 33, 33]);
        assert_eq!(exit_latency(&[], Nanos(5_000)), Nanos::ZERO);
    }
}
