//! Command processing: the drive's cores, and what every command waits for besides.
//!
//! A command holds a core for its processing, and then for each of its mapping units: looking it
//! up, setting up its transfer. The units are worked off while the data move, so they bound the
//! rate and do not add to the latency of a command that is alone. What it waits for without holding a core (doorbells, descriptor fetches,
//! interrupts, error correction of a page) is latency and bounds nothing. A drive whose map the
//! host keeps (ioDrive) has one core here for each driver thread: the host's.

use super::channel::Channel;
use raidlab_kernel::{Nanos, Op, Served, Stations, Stream, Time};
use serde::{Deserialize, Serialize};

/// Firmware in the plan.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct FirmwareParams {
    /// Cores that work on commands in parallel.
    pub cores: u32,
    /// Core time of a read command.
    pub read_ns: Nanos,
    /// Core time of a write command.
    pub write_ns: Nanos,
    /// Core time of each mapping unit that is read.
    pub read_unit_ns: Nanos,
    /// The same for a read whose part of the map an earlier one has looked up (see `streams`); none
    /// for as much as any other.
    #[serde(default)]
    pub stream_unit_ns: Option<Nanos>,
    /// Core time of each mapping unit that is written.
    pub write_unit_ns: Nanos,
    /// Core time of each mapping unit that garbage collection moves.
    #[serde(default)]
    pub move_unit_ns: Nanos,
    /// Units that collection gathers until a core moves them, one behind the other.
    #[serde(default = "one")]
    pub move_batch: u32,
    /// Time to fetch each mapping unit of a write from the host, over the link's own; holds no
    /// core.
    #[serde(default)]
    pub fetch_unit_ns: Nanos,
    /// Time until each mapping unit of a write stands in a map that the host keeps, if all of the
    /// NAND is mapped; less in proportion where the map is smaller. Holds no core.
    #[serde(default)]
    pub insert_unit_ns: Nanos,
    /// Latency of a read that holds no core.
    pub read_latency_ns: Nanos,
    /// Latency of a write that holds no core.
    pub write_latency_ns: Nanos,
    /// Core time of a trim or flush command.
    pub other_ns: Nanos,
    /// Share of a command's core time that varies from one to the next, exponentially; the mean
    /// stays.
    #[serde(default)]
    pub spread: f64,
    /// Core time of a read command once its data have come.
    #[serde(default)]
    pub finish_ns: Nanos,
    /// The same for each of its mapping units.
    #[serde(default)]
    pub finish_unit_ns: Nanos,
    /// Core time of each mapping unit that is read or written, if all of the NAND is mapped; less
    /// in proportion where the map is smaller: the host's caches hold more of it.
    #[serde(default)]
    pub lookup_unit_ns: Nanos,
    /// Core time of a command whose piece of the map is not looked up yet (see `streams`): that
    /// begins at the root of a tree.
    #[serde(default)]
    pub descent_ns: Nanos,
    /// What a change from writing to reading takes on a drive that serves reads and writes in
    /// turns (see `turns`); none if it serves them side by side.
    #[serde(default)]
    pub turn_ns: Option<Nanos>,
}

fn one() -> u32 {
    1
}

/// The cores in a run.
#[derive(Debug)]
pub(super) struct Firmware {
    params: FirmwareParams,
    cores: Stations,
    /// The one core of a drive that also works when a read's data have come: that is known
    /// ahead, and what arrives before finds the core free until then.
    ahead: Option<Channel>,
    /// Units that collection has gathered since the last batch.
    gathered: u32,
    draws: Stream,
}

impl Firmware {
    /// `mapped` is the mapped share of the NAND. How far a batch has been gathered before the run
    /// is drawn: two drives with one past do not stop together.
    pub(super) fn new(params: &FirmwareParams, mapped: f64, mut draws: Stream) -> Firmware {
        let of_map = |whole: Nanos| Nanos((whole.0 as f64 * mapped) as u64);
        let lookup = of_map(params.lookup_unit_ns);
        let mut own = *params;
        own.write_unit_ns += lookup;
        own.fetch_unit_ns += of_map(params.insert_unit_ns);
        // A driver that works when the data have come looks up where they belong then.
        if own.finish_unit_ns > Nanos::ZERO {
            own.finish_unit_ns += lookup;
        } else {
            own.read_unit_ns += lookup;
        }
        Firmware {
            params: own,
            cores: Stations::new(params.cores as usize),
            gathered: match params.move_batch {
                1 => 0,
                batch => draws.below(u64::from(batch)) as u32,
            },
            draws,
            ahead: (params.finish_ns + params.finish_unit_ns > Nanos::ZERO).then(Channel::default),
        }
    }

