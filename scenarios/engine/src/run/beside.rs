//! What was in work at the completion of a slow I/O, besides the load.

use crate::raid::background::Task;
use crate::raid::jobs::{CopyTo, Work};
use crate::run::system::System;
use crate::state::slowest::Beside;

impl System {
    /// Says of the slow I/Os that the last event has completed what else was in work.
    #[inline]
    pub(crate) fn look_at_slow(&mut self) {
        while let Some((record, array)) = self.layers.loads.take_noticed() {
            let beside = self.beside(array);
            if let Some(meter) = self.layers.loads.meter_mut(record as usize) {
                meter.slowest.note_beside(beside);
            }
        }
    }

    /// What is in work for an array, and for its SSD cache: bits of [`Beside`].
    fn beside(&self, array: u32) -> u8 {
        let raid = &self.layers.raid;
        let task = raid.task(array).map(|task| match task {
            Task::Rebuild { .. } => Beside::Rebuild,
            Task::Copyback { .. } => Beside::Copyback,
            Task::Patrol => Beside::Patrol,
            Task::Check => Beside::Check,
        });
        let jobs = raid.stripes().jobs();
        let of_array = |index: &u32| {
            let job = jobs[*index].array();
            job == array || raid.stripes().redirects().above(job) == Some(array)
        };
        let works = jobs.ids().filter(of_array);
        let works = works.filter_map(|index| match jobs[index].work() {
            Work::Destage(_) => Some(Beside::Destage),
            Work::Fill(_) => Some(Beside::ReadAhead),
            Work::Copy(copy) if copy.to == CopyTo::Cache => Some(Beside::Promotion),
            Work::Copy(_) => Some(Beside::WriteBack),
            _ => None,
        });
        works.chain(task).fold(0, |bits, each| bits | each.bit())
    }
}
