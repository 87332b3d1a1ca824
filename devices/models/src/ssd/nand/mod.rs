//! NAND: what an operation on a die takes, and what waits for what.
//!
//! A die does one array operation at a time. Host reads come first. A read waits for the reads
//! before it and for a program or erase in progress, unless the die can suspend that. Jobs, what
//! the host wrote and what garbage collection moves, wait in a queue of the die until no read is
//! left or `reads_first` of them have overtaken the job.

pub mod channel;
pub mod compression;
mod correction;
mod die;
pub mod endurance;
pub mod job;
pub mod params;
mod program_ceiling;
pub mod slc_cache;
mod suspension;
pub mod temperature;

use crate::power::PowerBudget;
use crate::ssd::ids::{ChannelId, DieId, SetInBlock};
use channel::Channel;
use compression::Engine;
use correction::Correction;
use die::{Die, PageTimes};
pub(crate) use die::{Pages, Planes, ReadTimes};
use job::{Job, Operations, UNTHROTTLED, Work};
use params::{NandParams, SlcCacheParams};
use program_ceiling::ProgramCeiling;
use raidlab_kernel::{Nanos, Spells, Table, Time};
use slc_cache::SlcCache;
use suspension::Suspension;

/// All dies and channels.
#[derive(Debug)]
pub struct Nand {
    dies: Table<DieId, Die>,
    /// Planes of a die that read by themselves, or 1.
    read_planes: u32,
    channels: Table<ChannelId, Channel>,
    read: PageTimes,
    program: PageTimes,
    erase: Nanos,
    command: Nanos,
    suspension: Suspension,
    slc_cache: Option<Box<SlcCache>>,
    /// What programs with all bits of the cells share; none without a limit.
    ceiling: Option<Box<ProgramCeiling>>,
    /// What a power limit leaves; none without one.
    budget: Option<Box<PowerBudget>>,
    reads_first: u32,
    cache_read: bool,
    cache_program: bool,
    /// Nanoseconds a byte on a channel from a die, times 2^20.
    ns_per_byte: u64,
    /// Nanoseconds a byte on a channel to a die, times 2^20.
    write_ns_per_byte: u64,
    unit_bytes: u32,
    set_bytes: u32,
    engine: Option<Engine>,
    /// None where error correction is as fast as the buses.
    correction: Option<Box<Correction>>,
    /// Operations take this many 256ths of their time: more than 256 while throttled.
    stretch: u64,
    pub(crate) work: Work,
    pub(crate) operations: Operations,
}

impl Nand {
    /// Idle dies. `unit_bytes` is what a mapping unit occupies, `set_bytes` what those of a page
    /// set do: a program of more or less than a page set's own bytes takes so much more or less.
    pub(crate) fn new(
        params: &NandParams,
        unit_bytes: u32,
        set_bytes: u32,
        engine: Option<Engine>,
        job_capacity: usize,
    ) -> Nand {
        let pages_bytes = u128::from(params.planes * params.page_bytes);
        let taken =
            |time: &Nanos| Nanos((u128::from(time.0) * u128::from(set_bytes) / pages_bytes) as u64);
        let dies = params.channels * params.dies_per_channel;
        let read_planes = match params.independent_reads {
            true => params.planes,
            false => 1,
        };
        // Neighbouring dies lie on different buses.
        let channel_of = |die| ChannelId::new(die % params.channels);
        let die = |die| Die::new(channel_of(die), job_capacity, read_planes);
        Nand {
            read_planes,
            dies: (0..dies).map(die).collect(),
            channels: vec![Channel::default(); params.channels as usize].into(),
            read: PageTimes::new(params.read_ns.clone()),
            program: PageTimes::new(params.program_ns.iter().map(taken).collect()),
            erase: params.erase_ns,
            command: params.command_ns,
            suspension: Suspension::new(params),
            slc_cache: None,
            ceiling: (params.program_bytes_per_s)
                .map(|rate| Box::new(ProgramCeiling::new(rate, set_bytes))),
            budget: None,
            reads_first: params.reads_first,
            cache_read: params.cache_read,
            cache_program: params.cache_program,
            ns_per_byte: (1_000_000_000 << 20) / params.channel_bytes_per_s,
            write_ns_per_byte: (1_000_000_000 << 20) / params.write_bytes_per_s(),
            unit_bytes,
            set_bytes,
            engine,
            correction: (params.correction_bytes_per_s)
                .map(|rate| Box::new(Correction::new(rate, params.channels))),
            stretch: UNTHROTTLED,
            work: Work::default(),
            operations: Operations::default(),
        }
    }

