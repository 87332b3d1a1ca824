//! The ranges of a drive's parameters.

use super::SsdParams;
use crate::check::Check;
use crate::fault::Fault;
use crate::idle_states;
use crate::ssd::firmware::params::FirmwareParams;
use crate::ssd::nand::compression::CompressionParams;
use crate::ssd::nand::params::NandParams;
use crate::ssd::translation::WORKING_BLOCKS;
use crate::ssd::translation::policy::{CollectionParams, LEVELLING_NEEDS};

impl SsdParams {
    /// Every parameter that is out of its range.
    pub(super) fn range_faults(&self) -> Vec<Fault> {
        let mut faults = Check(Vec::new());
        let size = &self.capacity_bytes;
        faults.that(*size > 0, "capacity_bytes", size, "more than 0");
        self.check_nand(&mut faults);
        self.check_spare(&mut faults);
        self.check_collection(&mut faults);
        self.check_buffer(&mut faults);
        faults.within(
            FirmwareParams::SPREAD,
            "firmware.spread",
            self.firmware.spread,
        );
        self.check_compression(&mut faults);
        let mut faults = faults.0;
        if let Some(power) = &self.power {
            faults.extend(power.faults());
            faults.extend(idle_states::faults(&self.idle_states, power.idle_w));
        }
        if !self.idle_states.is_empty() && (self.power.is_none() || self.has_host_ftl()) {
            let allowed = "none without power, or of a drive whose map is on the host";
            faults.push(Fault::new("idle_states", self.idle_states.len(), allowed));
        }
        if let Some(back_end) = self.back_end.filter(|_| self.has_host_ftl()) {
            let allowed = "none of a drive whose map is on the host";
            faults.push(Fault::new("back_end.wake_ns", back_end.wake_ns.0, allowed));
        }
        if let Some(thermal) = &self.thermal {
            faults.extend(thermal.faults());
        }
        if let Some(slc) = &self.nand.slc_cache {
            faults.extend(slc.faults(&self.nand));
        }
        self.check_map_cache(&mut faults);
        self.check_history(&mut faults);
        faults
    }

    /// Bytes of a page set; at least 1, whatever the parameters are.
    fn set_bytes(&self) -> u32 {
        let nand = &self.nand;
        nand.planes.saturating_mul(nand.page_bytes).max(1)
    }

    fn check_nand(&self, faults: &mut Check) {
        let nand = &self.nand;
        for (key, value, bounds) in [
            ("nand.channels", nand.channels, NandParams::CHANNELS),
            (
                "nand.dies_per_channel",
                nand.dies_per_channel,
                NandParams::DIES_PER_CHANNEL,
            ),
            ("nand.planes", nand.planes, NandParams::PLANES),
            (
                "nand.blocks_per_plane",
                nand.blocks_per_plane,
                NandParams::BLOCKS_PER_PLANE,
            ),
            (
                "nand.pages_per_block",
                nand.pages_per_block,
                NandParams::PAGES_PER_BLOCK,
            ),
            ("nand.page_bytes", nand.page_bytes, NandParams::PAGE_BYTES),
            ("firmware.cores", self.firmware.cores, FirmwareParams::CORES),
        ] {
            faults.within(bounds, key, value);
        }
        let set_bytes = self.set_bytes();
        let units_fit = (512..=set_bytes).contains(&self.unit_bytes);
        let allowed = format!("512 to {set_bytes}, a page of every plane");
        faults.that(units_fit, "unit_bytes", self.unit_bytes, &allowed);
        for (key, times) in [
            ("nand.read_ns", &nand.read_ns),
            ("nand.program_ns", &nand.program_ns),
        ] {
            let allowed = "1 to 5 times, one for each page type";
            faults.that((1..=5).contains(&times.len()), key, times.len(), allowed);
        }
        let rates = [
            ("nand.channel_bytes_per_s", Some(nand.channel_bytes_per_s)),
            (
                "nand.channel_write_bytes_per_s",
                Some(nand.write_bytes_per_s()),
            ),
            ("nand.correction_bytes_per_s", nand.correction_bytes_per_s),
            ("nand.program_bytes_per_s", nand.program_bytes_per_s),
        ];
        for (key, rate) in rates {
            let (least, rate) = (NandParams::BYTES_PER_S, rate.unwrap_or(u64::MAX));
            faults.0.extend(least.fault(key, rate));
        }
    }

    fn check_spare(&self, faults: &mut Check) {
        let nand = &self.nand;
        let stripe = self.parity_stripe;
        let dies = nand.channels.saturating_mul(nand.dies_per_channel);
        let stripe_fits = stripe == 0 || (2..=dies.max(2)).contains(&stripe);
        faults.that(
            stripe_fits,
            "parity_stripe",
            stripe,
            "0 (no parity), or 2 up to the number of dies",
        );
        let reserved = self.reserved_blocks_per_plane;
        faults.that(
            reserved + WORKING_BLOCKS < nand.blocks_per_plane,
            "reserved_blocks_per_plane",
            reserved,
            "less than blocks_per_plane - 4",
        );
    }

    fn check_collection(&self, faults: &mut Check) {
        let start = self.collection.start_free_blocks;
        faults.within(
            CollectionParams::START_FREE_BLOCKS,
            "collection.start_free_blocks",
            start,
        );
        let gap = self.collection.wear_gap;
        faults.that(
            gap == 0 || start >= LEVELLING_NEEDS,
            "collection.wear_gap",
            gap,
            "0 unless collection.start_free_blocks is at least 6",
        );
        let share = self.collection.background_share;
        faults.that(
            share > 0.0 && share <= 1.0,
            "collection.background_share",
            share,
            "more than 0, at most 1",
        );
    }

    fn check_buffer(&self, faults: &mut Check) {
        let least = 2 * u64::from(self.set_bytes());
        let allowed = format!("{least} or more: two pages of every plane");
        let bytes = &self.buffer.bytes;
        faults.that(*bytes >= least, "buffer.bytes", bytes, &allowed);
    }

    fn check_compression(&self, faults: &mut Check) {
        let share = self.compressible;
        let fits = (0.0..=1.0).contains(&share);
        faults.that(fits, "compressible", share, "0 to 1");
        if let Some(compression) = &self.compression {
            let least = compression.least_share;
            faults.within(
                CompressionParams::LEAST_SHARE,
                "compression.least_share",
                least,
            );
        }
    }

    fn check_map_cache(&self, faults: &mut Vec<Fault>) {
        let Some(map_cache) = &self.map_cache else {
            return;
        };
        faults.extend(map_cache.faults(self.set_bytes()));
        if self.firmware.turnaround_ns.is_some() {
            let allowed =
                "none beside firmware.turnaround_ns, whose drives keep the map in the host";
            faults.push(Fault::new("map_cache", map_cache.bytes, allowed));
        }
    }

    fn check_history(&self, faults: &mut Vec<Fault>) {
        for (index, load) in self.history.iter().enumerate() {
            let end = load.start_bytes.checked_add(load.area_bytes);
            if load.area_bytes == 0 || end.is_none_or(|end| end > self.capacity_bytes) {
                let allowed = format!("1 or more, ending at most at {}", self.capacity_bytes);
                let key = format!("history.{index}.area_bytes");
                faults.push(Fault::new(key, load.area_bytes, allowed));
            }
        }
    }
}
