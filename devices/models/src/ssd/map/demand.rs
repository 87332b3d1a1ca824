//! The map on demand: the map cache, the reads and programs of map pages, and the commands that
//! wait for them.
//!
//! The read of a map page waits for its die as any other. Map pages lie on one die after the other.
//! Changed pages that leave memory are gathered to a page set and programmed together. Emptying the
//! blocks of the map is taken to cost nothing.

use crate::ssd::firmware::streams::Follows;
use crate::ssd::ids::{DieId, MapPage, SetInBlock, UnitId};
use crate::ssd::map::cache::{MapCache, MapPages, Use};
use crate::ssd::nand::job::Job;
use crate::ssd::nand::{Nand, Pages};
use crate::ssd::params::SsdParams;
use crate::ssd::translation::Shape;
use raidlab_io::IoId;
use raidlab_kernel::Time;

/// The map cache with the commands that wait for it.
#[derive(Debug)]
pub(crate) struct DemandMap {
    pub(crate) cache: MapCache,
    /// Page bytes in mapping units as they are stored, for the transfer.
    units: u32,
    pages_per_set: u32,
    dies: u32,
    sets_per_block: u32,
    /// Changed pages that are not programmed yet.
    gathered: u32,
    /// Page sets programmed.
    pub(crate) sets: u64,
    /// Commands by the number in their event; `None` for a free number.
    waiting: Vec<Option<Waiting>>,
}

/// A command that waits for map pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) io: IoId,
    pub(crate) follows: Follows,
}

/// A look-up of units in the map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LookUp {
    /// The first unit, and how many follow each other.
    pub(crate) units: (UnitId, u32),
    /// What it does with their entries.
    pub(crate) used: Use,
    /// When the look-up begins.
    pub(crate) at: Time,
}

impl DemandMap {
    /// The map of a drive as its history leaves it; none if all of the map is in memory.
    pub(crate) fn of(params: &SsdParams, shape: Shape) -> Option<Box<DemandMap>> {
        let map_cache = params.map_cache.as_ref()?;
        let is_new = params.history.is_empty() && params.snapshot.is_none();
        let pages_are = if is_new {
            MapPages::Unwritten
        } else {
            MapPages::InNand
        };
        let mut cache = MapCache::new(map_cache, shape.units, pages_are);
        for load in params.history.iter().rev() {
            let [first, count] = [load.start_bytes, load.area_bytes]
                .map(|bytes| (bytes / u64::from(params.unit_bytes)) as u32);
            // What a load that goes on has changed is not in NAND yet.
            let used = if load.ongoing { Use::Change } else { Use::Read };
            cache.preload(UnitId::new(first), count, used);
        }
        let (_, set_bytes) = params.packing();
        Some(Box::new(DemandMap {
            cache,
            units: map_cache.page_bytes.div_ceil(params.stored_unit_bytes()),
            pages_per_set: (set_bytes / map_cache.page_bytes).max(1),
            dies: shape.dies,
            sets_per_block: shape.sets_per_block,
            gathered: 0,
            sets: 0,
            waiting: vec![None; 1024],
        }))
    }

    /// The die and page set of a map page.
    fn place(&self, page: MapPage) -> (DieId, SetInBlock) {
        let set = page.number() / self.dies % self.sets_per_block;
        (DieId::new(page.number() % self.dies), SetInBlock::new(set))
    }

    /// A changed page leaves memory: the die and job of the program, if a page set is full.
    fn leaves(&mut self) -> Option<(DieId, Job)> {
        self.gathered += 1;
        if self.gathered < self.pages_per_set {
            return None;
        }
        self.gathered = 0;
        self.sets += 1;
        let (die, set) = self.place(MapPage::new(self.sets as u32));
        Some((die, Job::Map { set }))
    }

    /// Garbage collection moves a unit, so the map changes. Jobs for the dies go to `add`.
    pub(crate) fn moved(&mut self, unit: UnitId, mut add: impl FnMut(DieId, Job)) {
        let (page, _) = self.cache.pages(unit, 1);
        let look = self.cache.look(page, Use::Change);
        if look.read {
            let (die, set) = self.place(page);
            let units = self.units;
            add(die, Job::CollectRead { set, units });
        }
        if let Some((die, job)) = look.program.then(|| self.leaves()).flatten() {
            add(die, job);
        }
    }

    /// When all map pages of a look-up are in memory. Jobs for the dies go to `add`.
    pub(crate) fn look_up(
        &mut self,
        look_up: LookUp,
        nand: &mut Nand,
        mut add: impl FnMut(&mut Nand, DieId, Job),
    ) -> Time {
        let (first, count) = look_up.units;
        let (from, to) = self.cache.pages(first, count);
        let mut in_memory = look_up.at;
        for page in from.row(to.since(from) + 1) {
            let look = self.cache.look(page, look_up.used);
            in_memory = in_memory.max(look.ready);
            if look.read {
                let (die, set) = self.place(page);
                let pages = Pages {
                    die,
                    set,
                    whole_set: None,
                    planes: nand.all_planes(),
                };
                let end = nand.read(pages, self.units, 0, look_up.at).end;
                self.cache.comes(page, end);
                in_memory = in_memory.max(end);
            }
            if let Some((die, job)) = look.program.then(|| self.leaves()).flatten() {
                add(nand, die, job);
            }
        }
        in_memory
    }

    /// A command waits; returns its number.
    pub(crate) fn park(&mut self, waiting: Waiting) -> u32 {
        let free = self.waiting.iter().position(Option::is_none);
        let at = free.unwrap_or(self.waiting.len());
        if free.is_none() {
            self.waiting.push(None);
        }
        self.waiting[at] = Some(waiting);
        at as u32
    }

    /// The command with this number waits no longer.
    pub(crate) fn unpark(&mut self, number: u32) -> Option<Waiting> {
        self.waiting[number as usize].take()
    }
}
