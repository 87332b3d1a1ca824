//! When a program or erase gives way to a read.
//!
//! Programs and erases consist of pulses, each followed by its verify; the array lets go between
//! them (Wu and He, "Reducing SSD Read Latency via NAND Flash Program and Erase Suspension", FAST
//! 2012). So a read waits for the end of a pulse, then for the array to settle. What has been
//! resumed goes on for a while before it is suspended again: chips bear a limited number of
//! suspensions, and without progress a program would never end.

use crate::ssd::nand::die::Die;
use crate::ssd::nand::job::Job;
use crate::ssd::nand::params::NandParams;
use raidlab_kernel::{Nanos, Time};

/// How dies suspend programs and erases.
#[derive(Debug)]
pub(super) struct Suspension {
    /// From the end of a pulse until a read can begin; none where nothing is suspended.
    settle: Option<Nanos>,
    pulse: Nanos,
    interval: Nanos,
    /// From the end of the reads until what they suspended goes on.
    resume: Nanos,
}

impl Suspension {
    pub(super) fn new(params: &NandParams) -> Suspension {
        Suspension {
            settle: params.suspend_ns,
            pulse: params.pulse_ns,
            interval: params.suspend_interval_ns,
            resume: params.resume_ns,
        }
    }

    /// When a read of `sense` begins that came at `at` and could begin at `ready`, after the reads
    /// before it. A job in progress ends so much later as it is suspended for.
    #[inline(always)]
    pub(super) fn read_begins(
        &self,
        die: &mut Die,
        ready: Time,
        at: Time,
        sense: Nanos,
        reads_first: u32,
    ) -> Time {
        match die.job_at(ready) {
            Some(job) => self.beside(die, job, (ready, at), sense, reads_first),
            None => {
                if ready < die.job_start {
                    die.delay_job(ready, sense);
                }
                ready
            }
        }
    }

    /// When a read begins that comes during a job.
    #[inline(never)]
    fn beside(
        &self,
        die: &mut Die,
        job: Job,
        (ready, at): (Time, Time),
        sense: Nanos,
        reads_first: u32,
    ) -> Time {
        let may_suspend = die.overtaken < reads_first && job.can_be_suspended();
        let Some(settle) = self.settle.filter(|_| may_suspend) else {
            die.yields = die.job_end;
            return die.job_end;
        };
        die.overtaken += 1;
        if die.reads_free > at {
            // Reads that come while the job is suspended find the die free for them.
            let start = ready.max(die.yields);
            if start < die.job_end {
                die.goes_on(start + sense, die.reads_free);
            }
            return start;
        }
        let from = die
            .resumed
            .map_or(ready, |resumed| ready.max(resumed + self.interval));
        let yields = from + self.rest_of_pulse(die.job_end.since(from));
        if yields >= die.job_end {
            die.yields = die.job_end;
            return die.job_end;
        }
        die.yields = yields + settle;
        die.goes_on(die.yields + sense + self.resume, yields);
        die.yields
    }

    /// Pulses are counted from the end of the job, which suspensions move with them.
    #[inline]
    fn rest_of_pulse(&self, left: Nanos) -> Nanos {
        match self.pulse {
            Nanos::ZERO => Nanos::ZERO,
            pulse => Nanos(left.0 % pulse.0),
        }
    }
}

impl Die {
    /// The suspended job goes on at `end`, and has done nothing since `since`.
    #[inline]
    fn goes_on(&mut self, end: Time, since: Time) {
        self.resumed = Some(self.resumed.map_or(end, |resumed| resumed.max(end)));
        self.job_end = self.job_end + end.since(since);
    }

    /// A job that waits for reads waits for one more, on another plane.
    #[cold]
    fn delay_job(&mut self, ready: Time, sense: Nanos) {
        if self.job.is_some() {
            let delay = (ready + sense).since(self.job_start);
            self.job_start = self.job_start + delay;
            self.job_end = self.job_end + delay;
        }
    }
}
