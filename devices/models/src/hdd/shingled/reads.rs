//! Reads of a shingled disk: from memory, from the media cache, from their bands.

use super::super::buffer::{Held, read_ahead_limit};
use super::super::geometry::Place;
use super::super::mechanics::Sweep;
use super::super::media_op::MediaOp;
use super::super::model::Model;
use super::super::scheduler::Waiting;
use super::super::sector_range::SectorRange;
use super::{Activity, ShingledFront};
use crate::Port;
use raidlab_io::{IoId, Part};
use raidlab_kernel::{Nanos, Time};

/// Logical sectors that pass under the head in one go, of which commands get theirs as they pass.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    sweep: Sweep,
    lbn: u64,
    end: u64,
    /// A later command reads what passes: its stream goes on.
    wanted: bool,
}

impl ShingledFront {
    pub(super) fn read<P: Port>(
        &mut self,
        model: &Model,
        port: &mut P,
        io: IoId,
        range: SectorRange,
        ready: Time,
    ) {
        let SectorRange { lbn, end } = range;
        self.counts.reads += 1;
        if self.writes.hold(range) {
            self.counts.read_hits += 1;
            return port.done(io, ready, Nanos::ZERO);
        }
        let mut missing = lbn;
        match self.buffer.held(range) {
            Held::Whole(segment) => {
                self.counts.read_hits += 1;
                self.buffer.touch(segment, MediaOp::Read);
                return port.done(io, ready, Nanos::ZERO);
            }
            Held::UpTo(sector) => missing = sector,
            Held::Nothing => {}
        }
        if let Activity::Read(reading) = &mut self.activity {
            if reading.lbn <= missing && end <= reading.end {
                self.counts.read_hits += 1;
                reading.wanted = true;
                let passes = { reading.sweep }.end_of(model, model.home(end - 1).number());
                let at = passes.max(ready);
                let record = port.io(io);
                let lead = at.since(record.mark);
                record.charge(Part::Transfer, at);
                return port.done(io, at, lead);
            }
        }
        let place = self.place_of(model, range);
        self.queue.push(Waiting {
            io,
            lbn,
            place,
            sectors: (end - lbn) as u32,
            ready,
            ..Waiting::default()
        });
    }

    /// Where a read begins.
    fn place_of(&mut self, model: &Model, range: SectorRange) -> Place {
        (self.media).locate(range, model.first_band, &mut self.pieces);
        model.geometry.place(self.pieces[0].at.number())
    }

    /// Reads for the command that is next: its pieces one after the other.
    pub(super) fn serve_read<P: Port>(&mut self, model: &Model, port: &mut P) {
        let start = self.free.max(port.now());
        let next = (self.queue.late(model, start)).or_else(|| {
            let chosen = (self.queue).choose_joined(model, &self.arm, self.at.number(), start);
            chosen.map(|(index, _)| index)
        });
        let Some(index) = next else { return };
        let waiting = self.queue.take(index);
        self.free = self.free.max(waiting.ready);
        let end = waiting.lbn + u64::from(waiting.sectors);
        // What is in the buffer need not be read again; what was written meanwhile has moved.
        let lbn = match self.buffer.held(SectorRange::new(waiting.lbn, end)) {
            Held::UpTo(sector) => sector,
            _ => waiting.lbn,
        };
        (self.media).locate(
            SectorRange::new(lbn, end),
            model.first_band,
            &mut self.pieces,
        );
        let mut lead = Nanos::ZERO;
        let mut sweep = None;
        for number in 0..self.pieces.len() {
            let piece = self.pieces[number];
            let on = (piece.at, piece.sectors);
            let (start, access, passed) = self.sweep(model, port.now(), MediaOp::Read, on);
            let begin = start + access.total();
            let record = port.io(waiting.io);
            record.charge(Part::Queue, start);
            record.charge(Part::Seek, start + access.seek);
            record.charge(Part::Rotation, begin);
            record.charge(Part::Transfer, self.free);
            lead = self.free.since(begin);
            sweep = Some(passed);
        }
        port.done(waiting.io, self.free, lead);
        let at_home = self.pieces.len() == 1 && self.pieces[0].at == model.home(lbn);
        let Some(sweep) = sweep.filter(|_| at_home) else {
            return self.work(port, Activity::ReadPieces { lbn, end });
        };
        let reading = Reading {
            sweep,
            lbn,
            end,
            wanted: false,
        };
        let continues = self.queue.is_empty() && self.buffer.ending_at(lbn).is_some();
        let limit = match continues {
            true => self.limit_of_stream(model, SectorRange { lbn, end }),
            false => end,
        };
        self.read_up_to(model, port, reading, limit);
    }

    /// How far the head reads on after a stream's sectors before `end`: over those at home.
    fn limit_of_stream(&self, model: &Model, SectorRange { lbn, end }: SectorRange) -> u64 {
        let limit = read_ahead_limit(model, lbn, end);
        match limit > end && !self.media.touches(SectorRange::new(end, limit)) {
            true => limit,
            false => end,
        }
    }

    /// The head goes on with `reading` up to `limit`.
    fn read_up_to<P: Port>(
        &mut self,
        model: &Model,
        port: &mut P,
        mut reading: Reading,
        limit: u64,
    ) {
        if limit > reading.end {
            let mut sweep = reading.sweep;
            let done = sweep.end_of(model, model.home(limit - 1).number());
            self.busy += done.since(self.free);
            (self.free, self.arm) = (done, sweep.arm());
            self.at = model.home(limit);
            reading.end = limit;
        }
        self.work(port, Activity::Read(reading));
    }

    /// The sectors of a reading have passed. A stream that took them has the next ones read.
    pub(super) fn has_read<P: Port>(&mut self, model: &Model, port: &mut P, reading: Reading) {
        self.buffer.keep(SectorRange::new(reading.lbn, reading.end));
        let others = !self.queue.is_empty() || self.writes.are_waiting();
        if !reading.wanted || others {
            return;
        }
        let limit = self.limit_of_stream(model, SectorRange::new(reading.end, reading.end));
        if limit > reading.end {
            let next = Reading {
                lbn: reading.end,
                wanted: false,
                ..reading
            };
            self.read_up_to(model, port, next, limit);
        }
    }
}
