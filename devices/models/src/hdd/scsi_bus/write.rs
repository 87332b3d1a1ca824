//! Writes on a parallel SCSI bus: into the buffer, and from there to the medium.

use super::super::ids::SegmentId;
use super::super::mechanics::{Movement, Sweep};
use super::super::media_op::MediaOp;
use super::super::model::Model;
use super::super::params::{SECTOR_BYTES, ScsiBusParams};
use super::{Background, Media, Request, ScsiFront};
use crate::Port;
use raidlab_io::{ByteRange, Part};
use raidlab_kernel::{Nanos, Time};

impl ScsiFront {
    /// A write; gives the time when it completes.
    pub(super) fn write<P: Port>(
        &mut self,
        model: &Model,
        bus: &ScsiBusParams,
        port: &mut P,
        request: &Request,
    ) -> Time {
        self.counts.writes += 1;
        let overhead = bus.write.after(self.last_op);
        let mut data_from = request.at + overhead + bus.data_preparation_ns;
        let mut media_from = request.at + overhead;
        if let Background::Write {
            sweep,
            segment,
            end,
            done,
        } = self.background
        {
            if end == request.lbn {
                return self.append(model, bus, port, request, (sweep, segment, data_from));
            }
            // The drive disconnects and comes back when the arm is free.
            let (leaving, returning) = match bus.never_disconnect {
                true => (Nanos::ZERO, Nanos::ZERO),
                false => (bus.write_disconnect_ns, bus.first_reselect_ns),
            };
            media_from = (media_from + leaving).max(done);
            data_from = media_from + returning + bus.data_preparation_ns;
            self.finish_write(model);
        }
        let segment = self.taken_by_write(model, request);
        let extra = match &bus.extra_disconnect {
            Some(extra) if !bus.fast_write && self.follows_unrelated_write(segment, request) => {
                let off = extra.command_ns + extra.disconnect_ns + extra.between_ns;
                let back = bus.first_reselect_ns + bus.data_preparation_ns;
                data_from = request.at + off + back;
                media_from = request.at + extra.command_ns + extra.seek_delta_ns;
                Some(extra.second_disconnect_ns)
            }
            _ => None,
        };
        media_from = media_from.max(request.at + self.stop_read_ahead(model, request.at));
        self.buffer.forget(request.range(), None);
        self.buffer.reset(segment, request.range());
        self.buffer.touch(segment, MediaOp::Write);
        let data_end = data_from + bus.write_sector_ns * request.sectors();
        let (sweep, media) = self.write_out(model, bus, request, media_from, data_from);
        self.occupied(media.start, media.end);
        let record = port.io(request.io);
        if bus.fast_write {
            record.charge(Part::Overhead, data_from);
            record.charge(Part::Transfer, data_end);
            self.counts.cached_writes += 1;
            acknowledge_early(port, request, media.end);
            self.background = Background::Write {
                sweep,
                segment,
                end: request.end,
                done: media.end,
            };
            return data_end + bus.write_completion_ns;
        }
        record.charge(Part::Overhead, media.start);
        record.charge(Part::Seek, media.arrived);
        record.charge(Part::Rotation, media.begin);
        record.charge(Part::Transfer, media.end.max(data_end));
        (self.arm, self.at) = (sweep.arm(), request.end);
        self.after_write(model, segment);
        let status = match extra {
            _ if bus.never_disconnect => media.end.max(data_end),
            Some(leaves) => media.end.max(data_end + leaves) + bus.other_reselect_ns,
            None => media.end.max(data_end + bus.write_disconnect_ns) + bus.first_reselect_ns,
        };
        status + bus.write_completion_ns
    }

    /// True if the segment was used last of all, by a write that this one does not continue.
    pub(super) fn follows_unrelated_write(&self, segment: SegmentId, request: &Request) -> bool {
        let used = &self.buffer.segments[segment];
        let by_write = used.last_use == MediaOp::Write && self.buffer.is_last_used(segment);
        by_write && used.end != request.lbn
    }

    /// A write that continues the one that the arm is writing.
    pub(super) fn append<P: Port>(
        &mut self,
        model: &Model,
        bus: &ScsiBusParams,
        port: &mut P,
        request: &Request,
        (mut sweep, segment, data_from): (Sweep, SegmentId, Time),
    ) -> Time {
        let done = wait_for_data(model, bus, &mut sweep, request, data_from);
        self.occupied(self.arm_free, done);
        self.buffer.forget(request.range(), Some(segment));
        self.buffer.grow(segment, request.end);
        self.buffer.touch(segment, MediaOp::Write);
        self.background = Background::Write {
            sweep,
            segment,
            end: request.end,
            done,
        };
        self.counts.cached_writes += 1;
        acknowledge_early(port, request, done);
        let data_end = data_from + bus.write_sector_ns * request.sectors();
        let record = port.io(request.io);
        record.charge(Part::Overhead, data_from);
        record.charge(Part::Transfer, data_end);
        data_end + bus.write_completion_ns
    }

    /// Moves the arm and writes each sector once its data are there.
    pub(super) fn write_out(
        &mut self,
        model: &Model,
        bus: &ScsiBusParams,
        request: &Request,
        start: Time,
        data_from: Time,
    ) -> (Sweep, Media) {
        let mut movement = Movement {
            place: model.geometry.place(request.lbn),
            start,
            op: MediaOp::Write,
            shuffled_end: 0,
            least_seek: bus.minimum_seek_ns,
            late: Nanos::ZERO,
        };
        let (mut sweep, mut access) = Sweep::new(model, self.arm, &movement);
        let data_end = data_from + bus.write_sector_ns * request.sectors();
        // What the segment cannot hold whole comes over the bus as it is written, in order.
        let fits = request.sectors() <= u64::from(model.buffer.segment_sectors);
        if model.buffer.write_on_arrival && fits && data_end <= sweep.arrived() {
            movement.shuffled_end = request.end;
            (sweep, access) = Sweep::new(model, self.arm, &movement);
        }
        let mut media = self.count(&movement, access);
        media.end = wait_for_data(model, bus, &mut sweep, request, data_from);
        (sweep, media)
    }
}

/// A write is acknowledged before it is on the medium, at `done`.
fn acknowledge_early<P: Port>(port: &mut P, request: &Request, done: Time) {
    let bytes = request.sectors() * SECTOR_BYTES;
    port.holds(request.io);
    port.settles(ByteRange::new(request.lbn * SECTOR_BYTES, bytes), done);
}

/// When the last sector of a write has passed, each sector having begun with its data in the
/// buffer. A sector whose data come too late passes once more.
fn wait_for_data(
    model: &Model,
    bus: &ScsiBusParams,
    sweep: &mut Sweep,
    request: &Request,
    data_from: Time,
) -> Time {
    let sectors = request.sectors();
    // A drive that disconnects twice begins with more sectors buffered ahead of the head.
    let head_start = match &bus.extra_disconnect {
        Some(_) if sectors >= 45 => 15,
        Some(_) => sectors.min(10),
        None => 1,
    };
    let period = sweep.arm().rotation.period();
    let data_end = data_from + bus.write_sector_ns * sectors;
    for index in 0..sectors {
        let lbn = request.lbn + index;
        let begin = sweep.begin_of(model, lbn);
        if begin >= data_end {
            break;
        }
        let needed = if index == 0 { head_start } else { index + 1 };
        let late = (data_from + bus.write_sector_ns * needed).since(begin);
        if late > Nanos::ZERO {
            sweep.wait_revolutions(model, lbn, late.0.div_ceil(period.0));
        }
    }
    sweep.end_of(model, request.end - 1)
}
