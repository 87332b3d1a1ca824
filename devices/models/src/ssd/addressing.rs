//! Which mapping unit a byte belongs to.

use crate::ssd::params::SsdParams;

/// How a byte's mapping unit is found.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// By the binary logarithm of its bytes.
    Shift(u32),
    /// Its bytes are no power of two.
    Divide,
    /// In a slice that all addresses share.
    Slices,
}

/// The units of a drive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Addressing {
    kind: Kind,
    /// Bytes of a unit, and of a slice.
    unit: u64,
    slice: u64,
}

impl Addressing {
    pub(crate) fn of(params: &SsdParams) -> Addressing {
        let kind = match params.unit_bytes {
            _ if params.slices > 1 => Kind::Slices,
            unit if unit.is_power_of_two() => Kind::Shift(unit.trailing_zeros()),
            _ => Kind::Divide,
        };
        Addressing {
            kind,
            unit: u64::from(params.unit_bytes),
            slice: params.capacity_bytes,
        }
    }

    /// The unit of a byte, and the byte's place in it.
    #[inline]
    pub(crate) fn unit_of(&self, byte: u64) -> (u64, u64) {
        match self.kind {
            Kind::Shift(shift) => (byte >> shift, byte & ((1 << shift) - 1)),
            Kind::Divide => (byte / self.unit, byte % self.unit),
            Kind::Slices => (byte % self.slice / self.unit, byte % self.unit),
        }
    }

    /// The unit that a border of a command cuts, if it does.
    pub(crate) fn cut(&self, byte: u64) -> Option<u64> {
        let (unit, within) = self.unit_of(byte);
        (within != 0).then_some(unit)
    }
}
