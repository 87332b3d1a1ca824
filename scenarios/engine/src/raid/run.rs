//! Writes of runs: one command for all units that lie one behind the other on a drive.
//!
//! Each unit of a run that is written has a job, with the unit's lock, so that it stays its own for
//! whatever else happens to it. All jobs of a run ask for their locks at once, and the first one
//! sends the commands when the last of them has its: nobody waits for anyone who came later.

use super::jobs::{NO_JOB, Phase, Work};
use crate::layout::Run;
use crate::system::System;
use raidlab_kernel::{IoId, Time};

impl System {
    /// Writes a run below `parent`.
    pub(super) fn write_run(&mut self, parent: IoId, array: u32, run: Run, now: Time) {
        let unit = self.volume(array).geometry.unit();
        let (mut head, mut last) = (NO_JOB, NO_JOB);
        for (stripe, extent) in run.extents(unit) {
            let job = self.new_job(parent, array, stripe, Work::Write, now);
            self.take_new_data(job, parent, array, extent);
            if head == NO_JOB {
                head = job;
            } else {
                self.raid.jobs[last].run.mate = job;
                self.raid.jobs[job].run.head = head;
                self.raid.jobs[head].run.missing += 1;
            }
            last = job;
        }
        let mut job = head;
        while job != NO_JOB {
            let mate = self.raid.jobs[job].run.mate;
            self.begin(job, now);
            job = mate;
        }
    }

    /// Bytes of the jobs behind one in its run.
    pub(super) fn bytes_of_mates(&self, job: u32) -> u64 {
        let (mut bytes, mut mate) = (0, self.raid.jobs[job].run.mate);
        while mate != NO_JOB {
            let job = &self.raid.jobs[mate];
            bytes += self.ios[job.io].bytes;
            mate = job.run.mate;
        }
        bytes
    }

    /// A job and those behind it in its run come into a phase.
    pub(super) fn set_phase(&mut self, job: u32, phase: Phase) {
        let mut next = job;
        while next != NO_JOB {
            let job = &mut self.raid.jobs[next];
            job.phase = phase;
            next = job.run.mate;
        }
    }

    /// Takes the one behind a job out of its run.
    pub(super) fn take_mate(&mut self, job: u32) -> u32 {
        let mate = self.raid.jobs[job].run.mate;
        self.raid.jobs[job].run.mate = self.raid.jobs[mate].run.mate;
        mate
    }
}
