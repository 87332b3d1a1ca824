//! The host's CPU: each load thread submits and completes its I/Os one after the other, on one
//! of the host's cores.
//!
//! A thread without work sleeps; the completion that wakes it also costs an interrupt and a
//! context switch. Threads that outnumber the cores wait for one. Without a scheduler latency a
//! thread takes the core that became free last before it was ready, so its work stays where it
//! was; if all cores are in use it takes the one that becomes free first. With a scheduler latency
//! each core has a run queue and time slices (`run_queues`). See docs/explanation/host.md.

use crate::Fault;
use crate::bounds::{Bounds, CPU_TIME_NS};
use crate::c_states::{CStateParams, exit_latency};
use crate::run_queues::RunQueues;
use raidlab_io::{Op, ThreadId};
use raidlab_kernel::{Nanos, Served, Station, Stream, Table, Time};
use schemars::JsonSchema;
use serde::Deserialize;

/// Bytes of a page of memory.
const PAGE: u64 = 4096;

/// The host in the plan. Times are those of this host's clock: the catalogue scales them.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostParams {
    /// CPU time of the submitting thread to issue an I/O.
    #[schemars(transform = CPU_TIME_NS.said())]
    pub submit_ns: Nanos,
    /// CPU time of the same thread to complete it.
    #[schemars(transform = CPU_TIME_NS.said())]
    pub complete_ns: Nanos,
    /// CPU time for each command that RAID in the host issues to a drive.
    #[schemars(transform = CPU_TIME_NS.said())]
    pub raid_command_ns: Nanos,
    /// Bytes a second that a core reads and makes for one parity, for RAID in the host; 0 for no limit.
    #[serde(default)]
    pub parity_bytes_per_s: u64,
    /// Bytes a second that a core reads and makes for two parities; 0 for no limit.
    #[serde(default)]
    pub two_parities_bytes_per_s: u64,
    /// CPU time of an array's thread for each 4 KiB that a member reads or writes for a stripe.
    #[serde(default)]
    #[schemars(transform = CPU_TIME_NS.said())]
    pub stripe_page_ns: Nanos,
    /// That CPU time for stripes that read before they are written; none for the same time.
    #[serde(default)]
    #[schemars(transform = CPU_TIME_NS.said())]
    pub stripe_reread_ns: Option<Nanos>,
    /// Extra CPU time of a completion if the thread was asleep.
    #[serde(default)]
    #[schemars(transform = CPU_TIME_NS.said())]
    pub wake_ns: Nanos,
    /// Extra CPU time to issue a write: its data are made or copied.
    #[serde(default)]
    #[schemars(transform = CPU_TIME_NS.said())]
    pub fill_ns: Nanos,
    /// Extra CPU time to issue each 4 KiB of an I/O: its pages are locked and listed.
    #[serde(default)]
    #[schemars(transform = CPU_TIME_NS.said())]
    pub page_ns: Nanos,
    /// CPU time to issue each 4 KiB of a write besides: its pages are copied, compressed or summed.
    #[serde(default)]
    #[schemars(transform = CPU_TIME_NS.said())]
    pub write_page_ns: Nanos,
    /// Cores that the threads share; 0 for one each.
    #[serde(default)]
    pub cores: u32,
    /// Time in which every runnable thread of a core gets a time slice; 0 if each piece of work
    /// takes the first core that is free.
    #[serde(default)]
    #[schemars(transform = CPU_TIME_NS.said())]
    pub scheduler_latency_ns: Nanos,
    /// CPU time of a completion's interrupt, which delays the thread on the first core. It has an
    /// effect only with a scheduler latency and fewer cores than threads.
    #[serde(default)]
    #[schemars(transform = CPU_TIME_NS.said())]
    pub interrupt_ns: Nanos,
    /// Share of each piece of CPU time that varies exponentially; the mean stays.
    #[serde(default)]
    #[schemars(transform = Self::SPREAD.said())]
    pub spread: f64,
    /// How the adapter of its drives gathers completions; none if it interrupts for each.
    #[serde(default)]
    pub coalescing: Option<CoalescingParams>,
    /// What idle cores sleep in; none if they wake up at once.
    #[serde(default)]
    pub c_states: Vec<CStateParams>,
}

