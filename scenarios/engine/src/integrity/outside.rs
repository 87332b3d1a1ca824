//! What a caller from outside needs to know to keep the data themselves: which version each of its
//! writes makes of a sector, and which versions its reads got.

use crate::integrity::Integrity;
use crate::integrity::sectors::sectors;
use raidlab_io::IoId;
use std::collections::HashMap;

/// Notes for the caller, by the marks of its I/Os.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    /// Marks of reads under way.
    reads: HashMap<IoId, u32>,
    /// Writes that have begun, with their numbers.
    begun: Vec<(u32, u64)>,
    /// Tokens that complete reads got.
    got: HashMap<u32, Vec<u64>>,
}

impl Integrity {
    /// Notes are taken from now on.
    pub fn serve_outside(&mut self) {
        self.outside = Some(Outside::default());
    }

    /// A request of an outside caller has begun.
    pub fn outside_begins(&mut self, id: IoId, mark: u32) {
        let Some(outside) = &mut self.outside else {
            return;
        };
        match self.writes.get(&id) {
            Some(write) => outside.begun.push((mark, write.number)),
            None => {
                outside.reads.insert(id, mark);
            }
        }
    }

    /// A request is complete; a read of an outside caller has got what its reader has.
    pub(super) fn outside_ends(&mut self, id: IoId, offset: u64, bytes: u64) {
        let Some(outside) = &mut self.outside else {
            return;
        };
        let Some(mark) = outside.reads.remove(&id) else {
            return;
        };
        if let Some(reader) = self.readers.get(&id).filter(|reader| !reader.refused) {
            let token = |sector| reader.got.get(sector).unwrap_or(0);
            let tokens = sectors(offset, bytes).map(token).collect();
            outside.got.insert(mark, tokens);
        }
    }

    /// The power has failed: what was under way is gone.
    pub(super) fn outside_lost(&mut self) {
        if let Some(outside) = &mut self.outside {
            outside.reads.clear();
        }
    }

    /// Writes that have begun since the last call: mark and number.
    pub fn take_begun(&mut self) -> Vec<(u32, u64)> {
        self.outside
            .as_mut()
            .map_or_else(Vec::new, |outside| std::mem::take(&mut outside.begun))
    }

    /// Tokens of the sectors that the read of a mark got, once.
    pub fn take_got(&mut self, mark: u32) -> Option<Vec<u64>> {
        self.outside.as_mut()?.got.remove(&mark)
    }
}
