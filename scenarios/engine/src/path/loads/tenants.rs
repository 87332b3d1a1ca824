//! Outside threads that are tenants: what their I/Os wait for before they reach the host's CPU.

use crate::plan::Plan;
use raidlab_models::Limits;
use std::ops::Range;

/// One tenant.
#[derive(Debug)]
pub(crate) struct Tenant {
    /// For reports.
    name: String,
    /// Its outside threads.
    threads: Range<u32>,
    limits: Option<Box<Limits>>,
}

impl Tenant {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn limits(&self) -> Option<&Limits> {
        self.limits.as_deref()
    }

    pub(crate) fn limits_mut(&mut self) -> Option<&mut Limits> {
        self.limits.as_deref_mut()
    }
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Tenants {
    all: Vec<Tenant>,
    outside_threads: u32,
}

impl Tenants {
    /// Those of a plan.
    pub(crate) fn of(plan: &Plan) -> Tenants {
        let all = plan.tenants.iter().map(|own| Tenant {
            name: own.name.clone(),
            threads: own.first_thread..own.first_thread + own.threads,
            limits: (!own.limits.is_empty()).then(|| Box::new(Limits::new(&own.limits))),
        });
        Tenants {
            all: all.collect(),
            outside_threads: plan.outside_threads.max(1),
        }
    }

    /// The tenant to whose threads the I/O with this number belongs.
    #[inline]
    pub(crate) fn behind(&self, number: u32) -> Option<u32> {
        if self.all.is_empty() {
            return None;
        }
        let thread = number % self.outside_threads;
        let found = self
            .all
            .iter()
            .position(|own| own.threads.contains(&thread));
        found.map(|at| at as u32)
    }

    pub(crate) fn all(&self) -> &[Tenant] {
        &self.all
    }

    pub(crate) fn all_mut(&mut self) -> &mut [Tenant] {
        &mut self.all
    }
}
