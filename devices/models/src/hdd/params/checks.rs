//! The limits of each parameter of a hard disk in the plan.

use super::{
    BufferParams, HddParams, InterfaceParams, LinkFrontParams, ReadAhead, SECTOR_BYTES,
    SchedulerParams, ScsiBusParams, ShingledParams, WriteCacheParams,
};
use crate::check::Check;

impl HddParams {
    /// Collects every number that is out of its range, except those of geometry and seek curve.
    pub(in crate::hdd) fn check(&self, check: &mut Check) {
        check.within(Self::RPM, "rpm", self.rpm);
        check.within(
            Self::SPEED_TOLERANCE,
            "speed_tolerance",
            self.speed_tolerance,
        );
        if let Some(part) = self.initial_angle {
            check.that(
                (0.0..1.0).contains(&part),
                "initial_angle",
                part,
                "0 to below 1",
            );
        }
        let emulates =
            matches!(self.interface, InterfaceParams::Link(_)) && self.shingled.is_none();
        check.that(
            self.physical_sectors == 1 || (self.physical_sectors == 8 && emulates),
            "physical_sectors",
            self.physical_sectors,
            "1, or 8 behind a link and not shingled",
        );
        self.buffer.check(check);
        if let Some(cache) = &self.write_cache {
            cache.check(check);
        }
        self.check_interface(check);
        self.check_shingled(check);
        if let SchedulerParams::ShortestAccess { ageing } = self.scheduler {
            check.that(
                (0.0..=1.0).contains(&ageing),
                "scheduler.ageing",
                ageing,
                "0 to 1",
            );
        }
    }

    fn check_shingled(&self, check: &mut Check) {
        let Some(shingled) = &self.shingled else {
            return;
        };
        check.that(
            ShingledParams::BAND_BYTES.hold(shingled.band_bytes)
                && shingled.band_bytes % SECTOR_BYTES == 0,
            "shingled.band_bytes",
            shingled.band_bytes,
            "1 MiB to 1 GiB in whole sectors",
        );
        check.that(
            shingled.media_cache_bytes >= shingled.band_bytes
                && shingled.media_cache_bytes % SECTOR_BYTES == 0,
            "shingled.media_cache_bytes",
            shingled.media_cache_bytes,
            "a band or more in whole sectors",
        );
        check.within(
            ShingledParams::RECORDS,
            "shingled.records",
            shingled.records,
        );
        check.that(
            matches!(
                self.buffer.read_ahead,
                ReadAhead::None | ReadAhead::Fixed { .. }
            ),
            "buffer.read_ahead",
            "(by tracks)",
            "none or fixed on a shingled disk",
        );
        check.that(
            matches!(self.interface, InterfaceParams::Link(_)),
            "shingled",
            "(given)",
            "none on a SCSI bus",
        );
    }

    fn check_interface(&self, check: &mut Check) {
        match &self.interface {
            InterfaceParams::Link(link) => {
                check.time("interface.read_overhead_ns", link.read_overhead_ns);
                check.time("interface.write_overhead_ns", link.write_overhead_ns);
                check_queue_depth(check, link.queue_depth);
                check.that(
                    !self.buffer.own_write_segment,
                    "buffer.own_write_segment",
                    true,
                    "false: a drive behind a link keeps its writes in write_cache",
                );
            }
            InterfaceParams::ScsiBus(bus) => {
                check_queue_depth(check, bus.queue_depth);
                bus.check(check);
                check.that(
                    self.write_cache.is_none(),
                    "write_cache",
                    "(given)",
                    "none: a drive on a SCSI bus keeps writes in its segments (interface.fast_write)",
                );
            }
        }
    }
}

fn check_queue_depth(check: &mut Check, depth: u32) {
    check.within(LinkFrontParams::QUEUE_DEPTH, "interface.queue_depth", depth);
}

impl BufferParams {
    fn check(&self, check: &mut Check) {
        check.within(Self::SEGMENTS, "buffer.segments", self.segments);
        check.within(
            Self::SEGMENT_SECTORS,
            "buffer.segment_sectors",
            self.segment_sectors,
        );
        check.that(
            !self.own_write_segment || self.segments >= 2,
            "buffer.segments",
            self.segments,
            "2 or more, because the first takes writes only",
        );
        if let ReadAhead::Fixed { sectors } | ReadAhead::TrackEnd { sectors } = self.read_ahead {
            check.that(
                sectors <= self.segment_sectors,
                "buffer.read_ahead.sectors",
                sectors,
                "at most segment_sectors",
            );
        }
    }
}

impl WriteCacheParams {
    fn check(&self, check: &mut Check) {
        check.within(Self::SECTORS, "write_cache.sectors", self.sectors);
        check.within(Self::EXTENTS, "write_cache.extents", self.extents);
        check.within(
            Self::EXTENT_SECTORS,
            "write_cache.extent_sectors",
            self.extent_sectors,
        );
        check.within(
            Self::FLUSH_ABOVE,
            "write_cache.flush_above",
            self.flush_above,
        );
        let idle = self.flush_after_idle_ns.0;
        let allowed = format!("at most a minute ({})", Self::FLUSH_AFTER_IDLE_NS.most);
        let fits = Self::FLUSH_AFTER_IDLE_NS.hold(idle);
        check.that(fits, "write_cache.flush_after_idle_ns", idle, &allowed);
    }
}

impl ScsiBusParams {
    fn check(&self, check: &mut Check) {
        let mut times = vec![
            ("read_sector_ns", self.read_sector_ns),
            ("write_sector_ns", self.write_sector_ns),
            ("read_hit.after_read_ns", self.read_hit.after_read_ns),
            ("read_hit.after_write_ns", self.read_hit.after_write_ns),
            ("read_miss.after_read_ns", self.read_miss.after_read_ns),
            ("read_miss.after_write_ns", self.read_miss.after_write_ns),
            ("write.after_read_ns", self.write.after_read_ns),
            ("write.after_write_ns", self.write.after_write_ns),
            ("read_completion_ns", self.read_completion_ns),
            ("write_completion_ns", self.write_completion_ns),
            ("data_preparation_ns", self.data_preparation_ns),
            ("first_reselect_ns", self.first_reselect_ns),
            ("other_reselect_ns", self.other_reselect_ns),
            (
                "read_disconnect.after_read_ns",
                self.read_disconnect.after_read_ns,
            ),
            (
                "read_disconnect.after_write_ns",
                self.read_disconnect.after_write_ns,
            ),
            ("write_disconnect_ns", self.write_disconnect_ns),
            ("minimum_seek_ns", self.minimum_seek_ns),
        ];
        if let Some(extra) = &self.extra_disconnect {
            times.extend([
                ("extra_disconnect.command_ns", extra.command_ns),
                ("extra_disconnect.disconnect_ns", extra.disconnect_ns),
                ("extra_disconnect.between_ns", extra.between_ns),
                (
                    "extra_disconnect.second_disconnect_ns",
                    extra.second_disconnect_ns,
                ),
                ("extra_disconnect.seek_delta_ns", extra.seek_delta_ns),
            ]);
        }
        for (key, time) in times {
            check.time(&format!("interface.{key}"), time);
        }
        check.that(
            (0.0..=1.0).contains(&self.read_water_mark),
            "interface.read_water_mark",
            self.read_water_mark,
            "0 to 1",
        );
    }
}
