//! The controller's chip: cores that run firmware, an engine that computes parity, memory.
//!
//! Firmware time depends on the path that a request takes: through the cache, around it, through
//! parity, or on the short path that skips most of the firmware (FastPath). Off the short path cores
//! also build the lists of pages by which data move: a time for each page of the host's memory, and
//! for what leaves the cache in parts of a stripe unit. The write cache may be the work of some of
//! the cores alone. Every request also has
//! a latency that occupies no core: messages through doorbells and
//! queues, set-up of transfers, interrupts. See docs/explanation/raid.md.

use raidlab_kernel::{Nanos, Served, Station, Stations, Time};
use schemars::JsonSchema;
use serde::Deserialize;

/// The path of a request through the firmware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirmwareRoute {
    /// Straight to the drives.
    Uncached,
    /// Read from or written into the cache.
    Cached,
    /// An array with parity, around the cache.
    Parity,
    /// The short path.
    Fast,
}

/// What firmware has to do for a request, or for work that goes on.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// Which way the request goes.
    pub path: FirmwareRoute,
    /// Commands to drives.
    pub commands: u64,
    /// Data that move by lists of pages.
    pub bytes: u64,
    /// True if it changes the write cache, which not every core may do.
    pub in_write_cache: bool,
}

impl Task {
    /// A task of a request that touches no write cache.
    pub fn new(path: FirmwareRoute, commands: u64, bytes: u64) -> Task {
        Task {
            path,
            commands,
            bytes,
            in_write_cache: false,
        }
    }
}

/// Bytes of a page in the lists by which data move.
const LISTED_PAGE: u64 = 4096;

/// A chip in the plan.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChipParams {
    /// Cores working in parallel.
    pub cores: u32,
    /// Core time of a request straight to the drives.
    pub uncached_ns: Nanos,
    /// Core time of a request served by the cache.
    pub cached_ns: Nanos,
    /// Core time of a request to an array with parity, around the cache.
    pub parity_ns: Nanos,
    /// Core time of a request on the short path, with its command.
    pub fast_path_ns: Nanos,
    /// Core time of each command to a drive.
    pub command_ns: Nanos,
    /// Core time of each page of data, off the short path.
    pub page_ns: Nanos,
    /// Cores that work on the write cache; 0 for all.
    pub cache_cores: u32,
    /// Core time of looking a request up in an SSD cache.
    pub tier_ns: Nanos,
    /// Time that a request spends in messages and set-up, on no core.
    pub latency_ns: Nanos,
    /// Bytes a second that the parity engine takes in; 0 for no limit.
    pub parity_bytes_per_s: u64,
    /// Bytes a second that the memory moves, reads and writes together; 0 for no limit.
    pub memory_bytes_per_s: u64,
}

/// A first-come station whose service time is proportional to bytes.
#[derive(Clone, Debug, Default)]
pub struct Throughput {
    /// Nanoseconds a byte, times 2^32.
    ns_per_byte: u64,
    station: Station,
    /// Background work that has not been done yet.
    backlog: Nanos,
}

impl Throughput {
    /// An idle station; a rate of 0 is no limit.
    pub fn new(bytes_per_s: u64) -> Throughput {
        let scaled = (1_000_000_000_u128 << 32).checked_div(u128::from(bytes_per_s));
        Throughput {
            ns_per_byte: scaled.map_or(0, |ns| ns as u64),
            station: Station::default(),
            backlog: Nanos::ZERO,
        }
    }

    /// When it has moved all that it was given.
    pub fn free_at(&self) -> Time {
        self.station.free_at()
    }

    /// Moves `bytes` that come at `now`.
    #[inline]
    pub fn pass(&mut self, now: Time, bytes: u64) -> Served {
        let own = self.duration(bytes);
        if self.backlog == Nanos::ZERO {
            return self.station.serve(now, own);
        }
        self.catch_up(now);
        // Both alternate: while there is a backlog, half of the rate is left.
        let between = self.backlog.min(own);
        self.backlog -= between;
        self.station.serve(now, own + between)
    }

