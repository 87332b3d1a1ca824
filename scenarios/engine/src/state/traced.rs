//! A recorded trace as the load of a workload: its requests at its times, or in a closed loop.

use raidlab_io::IoId;
use raidlab_kernel::{Histogram, Nanos, Time};
use raidlab_traces::{Comparison, Fault, Options, Request, Requests, Scan, scan};
use std::sync::{Mutex, PoisonError};

/// Requests of one trace in the system at once; those that are due wait for the reader meanwhile.
const MOST_IN_FLIGHT: u32 = 1 << 16;

/// The requests of a trace, read one after the other, and what is counted of them.
pub(crate) struct Traced {
    /// Nobody waits for the lock: it makes a system with a reader one that threads may share.
    requests: Mutex<Requests>,
    scan: Scan,
    /// The one that is next.
    upcoming: Option<Request>,
    /// Why it ended before its end.
    fault: Option<Fault>,
    is_closed: bool,
    in_flight: u32,
    /// Whether the next request is due and waits for the end of one of those in flight.
    waits: bool,
    /// Whether it has waited so.
    is_late: bool,
    taken: u64,
    /// When the last request is due.
    last_arrival: Time,
    /// Of requests in flight by their record, where more is wanted than how many there are.
    notes: Option<Vec<Note>>,
    counts: Counts,
}

/// What is kept of a request in flight.
#[derive(Clone, Copy, Default)]
struct Note {
    number: u64,
    pause: Nanos,
    measured_us: f64,
}

/// What is counted of a trace's requests.
#[derive(Clone, Default)]
pub(crate) struct Counts {
    /// Requests that came to their end.
    pub(crate) requests: u64,
    /// Sum of the response times of those that were served.
    pub(crate) sum_ns: u64,
    /// Those that were over when the last one was due.
    pub(crate) served_in_time: u64,
    /// Simulated response times beside measured ones, if there are any.
    pub(crate) comparison: Option<Box<(Comparison, Histogram)>>,
    /// By number of the request, if they are wanted.
    pub(crate) each_ns: Option<Vec<u64>>,
}

impl std::fmt::Debug for Traced {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Traced")
            .field("upcoming", &self.upcoming)
            .finish_non_exhaustive()
    }
}

impl Traced {
    /// The load of a trace, with `outstanding` requests in flight or, if these are 0, at its times.
    /// `each` keeps the response time of every request.
    ///
    /// # Errors
    /// Lines that are at fault, or the file cannot be read.
    pub(crate) fn open(
        options: &Options,
        outstanding: u32,
        each: bool,
    ) -> Result<Traced, Vec<Fault>> {
        let scan = scan(options, || true)?;
        let requests = Requests::open(options, &scan).map_err(|fault| vec![fault])?;
        let is_measured = scan.measured > 0;
        let counts = Counts {
            comparison: is_measured.then(Box::default),
            each_ns: each.then(Vec::new),
            ..Counts::default()
        };
        let last = Nanos((scan.length_ns as f64 * options.slower) as u64);
        Ok(Traced {
            requests: Mutex::new(requests),
            scan,
            upcoming: None,
            fault: None,
            is_closed: outstanding > 0,
            in_flight: 0,
            waits: false,
            is_late: false,
            taken: 0,
            last_arrival: Time::ZERO + last,
            notes: (outstanding > 0 || is_measured || each).then(Vec::new),
            counts,
        })
    }

    /// The request that is due, and since when it is; none if it has to wait, or if there is none.
    pub(crate) fn take(&mut self, now: Time) -> Option<(Request, Time)> {
        if self.in_flight >= MOST_IN_FLIGHT {
            self.waits = self.upcoming.is_some();
            self.is_late = self.waits;
            return None;
        }
        let request = self.upcoming.take()?;
        let due = if std::mem::take(&mut self.is_late) {
            (Time::ZERO + request.time).min(now)
        } else {
            now
        };
        Some((request, due))
    }

    /// The request that was taken has this record.
    pub(crate) fn begin(&mut self, id: IoId, request: &Request) {
        if let Some(notes) = &mut self.notes {
            let at = id.index();
            if at >= notes.len() {
                notes.resize(at + 1, Note::default());
            }
            notes[at] = Note {
                number: self.taken,
                pause: request.time,
                measured_us: request.response_us,
            };
        }
        self.in_flight += 1;
        self.taken += 1;
    }

    /// Goes on to the next request; when it is due, or never. In a closed loop that is at once: a
    /// place waits for it, or will.
    pub(crate) fn advance(&mut self) -> Time {
        let requests = self.requests.get_mut();
        match requests.unwrap_or_else(PoisonError::into_inner).next() {
            None => Time::NEVER,
            Some(Err(fault)) => {
                self.fault = Some(fault);
                Time::NEVER
            }
            Some(Ok(next)) => {
                self.upcoming = Some(next);
                if self.is_closed {
                    Time::ZERO
                } else {
                    Time::ZERO + next.time
                }
            }
        }
    }

    /// Counts a request that is over, with its response time if it was served; gives when the next
    /// one is to be taken, if that depends on this one.
    pub(crate) fn over(&mut self, id: IoId, took: Option<Nanos>, at: Time) -> Option<Time> {
        let note = self.notes.as_ref().map(|notes| notes[id.index()]);
        self.in_flight -= 1;
        self.counts.requests += 1;
        self.counts.served_in_time += u64::from(at <= self.last_arrival);
        if let Some(took) = took {
            self.counts.add(took, note);
        }
        if self.is_closed {
            let pause = note.map_or(Nanos::ZERO, |note| note.pause);
            return self.upcoming.is_some().then(|| at + pause);
        }
        std::mem::take(&mut self.waits).then_some(at)
    }

    /// Whether requests wait for places of a closed loop.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// What is wrong with the file as it was read.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// What the file holds.
    pub(crate) fn scan(&self) -> &Scan {
        &self.scan
    }

    /// Requests taken so far.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// What was counted.
    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }
}

impl Counts {
    fn add(&mut self, took: Nanos, note: Option<Note>) {
        self.sum_ns += took.0;
        let Some(note) = note else {
            return;
        };
        if let Some(both) = &mut self.comparison
            && !note.measured_us.is_nan()
        {
            both.0.add(took.0 as f64 / 1000.0, note.measured_us);
            both.1.record(Nanos((note.measured_us * 1000.0) as u64));
        }
        if let Some(each) = &mut self.each_ns {
            let at = note.number as usize;
            if at >= each.len() {
                each.resize(at + 1, 0);
            }
            each[at] = took.0;
        }
    }
}
