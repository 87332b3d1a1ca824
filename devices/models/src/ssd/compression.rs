//! Compression in the drive: what a mapping unit occupies in NAND.
//!
//! Data that can be compressed by a share c occupy 1 - gain x c of their size, where `gain` is
//! how much of that the drive's engine finds, and never less than what its headers and its
//! smallest piece take. Fewer bytes per unit mean more units in a page, so fewer programs, and
//! more spare space for the same data, so less garbage collection: both follow from here.

use serde::{Deserialize, Serialize};

/// Compression in the plan.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct CompressionParams {
    /// Share of the data's compressibility that the drive's engine finds, 0 to 1.
    pub gain: f64,
    /// The least share of a unit that is ever stored.
    pub least_share: f64,
}

impl CompressionParams {
    /// The share of a unit that is stored if its data can be compressed by `compressible`.
    pub(super) fn stored_share(&self, compressible: f64) -> f64 {
        (1.0 - self.gain * compressible).clamp(self.least_share, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_share_falls_with_compressibility_to_its_least() {
        let engine = CompressionParams {
            gain: 0.9,
            least_share: 0.14,
        };
        assert_eq!(engine.stored_share(0.0), 1.0);
        assert!((engine.stored_share(0.5) - 0.55).abs() < 1e-12);
        assert_eq!(engine.stored_share(1.0), 0.14);
    }
}
