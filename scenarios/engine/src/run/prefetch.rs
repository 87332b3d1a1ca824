//! Prefetches for the next two events. The state of a large system does not fit the processor's
//! cache, and each event meets another drive, another record and another load. Without this the
//! processor waits for their memory one after the other.
//!
//! The second event's first address is arithmetic alone. When it has become the next one, its
//! record has arrived and says where the rest lies.

use super::system::System;
use crate::state::event::Event;
use crate::state::owner::OwnerOf;
use raidlab_kernel::{Io, IoId, prefetch};

impl System {
    /// Asks for the memory of the next two events.
    #[inline(never)]
    pub(crate) fn prefetch_upcoming(&self) {
        let Some([next, second]) = self.layers.path.calendar.upcoming() else {
            return;
        };
        match second {
            Event::Device { drive, .. } => self.layers.path.drives[drive as usize].prefetch(),
            Event::Leg(io)
            | Event::AtDrive(io)
            | Event::Done(io)
            | Event::Returned(io)
            | Event::Interrupt(io)
            | Event::Admit(io) => self.layers.path.ios.prefetch(io),
            _ => {}
        }
        match next {
            Event::Device { drive, .. } => self.layers.path.drives[drive as usize]
                .device
                .prefetch_state(),
            Event::Done(io) | Event::Leg(io) => {
                self.prefetch_path(io);
            }
            Event::AtDrive(io) => {
                let io = self.prefetch_path(io);
                self.layers.path.drives[io.drive as usize]
                    .device
                    .prefetch_state();
            }
            Event::Returned(io) | Event::Interrupt(io) => {
                let io = self.prefetch_path(io);
                self.prefetch_load(io);
            }
            _ => {}
        }
    }

    /// A record, the drive that serves it and the drive's first link.
    #[inline]
    fn prefetch_path(&self, io: IoId) -> &Io {
        let io = &self.layers.path.ios[io];
        io.parts.prefetch();
        let drive = &self.layers.path.drives[io.drive as usize];
        drive.prefetch();
        if let Some(&link) = drive.path.first() {
            prefetch(&self.layers.path.links[link as usize]);
        }
        io
    }

    /// The load that issued a request.
    #[inline]
    fn prefetch_load(&self, io: &Io) {
        if let (Io::NONE, Some(slot)) = (io.parent, io.owner.slot()) {
            let index = self.layers.path.slots[slot as usize].workload;
            let workload = &self.layers.loads.workload(index);
            workload.meter.prefetch(io.op);
            workload.load.prefetch();
            prefetch(&workload.arrival);
            prefetch(&self.layers.path.arrays[workload.array as usize].layout);
        }
    }
}
