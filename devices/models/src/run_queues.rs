//! Threads that outnumber the cores: each core has a queue of its own and shares its time fairly.
//!
//! A thread belongs to a core. A thread that wakes goes to its own core if that is idle, else to
//! another idle one. If none is idle it waits: at the first core, whose interrupt wakes it, if
//! fewer wait there, else at its own. The waiting thread with the least CPU time runs next. It has
//! the core until it sleeps or, while others wait, until its time slice is over: an equal share of
//! `latency`, at least an eighth. A thread that slept is credited half of `latency` at most. It
//! preempts a thread that is a sixth of `latency` ahead of it. Completions of threads without a
//! core wait. So a few requests take many times the mean, and the others meet a shorter queue at
//! the drive.
//!
//! Source: the documentation of Linux's completely fair scheduler (`sched-design-CFS`, and the
//! tunables of `kernel/sched/fair.c`: latency 6 ms, least share 0.75 ms, wake-up granularity 1 ms,
//! each times 1 + log2 of the cores); docs/explanation/host.md.

use raidlab_io::ThreadId;
use raidlab_kernel::{Nanos, Table, Time, ids};

ids! {
    /// A core that threads share.
    CoreId;
}

const LEAST_SHARE: u64 = 8;
const CREDIT: u64 = 2;
const AHEAD: u64 = 6;

/// Which thread has which core, and who waits for one.
#[derive(Debug)]
pub struct RunQueues {
    latency: Nanos,
    cores: Table<CoreId, Core>,
    threads: Table<ThreadId, Thread>,
}

#[derive(Clone, Debug)]
struct Core {
    /// Whose it is; none before its first thread.
    thread: Option<ThreadId>,
    /// CPU time that its thread had had when it took the core.
    begun: Nanos,
    waiting: Vec<ThreadId>,
    /// CPU time of the thread that has had the least of it; it never falls.
    floor: Nanos,
    /// The time slice of its thread is over.
    preempted: bool,
}

#[derive(Clone, Copy, Debug)]
struct Thread {
    core: CoreId,
    /// CPU time that it has had, interrupts included; sleeping counts beyond the credit.
    had: Nanos,
    is_waiting: bool,
}

impl RunQueues {
    /// `cores` idle cores for `threads` sleeping threads.
    pub fn new(latency: Nanos, cores: usize, threads: usize) -> RunQueues {
        let idle = Core {
            thread: None,
            begun: Nanos::ZERO,
            waiting: Vec::new(),
            floor: Nanos::ZERO,
            preempted: false,
        };
        let asleep = |thread| Thread {
            // From the last core: the first one has the interrupts.
            core: CoreId::new((cores - 1 - thread % cores) as u32),
            had: Nanos::ZERO,
            is_waiting: false,
        };
        let mut cores = vec![idle; cores];
        for core in &mut cores {
            core.waiting.reserve(threads);
        }
        RunQueues {
            latency,
            cores: cores.into(),
            threads: (0..threads).map(asleep).collect(),
        }
    }

    /// `thread` has `time` of its core, by its own work or by interrupts.
    #[inline]
    pub fn charge(&mut self, thread: ThreadId, time: Nanos) {
        self.threads[thread].had += time;
    }

    /// True if `thread` may work at `now`: it has a core, or takes one whose thread sleeps.
    ///
    /// `free_at` gives when a thread has done all its work.
    #[inline]
    pub fn may_run(
        &mut self,
        thread: ThreadId,
        now: Time,
        free_at: impl Fn(ThreadId) -> Time,
    ) -> bool {
        let own = self.threads[thread];
        if own.is_waiting {
            return false;
        }
        let core = &self.cores[own.core];
        if core.thread == Some(thread) {
            let stays = core.waiting.is_empty()
                || (!core.preempted && own.had - core.begun < self.share(core));
            if !stays {
                self.wait(thread);
            }
            return stays;
        }
        let is_idle = |core: &Core| core.waiting.is_empty() && core.is_free(now, &free_at);
        let idle = if is_idle(core) {
            Some(own.core)
        } else {
            let mut last_first = self.cores.entries().rev();
            last_first.find(|(_, core)| is_idle(core)).map(|(id, _)| id)
        };
        if let Some(idle) = idle {
            self.join(thread, idle);
            self.take(thread, idle);
            return true;
        }
        let first = CoreId::new(0);
        let fewer = self.cores[first].waiting.len() + 1 < core.waiting.len();
        self.join(thread, if fewer { first } else { own.core });
        self.preempt(thread);
        self.wait(thread);
        false
    }