impl HostParams {
    const SPREAD: Bounds<f64> = Bounds::new(0.0, 1.0);

    /// Every number that is out of its range.
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        if !Self::SPREAD.hold(self.spread) {
            faults.push(Fault::new("spread", self.spread, "a share, 0 to 1"));
        }
        let times = [
            ("submit_ns", self.submit_ns),
            ("complete_ns", self.complete_ns),
            ("raid_command_ns", self.raid_command_ns),
            ("stripe_page_ns", self.stripe_page_ns),
            (
                "stripe_reread_ns",
                self.stripe_reread_ns.unwrap_or_default(),
            ),
            ("wake_ns", self.wake_ns),
            ("fill_ns", self.fill_ns),
            ("page_ns", self.page_ns),
            ("write_page_ns", self.write_page_ns),
            ("scheduler_latency_ns", self.scheduler_latency_ns),
            ("interrupt_ns", self.interrupt_ns),
        ];
        let times = times.map(|(name, time)| (name.to_owned(), time));
        let states = self.c_states.iter().enumerate();
        let exits = states.map(|(at, state)| (format!("c_states.{at}.exit_ns"), state.exit_ns));
        let all = times.into_iter().chain(exits);
        faults.extend(all.filter_map(|(name, time)| cpu_time_fault(name, time)));
        if let Some(gathers) = &self.coalescing {
            faults.extend(gathers.faults());
        }
        faults
    }
}

/// The fault of a CPU time that an I/O cannot cost.
pub fn cpu_time_fault(key: impl Into<String>, time: Nanos) -> Option<Fault> {
    let allowed = || format!("at most {} ns", CPU_TIME_NS.most);
    (!CPU_TIME_NS.hold(time.0)).then(|| Fault::new(key, time.0, allowed()))
}

/// An adapter that interrupts the host once for several completions.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoalescingParams {
    /// From the first completion until the interrupt.
    #[schemars(transform = Self::DELAY_NS.said())]
    pub delay_ns: Nanos,
    /// Commands outstanding at a drive above which its completions are gathered.
    #[schemars(transform = Self::ABOVE.said())]
    pub above: u32,
}

impl CoalescingParams {
    const DELAY_NS: Bounds<u64> = Bounds::new(1, 1_000_000_000);
    const ABOVE: Bounds<u32> = Bounds::new(1, 1 << 20);

    fn faults(&self) -> impl Iterator<Item = Fault> {
        let delay = Self::DELAY_NS.fault("coalescing.delay_ns", self.delay_ns.0);
        let above = Self::ABOVE.fault("coalescing.above", self.above);
        delay.into_iter().chain(above)
    }
}

/// Load threads, each a first-come station, and their cores.
#[derive(Debug)]
pub struct Host {
    params: HostParams,
    threads: Table<ThreadId, Station>,
    /// When each core is free, in ascending order; empty if every thread has a core of its own, or
    /// cores have run queues.
    cores: Vec<Time>,
    queues: Option<RunQueues>,
    draws: Stream,
}

impl Host {
    /// `threads` idle load threads.
    pub fn new(params: &HostParams, threads: usize, seed: u64) -> Host {
        let cores = params.cores as usize;
        let shared = cores > 0 && cores < threads;
        let queued = shared && params.scheduler_latency_ns > Nanos::ZERO;
        Host {
            params: params.clone(),
            threads: vec![Station::default(); threads].into(),
            cores: vec![Time::ZERO; if shared && !queued { cores } else { 0 }],
            draws: Stream::new(seed, "host", "CPU times"),
            queues: queued.then(|| RunQueues::new(params.scheduler_latency_ns, cores, threads)),
        }
    }

