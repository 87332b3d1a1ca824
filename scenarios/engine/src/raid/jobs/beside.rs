//! Work of an array that its requests may meet: what is under way, and when the last of it was done.

use crate::ids::ArrayId;
use crate::raid::jobs::work::Work;
use crate::state::slowest::Beside;
use raidlab_kernel::{Table, Time};

const KINDS: usize = Beside::ALL.len();

/// By array and kind of work.
#[derive(Debug)]
pub(crate) struct WorkBeside {
    /// Jobs at it.
    jobs: Table<ArrayId, [u32; KINDS]>,
    /// When the last of it was done.
    last: Table<ArrayId, [Time; KINDS]>,
}

impl WorkBeside {
    pub(super) fn new(arrays: usize) -> WorkBeside {
        WorkBeside {
            jobs: vec![[0; KINDS]; arrays].into(),
            last: vec![[Time::ZERO; KINDS]; arrays].into(),
        }
    }

    /// A job begins.
    #[inline]
    pub(super) fn begins(&mut self, array: ArrayId, work: &Work) {
        if let Some(beside) = work.beside() {
            self.jobs[array][beside as usize] += 1;
        }
    }

    /// A job is over, done or not.
    #[inline]
    pub(super) fn ends(&mut self, array: ArrayId, work: &Work) {
        if let Some(beside) = work.beside() {
            self.jobs[array][beside as usize] -= 1;
        }
    }

    /// Work is done.
    pub(crate) fn note(&mut self, array: ArrayId, beside: Beside, now: Time) {
        self.last[array][beside as usize] = now;
    }

    /// The kinds of work that jobs are at, in bits of [`Beside`].
    pub(crate) fn under_way(&self, array: ArrayId) -> u8 {
        let kinds = self.jobs[array].iter().zip(Beside::ALL);
        let kinds = kinds.filter(|&(&jobs, _)| jobs != 0);
        kinds.fold(0, |bits, (_, (each, _))| bits | each.bit())
    }

    /// When the last work of each kind was done.
    pub(crate) fn last(&self, array: ArrayId) -> &[Time; KINDS] {
        &self.last[array]
    }
}
