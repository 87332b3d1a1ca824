//! Threads that outnumber the cores and have work all the time: each keeps its core for a slice.
//!
//! A thread that finds a core free takes it, and keeps it until it sleeps (nothing is left to
//! do) or its slice is over while others wait. Completions of threads without a core wait, however
//! long they have been there: so a few requests wait for many times the mean, and the rest see a
//! shorter queue at the drive. See docs/models/host.md.

use raidlab_kernel::{Nanos, Time};
use std::collections::VecDeque;

const NONE: u32 = u32::MAX;

/// Which thread has which core, and who waits for one.
#[derive(Debug)]
pub struct CoreSlices {
    slice: Nanos,
    cores: Vec<Core>,
    /// The core of each thread.
    core_of: Vec<u32>,
    is_waiting: Vec<bool>,
    waiting: VecDeque<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Core {
    thread: u32,
    since: Time,
}

impl CoreSlices {
    /// `cores` free cores for `threads` threads.
    pub fn new(slice: Nanos, cores: usize, threads: usize) -> CoreSlices {
        let free = Core {
            thread: NONE,
            since: Time::ZERO,
        };
        CoreSlices {
            slice,
            cores: vec![free; cores],
            core_of: vec![NONE; threads],
            is_waiting: vec![false; threads],
            waiting: VecDeque::with_capacity(threads),
        }
    }

    /// True if `thread` may work at `now`: it has a core, or takes one whose thread sleeps.
    ///
    /// `free_at` gives when a thread has done what it has been given.
    #[inline]
    pub fn may_run(&mut self, thread: u32, now: Time, free_at: impl Fn(u32) -> Time) -> bool {
        if self.is_waiting[thread as usize] {
            return false;
        }
        let own = self.core_of[thread as usize];
        if own != NONE {
            let core = &mut self.cores[own as usize];
            if self.waiting.is_empty() {
                return true;
            }
            if now.since(core.since) < self.slice {
                return true;
            }
        } else if self.waiting.is_empty()
            && let Some(core) = self.idle(now, &free_at)
        {
            self.give(core, thread, now);
            return true;
        }
        self.is_waiting[thread as usize] = true;
        self.waiting.push_back(thread);
        false
    }

    /// The thread that the first core works for, which interrupts disturb.
    pub fn on_first_core(&self) -> Option<u32> {
        let thread = self.cores.first()?.thread;
        (thread != NONE).then_some(thread)
    }

    /// The thread that waits longest takes a core whose thread has nothing to do at `now`.
    pub fn hand_over(&mut self, now: Time, free_at: impl Fn(u32) -> Time) -> Option<u32> {
        let thread = *self.waiting.front()?;
        let core = self.idle(now, &free_at)?;
        self.waiting.pop_front();
        self.is_waiting[thread as usize] = false;
        self.give(core, thread, now);
        Some(thread)
    }

    /// When a core may be handed over, if a thread waits for one: the time to look again.
    pub fn next_look(&self, free_at: impl Fn(u32) -> Time) -> Option<Time> {
        if self.waiting.is_empty() {
            return None;
        }
        self.cores.iter().map(|core| free_at(core.thread)).min()
    }

    /// Every thread that waits for a core stops waiting.
    pub fn forget(&mut self) {
        self.waiting.clear();
        self.is_waiting.fill(false);
    }

    fn idle(&self, now: Time, free_at: &impl Fn(u32) -> Time) -> Option<usize> {
        // The one that became free last: what it had in its caches matters least to others.
        let mut best: Option<(usize, Time)> = None;
        // From the last: the first one has the interrupts.
        for (index, core) in self.cores.iter().enumerate().rev() {
            if core.thread == NONE {
                return Some(index);
            }
            let free = free_at(core.thread);
            if free <= now && best.is_none_or(|(_, least)| free < least) {
                best = Some((index, free));
            }
        }
        best.map(|(index, _)| index)
    }

    fn give(&mut self, core: usize, thread: u32, now: Time) {
        let own = self.core_of[thread as usize];
        if own != NONE && own as usize != core {
            self.cores[own as usize].thread = NONE;
        }
        let before = self.cores[core].thread;
        if before != NONE {
            self.core_of[before as usize] = NONE;
        }
        self.cores[core] = Core { thread, since: now };
        self.core_of[thread as usize] = core as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_keeps_its_core_for_a_slice_and_then_queues_behind_the_others() {
        let mut cores = CoreSlices::new(Nanos(100), 1, 2);
        let busy = |_| Time(1_000);
        assert!(cores.may_run(0, Time(0), busy));
        assert!(!cores.may_run(1, Time(10), busy));
        assert!(cores.may_run(0, Time(99), busy));
        assert!(!cores.may_run(0, Time(100), busy));
        // It still works on what it has been given; then its place is the other's.
        assert_eq!(cores.hand_over(Time(100), busy), None);
        assert_eq!(cores.next_look(busy), Some(Time(1_000)));
        assert_eq!(cores.hand_over(Time(1_000), busy), Some(1));
        assert_eq!(cores.hand_over(Time(1_000), |_| Time(1_010)), None);
    }

    #[test]
    fn a_thread_that_sleeps_leaves_its_core_to_whoever_comes() {
        let mut cores = CoreSlices::new(Nanos(100), 1, 2);
        assert!(cores.may_run(0, Time(0), |_| Time(5)));
        assert!(cores.may_run(1, Time(5), |_| Time(5)));
        assert!(cores.may_run(0, Time(6), |_| Time(6)));
    }
}