    /// True if `thread` can begin a completion at `now`; if not it waits for a core. Its interrupt
    /// delays the thread on the first core, if that is at work or `goes_on` says that it will be.
    #[inline]
    pub fn may_complete(
        &mut self,
        thread: ThreadId,
        now: Time,
        goes_on: impl Fn(ThreadId) -> bool,
    ) -> bool {
        let Some(queues) = &mut self.queues else {
            return true;
        };
        if let Some(other) = queues.on_first_core() {
            let delayed = &mut self.threads[other];
            if delayed.free_at() > now || goes_on(other) {
                delayed.serve(now, self.params.interrupt_ns);
                queues.charge(other, self.params.interrupt_ns);
            }
        }
        self.may_begin(thread, now)
    }

    /// True if `thread` can begin an I/O at `now`; if not it waits for a core.
    #[inline]
    pub fn may_begin(&mut self, thread: ThreadId, now: Time) -> bool {
        let threads = &self.threads;
        let free_at = |other: ThreadId| threads[other].free_at();
        let queues = self.queues.as_mut();
        queues.is_none_or(|queues| queues.may_run(thread, now, free_at))
    }

    /// True if the cores have run queues.
    #[inline]
    pub fn has_run_queues(&self) -> bool {
        self.queues.is_some()
    }

    /// When `thread` has done all its work.
    #[inline]
    pub fn free_at(&self, thread: ThreadId) -> Time {
        self.threads[thread].free_at()
    }

    /// The next thread that gets a core at `now` after waiting for one.
    pub fn hand_over(&mut self, now: Time) -> Option<ThreadId> {
        let threads = &self.threads;
        let free_at = |other: ThreadId| threads[other].free_at();
        self.queues.as_mut()?.hand_over(now, free_at)
    }

    /// When a core may become free, if a thread waits for one.
    pub fn next_look(&self) -> Option<Time> {
        let free_at = |other: ThreadId| self.threads[other].free_at();
        self.queues.as_ref()?.next_look(free_at)
    }

    /// No thread waits for a core any more.
    pub fn forget_waiting(&mut self) {
        if let Some(queues) = &mut self.queues {
            queues.forget();
        }
    }

    /// Thread `thread` issues an I/O that it begins at `now`.
    #[inline]
    pub fn submit(&mut self, thread: ThreadId, op: Op, bytes: u64, now: Time) -> Served {
        let (fill, of_write) = if op.is_write() {
            (self.params.fill_ns, self.params.write_page_ns)
        } else {
            (Nanos::ZERO, Nanos::ZERO)
        };
        let pages = (self.params.page_ns + of_write) * bytes.div_ceil(PAGE);
        self.work(thread, now, self.params.submit_ns + fill + pages)
    }

    /// Thread `thread` completes an I/O whose completion is signalled at `now`.
    #[inline]
    pub fn complete(&mut self, thread: ThreadId, now: Time) -> Served {
        if self.threads[thread].free_at() >= now {
            return self.work(thread, now, self.params.complete_ns);
        }
        let awake = now + self.wake_up(thread, now);
        self.work(thread, awake, self.params.complete_ns + self.params.wake_ns)
    }

    /// Time until the core that an interrupt at `now` wakes for `thread` is at work.
    #[inline]
    fn wake_up(&self, thread: ThreadId, now: Time) -> Nanos {
        if self.params.c_states.is_empty() {
            return Nanos::ZERO;
        }
        let free_at = |other: ThreadId| self.threads[other].free_at();
        let idle_since = match &self.queues {
            Some(queues) => queues.idle_since(thread, free_at),
            None if self.cores.is_empty() => free_at(thread),
            // The core that it will take; if none is idle, none has to wake up.
            None => {
                let idle = self.cores.iter().rev().find(|&&free| free <= now);
                idle.copied().unwrap_or(now)
            }
        };
        let idle = now.since(idle_since);
        exit_latency(&self.params.c_states, idle)
    }

    /// Thread `thread` splits a request into `commands` for RAID in the host.
    #[inline]
    pub fn split(&mut self, thread: ThreadId, now: Time, commands: u64) -> Served {
        self.work(thread, now, self.params.raid_command_ns * commands)
    }

