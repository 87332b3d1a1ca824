//! What a drive reports: work of its parts, figures, its state, breaches of its invariants.

use crate::ssd::drive::Ssd;
use crate::ssd::front::Front;
use crate::ssd::nand::endurance;
use crate::ssd::nand::temperature::Temperature;
use crate::ssd::snapshot::{self, DriveState};
use crate::ssd::written::Written;
use raidlab_kernel::{Nanos, Spells, Time};

impl<F: Front> Ssd<F> {
    /// Parts of the drive that may be a bottleneck: kind, work up to `now`, and how many share it.
    pub fn parts_busy_until(&self, now: Time) -> Vec<(&'static str, Nanos, usize)> {
        let (cores, core_count) = self.front.cores_busy_until(&self.firmware.cores, now);
        let (transfers, channels) = self.store.nand.channels_busy_until(now);
        let correction = self.store.nand.correction_busy_until(now);
        let compressor = self.store.nand.engine_busy_until(now);
        let collection = self.front.collection_busy_until(now);
        let power = self.store.nand.budget_busy_until(now);
        [
            Some(("firmware", cores, core_count)),
            Some(("channels", transfers, channels)),
            correction.map(|(busy, decoders)| ("correction", busy, decoders)),
            compressor.map(|busy| ("compressor", busy, 1)),
            collection.map(|busy| ("collection", busy, 1)),
            power.map(|busy| ("power limit", busy, 1)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// The drive's state for a file; a scenario finds it there by `name`.
    pub fn state(&self, name: &str) -> DriveState {
        let temperature = self.power.temperature.as_ref().map(Temperature::saved);
        snapshot::save(&self.params, name, &self.store.translation, temperature)
    }

    /// What non-operational power states have saved up to `now`, and how often a command ended one.
    fn idle_figures(&self, now: Time) -> Option<(f64, u64)> {
        let waits = self.store.buffer.makes_wait();
        self.power.idle_figures(now, self.last_done, waits)
    }

    /// What the host has written so far, and what NAND has for it.
    pub fn written(&self) -> Written {
        let map_sets = self.demand_map.as_ref().map_or(0, |map| map.sets);
        let unit_bytes = self.params.stored_unit_bytes();
        let counts = self.store.translation.counts();
        Written {
            host_bytes: self.host_bytes,
            nand_bytes: self.store.nand_bytes(map_sets, unit_bytes),
            host_units: counts.host,
            moved_units: counts.moved,
        }
    }

    /// Joules up to `now`; none if its power is not known.
    pub fn joules(&self, now: Time) -> Option<f64> {
        let power = self.params.power.as_ref()?;
        let done = &self.store.nand.operations;
        let nj = done.reads as f64 * power.read_nj
            + done.programs as f64 * power.program_nj
            + done.slc_programs as f64 * (power.slc_nj() - power.program_nj)
            + done.erases as f64 * power.erase_nj
            + done.host_bytes as f64 * power.byte_nj;
        let idle = power.idle_w * now.since(Time::ZERO).seconds();
        Some(idle - self.idle_figures(now).map_or(0.0, |(saved, _)| saved) + nj * 1e-9)
    }

    /// When something held that changes in time, by its name in the result.
    pub fn spells(&self) -> impl Iterator<Item = (&'static str, &Spells)> {
        let slc = self.store.nand.slc_full().map(|it| ("slc-cache-full", it));
        let warm = self.power.temperature.as_ref();
        let warm = warm.map(|it| ("temperature", it.spells()));
        slc.into_iter().chain(warm)
    }

    /// Figures for the report.
    pub fn figures(&self) -> Vec<(&'static str, f64)> {
        let counts = self.store.translation.counts();
        let nand_bytes = self.written().nand_bytes;
        let mut figures = vec![
            ("host_bytes_written", self.host_bytes as f64),
            ("host_bytes_read", self.read_bytes as f64),
            ("nand_bytes_written", nand_bytes as f64),
            ("moved_units", counts.moved as f64),
            ("erases", counts.erases as f64),
            ("write_amplification", counts.write_amplification()),
            (
                "partial_unit_reads",
                self.store.programs.partial_reads as f64,
            ),
        ];
        if let Some(map) = &self.demand_map {
            let cache = &map.cache;
            let looks = cache.looks.max(1) as f64;
            figures.push(("map_hit_ratio", 1.0 - cache.misses as f64 / looks));
            figures.push(("map_page_reads", cache.misses as f64));
            figures.push(("map_page_programs", cache.programs as f64));
        }
        if let Some((folded, held)) = self.store.nand.slc_sets() {
            let set_bytes = u64::from(self.params.packing().1);
            figures.push(("slc_cache_bytes", (held * set_bytes) as f64));
            figures.push(("folded_bytes", (folded * set_bytes) as f64));
        }
        let (most, least) = self.store.translation.space.wear();
        figures.push(("erases_of_most_worn_block", f64::from(most)));
        figures.push(("erases_of_least_worn_block", f64::from(least)));
        figures.extend(endurance::figures(
            endurance::rated_bytes(&self.params.nand) * f64::from(self.params.slices),
            (
                self.params.addressable_bytes(),
                self.params.rated_host_bytes,
            ),
            self.host_bytes,
            nand_bytes,
            self.last_done,
        ));
        if let Some((_, exits)) = self.idle_figures(self.last_done) {
            figures.push(("idle_state_exits", exits as f64));
        }
        if let Some(back_end) = &self.power.back_end {
            figures.push(("back_end_wakes", back_end.wakes as f64));
        }
        if let Some(temperature) = &self.power.temperature {
            let (celsius, highest, throttled, joules) = temperature.figures();
            figures.push(("temperature_c", celsius));
            figures.push(("temperature_c_max", highest));
            figures.push(("throttled_s", throttled));
            figures.push(("energy_j", joules));
        }
        figures
    }
}
