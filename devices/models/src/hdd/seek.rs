//! Seek time by distance, from a measured table, a root and a line, or three figures.
//!
//! Every form becomes a table with a time for each distance, so that a run only looks it up. Over
//! many cylinders the table has only some of the long distances and interpolates between them: a
//! table that outgrows the processor's cache would cost more than the arithmetic.
//! The three figures of a data sheet determine `single + b sqrt(d-1) + c (d-1)` (Lee and Katz
//! 1993): `full` fixes it at the longest distance, `average` fixes its mean over pairs of
//! uniform random cylinders, of which `2 (N-d) / N^2` lie `d` apart.

use super::media_op::MediaOp;
use super::params::{CurveParams, SeekParams};
use crate::check::Check;
use raidlab_kernel::{Nanos, Stream};
use std::cell::Cell;

/// How long the arm takes.
#[derive(Debug)]
pub struct Seek {
    /// Before a read.
    read: Table,
    /// Before a write, its settle time not included; none if the same.
    write: Option<Table>,
    head_switch: u32,
    write_settle: i64,
    spread: Nanos,
}

/// The head that a movement ends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// The one in use before.
    Same,
    /// Another one: its track must be found.
    Other,
}

/// Times by distance; 0 for distance 0.
#[derive(Debug)]
struct Table {
    /// Each short distance.
    fine: Box<[u32]>,
    /// Every `2^shift`th distance, if there are more.
    coarse: Box<[u32]>,
    shift: u32,
}

/// Distances, in cylinders, up to which a table holds each one.
const FINE_MOST: u32 = 16_384;
/// Beyond, it holds each of this number of short ones.
const FINE: u32 = 2048;

impl Table {
    /// By how many powers of two the long distances of a table lie apart.
    fn shift(cylinders: u32) -> u32 {
        if cylinders <= FINE_MOST {
            return 0;
        }
        (cylinders / FINE_MOST).ilog2() + 1
    }

    /// The distances from 1 on that the drive has and a table holds, and the longest.
    fn distances(cylinders: u32) -> impl Iterator<Item = u32> {
        let shift = Table::shift(cylinders);
        let (fine, last) = match shift {
            0 => (cylinders, 0),
            _ => (FINE, cylinders >> shift),
        };
        let coarse = (1..=last).map(move |index| index << shift);
        (1..fine)
            .chain(coarse)
            .chain([cylinders.saturating_sub(1)])
            .filter(move |&distance| 0 < distance && distance < cylinders)
    }

    fn new(cylinders: u32, at: impl Fn(u32) -> u32) -> Table {
        let shift = Table::shift(cylinders);
        if shift == 0 {
            return Table {
                fine: (0..cylinders).map(at).collect(),
                coarse: Box::default(),
                shift: 0,
            };
        }
        let last = (cylinders >> shift) + 1;
        Table {
            fine: (0..FINE).map(&at).collect(),
            coarse: (0..=last).map(|index| at(index << shift)).collect(),
            shift,
        }
    }

    #[inline]
    fn time(&self, distance: u32) -> u32 {
        if let Some(&time) = self.fine.get(distance as usize) {
            return time;
        }
        let index = (distance >> self.shift) as usize;
        let (before, after) = (
            i64::from(self.coarse[index]),
            i64::from(self.coarse[index + 1]),
        );
        let beyond = i64::from(distance & ((1 << self.shift) - 1));
        (before + (((after - before) * beyond) >> self.shift)) as u32
    }
}

/// Longest time that a table can hold: four seconds.
const LONGEST_NS: f64 = 4e9;

impl Seek {
    pub(super) fn new(params: &SeekParams, cylinders: u32, check: &mut Check) -> Option<Seek> {
        let faults = check.0.len();
        check.time("seek.head_switch_ns", params.head_switch_ns);
        check.that(
            params.write_settle_ns.unsigned_abs() <= 1_000_000_000,
            "seek.write_settle_ns",
            params.write_settle_ns,
            "at most a second in both directions",
        );
        check.time("seek.spread_ns", params.spread_ns);
        let read = tabulate(&params.read, cylinders, "seek.read", check);
        let write = match &params.write {
            Some(curve) => tabulate(curve, cylinders, "seek.write", check),
            None => None,
        };
        if check.0.len() > faults {
            return None;
        }
        Some(Seek {
            read: read?,
            write,
            head_switch: params.head_switch_ns.0 as u32,
            write_settle: params.write_settle_ns,
            spread: params.spread_ns,
        })
    }

