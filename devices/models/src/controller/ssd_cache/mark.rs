//! What a slot is and when it was used last, in one word: an access changes one place in memory.

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Free,
    /// Being copied to the SSDs; not to be read there.
    Coming,
    /// Being copied to the SSDs, and out of date before the copy ends.
    Spoiled,
    Clean,
    Dirty,
    /// Dirty, and being written back.
    Leaving,
    /// Dirty, being written back, and newer than what is being written back.
    Renewed,
}

/// Bits of a mark that say the state; above them the use.
const STATE_BITS: u32 = 3;

/// A slot's state and its last use. Of two marks the greater one was used later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mark(u64);

impl Mark {
    /// Later than all.
    pub(super) const LAST: Mark = Mark(u64::MAX);

    const fn new(used: u64, state: State) -> Mark {
        Mark(used << STATE_BITS | state as u64)
    }

    /// The mark of a slot that is in no order of use.
    pub(super) const fn apart(state: State) -> Mark {
        Mark::new(0, state)
    }

    #[inline]
    pub(super) fn state(self) -> State {
        match self.0 & ((1 << STATE_BITS) - 1) {
            0 => State::Free,
            1 => State::Coming,
            2 => State::Spoiled,
            3 => State::Clean,
            4 => State::Dirty,
            5 => State::Leaving,
            _ => State::Renewed,
        }
    }
}

/// Numbers uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    last: u64,
    first: u64,
}

impl Default for Clock {
    /// In the middle: uses may be numbered in both directions.
    fn default() -> Clock {
        let middle = 1 << (u64::BITS - STATE_BITS - 1);
        Clock {
            last: middle,
            first: middle,
        }
    }
}

impl Clock {
    /// A use now.
    #[inline]
    pub(super) fn next(&mut self, state: State) -> Mark {
        self.last += 1;
        Mark::new(self.last, state)
    }

    /// A use before all that were.
    pub(super) fn before_all(&mut self, state: State) -> Mark {
        self.first -= 1;
        Mark::new(self.first, state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_gives_back_its_state() {
        let states = [
            State::Free,
            State::Coming,
            State::Spoiled,
            State::Clean,
            State::Dirty,
            State::Leaving,
            State::Renewed,
        ];
        let mut clock = Clock::default();
        for state in states {
            assert_eq!(Mark::apart(state).state(), state);
            assert_eq!(clock.next(state).state(), state);
            assert_eq!(clock.before_all(state).state(), state);
        }
    }

    /// Two before all, two after each other: the state does not matter to the order.
    #[test]
    fn marks_are_in_the_order_of_use() {
        let mut clock = Clock::default();
        let second = clock.before_all(State::Renewed);
        let first = clock.before_all(State::Renewed);
        let third = clock.next(State::Dirty);
        let fourth = clock.next(State::Clean);
        assert!(first < second && second < third && third < fourth && fourth < Mark::LAST);
    }
}
