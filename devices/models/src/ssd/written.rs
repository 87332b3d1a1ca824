//! What the host writes and what NAND does for it, over a time.

use serde::Serialize;

/// Bytes and mapping units written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Written {
    /// Bytes from the host.
    pub host_bytes: u64,
    /// Bytes that NAND took in or is about to: data as they are stored, parity, the map's pages.
    pub nand_bytes: u64,
    /// Mapping units from the host.
    pub host_units: u64,
    /// Mapping units that garbage collection moved.
    pub moved_units: u64,
}

impl Written {
    /// What was written since `before`. Counting begins anew with the first write of a run.
    pub fn since(self, before: Written) -> Written {
        Written {
            host_bytes: self.host_bytes.saturating_sub(before.host_bytes),
            nand_bytes: self.nand_bytes.saturating_sub(before.nand_bytes),
            host_units: self.host_units.saturating_sub(before.host_units),
            moved_units: self.moved_units.saturating_sub(before.moved_units),
        }
    }
}