    /// Moves `bytes` that come at `now`, and works for another time `besides`.
    pub fn pass_beside(&mut self, now: Time, bytes: u64, besides: Nanos) -> Served {
        let own = self.duration(bytes) + besides;
        self.station.serve(now, own)
    }

    /// Moves `bytes` in the background: while the station is idle, and alternating with other work.
    pub fn pass_in_background(&mut self, now: Time, bytes: u64) {
        self.catch_up(now);
        self.backlog += self.duration(bytes);
    }

    /// Does background work in the idle time up to `now`.
    fn catch_up(&mut self, now: Time) {
        let from = self.station.free_at();
        let done = self.backlog.min(now.since(from));
        self.backlog -= done;
        self.station.serve(from, done);
    }

    fn duration(&self, bytes: u64) -> Nanos {
        Nanos(((u128::from(bytes) * u128::from(self.ns_per_byte)) >> 32) as u64)
    }

    /// True if it has a rate.
    pub fn is_limited(&self) -> bool {
        self.ns_per_byte > 0
    }

    /// Work done up to `now`.
    pub fn busy_until(&self, now: Time) -> Nanos {
        let background = self.backlog.min(now.since(self.station.free_at()));
        self.station.busy_until(now) + background
    }
}

/// A chip in a run.
#[derive(Debug)]
pub struct Chip {
    params: ChipParams,
    /// Run firmware.
    pub cores: Stations,
    /// Computes parity.
    pub parity: Throughput,
    /// Transfers data in flight and the cache's content.
    pub memory: Throughput,
}

impl Chip {
    /// An idle chip.
    pub fn new(params: &ChipParams) -> Chip {
        Chip {
            params: params.clone(),
            cores: Stations::new(params.cores as usize),
            parity: Throughput::new(params.parity_bytes_per_s),
            memory: Throughput::new(params.memory_bytes_per_s),
        }
    }

    /// Firmware takes up a request.
    #[inline]
    pub fn take_up(&mut self, task: Task, now: Time) -> Served {
        let service = self.request(task.path) + self.commands(task);
        self.serve(task, service, now)
    }

    fn request(&self, path: FirmwareRoute) -> Nanos {
        match path {
            FirmwareRoute::Uncached => self.params.uncached_ns,
            FirmwareRoute::Cached => self.params.cached_ns,
            FirmwareRoute::Parity => self.params.parity_ns,
            FirmwareRoute::Fast => self.params.fast_path_ns,
        }
    }

    /// Its commands and the lists of its pages; the short path has its one command and moves data by
    /// itself.
    fn commands(&self, task: Task) -> Nanos {
        match task.path {
            FirmwareRoute::Fast => Nanos::ZERO,
            _ => {
                let pages = Nanos(self.params.page_ns.0 * task.bytes / LISTED_PAGE);
                self.params.command_ns * task.commands + pages
            }
        }
    }

    #[inline]
    fn serve(&mut self, task: Task, service: Nanos, now: Time) -> Served {
        if task.in_write_cache {
            let cores = self.params.cache_cores as usize;
            return self.cores.serve_on(cores, now, service);
        }
        self.cores.serve(now, service)
    }

    /// Takes up a request to an array with an SSD cache, in which it must be looked up.
    #[inline]
    pub fn take_up_and_look_up(&mut self, task: Task, now: Time) -> Served {
        let service = self.request(task.path) + self.commands(task) + self.params.tier_ns;
        self.serve(task, service, now)
    }

    /// Firmware passes on commands of an array in the host, each of which is a request to it.
    #[inline]
    pub fn pass_on(&mut self, task: Task, now: Time) -> Served {
        let service = self.request(task.path) * task.commands + self.commands(task);
        self.cores.serve(now, service)
    }

    /// Firmware issues commands of a request that it has taken up before.
    #[inline]
    pub fn issue(&mut self, task: Task, now: Time) -> Served {
        self.serve(task, self.commands(task), now)
    }