    /// Thread `thread` works for `time` on something else: a system call, copying.
    #[inline]
    pub fn work(&mut self, thread: ThreadId, now: Time, time: Nanos) -> Served {
        // Cache misses and other interrupts vary it.
        let time = self.draws.varied(time, self.params.spread);
        if let Some(queues) = &mut self.queues {
            queues.charge(thread, time);
        }
        let own = &mut self.threads[thread];
        if self.cores.is_empty() || time == Nanos::ZERO {
            return own.serve(now, time);
        }
        self.work_on_core(thread, now, time)
    }

    fn work_on_core(&mut self, thread: ThreadId, now: Time, time: Nanos) -> Served {
        let own = &mut self.threads[thread];
        let ready = own.free_at().max(now);
        let start = Self::occupy(&mut self.cores, ready, time);
        own.serve(start, time)
    }

    /// Gives a core work of `time` that is ready at `ready`, and says when it begins: the core that
    /// became free last before `ready`; if none has, the first that will be.
    fn occupy(cores: &mut [Time], ready: Time, time: Nanos) -> Time {
        let idle = cores.iter().rposition(|&free| free <= ready);
        let mut core = idle.unwrap_or(0);
        let start = cores[core].max(ready);
        let end = start + time;
        while core + 1 < cores.len() && cores[core + 1] < end {
            cores[core] = cores[core + 1];
            core += 1;
        }
        cores[core] = end;
        start
    }

    /// Cores that the threads share; none if each thread has its own.
    pub fn shared_cores(&self) -> Option<usize> {
        let shared = !self.cores.is_empty() || self.queues.is_some();
        shared.then_some(self.params.cores as usize)
    }