    /// Gives the drive an SLC cache, full or empty, beside data in `mapped_share` of the NAND.
    pub(crate) fn cache_in_slc(
        &mut self,
        params: &NandParams,
        slc: &SlcCacheParams,
        mapped_share: f64,
        full: bool,
    ) {
        let shared = self.ceiling.as_ref().map(|it| it.each(self.dies.len()));
        let fold = self.read.mean() + self.program.mean();
        let fold = fold.max(shared.unwrap_or_default());
        let cache = SlcCache::new(slc, params, self.set_bytes, mapped_share, fold);
        for die in self.dies.iter_mut().filter(|_| full) {
            die.in_slc = cache.room();
        }
        self.slc_cache = Some(Box::new(cache));
    }

    /// Operations wait for their energy.
    pub(crate) fn limit_power(&mut self, budget: Option<Box<PowerBudget>>) {
        self.budget = budget;
    }

    /// Page sets that were folded out of the SLC cache so far, and those that are in it.
    pub(crate) fn slc_sets(&self) -> Option<(u64, u64)> {
        let cache = self.slc_cache.as_ref()?;
        let held = self.dies.iter().map(|die| u64::from(die.in_slc)).sum();
        Some((cache.folded, held))
    }

    /// When the SLC cache had no room.
    pub(crate) fn slc_full(&self) -> Option<&Spells> {
        self.slc_cache.as_ref().map(|cache| &cache.full)
    }

    #[inline]
    fn transfer_time(&self, bytes: u32) -> Nanos {
        self.command + Nanos((u64::from(bytes) * self.ns_per_byte) >> 20)
    }

    /// The time on a channel of data that go to a die. A chip's cycles of reading and of writing a
    /// byte are two figures of its sheet (tRC and tWC of ONFI's asynchronous interface).
    #[inline]
    fn loading_time(&self, bytes: u32) -> Nanos {
        self.command + Nanos((u64::from(bytes) * self.write_ns_per_byte) >> 20)
    }

    /// What moving `units` of a page set takes where, meanwhile, the next one is sensed and the one
    /// before goes to its new place.
    #[inline]
    pub(crate) fn moving_time(&self, set: SetInBlock, units: u32) -> Nanos {
        let bytes = units * self.unit_bytes;
        let sensed = self.stretched(self.read.of(set));
        let corrected = self.correction.as_ref().map(|it| it.time(bytes));
        sensed
            .max(self.transfer_time(bytes))
            .max(corrected.unwrap_or_default())
            .max(self.loading_time(bytes))
    }

    #[inline]
    fn stretched(&self, time: Nanos) -> Nanos {
        Nanos((time.0 * self.stretch) >> 8)
    }

    /// Slows every array operation down: 256 is full speed, 512 half.
    pub(crate) fn throttle(&mut self, stretch: u64) {
        self.stretch = stretch;
    }

    /// Where planes read by themselves: those of the page set's pieces from the first to the last,
    /// of `pieces` in all.
    #[inline]
    pub(crate) fn planes_of(&self, first: u32, last: u32, pieces: u32) -> Planes {
        match self.read_planes {
            1 => Planes::FIRST,
            planes => {
                let plane = |piece| piece * planes / pieces;
                Planes::new(plane(first.min(last)), plane(first.max(last)))
            }
        }
    }

