//! The second reading of a trace: its requests in the order of their times, on the device.

use crate::beyond::Placement;
use crate::fault::Fault;
use crate::order::Order;
use crate::reader::Records;
use crate::record::{Options, Record};
use crate::scan::Scan;
use raidlab_io::Op;
use raidlab_kernel::Nanos;

/// A request on the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// What is asked.
    pub op: Op,
    /// First byte.
    pub offset: u64,
    /// Number of bytes; 0 for a flush.
    pub bytes: u64,
    /// From the first request to this one; where times are pauses, from this one's completion to
    /// the next one.
    pub time: Nanos,
    /// Measured response time in microseconds; NaN where there is none.
    pub response_us: f64,
    /// Its line, from 1.
    pub line: u64,
}

/// All requests of a trace, one after the other.
pub struct Requests {
    records: Records,
    order: Option<Order>,
    placement: Placement,
    /// By disk in the order of the file: where it begins; none if it is not wanted.
    starts: Vec<Option<u64>>,
    scan: Scan,
    slower: f64,
    /// True if times are to become pauses.
    pauses: bool,
    without_trims: bool,
    /// The request whose pause is not known yet.
    held: Option<Request>,
    over: bool,
}

impl Requests {
    /// # Errors
    /// The file cannot be read.
    pub fn open(options: &Options, scan: &Scan) -> Result<Requests, Fault> {
        Ok(Requests {
            records: Records::open(options)?,
            order: (!scan.sorted).then(Order::default),
            placement: Placement {
                capacity: options.capacity,
                extent: scan.extent,
                beyond: options.beyond,
            },
            starts: Vec::new(),
            slower: options.slower,
            pauses: options.pauses && !scan.closed,
            without_trims: options.without_trims,
            scan: scan.clone(),
            held: None,
            over: false,
        })
    }

    /// Where the disk of a request begins on the device; none if it is not wanted.
    fn start(&mut self, unit: u32) -> Option<u64> {
        while self.starts.len() <= unit as usize {
            let name = self.records.units.name(self.starts.len() as u32);
            let units = &self.scan.units;
            let known = units.binary_search_by(|unit| unit.name.as_str().cmp(name));
            self.starts.push(known.ok().map(|at| units[at].start));
        }
        self.starts[unit as usize]
    }

    /// The next record that is wanted, in the order of times.
    fn next_record(&mut self) -> Option<Result<Record, Fault>> {
        loop {
            if self.over {
                return self.order.as_mut().and_then(Order::pop).map(Ok);
            }
            let mut record = match self.records.next() {
                None => {
                    self.over = true;
                    continue;
                }
                Some(Err(fault)) => return Some(Err(fault)),
                Some(Ok(record)) => record,
            };
            if self.without_trims && record.op == Op::Trim {
                continue;
            }
            let Some(start) = self.start(record.unit) else {
                continue;
            };
            record.offset += start;
            let Some(order) = &mut self.order else {
                return Some(Ok(record));
            };
            match order.push(record) {
                Ok(None) => {}
                Ok(Some(record)) => return Some(Ok(record)),
                Err(fault) => return Some(Err(fault)),
            }
        }
    }

    fn on_device(&self, record: &Record) -> Option<Request> {
        let offset = match record.op {
            Op::Flush => 0,
            _ => self.placement.place(record.offset, record.bytes)?,
        };
        Some(Request {
            op: record.op,
            offset,
            bytes: record.bytes,
            time: self.slowed(record.time_ns - self.scan.first_ns),
            response_us: record.response_us,
            line: record.line,
        })
    }

    fn slowed(&self, time: u64) -> Nanos {
        if self.slower == 1.0 {
            return Nanos(time);
        }
        Nanos((time as f64 * self.slower).round_ties_even() as u64)
    }

    /// The request before, whose pause lasts until `next` is issued.
    fn release(&mut self, next: Option<Request>) -> Option<Request> {
        let mut held = std::mem::replace(&mut self.held, next)?;
        let took = if held.response_us.is_nan() {
            0
        } else {
            (held.response_us * 1e3) as u64
        };
        let until = next.map_or(held.time, |next| next.time);
        held.time = Nanos((until - held.time).0.saturating_sub(took));
        Some(held)
    }
}

impl Iterator for Requests {
    type Item = Result<Request, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let record = match self.next_record() {
                None => return self.release(None).map(Ok),
                Some(Err(fault)) => return Some(Err(fault)),
                Some(Ok(record)) => record,
            };
            let Some(request) = self.on_device(&record) else {
                continue;
            };
            if !self.pauses {
                return Some(Ok(request));
            }
            if let Some(before) = self.release(Some(request)) {
                return Some(Ok(before));
            }
        }
    }
}
