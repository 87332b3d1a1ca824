//! Solid-state drives: NAND, translation, garbage collection, buffers, firmware, heat.
//!
//! A read goes firmware, die, channel; a write firmware, buffer, and later channel and die.
//! Firmware, channels and the reads of a die are first-come stations by arithmetic; what is
//! programmed, moved and erased takes one event an operation, because reads overtake it.

mod allocation;
mod buffer;
mod channel;
mod collection;
mod compression;
mod endurance;
mod firmware;
mod heat;
mod latest;
mod layout;
mod look_ups;
mod map_cache;
mod mapping;
mod nand;
mod overlay;
mod pace;
mod params;
mod past;
mod prefetch;
mod read_buffer;
mod reads;
mod snapshot;
mod state;
mod streams;
mod translation;
mod turns;
mod writes;
mod written;

pub use collection::{CollectionParams, Policy};
pub use compression::CompressionParams;
pub use firmware::FirmwareParams;
pub use heat::{HeatParams, ThrottleStep};
pub use nand::NandParams;
pub use params::{BufferParams, SsdParams};
pub use prefetch::PrefetchParams;
pub use snapshot::{DriveState, read_states, write_states};
pub use state::{PastAccess, PastLoad};
pub use written::Written;

use crate::{Fault, Port};
use buffer::Buffer;
use compression::Engine;
use firmware::Firmware;
use heat::Heat;
use latest::Latest;
use look_ups::LookUps;
use map_cache::MapCache;
use nand::Nand;
use pace::Pace;
use prefetch::Prefetch;
use raidlab_kernel::{IoId, Nanos, Op, Part, Stream, Time};
use std::collections::VecDeque;
use streams::Streams;
use translation::Translation;
use turns::Turns;
use writes::{Background, Programs};

/// A solid-state drive in a run.
#[derive(Debug)]
pub struct Ssd {
    params: SsdParams,
    unit_shift: Option<u32>,
    translation: Translation,
    nand: Nand,
    firmware: Firmware,
    buffer: Buffer,
    programs: Programs,
    prefetch: Option<Prefetch>,
    heat: Option<Heat>,
    background: Option<Background>,
    /// Of collection, where a few blocks are emptied at a time.
    pace: Option<Pace>,
    /// What was written until the run began, before the first write of the run.
    latest: Option<Box<Latest>>,
    turns: Option<Turns>,
    /// The map in part, and the commands that wait for a page of it.
    look_ups: Option<Box<LookUps>>,
    /// Byte after the last read.
    next_byte: u64,
    read_streams: Streams,
    write_streams: Streams,
    /// When the last command so far is done.
    last_done: Time,
    host_bytes: u64,
    read_bytes: u64,
}

