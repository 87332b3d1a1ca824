//! NAND: what an operation on a die takes, and who waits for whom.
//!
//! A die does one array operation at a time. Host reads come first: a read waits for the reads
//! before it and for a program or erase in progress, unless the die can suspend that. What the
//! host wrote and what garbage collection moves waits in a queue of the die until no read is
//! left or `reads_first` of them have overtaken it.

use super::channel::Channel;
use super::compression::Engine;
use raidlab_kernel::{Divider, Nanos, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// NAND in the plan.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct NandParams {
    /// Independent buses.
    pub channels: u32,
    /// Dies on each bus.
    pub dies_per_channel: u32,
    /// Planes of a die, operated together.
    pub planes: u32,
    /// Blocks of a plane, bad ones taken off.
    pub blocks_per_plane: u32,
    /// Pages of a block.
    pub pages_per_block: u32,
    /// Bytes of a page, without its spare area.
    pub page_bytes: u32,
    /// Time to read a page into the die's register, by page type: one entry for SLC, lower and
    /// upper for MLC, three for TLC.
    pub read_ns: Vec<Nanos>,
    /// Time to program a page, by page type.
    pub program_ns: Vec<Nanos>,
    /// Time to erase a block.
    pub erase_ns: Nanos,
    /// Rate of a bus.
    pub channel_bytes_per_s: u64,
    /// Bus and controller time of each page's command, addresses, status and error correction.
    pub command_ns: Nanos,
    /// True if a die can read the next page while its register is being emptied.
    pub cache_read: bool,
    /// True if a die can take the next page's data while it programs.
    pub cache_program: bool,
    /// Time until a program or erase in progress gives way to a read; none if it does not.
    pub suspend_ns: Option<Nanos>,
    /// Reads that may overtake or suspend one operation before it goes through.
    pub reads_first: u32,
    /// Program and erase cycles that a block is rated for.
    pub rated_cycles: u32,
}

/// What a die does other than host reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Job {
    /// Programs a page set; `host_units` of it leave the write buffer.
    Program {
        set: u32,
        host_units: u32,
        host: bool,
        sequence: u32,
    },
    /// Reads a page set to move `units` of it.
    CollectRead { set: u32, units: u32 },
    /// Programs parity over other dies.
    Parity { set: u32 },
    /// Programs changed pages of the map.
    Map { set: u32 },
    /// Erases a block.
    Erase,
}

impl Job {
    /// True if the job needs data from the channel and then programs them.
    fn programs(self) -> bool {
        matches!(
            self,
            Job::Program { .. } | Job::Parity { .. } | Job::Map { .. }
        )
    }

    /// True if a host read may interrupt it, on a die that can do that.
    fn can_be_suspended(self) -> bool {
        !matches!(self, Job::CollectRead { .. })
    }

    /// True for work that garbage collection causes.
    pub(super) fn is_collection(self) -> bool {
        matches!(
            self,
            Job::CollectRead { .. } | Job::Erase | Job::Program { host: false, .. }
        )
    }
}

/// What an operation takes, by page type.
#[derive(Debug)]
struct PageTimes {
    times: Vec<Nanos>,
    types: Divider,
}

impl PageTimes {
    fn new(times: Vec<Nanos>) -> PageTimes {
        PageTimes {
            types: Divider::new(times.len() as u32),
            times,
        }
    }

    /// Page types take turns within a block.
    #[inline]
    fn of(&self, set: u32) -> Nanos {
        self.times[self.types.split(set).1 as usize]
    }
}

/// A die's clock.
#[derive(Debug)]
struct DieClock {
    /// The bus on which it is.
    channel: u32,
    /// When the host reads that it was given are done.
    reads_free: Time,
    /// When its register is empty again.
    register_free: Time,
    /// The page set of the drive whose data its register holds, if any, and since when.
    held: Option<u32>,
    held_since: Time,
    /// When the next job's data are in its second register.
    loaded: Option<Time>,
    /// The job in progress: from `job_start` to `job_end`.
    job: Option<Job>,
    job_start: Time,
    job_end: Time,
    /// Reads that overtook or suspended the current or next job.
    overtaken: u32,
    queue: VecDeque<Job>,
    /// True while an event for this die is under way.
    awake: bool,
    busy: Nanos,
}

