//! An array as the controller keeps it: its places, and which of its drives can be used.

use super::geometry::{Geometry, Place};
use super::store::Caching;
use super::stripe::Role;
use raidlab_models::SECTOR;

/// A drive's place in an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Holds its data.
    Good,
    /// Holds nothing that can be used.
    Failed,
}

/// A member of an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    /// Index of the drive that stands there now.
    pub drive: u32,
    pub state: State,
}

/// An array whose data pass through memory.
#[derive(Debug)]
pub(crate) struct Volume {
    pub geometry: Geometry,
    pub members: Vec<Member>,
    /// The controller's link to the host, if data cross it by themselves.
    pub host_link: Option<u32>,
    /// How the controller's cache serves it.
    pub caching: Option<Caching>,
}

impl Volume {
    pub fn new(geometry: Geometry, drives: &[u32], host_link: Option<u32>) -> Volume {
        let state = State::Good;
        Volume {
            geometry,
            members: drives
                .iter()
                .map(|&drive| Member { drive, state })
                .collect(),
            host_link,
            caching: None,
        }
    }

    /// Whether the unit at a place can be read.
    #[inline]
    pub fn lives(&self, place: Place) -> bool {
        match self.members[place.member as usize].state {
            State::Good => true,
            State::Failed => false,
        }
    }

    /// The place of a unit's first copy.
    #[inline]
    pub fn place(&self, stripe: u64, role: Role) -> Place {
        match role {
            Role::Data(column) => self.geometry.data(stripe, column, 0),
            Role::Parity(which) => self.geometry.parity(stripe, which),
        }
    }

    /// The number of what goes to the drives together: the stripe where parity ties its units
    /// together, else the unit.
    #[inline]
    pub fn group(&self, stripe: u64, column: u32) -> u64 {
        if self.geometry.parities() > 0 {
            stripe
        } else {
            stripe * u64::from(self.geometry.columns()) + u64::from(column)
        }
    }

    /// Number of groups, and sectors of one.
    pub fn groups(&self) -> (u64, u32) {
        let unit = (self.geometry.unit() / SECTOR) as u32;
        let (stripes, columns) = (self.geometry.stripes(), self.geometry.columns());
        if self.geometry.parities() > 0 {
            (stripes, unit * columns)
        } else {
            (stripes * u64::from(columns), unit)
        }
    }

    /// What a lock covers: the whole stripe where parity ties its units together, else a unit.
    #[inline]
    pub fn lock_key(&self, array: u32, stripe: u64, column: u32) -> u64 {
        u64::from(array) << 48 | self.group(stripe, column)
    }
}