    /// All planes that read by themselves.
    pub(crate) fn all_planes(&self) -> Planes {
        Planes::new(0, self.read_planes - 1)
    }

    /// A host read of `units` in a page set, ready for the die at `at`. `spared` of their bytes
    /// stay in the register. A page set that is in the register until its last transfer ends is not
    /// sensed again.
    #[inline(always)]
    pub(crate) fn read(&mut self, pages: Pages, units: u32, spared: u32, at: Time) -> ReadTimes {
        let bytes = units * self.unit_bytes - spared;
        let sense = self.stretched(self.read.of(pages.set));
        let transfer = self.transfer_time(bytes);
        self.operations.transferred_bytes += u64::from(bytes);
        let clock = &mut self.dies[pages.die];
        let all = clock.registers(pages.planes);
        if pages.whole_set.is_some() && all.holds == pages.whole_set && at < all.emptied {
            let times = ReadTimes::sensed_before(at, all.since.max(at));
            return self.move_read(pages, bytes, transfer, times);
        }
        let at = match &mut self.budget {
            None => at,
            Some(budget) => budget.begins(budget.read_nj, bytes, at),
        };
        let reads_before = all.reads_free.max(at);
        let behind_collection = clock.job_at(reads_before).is_some_and(Job::is_collection);
        let start = self
            .suspension
            .read_begins(clock, reads_before, at, sense, self.reads_first);
        clock.busy += (start + sense).since(start.max(clock.reads_free));
        let sensed = start + sense;
        let sensed = if self.cache_read {
            sensed.max(all.emptied)
        } else {
            sensed
        };
        clock.on_registers(pages.planes, |register| {
            (register.holds, register.since) = (pages.whole_set, sensed);
        });
        self.operations.reads += 1;
        let times = ReadTimes {
            reads_before,
            start,
            behind_collection,
            sensed,
            transfer_start: sensed,
            end: sensed,
        };
        self.move_read(pages, bytes, transfer, times)
    }

    /// Moves one more unit of a page set that a read has sensed; returns when it is in memory.
    pub(crate) fn read_more(&mut self, pages: Pages, sensed: Time) -> Time {
        let transfer = Nanos((u64::from(self.unit_bytes) * self.ns_per_byte) >> 20);
        self.operations.transferred_bytes += u64::from(self.unit_bytes);
        let times = ReadTimes::sensed_before(sensed, sensed);
        self.move_read(pages, self.unit_bytes, transfer, times).end
    }

    /// Moves what a read wants from the die's register to the controller.
    #[inline(always)]
    fn move_read(
        &mut self,
        pages: Pages,
        bytes: u32,
        transfer: Nanos,
        times: ReadTimes,
    ) -> ReadTimes {
        let channel = self.dies[pages.die].channel;
        let moved = self.channels[channel].book(times.sensed, transfer);
        let corrected = self.corrected(channel, bytes, moved.end);
        let free = if self.cache_read {
            times.sensed
        } else {
            corrected
        };
        let clock = &mut self.dies[pages.die];
        clock.on_registers(pages.planes, |register| {
            register.emptied = register.emptied.max(corrected);
            register.reads_free = register.reads_free.max(free);
        });
        clock.reads_free = clock.reads_free.max(free);
        let end = match &mut self.engine {
            Some(engine) => engine.pass(bytes, moved.start, corrected),
            None => corrected,
        };
        ReadTimes {
            transfer_start: moved.start,
            end,
            ..times
        }
    }

    /// Data that would have crossed a bus by `end`: when error correction is done with them. What it
    /// has not taken yet stays in the die's register.
    #[inline]
    fn corrected(&mut self, channel: ChannelId, bytes: u32, end: Time) -> Time {
        let Some(correction) = &mut self.correction else {
            return end;
        };
        let crossing = (u64::from(bytes) * self.ns_per_byte) >> 20;
        correction.pass(channel, bytes, Time(end.0 - crossing), end)
    }

