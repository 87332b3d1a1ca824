//! Slots in the order of their last use: lists linked through arrays, nothing allocated.

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

    pub(super) fn oldest(&self) -> Option<u32> {
        (self.oldest != NONE).then_some(self.oldest)
    }
}

/// The links of all slots; each slot stands in one list at most.
#[derive(Debug)]
pub(super) struct Order {
    newer: Vec<u32>,
    older: Vec<u32>,
}

impl Order {
    pub(super) fn new(slots: usize) -> Order {
        Order {
            newer: vec![0; slots],
            older: vec![0; slots],
        }
    }

    pub(super) fn link_newest(&mut self, list: &mut List, slot: u32) {
        (self.newer[slot as usize], self.older[slot as usize]) = (NONE, list.newest);
        match list.newest {
            NONE => list.oldest = slot,
            newest => self.newer[newest as usize] = slot,
        }
        list.newest = slot;
        list.len += 1;
    }

    pub(super) fn link_oldest(&mut self, list: &mut List, slot: u32) {
        (self.newer[slot as usize], self.older[slot as usize]) = (list.oldest, NONE);
        match list.oldest {
            NONE => list.newest = slot,
            oldest => self.older[oldest as usize] = slot,
        }
        list.oldest = slot;
        list.len += 1;
    }

    pub(super) fn unlink(&mut self, list: &mut List, slot: u32) {
        let (newer, older) = (self.newer[slot as usize], self.older[slot as usize]);
        match newer {
            NONE => list.newest = older,
            newer => self.older[newer as usize] = older,
        }
        match older {
            NONE => list.oldest = newer,
            older => self.newer[older as usize] = newer,
        }
        list.len -= 1;
    }

    #[inline]
    pub(super) fn touch(&mut self, list: &mut List, slot: u32) {
        if list.newest != slot {
            self.unlink(list, slot);
            self.link_newest(list, slot);
        }
    }
}
