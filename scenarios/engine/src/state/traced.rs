//! A recorded trace as the load of a workload: its requests at its times.

use crate::state::load::Request;
use raidlab_kernel::Time;
use raidlab_traces::{Fault, Options, Requests, scan};
use std::sync::{Mutex, PoisonError};

/// The requests of a trace, read one after the other.
pub(crate) struct Traced {
    /// Nobody waits for the lock: it makes a system with a reader one that threads may share.
    requests: Mutex<Requests>,
    /// The one that arrives next.
    upcoming: Option<Request>,
    /// Why it ended before its end.
    fault: Option<Fault>,
}

impl std::fmt::Debug for Traced {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Traced")
            .field("upcoming", &self.upcoming)
            .finish_non_exhaustive()
    }
}

impl Traced {
    /// # Errors
    /// Lines that are at fault, or the file cannot be read.
    pub(crate) fn open(options: &Options) -> Result<Traced, Vec<Fault>> {
        let scan = scan(options, || true)?;
        let requests = Requests::open(options, &scan).map_err(|fault| vec![fault])?;
        Ok(Traced {
            requests: Mutex::new(requests),
            upcoming: None,
            fault: None,
        })
    }

    /// The request that is due, once.
    pub(crate) fn take(&mut self) -> Option<Request> {
        self.upcoming.take()
    }

    /// Goes on to the next request; when it arrives, or never.
    pub(crate) fn advance(&mut self) -> Time {
        let requests = self.requests.get_mut();
        match requests.unwrap_or_else(PoisonError::into_inner).next() {
            None => Time::NEVER,
            Some(Err(fault)) => {
                self.fault = Some(fault);
                Time::NEVER
            }
            Some(Ok(next)) => {
                self.upcoming = Some(Request {
                    op: next.op,
                    offset: next.offset,
                    bytes: next.bytes,
                });
                Time::ZERO + next.time
            }
        }
    }

    /// What is wrong with the file as it was read.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }
}