    /// Time of a request on no core.
    pub fn latency(&self) -> Nanos {
        self.params.latency_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chip() -> Chip {
        Chip::new(&ChipParams {
            cores: 2,
            uncached_ns: Nanos(100),
            cached_ns: Nanos(50),
            parity_ns: Nanos(200),
            fast_path_ns: Nanos(30),
            command_ns: Nanos(10),
            page_ns: Nanos(3),
            cache_cores: 1,
            tier_ns: Nanos(5),
            latency_ns: Nanos(7),
            parity_bytes_per_s: 1_000_000_000,
            memory_bytes_per_s: 0,
        })
    }

    /// Two cores: the third request waits for the first core to be free.
    #[test]
    fn firmware_time_by_path_on_two_cores() {
        let mut chip = chip();
        let task = |path, commands| Task::new(path, commands, 0);
        assert_eq!(
            chip.take_up(task(FirmwareRoute::Uncached, 2), Time(0)).end,
            Time(120)
        );
        assert_eq!(
            chip.take_up(task(FirmwareRoute::Parity, 4), Time(0)).end,
            Time(240)
        );
        let third = chip.take_up(task(FirmwareRoute::Fast, 1), Time(0));
        assert_eq!((third.start, third.end), (Time(120), Time(150)));
        let looked_up = chip.take_up_and_look_up(task(FirmwareRoute::Cached, 1), Time(150));
        assert_eq!(looked_up.end, Time(215));
        // Four commands of the host: 4 * (100 + 10) on the core that is free since 215.
        let passed_on = chip.pass_on(task(FirmwareRoute::Uncached, 4), Time(240));
        assert_eq!(passed_on.end, Time(680));
    }

    /// 64 KiB are 16 pages of 3 ns: 100 + 2 * 10 + 48; none on the short path.
    #[test]
    fn pages_take_time_off_the_short_path() {
        let mut chip = chip();
        let end = chip
            .take_up(Task::new(FirmwareRoute::Uncached, 2, 65_536), Time(0))
            .end;
        assert_eq!(end, Time(168));
        let end = chip
            .take_up(Task::new(FirmwareRoute::Fast, 1, 65_536), Time(0))
            .end;
        assert_eq!(end, Time(30));
    }

    /// Writes into the cache wait for the one core that may change it: 50 ns each, on the second
    /// core of which only a read is served.
    #[test]
    fn the_write_cache_is_the_work_of_one_core() {
        let mut chip = chip();
        let write = Task {
            in_write_cache: true,
            ..Task::new(FirmwareRoute::Cached, 0, 0)
        };
        assert_eq!(chip.take_up(write, Time(0)).end, Time(50));
        assert_eq!(chip.take_up(write, Time(0)).end, Time(100));
        let read = Task::new(FirmwareRoute::Cached, 0, 0);
        assert_eq!(chip.take_up(read, Time(0)).end, Time(50));
    }

    /// 1000 bytes at 1 GB/s take 1000 ns; no limit takes none.
    #[test]
    fn parity_and_memory_pass_bytes_at_their_rates() {
        let mut chip = chip();
        assert_eq!(chip.parity.pass(Time(0), 1000).end, Time(1000));
        assert_eq!(chip.parity.pass(Time(500), 1000).end, Time(2000));
        assert_eq!(chip.memory.pass(Time(5), 1 << 40).end, Time(5));
    }

    /// A backlog of 1000 bytes: 300 pass while the station is idle, 200 alternate with 200 others,
    /// which take twice their time; the last 500 pass in the next idle time.
    #[test]
    fn background_work_uses_idle_time_and_alternates() {
        let mut station = Throughput::new(1_000_000_000);
        station.pass_in_background(Time(0), 1000);
        assert_eq!(station.pass(Time(300), 200).end, Time(700));
        assert_eq!(station.pass(Time(1500), 200).end, Time(1700));
        assert_eq!(station.busy_until(Time(2000)), Nanos(1400));
    }
}
