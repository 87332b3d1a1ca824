//! Groups with dirty data that wait to leave for the drives of one array, and their order.
//!
//! See docs/explanation/controller-cache.md, "Destaging".

use super::destage::Group;
use super::line::NONE;
use raidlab_kernel::{BitSet, Linked, RecencyLink, RecencyList};

/// The order in which groups leave that are not dirty throughout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DestageOrder {
    /// By their place on the drives, one sweep after the other: stripes, whose neighbours gather.
    Elevator,
    /// As their first data came: units without parity, which the drives sort by themselves.
    Arrival,
}

/// What waits for the drives of one array, or of its SSD cache.
#[derive(Clone, Copy, Debug)]
pub struct Space {
    /// Groups of the array.
    pub groups: u64,
    /// Sectors of one.
    pub sectors: u32,
    /// The order in which they leave.
    pub order: DestageOrder,
}

impl Linked for Group {
    #[inline]
    fn link(&self) -> RecencyLink {
        self.link
    }

    #[inline]
    fn link_mut(&mut self) -> &mut RecencyLink {
        &mut self.link
    }
}

/// The groups of a space that wait.
#[derive(Debug)]
pub(super) struct Waiting {
    order: DestageOrder,
    numbers: BitSet,
    /// Where the elevator stands.
    position: u64,
    arrivals: RecencyList,
}

impl Waiting {
    /// None waits.
    pub(super) fn new(space: &Space) -> Waiting {
        Waiting {
            order: space.order,
            numbers: BitSet::new(space.groups),
            position: 0,
            arrivals: RecencyList::default(),
        }
    }

    pub(super) fn len(&self) -> u64 {
        self.numbers.len()
    }

    fn has(&self, number: u64) -> bool {
        self.numbers.next(number) == Some(number)
    }

    /// A group waits, if it does not yet.
    #[inline]
    pub(super) fn insert(&mut self, groups: &mut [Group], group: u32) {
        let before = self.numbers.len();
        self.numbers.insert(groups[group as usize].number);
        if self.order == DestageOrder::Arrival && self.numbers.len() > before {
            self.arrivals.push_newest(groups, group);
        }
    }

    /// A group waits no more, if it did.
    #[inline]
    pub(super) fn remove(&mut self, groups: &mut [Group], group: u32) {
        let before = self.numbers.len();
        self.numbers.remove(groups[group as usize].number);
        if self.order == DestageOrder::Arrival && self.numbers.len() < before {
            self.arrivals.remove(groups, group);
        }
    }

    /// None waits any more.
    pub(super) fn clear(&mut self) {
        while let Some(number) = self.numbers.next(0) {
            self.numbers.remove(number);
        }
        self.arrivals = RecencyList::default();
    }

    /// The number of the group that should leave next.
    #[inline]
    pub(super) fn next(&mut self, groups: &[Group]) -> Option<u64> {
        match self.order {
            DestageOrder::Elevator => {
                let number = self.numbers.next_around(self.position)?;
                self.position = number + 1;
                Some(number)
            }
            DestageOrder::Arrival => {
                let oldest = self.arrivals.oldest()?;
                Some(groups[oldest as usize].number)
            }
        }
    }

    /// The number of the group that the elevator meets behind another one.
    #[inline]
    pub(super) fn behind(&self, number: u64) -> Option<u64> {
        match self.order {
            DestageOrder::Elevator => self.numbers.next(number + 1),
            DestageOrder::Arrival => None,
        }
    }

    /// A group leaves before all others.
    pub(super) fn go_on_from(&mut self, groups: &mut [Group], group: u32, number: u64) {
        self.position = number;
        if self.order == DestageOrder::Arrival && group != NONE && self.has(number) {
            self.arrivals.remove(groups, group);
            self.arrivals.push_oldest(groups, group);
        }
    }
}