    /// The longest that a movement takes.
    #[inline]
    pub fn longest(&self, distance: u32, head: Head, op: MediaOp) -> Nanos {
        match self.time(distance, head, op) {
            Nanos::ZERO => Nanos::ZERO,
            time => time + self.spread,
        }
    }

    /// How much longer than its time this movement takes. The drive does not know it in advance: a
    /// choice by position counts on the longest, and an arm that settles sooner gains nothing.
    #[inline]
    pub fn lateness(&self, draws: &mut Stream) -> Nanos {
        match self.spread {
            Nanos::ZERO => Nanos::ZERO,
            spread => Nanos(draws.below(spread.0 + 1)),
        }
    }

    /// Time to move `distance` cylinders and to switch to the head.
    ///
    /// The head switch runs in parallel with the arm. The write settle follows any movement at all.
    #[inline]
    pub fn time(&self, distance: u32, head: Head, op: MediaOp) -> Nanos {
        let table = match (&self.write, op) {
            (Some(table), MediaOp::Write) => table,
            _ => &self.read,
        };
        let arm = table.time(distance);
        let switch = match head {
            Head::Same => 0,
            Head::Other => self.head_switch,
        };
        let time = arm.max(switch);
        if op == MediaOp::Write && time != 0 {
            return Nanos(u64::from(time).saturating_add_signed(self.write_settle));
        }
        Nanos(u64::from(time))
    }
}

/// The times of a curve over every distance that the drive has.
fn tabulate(curve: &CurveParams, cylinders: u32, key: &str, check: &mut Check) -> Option<Table> {
    let faults = check.0.len();
    let at = form(curve, cylinders, key, check);
    if check.0.len() > faults {
        return None;
    }
    let holds = |time: f64| (0.0..=LONGEST_NS).contains(&time);
    let doubted = Cell::new(false);
    let table = Table::new(cylinders, |distance| match distance {
        0 => 0,
        _ => {
            let time = at(distance);
            doubted.set(doubted.get() || !holds(time));
            time.round().clamp(0.0, LONGEST_NS) as u32
        }
    });
    // A table's last step may reach beyond the drive.
    let wrong = |distance: &u32| doubted.get() && !holds(at(*distance));
    if let Some(distance) = Table::distances(cylinders).find(wrong) {
        check.that(
            false,
            key,
            format!("{} ns over {distance} cylinders", at(distance)),
            "0 to 4 s over every distance that the drive has",
        );
        return None;
    }
    Some(table)
}

type Curve<'a> = Box<dyn Fn(u32) -> f64 + 'a>;

fn form<'a>(curve: &'a CurveParams, cylinders: u32, key: &str, check: &mut Check) -> Curve<'a> {
    match curve {
        CurveParams::Table { points } => {
            let ascending = points.windows(2).all(|pair| pair[0].0 < pair[1].0);
            check.that(
                !points.is_empty() && points[0].0 > 0 && ascending,
                &format!("{key}.points"),
                format!("{} points", points.len()),
                "one or more, with ascending distances from 1 on",
            );
            Box::new(move |distance| interpolate(points, distance))
        }
        CurveParams::RootAndLine {
            first_ns,
            line_from,
            root_constant_ns,
            root_factor_ns,
            line_constant_ns,
            line_slope_ns,
        } => Box::new(move |distance| {
            let d = f64::from(distance);
            if let Some(time) = first_ns.get(distance as usize - 1) {
                time.0 as f64
            } else if distance < *line_from {
                root_constant_ns + root_factor_ns * d.sqrt()
            } else {
                line_constant_ns + line_slope_ns * d
            }
        }),
        CurveParams::ThreeFigures {
            single_ns,
            average_ns,
            full_ns,
        } => {
            let single = single_ns.0 as f64;
            let fit = three_figures(
                single,
                average_ns.0 as f64,
                full_ns.0 as f64,
                f64::from(cylinders),
            );
            let rises = |(root, line): (f64, f64)| {
                let end = f64::from(cylinders.max(3) - 2);
                let slope = |d: f64| root / (2.0 * d.sqrt()) + line;
                slope(1.0) >= 0.0 && slope(end) >= -1e-9
            };
            check.that(
                fit.is_some_and(rises),
                &format!("{key}.average_ns"),
                average_ns.0,
                "an average that a rising curve can have between single_ns and full_ns",
            );
            let (root, line) = fit.unwrap_or_default();
            Box::new(move |distance| {
                let d = f64::from(distance - 1);
                single + root * d.sqrt() + line * d
            })
        }
    }
}

