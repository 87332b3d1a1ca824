//! Writes of runs: one command for all units that lie one behind the other on a drive.
//!
//! Each unit of a run that is written has a job, with the unit's lock, so that it stays its own for
//! whatever else happens to it. All jobs of a run ask for their locks at once, and the first one
//! sends the commands when the last of them has its: nobody waits for anyone who came later.

use crate::layout::Run;
use crate::path::Path;
use crate::raid::Stripes;
use crate::raid::jobs::{NO_JOB, Phase, Work};
use raidlab_kernel::{IoId, Time};

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
        let unit = self.volume(array).geometry.unit();
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

    /// Bytes of the jobs behind one in its run.
    pub(crate) fn bytes_of_mates(&self, path: &Path, job: u32) -> u64 {
        let (mut bytes, mut mate) = (0, self.jobs[job].run.mate);
        while mate != NO_JOB {
            let job = &self.jobs[mate];
            bytes += path.ios[job.io].bytes;
            mate = job.run.mate;
        }
        bytes
    }

    /// A job and those behind it in its run come into a phase.
    pub(crate) fn set_phase(&mut self, job: u32, phase: Phase) {
        let mut next = job;
        while next != NO_JOB {
            let job = &mut self.jobs[next];
            job.phase = phase;
            next = job.run.mate;
        }
    }

    /// Takes the one behind a job out of its run.
    pub(crate) fn take_mate(&mut self, job: u32) -> u32 {
        let mate = self.jobs[job].run.mate;
        self.jobs[job].run.mate = self.jobs[mate].run.mate;
        mate
    }
}
