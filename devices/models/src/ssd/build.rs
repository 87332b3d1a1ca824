//! A drive at the start of a run.

use crate::fault::Fault;
use crate::idle_states::IdleStates;
use crate::power::PowerBudget;
use crate::ssd::addressing::Addressing;
use crate::ssd::ahead::ReadAhead;
use crate::ssd::buffer::Buffer;
use crate::ssd::buffer::flushes::Flushes;
use crate::ssd::buffer::prefetch::Prefetch;
use crate::ssd::buffer::prefilled::Prefilled;
use crate::ssd::buffer::programs::Programs;
use crate::ssd::drive::Ssd;
use crate::ssd::firmware::Firmware;
use crate::ssd::firmware::back_end::BackEnd;
use crate::ssd::firmware::streams::Streams;
use crate::ssd::front::Front;
use crate::ssd::map::demand::DemandMap;
use crate::ssd::nand::Nand;
use crate::ssd::nand::compression::Engine;
use crate::ssd::nand::temperature::{SavedTemperature, Temperature};
use crate::ssd::params::SsdParams;
use crate::ssd::power_states::PowerStates;
use crate::ssd::preconditioning::Names;
use crate::ssd::store::Store;
use crate::ssd::translation::background::Background;
use crate::ssd::translation::{Shape, Translation};
use crate::ssd::written::ReadUnits;
use crate::ssd::{preconditioning, snapshot};
use raidlab_kernel::{Stream, Time};

impl<F: Front> Ssd<F> {
    /// A drive in the state that its history has left. `name` and `seed` give its random streams.
    ///
    /// # Errors
    /// Names every parameter that is out of its range.
    pub fn new(params: &SsdParams, seed: u64, name: &str) -> Result<Ssd<F>, Vec<Fault>> {
        let shape = params.shape()?;
        let (translation, saved) = starting_state(params, shape, seed, name)?;
        let temperature = starting_temperature(params, saved);
        let (buffer_units, share) = buffer_sizes(params, shape);
        // Beside its share of the buffer a die has the moves that a page set of the host causes.
        let jobs = 16 + 2 * share;
        let mut nand = Nand::new(
            &params.nand,
            params.stored_unit_bytes(),
            params.packing().1,
            params.compression.as_ref().and_then(Engine::new),
            jobs,
        );
        let prefilled = Prefilled::of(
            &params.history,
            params.unit_bytes,
            Stream::new(seed, name, "latest writes"),
        );
        if let Some(slc) = &params.nand.slc_cache {
            nand.cache_in_slc(
                &params.nand,
                slc,
                translation.space.mapped_share(),
                prefilled.is_some(),
            );
        }
        nand.limit_power(params.power.as_ref().and_then(PowerBudget::of));
        if let Some(temperature) = &temperature {
            nand.throttle(temperature.stretch());
        }
        let mut draws = Stream::new(seed, name, "firmware");
        let (front, times) = F::new(params, translation.moved_share(), &nand, &mut draws);
        let unit = params.unit_bytes;
        let page_units = if params.keeps_pages {
            3 * shape.units_per_set
        } else {
            0
        };
        let collection = &params.collection;
        Ok(Ssd {
            addressing: Addressing::of(params),
            front,
            firmware: Firmware::new(times, draws),
            store: Store {
                translation,
                nand,
                buffer: Buffer::new(buffer_units),
                programs: Programs::new(shape.dies, params.parity_stripe, share),
                read_units: ReadUnits::default(),
            },
            flushes: Flushes::new(params.firmware.flush_ns, params.firmware.fua_ns),
            ahead: ReadAhead {
                prefetch: params.prefetch.as_ref().map(|it| Prefetch::new(it, unit)),
                streams: Streams::new(unit, page_units),
                next_byte: u64::MAX,
                unwritten: false,
            },
            power: PowerStates {
                temperature,
                idle_states: (params.power.as_ref())
                    .and_then(|power| IdleStates::of(&params.idle_states, power.idle_w)),
                back_end: params.back_end.map(|it| Box::new(BackEnd::new(it))),
            },
            background: (collection.background_free_blocks > 0)
                .then(|| Background::new(shape.dies, collection.background_share)),
            prefilled,
            demand_map: DemandMap::of(params, shape),
            write_streams: Streams::new(unit, 0),
            last_done: Time::ZERO,
            host_bytes: 0,
            read_bytes: 0,
            params: params.clone(),
        })
    }
}

/// The translation layer as a file or the drive's history leaves it, and the temperature of a file.
fn starting_state(
    params: &SsdParams,
    shape: Shape,
    seed: u64,
    name: &str,
) -> Result<(Translation, Option<SavedTemperature>), Vec<Fault>> {
    let (translation, saved) = match &params.snapshot {
        Some(path) => snapshot::load(params, shape, name, path)?,
        None => {
            let unit = u64::from(params.unit_bytes);
            let (collection, history) = (params.collection, &params.history);
            let names = Names {
                seed,
                name,
                another: params.another_past,
            };
            if !history.is_empty() && preconditioning::is_too_much(shape, &collection) {
                let allowed = "smaller blocks, or no preconditioning: it writes all of the flash";
                let pages = params.nand.pages_per_block;
                return Err(vec![Fault::new("nand.pages_per_block", pages, allowed)]);
            }
            let translation = preconditioning::prepare(shape, collection, history, unit, 0, names);
            (translation, None)
        }
    };
    match translation.failure(params.capacity_bytes) {
        None => Ok((translation, saved)),
        Some(fault) => Err(vec![fault]),
    }
}

fn starting_temperature(
    params: &SsdParams,
    saved: Option<SavedTemperature>,
) -> Option<Temperature> {
    let temperature = Temperature::new(params.thermal.as_ref()?);
    Some(match saved {
        Some(saved) => temperature.resume(saved),
        None => temperature,
    })
}

/// Units of the write buffer, and how many page sets of it are for each die: an even part, and two
/// at least, one that is programmed and the next.
fn buffer_sizes(params: &SsdParams, shape: Shape) -> (u32, usize) {
    let mut units = (params.buffer.bytes / u64::from(params.unit_bytes)) as u32;
    if !params.collection.separate_frontiers {
        // Every die's open page set may hold host data until moved data fill it.
        units = units.max((shape.dies + 2) * shape.units_per_set);
    }
    let sets = units.div_ceil(shape.units_per_set);
    (units, sets.div_ceil(shape.dies).max(2) as usize)
}
