//! The power fails: what the loads had in flight is abandoned.

use crate::path::IoPath;
use crate::path::loads::Loads;
use crate::plan::Arrival;
use crate::state::event::Event;
use crate::state::owner::job_of;
use crate::state::owner::{Owner, OwnerOf};
use crate::state::records::Outcome;
use raidlab_io::{Io, IoId, Mark};
use raidlab_kernel::Time;

impl Loads {
    pub(crate) fn drop_requests(&mut self, path: &mut IoPath, back: Time, now: Time) {
        self.records.note_log(path);
        let level = path.inside.level() as i64;
        path.inside.change(now, -level);
        self.restart_limits(now);
        for id in path.ios.ids().collect::<Vec<_>>() {
            let io = &path.ios[id];
            if job_of(io).is_some() || io.owner.is_aborted() {
                continue;
            }
            if io.parent == Io::NONE {
                self.records.tally.abandoned += 1;
                self.records.tally.stay += now.since(io.entered);
                let (owner, waiting) = (io.owner, io.pending > 0);
                self.issue_again(path, id, owner, back, now);
                if waiting {
                    path.ios.release(id);
                    continue;
                }
            }
            let io = &mut path.ios[id];
            (io.owner, io.parent) = (Owner::Aborted.into(), Io::NONE);
        }
    }

    /// The load goes on when the power is back; outside callers get their I/O back at once.
    fn issue_again(&mut self, path: &mut IoPath, id: IoId, owner: Mark, back: Time, now: Time) {
        match owner.into() {
            Owner::Outside(number) => {
                path.ios[id].mark = now;
                self.outside_cut_off(&path.ios[id]);
                path.outside
                    .hand_back(id, &path.ios[id], number, Outcome::CutOff);
            }
            Owner::Slot(slot) => {
                let index = path.slots[slot].workload;
                let workload = &mut self.records.workloads[index];
                workload.meter.fail(now);
                if let Arrival::Closed { .. } = workload.arrival {
                    path.calendar.push(back, Event::Issue(slot));
                    return;
                }
                workload.backlog.leaves(now);
                if workload.ends {
                    self.records.trace_request_over(path, id, None, index, now);
                }
            }
            // No other request is in flight: no system with a page cache loses its power.
            _ => debug_assert!(false, "{:?}", Owner::from(owner)),
        }
    }
}
