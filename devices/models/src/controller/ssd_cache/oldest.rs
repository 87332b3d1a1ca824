//! The least recently used slots of a state, found when they are asked for.
//!
//! A use writes the slot's [`Mark`] and nothing else: no list is kept in order. Who asks for the
//! least recently used slot goes through all marks once and keeps the oldest of them, in order; a
//! slot of which the mark has changed since is passed over. When they are used up, all marks are
//! gone through again: at most sixteen marks for each slot that was taken or used in between.

use super::{Mark, SlotId, State};
use crate::controller::ReferenceCounts;
use raidlab_kernel::Table;

/// One slot of this many stands among the oldest after all marks were gone through.
const SHARE: usize = 16;
/// The oldest slots that are looked for at once, at least.
const AT_LEAST: usize = 1024;

#[derive(Clone, Copy, Debug)]
struct Candidate {
    mark: Mark,
    slot: SlotId,
}

/// The slots of one state, of which the oldest are known.
#[derive(Clone, Debug)]
pub(super) struct Oldest {
    state: State,
    len: u32,
    /// The oldest slots, the oldest one last: every slot of this state that does not stand here as
    /// its mark is now was used after all that do.
    candidates: Vec<Candidate>,
    /// Candidates that are looked for at once.
    wanted: usize,
}

impl Oldest {
    /// No slot is in this state, of `slots` at most.
    pub(super) fn new(state: State, slots: u32) -> Oldest {
        let wanted = (slots as usize / SHARE).max(AT_LEAST);
        Oldest {
            state,
            len: 0,
            candidates: Vec::with_capacity(2 * wanted),
            wanted,
        }
    }

    /// Bytes of memory of `slots` slots.
    pub(super) const fn bytes_of(slots: u64) -> u64 {
        slots.saturating_mul((2 * size_of::<Candidate>() / SHARE) as u64)
    }

    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// A slot has come into this state; its mark is newer than all.
    #[inline]
    pub(super) fn joined(&mut self) {
        self.len += 1;
    }

    /// A slot has left this state.
    #[inline]
    pub(super) fn left(&mut self) {
        self.len -= 1;
    }

    /// A slot has come into this state with a mark that is older than all.
    pub(super) fn joined_as_oldest(&mut self, slot: SlotId, mark: Mark) {
        self.len += 1;
        if self.candidates.len() == 2 * self.wanted {
            self.candidates.clear();
        } else {
            self.candidates.push(Candidate { mark, slot });
        }
    }

    /// No slot is in this state any more.
    pub(super) fn clear(&mut self) {
        self.len = 0;
        self.candidates.clear();
    }

    /// The least recently used slot of those that are not pinned.
    pub(super) fn at_rest(
        &mut self,
        marks: &Table<SlotId, Mark>,
        pins: &ReferenceCounts<SlotId>,
    ) -> Option<SlotId> {
        if self.len == 0 {
            return None;
        }
        self.first_at_rest(marks, pins).or_else(|| {
            self.look_for(marks, self.wanted + pins.users());
            self.first_at_rest(marks, pins)
        })
    }

    fn first_at_rest(
        &mut self,
        marks: &Table<SlotId, Mark>,
        pins: &ReferenceCounts<SlotId>,
    ) -> Option<SlotId> {
        let holds = |candidate: &Candidate| marks[candidate.slot] == candidate.mark;
        while self.candidates.last().is_some_and(|last| !holds(last)) {
            self.candidates.pop();
        }
        let mut oldest_first = self.candidates.iter().rev();
        let found = oldest_first.find(|each| holds(each) && !pins.contains(each.slot));
        found.map(|candidate| candidate.slot)
    }

    /// Finds the oldest slots, at least `wanted` of them if there are.
    fn look_for(&mut self, marks: &Table<SlotId, Mark>, wanted: usize) {
        self.candidates.clear();
        let mut newest = Mark::LAST;
        for (slot, &mark) in marks.entries() {
            if mark.state() != self.state || mark > newest {
                continue;
            }
            self.candidates.push(Candidate { mark, slot });
            if self.candidates.len() == 2 * wanted {
                let (_, &mut kept, _) = self
                    .candidates
                    .select_nth_unstable_by_key(wanted - 1, |each| each.mark);
                newest = kept.mark;
                self.candidates.truncate(wanted);
            }
        }
        self.candidates
            .sort_unstable_by_key(|each| std::cmp::Reverse(each.mark));
    }
}

#[cfg(test)]
mod tests {
    use super::super::mark::Clock;
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeSet, VecDeque};

    const SLOTS: u32 = 12;

    proptest! {
        /// Against a list that is kept in the order of use, the oldest first. Two candidates at once
        /// are so few that all marks are gone through often.
        #[test]
        fn the_oldest_is_that_of_a_list_in_order(
            steps in prop::collection::vec((0u8..8, 0..SLOTS), 1..300),
            wanted in 1usize..4,
        ) {
            let mut oldest = Oldest { wanted, ..Oldest::new(State::Clean, SLOTS) };
            let mut marks: Table<SlotId, Mark> =
                (0..SLOTS).map(|_| Mark::apart(State::Free)).collect();
            let mut pins = ReferenceCounts::with_capacity(4);
            let (mut list, mut pinned) = (VecDeque::new(), BTreeSet::new());
            let mut clock = Clock::default();
            for (what, number) in steps {
                let slot = SlotId::new(number);
                let place = list.iter().position(|&each| each == slot);
                match (what, place) {
                    (0..=2, Some(place)) => {
                        list.remove(place);
                        list.push_back(slot);
                        marks[slot] = clock.next(State::Clean);
                    }
                    (0 | 1, None) => {
                        list.push_back(slot);
                        oldest.joined();
                        marks[slot] = clock.next(State::Clean);
                    }
                    (2, None) => {
                        list.push_front(slot);
                        marks[slot] = clock.before_all(State::Clean);
                        oldest.joined_as_oldest(slot, marks[slot]);
                    }
                    (3, Some(place)) => {
                        list.remove(place);
                        oldest.left();
                        marks[slot] = clock.next(State::Dirty);
                    }
                    (4, _) if pinned.insert(slot) => pins.acquire(slot),
                    (5, _) if pinned.remove(&slot) => { pins.release(slot); }
                    (6, _) => {
                        let found = oldest.at_rest(&marks, &pins);
                        let first = list.iter().copied().find(|each| !pinned.contains(each));
                        prop_assert_eq!(found, first);
                        if let Some(slot) = found {
                            list.retain(|&each| each != slot);
                            oldest.left();
                            marks[slot] = Mark::apart(State::Coming);
                        }
                    }
                    _ => {}
                }
                prop_assert_eq!(oldest.len() as usize, list.len());
            }
        }
    }
}
