//! Endurance: how long a drive lives if the run goes on for ever.
//!
//! NAND of B bytes rated for N program and erase cycles takes N x B bytes. Wear levelling is taken
//! to spread them evenly, and the run's write amplification and rate to go on around the clock.

use crate::ssd::nand::params::NandParams;
use raidlab_kernel::Time;

/// Seconds of a year of 365 days.
const YEAR_S: f64 = 365.0 * DAY_S;
const DAY_S: f64 = 86_400.0;
/// Years over which drive writes a day are usually promised.
const PROMISED_YEARS: f64 = 5.0;

/// Bytes that the NAND takes in until its rated cycles are used up.
pub(crate) fn rated_bytes(nand: &NandParams) -> f64 {
    let blocks = f64::from(nand.channels)
        * f64::from(nand.dies_per_channel)
        * f64::from(nand.planes)
        * f64::from(nand.blocks_per_plane);
    let block_bytes = f64::from(nand.pages_per_block) * f64::from(nand.page_bytes);
    blocks * block_bytes * f64::from(nand.rated_cycles)
}

/// Figures for the report; if nothing was written or no time has passed, what the NAND takes and
/// nothing else. `rated_host_bytes` is the data sheet's, 0 if it has none.
pub(crate) fn figures(
    rated: f64,
    (capacity_bytes, rated_host_bytes): (u64, u64),
    host_bytes: u64,
    nand_bytes: u64,
    until: Time,
) -> Vec<(&'static str, f64)> {
    let mut figures = vec![("rated_nand_bytes", rated)];
    if host_bytes == 0 || nand_bytes == 0 || until == Time::ZERO {
        return figures;
    }
    let (host, written, capacity) = (host_bytes as f64, nand_bytes as f64, capacity_bytes as f64);
    let seconds = until.since(Time::ZERO).seconds();
    let host_until_worn = rated * host / written;
    figures.extend([
        ("host_bytes_until_worn", host_until_worn),
        ("drive_writes_per_day", host / seconds * DAY_S / capacity),
        (
            "drive_writes_per_day_for_5_years",
            host_until_worn / (capacity * PROMISED_YEARS * 365.0),
        ),
        ("life_years", rated / (written / seconds) / YEAR_S),
    ]);
    if rated_host_bytes > 0 {
        let rated = rated_host_bytes as f64;
        let a_day = rated / (capacity * PROMISED_YEARS * 365.0);
        figures.push(("rated_drive_writes_per_day", a_day));
        figures.push(("life_years_by_rating", rated / (host / seconds) / YEAR_S));
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;
    use raidlab_kernel::Nanos;

    /// 1 channel x 2 dies x 1 plane x 1000 blocks x 100 pages x 10,000 B = 2 GB, 1000 cycles: 2 TB.
    /// A host that writes 10 MB in a second with write amplification 2 wears 20 MB/s: 100,000 s
    /// of life, 1 TB of the host's; a drive of 1 GB is written 864 times a day.
    #[test]
    fn rated_cycles_against_what_a_run_writes() {
        let nand = NandParams {
            channels: 1,
            dies_per_channel: 2,
            planes: 1,
            blocks_per_plane: 1000,
            pages_per_block: 100,
            page_bytes: 10_000,
            read_ns: vec![Nanos(1)],
            program_ns: vec![Nanos(1)],
            program_bytes_per_s: None,
            erase_ns: Nanos(1),
            channel_bytes_per_s: 1 << 30,
            channel_write_bytes_per_s: None,
            correction_bytes_per_s: None,
            command_ns: Nanos(0),
            cache_read: false,
            cache_program: false,
            independent_reads: false,
            suspend_ns: None,
            pulse_ns: Nanos(0),
            suspend_interval_ns: Nanos(0),
            resume_ns: Nanos(0),
            reads_first: 0,
            slc_cache: None,
            rated_cycles: 1000,
        };
        let until = Time(1_000_000_000);
        let found = figures(
            rated_bytes(&nand),
            (1_000_000_000, 0),
            10_000_000,
            20_000_000,
            until,
        );
        let expected = [2e12, 1e12, 864.0, 1e12 / 1e9 / 1825.0, 1e5 / YEAR_S];
        for ((name, value), expected) in found.into_iter().zip(expected) {
            assert!((value / expected - 1.0).abs() < 1e-12, "{name}: {value}");
        }
        let read_only = figures(rated_bytes(&nand), (1_000_000_000, 0), 0, 0, until);
        assert_eq!(read_only, [("rated_nand_bytes", 2e12)]);
        // 1825 GB: one drive write a day for five years, 182,500 s at 10 MB/s.
        let rated = figures(
            rated_bytes(&nand),
            (1_000_000_000, 1_825_000_000_000),
            10_000_000,
            20_000_000,
            until,
        );
        assert_eq!(rated[5], ("rated_drive_writes_per_day", 1.0));
        assert!(
            (rated[6].1 / (182_500.0 / YEAR_S) - 1.0).abs() < 1e-12,
            "{rated:?}"
        );
    }
}
