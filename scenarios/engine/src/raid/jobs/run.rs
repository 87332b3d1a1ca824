//! Writes of runs: one command for all units that lie one behind the other on a drive.
//!
//! Each unit of a run that is written has a job, with the unit's lock, so that it stays its own for
//! whatever else happens to it. All jobs of a run ask for their locks at once, and the first one
//! sends the commands when the last of them has its: nobody waits for anyone who came later.

use crate::layout::Run;
use crate::path::Path;
use crate::raid::jobs::table::{Jobs, NO_JOB, Phase};
use crate::raid::jobs::{Stripes, Work};
use raidlab_io::{Io, IoId};
use raidlab_kernel::{Slab, Time};

impl Stripes {
    /// Writes a run below `parent`.
    pub(crate) fn write_run(
        &mut self,
        path: &mut Path,
        parent: IoId,
        array: u32,
        run: Run,
        now: Time,
    ) {
        let unit = self.volume(array).geometry().unit();
        let (mut head, mut last) = (NO_JOB, NO_JOB);
        for (stripe, extent) in run.extents(unit) {
            let job = self.new_job(path, parent, array, stripe, Work::Write, now);
            self.take_new_data(path, job, parent, array, extent);
            if head == NO_JOB {
                head = job;
            } else {
                self.jobs[last].run.mate = job;
                self.jobs[job].run.head = head;
                self.jobs[head].run.missing += 1;
            }
            last = job;
        }
        let mut job = head;
        while job != NO_JOB {
            let mate = self.jobs[job].run.mate;
            self.begin(path, job, now);
            job = mate;
        }
    }
}

impl Jobs {
    /// Bytes of the jobs behind one in its run.
    pub(super) fn bytes_of_mates(&self, ios: &Slab<Io>, job: u32) -> u64 {
        let (mut bytes, mut mate) = (0, self[job].run.mate);
        while mate != NO_JOB {
            let job = &self[mate];
            bytes += ios[job.io].bytes;
            mate = job.run.mate;
        }
        bytes
    }

    /// A job and those behind it in its run come into a phase.
    pub(super) fn set_phase(&mut self, job: u32, phase: Phase) {
        let mut next = job;
        while next != NO_JOB {
            let job = &mut self[next];
            job.phase = phase;
            next = job.run.mate;
        }
    }

    /// Takes the one behind a job out of its run, if there is one.
    pub(super) fn take_mate(&mut self, job: u32) -> Option<u32> {
        let mate = self[job].run.mate;
        if mate == NO_JOB {
            return None;
        }
        self[job].run.mate = self[mate].run.mate;
        Some(mate)
    }
}
