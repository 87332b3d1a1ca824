//! The life of single I/Os: which component each was at, from when to when.
//!
//! A run charges an I/O's time to parts; it does not note when. The observer looks at the records
//! after each event and finds what was charged since the last look: intervals that add up to the
//! latency, as the parts do. Runs that are not observed have none of this on their path.
//!
//! What one event charges to several parts is put in the order of the path through the system.

mod component;
pub(crate) mod life;
pub mod report;

use crate::plan::Plan;
use crate::run::io_trace::component::Places;
use crate::run::io_trace::life::{Life, Role};
use crate::run::system::System;
use crate::state::owner::{Owner, OwnerOf, job_of};
use raidlab_io::{Io, IoId};
use raidlab_kernel::{Change, Time};
use std::collections::BTreeMap;

/// Follows the first I/Os that are issued from some time on.
pub(crate) struct Observer {
    wanted: usize,
    from: Time,
    /// Whether changes of the records are noted.
    looks: bool,
    /// Requests followed so far, complete or not, and how many of them are not.
    taken: usize,
    open: usize,
    /// Records that were claimed so far: their numbers.
    numbers: u32,
    /// By index in the slab, so that the order is the same in every run.
    live: BTreeMap<IoId, Life>,
    /// Records that have ended in this event, and that no parent has taken over yet.
    ended: Vec<Life>,
    /// Complete requests in the order of their completion.
    done: Vec<Life>,
    changes: Vec<Change<IoId, Io>>,
}

impl Observer {
    /// What a plan wants to be followed, from the end of the warm-up on at the earliest.
    pub(crate) fn of(plan: &Plan, warm: Time) -> Option<Observer> {
        let wanted = plan.details.trace_ios as usize;
        (wanted > 0).then(|| Observer {
            wanted,
            from: warm.max(Time::ZERO + plan.details.trace_from_ns),
            looks: false,
            taken: 0,
            open: 0,
            numbers: 0,
            live: BTreeMap::new(),
            ended: Vec::new(),
            done: Vec::with_capacity(wanted),
            changes: Vec::new(),
        })
    }

    /// Handles the next event, as [`System::step`].
    #[inline]
    pub(crate) fn step(&mut self, system: &mut System, limit: Time) -> bool {
        if self.taken == self.wanted && self.open == 0 {
            return system.step(limit);
        }
        if let Some(next) = system.layers.path.calendar.next_time() {
            self.begin_looking(system, next);
        }
        let went = system.step(limit);
        if self.looks {
            self.look(system);
            if self.taken == self.wanted && self.open == 0 {
                system.layers.path.ios.observe(false);
            }
        }
        went
    }

    /// What changes in the records is noted if it is time for it.
    #[inline]
    pub(crate) fn begin_looking(&mut self, system: &mut System, at: Time) {
        if !self.looks && at >= self.from {
            self.looks = true;
            system.layers.path.ios.observe(true);
        }
    }

    /// The requests that are complete, by the time at which they were issued.
    pub(crate) fn finish(mut self, system: &mut System) -> Vec<Life> {
        system.layers.path.ios.observe(false);
        self.done.sort_by_key(|life| (life.issued, life.number));
        self.done
    }

    /// Finds what the last event has charged.
    fn look(&mut self, system: &mut System) {
        system.layers.path.ios.take_changes(&mut self.changes);
        let mut changes = std::mem::take(&mut self.changes);
        let places = Places::of(system);
        let (mut fresh, mut released) = (Vec::new(), Vec::new());
        for change in changes.drain(..) {
            match change {
                Change::Claimed(id) => fresh.push(id),
                Change::Released(id, io) => match fresh.iter().position(|&each| each == id) {
                    Some(at) => {
                        fresh.remove(at);
                        if let Some(life) = self.begin(&places, id, &io) {
                            released.push((life, io));
                        }
                    }
                    None => released.extend(self.live.remove(&id).map(|life| (life, io))),
                },
            }
        }
        self.changes = changes;
        for id in fresh {
            if let Some(life) = self.begin(&places, id, &places.path.ios[id]) {
                self.live.insert(id, life);
            }
        }
        for (mut life, io) in released {
            life.advance(&io, &mut self.ended, &places);
            self.end(life, &io);
        }
        for (&id, life) in &mut self.live {
            life.advance(&places.path.ios[id], &mut self.ended, &places);
        }
        // What served nobody who is followed: requests of page caches.
        self.ended.clear();
    }

    /// The life of a record that was claimed, if it belongs to a request that is followed.
    fn begin(&mut self, places: &Places, id: IoId, io: &Io) -> Option<Life> {
        let life = if io.parent == Io::NONE {
            let role = self.role_of_request(places, io)?;
            let mut life = Life::new(self.numbers + 1, 0, io, role);
            life.thread = match io.owner.slot() {
                Some(slot) => places.path.slots[slot].thread,
                None => places.loads.threads().behind_no_slot(places.path, id),
            };
            life
        } else {
            let parent = self.live.get(&io.parent)?;
            let role = job_of(io).map_or(Role::Command, |_| Role::Job);
            let mut life = Life::new(self.numbers + 1, parent.number, io, role);
            (life.array, life.thread) = (parent.array, parent.thread);
            life
        };
        self.numbers += 1;
        Some(life)
    }

    /// What a record without a parent is, if it is followed.
    fn role_of_request(&mut self, places: &Places, io: &Io) -> Option<Role> {
        let call = match io.owner.into() {
            Owner::Pages(_) if self.open > 0 => return Some(Role::Pages),
            Owner::Slot(slot) => {
                let workload = places.path.slots[slot].workload;
                places.caches.serves(workload)
            }
            Owner::Outside(_) => false,
            _ => return None,
        };
        if self.taken == self.wanted || io.issued < self.from {
            return None;
        }
        self.taken += 1;
        self.open += 1;
        Some(if call { Role::Call } else { Role::Request })
    }

    fn end(&mut self, life: Life, io: &Io) {
        if !matches!(life.role, Role::Request | Role::Call) {
            self.ended.push(life);
            return;
        }
        self.open -= 1;
        if life.whole && !io.refused && !io.owner.is_aborted() {
            self.done.push(life);
        }
    }
}
