//! Compression in the drive: what a mapping unit occupies in NAND.
//!
//! Data of which a share c repeats occupy 1 - gain x f(c) of their size, and never less than what
//! headers and the smallest piece take. An engine of the Lempel-Ziv kind replaces runs of at least
//! m symbols that it has seen before; where each symbol repeats with probability c, the share of
//! symbols in such runs is the sum of L c^L (1 - c)^2 over L >= m, which is
//! f(c) = c^m (m - (m - 1) c). `gain` is what the runs' references leave of that.
//!
//! Fewer bytes per unit mean more units in a page, so fewer programs, and more spare space for
//! the same data, so less garbage collection: both follow from here. Pieces straddle pages, so a
//! page set stands for a whole number of units, and for as much of a page as those take.
//!
//! Source: J. Ziv, A. Lempel, "A universal algorithm for sequential data compression" (1977).

use crate::bounds::Bounds;
use crate::ssd::nand::channel::Channel;
use raidlab_kernel::{Nanos, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Compression in the plan.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct CompressionParams {
    /// Share of the data's compressibility that the drive's engine finds, 0 to 1.
    pub gain: f64,
    /// The least share of a unit that is ever stored.
    #[schemars(transform = Self::LEAST_SHARE.said())]
    pub least_share: f64,
    /// Symbols of the shortest run that the engine replaces.
    #[serde(default = "one")]
    pub shortest_match: u32,
    /// Stored bytes a second that the engine takes in or gives out; 0 for no limit.
    #[serde(default)]
    pub bytes_per_s: u64,
}

impl CompressionParams {
    /// Shares that the data can be compressed to.
    pub(crate) const LEAST_SHARE: Bounds<f64> = Bounds::new(0.01, 1.0);
}

fn one() -> u32 {
    1
}

impl CompressionParams {
    /// The share of a unit that is stored if its data can be compressed by `compressible`.
    pub(crate) fn stored_share(&self, compressible: f64) -> f64 {
        let m = f64::from(self.shortest_match.max(1));
        let in_runs = compressible.powf(m) * (m - (m - 1.0) * compressible);
        (1.0 - self.gain * in_runs).clamp(self.least_share, 1.0)
    }
}

/// The engine through which all stored data pass, while they move over a channel.
#[derive(Debug)]
pub(crate) struct Engine {
    ns_per_byte: f64,
    work: Channel,
}

impl Engine {
    /// The engine of a drive that compresses at a limited rate.
    pub(crate) fn new(params: &CompressionParams) -> Option<Engine> {
        (params.bytes_per_s > 0).then(|| Engine {
            ns_per_byte: 1e9 / params.bytes_per_s as f64,
            work: Channel::default(),
        })
    }

    /// What it has done up to `now`.
    pub(crate) fn busy_until(&self, now: Time) -> Nanos {
        self.work.busy_until(now)
    }

    /// Data that move over a channel from `start` to `end`: when they are through.
    #[inline]
    pub(crate) fn pass(&mut self, bytes: u32, start: Time, end: Time) -> Time {
        let time = Nanos((f64::from(bytes) * self.ns_per_byte) as u64);
        self.work.book(start, time).end.max(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_share_falls_with_compressibility_to_its_least() {
        let engine = CompressionParams {
            gain: 0.9,
            least_share: 0.14,
            shortest_match: 1,
            bytes_per_s: 0,
        };
        assert_eq!(engine.stored_share(0.0), 1.0);
        assert!((engine.stored_share(0.5) - 0.55).abs() < 1e-12);
        assert_eq!(engine.stored_share(1.0), 0.14);
    }

    /// Half of the symbols repeat, runs of three are replaced: 0.5^3 x (3 - 2 x 0.5) = 0.25.
    #[test]
    fn an_engine_that_needs_runs_finds_less_in_scattered_repetitions() {
        let engine = CompressionParams {
            gain: 1.0,
            least_share: 0.14,
            shortest_match: 3,
            bytes_per_s: 0,
        };
        assert!((engine.stored_share(0.5) - 0.75).abs() < 1e-12);
        assert_eq!(engine.stored_share(0.0), 1.0);
    }

    /// At 200 MB/s, 4096 bytes take 20.48 us, however fast they come; two pages queue.
    #[test]
    fn stored_bytes_pass_the_engine_one_after_the_other() {
        let params = CompressionParams {
            gain: 1.0,
            least_share: 0.14,
            shortest_match: 1,
            bytes_per_s: 200_000_000,
        };
        let mut engine = Engine::new(&params).unwrap();
        assert_eq!(engine.pass(4096, Time(1000), Time(5000)), Time(21_480));
        assert_eq!(engine.pass(4096, Time(2000), Time(6000)), Time(41_960));
        assert_eq!(engine.busy_until(Time(21_000)), Nanos(20_000));
        assert_eq!(engine.busy_until(Time(50_000)), Nanos(40_960));
    }
}
