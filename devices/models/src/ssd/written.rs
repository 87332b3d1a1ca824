//! What the host writes and what NAND does for it, and what is read that was never written, over a
//! time.

use schemars::JsonSchema;
use serde::Serialize;

/// Bytes and mapping units written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
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

/// Mapping units that reads asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReadUnits {
    /// All of them.
    pub units: u64,
    /// Those that were never written, or were discarded: the drive answers without NAND.
    pub unwritten_units: u64,
}

impl std::iter::Sum for ReadUnits {
    fn sum<I: Iterator<Item = ReadUnits>>(all: I) -> ReadUnits {
        all.fold(ReadUnits::default(), |sum, each| ReadUnits {
            units: sum.units + each.units,
            unwritten_units: sum.unwritten_units + each.unwritten_units,
        })
    }
}

impl ReadUnits {
    /// What was read since `before`.
    pub fn since(self, before: ReadUnits) -> ReadUnits {
        ReadUnits {
            units: self.units - before.units,
            unwritten_units: self.unwritten_units - before.unwritten_units,
        }
    }
}
