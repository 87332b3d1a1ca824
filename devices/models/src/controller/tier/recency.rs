//! Slots in the order of their last use: lists linked through arrays, nothing allocated.

use std::hint::black_box;

const NONE: u32 = u32::MAX;

/// One list of slots, from the newest to the oldest.
#[derive(Clone, Debug)]
pub(super) struct List {
    newest: u32,
    oldest: u32,
    len: u32,
}

impl Default for List {
    fn default() -> List {
        List {
            newest: NONE,
            oldest: NONE,
            len: 0,
        }
    }
}

impl List {
    pub(super) fn len(&self) -> u32 {
        self.len
    }
}

/// A slot's neighbours in its list.
#[derive(Clone, Copy, Debug)]
struct Link {
    newer: u32,
    older: u32,
}

/// Memory of a slot's links.
pub(super) const LINK_BYTES: usize = size_of::<Link>();

/// The links of all slots; each slot stands in one list at most.
#[derive(Clone, Debug)]
pub(super) struct Order {
    links: Vec<Link>,
}

impl Order {
    pub(super) fn new(slots: usize) -> Order {
        Order {
            links: vec![Link { newer: 0, older: 0 }; slots],
        }
    }

    pub(super) fn link_newest(&mut self, list: &mut List, slot: u32) {
        self.links[slot as usize] = Link {
            newer: NONE,
            older: list.newest,
        };
        match list.newest {
            NONE => list.oldest = slot,
            newest => self.links[newest as usize].newer = slot,
        }
        list.newest = slot;
        list.len += 1;
    }

    pub(super) fn link_oldest(&mut self, list: &mut List, slot: u32) {
        self.links[slot as usize] = Link {
            newer: list.oldest,
            older: NONE,
        };
        match list.oldest {
            NONE => list.newest = slot,
            oldest => self.links[oldest as usize].older = slot,
        }
        list.oldest = slot;
        list.len += 1;
    }

    pub(super) fn unlink(&mut self, list: &mut List, slot: u32) {
        let Link { newer, older } = self.links[slot as usize];
        match newer {
            NONE => list.newest = older,
            newer => self.links[newer as usize].older = older,
        }
        match older {
            NONE => list.oldest = newer,
            older => self.links[older as usize].newer = newer,
        }
        list.len -= 1;
    }

    /// The slots of a list, the one used longest ago first.
    pub(super) fn oldest_first(&self, list: &List) -> impl Iterator<Item = u32> + '_ {
        let known = |slot: u32| (slot != NONE).then_some(slot);
        let newer = move |slot: &u32| known(self.links[*slot as usize].newer);
        std::iter::successors(known(list.oldest), newer)
    }

    #[inline]
    pub(super) fn touch(&mut self, list: &mut List, slot: u32) {
        if list.newest != slot {
            self.unlink(list, slot);
            self.link_newest(list, slot);
        }
    }

    /// Brings near the processor what touching these slots looks at.
    pub(super) fn fetch(&self, slots: impl Iterator<Item = u32> + Clone) {
        let own = slots.clone().map(|slot| self.links[slot as usize].newer);
        black_box(own.fold(0, |seen, newer| seen ^ newer));
        let neighbours = slots.flat_map(|slot| {
            let Link { newer, older } = self.links[slot as usize];
            [newer, older]
        });
        // The ends of a list have no neighbour.
        let known = neighbours.filter_map(|slot| self.links.get(slot as usize));
        black_box(known.fold(0, |seen, link| seen ^ link.newer));
    }
}