    /// The thread that the first core works for, which interrupts disturb.
    pub fn on_first_core(&self) -> Option<ThreadId> {
        self.cores.get(CoreId::new(0))?.thread
    }

    /// A thread that waits takes a core whose thread has nothing to do at `now`.
    pub fn hand_over(&mut self, now: Time, free_at: impl Fn(ThreadId) -> Time) -> Option<ThreadId> {
        let is_wanted = |core: &Core| !core.waiting.is_empty() && core.is_free(now, &free_at);
        let (core, _) = self.cores.entries().find(|(_, core)| is_wanted(core))?;
        let threads = &self.threads;
        let waiting = &mut self.cores[core].waiting;
        let next = (0..waiting.len()).min_by_key(|&at| threads[waiting[at]].had)?;
        let thread = waiting.remove(next);
        self.threads[thread].is_waiting = false;
        self.take(thread, core);
        Some(thread)
    }

    /// When a core may be handed over, if a thread waits for one: the time to look again.
    pub fn next_look(&self, free_at: impl Fn(ThreadId) -> Time) -> Option<Time> {
        let wanted = self.cores.iter().filter(|core| !core.waiting.is_empty());
        wanted.filter_map(|core| core.thread).map(free_at).min()
    }

    /// Every thread that waits for a core stops waiting.
    pub fn forget(&mut self) {
        for core in &mut self.cores {
            core.waiting.clear();
        }
        for thread in &mut self.threads {
            thread.is_waiting = false;
        }
    }

    fn share(&self, core: &Core) -> Nanos {
        Nanos(self.latency.0 / (core.waiting.len() as u64 + 1).min(LEAST_SHARE))
    }

    /// A thread that slept belongs to `core` from now on, with a limited credit of CPU time.
    fn join(&mut self, thread: ThreadId, core: CoreId) {
        let own = &mut self.threads[thread];
        let before = self.cores[own.core].floor;
        let floor = self.cores[core].floor;
        let had = (own.had + floor).0.saturating_sub(before.0);
        let least = floor.0.saturating_sub(self.latency.0 / CREDIT);
        own.had = Nanos(had.max(least));
        own.core = core;
    }

    /// A thread that is far behind the running one preempts it.
    fn preempt(&mut self, thread: ThreadId) {
        let own = self.threads[thread];
        let core = &mut self.cores[own.core];
        if let Some(other) = core.thread {
            let ahead = own.had + Nanos(self.latency.0 / AHEAD);
            core.preempted |= self.threads[other].had > ahead;
        }
    }

    /// Since when the core of `thread` has had nothing to do.
    pub fn idle_since(&self, thread: ThreadId, free_at: impl Fn(ThreadId) -> Time) -> Time {
        let core = self.threads[thread].core;
        let own = self
            .threads
            .entries()
            .filter(|(_, other)| other.core == core);
        let ends = own.map(|(other, _)| free_at(other));
        ends.max().unwrap_or(Time::ZERO)
    }

    fn wait(&mut self, thread: ThreadId) {
        let own = &mut self.threads[thread];
        own.is_waiting = true;
        self.cores[own.core].waiting.push(thread);
    }

    fn take(&mut self, thread: ThreadId, core: CoreId) {
        let had = self.threads[thread].had;
        let core = &mut self.cores[core];
        core.thread = Some(thread);
        core.begun = had;
        core.floor = core.floor.max(had);
        core.preempted = false;
    }
}