impl DieClock {
    /// The job in progress at `at`.
    #[inline]
    fn job_at(&self, at: Time) -> Option<Job> {
        self.job
            .filter(|_| self.job_start <= at && at < self.job_end)
    }
}

/// What a host read met.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadTimes {
    /// Waited until here for other reads.
    pub(super) reads_before: Time,
    /// Waited until here for a job in progress.
    pub(super) start: Time,
    /// True if that job was garbage collection's.
    pub(super) behind_collection: bool,
    /// The page is in the register.
    pub(super) sensed: Time,
    /// The transfer has the channel.
    pub(super) transfer_start: Time,
    /// The data are in the controller.
    pub(super) end: Time,
}

impl ReadTimes {
    /// Of a page that is in the register from `sensed` on.
    fn sensed_before(at: Time, sensed: Time) -> ReadTimes {
        ReadTimes {
            reads_before: at,
            start: at,
            behind_collection: false,
            sensed,
            transfer_start: sensed,
            end: sensed,
        }
    }
}

/// Sums over all jobs, for the attribution of waiting.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    pub(super) collection: Nanos,
    pub(super) all: Nanos,
}

/// Operations done, for energy.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Operations {
    pub(super) reads: u64,
    pub(super) programs: u64,
    pub(super) erases: u64,
    pub(super) transferred_bytes: u64,
}

/// All dies and channels.
#[derive(Debug)]
pub(super) struct Nand {
    dies: Vec<DieClock>,
    channels: Vec<Channel>,
    read: PageTimes,
    program: PageTimes,
    erase: Nanos,
    command: Nanos,
    suspend: Option<Nanos>,
    reads_first: u32,
    cache_read: bool,
    cache_program: bool,
    /// Nanoseconds a byte on a channel, times 2^20.
    ns_per_byte: u64,
    unit_bytes: u32,
    set_bytes: u32,
    engine: Option<Engine>,
    /// Operations take this many 256ths of their time: more than 256 while throttled.
    stretch: u64,
    pub(super) work: Work,
    pub(super) operations: Operations,
}

/// No throttling.
pub(super) const UNTHROTTLED: u64 = 256;

impl Nand {
    /// Idle dies. `unit_bytes` is what a mapping unit occupies, `set_bytes` what those of a page
    /// set do: a program of more or less than a page set's own bytes takes so much more or less.
    pub(super) fn new(
        params: &NandParams,
        unit_bytes: u32,
        set_bytes: u32,
        engine: Option<Engine>,
        job_capacity: usize,
    ) -> Nand {
        let pages_bytes = u64::from(params.planes * params.page_bytes);
        let taken = |time: &Nanos| Nanos(time.0 * u64::from(set_bytes) / pages_bytes);
        let dies = params.channels * params.dies_per_channel;
        // Dies are dealt out to the channels in turn, so neighbours work on different buses.
        let clock = |die| DieClock {
            channel: die % params.channels,
            reads_free: Time::ZERO,
            register_free: Time::ZERO,
            held: None,
            held_since: Time::ZERO,
            loaded: None,
            job: None,
            job_start: Time::ZERO,
            job_end: Time::ZERO,
            overtaken: 0,
            queue: VecDeque::with_capacity(job_capacity),
            awake: false,
            busy: Nanos::ZERO,
        };
        Nand {
            dies: (0..dies).map(clock).collect(),
            channels: vec![Channel::default(); params.channels as usize],
            read: PageTimes::new(params.read_ns.clone()),
            program: PageTimes::new(params.program_ns.iter().map(taken).collect()),
            erase: params.erase_ns,
            command: params.command_ns,
            suspend: params.suspend_ns,
            reads_first: params.reads_first,
            cache_read: params.cache_read,
            cache_program: params.cache_program,
            ns_per_byte: (1_000_000_000 << 20) / params.channel_bytes_per_s,
            unit_bytes,
            set_bytes,
            engine,
            stretch: UNTHROTTLED,
            work: Work::default(),
            operations: Operations::default(),
        }
    }

