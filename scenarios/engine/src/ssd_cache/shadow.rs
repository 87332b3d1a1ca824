//! The life of an SSD cache faster than the clock: beside each request shadows that make an SSD cache's
//! decisions without moving data.

use crate::ids::WorkloadId;
use crate::raid::redirect::NewData;
use crate::ssd_cache::CachePolicy;
use crate::state::load::Request;
use raidlab_io::Op;
use raidlab_kernel::Divider;
use raidlab_models::{ArrayLine, CopyEnd, Lookup, SsdCache};

/// Requests that are looked up beside each other.
pub(crate) const BATCH: usize = 32;

/// A request that moves no data: the lines that it looks up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shadow {
    first: ArrayLine,
    lines: u32,
    op: Op,
}

impl Shadow {
    fn lines(self) -> impl Iterator<Item = ArrayLine> + Clone {
        self.first.row(self.lines)
    }
}

/// What requests decide of an SSD cache, without their data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Decisions {
    /// Bytes of a line.
    pub line: Divider,
    /// What the SSD cache does with writes.
    pub new_data: NewData,
}

impl Decisions {
    /// A request without its data.
    #[inline]
    pub(crate) fn shadow(self, request: &Request) -> Shadow {
        let (first, lines) = ArrayLine::span(request.range(), self.line);
        Shadow {
            first,
            lines,
            op: request.op,
        }
    }

    /// A request that moves no data; lines that it makes hot are here at once, if there is `room`
    /// for their copies.
    pub(crate) fn imagine(self, map: &mut SsdCache, shadow: Shadow, room: bool) {
        for line in shadow.lines() {
            let lookup = map.access(line);
            if lookup == Lookup::Hot && room {
                if let Some(slot) = map.begin(line) {
                    map.arrived(slot, CopyEnd::Whole);
                }
            }
            if shadow.op == Op::Write {
                self.new_data.imagine(map, line);
            }
        }
    }
}

/// Brings near the processor what these look at.
pub(crate) fn fetch(map: &SsdCache, shadows: &[Shadow]) {
    map.fetch(shadows.iter().flat_map(|shadow| shadow.lines()));
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
            let drawn = std::iter::from_fn(|| load.next(thread)).take(left.min(BATCH));
            let shadows = drawn.map(|request| self.decisions.shadow(&request));
            self.batch.extend(shadows);
            if self.batch.is_empty() {
                return;
            }
            fetch(map, &self.batch);
            for &shadow in &self.batch {
                self.decisions.imagine(map, shadow, room);
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