    /// Adds a job to a die; returns when to call [`Nand::step`], if nobody was going to.
    #[inline]
    pub(crate) fn add(&mut self, die: DieId, job: Job, now: Time) -> Option<Time> {
        let clock = &mut self.dies[die];
        clock.queue.push_back(job);
        if !clock.awake {
            if let Some(cache) = &mut self.slc_cache {
                cache.recover(clock, now);
            }
            clock.awake = true;
            return Some(now);
        }
        if clock.queue.len() == 1 && clock.job.is_some_and(Job::programs) {
            self.load_next(die, now);
        }
        None
    }

    /// The die's event: takes the job that has ended, if one has, and starts the next. Returns
    /// that job and when to call again; no time means that the die has nothing left to do.
    #[inline]
    pub(crate) fn step(&mut self, die: DieId, now: Time) -> (Option<Job>, Option<Time>) {
        let clock = &mut self.dies[die];
        let mut ended = None;
        if clock.job.is_some() {
            // Reads have suspended the job.
            if clock.job_end > now {
                return (None, Some(clock.job_end));
            }
            ended = clock.job.take();
            clock.overtaken = 0;
        }
        if clock.queue.is_empty() {
            clock.awake = false;
            return (ended, None);
        }
        let mut start = now;
        if clock.reads_free > now {
            if clock.overtaken < self.reads_first {
                clock.overtaken += 1;
                return (ended, Some(clock.reads_free));
            }
            start = clock.reads_free;
        }
        let job = clock.queue.pop_front().expect("not empty");
        let end = self.start(die, job, start);
        (ended, Some(end))
    }

    fn start(&mut self, die: DieId, job: Job, start: Time) -> Time {
        let in_slc = self.is_in_slc(die, job);
        let start = self.powered(job, in_slc, start);
        let start = self.below_ceiling(job, in_slc, start);
        let end = match job {
            Job::Program { set, .. } | Job::Parity { set } | Job::Map { set } => {
                self.operations.programs += 1;
                self.operations.slc_programs += u64::from(in_slc);
                self.operations.transferred_bytes += u64::from(self.set_bytes);
                let loaded = self.fill_register(die, start);
                let mut time = self.program.of(set);
                if let Some(cache) = &mut self.slc_cache {
                    if matches!(job, Job::Program { host: true, .. }) {
                        time = cache.program(&mut self.dies[die], time, loaded);
                    }
                }
                loaded + self.stretched(time)
            }
            Job::CollectRead { set, units } => {
                self.operations.reads += 1;
                self.operations.transferred_bytes += u64::from(units * self.unit_bytes);
                let sensed = start + self.stretched(self.read.of(set));
                let channel = self.dies[die].channel;
                let bytes = units * self.unit_bytes;
                let transfer = self.transfer_time(bytes);
                let moved = self.channels[channel].book(sensed, transfer);
                self.corrected(channel, bytes, moved.end)
            }
            Job::Erase => {
                self.operations.erases += 1;
                start + self.stretched(self.erase)
            }
        };
        let planes = self.all_planes();
        let clock = &mut self.dies[die];
        clock.on_registers(planes, |register| register.holds = None);
        clock.job = Some(job);
        clock.job_start = start;
        clock.job_end = end;
        clock.busy += end - start;
        self.work.all += end - start;
        if job.is_collection() {
            self.work.collection += end - start;
        }
        end
    }

    /// True of a program for which the SLC cache has room.
    #[inline]
    fn is_in_slc(&self, die: DieId, job: Job) -> bool {
        let host = matches!(job, Job::Program { host: true, .. });
        let cache = self.slc_cache.as_ref();
        cache.is_some_and(|cache| host && cache.has_room(&self.dies[die]))
    }

    /// When a program with all bits of the cells has its turn, from `start` on.
    #[inline]
    fn below_ceiling(&mut self, job: Job, in_slc: bool, start: Time) -> Time {
        match &mut self.ceiling {
            Some(ceiling) if job.programs() && !in_slc => ceiling.begins(start),
            _ => start,
        }
    }

