//! The power fails, and comes back: which owner does what, in which order.

use crate::path::agenda::Up;
use crate::run::system::System;
use crate::state::event::Event;
use raidlab_kernel::Time;

impl System {
    /// The power fails now and is back at `back`.
    pub(crate) fn power_fails(&mut self, back: Time, now: Time) {
        if now < self.layers.path.off_until {
            return self
                .layers
                .path
                .log(now, "no second power failure: the power is off".into());
        }
        // Completions that wait for their thread are taken: nothing but the host has them any more.
        self.reap_all(now);
        self.layers.path.off_until = back;
        for memory in self.layers.raid.stripes.memories.iter_mut().flatten() {
            memory.survives = memory.safe && back.since(now) <= memory.hold;
        }
        let preserved = self.layers.raid.stripes.preserved_jobs(&self.layers.path);
        let older = self.layers.path.drives_lose_power(now);
        self.layers.raid.tear_writes(&mut self.layers.path);
        self.layers
            .raid
            .stripes
            .empty_queues(&mut self.layers.path, now);
        self.layers
            .raid
            .drop_jobs(&mut self.layers.path, &preserved, now);
        self.layers.raid.stripes.cut_redirects();
        self.layers.ssd_caches.forget_copies();
        self.layers
            .loads
            .drop_requests(&mut self.layers.path, back, now);
        let safe = self
            .layers
            .raid
            .stripes
            .memories
            .iter()
            .flatten()
            .any(|memory| memory.survives);
        for controller in 0..self.layers.path.controllers.len() {
            match self.layers.raid.stripes.memories[controller].as_mut() {
                Some(memory) if memory.survives => memory.cache.retain_dirty(),
                Some(_) => self
                    .layers
                    .raid
                    .stripes
                    .lose_cache(&mut self.layers.path, controller),
                None => {}
            }
        }
        self.layers
            .raid
            .count_losses_of_drives(&mut self.layers.path, &older);
        if let Some(integrity) = &mut self.layers.path.integrity {
            integrity.power_failed(safe, &preserved);
        }
        self.layers.raid.stripes.preserved = preserved;
        self.layers.path.log(now, "power failed".into());
        self.layers.path.calendar.push(back, Event::PowerBack);
    }

    pub(crate) fn power_back(&mut self, now: Time) {
        self.layers.path.log(now, "power back".into());
        for index in self.layers.raid.stripes.preserved.clone() {
            let job = &self.layers.raid.stripes.jobs[index];
            if job.run.head != index {
                // The head of its run writes it.
                continue;
            }
            let io = job.io;
            self.layers.path.ios[io].charge(raidlab_kernel::Part::Raid, now);
            self.layers
                .raid
                .stripes
                .write_phase(&mut self.layers.path, index, now);
            self.layers.settle(Up::None, now);
        }
        for controller in 0..self.layers.path.controllers.len() as u32 {
            if let Some(memory) = self.layers.raid.stripes.memories[controller as usize].as_mut() {
                memory.sweep = memory.cache.groups_waiting();
                self.layers
                    .raid
                    .stripes
                    .destage(&mut self.layers.path, controller, now);
                self.layers.settle(Up::None, now);
            }
        }
        self.layers.raid.tasks_go_on(&mut self.layers.path, now);
    }

    /// All that waits for its thread is taken at once.
    pub(crate) fn reap_all(&mut self, now: Time) {
        self.layers.loads.host.forget_waiting();
        for thread in 0..self.layers.loads.signalled.len() {
            let up = self
                .layers
                .loads
                .work_off(&mut self.layers.path, thread as u32, now);
            self.layers.settle(up, now);
            self.layers.prefetch();
        }
    }
}