    #[inline]
    fn transfer_time(&self, bytes: u32) -> Nanos {
        self.command + Nanos((u64::from(bytes) * self.ns_per_byte) >> 20)
    }

    /// What moving `units` of a page set takes where the next one is sensed meanwhile.
    #[inline]
    pub(super) fn moving_time(&self, set: u32, units: u32) -> Nanos {
        let sensed = self.stretched(self.read.of(set));
        sensed.max(self.transfer_time(units * self.unit_bytes))
    }

    #[inline]
    fn stretched(&self, time: Nanos) -> Nanos {
        Nanos((time.0 * self.stretch) >> 8)
    }

    /// Slows every array operation down: 256 is full speed, 512 half.
    pub(super) fn throttle(&mut self, stretch: u64) {
        self.stretch = stretch;
    }

    /// A host read of `units` in a page set, ready for the die at `at`. `spared` of their bytes
    /// stay in the register. While the register is being emptied, what it holds is not sensed again: `held` is the page
    /// set's number in the drive, none if it is not looked for.
    #[inline(always)]
    pub(super) fn read(
        &mut self,
        die: u32,
        set: u32,
        held: Option<u32>,
        units: u32,
        spared: u32,
        at: Time,
    ) -> ReadTimes {
        let bytes = units * self.unit_bytes - spared;
        let sense = self.stretched(self.read.of(set));
        let transfer = self.transfer_time(bytes);
        self.operations.transferred_bytes += u64::from(bytes);
        let clock = &mut self.dies[die as usize];
        if held.is_some() && clock.held == held && at < clock.register_free {
            let sensed = clock.held_since.max(at);
            return self.move_read(die, bytes, transfer, ReadTimes::sensed_before(at, sensed));
        }
        let reads_before = clock.reads_free.max(at);
        let mut start = reads_before;
        let mut behind_collection = false;
        if let Some(job) = clock.job_at(start) {
            behind_collection = job.is_collection();
            let may_suspend = clock.overtaken < self.reads_first && job.can_be_suspended();
            match self.suspend.filter(|_| may_suspend) {
                Some(suspend) => {
                    // Reads that come while the job is suspended find the die free for them.
                    if clock.reads_free <= at {
                        start = start + suspend;
                    }
                    clock.overtaken += 1;
                    clock.job_end = clock.job_end + (start + sense - reads_before);
                }
                None => start = clock.job_end,
            }
        }
        let sensed = start + sense;
        let sensed = if self.cache_read {
            sensed.max(clock.register_free)
        } else {
            sensed
        };
        (clock.held, clock.held_since) = (held, sensed);
        self.operations.reads += 1;
        clock.busy += sense;
        let times = ReadTimes {
            reads_before,
            start,
            behind_collection,
            sensed,
            transfer_start: sensed,
            end: sensed,
        };
        self.move_read(die, bytes, transfer, times)
    }

    /// Moves one more unit of a page set that a read has sensed; returns when it is in memory.
    pub(super) fn read_more(&mut self, die: u32, sensed: Time) -> Time {
        let transfer = Nanos((u64::from(self.unit_bytes) * self.ns_per_byte) >> 20);
        self.operations.transferred_bytes += u64::from(self.unit_bytes);
        let times = ReadTimes::sensed_before(sensed, sensed);
        self.move_read(die, self.unit_bytes, transfer, times).end
    }

    /// Moves what a read wants from the die's register to the controller.
    #[inline(always)]
    fn move_read(&mut self, die: u32, bytes: u32, transfer: Nanos, times: ReadTimes) -> ReadTimes {
        let clock = &mut self.dies[die as usize];
        let moved = self.channels[clock.channel as usize].book(times.sensed, transfer);
        clock.register_free = clock.register_free.max(moved.end);
        let free = if self.cache_read {
            times.sensed
        } else {
            moved.end
        };
        clock.reads_free = clock.reads_free.max(free);
        let end = match &mut self.engine {
            Some(engine) => engine.pass(bytes, moved.start, moved.end),
            None => moved.end,
        };
        ReadTimes {
            transfer_start: moved.start,
            end,
            ..times
        }
    }