impl Ssd {
    /// A drive in the state that its history has left.
    ///
    /// # Errors
    /// Names every parameter that is out of its range.
    pub fn new(params: &SsdParams, seed: u64, name: &str) -> Result<Ssd, Vec<Fault>> {
        let shape = params.shape()?;
        let (translation, warmth) = match &params.snapshot {
            Some(path) => snapshot::load(params, shape, name, path)?,
            None => {
                let (unit, history) = (u64::from(params.unit_bytes), &params.history);
                let seed = (seed, name);
                let past = state::prepare(shape, params.collection, history, unit, 0, seed);
                (past, None)
            }
        };
        if let Some(why) = translation.why_stuck() {
            let fault = Fault::new("capacity_bytes", params.capacity_bytes, why);
            return Err(vec![fault]);
        }
        let mut buffer_units = (params.buffer.bytes / u64::from(params.unit_bytes)) as u32;
        if !params.collection.separate_frontiers {
            // Every die's open page set may hold host data until moved data fill it.
            buffer_units = buffer_units.max((shape.dies + 2) * shape.units_per_set);
        }
        let sets_in_buffer = buffer_units.div_ceil(shape.units_per_set);
        // Beside its share of the buffer a die has the moves that a host's page set causes.
        let jobs = 16 + 2 * sets_in_buffer.div_ceil(shape.dies) as usize;
        let unit = params.unit_bytes;
        let kept_units = if params.keeps_pages {
            2 * shape.units_per_set
        } else {
            0
        };
        let heat = params.heat.as_ref().map(|heat| match warmth {
            Some(warmth) => Heat::new(heat).resume(warmth),
            None => Heat::new(heat),
        });
        let mut nand = Nand::new(
            &params.nand,
            params.stored_unit_bytes(),
            params.packing().1,
            params.compression.as_ref().and_then(Engine::new),
            jobs,
        );
        if let Some(heat) = &heat {
            nand.throttle(heat.stretch());
        }
        let collection = &params.collection;
        let pace = (collection.blocks_at_once > 0).then(|| {
            let behind = nand.moving_time(0, 1) * u64::from(params.firmware.move_batch);
            Pace::new(collection.blocks_at_once, behind)
        });
        Ok(Ssd {
            unit_shift: unit.is_power_of_two().then(|| unit.trailing_zeros()),
            nand,
            firmware: Firmware::new(
                &params.firmware,
                translation.mapped_share(),
                Stream::new(seed, name, "firmware"),
            ),
            buffer: Buffer::new(buffer_units),
            programs: Programs {
                units_held: vec![0; shape.dies as usize],
                pending: vec![VecDeque::with_capacity(jobs); shape.dies as usize],
                since_parity: 0,
                parity_stripe: params.parity_stripe,
                issued: 0,
                parities: 0,
                taken: 0,
                overwritten: 0,
                partial_reads: 0,
            },
            prefetch: params
                .prefetch
                .as_ref()
                .map(|prefetch| Prefetch::new(prefetch, unit)),
            heat,
            background: (params.collection.background_free_blocks > 0)
                .then(|| Background::new(shape.dies, params.collection.background_share)),
            pace,
            latest: Latest::of(
                &params.history,
                unit,
                Stream::new(seed, name, "latest writes"),
            ),
            turns: params.firmware.turn_ns.map(Turns::new),
            look_ups: params.map_cache.as_ref().map(|map_cache| {
                let used = !params.history.is_empty() || params.snapshot.is_some();
                let mut cache = MapCache::new(map_cache, shape.units, used);
                for load in params.history.iter().rev() {
                    let [first, count] = [load.start_bytes, load.area_bytes]
                        .map(|bytes| (bytes / u64::from(unit)) as u32);
                    cache.remember(first, count, load.ongoing);
                }
                let sizes = (
                    map_cache.page_bytes,
                    params.stored_unit_bytes(),
                    params.packing().1,
                );
                Box::new(LookUps::new(
                    cache,
                    sizes,
                    (shape.dies, shape.sets_per_block),
                ))
            }),
            next_byte: u64::MAX,
            read_streams: Streams::new(unit, kept_units),
            write_streams: Streams::new(unit, 0),
            last_done: Time::ZERO,
            host_bytes: 0,
            read_bytes: 0,
            translation,
            params: params.clone(),
        })
    }

    /// Asks for the memory of the map that a command will need; not while writes wait, as it would
    /// not stay at hand for so long.
    #[inline]
    pub fn prefetch_tables(&self, offset: u64, bytes: u64) {
        if !self.buffer.waiting.is_empty() {
            return;
        }
        let (first, count) = self.units(offset, bytes);
        self.translation.touch(first);
        if count > 1 {
            self.translation.touch(first + count - 1);
        }
    }

    /// Takes a command that arrives now, with its data if it is a write.
    #[inline]
    pub fn submit<P: Port>(&mut self, port: &mut P, io: IoId) {
        if let Some(heat) = &mut self.heat {
            if let Some(stretch) = heat.update(port.now(), &self.nand.operations) {
                self.nand.throttle(stretch);
            }
        }
        if let Some(background) = self.background.as_mut().filter(|b| !b.started) {
            background.started = true;
            for die in 0..self.translation.shape().dies {
                self.background_event(port, die);
            }
        }
        match port.io(io).op {
            Op::Read | Op::Write => self.take_turn(port, io),
            Op::Trim => self.trim(port, io),
            Op::Flush => self.flush(port, io),
        }
    }

    /// The event of a die.
    #[inline]
    pub fn event<P: Port>(&mut self, port: &mut P, token: u32) {
        match token {
            turns::TURN => self.next_turn(port),
            number
                if number & (look_ups::LOOKED_UP | writes::BACKGROUND) == look_ups::LOOKED_UP =>
            {
                self.looked_up(port, number & !look_ups::LOOKED_UP);
            }
            die if token & writes::BACKGROUND == 0 => self.die_event(port, die),
            _ => self.rested(port, token & !writes::BACKGROUND),
        }
    }

    /// Bytes that the host can address.
    pub fn capacity_bytes(&self) -> u64 {
        self.params.capacity_bytes
    }

    /// Array time of all dies up to `now`, and the number of dies.
    pub fn busy_until(&self, now: Time) -> (Nanos, usize) {
        (self.nand.busy_until(now), self.nand.dies())
    }

