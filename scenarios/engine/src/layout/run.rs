//! Runs: one contiguous piece of a drive is one command.
//!
//! Where the columns of an array stay on their drives (RAID 0, 1, 10, jbod), the units of a column
//! that a request covers lie one behind the other. With parity, on RAID 1E, and on RAID 10 whose
//! copies wander from row to row, a run is a part of one unit.

use crate::ids::{ColumnId, CopyId, StripeId};
use crate::layout::array::Layout;
use crate::layout::concatenated::Concatenated;
use crate::layout::extent::Extent;
use crate::layout::place::Place;
use crate::plan::Level;
use raidlab_io::ByteRange;

/// Bytes of a column that lie one behind the other on each drive that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The stripe of its first unit.
    pub stripe: StripeId,
    /// The data column.
    pub column: ColumnId,
    /// First byte within that unit.
    pub start: u32,
    /// Number of bytes.
    pub bytes: u64,
}

impl Run {
    /// Its part of its first unit.
    pub fn first(&self, unit: u64) -> Extent {
        let end = u64::from(self.start) + self.bytes;
        Extent {
            column: self.column,
            start: self.start,
            end: end.min(unit) as u32,
        }
    }

    /// Its parts of all its units, each with the unit's stripe.
    pub fn extents(self, unit: u64) -> impl Iterator<Item = (StripeId, Extent)> {
        let rest = move |run: &Run| {
            let first = run.first(unit);
            Some(run.behind(u64::from(first.end - first.start), unit))
        };
        std::iter::successors(Some(self), rest)
            .take_while(|run| run.bytes > 0)
            .map(move |run| (run.stripe, run.first(unit)))
    }

    /// What is left of it without its first bytes, which end with a unit or with the run.
    pub fn behind(self, bytes: u64, unit: u64) -> Run {
        if bytes == self.bytes {
            return Run { bytes: 0, ..self };
        }
        let at = u64::from(self.start) + bytes;
        Run {
            stripe: self.stripe.plus(at / unit),
            start: (at % unit) as u32,
            bytes: self.bytes - bytes,
            ..self
        }
    }
}

/// The runs of a range that are still to come, in the order of the array's offsets.
///
/// It borrows no layout: the sender of a run's commands may change the rest of the system.
#[derive(Clone, Copy, Debug)]
pub struct Runs {
    /// The array's offset of the next run's first byte.
    at: u64,
    /// No run begins here or behind.
    stop: u64,
    /// The end of the range.
    end: u64,
    /// The next run's stripe, column and first byte within its unit (not of jbod).
    stripe: StripeId,
    column: ColumnId,
    start: u32,
}

impl Runs {
    /// True if no run is left.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.at >= self.stop
    }
}

impl Layout {
    /// The runs of a range, which must lie inside the array.
    #[inline]
    pub fn runs(&self, range: ByteRange) -> Runs {
        let end = range.end();
        let mut runs = Runs {
            at: range.offset,
            stop: end,
            end,
            stripe: StripeId::new(0),
            column: ColumnId::new(0),
            start: 0,
        };
        if self.level != Level::Jbod {
            let (unit, start) = self.unit.split_long(range.offset);
            let (stripe, column) = self.columns.split_long(unit);
            (runs.stripe, runs.column) = (StripeId::new(stripe), ColumnId::new(column));
            runs.start = start;
            if self.is_straight() {
                // Behind one unit of each column every unit belongs to a run that has begun.
                runs.stop = end.min(range.offset - u64::from(start) + self.width());
            }
        }
        runs
    }

    /// How many runs are left.
    #[inline]
    pub fn count(&self, mut runs: Runs) -> u32 {
        if self.level != Level::Jbod {
            let bytes = u64::from(runs.start) + (runs.stop - runs.at);
            return self.unit.split_long(bytes + self.unit() - 1).0 as u32;
        }
        let mut count = 0;
        while self.next_run(&mut runs).is_some() {
            count += 1;
        }
        count
    }

    /// Takes the next run.
    #[inline]
    pub fn next_run(&self, runs: &mut Runs) -> Option<Run> {
        if runs.is_empty() {
            return None;
        }
        if let Some(drives) = &self.concatenated {
            return Some(self.next_on_drive(drives, runs));
        }
        let unit = self.unit();
        let first = (unit - u64::from(runs.start)).min(runs.end - runs.at);
        let mut run = Run {
            stripe: runs.stripe,
            column: runs.column,
            start: runs.start,
            bytes: first,
        };
        if runs.stop < runs.end {
            run.bytes += self.further_rows(runs);
        }
        runs.at += first;
        runs.start = 0;
        runs.column = runs.column.plus(1);
        if runs.column.number() == self.columns() {
            runs.column = ColumnId::new(0);
            runs.stripe = runs.stripe.plus(1);
        }
        Some(run)
    }

    /// Bytes of the next run in the rows behind its first one.
    fn further_rows(&self, runs: &Runs) -> u64 {
        let next_row = runs.at - u64::from(runs.start) + self.width();
        if next_row >= runs.end {
            return 0;
        }
        let (units, tail) = self.unit.split_long(runs.end - next_row);
        let (rows, columns) = self.columns.split_long(units);
        let last = if columns == 0 {
            u64::from(tail)
        } else {
            self.unit()
        };
        rows * self.unit() + last
    }

    /// The next run of a jbod: up to the end of its drive.
    fn next_on_drive(&self, drives: &Concatenated, runs: &mut Runs) -> Run {
        let (drive, first) = drives.drive_at(runs.at);
        let (row, start) = self.unit.split_long(runs.at - first.bytes);
        let bytes = runs.end.min(drives.end_of(drive)) - runs.at;
        runs.at += bytes;
        Run {
            stripe: first.stripe.plus(row),
            column: ColumnId::new(0),
            start,
            bytes,
        }
    }

    /// Where copy `copy` of a run begins.
    #[inline]
    pub fn run_place(&self, run: &Run, copy: CopyId) -> Place {
        let unit = self.data(run.stripe, run.column, copy);
        Place {
            offset: unit.offset + u64::from(run.start),
            ..unit
        }
    }
}
