//! Commands to drives that are slow, have failed or have unreadable sectors, and what becomes of
//! their jobs.

use crate::ids::{JobId, RowId};
use crate::layout::{Role, Run, WriteStrategy};
use crate::path::IoPath;
use crate::raid::jobs::Phase;
use crate::raid::jobs::Stripes;
use crate::state::owner::job_of;
use crate::state::owner::{Owner, OwnerOf};
use raidlab_io::{IoId, Op};
use raidlab_kernel::Time;

impl Stripes {
    /// A command comes back: true if its error has been taken care of, false if it is as any.
    pub(crate) fn examine(&mut self, path: &mut IoPath, id: IoId, now: Time) -> bool {
        let io = &path.ios[id];
        let (drive, op, range, parent) = (io.drive, io.op, io.range(), io.parent);
        let health = &path.drives[drive].health;
        let failed = health.failed || io.owner.is_cut_off();
        if op != Op::Read || !(failed || io.refused) {
            if let Some(integrity) = &mut path.integrity {
                integrity.deliver(id, parent, op);
            }
            return false;
        }
        if let Some(integrity) = &mut path.integrity {
            integrity.drives.drop_payload(id);
        }
        if !failed {
            self.state
                .volumes
                .meet_unreadable(&mut path.drives, drive, range);
        }
        match job_of(&path.ios[parent]) {
            Some(job) if !self.state.jobs[job].work.reads_elsewhere() => {
                self.state.jobs[job].flags.again = true;
                false
            }
            _ => {
                self.read_elsewhere(path, id, parent, now);
                true
            }
        }
    }

    /// A read that failed is done again, from another copy or by computing, and the sectors that could not
    /// be read are repaired meanwhile; the time it has taken stays on the account.
    fn read_elsewhere(&mut self, path: &mut IoPath, id: IoId, parent: IoId, now: Time) {
        let io = path.ios[id].clone();
        path.ios.release(id);
        let array = match job_of(&path.ios[parent]) {
            Some(job) => self.state.jobs[job].array,
            None => path.ios[parent].array,
        };
        let volume = self.state.volume(array);
        let member = match io.owner.into() {
            Owner::CutOff(place) => Some(place),
            _ => volume.places().all().position(|m| m.drive() == io.drive),
        };
        let unit = volume.geometry().unit();
        let found = member.and_then(|member| {
            volume
                .geometry()
                .unit_at(member, RowId::new(io.offset / unit))
        });
        if let Some((stripe, Role::Data(column))) = found {
            let run = Run {
                stripe,
                column,
                start: (io.offset % unit) as u32,
                bytes: io.bytes,
            };
            self.read_run(path, parent, array, run, now, Some(&io));
        } else {
            self.state.refuse(path, parent, io.bytes);
        }
        self.let_go(path, parent, now);
    }

    /// A job's reads met an error: what it knows is out of date, it plans anew.
    pub(crate) fn plan_again(&mut self, path: &mut IoPath, index: JobId, now: Time) {
        let job = &mut self.state.jobs[index];
        job.flags.again = false;
        job.phase = Phase::Plan;
        // What it had to repair is out of date with its strategy.
        job.strategy = WriteStrategy::Plain;
        let io = job.io;
        path.ios[io].moved = 0;
        if let Some(integrity) = &mut path.integrity {
            integrity.jobs.plan_again(index);
        }
        self.step_job(path, index, now);
    }
}
