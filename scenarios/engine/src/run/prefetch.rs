//! Prefetches for the next three events. The state of a large system does not fit the processor's
//! cache, and each event meets another drive, another record and another load. Without this the
//! processor waits for their memory one after the other.
//!
//! The third event's first address is arithmetic alone. When it has become the second one, its
//! record has arrived and says where the drive and the load thread lie; when it is the next one,
//! these have arrived and say where the rest is.

use super::system::System;
use crate::state::event::Event;
use crate::state::owner::OwnerOf;
use raidlab_io::{Io, IoId};
use raidlab_kernel::prefetch;

impl System {
    /// Asks for the memory of the next three events.
    #[inline(never)]
    pub(crate) fn prefetch_upcoming(&self) {
        let Some([next, second, third]) = self.layers.path.calendar.upcoming() else {
            return;
        };
        let drives = &self.layers.path.drives;
        match third {
            Event::Device { drive, .. } => drives[drive].prefetch(),
            event => {
                if let Some(io) = record(event) {
                    self.layers.path.ios.prefetch(io);
                }
            }
        }
        match second {
            Event::Device { drive, .. } => drives[drive].device.prefetch_state(),
            event => {
                if let Some(io) = record(event) {
                    self.prefetch_record(io);
                }
            }
        }
        match next {
            Event::Device { drive, .. } => drives[drive].device.prefetch_lists(),
            Event::Done(io) | Event::Leg(io) => {
                self.prefetch_link(io);
            }
            Event::AtDrive(io) => {
                let io = self.prefetch_link(io);
                drives[io.drive].device.prefetch_state();
            }
            Event::Returned(io) | Event::Interrupt(io) => {
                self.prefetch_load(self.prefetch_link(io));
            }
            _ => {}
        }
    }

    /// A record's parts, the drive that serves it and the thread that issued it.
    #[inline]
    fn prefetch_record(&self, io: IoId) {
        let path = &self.layers.path;
        let io = &path.ios[io];
        io.parts.prefetch();
        if let Some(drive) = path.drives.get(io.drive) {
            drive.prefetch();
        }
        if let (Io::NONE, Some(slot)) = (io.parent, io.owner.slot()) {
            prefetch(&path.slots[slot]);
        }
    }

    /// The first link of the drive that serves a record.
    #[inline]
    fn prefetch_link(&self, io: IoId) -> &Io {
        let path = &self.layers.path;
        let io = &path.ios[io];
        if let Some(&link) = path.drives[io.drive].path.first() {
            prefetch(&path.links[link]);
        }
        io
    }

    /// The load that issued a request.
    #[inline]
    fn prefetch_load(&self, io: &Io) {
        if let (Io::NONE, Some(slot)) = (io.parent, io.owner.slot()) {
            let index = self.layers.path.slots[slot].workload;
            let workload = &self.layers.loads.records().workload(index);
            workload.meter.prefetch(io.op);
            workload.load.prefetch();
            prefetch(&workload.arrival);
            prefetch(&self.layers.path.arrays[workload.array].layout);
        }
    }
}

/// The record that an event is about.
#[inline]
fn record(event: Event) -> Option<IoId> {
    match event {
        Event::Leg(io)
        | Event::AtDrive(io)
        | Event::Done(io)
        | Event::Returned(io)
        | Event::Interrupt(io)
        | Event::Admit(io)
        | Event::Counted(io) => Some(io),
        _ => None,
    }
}
