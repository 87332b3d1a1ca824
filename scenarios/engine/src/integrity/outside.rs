//! What a caller from outside needs to know to keep the data themselves: which version each of its
//! writes makes of a sector, and which versions its reads got.

use crate::layout::Token;
use raidlab_io::IoId;
use std::collections::HashMap;

/// Notes for the caller, by the marks of its I/Os.
#[derive(Debug, Default)]
pub(crate) struct OutsideVersions {
    /// Marks of reads under way.
    reads: HashMap<IoId, u32>,
    /// Writes that have begun, with their numbers.
    begun: Vec<(u32, u64)>,
    /// Tokens that complete reads got.
    got: HashMap<u32, Vec<Token>>,
}

impl OutsideVersions {
    /// A request of an outside caller has begun: a write's number, none of a read.
    pub(super) fn begins(&mut self, id: IoId, mark: u32, write: Option<u64>) {
        match write {
            Some(number) => self.begun.push((mark, number)),
            None => {
                self.reads.insert(id, mark);
            }
        }
    }

    /// A request is complete; gives the mark of a read of an outside caller.
    pub(super) fn ends(&mut self, id: IoId) -> Option<u32> {
        self.reads.remove(&id)
    }

    /// The read of a mark has got the tokens of its sectors.
    pub(super) fn keep(&mut self, mark: u32, tokens: Vec<Token>) {
        self.got.insert(mark, tokens);
    }

    /// The power has failed: what was under way is gone.
    pub(super) fn power_failed(&mut self) {
        self.reads.clear();
    }

    /// Writes that have begun since the last call: mark and number.
    pub fn take_begun(&mut self) -> Vec<(u32, u64)> {
        std::mem::take(&mut self.begun)
    }

    /// Tokens of the sectors that the read of a mark got, once.
    pub fn take_got(&mut self, mark: u32) -> Option<Vec<Token>> {
        self.got.remove(&mark)
    }
}
