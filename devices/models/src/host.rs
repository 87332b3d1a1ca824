//! The host's CPU: each load thread submits and completes its I/Os one after the other.

use raidlab_kernel::{Nanos, Served, Station, Time};
use serde::Deserialize;

/// The host in the plan. Times are those of this host's clock: the catalogue scales them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostParams {
    /// CPU time of the submitting thread to issue an I/O.
    pub submit_ns: Nanos,
    /// CPU time of the same thread to complete it.
    pub complete_ns: Nanos,
    /// CPU time for each command that RAID in the host issues to a drive.
    pub raid_command_ns: Nanos,
}

/// Load threads, each a first-come station.
#[derive(Debug)]
pub struct Host {
    params: HostParams,
    threads: Vec<Station>,
}

impl Host {
    /// `threads` idle load threads.
    pub fn new(params: &HostParams, threads: usize) -> Host {
        Host {
            params: params.clone(),
            threads: vec![Station::default(); threads],
        }
    }

    /// Thread `thread` issues an I/O that it turns to at `now`.
    #[inline]
    pub fn submit(&mut self, thread: u32, now: Time) -> Served {
        self.threads[thread as usize].serve(now, self.params.submit_ns)
    }

    /// Thread `thread` completes an I/O whose completion is signalled at `now`.
    #[inline]
    pub fn complete(&mut self, thread: u32, now: Time) -> Served {
        self.threads[thread as usize].serve(now, self.params.complete_ns)
    }

    /// Thread `thread` splits a request into `commands` for RAID in the host.
    #[inline]
    pub fn split(&mut self, thread: u32, now: Time, commands: u64) -> Served {
        self.threads[thread as usize].serve(now, self.params.raid_command_ns * commands)
    }

    /// CPU time used by each thread up to `now`.
    pub fn busy_until(&self, now: Time) -> impl Iterator<Item = Nanos> + '_ {
        self.threads
            .iter()
            .map(move |thread| thread.busy_until(now))
    }
}
