//! What was in work while a slow I/O was, besides the load.

use crate::ids::ArrayId;
use crate::raid::background::task::Task;
use crate::run::system::System;
use crate::state::slowest::Beside;
use raidlab_kernel::Time;

impl System {
    /// Says of the slow I/Os that the last event has completed what else was in work.
    #[inline]
    pub(crate) fn look_at_slow(&mut self) {
        while let Some((record, array)) = self.layers.loads.records_mut().take_noticed() {
            let (now, last) = self.beside(array);
            if let Some(meter) = self.layers.loads.records_mut().meter_mut(record as usize) {
                meter.slowest.note_beside(|since| {
                    let met = Beside::ALL
                        .into_iter()
                        .filter(|&(each, _)| now & each.bit() != 0 || last[each as usize] > since);
                    met.fold(0, |bits, (each, _)| bits | each.bit())
                });
            }
        }
    }

    /// For an array and its SSD cache: what is in work now, in bits of [`Beside`], and when the last
    /// work of each kind was done.
    fn beside(&self, array: ArrayId) -> (u8, [Time; Beside::ALL.len()]) {
        let (raid, stripes) = (&self.layers.raid, self.layers.raid.stripes());
        let task = raid.background().task(array).map(Task::beside);
        let is_its = |other: ArrayId| {
            other == array || stripes.state().redirects().above(other) == Some(array)
        };
        let work = stripes.state().jobs().beside();
        let arrays = || {
            stripes
                .state()
                .volumes()
                .arrays()
                .filter(|&other| is_its(other))
        };
        let under_way = arrays().fold(0, |bits, other| bits | work.under_way(other));
        let now = task.map_or(0, Beside::bit) | under_way;
        let last = arrays().map(|other| *work.last(other));
        let later = |a: [Time; Beside::ALL.len()], b: [Time; Beside::ALL.len()]| {
            std::array::from_fn(|at| a[at].max(b[at]))
        };
        (now, last.fold([Time::ZERO; Beside::ALL.len()], later))
    }
}
