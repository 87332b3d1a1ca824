//! What a drive reports: work of its parts, figures, its state, breaches of its invariants.

use crate::fault::Fault;
use crate::ssd::buffer::programs::Programs;
use crate::ssd::drive::Ssd;
use crate::ssd::front::Front;
use crate::ssd::map::layout::Layout;
use crate::ssd::nand::endurance;
use crate::ssd::nand::temperature::Temperature;
use crate::ssd::preconditioning::pace::PastScatter;
use crate::ssd::snapshot::{self, DriveState};
use crate::ssd::translation::erase_blocks::EraseBlocks;
use crate::ssd::written::{ReadUnits, Written};
use raidlab_kernel::{Nanos, Spells, Time};

impl<F: Front> Ssd<F> {
    /// Bytes that the host can address.
    pub fn capacity_bytes(&self) -> u64 {
        self.params.capacity_bytes * u64::from(self.params.slices)
    }

    /// About how long a small read takes on an idle drive: firmware, a page's sense, and a unit's
    /// transfer.
    pub fn read_time(&self) -> Nanos {
        let (firmware, nand) = (&self.params.firmware, &self.params.nand);
        let pages: Nanos = nand
            .read_ns
            .iter()
            .fold(Nanos::ZERO, |sum, &time| sum + time);
        let sense = Nanos(pages.0 / nand.read_ns.len().max(1) as u64);
        let transfer = u64::from(self.params.unit_bytes) * 1_000_000_000;
        firmware.read_ns
            + firmware.read_unit_ns
            + firmware.read_latency_ns
            + sense
            + nand.command_ns
            + Nanos(transfer / nand.channel_bytes_per_s.max(1))
    }

    /// Array time of all dies up to `now`, and the number of dies.
    pub fn busy_until(&self, now: Time) -> (Nanos, usize) {
        (self.nand.busy_until(now), self.nand.dies())
    }