    /// What else of the drive can be full: its kind, its work up to `now`, and how many share it.
    pub fn parts_busy_until(&self, now: Time) -> Vec<(&'static str, Nanos, usize)> {
        let (cores, core_count) = self.firmware.busy_until(now);
        let (transfers, channels) = self.nand.channels_busy_until(now);
        let compressor = self.nand.engine_busy_until(now);
        let collection = self.pace.as_ref().map(|pace| pace.busy_until(now));
        [
            Some(("firmware", cores, core_count)),
            Some(("channels", transfers, channels)),
            compressor.map(|busy| ("compressor", busy, 1)),
            collection.map(|busy| ("collection", busy, 1)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// The drive's state for a file; `name` is the one by which it will be looked for.
    pub fn state(&self, name: &str) -> DriveState {
        let warmth = self.heat.as_ref().map(Heat::warmth);
        snapshot::save(&self.params, name, &self.translation, warmth)
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
    /// Says which books do not agree.
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

    /// Bytes that NAND has taken in or is about to: what the host wrote, as it is stored, what
    /// collection moved, parity, and changed pages of a map that is cached.
    fn nand_bytes(&self) -> u64 {
        let counts = self.translation.counts();
        let units = counts.host + counts.moved + counts.padded;
        let parity = self.programs.parities * u64::from(self.translation.shape().units_per_set);
        let map = self.look_ups.as_ref().map_or(0, |map| map.sets);
        let map = map * u64::from(self.translation.shape().units_per_set);
        (units + parity + map) * u64::from(self.params.stored_unit_bytes())
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
        if let Some(look_ups) = &self.look_ups {
            let cache = &look_ups.cache;
            let looks = cache.looks.max(1) as f64;
            figures.push(("map_hit_ratio", 1.0 - cache.misses as f64 / looks));
            figures.push(("map_page_reads", cache.misses as f64));
            figures.push(("map_page_programs", cache.programs as f64));
        }
        let (most, least) = self.translation.wear();
        figures.push(("erases_of_most_worn_block", f64::from(most)));
        figures.push(("erases_of_least_worn_block", f64::from(least)));
        figures.extend(endurance::figures(
            &self.params.nand,
            (self.params.capacity_bytes, self.params.rated_host_bytes),
            self.host_bytes,
            nand_bytes,
            self.last_done,
        ));
        if let Some(heat) = &self.heat {
            let (celsius, highest, throttled, joules) = heat.figures();
            figures.push(("temperature_c", celsius));
            figures.push(("temperature_c_max", highest));
            figures.push(("throttled_s", throttled));
            figures.push(("energy_j", joules));
        }
        figures
    }

    /// The units of a byte range: (first, count).
    #[inline]
    fn units(&self, offset: u64, bytes: u64) -> (u32, u32) {
        let (first, _) = self.unit_of(offset);
        let (last, _) = self.unit_of(offset + bytes.max(1) - 1);
        let mut count = last - first + 1;
        if self.params.sector_mapping {
            // A range costs its own bytes: where it starts makes no difference.
            count = count
                .min(bytes.div_ceil(u64::from(self.params.unit_bytes)))
                .max(1);
        }
        (first as u32, count as u32)
    }

    /// The unit of a byte, and the byte's place in it.
    #[inline]
    fn unit_of(&self, byte: u64) -> (u64, u64) {
        match self.unit_shift {
            Some(shift) => (byte >> shift, byte & ((1 << shift) - 1)),
            None => {
                let unit = u64::from(self.params.unit_bytes);
                (byte / unit, byte % unit)
            }
        }
    }

    fn trim<P: Port>(&mut self, port: &mut P, io: IoId) {
        let now = port.now();
        let served = self.firmware.process(Op::Trim, 1, true, now);
        let record = port.io(io);
        record.charge_stay(Part::Queue, Part::Overhead, served);
        let unit = u64::from(self.params.unit_bytes);
        let end = (record.offset + record.bytes).min(self.params.capacity_bytes) / unit;
        let first = record.offset.div_ceil(unit);
        if first < end {
            self.translation.trim(first as u32, (end - first) as u32);
        }
        self.finish(port, io, served.end, Nanos::ZERO);
    }

    fn flush<P: Port>(&mut self, port: &mut P, io: IoId) {
        let now = port.now();
        let served = self.firmware.process(Op::Flush, 1, true, now);
        port.io(io).charge_stay(Part::Queue, Part::Overhead, served);
        if !self.params.buffer.protected {
            self.pad(port);
            if self.buffer.wait_until_durable(io) {
                return;
            }
        }
        self.finish(port, io, served.end, Nanos::ZERO);
    }

    #[inline]
    fn finish<P: Port>(&mut self, port: &mut P, io: IoId, at: Time, lead: Nanos) {
        self.last_done = self.last_done.max(at);
        port.done(io, at, lead);
    }
}

#[cfg(test)]
mod tests;
