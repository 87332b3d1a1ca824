//! The write-intent bitmap of an array in the host, as Linux md keeps one on each member
//! (drivers/md/md-bitmap.c, raid5.c; mdadm(8), md(4)).
//!
//! A bit stands for a region. Before the first write to a region whose bit is clear, the bit is set
//! on every member: their caches are flushed, the page with the bits is written, and they are
//! flushed again, since a page must be on the medium before the data. A write that comes meanwhile
//! waits for the end of that, and those who came with clear bits share the next update. A sweep
//! every five seconds clears the bits of regions that have not been written since the sweep before
//! it; these pages are written beside everything else.
//!
//! Before the run the loads wrote as they do: a region that the run has not written yet has its bit
//! set with the probability that follows from the writes so far.
//!
//! So where regions are written once in longer than ten seconds, nearly every write waits for an
//! update; a region that is written more often costs nothing. See docs/explanation/raid.md.

pub(crate) mod updates;

use crate::layout::Layout;
use crate::plan::BitmapPlan;
use raidlab_io::{ByteRange, Ios, Queue};
use raidlab_kernel::{Nanos, Time, TimeWeighted};

/// Between two sweeps: md's daemon_sleep.
const SWEEP: Nanos = Nanos(5_000_000_000);
/// Regions of an array at most: mdadm keeps 128 KiB for the bits (super1.c, choose_bm_space), and
/// doubles its chunk until they have room.
pub(crate) const MOST_REGIONS: u64 = 1 << 20;
/// How long a bit stays set after the last write to its region, on average: one sweep and a half.
const STAYS_S: f64 = 7.5;

/// What an update of the bitmap on the members is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Update {
    /// Sets bits; writes wait for it.
    Set,
    /// Clears bits; nobody waits for it.
    Clear,
}

/// The bitmap of an array.
#[derive(Debug)]
pub(crate) struct Bitmap {
    plan: BitmapPlan,
    /// By region: one more than the sweeps that had been when it was last written; 0 for never.
    written: Vec<u32>,
    /// The sweeps that have been.
    sweeps: u32,
    /// Regions last written since the last sweep, and between that and the one before.
    regions: [u32; 2],
    /// Writes so far, and the first and the last region that they touched.
    writes: u64,
    touched: (u64, u64),
    /// True while bits are being set on the members.
    setting: bool,
    /// Requests that the update under way serves.
    served: Queue,
    /// Requests that came since it began, and whether one of them needs another update.
    waiting: Queue,
    wanted: bool,
    /// 1 while bits are being set.
    updating: TimeWeighted,
    /// Writes that wait for their bits.
    held: TimeWeighted,
}

impl Bitmap {
    /// The bitmap of `regions` regions.
    pub fn new(plan: BitmapPlan, regions: u64) -> Bitmap {
        Bitmap {
            plan,
            written: vec![0; regions as usize],
            sweeps: 0,
            regions: [0; 2],
            writes: 0,
            touched: (u64::MAX, 0),
            setting: false,
            served: Queue::default(),
            waiting: Queue::default(),
            wanted: false,
            updating: TimeWeighted::default(),
            held: TimeWeighted::default(),
        }
    }

    /// How long bits were being set since the run began.
    pub fn busy_until(&self, at: Time) -> Nanos {
        Nanos(self.updating.area(at) as u64)
    }

    /// Writes that wait for their bits.
    pub fn held(&self) -> &TimeWeighted {
        &self.held
    }

    /// The mean number of them is counted anew.
    pub fn restart(&mut self, at: Time) {
        self.held.restart(at);
    }

    /// Setting bits begins or ends.
    fn set_updating(&mut self, now: Time, is_updating: bool) {
        self.updating
            .change(now, i64::from(is_updating) - i64::from(self.setting));
        self.setting = is_updating;
    }

    /// Regions of an array, of a member where there is parity.
    pub fn regions(plan: BitmapPlan, layout: &Layout) -> u64 {
        let last = Bitmap::place(layout, layout.capacity().max(1) - 1);
        last / plan.chunk_bytes.max(1) + 1
    }

    /// Where an offset of the array is looked up: at the offset on its members where there is
    /// parity, else at the offset of the array.
    pub fn place(layout: &Layout, offset: u64) -> u64 {
        match layout.parities() {
            0 => offset,
            _ => layout.piece(ByteRange::new(offset, 1)).stripe.number() * layout.unit(),
        }
    }

    /// Sweeps up to now: how many regions have been cleared. Those of an array that lacks a member
    /// keep their bits, which say what the member has missed.
    fn sweep(&mut self, now: Time, degraded: bool) -> u32 {
        let sweeps = (now.0 / SWEEP.0) as u32;
        let passed = sweeps - self.sweeps;
        if passed == 0 || degraded {
            return 0;
        }
        self.sweeps = sweeps;
        let [fresh, aging] = self.regions;
        self.regions = [0, if passed == 1 { fresh } else { 0 }];
        if passed == 1 { aging } else { fresh + aging }
    }

