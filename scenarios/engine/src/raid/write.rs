//! The phases of a job: plan, read, compute, write, finish.

use super::job::{Phase, Work};
use super::stripe::{Stripe, Transfer, Way, parity_ranges};
use crate::system::System;
use raidlab_kernel::{IoId, Op, Part, Time};

impl System {
    /// Lists a job's transfers for a phase into the scratch list.
    fn list(&mut self, index: u32, writes: bool) -> Vec<Transfer> {
        let mut ranges = std::mem::take(&mut self.raid.ranges);
        let mut transfers = std::mem::take(&mut self.raid.transfers);
        let job = &self.raid.jobs[index];
        let volume = self.volume(job.array);
        parity_ranges(&job.extents, &mut ranges);
        let stripe = Stripe {
            columns: volume.geometry.columns(),
            parities: volume.geometry.parities(),
            extents: &job.extents,
            alive: |role| volume.lives(volume.place(job.stripe, role)),
        };
        match (job.work, writes) {
            (Work::Write | Work::Destage, true) if volume.geometry.parities() == 0 => {
                transfers.clear();
                transfers.extend(job.extents.iter().map(|e| Transfer {
                    role: super::Role::Data(e.column),
                    start: e.start,
                    end: e.end,
                }));
            }
            (Work::Write | Work::Destage, true) => stripe.writes(&ranges, &mut transfers),
            (Work::Write | Work::Destage, false) => stripe.reads(job.way, &ranges, &mut transfers),
            (Work::Recover, false) => {
                transfers.clear();
                for extent in &job.extents {
                    stripe.all_that_is_left(extent.start, extent.end, &mut transfers);
                }
            }
            (Work::Recover, true) | (Work::Fill, _) => transfers.clear(),
        }
        self.raid.ranges = ranges;
        transfers
    }

    /// The job has its stripe for itself: choose the way; firmware for all its commands.
    pub(crate) fn plan_job(&mut self, index: u32, now: Time) {
        let mut ranges = std::mem::take(&mut self.raid.ranges);
        let job = &self.raid.jobs[index];
        let volume = self.volume(job.array);
        parity_ranges(&job.extents, &mut ranges);
        let way = Stripe {
            columns: volume.geometry.columns(),
            parities: volume.geometry.parities(),
            extents: &job.extents,
            alive: |role| volume.lives(volume.place(job.stripe, role)),
        }
        .way(&ranges);
        self.raid.ranges = ranges;
        let (array, io, work) = (job.array, job.io, job.work);
        self.raid.jobs[index].way = match work {
            Work::Recover => Way::Recover,
            _ => way.unwrap_or(Way::Plain),
        };
        let (mut commands, mut written) = (0, 0);
        for writes in [false, true] {
            let transfers = self.list(index, writes);
            commands += transfers.len() as u64;
            if writes {
                written = transfers.iter().map(|t| u64::from(t.end - t.start)).sum();
            }
            self.raid.transfers = transfers;
        }
        self.raid.jobs[index].written = written;
        let copies = u64::from(self.volume(array).geometry.copies());
        let served = self.firmware(array, commands * copies, now);
        self.ios[io].charge_stay(Part::ControllerWait, Part::Controller, served);
        self.step_job_at(index, Phase::Read, served.end, now);
    }

    pub(crate) fn read_phase(&mut self, index: u32, now: Time) {
        self.raid.jobs[index].phase = Phase::Compute;
        if self.raid.jobs[index].way == Way::Plain {
            return self.write_phase(index, now);
        }
        self.send_all(index, Op::Read, now);
    }

    /// Everything needed is in memory: the parity engine takes it in.
    pub(crate) fn compute_phase(&mut self, index: u32, now: Time) {
        let job = &self.raid.jobs[index];
        let (array, id) = (job.array, job.io);
        let Some(controller) = self.arrays[array as usize].controller else {
            return self.step_job_at(index, Phase::Write, now, now);
        };
        let new = match job.work {
            Work::Recover => 0,
            _ => self.ios[id].bytes,
        };
        let io = &mut self.ios[id];
        let taken_in = io.moved + new;
        let chip = &mut self.controllers[controller as usize].chip;
        let memory = chip.memory.pass(now, io.moved + job.written);
        let parity = chip.parity.pass(now, taken_in);
        io.charge(Part::Raid, parity.end);
        io.charge(Part::Cache, memory.end);
        let at = io.mark;
        self.step_job_at(index, Phase::Write, at, now);
    }

    pub(crate) fn write_phase(&mut self, index: u32, now: Time) {
        self.raid.jobs[index].phase = Phase::Finish;
        self.send_all(index, Op::Write, now);
    }

    fn send_all(&mut self, index: u32, op: Op, now: Time) {
        let (io, array, stripe) = {
            let job = &self.raid.jobs[index];
            (job.io, job.array, job.stripe)
        };
        self.hold(io);
        let transfers = self.list(index, op == Op::Write);
        for &Transfer { role, start, end } in &transfers {
            self.send_to(io, op, (array, stripe, role), (start, end), now);
        }
        self.raid.transfers = transfers;
        self.let_go(io, now);
    }

    pub(crate) fn finish_job(&mut self, index: u32, now: Time) {
        let io: IoId = self.raid.jobs[index].io;
        self.unlock(index, now);
        self.raid.jobs.release(index);
        self.child_returned(io, now);
    }
}
