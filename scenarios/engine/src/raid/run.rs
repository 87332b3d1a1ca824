//! Runs: what of a request lies in one piece on a drive is one command there.
//!
//! Where the columns of an array stay on their drives (RAID 0, 1, 10, jbod), the units of a column
//! that a request covers lie one behind the other. With parity, or on RAID 1E, a run is a part of
//! one unit.
//!
//! Each unit of a run that is written has a job, with the unit's lock, so that it stays its own for
//! whatever else happens to it. All jobs of a run ask for their locks at once, and the first one
//! sends the commands when the last of them has its: nobody waits for anyone who came later.

use super::geometry::{Geometry, Piece};
use super::jobs::{NO_JOB, Phase, Work};
use super::stripe::Extent;
use crate::system::System;
use raidlab_kernel::{IoId, Time};

/// Bytes of a column that lie one behind the other on each drive that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The stripe of its first unit.
    pub stripe: u64,
    pub column: u32,
    /// First byte within that unit.
    pub start: u32,
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
    pub fn extents(self, unit: u64) -> impl Iterator<Item = (u64, Extent)> {
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
            stripe: self.stripe + at / unit,
            start: (at % unit) as u32,
            bytes: self.bytes - bytes,
            ..self
        }
    }
}

impl Geometry {
    /// The next run of a range (start, end) that begins at `offset` or behind it, which is moved on.
    #[inline]
    pub fn next_run(&self, range: (u64, u64), offset: &mut u64) -> Option<Run> {
        while *offset < range.1 {
            let piece = self.piece(*offset, range.1 - *offset);
            *offset += u64::from(piece.end - piece.start);
            if !self.goes_on(piece.stripe) || self.begins(range.0, &piece) {
                return Some(self.run(&piece, range.1));
            }
        }
        None
    }

    /// Whether the unit before a piece in its column is not in a range that starts there.
    fn begins(&self, start: u64, piece: &Piece) -> bool {
        self.offset(piece.stripe - 1, piece.column) + self.unit() <= start
    }

    /// The run of a range up to `end` that begins with a piece.
    fn run(&self, first: &Piece, end: u64) -> Run {
        let mut bytes = u64::from(first.end - first.start);
        let mut stripe = first.stripe + 1;
        while self.goes_on(stripe) && self.offset(stripe, first.column) < end {
            let at = self.offset(stripe, first.column);
            let piece = self.piece(at, end - at);
            bytes += u64::from(piece.end);
            stripe += 1;
        }
        Run {
            stripe: first.stripe,
            column: first.column,
            start: first.start,
            bytes,
        }
    }
}

impl System {
    /// Writes a run below `parent`.
    pub(super) fn write_run(&mut self, parent: IoId, array: u32, run: Run, now: Time) {
        let unit = self.volume(array).geometry.unit();
        let (mut head, mut last) = (NO_JOB, NO_JOB);
        for (stripe, extent) in run.extents(unit) {
            let job = self.new_job(parent, array, stripe, Work::Write, now);
            self.take_new_data(job, parent, array, extent);
            if head == NO_JOB {
                head = job;
            } else {
                self.raid.jobs[last].run.mate = job;
                self.raid.jobs[job].run.head = head;
                self.raid.jobs[head].run.missing += 1;
            }
            last = job;
        }
        let mut job = head;
        while job != NO_JOB {
            let mate = self.raid.jobs[job].run.mate;
            self.begin(job, now);
            job = mate;
        }
    }

    /// Bytes of the jobs behind one in its run.
    pub(super) fn bytes_of_mates(&self, job: u32) -> u64 {
        let (mut bytes, mut mate) = (0, self.raid.jobs[job].run.mate);
        while mate != NO_JOB {
            let job = &self.raid.jobs[mate];
            bytes += self.ios[job.io].bytes;
            mate = job.run.mate;
        }
        bytes
    }