    /// When a job has its energy, from `start` on.
    #[inline]
    fn powered(&mut self, job: Job, in_slc: bool, start: Time) -> Time {
        let Some(budget) = &mut self.budget else {
            return start;
        };
        let (nj, bytes) = match job {
            // Bytes of the host alone cross the link.
            Job::Program { .. } if in_slc => (budget.program_slc_nj, self.set_bytes),
            Job::Program { host: true, .. } => (budget.program_nj, self.set_bytes),
            Job::CollectRead { .. } => (budget.read_nj, 0),
            Job::Erase => (budget.erase_nj, 0),
            _ => (budget.program_nj, 0),
        };
        budget.begins(nj, bytes, start)
    }

    /// Moves a page set to the die, unless it took the data during the job before.
    fn fill_register(&mut self, die: DieId, start: Time) -> Time {
        let transfer = self.loading_time(self.set_bytes);
        let channel = self.dies[die].channel;
        let loaded = self.dies[die].loaded.take();
        let loaded = loaded.unwrap_or_else(|| self.channels[channel].book(start, transfer).end);
        let loaded = match &mut self.engine {
            Some(engine) => engine.pass(self.set_bytes, start.min(loaded), loaded),
            None => loaded,
        };
        self.load_next(die, loaded);
        loaded.max(start)
    }

    /// A die that can takes the next job's data from `ready` on, while it programs.
    fn load_next(&mut self, die: DieId, ready: Time) {
        let transfer = self.loading_time(self.set_bytes);
        let channel = self.dies[die].channel;
        let clock = &mut self.dies[die];
        let next_programs = clock.queue.front().is_some_and(|job| job.programs());
        if self.cache_program && next_programs && clock.loaded.is_none() {
            clock.loaded = Some(self.channels[channel].book(ready, transfer).end);
        }
    }

    /// True while the die has work to do.
    pub(crate) fn is_awake(&self, die: DieId) -> bool {
        self.dies[die].awake
    }

    /// Since when no die has worked; none if one does.
    pub(crate) fn idle_since(&self, now: Time) -> Option<Time> {
        let mut since = Time::ZERO;
        for die in &self.dies {
            if die.awake {
                return None;
            }
            since = since.max(die.reads_free).max(die.job_end);
        }
        (since <= now).then_some(since)
    }

    /// Array time of all dies up to `now`; jobs and reads ahead of it are taken off.
    pub(crate) fn busy_until(&self, now: Time) -> Nanos {
        let busy = self.dies.iter().map(|die| die.busy_until(now));
        busy.fold(Nanos::ZERO, |sum, busy| sum + busy)
    }

    /// Transfers of all channels up to `now`, and how many channels there are.
    pub(crate) fn channels_busy_until(&self, now: Time) -> (Nanos, usize) {
        let busy = self.channels.iter().map(|channel| channel.busy_until(now));
        let all = busy.fold(Nanos::ZERO, |sum, busy| sum + busy);
        (all, self.channels.len())
    }

    /// Work of error correction up to `now`, and how many decoders do it; none where it is as fast as
    /// the buses.
    pub(crate) fn correction_busy_until(&self, now: Time) -> Option<(Nanos, usize)> {
        self.correction.as_ref().map(|it| it.busy_until(now))
    }

    /// Work of the compressor up to `now`, if its rate is limited.
    pub(crate) fn engine_busy_until(&self, now: Time) -> Option<Nanos> {
        self.engine.as_ref().map(|engine| engine.busy_until(now))
    }

    /// For how long up to `now` operations used up what a power limit leaves them: in the long run
    /// the share of it that they take. None without a limit.
    pub(crate) fn budget_busy_until(&self, now: Time) -> Option<Nanos> {
        self.budget.as_ref().map(|budget| budget.busy_until(now))
    }

    pub(crate) fn dies(&self) -> usize {
        self.dies.len()
    }
}
