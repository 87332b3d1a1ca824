//! Reads on a parallel SCSI bus: hits, misses, and reading ahead.

use super::super::buffer::{first_buffered, read_ahead_limit};
use super::super::ids::SegmentId;
use super::super::mechanics::{Movement, Sweep};
use super::super::media_op::MediaOp;
use super::super::model::Model;
use super::super::params::ScsiBusParams;
use super::super::sector_range::SectorRange;
use super::{Background, Media, Request, ScsiFront};
use crate::Port;
use raidlab_io::Part;
use raidlab_kernel::{Nanos, Time};

/// Whether the drive has the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bus {
    /// The drive holds it for the present command.
    Connected,
    /// The drive must reselect first.
    Disconnected,
}

/// A read between the start of the arm and the data phase.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filling {
    /// The segment that takes its sectors.
    segment: SegmentId,
    sweep: Sweep,
    /// The first sector can go over the bus from this time on, if it is in the buffer.
    ready: Time,
    bus: Bus,
}

impl ScsiFront {
    /// A read; gives the time when it completes.
    pub(super) fn read<P: Port>(
        &mut self,
        model: &Model,
        bus: &ScsiBusParams,
        port: &mut P,
        request: &Request,
    ) -> Time {
        self.counts.reads += 1;
        let hit_overhead = bus.read_hit.after(self.last_op);
        let miss_overhead = bus.read_miss.after(self.last_op);
        let mut media_from = request.at + miss_overhead;
        let mut left = media_from + bus.read_disconnect.after(self.last_op);
        let mut waited = false;
        if let Background::Write { done, .. } = self.background {
            // The arm is writing: the drive disconnects and comes back after that.
            media_from = media_from.max(done);
            left = left.max(done);
            waited = true;
            self.finish_write(model);
        }
        let Some(segment) = self.hit(model, request) else {
            let (ready, state) = if bus.never_disconnect {
                (media_from + bus.data_preparation_ns, Bus::Connected)
            } else {
                (left, Bus::Disconnected)
            };
            return self.read_miss(model, bus, port, request, (media_from, ready, state));
        };
        self.counts.read_hits += 1;
        self.buffer.touch(segment, MediaOp::Read);
        let returned = match waited {
            true if bus.never_disconnect => media_from,
            true => left + bus.first_reselect_ns,
            false => request.at + hit_overhead,
        };
        let ready = returned + bus.data_preparation_ns;
        port.io(request.io).charge(Part::Overhead, ready);
        let buffered = self.buffer.segments[segment].end;
        let filling = self.filling() == Some(segment);
        if buffered >= request.end {
            if filling {
                self.read_on(model, request.end);
            } else if model.buffer.read_ahead_on_idle_hit {
                self.restart_read_ahead(model, segment, request, media_from);
            }
            let data = ready + bus.read_sector_ns * request.sectors();
            port.io(request.io).charge(Part::Transfer, data);
            return data + bus.read_completion_ns;
        }
        let sweep = match self.background {
            Background::ReadAhead { sweep, .. } if filling => sweep,
            _ => {
                let start = media_from.max(request.at + self.stop_read_ahead(model, request.at));
                let wanted = collected_end(model, bus, request);
                self.sweep(model, buffered, start, wanted).0
            }
        };
        let filling = Filling {
            segment,
            sweep,
            ready,
            bus: Bus::Connected,
        };
        self.rest_of_read(model, bus, port, request, filling)
    }

    /// A read of which no sector is in the buffer.
    pub(super) fn read_miss<P: Port>(
        &mut self,
        model: &Model,
        bus: &ScsiBusParams,
        port: &mut P,
        request: &Request,
        (media_from, ready, state): (Time, Time, Bus),
    ) -> Time {
        let segment = self.replaced_by_read(model);
        let start = media_from.max(request.at + self.stop_read_ahead(model, request.at));
        let wanted = collected_end(model, bus, request);
        let (sweep, media) = self.sweep(model, request.lbn, start, wanted);
        let place = model.geometry.place(request.lbn);
        let first = first_buffered(model, &place, media.begin - media.arrived);
        self.buffer
            .reset(segment, SectorRange::new(first, request.lbn));
        self.buffer.touch(segment, MediaOp::Read);
        let record = port.io(request.io);
        record.charge(Part::Overhead, media.start);
        record.charge(Part::Seek, media.arrived);
        record.charge(Part::Rotation, media.begin);
        let filling = Filling {
            segment,
            sweep,
            ready,
            bus: state,
        };
        self.rest_of_read(model, bus, port, request, filling)
    }