    /// What it was given so far was done before the run.
    pub(super) fn set_free(&mut self) {
        self.cores = Stations::new(self.params.cores as usize);
        self.ahead = self.ahead.as_ref().map(|_| Channel::default());
    }

    /// A command of `units` arrives: when a core takes it up and passes it on. `looked_up` says
    /// whether an earlier one of its kind has brought its piece of the map near.
    #[inline]
    pub(super) fn process(&mut self, op: Op, units: u32, looked_up: bool, now: Time) -> Served {
        let (command, unit) = match op {
            Op::Read if looked_up => (self.params.read_ns, self.stream_unit()),
            Op::Read => (self.params.read_ns, self.params.read_unit_ns),
            Op::Write => (self.params.write_ns, self.params.write_unit_ns),
            Op::Trim | Op::Flush => (self.params.other_ns, Nanos::ZERO),
        };
        let descent = if looked_up {
            Nanos::ZERO
        } else {
            self.params.descent_ns
        };
        let command = self.draws.varied(command + descent, self.params.spread);
        let served = self.work(now, command + unit * u64::from(units));
        Served {
            start: served.start,
            end: served.start + command,
        }
    }

    fn stream_unit(&self) -> Nanos {
        self.params
            .stream_unit_ns
            .unwrap_or(self.params.read_unit_ns)
    }

    /// Garbage collection moves `units`: a core does so once a batch of them is gathered.
    #[inline]
    pub(super) fn moves(&mut self, units: u32, now: Time) {
        if self.params.move_unit_ns == Nanos::ZERO {
            return;
        }
        self.gathered += units;
        if self.gathered >= self.params.move_batch {
            let units = std::mem::take(&mut self.gathered);
            self.work(now, self.params.move_unit_ns * u64::from(units));
        }
    }

    #[inline]
    fn work(&mut self, now: Time, time: Nanos) -> Served {
        match &mut self.ahead {
            Some(core) => core.book(now, time),
            None => self.cores.serve(now, time),
        }
    }

    /// The data of a read of `units` will have come at `at`: when the core is done with them.
    #[inline]
    pub(super) fn finish(&mut self, units: u32, at: Time) -> Option<Served> {
        let time = self.params.finish_ns + self.params.finish_unit_ns * u64::from(units);
        let core = self.ahead.as_mut()?;
        Some(core.book(at, time))
    }

    /// Work of all cores up to `now`, and how many there are.
    pub(super) fn busy_until(&self, now: Time) -> (Nanos, usize) {
        match &self.ahead {
            Some(core) => (core.busy_until(now), 1),
            None => (self.cores.busy_until(now), self.cores.count()),
        }
    }