    /// Adds a job to a die; returns when to call [`Nand::turn`], if nobody was going to.
    #[inline]
    pub(super) fn add(&mut self, die: u32, job: Job, now: Time) -> Option<Time> {
        let clock = &mut self.dies[die as usize];
        clock.queue.push_back(job);
        if !clock.awake {
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
    pub(super) fn turn(&mut self, die: u32, now: Time) -> (Option<Job>, Option<Time>) {
        let clock = &mut self.dies[die as usize];
        let mut ended = None;
        if clock.job.is_some() {
            // Reads have moved the end.
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

    fn start(&mut self, die: u32, job: Job, start: Time) -> Time {
        let end = match job {
            Job::Program { set, .. } | Job::Parity { set } | Job::Map { set } => {
                self.operations.programs += 1;
                self.operations.transferred_bytes += u64::from(self.set_bytes);
                let loaded = self.fill_register(die, start);
                loaded + self.stretched(self.program.of(set))
            }
            Job::CollectRead { set, units } => {
                self.operations.reads += 1;
                self.operations.transferred_bytes += u64::from(units * self.unit_bytes);
                let sensed = start + self.stretched(self.read.of(set));
                let channel = self.dies[die as usize].channel as usize;
                let transfer = self.transfer_time(units * self.unit_bytes);
                self.channels[channel].book(sensed, transfer).end
            }
            Job::Erase => {
                self.operations.erases += 1;
                start + self.stretched(self.erase)
            }
        };
        let clock = &mut self.dies[die as usize];
        clock.held = None;
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

    /// Moves a page set to the die, unless it took the data during the job before.
    fn fill_register(&mut self, die: u32, start: Time) -> Time {
        let transfer = self.transfer_time(self.set_bytes);
        let channel = self.dies[die as usize].channel as usize;
        let loaded = self.dies[die as usize].loaded.take();
        let loaded = loaded.unwrap_or_else(|| self.channels[channel].book(start, transfer).end);
        let loaded = match &mut self.engine {
            Some(engine) => engine.pass(self.set_bytes, start.min(loaded), loaded),
            None => loaded,
        };
        self.load_next(die, loaded);
        loaded.max(start)
    }

    /// A die that can takes the next job's data from `ready` on, while it programs.
    fn load_next(&mut self, die: u32, ready: Time) {
        let transfer = self.transfer_time(self.set_bytes);
        let channel = self.dies[die as usize].channel as usize;
        let clock = &mut self.dies[die as usize];
        let next_programs = clock.queue.front().is_some_and(|job| job.programs());
        if self.cache_program && next_programs && clock.loaded.is_none() {
            clock.loaded = Some(self.channels[channel].book(ready, transfer).end);
        }
    }

    /// True while the die has work to do.
    pub(super) fn is_awake(&self, die: u32) -> bool {
        self.dies[die as usize].awake
    }

    /// Array time of all dies up to `now`; jobs and reads ahead of it are taken off.
    pub(super) fn busy_until(&self, now: Time) -> Nanos {
        self.dies.iter().fold(Nanos::ZERO, |sum, die| {
            let ahead = die.job_end.since(now).0 + die.reads_free.since(now).0;
            sum + die.busy.saturating_sub(Nanos(ahead))
        })
    }

    /// Transfers of all channels up to `now`, and how many channels there are.
    pub(super) fn channels_busy_until(&self, now: Time) -> (Nanos, usize) {
        let busy = self.channels.iter().map(|channel| channel.busy_until(now));
        let all = busy.fold(Nanos::ZERO, |sum, busy| sum + busy);
        (all, self.channels.len())
    }

    /// Work of the compressor up to `now`, if its rate is limited.
    pub(super) fn engine_busy_until(&self, now: Time) -> Option<Nanos> {
        self.engine.as_ref().map(|engine| engine.busy_until(now))
    }

    pub(super) fn dies(&self) -> usize {
        self.dies.len()
    }
}