/// Straight lines between points, from (0, 0) on; the last two continue beyond.
fn interpolate(points: &[(u32, Nanos)], distance: u32) -> f64 {
    let next = points.partition_point(|point| point.0 < distance);
    let point = |index: usize| (f64::from(points[index].0), points[index].1.0 as f64);
    let ((x0, y0), (x1, y1)) = match next {
        0 => ((0.0, 0.0), point(0)),
        n if n < points.len() => (point(n - 1), point(n)),
        n if n >= 2 => (point(n - 2), point(n - 1)),
        n => ((0.0, 0.0), point(n - 1)),
    };
    y0 + (y1 - y0) * (f64::from(distance) - x0) / (x1 - x0)
}

/// Factors (root, line) of the curve through the three figures over `n` cylinders.
fn three_figures(single: f64, average: f64, full: f64, n: f64) -> Option<(f64, f64)> {
    if n < 3.0 {
        return Some((0.0, 0.0));
    }
    // Means over pairs of different random cylinders, each distance d that n - d pairs have.
    let last = n - 2.0;
    let pairs = n * (n - 1.0) / 2.0;
    let root = ((n - 1.0) * sum_of_roots(last) - sum_of_root_cubes(last)) / pairs;
    let squares = last * (last + 1.0) * (2.0 * last + 1.0) / 6.0;
    let line = ((n - 1.0) * last * (last + 1.0) / 2.0 - squares) / pairs;
    let reach = n - 2.0;
    let determinant = root * reach - line * reach.sqrt();
    if determinant.abs() < 1e-12 {
        return None;
    }
    let (a, f) = (average - single, full - single);
    Some((
        (a * reach - line * f) / determinant,
        (root * f - a * reach.sqrt()) / determinant,
    ))
}

/// The sum of `sqrt(k)` for k from 1 to `m`: Euler and Maclaurin's series, `zeta(-1/2)` in front.
fn sum_of_roots(m: f64) -> f64 {
    if m < EXACT {
        return (1..=m as u32).map(|k| f64::from(k).sqrt()).sum();
    }
    let root = m.sqrt();
    -0.207_886_224_977_354_57 + root * (2.0 / 3.0 * m + 0.5) + 1.0 / (24.0 * root)
        - 1.0 / (1920.0 * m * m * root)
}

/// The sum of `k sqrt(k)` for k from 1 to `m`, `zeta(-3/2)` in front.
fn sum_of_root_cubes(m: f64) -> f64 {
    if m < EXACT {
        return (1..=m as u32)
            .map(|k| f64::from(k) * f64::from(k).sqrt())
            .sum();
    }
    let root = m.sqrt();
    -0.025_485_201_889_833_035 + root * (0.4 * m * m + 0.5 * m + 0.125) + 1.0 / (1920.0 * m * root)
}

