//! How large requests are.

use raidlab_io::Op;
use std::collections::BTreeMap;

/// Different sizes that are counted apart; further ones count as the next larger power of two.
const DIFFERENT: usize = 4096;

/// Numbers of reads and of writes by size.
#[derive(Default)]
pub struct Sizes(BTreeMap<u64, [u64; 2]>);

impl Sizes {
    /// Counts a read or a write.
    pub(super) fn add(&mut self, op: Op, bytes: u64) {
        let full = self.0.len() >= DIFFERENT && !self.0.contains_key(&bytes);
        let size = if full {
            bytes.next_power_of_two()
        } else {
            bytes
        };
        self.0.entry(size).or_default()[usize::from(op.is_write())] += 1;
    }

    /// Size in bytes, reads, writes; in ascending order.
    pub(super) fn all(&self) -> Vec<(u64, u64, u64)> {
        let each = |(&size, &[reads, writes]): (&u64, &[u64; 2])| (size, reads, writes);
        self.0.iter().map(each).collect()
    }
}