    /// Moves the arm to `lbn` from `start` on, for a read whose sectors below `shuffled_end` are
    /// taken as they pass.
    pub(super) fn sweep(
        &mut self,
        model: &Model,
        lbn: u64,
        start: Time,
        shuffled_end: u64,
    ) -> (Sweep, Media) {
        let movement = Movement {
            place: model.geometry.place(lbn),
            start,
            op: MediaOp::Read,
            shuffled_end,
            least_seek: Nanos::ZERO,
            late: Nanos::ZERO,
        };
        let (sweep, access) = Sweep::new(model, self.arm, &movement);
        let media = self.count(&movement, access);
        self.background = Background::None;
        (sweep, media)
    }

    /// Transfers the sectors of a read over the bus as they pass under the head, then reads ahead.
    pub(super) fn rest_of_read<P: Port>(
        &mut self,
        model: &Model,
        bus: &ScsiBusParams,
        port: &mut P,
        request: &Request,
        filling: Filling,
    ) -> Time {
        let Filling {
            segment,
            mut sweep,
            ready,
            bus: mut state,
        } = filling;
        let buffered = self.buffer.segments[segment].end.max(request.lbn);
        let water_mark = {
            let sectors = request
                .sectors()
                .min(u64::from(model.buffer.segment_sectors));
            ((sectors as f64 * bus.read_water_mark) as u64).max(1)
        };
        let (mut next, mut now) = (request.lbn, ready);
        while next < request.end {
            if state == Bus::Disconnected {
                let wanted = (next + water_mark).min(request.end);
                if wanted > buffered {
                    now = now.max(sweep.end_of(model, wanted - 1));
                }
                now = now + bus.first_reselect_ns + bus.data_preparation_ns;
                state = Bus::Connected;
            }
            let passed = if next < buffered {
                buffered
            } else {
                sweep.passed_by(model, now, request.end)
            };
            if passed > next {
                now = now + bus.read_sector_ns * (passed.min(request.end) - next);
                next = passed;
            } else if bus.hold_bus || bus.never_disconnect {
                now = sweep.end_of(model, next);
            } else {
                state = Bus::Disconnected;
            }
        }
        port.io(request.io).charge(Part::Transfer, now);
        let passed = sweep.end_of(model, request.end - 1);
        self.occupied(request.at, passed);
        self.buffer.grow(segment, request.end);
        let start = self.buffer.segments[segment].start;
        let before = match self.background {
            Background::ReadAhead { limit, .. } => limit,
            _ => 0,
        };
        let limit = read_ahead_limit(model, start, request.end).max(before);
        self.background = Background::ReadAhead {
            sweep,
            segment,
            limit,
        };
        now + bus.read_completion_ns
    }

    /// A read up to `end` was served from the segment that is being filled.
    pub(super) fn read_on(&mut self, model: &Model, end: u64) {
        if let Background::ReadAhead { segment, limit, .. } = &mut self.background {
            let start = self.buffer.segments[*segment].start;
            *limit = read_ahead_limit(model, start, end).max(*limit);
        }
    }

    /// A read was served from a segment that was not being filled: the arm goes to the end of the
    /// segment from `from` on, and other reading ahead stops when the request comes.
    pub(super) fn restart_read_ahead(
        &mut self,
        model: &Model,
        segment: SegmentId,
        request: &Request,
        from: Time,
    ) {
        let filled = self.buffer.segments[segment];
        let limit = read_ahead_limit(model, filled.start, request.end);
        if limit <= filled.end {
            return;
        }
        let start = from.max(request.at + self.stop_read_ahead(model, request.at));
        let (sweep, _) = self.sweep(model, filled.end, start, 0);
        self.background = Background::ReadAhead {
            sweep,
            segment,
            limit,
        };
    }
}

/// One beyond the last sector that a read may take as it passes; 0 where the head waits for the
/// first. The bus takes sectors by their numbers alone, so those that pass early lie in the segment
/// meanwhile: all of the read must fit. A drive that never disconnects has its data phase open from
/// the start and hands each sector on as it is read, in order.
fn collected_end(model: &Model, bus: &ScsiBusParams, request: &Request) -> u64 {
    let fits = request.sectors() <= u64::from(model.buffer.segment_sectors);
    if model.buffer.read_on_arrival && fits && !bus.never_disconnect {
        request.end
    } else {
        0
    }
}