    /// CPU time used by each thread up to `now`.
    pub fn busy_until(&self, now: Time) -> impl Iterator<Item = Nanos> + '_ {
        self.threads
            .iter()
            .map(move |thread| thread.busy_until(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(cores: u32, threads: usize) -> Host {
        let params = HostParams {
            submit_ns: Nanos(10),
            complete_ns: Nanos(5),
            raid_command_ns: Nanos::ZERO,
            parity_bytes_per_s: 0,
            two_parities_bytes_per_s: 0,
            stripe_page_ns: Nanos::ZERO,
            stripe_reread_ns: None,
            wake_ns: Nanos(7),
            fill_ns: Nanos(3),
            page_ns: Nanos(2),
            write_page_ns: Nanos::ZERO,
            cores,
            scheduler_latency_ns: Nanos::ZERO,
            interrupt_ns: Nanos::ZERO,
            spread: 0.0,
            coalescing: None,
            c_states: Vec::new(),
        };
        Host::new(&params, threads, 1)
    }

    #[test]
    fn waking_a_thread_costs_time_and_a_busy_one_needs_no_waking() {
        let mut host = host(0, 1);
        assert_eq!(
            host.submit(ThreadId::new(0), Op::Read, 0, Time(0)).end,
            Time(10)
        );
        assert_eq!(host.complete(ThreadId::new(0), Time(10)).end, Time(15));
        assert_eq!(host.complete(ThreadId::new(0), Time(100)).end, Time(112));
    }

    /// A core of its own: C1 of 20 ns from 10 ns of idleness on, C6 of 300 ns from 500 ns on.
    #[test]
    fn a_completion_waits_until_its_core_has_left_its_idle_state() {
        let states = [(20, 10), (300, 500)].map(|(exit, residency)| CStateParams {
            exit_ns: Nanos(exit),
            residency_ns: Nanos(residency),
        });
        let mut own = host(0, 1);
        own.params.c_states = states.to_vec();
        assert_eq!(
            own.submit(ThreadId::new(0), Op::Read, 0, Time(0)).end,
            Time(10)
        );
        // Busy: no wake-up. Idle for 85: C1. Idle for 868: C6, and 5 + 7 of its own as ever.
        assert_eq!(own.complete(ThreadId::new(0), Time(10)).end, Time(15));
        assert_eq!(own.complete(ThreadId::new(0), Time(100)).end, Time(132));
        assert_eq!(own.complete(ThreadId::new(0), Time(1_000)).end, Time(1_312));
        assert_eq!(
            own.busy_until(Time(2_000)).next(),
            Some(Nanos(10 + 5 + 12 + 12))
        );
        // Two cores for three threads: the core that became free last has slept the least.
        let mut shared = host(2, 3);
        shared.params.c_states = states.to_vec();
        shared.submit(ThreadId::new(0), Op::Read, 0, Time(0));
        shared.submit(ThreadId::new(1), Op::Read, 0, Time(590));
        assert_eq!(
            shared.complete(ThreadId::new(2), Time(605)).start,
            Time(605)
        );
        assert_eq!(
            shared.complete(ThreadId::new(0), Time(800)).start,
            Time(820)
        );
    }

    #[test]
    fn cpu_times_that_vary_keep_their_mean() {
        let mut host = host(0, 1);
        host.params.spread = 0.5;
        host.params.submit_ns = Nanos(1_000);
        let mut least = u64::MAX;
        let mut sum = 0;
        for n in 0..20_000 {
            let now = Time(n * 1_000_000);
            let took = host.submit(ThreadId::new(0), Op::Read, 0, now).end - now;
            least = least.min(took.0);
            sum += took.0;
        }
        assert!((sum as f64 / 20_000.0 / 1_000.0 - 1.0).abs() < 0.02);
        assert!((500..520).contains(&least));
    }

    #[test]
    fn a_write_costs_the_filling_of_its_data() {
        let mut host = host(0, 1);
        assert_eq!(
            host.submit(ThreadId::new(0), Op::Write, 0, Time(0)).end,
            Time(13)
        );
    }

    /// 9000 bytes are three pages of 2 ns.
    #[test]
    fn every_page_costs_its_entry_in_the_list() {
        let mut host = host(0, 1);
        assert_eq!(
            host.submit(ThreadId::new(0), Op::Read, 9000, Time(0)).end,
            Time(16)
        );
    }

    #[test]
    fn threads_beyond_the_cores_wait_for_one() {
        let mut host = host(2, 3);
        assert_eq!(
            host.submit(ThreadId::new(0), Op::Read, 0, Time(0)).end,
            Time(10)
        );
        assert_eq!(
            host.submit(ThreadId::new(1), Op::Read, 0, Time(0)).end,
            Time(10)
        );
        let third = host.submit(ThreadId::new(2), Op::Read, 0, Time(0));
        assert_eq!((third.start, third.end), (Time(10), Time(20)));
        assert_eq!(host.shared_cores(), Some(2));
    }

    #[test]
    fn a_thread_with_a_backlog_keeps_its_core_and_leaves_the_other_free() {
        let mut host = host(2, 3);
        for _ in 0..4 {
            host.submit(ThreadId::new(0), Op::Read, 0, Time(0));
        }
        assert_eq!(
            host.submit(ThreadId::new(1), Op::Read, 0, Time(0)).start,
            Time(0)
        );
    }

    #[test]
    fn numbers_out_of_range_are_named_all_at_once() {
        let longest = Nanos(1 << 36);
        let mut params = host(0, 1).params;
        params.wake_ns = longest;
        params.coalescing = Some(CoalescingParams {
            delay_ns: Nanos(1),
            above: 1 << 20,
        });
        assert_eq!(params.faults(), []);
        params.wake_ns = longest + Nanos(1);
        params.spread = f64::NAN;
        params.c_states = vec![CStateParams {
            exit_ns: longest + Nanos(1),
            residency_ns: Nanos::ZERO,
        }];
        params.coalescing = Some(CoalescingParams {
            delay_ns: Nanos::ZERO,
            above: 0,
        });
        let faults = params.faults();
        let keys: Vec<&str> = faults.iter().map(|fault| &fault.key[..]).collect();
        let gathering = ["coalescing.delay_ns", "coalescing.above"];
        assert_eq!(keys[..3], ["spread", "wake_ns", "c_states.0.exit_ns"]);
        assert_eq!(keys[3..], gathering);
        assert_eq!(faults[1].allowed, "at most 68719476736 ns");
    }
}
