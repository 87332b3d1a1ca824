//! Merging a band: it is read, then the log's records of it one by one, then it is written whole.
//!
//! ```text
//! time = read of the band + records * (seek + rotation + transfer) + write of the band
//! ```
//!
//! Commands that wait are served between these steps. A stream that ends inside a band leaves the
//! rest of it to be merged.

use super::super::ids::{BandId, LogSector, MediumSector};
use super::super::media_op::MediaOp;
use super::super::model::Model;
use super::super::sector_range::SectorRange;
use super::{Activity, IDLE, ShingledFront};
use crate::Port;
use raidlab_kernel::Time;

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    ReadBand,
    ReadRecord(usize),
    WriteBand,
    Done,
}

/// A band that is merged.
#[derive(Clone, Copy, Debug)]
pub struct Merge {
    band: BandId,
    /// The logical sectors that are read and written: all of the band, or what a stream has left.
    lbn: u64,
    end: u64,
    /// Records from before this position of the log are part of it.
    position: LogSector,
    step: Step,
}

impl Merge {
    /// What the head passes, and how many sectors that is.
    fn range(&self, model: &Model) -> (MediumSector, u64) {
        (model.home(self.lbn), self.end - self.lbn)
    }
}

impl ShingledFront {
    /// The next step of the merge in progress, or of the next one that is due.
    pub(super) fn merge_step<P: Port>(&mut self, model: &Model, now: Time, port: &mut P) {
        let Some(mut merge) = self.merge.or_else(|| self.next_merge(model)) else {
            return;
        };
        let (op, on) = match merge.step {
            Step::ReadRecord(number) => {
                let record = self.records[number];
                (MediaOp::Read, (record.at, record.sectors))
            }
            Step::ReadBand => (MediaOp::Read, merge.range(model)),
            Step::WriteBand | Step::Done => (MediaOp::Write, merge.range(model)),
        };
        self.sweep(model, now, op, on);
        merge.step = match merge.step {
            Step::ReadBand if !self.records.is_empty() => Step::ReadRecord(0),
            Step::ReadRecord(number) if number + 1 < self.records.len() => {
                Step::ReadRecord(number + 1)
            }
            Step::ReadBand | Step::ReadRecord(_) => Step::WriteBand,
            Step::WriteBand | Step::Done => Step::Done,
        };
        self.merge = Some(merge);
        self.work(port, Activity::Merge);
    }

    /// What a stream has left of its band, else the band of the log's oldest record.
    fn next_merge(&mut self, model: &Model) -> Option<Merge> {
        let size = model.shingled.as_ref()?.band_sectors();
        let rest = self.writes.rest_of_open_band();
        let band = match rest {
            Some(left) => self.media.band_of(left.lbn),
            None => self.media.oldest_band()?,
        };
        let SectorRange { lbn, end } =
            rest.unwrap_or(SectorRange::long(u64::from(band.number()) * size, size));
        if rest.is_some() {
            self.writes.close();
        }
        self.media.records_of(band, &mut self.records);
        Some(Merge {
            band,
            lbn,
            end: end.min(model.sectors),
            position: self.media.head(),
            step: Step::ReadBand,
        })
    }

    /// A step of the merge is complete.
    pub(super) fn has_merged(&mut self) {
        let Some(merge) = self.merge.filter(|merge| merge.step == Step::Done) else {
            return;
        };
        self.media.merged(merge.band, merge.position);
        self.merged[0] += 1;
        self.merged[1] += self.records.len() as u64;
        self.merge = None;
    }

    /// A drive without commands merges after a while.
    pub(super) fn merge_when_idle<P: Port>(&mut self, model: &Model, port: &mut P) {
        let Some(shingled) = &model.shingled else {
            return;
        };
        let due = self.merge.is_some()
            || self.writes.rest_of_open_band().is_some()
            || self.media.oldest_band().is_some();
        if !due {
            return;
        }
        let (now, at) = (port.now(), self.quiet_since + shingled.merge_after_idle_ns);
        if now >= at {
            self.merge_step(model, now, port);
        } else if !self.idle_timer {
            self.idle_timer = true;
            port.wake(at, IDLE);
        }
    }
}
