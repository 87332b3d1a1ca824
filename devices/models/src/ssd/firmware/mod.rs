//! Command processing: the drive's cores, and what every command waits for besides.
//!
//! A core works on a command, and then on each of its mapping units: looking it up, setting up its
//! transfer. It works on the units while the data move, so they bound the rate and do not add to
//! the latency of a command that is alone. Doorbells, descriptor fetches, interrupts and the error
//! correction of a page hold no core: they are latency and bound nothing.

pub mod back_end;
pub mod cores;
pub mod params;
pub mod streams;

use crate::ssd::front::Front;
use cores::Cores;
use params::FirmwareParams;
use raidlab_io::Op;
use raidlab_kernel::{Nanos, Served, Stream, Time};
use streams::MapPiece;

/// Command processing of a drive in a run.
#[derive(Debug)]
pub(crate) struct Firmware {
    times: FirmwareParams,
    pub(crate) cores: Cores,
    draws: Stream,
}

impl Firmware {
    /// Idle cores.
    pub(crate) fn new(times: FirmwareParams, draws: Stream) -> Firmware {
        Firmware {
            cores: Cores::new(times.cores),
            times,
            draws,
        }
    }

    /// A command of `units` arrives: when a core takes it up and passes it on.
    #[inline]
    pub(crate) fn process<F: Front>(
        &mut self,
        front: &mut F,
        op: Op,
        units: u32,
        piece: MapPiece,
        now: Time,
    ) -> Served {
        let times = &self.times;
        let (command, unit) = match op {
            Op::Read if piece == MapPiece::Cached => (times.read_ns, self.stream_unit()),
            Op::Read => (times.read_ns, times.read_unit_ns),
            Op::Write => (times.write_ns, times.write_unit_ns),
            Op::Trim | Op::Flush => (times.other_ns, Nanos::ZERO),
        };
        let descent = match piece {
            MapPiece::Cached => Nanos::ZERO,
            MapPiece::Uncached => front.descent(),
        };
        let command = self.draws.varied(command + descent, times.spread);
        let time = command + unit * u64::from(units);
        let served = front.serve(&mut self.cores, now, time);
        Served {
            start: served.start,
            end: served.start + command,
        }
    }

    fn stream_unit(&self) -> Nanos {
        self.times.stream_unit_ns.unwrap_or(self.times.read_unit_ns)
    }

    /// Latency of a command of `units` that holds no core.
    #[inline]
    pub(crate) fn latency(&self, op: Op, units: u32) -> Nanos {
        match op {
            Op::Read => self.times.read_latency_ns,
            Op::Write => self.times.write_latency_ns + self.times.fetch_unit_ns * u64::from(units),
            Op::Trim | Op::Flush => Nanos::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ssd::front::Direct;

    #[test]
    fn core_times_that_vary_keep_their_mean_and_have_the_deviation_of_their_share() {
        let times = FirmwareParams {
            read_ns: Nanos(10_000),
            spread: 0.4,
            ..FirmwareParams::idle()
        };
        let mut firmware = Firmware::new(times, Stream::new(1, "drive", "firmware"));
        let took: Vec<f64> = (0..40_000u64)
            .map(|n| {
                let now = Time(n * 1_000_000);
                let served = firmware.process(&mut Direct, Op::Read, 1, MapPiece::Uncached, now);
                (served.end - now).0 as f64
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
    fn a_core_is_busy_for_what_it_has_done_so_far() {
        let times = FirmwareParams {
            read_ns: Nanos(10_000),
            ..FirmwareParams::idle()
        };
        let mut firmware = Firmware::new(times, Stream::new(1, "drive", "firmware"));
        for _ in 0..2 {
            firmware.process(&mut Direct, Op::Read, 1, MapPiece::Uncached, Time(0));
        }
        let busy = |now| firmware.cores.busy_until(Time(now));
        assert_eq!(busy(15_000), (Nanos(15_000), 1));
        assert_eq!(busy(200_000), (Nanos(20_000), 1));
    }
}