    /// Parts of the drive that may be a bottleneck: kind, work up to `now`, and how many share it.
    pub fn parts_busy_until(&self, now: Time) -> Vec<(&'static str, Nanos, usize)> {
        let (cores, core_count) = self.front.cores_busy_until(&self.firmware.cores, now);
        let (transfers, channels) = self.nand.channels_busy_until(now);
        let compressor = self.nand.engine_busy_until(now);
        let collection = self.front.collection_busy_until(now);
        let power = self.nand.budget_busy_until(now);
        [
            Some(("firmware", cores, core_count)),
            Some(("channels", transfers, channels)),
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
        let temperature = self.temperature.as_ref().map(Temperature::saved);
        snapshot::save(&self.params, name, &self.translation, temperature)
    }

    /// The erase blocks as they are now.
    pub fn erase_blocks(&self) -> EraseBlocks {
        self.translation.erase_blocks()
    }

    /// Why garbage collection can free nothing any more, and what to change, if it cannot.
    pub fn failure(&self) -> Option<Fault> {
        let why = self.translation.why_stuck()?;
        Some(Fault::new(
            "capacity_bytes",
            self.params.capacity_bytes,
            why,
        ))
    }

    /// What must hold inside the drive at the end of a run; a breach is a bug.
    ///
    /// # Errors
    /// Says which counts do not agree.
    pub fn check(&self) -> Result<(), String> {
        self.translation.check()?;
        let counts = self.translation.counts();
        let written = counts.host + counts.moved + counts.padded;
        let per_set = u64::from(self.translation.shape().units_per_set);
        let open = self.translation.units_in_open_sets();
        if self.programs.issued * per_set + open != written + self.translation.units_open_at_start()
        {
            return Err(format!(
                "{} page sets were programmed for {written} units, {open} of them still open",
                self.programs.issued
            ));
        }
        let Programs {
            taken, overwritten, ..
        } = self.programs;
        if taken != counts.host + overwritten {
            return Err(format!(
                "the buffer took {taken} units, of which {overwritten} replaced others, and {} were \
                 placed",
                counts.host
            ));
        }
        Ok(())
    }

    /// Bytes programmed or about to be: what the host wrote, as it is stored, what collection
    /// moved, parity, and changed pages of a map that is in NAND.
    fn nand_bytes(&self) -> u64 {
        let counts = self.translation.counts();
        let units_per_set = u64::from(self.translation.shape().units_per_set);
        let units = counts.host + counts.moved + counts.padded;
        let parity = self.programs.parities * units_per_set;
        let map = self.demand_map.as_ref().map_or(0, |map| map.sets) * units_per_set;
        let folded = self.nand.slc_sets().map_or(0, |(folded, _)| folded) * units_per_set;
        (units + parity + map + folded) * u64::from(self.params.stored_unit_bytes())
    }

    /// What the host has written so far, and what NAND has for it.
    pub fn written(&self) -> Written {
        let counts = self.translation.counts();
        Written {
            host_bytes: self.host_bytes,
            nand_bytes: self.nand_bytes(),
            host_units: counts.host,
            moved_units: counts.moved,
        }
    }

    /// How far write amplification over `host_units` units of the host, from the begin of a run on,
    /// differs between drives with the same history; none if there is no such history.
    pub fn past_scatter(&self, host_units: u64) -> Option<PastScatter> {
        let Layout::Tiled(tiles) = self.translation.map.layout() else {
            return None;
        };
        let each = host_units as f64 / f64::from(tiles.tiles.get());
        tiles.end.pace.scatter(each)
    }

    /// Units that reads asked for so far.
    pub fn read_units(&self) -> ReadUnits {
        self.read_units
    }

    /// Seconds for which temperature has slowed the drive down, and the highest one in degrees
    /// Celsius; None if it never has.
    pub fn throttled(&self) -> Option<(f64, f64)> {
        let (_, highest, seconds, _) = self.temperature.as_ref()?.figures();
        (seconds > 0.0).then_some((seconds, highest))
    }

    /// What non-operational power states have saved up to `now`, and how often a command ended one.
    fn idle_figures(&self, now: Time) -> Option<(f64, u64)> {
        let waits = self.buffer.makes_wait();
        let states = self.idle_states.as_ref()?;
        Some(states.figures(now, self.last_done, waits))
    }

    /// Joules up to `now`; none if its power is not known.
    pub fn joules(&self, now: Time) -> Option<f64> {
        let power = self.params.power.as_ref()?;
        let done = &self.nand.operations;
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
        let slc = self.nand.slc_full().map(|it| ("slc-cache-full", it));
        let warm = self.temperature.as_ref();
        let warm = warm.map(|it| ("temperature", it.spells()));
        slc.into_iter().chain(warm)
    }

    /// Figures for the report.
    pub fn figures(&self) -> Vec<(&'static str, f64)> {
        let counts = self.translation.counts();
        let nand_bytes = self.nand_bytes();
        let mut figures = vec![
            ("host_bytes_written", self.host_bytes as f64),
            ("host_bytes_read", self.read_bytes as f64),
            ("nand_bytes_written", nand_bytes as f64),
            ("moved_units", counts.moved as f64),
            ("erases", counts.erases as f64),
            ("write_amplification", counts.write_amplification()),
            ("partial_unit_reads", self.programs.partial_reads as f64),
        ];
        if let Some(map) = &self.demand_map {
            let cache = &map.cache;
            let looks = cache.looks.max(1) as f64;
            figures.push(("map_hit_ratio", 1.0 - cache.misses as f64 / looks));
            figures.push(("map_page_reads", cache.misses as f64));
            figures.push(("map_page_programs", cache.programs as f64));
        }
        if let Some((folded, held)) = self.nand.slc_sets() {
            let set_bytes = u64::from(self.params.packing().1);
            figures.push(("slc_cache_bytes", (held * set_bytes) as f64));
            figures.push(("folded_bytes", (folded * set_bytes) as f64));
        }
        let (most, least) = self.translation.wear();
        figures.push(("erases_of_most_worn_block", f64::from(most)));
        figures.push(("erases_of_least_worn_block", f64::from(least)));
        figures.extend(endurance::figures(
            endurance::rated_bytes(&self.params.nand) * f64::from(self.params.slices),
            (self.capacity_bytes(), self.params.rated_host_bytes),
            self.host_bytes,
            nand_bytes,
            self.last_done,
        ));
        if let Some((_, exits)) = self.idle_figures(self.last_done) {
            figures.push(("idle_state_exits", exits as f64));
        }
        if let Some(back_end) = &self.back_end {
            figures.push(("back_end_wakes", back_end.wakes as f64));
        }
        if let Some(temperature) = &self.temperature {
            let (celsius, highest, throttled, joules) = temperature.figures();
            figures.push(("temperature_c", celsius));
            figures.push(("temperature_c_max", highest));
            figures.push(("throttled_s", throttled));
            figures.push(("energy_j", joules));
        }
        figures
    }
}