impl Core {
    fn is_free(&self, now: Time, free_at: &impl Fn(ThreadId) -> Time) -> bool {
        self.thread.is_none_or(|thread| free_at(thread) <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: ThreadId = ThreadId::new(0);
    const SECOND: ThreadId = ThreadId::new(1);
    const THIRD: ThreadId = ThreadId::new(2);
    const BUSY: fn(ThreadId) -> Time = |_| Time(1_000);

    /// Two threads share 200 ns on one core: 100 ns each.
    #[test]
    fn a_thread_has_its_core_for_its_time_slice_and_then_waits() {
        let mut queues = RunQueues::new(Nanos(200), 1, 2);
        assert!(queues.may_run(FIRST, Time(0), BUSY));
        assert!(!queues.may_run(SECOND, Time(10), BUSY));
        queues.charge(FIRST, Nanos(99));
        assert!(queues.may_run(FIRST, Time(99), BUSY));
        queues.charge(FIRST, Nanos(1));
        assert!(!queues.may_run(FIRST, Time(100), BUSY));
        // It completes its work first; then the core is the other's.
        assert_eq!(queues.hand_over(Time(100), BUSY), None);
        assert_eq!(queues.next_look(BUSY), Some(Time(1_000)));
        assert_eq!(queues.hand_over(Time(1_000), BUSY), Some(SECOND));
        assert_eq!(queues.hand_over(Time(1_000), |_| Time(1_010)), None);
    }

    #[test]
    fn a_thread_that_sleeps_leaves_its_core_to_the_next_thread() {
        let mut queues = RunQueues::new(Nanos(200), 1, 2);
        assert!(queues.may_run(FIRST, Time(0), |_| Time(5)));
        assert!(queues.may_run(SECOND, Time(5), |_| Time(5)));
        assert!(queues.may_run(FIRST, Time(6), |_| Time(6)));
    }

    /// Threads 0 and 2 belong to the second of two cores, 1 to the first.
    #[test]
    fn a_thread_waits_at_its_own_core_and_wakes_on_an_idle_one() {
        let mut queues = RunQueues::new(Nanos(200), 2, 3);
        assert!(queues.may_run(FIRST, Time(0), BUSY));
        assert_eq!(queues.on_first_core(), None);
        assert!(queues.may_run(SECOND, Time(0), BUSY));
        assert_eq!(queues.on_first_core(), Some(SECOND));
        assert!(!queues.may_run(THIRD, Time(0), BUSY));
        let first_is_free = |thread| Time(if thread == SECOND { 10 } else { 1_000 });
        assert_eq!(queues.hand_over(Time(10), first_is_free), None);
        let mut queues = RunQueues::new(Nanos(200), 2, 3);
        assert!(queues.may_run(FIRST, Time(0), BUSY));
        assert!(queues.may_run(THIRD, Time(0), BUSY));
        assert_eq!(queues.on_first_core(), Some(THIRD));
    }

    #[test]
    fn the_thread_that_has_had_least_is_next() {
        let mut queues = RunQueues::new(Nanos(1_200), 1, 3);
        assert!(queues.may_run(FIRST, Time(0), BUSY));
        queues.charge(SECOND, Nanos(50));
        assert!(!queues.may_run(SECOND, Time(1), BUSY));
        assert!(!queues.may_run(THIRD, Time(2), BUSY));
        assert_eq!(queues.hand_over(Time(1_000), BUSY), Some(THIRD));
    }

    /// A sixth of 1200 ns is 200 ns: the share of two would be 600 ns.
    #[test]
    fn a_thread_far_ahead_is_preempted_by_one_that_wakes() {
        let mut queues = RunQueues::new(Nanos(1_200), 1, 2);
        assert!(queues.may_run(FIRST, Time(0), BUSY));
        queues.charge(FIRST, Nanos(200));
        assert!(!queues.may_run(SECOND, Time(200), BUSY));
        assert!(queues.may_run(FIRST, Time(200), BUSY));
        let mut queues = RunQueues::new(Nanos(1_200), 1, 2);
        assert!(queues.may_run(FIRST, Time(0), BUSY));
        queues.charge(FIRST, Nanos(201));
        assert!(!queues.may_run(SECOND, Time(201), BUSY));
        assert!(!queues.may_run(FIRST, Time(201), BUSY));
    }
}