    /// A job and those behind it in its run come into a phase.
    pub(super) fn set_phase(&mut self, job: u32, phase: Phase) {
        let mut next = job;
        while next != NO_JOB {
            let job = &mut self.raid.jobs[next];
            job.phase = phase;
            next = job.run.mate;
        }
    }

    /// Takes the one behind a job out of its run.
    pub(super) fn take_mate(&mut self, job: u32) -> u32 {
        let mate = self.raid.jobs[job].run.mate;
        self.raid.jobs[job].run.mate = self.raid.jobs[mate].run.mate;
        mate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Layout;
    use crate::layout::tests::levels;
    use crate::plan::{Level, Rotation};
    use proptest::prelude::*;

    const UNIT: u64 = 4096;

    fn runs(geometry: &Geometry, start: u64, bytes: u64) -> Vec<Run> {
        let (range, mut offset) = ((start, start + bytes), start);
        std::iter::from_fn(|| geometry.next_run(range, &mut offset)).collect()
    }

    fn run(stripe: u64, column: u32, start: u32, bytes: u64) -> Run {
        Run {
            stripe,
            column,
            start,
            bytes,
        }
    }

    /// Ten units less a sector over four drives: one command for each of them.
    #[test]
    fn a_long_request_is_one_run_a_column() {
        let drives = [100 * UNIT; 4];
        let of = |level| Geometry::new(level, Rotation::LeftSymmetric, UNIT, 1, &drives).unwrap();
        let (start, bytes) = (2 * UNIT + 512, 10 * UNIT - 512);
        assert_eq!(
            runs(&of(Level::Raid0), start, bytes),
            [
                run(0, 2, 512, 3 * UNIT - 512),
                run(0, 3, 0, 3 * UNIT),
                run(1, 0, 0, 2 * UNIT),
                run(1, 1, 0, 2 * UNIT)
            ]
        );
        assert_eq!(runs(&of(Level::Raid5), start, bytes).len(), 10);
    }

    proptest! {
        /// Runs are the commands that a layout by arithmetic makes, copy by copy, in its order;
        /// what they say of their units is what the units' pieces say.
        #[test]
        fn runs_are_the_segments_of_a_layout(
            (level, drives) in levels(),
            unit in 1u64..4,
            from in 0.0f64..1.0,
            sectors in 1u64..60,
        ) {
            let unit = 512 * unit;
            let capacities: Vec<u64> = match level {
                Level::Jbod => (0..drives as u64).map(|n| 512 * (7 + 3 * n)).collect(),
                _ => vec![32 * unit; drives],
            };
            let geometry =
                Geometry::new(level, Rotation::LeftSymmetric, unit, 1, &capacities).unwrap();
            let layout = Layout::new(level, unit, &capacities).unwrap();
            let sectors = sectors.min(geometry.capacity() / 512);
            let last = geometry.capacity() / 512 - sectors;
            let start = (from * (last + 1) as f64) as u64 * 512;
            let mut segments = Vec::new();
            layout.split(start, sectors * 512, &mut segments);
            let runs = runs(&geometry, start, sectors * 512);
            prop_assert_eq!(runs.len(), segments.len());
            let mut pieces = Vec::new();
            for (run, segment) in runs.into_iter().zip(&segments) {
                prop_assert_eq!(run.bytes, segment.bytes);
                for copy in 0..geometry.copies() {
                    let place = geometry.data(run.stripe, run.column, copy);
                    let here = (place.member, place.offset + u64::from(run.start));
                    prop_assert_eq!(here, layout.copy(segment, u64::from(copy)));
                }
                for (stripe, extent) in run.extents(unit) {
                    pieces.push(geometry.offset(stripe, extent.column) + u64::from(extent.start));
                }
            }
            pieces.sort_unstable();
            let mut at = start;
            for piece in pieces {
                prop_assert_eq!(piece, at);
                let piece = geometry.piece(at, start + sectors * 512 - at);
                at += u64::from(piece.end - piece.start);
            }
            prop_assert_eq!(at, start + sectors * 512);
        }
    }
}
