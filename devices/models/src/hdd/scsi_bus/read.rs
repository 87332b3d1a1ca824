//! Reads on a parallel SCSI bus: hits, misses, and reading ahead.

use super::super::buffer::{first_kept, read_ahead_limit};
use super::super::mechanics::{Movement, Sweep};
use super::super::model::Model;
use super::super::params::ScsiBusParams;
use super::{Background, Media, Request, ScsiFront};
use crate::Port;
use raidlab_kernel::{Nanos, Part, Time};

impl ScsiFront {
    /// A read; says when it completes.
    pub(super) fn read<P: Port>(
        &mut self,
        model: &Model,
        bus: &ScsiBusParams,
        port: &mut P,
        request: &Request,
    ) -> Time {
        self.counts.reads += 1;
        let hit_overhead = bus.read_hit.after(self.last_was_write);
        let miss_overhead = bus.read_miss.after(self.last_was_write);
        let leaves = bus.read_disconnect.after(self.last_was_write);
        let mut media_from = request.at + miss_overhead;
        let mut waited = false;
        if let Background::Write { done, .. } = self.background {
            // The arm is writing: the drive leaves the bus and comes back after that.
            media_from = (media_from + leaves).max(done);
            waited = true;
            self.finish_write(model);
        }
        let Some(segment) = self.hit(model, request) else {
            let on_bus = bus.never_disconnect;
            let ready = match on_bus {
                true => media_from + bus.data_preparation_ns,
                false => media_from + leaves,
            };
            return self.read_miss(model, bus, port, request, (media_from, ready, on_bus));
        };
        self.counts.read_hits += 1;
        self.buffer.touch(segment, false);
        let on_bus = match waited {
            true => media_from + bus.first_reselect_ns + bus.data_preparation_ns,
            false => request.at + hit_overhead + bus.data_preparation_ns,
        };
        port.io(request.io).charge(Part::Overhead, on_bus);
        let held = self.buffer.segments[segment].end;
        let filling = self.filling() == Some(segment);
        if held >= request.end {
            if filling {
                self.read_on(model, request.end);
            } else if model.buffer.read_ahead_on_idle_hit {
                self.restart_read_ahead(model, segment, request.end, media_from);
            }
            let data = on_bus + bus.read_sector_ns * request.sectors();
            port.io(request.io).charge(Part::Transfer, data);
            return data + bus.read_completion_ns;
        }
        let sweep = match self.background {
            Background::ReadAhead { sweep, .. } if filling => sweep,
            _ => {
                let start = media_from.max(request.at + self.stop_read_ahead(model, request.at));
                self.sweep(model, held, start, request.end).0
            }
        };
        self.rest_of_read(model, bus, port, request, segment, sweep, (on_bus, true))
    }

    /// A read of which the buffer holds nothing.
    pub(super) fn read_miss<P: Port>(
        &mut self,
        model: &Model,
        bus: &ScsiBusParams,
        port: &mut P,
        request: &Request,
        (media_from, ready, on_bus): (Time, Time, bool),
    ) -> Time {
        let segment = self.replaced_by_read(model);
        let start = media_from.max(request.at + self.stop_read_ahead(model, request.at));
        let (sweep, media) = self.sweep(model, request.lbn, start, request.end);
        let place = model.geometry.place(request.lbn);
        let kept = first_kept(model, &place, media.begin - media.arrived);
        self.buffer.reset(segment, kept, request.lbn);
        self.buffer.touch(segment, false);
        let record = port.io(request.io);
        record.charge(Part::Overhead, media.start);
        record.charge(Part::Seek, media.arrived);
        record.charge(Part::Rotation, media.begin);
        self.rest_of_read(model, bus, port, request, segment, sweep, (ready, on_bus))
    }

    /// Moves the arm to `lbn` from `start` on, for a read up to `wanted`.
    pub(super) fn sweep(
        &mut self,
        model: &Model,
        lbn: u64,
        start: Time,
        wanted: u64,
    ) -> (Sweep, Media) {
        let movement = Movement {
            place: model.geometry.place(lbn),
            start,
            write: false,
            shuffled_end: if model.buffer.read_on_arrival {
                wanted
            } else {
                0
            },
            least_seek: Nanos::ZERO,
            late: Nanos::ZERO,
        };
        let (sweep, access) = Sweep::new(model, self.arm, &movement);
        let media = self.count(&movement, access);
        self.background = Background::None;
        (sweep, media)
    }

    /// Brings the sectors of a read over the bus as they pass under the head, then reads ahead.
    ///
    /// `ready` is when the bus can be had for the first of them, `on_bus` if it is held by then.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn rest_of_read<P: Port>(
        &mut self,
        model: &Model,
        bus: &ScsiBusParams,
        port: &mut P,
        request: &Request,
        segment: usize,
        mut sweep: Sweep,
        (ready, on_bus): (Time, bool),
    ) -> Time {
        let held = self.buffer.segments[segment].end.max(request.lbn);
        let water_mark = {
            let sectors = request
                .sectors()
                .min(u64::from(model.buffer.segment_sectors));
            ((sectors as f64 * bus.read_water_mark) as u64).max(1)
        };
        let (mut next, mut now, mut on_bus) = (request.lbn, ready, on_bus);
        while next < request.end {
            if !on_bus {
                let wanted = (next + water_mark).min(request.end);
                if wanted > held {
                    now = now.max(sweep.end_of(model, wanted - 1));
                }
                now = now + bus.first_reselect_ns + bus.data_preparation_ns;
                on_bus = true;
            }
            let passed = if next < held {
                held
            } else {
                sweep.passed_by(model, now, request.end)
            };
            if passed > next {
                now = now + bus.read_sector_ns * (passed.min(request.end) - next);
                next = passed;
            } else if bus.hold_bus || bus.never_disconnect {
                now = sweep.end_of(model, next);
            } else {
                on_bus = false;
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

    /// A read up to `end` was served from a segment that nobody was filling: the arm goes to
    /// where it ends.
    pub(super) fn restart_read_ahead(
        &mut self,
        model: &Model,
        segment: usize,
        end: u64,
        from: Time,
    ) {
        let held = self.buffer.segments[segment];
        let limit = read_ahead_limit(model, held.start, end);
        if limit <= held.end {
            return;
        }
        let start = from + self.stop_read_ahead(model, from);
        let (sweep, _) = self.sweep(model, held.end, start, 0);
        self.background = Background::ReadAhead {
            sweep,
            segment,
            limit,
        };
    }
}
