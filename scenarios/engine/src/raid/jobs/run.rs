//! Writes of runs: one command for all units that lie one behind the other on a drive.
//!
//! Each unit of a run that is written has a job, with the unit's lock, so that it stays its own for
//! whatever else happens to it. All jobs of a run ask for their locks at once, and the first one
//! sends the commands when the last of them has its: nobody waits for anyone who came later.

use crate::ids::{ArrayId, JobId};
use crate::layout::Run;
use crate::path::IoPath;
use crate::raid::jobs::table::{Jobs, Phase};
use crate::raid::jobs::{Stripes, Work};
use raidlab_io::{IoId, Ios};
use raidlab_kernel::Time;

impl Stripes {
    /// Writes a run below `parent`.
    pub(crate) fn write_run(
        &mut self,
        path: &mut IoPath,
        parent: IoId,
        array: ArrayId,
        run: Run,
        now: Time,
    ) {
        let unit = self.state.volume(array).geometry().unit();
        let (mut head, mut last) = (JobId::NONE, JobId::NONE);
        for (stripe, extent) in run.extents(unit) {
            let job = self
                .state
                .new_job(path, parent, array, stripe, Work::Write, now);
            self.state.take_new_data(path, job, parent, array, extent);
            if head == JobId::NONE {
                head = job;
            } else {
                self.state.jobs[last].run.mate = job;
                self.state.jobs[job].run.head = head;
                self.state.jobs[head].run.missing += 1;
            }
            last = job;
        }
        let mut job = head;
        while job != JobId::NONE {
            let mate = self.state.jobs[job].run.mate;
            self.begin(path, job, now);
            job = mate;
        }
    }
}

impl Jobs {
    /// Bytes of the jobs behind one in its run.
    pub(super) fn bytes_of_mates(&self, ios: &Ios, job: JobId) -> u64 {
        let (mut bytes, mut mate) = (0, self[job].run.mate);
        while mate != JobId::NONE {
            let job = &self[mate];
            bytes += ios[job.io].bytes;
            mate = job.run.mate;
        }
        bytes
    }

    /// A job and those behind it in its run come into a phase.
    pub(super) fn set_phase(&mut self, job: JobId, phase: Phase) {
        let mut next = job;
        while next != JobId::NONE {
            let job = &mut self[next];
            job.phase = phase;
            next = job.run.mate;
        }
    }

    /// Takes the one behind a job out of its run, if there is one.
    pub(super) fn take_mate(&mut self, job: JobId) -> Option<JobId> {
        let mate = self[job].run.mate;
        if mate == JobId::NONE {
            return None;
        }
        self[job].run.mate = self[mate].run.mate;
        Some(mate)
    }
}
