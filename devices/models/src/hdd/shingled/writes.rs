//! Writes of a shingled disk: from memory to the end of the log, or straight to the bands of a
//! stream.

use super::super::ids::MediumSector;
use super::super::media_op::MediaOp;
use super::super::model::Model;
use super::super::sector_range::SectorRange;
use super::{Activity, Piece, ShingledFront};
use crate::Port;
use raidlab_io::{IoId, Part};
use raidlab_kernel::{Nanos, Time};
use std::collections::VecDeque;

/// Sectors in sequence that make a stream: 1 MiB. Assumed.
const STREAM: u64 = 2048;

/// A write that is not on the medium yet.
#[derive(Clone, Copy, Debug)]
struct Pending {
    lbn: u64,
    end: u64,
    /// The command, if it is complete only on the medium.
    io: Option<IoId>,
    /// The firmware is done with it.
    ready: Time,
}

/// The writes that are not on the medium, and the stream that goes straight to its bands.
#[derive(Debug)]
pub struct Writes {
    /// In the order in which they came.
    pending: VecDeque<Pending>,
    /// Writes that wait for room in memory.
    blocked: VecDeque<(IoId, Pending)>,
    /// Flushes, each with the writes that must be on the medium for it.
    flushing: VecDeque<(IoId, u64)>,
    /// Sectors in memory, and how many it takes.
    sectors: u64,
    room: u64,
    /// Writes that came and that are on the medium.
    came: u64,
    written: u64,
    /// What the arm writes: sectors of memory, writes.
    in_flight: (u64, u64),
    band: u64,
    /// Sector after the last one that was written, and sectors in sequence up to it.
    next: u64,
    run: u64,
    /// Where the stream goes on, in a band whose first sectors it has written.
    open: Option<u64>,
}

impl Writes {
    pub(super) fn new(model: &Model, depth: u32, band: u64) -> Writes {
        let room = model.write_cache.as_ref().map_or(0, |cache| cache.sectors);
        Writes {
            pending: VecDeque::with_capacity(depth as usize),
            blocked: VecDeque::with_capacity(depth as usize),
            flushing: VecDeque::with_capacity(depth as usize),
            sectors: 0,
            room,
            came: 0,
            written: 0,
            in_flight: (0, 0),
            band,
            next: u64::MAX,
            run: 0,
            open: None,
        }
    }

    /// True if something is to be written.
    pub(super) fn are_waiting(&self) -> bool {
        !self.pending.is_empty()
    }

    /// True if one write in memory has all of these sectors.
    pub(super) fn hold(&self, SectorRange { lbn, end }: SectorRange) -> bool {
        let mut pending = self.pending.iter();
        pending.any(|write| write.lbn <= lbn && end <= write.end)
    }

    /// The sectors of a band that a stream has begun and not written, if there are any.
    pub(super) fn rest_of_open_band(&self) -> Option<SectorRange> {
        let open = self.open.filter(|open| open % self.band != 0)?;
        Some(SectorRange::new(open, open.next_multiple_of(self.band)))
    }

    /// The stream is over.
    pub(super) fn close(&mut self) {
        self.open = None;
    }

    fn push(&mut self, write: Pending) {
        self.pending.push_back(write);
        self.came += 1;
        if write.io.is_none() {
            self.sectors += write.end - write.lbn;
        }
    }

    /// True if what begins at `lbn` goes straight to its band.
    fn streams_to(&self, lbn: u64) -> bool {
        self.open == Some(lbn) || self.opens(lbn)
    }

    /// True if a stream has come to the first sector of a band.
    fn opens(&self, lbn: u64) -> bool {
        lbn == self.next && self.run >= STREAM && lbn % self.band == 0
    }

    /// The first write has been taken up to `end`.
    fn advance(&mut self, end: u64) -> Option<Pending> {
        let first = self.pending.front_mut()?;
        let sectors = end - first.lbn;
        self.run = if first.lbn == self.next {
            self.run + sectors
        } else {
            sectors
        };
        self.next = end;
        first.lbn = end;
        if first.io.is_none() {
            self.in_flight.0 += sectors;
        }
        if first.lbn < first.end {
            return None;
        }
        self.in_flight.1 += 1;
        self.pending.pop_front()
    }
}

impl ShingledFront {
    pub(super) fn write<P: Port>(
        &mut self,
        model: &Model,
        port: &mut P,
        io: IoId,
        range: SectorRange,
        ready: Time,
    ) {
        let SectorRange { lbn, end } = range;
        self.counts.writes += 1;
        self.buffer.forget(range, None);
        let writes = &mut self.writes;
        let held = Pending {
            lbn,
            end,
            io: None,
            ready,
        };
        if end - lbn > writes.room {
            let io = Some(io);
            writes.push(Pending { io, ..held });
        } else if writes.blocked.is_empty() && writes.sectors + end - lbn <= writes.room {
            self.counts.cached_writes += 1;
            writes.push(held);
            if !model.keeps_writes() {
                port.holds(io);
            }
            port.done(io, ready, Nanos::ZERO);
        } else {
            writes.blocked.push_back((io, held));
        }
    }

    pub(super) fn flush<P: Port>(&mut self, model: &Model, port: &mut P, io: IoId, ready: Time) {
        let writes = &mut self.writes;
        if writes.came == writes.written || model.keeps_writes() {
            port.done(io, ready, Nanos::ZERO);
        } else {
            writes.flushing.push_back((io, writes.came));
        }
    }

