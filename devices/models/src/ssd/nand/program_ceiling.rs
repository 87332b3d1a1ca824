//! What all dies of a drive together program at most: controller, channels and power leave so much.
//!
//! A client drive's controller is built for the bursts that its SLC cache takes. Programs with all
//! bits of the cells take several passes, with current and coded data for each, and fewer of them
//! go on at once than there are dies. AnandTech found it on the Samsung 870 QVO of 8 TB (2020): 64
//! dies of 18 MB/s each write 160 MB/s, as 16 of them do. docs/explanation/client-drives.md has the
//! equations.

use raidlab_kernel::{Nanos, Time};

/// A server of programs, in the order in which dies ask: next-free-time arithmetic.
#[derive(Debug)]
pub(super) struct ProgramCeiling {
    /// What a page set occupies.
    set: Nanos,
    free: Time,
}

impl ProgramCeiling {
    /// Of `bytes_per_s`, of which a page set takes `set_bytes`.
    pub(super) fn new(bytes_per_s: u64, set_bytes: u32) -> ProgramCeiling {
        let set = u64::from(set_bytes) * 1_000_000_000 / bytes_per_s.max(1);
        ProgramCeiling {
            set: Nanos(set),
            free: Time::ZERO,
        }
    }

    /// When a page set's program that could begin at `at` does.
    pub(super) fn begins(&mut self, at: Time) -> Time {
        let begins = at.max(self.free);
        self.free = begins + self.set;
        begins
    }

    /// The least time between two programs of one of `dies` that all of them share alike.
    pub(super) fn each(&self, dies: usize) -> Nanos {
        Nanos(self.set.0 * dies as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_sets_follow_each_other_at_the_rate() {
        // 16,384 B at 163.84 MB/s: 100 us each.
        let mut ceiling = ProgramCeiling::new(163_840_000, 16_384);
        assert_eq!(ceiling.begins(Time(0)), Time(0));
        assert_eq!(ceiling.begins(Time(30_000)), Time(100_000));
        assert_eq!(ceiling.begins(Time(350_000)), Time(350_000));
        assert_eq!(ceiling.each(4), Nanos(400_000));
    }
}
