//! The life of an SSD cache faster than the clock: beside each request shadows that make an SSD cache's
//! decisions without moving data.

use crate::ids::WorkloadId;
use crate::raid::redirect::NewData;
use crate::ssd_cache::CachePolicy;
use crate::state::load::Request;
use raidlab_io::Op;
use raidlab_models::{ArrayLine, CopyEnd, Lookup, SsdCache};

/// Requests that are looked up beside each other.
pub(crate) const BATCH: usize = 32;

/// What requests decide of an SSD cache, without their data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Decisions {
    /// Bytes of a line.
    pub line: u64,
    /// What the SSD cache does with writes.
    pub new_data: NewData,
}

impl Decisions {
    /// Brings near the processor what these requests look at.
    pub(crate) fn fetch(self, map: &SsdCache, requests: &[Request]) {
        let lines = requests
            .iter()
            .map(|r| ArrayLine::all_of(r.range(), self.line));
        map.fetch(lines.flatten());
    }

    /// A request that moves no data; lines that it makes hot are here at once, if there is `room`
    /// for their copies.
    pub(crate) fn imagine(self, map: &mut SsdCache, request: &Request, room: bool) {
        for line in ArrayLine::all_of(request.range(), self.line) {
            let lookup = map.access(line);
            if lookup == Lookup::Hot && room {
                if let Some(slot) = map.begin(line) {
                    map.arrived(slot, CopyEnd::Whole);
                }
            }
            if request.op == Op::Write {
                self.new_data.imagine(map, line);
            }
        }
    }
}

/// Writes the next line back that should be, at once.
pub(crate) fn imagine_cleaned(map: &mut SsdCache) -> bool {
    let next = map.next_to_clean();
    if let Some(slot) = next {
        map.cleaned(slot, CopyEnd::Whole);
    }
    next.is_some()
}

impl CachePolicy {
    /// What happens to the SSD cache beside one request of a workload's thread, in a time lapse.
    pub(crate) fn shadow(&mut self, map: &mut SsdCache, workload: WorkloadId, thread: u32) {
        let Some(load) = &mut self.shadows[workload] else {
            return;
        };
        let room = self.copies < self.copies_at_once;
        let mut left = self.lapse as usize - 1;
        while left > 0 {
            self.batch.clear();
            let drawn = std::iter::from_fn(|| load.next(thread));
            self.batch.extend(drawn.take(left.min(BATCH)));
            if self.batch.is_empty() {
                return;
            }
            self.decisions.fetch(map, &self.batch);
            for request in &self.batch {
                self.decisions.imagine(map, request, room);
            }
            left -= self.batch.len();
        }
    }

    /// As many lines have been written back beside one that really was, in a time lapse.
    pub(crate) fn shadow_cleaned(&self, map: &mut SsdCache) {
        for _ in 1..self.lapse {
            imagine_cleaned(map);
        }
    }
}