/// Below, sums are made term by term; from here on the series err by less than the terms' rounding.
const EXACT: f64 = 64.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_the_sums_that_they_stand_for() {
        for m in [64_u32, 65, 1000, 100_000] {
            let of = |power: f64| (1..=m).map(|k| f64::from(k).powf(power)).sum::<f64>();
            let near = |series: f64, sum: f64| (series / sum - 1.0).abs() < 1e-12;
            assert!(near(sum_of_roots(f64::from(m)), of(0.5)), "{m}");
            assert!(near(sum_of_root_cubes(f64::from(m)), of(1.5)), "{m}");
        }
    }

    #[test]
    fn a_movement_is_late_by_its_spread_at_the_most_and_no_movement_is_never_late() {
        let params = SeekParams {
            spread_ns: Nanos(300_000),
            read: CurveParams::Table {
                points: vec![(1, Nanos(1_000_000))],
            },
            write: None,
            write_settle_ns: 0,
            head_switch_ns: Nanos::ZERO,
        };
        let seek = Seek::new(&params, 100, &mut Check(Vec::new())).unwrap();
        assert_eq!(seek.longest(1, Head::Same, MediaOp::Read), Nanos(1_300_000));
        assert_eq!(seek.longest(0, Head::Same, MediaOp::Read), Nanos::ZERO);
        let mut draws = Stream::new(1, "disk", "settling");
        let late: Vec<u64> = (0..2000).map(|_| seek.lateness(&mut draws).0).collect();
        assert!(late.iter().all(|&late| late <= 300_000));
        // Uniform: the mean of 2000 has a standard error of 300000 / sqrt(12 * 2000) = 1936.
        let mean = late.iter().sum::<u64>() as f64 / 2000.0;
        assert!((mean - 150_000.0).abs() < 5.0 * 1936.0, "{mean}");
    }

    /// Mean over uniform random pairs of cylinders, in nanoseconds: the seek integral.
    fn average(seek: &Seek, n: u32) -> f64 {
        let time = |d| seek.time(d, Head::Same, MediaOp::Read).0 as f64;
        let weighted = |d| 2.0 * f64::from(n - d) * time(d);
        (1..n).map(weighted).sum::<f64>() / (f64::from(n) * f64::from(n))
    }

    fn seek(read: CurveParams, cylinders: u32, settle: i64) -> Seek {
        let params = SeekParams {
            read,
            write: None,
            write_settle_ns: settle,
            head_switch_ns: Nanos(800_000),
            spread_ns: Nanos::ZERO,
        };
        let mut check = Check(Vec::new());
        let seek = Seek::new(&params, cylinders, &mut check);
        seek.unwrap_or_else(|| panic!("{:?}", check.0))
    }

    #[test]
    fn a_table_is_joined_by_lines_and_continued() {
        let points = vec![
            (1, Nanos(1_000_000)),
            (3, Nanos(2_000_000)),
            (5, Nanos(2_200_000)),
        ];
        let seek = seek(CurveParams::Table { points }, 10, 0);
        for (distance, expected) in [
            (0, 0),
            (1, 1_000_000),
            (2, 1_500_000),
            (4, 2_100_000),
            (9, 2_600_000),
        ] {
            assert_eq!(
                seek.time(distance, Head::Same, MediaOp::Read),
                Nanos(expected),
                "{distance}"
            );
        }
    }

    #[test]
    fn a_head_switch_runs_beside_the_arm_and_the_settle_follows() {
        let points = vec![(1, Nanos(500_000)), (2, Nanos(900_000))];
        let seek = seek(CurveParams::Table { points }, 3, 300_000);
        assert_eq!(seek.time(1, Head::Other, MediaOp::Read), Nanos(800_000));
        assert_eq!(seek.time(2, Head::Other, MediaOp::Read), Nanos(900_000));
        assert_eq!(seek.time(2, Head::Other, MediaOp::Write), Nanos(1_200_000));
        // Nothing moves: nothing to settle.
        assert_eq!(seek.time(0, Head::Same, MediaOp::Write), Nanos::ZERO);
        assert_eq!(seek.time(0, Head::Other, MediaOp::Write), Nanos(1_100_000));
    }

    #[test]
    fn root_and_line_of_the_hp_c2247a() {
        let seek = seek(
            CurveParams::RootAndLine {
                first_ns: vec![Nanos(2_890_000), Nanos(3_680_000)],
                line_from: 300,
                root_constant_ns: 3.81e6,
                root_factor_ns: 0.33e6,
                line_constant_ns: 7.75e6,
                line_slope_ns: 0.0059e6,
            },
            2051,
            650_000,
        );
        assert_eq!(seek.time(2, Head::Same, MediaOp::Read), Nanos(3_680_000));
        assert_eq!(seek.time(100, Head::Same, MediaOp::Read), Nanos(7_110_000));
        assert_eq!(seek.time(454, Head::Same, MediaOp::Read), Nanos(10_428_600));
        assert_eq!(
            seek.time(454, Head::Same, MediaOp::Write),
            Nanos(11_078_600)
        );
    }

    #[test]
    fn three_figures_come_back_out() {
        let curve = CurveParams::ThreeFigures {
            single_ns: Nanos(230_000),
            average_ns: Nanos(7_500_000),
            full_ns: Nanos(17_060_000),
        };
        let n = 20_000;
        let seek = seek(curve, n, 0);
        assert_eq!(seek.time(1, Head::Same, MediaOp::Read), Nanos(230_000));
        assert_eq!(
            seek.time(n - 1, Head::Same, MediaOp::Read),
            Nanos(17_060_000)
        );
        // Pairs of equal cylinders count in `average`, not on data sheets.
        let n = f64::from(n);
        let different = average(&seek, n as u32) * n / (n - 1.0);
        assert!((different - 7_500_000.0).abs() < 10.0, "{different}");
    }

    #[test]
    fn an_average_that_no_rising_curve_has_is_refused() {
        let params = SeekParams {
            read: CurveParams::ThreeFigures {
                single_ns: Nanos(1_000_000),
                average_ns: Nanos(9_000_000),
                full_ns: Nanos(8_000_000),
            },
            write: None,
            write_settle_ns: 0,
            head_switch_ns: Nanos(2_000_000_000),
            spread_ns: Nanos::ZERO,
        };
        let mut check = Check(Vec::new());
        assert!(Seek::new(&params, 1000, &mut check).is_none());
        let keys: Vec<&str> = check.0.iter().map(|fault| fault.key.as_str()).collect();
        assert_eq!(keys, ["seek.head_switch_ns", "seek.read.average_ns"]);
    }
}