    /// What a command of `units` waits for besides.
    #[inline]
    pub(super) fn latency(&self, op: Op, units: u32) -> Nanos {
        match op {
            Op::Read => self.params.read_latency_ns,
            Op::Write => {
                self.params.write_latency_ns + self.params.fetch_unit_ns * u64::from(units)
            }
            Op::Trim | Op::Flush => Nanos::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params() -> FirmwareParams {
        FirmwareParams {
            cores: 1,
            read_ns: Nanos(10_000),
            write_ns: Nanos(0),
            read_unit_ns: Nanos(0),
            write_unit_ns: Nanos(0),
            move_unit_ns: Nanos(0),
            move_batch: 1,
            fetch_unit_ns: Nanos(0),
            insert_unit_ns: Nanos(0),
            read_latency_ns: Nanos(0),
            write_latency_ns: Nanos(0),
            other_ns: Nanos(0),
            spread: 0.0,
            finish_ns: Nanos::ZERO,
            finish_unit_ns: Nanos::ZERO,
            lookup_unit_ns: Nanos::ZERO,
            descent_ns: Nanos::ZERO,
            turn_ns: None,
            stream_unit_ns: None,
        }
    }

    #[test]
    fn core_times_that_vary_keep_their_mean_and_have_the_deviation_of_their_share() {
        let params = FirmwareParams {
            spread: 0.4,
            ..params()
        };
        let mut firmware = Firmware::new(&params, 0.0, Stream::new(1, "drive", "firmware"));
        let took: Vec<f64> = (0..40_000u64)
            .map(|n| {
                let now = Time(n * 1_000_000);
                (firmware.process(Op::Read, 1, false, now).end - now).0 as f64
            })
            .collect();
        let mean = took.iter().sum::<f64>() / took.len() as f64;
        let variance = took.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / took.len() as f64;
        assert!((mean / 10_000.0 - 1.0).abs() < 0.01, "{mean}");
        // An exponential part of mean 4000 has that deviation.
        assert!((variance.sqrt() / 4_000.0 - 1.0).abs() < 0.03, "{variance}");
        assert!(took.iter().all(|&t| t >= 6_000.0));
    }

    #[test]
    fn cores_are_busy_for_what_they_have_done_so_far() {
        for finish_ns in [Nanos::ZERO, Nanos(5_000)] {
            let params = FirmwareParams {
                finish_ns,
                ..params()
            };
            let mut firmware = Firmware::new(&params, 0.0, Stream::new(1, "drive", "firmware"));
            firmware.process(Op::Read, 1, false, Time(0));
            firmware.process(Op::Read, 1, false, Time(0));
            firmware.finish(1, Time(100_000));
            assert_eq!(firmware.busy_until(Time(15_000)), (Nanos(15_000), 1));
            assert_eq!(firmware.busy_until(Time(50_000)), (Nanos(20_000), 1));
            let whole = Nanos(20_000) + finish_ns;
            assert_eq!(firmware.busy_until(Time(200_000)), (whole, 1));
        }
    }

    #[test]
    fn what_collection_gathers_holds_the_core_at_once() {
        let params = FirmwareParams {
            move_unit_ns: Nanos(1_000),
            move_batch: 4,
            ..params()
        };
        let mut firmware = Firmware::new(&params, 0.0, Stream::new(1, "drive", "firmware"));
        // A unit and a command of 10 us every 100 us: one command in four waits, for four units.
        let mut waits: Vec<u64> = (0..400u64)
            .map(|n| {
                let now = Time(n * 100_000);
                firmware.moves(1, now);
                (firmware.process(Op::Read, 1, false, now).start - now).0
            })
            .collect();
        assert_eq!(waits.iter().sum::<u64>(), 400_000);
        waits.sort_unstable();
        waits.dedup();
        assert_eq!(waits, [0, 4_000]);
    }

    #[test]
    fn a_write_waits_for_its_units_to_stand_in_the_map() {
        let params = FirmwareParams {
            fetch_unit_ns: Nanos(500),
            insert_unit_ns: Nanos(8_000),
            write_unit_ns: Nanos(4_000),
            ..params()
        };
        // 16 units of 0.5 us and of 8 us, with half of the NAND mapped of 4 us.
        for (mapped, waits) in [(0.0, 8_000), (0.5, 72_000), (1.0, 136_000)] {
            let mut firmware = Firmware::new(&params, mapped, Stream::new(1, "drive", "firmware"));
            assert_eq!(firmware.latency(Op::Write, 16), Nanos(waits));
            // The core is held for the units' own work alone, and reads wait for none of it.
            firmware.process(Op::Write, 16, true, Time(0));
            assert_eq!(firmware.busy_until(Time(1_000_000)).0, Nanos(64_000));
            assert_eq!(firmware.latency(Op::Read, 16), Nanos::ZERO);
        }
    }

    #[test]
    fn a_command_whose_piece_of_the_map_is_near_needs_no_descent() {
        let params = FirmwareParams {
            descent_ns: Nanos(7_000),
            ..params()
        };
        let mut firmware = Firmware::new(&params, 0.0, Stream::new(1, "drive", "firmware"));
        let mut took = |looked_up, now| firmware.process(Op::Read, 1, looked_up, now).end - now;
        assert_eq!(took(false, Time(0)), Nanos(17_000));
        assert_eq!(took(true, Time(1_000_000)), Nanos(10_000));
    }
}
