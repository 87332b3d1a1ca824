//! Which requests go on where a recent one ended.

use crate::requests::Request;

/// Streams that are followed at once, as drives and controllers follow some tens.
const STREAMS: usize = 32;

/// The ends of recent streams, the latest first.
#[derive(Default)]
pub struct Sequence {
    ends: Vec<u64>,
    requests: u64,
    sequential: u64,
}

impl Sequence {
    /// Counts a read or a write; true if it continues a stream.
    pub(crate) fn add(&mut self, request: &Request) -> bool {
        self.requests += 1;
        let known = self.ends.iter().position(|&end| end == request.offset);
        let end = request.offset + request.bytes;
        match known {
            Some(at) => {
                self.sequential += 1;
                self.ends[..=at].rotate_right(1);
                self.ends[0] = end;
            }
            None => {
                self.ends.truncate(STREAMS - 1);
                self.ends.insert(0, end);
            }
        }
        known.is_some()
    }

    pub(super) fn share(&self) -> f64 {
        self.sequential as f64 / self.requests.max(1) as f64
    }
}
