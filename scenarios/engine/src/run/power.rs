//! The power fails, and comes back: which owner does what, in which order.

use crate::path::agenda::Up;
use crate::run::layers::Layers;
use crate::run::system::System;
use crate::state::event::RunEvent;
use crate::state::log::EventKind;
use raidlab_kernel::Time;

impl System {
    /// The power fails now and is back at `back`.
    pub(crate) fn power_fails(&mut self, back: Time, now: Time) {
        if now < self.layers.path.off_until {
            let what = "no second power failure: the power is off".into();
            let path = &mut self.layers.path;
            return path.log.note(now, EventKind::Ignored, String::new(), what);
        }
        // Completions that wait for their thread are taken: nothing but the host has them any more.
        self.reap_all(now);
        self.layers.path.off_until = back;
        let Layers {
            path,
            loads,
            raid,
            ssd_caches,
        } = &mut self.layers;
        let preserved = raid.begin_outage(path, back, now);
        let older = path.drives_lose_power(now);
        raid.tear_writes(path);
        raid.empty_queues(path, now);
        raid.drop_jobs(path, &preserved, now);
        ssd_caches.forget_copies();
        loads.drop_requests(path, back, now);
        let safe = raid.lose_caches(path);
        raid.count_losses_of_drives(path, &older);
        if let Some(integrity) = &mut path.integrity {
            integrity.power_failed(safe, &preserved);
        }
        raid.stripes_mut().state_mut().preserve(preserved);
        path.log.note(
            now,
            EventKind::PowerFailed,
            String::new(),
            "power failed".into(),
        );
        path.calendar.push(back, RunEvent::PowerBack.into());
    }

    pub(crate) fn power_back(&mut self, now: Time) {
        let what = "power back".into();
        let path = &mut self.layers.path;
        path.log
            .note(now, EventKind::PowerBack, String::new(), what);
        for job in self.layers.raid.stripes().state().preserved_heads() {
            let Layers { path, raid, .. } = &mut self.layers;
            raid.write_again(path, job, now);
            self.layers.settle(Up::None, now);
        }
        for controller in self.layers.path.controllers.ids() {
            let Layers { path, raid, .. } = &mut self.layers;
            raid.sweep(path, controller, now);
            self.layers.settle(Up::None, now);
        }
        self.layers.raid.tasks_go_on(&mut self.layers.path, now);
    }

    /// All that waits for its thread is taken at once.
    pub(crate) fn reap_all(&mut self, now: Time) {
        self.layers.loads.threads_mut().host_mut().forget_waiting();
        for thread in self.layers.loads.threads().ids() {
            while self.layers.loads.threads().is_awaited(thread) {
                let Layers { path, loads, .. } = &mut self.layers;
                let up = loads.work_off(path, thread, now);
                self.layers.settle(up, now);
                self.layers.prefetch();
            }
        }
    }
}
