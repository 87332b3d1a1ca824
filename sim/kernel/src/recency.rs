//! Lists in the order of last use, linked through the records of their members.
//!
//! A list allocates nothing: each member is a slot of a table and has its [`RecencyLink`] there. A slot
//! stands in one list at most.

use crate::{Id, Table};

/// A slot's neighbours in its list; none at an end.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RecencyLink<I> {
    /// The slot that was used next after it.
    pub newer: I,
    /// The slot that was used last before it.
    pub older: I,
}

impl<I: Id> RecencyLink<I> {
    /// In no list.
    pub const NONE: RecencyLink<I> = RecencyLink {
        newer: I::NONE,
        older: I::NONE,
    };
}

/// A record that can stand in a [`RecencyList`] of such slots.
pub trait Linked<I> {
    /// Its neighbours.
    fn link(&self) -> RecencyLink<I>;

    /// Its neighbours, to be changed.
    fn link_mut(&mut self) -> &mut RecencyLink<I>;
}

/// Slots of one table in the order of their last use.
///
/// Every method gets the table, which all lists of its slots share.
#[derive(Clone, Debug)]
pub struct RecencyList<I> {
    newest: I,
    oldest: I,
    len: u32,
}

impl<I: Id> Default for RecencyList<I> {
    fn default() -> RecencyList<I> {
        RecencyList {
            newest: I::NONE,
            oldest: I::NONE,
            len: 0,
        }
    }
}

impl<I: Id> RecencyList<I> {
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
    pub fn oldest(&self) -> Option<I> {
        self.oldest.some()
    }

    /// Puts a slot in as the one used last.
    #[inline]
    pub fn push_newest<T: Linked<I>>(&mut self, slots: &mut Table<I, T>, slot: I) {
        *slots[slot].link_mut() = RecencyLink {
            newer: I::NONE,
            older: self.newest,
        };
        match self.newest.some() {
            None => self.oldest = slot,
            Some(newest) => slots[newest].link_mut().newer = slot,
        }
        self.newest = slot;
        self.len += 1;
    }

    /// Takes a slot of this list out.
    #[inline]
    pub fn remove<T: Linked<I>>(&mut self, slots: &mut Table<I, T>, slot: I) {
        let RecencyLink { newer, older } = slots[slot].link();
        match newer.some() {
            None => self.newest = older,
            Some(newer) => slots[newer].link_mut().older = older,
        }
        match older.some() {
            None => self.oldest = newer,
            Some(older) => slots[older].link_mut().newer = newer,
        }
        self.len -= 1;
    }

    /// A slot of this list is used now.
    #[inline]
    pub fn touch<T: Linked<I>>(&mut self, slots: &mut Table<I, T>, slot: I) {
        if self.newest != slot {
            self.remove(slots, slot);
            self.push_newest(slots, slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    crate::ids! {
        /// A slot of the test's.
        SlotId;
    }

    impl Linked<SlotId> for RecencyLink<SlotId> {
        fn link(&self) -> RecencyLink<SlotId> {
            *self
        }

        fn link_mut(&mut self) -> &mut RecencyLink<SlotId> {
            self
        }
    }

    proptest! {
        /// Against a vector with the oldest slot in front.
        #[test]
        fn behaves_as_a_vector_in_order_of_use(
            steps in prop::collection::vec((0u8..3, 0u32..8), 0..200),
        ) {
            let mut links: Table<SlotId, _> = vec![RecencyLink::NONE; 8].into();
            let mut list = RecencyList::default();
            let mut reference: Vec<SlotId> = Vec::new();
            for (step, slot) in steps {
                let slot = SlotId::new(slot);
                let is_in = reference.contains(&slot);
                match step {
                    0 if !is_in => {
                        list.push_newest(&mut links, slot);
                        reference.push(slot);
                    }
                    1 if is_in => {
                        list.remove(&mut links, slot);
                        reference.retain(|&other| other != slot);
                    }
                    2 if is_in => {
                        list.touch(&mut links, slot);
                        reference.retain(|&other| other != slot);
                        reference.push(slot);
                    }
                    _ => {}
                }
                let newer = |slot: &SlotId| links[*slot].newer.some();
                let slots: Vec<SlotId> = std::iter::successors(list.oldest(), newer).collect();
                prop_assert_eq!(&slots, &reference);
                prop_assert_eq!(list.oldest(), reference.first().copied());
                prop_assert_eq!(list.len() as usize, reference.len());
                prop_assert_eq!(list.is_empty(), reference.is_empty());
            }
        }
    }
}
