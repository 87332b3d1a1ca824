//! A first-in, first-out queue of I/Os, linked through their own records: it never allocates,
//! however long it grows.

use crate::{Io, IoId, Ios};

/// I/Os that wait, the first one first. An I/O stands in one queue at a time.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    first: IoId,
    last: IoId,
}

impl Default for Queue {
    fn default() -> Self {
        Queue {
            first: Io::NONE,
            last: Io::NONE,
        }
    }
}

impl Queue {
    /// True if nobody waits.
    pub fn is_empty(&self) -> bool {
        self.first == Io::NONE
    }

    /// The first one.
    pub fn front(&self) -> Option<IoId> {
        (!self.is_empty()).then_some(self.first)
    }

    /// Puts `id` at the end.
    #[inline]
    pub fn push(&mut self, ios: &mut Ios, id: IoId) {
        ios[id].next = Io::NONE;
        if self.is_empty() {
            self.first = id;
        } else {
            ios[self.last].next = id;
        }
        self.last = id;
    }

    /// Takes the first one.
    #[inline]
    pub fn pop(&mut self, ios: &Ios) -> Option<IoId> {
        if self.is_empty() {
            return None;
        }
        let id = self.first;
        self.first = ios[id].next;
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn behaves_as_a_deque_does(pushes in prop::collection::vec(any::<bool>(), 0..200)) {
            let mut ios = Ios::with_capacity(4);
            let (mut queue, mut expected) = (Queue::default(), VecDeque::new());
            for push in pushes {
                if push {
                    let id = ios.claim();
                    queue.push(&mut ios, id);
                    expected.push_back(id);
                } else {
                    let got = queue.pop(&ios);
                    prop_assert_eq!(got, expected.pop_front());
                    got.into_iter().for_each(|id| ios.release(id));
                }
                prop_assert_eq!(queue.is_empty(), expected.is_empty());
            }
        }
    }
}
