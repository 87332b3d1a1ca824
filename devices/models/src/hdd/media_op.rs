//! What a head does on the medium.

/// A head reads or writes. A write needs a settled arm, so its movement may take longer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MediaOp {
    /// Sectors go from the medium to the buffer.
    #[default]
    Read,
    /// Sectors go from the buffer to the medium.
    Write,
}
