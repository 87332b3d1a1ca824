//! Reads of what a trace has not written: an empty SSD answers them without NAND.

use crate::requests::Request;
use raidlab_kernel::Op;
use serde::Serialize;
use std::collections::BTreeMap;

/// Bytes by which what was written is compared.
const BLOCK: u64 = 4096;
/// Requests that are looked at.
const SEEN: u64 = 20_000;

/// Counts reads, among the first requests, that begin in what was never written.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Unwritten {
    /// Requests looked at.
    pub seen: u64,
    /// Reads among them.
    pub reads: u64,
    /// Reads of what was never written.
    pub unwritten: u64,
    /// Ranges of blocks that were written: first, and the one behind the last.
    #[serde(skip)]
    written: BTreeMap<u64, u64>,
}

impl Unwritten {
    /// Looks at the next request.
    #[inline]
    pub fn look(&mut self, request: &Request) {
        if self.seen < SEEN {
            self.count(request);
        }
    }

    fn count(&mut self, request: &Request) {
        self.seen += 1;
        let first = request.offset / BLOCK;
        match request.op {
            Op::Read => {
                self.reads += 1;
                let before = self.written.range(..=first).next_back();
                self.unwritten += u64::from(before.is_none_or(|(_, &end)| end <= first));
            }
            Op::Write => {
                let end = ((request.offset + request.bytes) / BLOCK).max(first + 1);
                self.insert(first, end);
            }
            _ => {}
        }
    }

    fn insert(&mut self, mut first: u64, mut end: u64) {
        while let Some((&from, &to)) = self.written.range(..=end).next_back() {
            if to < first {
                break;
            }
            self.written.remove(&from);
            (first, end) = (first.min(from), end.max(to));
        }
        self.written.insert(first, end);
    }
}