    /// Regions (first, last) are written: whether a bit of them was clear.
    fn write(&mut self, (first, last): (u64, u64), now: Time) -> bool {
        let mut clear = false;
        let mean = self.mean_before(now);
        for region in first..=last {
            let written = &mut self.written[region as usize];
            let age = (self.sweeps + 1).checked_sub(*written);
            match age.filter(|_| *written > 0) {
                Some(0) => continue,
                Some(1) => self.regions[1] -= 1,
                None if *written == 0 && was_set(region, mean) => {}
                _ => clear = true,
            }
            self.regions[0] += 1;
            *written = self.sweeps + 1;
        }
        self.writes += 1;
        self.touched = (self.touched.0.min(first), self.touched.1.max(last));
        clear
    }

    /// How many writes of a region before the run its bit would still stand for, on average, if the
    /// loads wrote then as they have done since: over as much of the array, at the same rate.
    fn mean_before(&self, now: Time) -> f64 {
        let s = now.0 as f64 / 1e9;
        if self.writes == 0 || now == Time::ZERO {
            return 0.0;
        }
        let regions = (self.touched.1 - self.touched.0 + 1) as f64;
        self.writes as f64 / s / regions * (STAYS_S - s).max(0.0)
    }

    /// The power fails: waiting writes are aborted.
    pub fn power_fails(&mut self, ios: &mut Ios, now: Time) {
        self.set_updating(now, false);
        self.wanted = false;
        self.held.change(now, -(self.held.level() as i64));
        for queue in [&mut self.served, &mut self.waiting] {
            while let Some(id) = queue.pop(ios) {
                ios[id].pending = 1;
            }
        }
    }
}

/// Whether a region had one write or more before the run, of `mean` on average (Poisson); each
/// region's draw is its own number, scattered.
fn was_set(region: u64, mean: f64) -> bool {
    let scattered = (region + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11;
    scattered as f64 / (1_u64 << 53) as f64 >= (-mean).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bitmap(regions: u64) -> Bitmap {
        let plan = BitmapPlan {
            chunk_bytes: 1 << 20,
            flushes: false,
            fua: false,
        };
        Bitmap::new(plan, regions)
    }

    fn at(s: u64) -> Time {
        Time(s * 1_000_000_000)
    }

    #[test]
    fn a_bit_is_cleared_by_the_second_sweep_after_the_last_write() {
        let mut bitmap = bitmap(2);
        assert!(bitmap.write((0, 0), at(60)));
        assert_eq!(bitmap.sweep(at(4), false), 0);
        assert!(!bitmap.write((0, 0), at(60)));
        assert_eq!(bitmap.sweep(at(9), false), 0);
        assert!(!bitmap.write((0, 0), at(60)));
        assert_eq!(bitmap.sweep(at(10), false), 0);
        assert_eq!(bitmap.sweep(at(15), false), 1);
        assert!(bitmap.write((0, 1), at(60)));
    }

    #[test]
    fn an_array_that_lacks_a_member_keeps_its_bits() {
        let mut bitmap = bitmap(1);
        assert!(bitmap.write((0, 0), at(60)));
        assert_eq!(bitmap.sweep(at(60), true), 0);
        assert!(!bitmap.write((0, 0), at(60)));
    }

    /// 10,000 writes in the first second over 1,000 regions are 10 to each; of the 6.5 s before the
    /// run that a bit stands for it had 65. Ten writes instead leave 6.3 % of the bits set.
    #[test]
    fn before_the_run_the_loads_wrote_as_they_do() {
        for (writes, set) in [(10_000, 1000), (10, 63)] {
            let mut bitmap = bitmap(1000);
            (bitmap.writes, bitmap.touched) = (writes, (0, 999));
            let mean = bitmap.mean_before(at(1));
            let found = (0..1000).filter(|&region| was_set(region, mean)).count();
            assert!(found.abs_diff(set) < 8, "{found} of {set}");
        }
        assert_eq!(bitmap(10).mean_before(at(1)), 0.0);
    }

    proptest! {
        /// Against a list of when each region was last written, looked through whole.
        #[test]
        fn counts_regions_as_a_list_of_last_writes_does(
            steps in prop::collection::vec((0..8_u64, 0..3_u64, 0..7_u64), 1..200)
        ) {
            let mut bitmap = bitmap(8);
            let mut last: [Option<u64>; 8] = [None; 8];
            let (mut now, mut swept) = (0, 0);
            for (first, more, later) in steps {
                now += later;
                let sweeps = now / 5;
                let old = |w: &Option<u64>| w.is_some_and(|w| sweeps >= w + 2);
                let cleared = last.iter_mut().filter(|w| old(w)).map(|w| *w = None).count();
                prop_assert_eq!(bitmap.sweep(at(now), false), cleared as u32);
                prop_assert!(sweeps >= swept);
                swept = sweeps;
                let end = (first + more).min(7);
                let mine = &mut last[first as usize..=end as usize];
                let clear = mine.iter().any(Option::is_none);
                mine.fill(Some(sweeps));
                prop_assert_eq!(bitmap.write((first, end), at(now + 10)), clear);
            }
        }
    }
}