    /// Writes what stands first in memory: to its band, to the log, or, without room there, merges.
    pub(super) fn write_out<P: Port>(&mut self, model: &Model, port: &mut P) {
        let Some(&Pending { lbn, .. }) = self.writes.pending.front() else {
            return;
        };
        let opens = self.writes.opens(lbn) && self.writes.open != Some(lbn);
        if opens && self.writes.rest_of_open_band().is_some() {
            return self.merge_step(model, port.now(), port);
        }
        if self.writes.streams_to(lbn) {
            self.write_stream(model, port, lbn);
        } else {
            self.write_log(model, port);
        }
    }

    /// All writes in sequence from `lbn` on go to their bands.
    fn write_stream<P: Port>(&mut self, model: &Model, port: &mut P, lbn: u64) {
        let begin = self.begin_writing(port);
        let mut end = lbn;
        while let Some(&write) = self.writes.pending.front() {
            if write.lbn != end || write.ready > begin {
                break;
            }
            end = write.end;
            self.take(end, model.home(lbn));
        }
        let written = SectorRange { lbn, end };
        self.media.cover(written);
        self.writes.open = Some(end);
        self.pass_over(model, port, (model.home(lbn), written.sectors()));
    }

    /// Appends writes to the log as long as they fit behind each other.
    fn write_log<P: Port>(&mut self, model: &Model, port: &mut P) {
        let begin = self.begin_writing(port);
        let band = self.writes.band;
        let mut on = None;
        while let Some(&write) = self.writes.pending.front() {
            let cut = write.end.min((write.lbn / band + 1) * band);
            let sectors = cut - write.lbn;
            let at = self.media.next_at(sectors);
            let (from, passed) = on.unwrap_or((at, 0));
            let goes_on = at == from.plus(passed) && !self.writes.streams_to(write.lbn);
            let follows = on.is_none() || goes_on;
            if write.ready > begin || !follows || !self.media.has_room(sectors) {
                break;
            }
            on = Some((from, passed + sectors));
            self.media.append(write.lbn, sectors);
            self.take(cut, at);
        }
        match on {
            Some(on) => self.pass_over(model, port, on),
            None => self.merge_for(model, port),
        }
    }

    /// The arm is free for the first write, and that is ready.
    fn begin_writing<P: Port>(&mut self, port: &P) -> Time {
        let ready = self.writes.pending.front().map(|write| write.ready);
        self.free = self.free.max(ready.unwrap_or(Time::ZERO));
        self.pieces.clear();
        self.completed.clear();
        self.free.max(port.now())
    }

    /// The first write goes to the medium up to `end`, to `at`.
    fn take(&mut self, end: u64, at: MediumSector) {
        let Some(&Pending { lbn, io, .. }) = self.writes.pending.front() else {
            return;
        };
        if io.is_none() {
            let sectors = end - lbn;
            self.pieces.push(Piece { lbn, at, sectors });
        }
        if let Some(Pending { io: Some(io), .. }) = self.writes.advance(end) {
            self.completed.push(io);
        }
    }

    /// The head passes over the sectors of all writes that were taken.
    fn pass_over<P: Port>(&mut self, model: &Model, port: &mut P, on: (MediumSector, u64)) {
        let (start, access, _) = self.sweep(model, port.now(), MediaOp::Write, on);
        for &Piece { lbn, sectors, .. } in &self.pieces {
            port.settles(SectorRange::long(lbn, sectors).bytes(), self.free);
        }
        for &io in &self.completed {
            let record = port.io(io);
            record.charge(Part::Queue, start);
            record.charge(Part::Seek, start + access.seek);
            record.charge(Part::Rotation, start + access.total());
            record.charge(Part::Transfer, self.free);
            port.done(io, self.free, Nanos::ZERO);
        }
        self.work(port, Activity::Write);
    }

    /// The log has no room for the first write: a band is merged, and the write waits for it.
    fn merge_for<P: Port>(&mut self, model: &Model, port: &mut P) {
        let now = port.now();
        self.merge_step(model, now, port);
        self.full.add(now, self.free);
        if let Some(Pending { io: Some(io), .. }) = self.writes.pending.front() {
            let record = port.io(*io);
            let at = self.free.max(record.mark);
            record.charge(Part::CacheWait, at);
        }
    }

    /// The arm has written: there is room in memory, and flushes may be complete.
    pub(super) fn has_written<P: Port>(&mut self, model: &Model, port: &mut P) {
        self.counts.destaged += 1;
        let writes = &mut self.writes;
        let (sectors, count) = std::mem::take(&mut writes.in_flight);
        writes.sectors -= sectors;
        writes.written += count;
        self.admit(model, port);
    }

    fn admit<P: Port>(&mut self, model: &Model, port: &mut P) {
        let now = port.now();
        let writes = &mut self.writes;
        while let Some(&(io, write)) = writes.blocked.front() {
            if writes.sectors + write.end - write.lbn > writes.room {
                break;
            }
            writes.blocked.pop_front();
            writes.push(write);
            self.counts.cached_writes += 1;
            let record = port.io(io);
            let at = now.max(record.mark);
            record.charge(Part::CacheWait, at);
            if !model.keeps_writes() {
                port.holds(io);
            }
            port.done(io, at, Nanos::ZERO);
        }
        while let Some(&(io, wanted)) = writes.flushing.front() {
            if writes.written < wanted {
                break;
            }
            writes.flushing.pop_front();
            let record = port.io(io);
            let at = now.max(record.mark);
            record.charge(Part::CacheWait, at);
            port.done(io, at, Nanos::ZERO);
        }
    }

    /// What stands in memory and was acknowledged is lost.
    pub(super) fn forget_writes<P: Port>(&mut self, model: &Model, port: &mut P) {
        let writes = &mut self.writes;
        let before = writes.pending.len();
        writes.pending.retain(|write| write.io.is_some());
        writes.written += (before - writes.pending.len()) as u64;
        writes.sectors = writes.in_flight.0;
        self.admit(model, port);
    }
}
