//! Lists in the order of last use, linked through the records of their members.
//!
//! A list allocates nothing: each member is a slot of an array and has its [`RecencyLink`] there. A slot
//! stands in one list at most.

/// No neighbour.
pub const NO_SLOT: u32 = u32::MAX;

/// A slot's neighbours in its list.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RecencyLink {
    /// The slot that was used next after it.
    pub newer: u32,
    /// The slot that was used last before it.
    pub older: u32,
}

impl RecencyLink {
    /// In no list.
    pub const NONE: RecencyLink = RecencyLink {
        newer: NO_SLOT,
        older: NO_SLOT,
    };
}

/// A record that can stand in a [`RecencyList`].
pub trait Linked {
    /// Its neighbours.
    fn link(&self) -> RecencyLink;

    /// Its neighbours, to be changed.
    fn link_mut(&mut self) -> &mut RecencyLink;
}

impl Linked for RecencyLink {
    #[inline]
    fn link(&self) -> RecencyLink {
        *self
    }

    #[inline]
    fn link_mut(&mut self) -> &mut RecencyLink {
        self
    }
}

/// Slots of one array in the order of their last use.
///
/// Every method gets the array, which all lists of its slots share.
#[derive(Clone, Debug)]
pub struct RecencyList {
    newest: u32,
    oldest: u32,
    len: u32,
}

impl Default for RecencyList {
    fn default() -> RecencyList {
        RecencyList {
            newest: NO_SLOT,
            oldest: NO_SLOT,
            len: 0,
        }
    }
}

impl RecencyList {
    /// Number of slots in the list.
    #[inline]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// True if no slot is in the list.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The slot that was used longest ago.
    #[inline]
    pub fn oldest(&self) -> Option<u32> {
        (self.oldest != NO_SLOT).then_some(self.oldest)
    }

    /// Puts a slot in as the one used last.
    #[inline]
    pub fn push_newest<T: Linked>(&mut self, slots: &mut [T], slot: u32) {
        *slots[slot as usize].link_mut() = RecencyLink {
            newer: NO_SLOT,
            older: self.newest,
        };
        match self.newest {
            NO_SLOT => self.oldest = slot,
            newest => slots[newest as usize].link_mut().newer = slot,
        }
        self.newest = slot;
        self.len += 1;
    }

    /// Puts a slot in as the one used longest ago.
    #[inline]
    pub fn push_oldest<T: Linked>(&mut self, slots: &mut [T], slot: u32) {
        *slots[slot as usize].link_mut() = RecencyLink {
            newer: self.oldest,
            older: NO_SLOT,
        };
        match self.oldest {
            NO_SLOT => self.newest = slot,
            oldest => slots[oldest as usize].link_mut().older = slot,
        }
        self.oldest = slot;
        self.len += 1;
    }

    /// Takes a slot of this list out.
    #[inline]
    pub fn remove<T: Linked>(&mut self, slots: &mut [T], slot: u32) {
        let RecencyLink { newer, older } = slots[slot as usize].link();
        match newer {
            NO_SLOT => self.newest = older,
            newer => slots[newer as usize].link_mut().older = older,
        }
        match older {
            NO_SLOT => self.oldest = newer,
            older => slots[older as usize].link_mut().newer = newer,
        }
        self.len -= 1;
    }

    /// A slot of this list is used now.
    #[inline]
    pub fn touch<T: Linked>(&mut self, slots: &mut [T], slot: u32) {
        if self.newest != slot {
            self.remove(slots, slot);
            self.push_newest(slots, slot);
        }
    }

    /// The slots, the one used longest ago first.
    pub fn oldest_first<T: Linked>(&self, slots: &[T]) -> impl Iterator<Item = u32> {
        let exists = |slot: u32| (slot != NO_SLOT).then_some(slot);
        let newer = move |slot: &u32| exists(slots[*slot as usize].link().newer);
        std::iter::successors(exists(self.oldest), newer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a vector with the oldest slot in front.
        #[test]
        fn behaves_as_a_vector_in_order_of_use(
            steps in prop::collection::vec((0u8..4, 0u32..8), 0..200),
        ) {
            let mut links = [RecencyLink::NONE; 8];
            let mut list = RecencyList::default();
            let mut reference: Vec<u32> = Vec::new();
            for (step, slot) in steps {
                let is_in = reference.contains(&slot);
                match step {
                    0 if !is_in => {
                        list.push_newest(&mut links, slot);
                        reference.push(slot);
                    }
                    1 if !is_in => {
                        list.push_oldest(&mut links, slot);
                        reference.insert(0, slot);
                    }
                    2 if is_in => {
                        list.remove(&mut links, slot);
                        reference.retain(|&other| other != slot);
                    }
                    3 if is_in => {
                        list.touch(&mut links, slot);
                        reference.retain(|&other| other != slot);
                        reference.push(slot);
                    }
                    _ => {}
                }
                let slots: Vec<u32> = list.oldest_first(&links).collect();
                prop_assert_eq!(&slots, &reference);
                prop_assert_eq!(list.oldest(), reference.first().copied());
                prop_assert_eq!(list.len() as usize, reference.len());
                prop_assert_eq!(list.is_empty(), reference.is_empty());
            }
        }
    }
}
