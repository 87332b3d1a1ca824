//! When a recording has seen the I/Os that wait for long: Little's law.

use crate::plan::{Balance, Plan, WorkloadPlan};
use crate::run::system::System;
use raidlab_kernel::Time;

/// The share of `Balance::share` within which the first look must find it: jobs that take turns may
/// be in balance for a moment.
const AT_ONCE: f64 = 1.0 / 3.0;

/// Looks at a recording that has its I/Os, again after a quarter more each.
#[derive(Debug)]
pub(crate) struct Balancing {
    balance: Balance,
    /// I/Os outstanding in all loads together.
    outstanding: f64,
    from: Time,
    look_at: u64,
    looks: u32,
    /// Whether it was in balance at the look before.
    held: bool,
}

impl Balancing {
    /// That of a plan that asks for it, in a recording that begins at `from`.
    pub(crate) fn of(plan: &Plan, from: Time) -> Option<Balancing> {
        let places = plan.workloads.iter().map(WorkloadPlan::places);
        plan.balance.map(|balance| Balancing {
            balance,
            outstanding: places.map(f64::from).sum(),
            from,
            look_at: plan.max_ios,
            looks: 0,
            held: false,
        })
    }

    /// Whether a recording of that length ends: in balance at two looks one after the other, at
    /// once where nobody waits for turns, or as long as it may be.
    ///
    /// **Example.** 128 outstanding, 62,000 I/Os a second of 0.92 ms: 57 are accounted for, 55 % too
    /// few. A quarter more I/Os are recorded.
    pub(crate) fn ends(&mut self, recorded: u64, system: &System) -> bool {
        if recorded < self.look_at {
            return false;
        }
        self.look_at = recorded + recorded / 4;
        self.looks += 1;
        let off = self.imbalance(system).abs();
        let held = std::mem::replace(&mut self.held, off <= self.balance.share);
        self.held && held
            || self.looks == 1 && off <= AT_ONCE * self.balance.share
            || recorded >= self.balance.most_ios
    }

    /// Rate times mean latency over what is outstanding, less 1.
    fn imbalance(&self, system: &System) -> f64 {
        let loads = system.layers.loads.records().workloads().iter();
        let latencies: u128 = loads
            .map(|load| load.meter.reads.sum() + load.meter.writes.sum())
            .sum();
        let span = system.now().since(self.from).0 as f64;
        latencies as f64 / span / self.outstanding - 1.0
    }
}
