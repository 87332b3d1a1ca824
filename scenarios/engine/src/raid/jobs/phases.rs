//! The phases of a job: plan, read, compute, write, finish.

use crate::ids::JobId;
use crate::integrity::commands::Target;
use crate::layout::{Role, Run, Transfer, WriteStrategy};
use crate::path::IoPath;
use crate::path::agenda::JobCall;
use crate::raid::jobs::plan::{compares, is_unwanted, is_whole};
use crate::raid::jobs::prefetch::prefetch_transfers;
use crate::raid::jobs::table::{Company, Job, Phase, Transfers};
use crate::raid::jobs::{Stripes, Work};
use crate::raid::volume::Volume;
use raidlab_io::{ByteRange, Io as IoRecord, IoId, Op, Part};
use raidlab_kernel::Time;

impl Stripes {
    /// The job has its stripe for itself: choose the write strategy; firmware for all its commands.
    pub(crate) fn plan_job(&mut self, path: &mut IoPath, index: JobId, now: Time) {
        let Job {
            array, io, work, ..
        } = self.state.jobs[index];
        if self.turns.waits(&mut self.state, path, index, now) {
            return;
        }
        let volume = self.state.volumes.of(array);
        let job = &mut self.state.jobs[index];
        job.planned = volume.places().changes();
        job.plans();
        let for_nothing = match work {
            // A stripe with units missing cannot be compared with its parity.
            Work::Check(_) if compares(job, volume) => !is_whole(job, volume),
            Work::Check(_) | Work::Row(_) => is_unwanted(job, volume),
            _ => false,
        };
        if for_nothing {
            self.turns.end(&mut self.state.jobs, path, index, now);
            return self.give_up(path, index, now);
        }
        let commands = if work.is_write() && volume.places().changes() == 0 {
            let commands = self.planner.plan_once(job, volume);
            prefetch_transfers(path, volume, job.stripe, job.transfers.of(Op::Read));
            commands
        } else {
            let strategy = self.planner.strategy(job, volume);
            job.strategy = strategy;
            job.transfers.forget();
            if strategy == WriteStrategy::Recover
                && self.planner.plan_repair_of(&mut self.state, index)
            {
                self.turns.end(&mut self.state.jobs, path, index, now);
                return self.give_up(path, index, now);
            }
            self.planner.count(&mut self.state, path, index)
        };
        if path.arrays[array].straight && matches!(work, Work::Write | Work::WriteSlot(_)) {
            // Counted when the request was taken up.
            return self.step_job_at(path, index, Phase::Read, now, now);
        }
        let copies = match work {
            Work::Recover => 1,
            _ => u64::from(self.state.volume(array).geometry().copies()),
        };
        let by_pages = match work.is_write() {
            true => copies * in_parts(&self.state.jobs[index], self.state.volume(array)),
            false => 0,
        };
        let served = path.firmware(array, commands * copies, by_pages, now);
        if !self.state.jobs[index].is_full_stripe() || served.end > now {
            // It comes back when it has what it needs.
            self.turns.end(&mut self.state.jobs, path, index, now);
        }
        path.ios[io].charge_stay(Part::ControllerWait, Part::Controller, served);
        self.step_job_at(path, index, Phase::Read, served.end, now);
    }

    /// More is lost than the parities can make good: nothing is read or written.
    fn give_up(&mut self, path: &mut IoPath, index: JobId, now: Time) {
        let job = &mut self.state.jobs[index];
        job.flags.refused = true;
        job.phase = Phase::Finish;
        let (io, work) = (job.io, job.work);
        let parent = path.ios[io].parent;
        if parent != IoRecord::NONE && matches!(work, Work::Recover) {
            self.state.refuse(path, parent, 0);
        }
        self.step_job(path, index, now);
    }

    pub(crate) fn read_phase(&mut self, path: &mut IoPath, index: JobId, now: Time) {
        let job = &self.state.jobs[index];
        let volume = self.state.volumes.of(job.array);
        if job.planned != volume.places().changes() {
            // The firmware planned with a drive that is gone since.
            return self.plan_again(path, index, now);
        }
        self.state.jobs[index].phase = Phase::Compute;
        let job = &self.state.jobs[index];
        match (job.strategy, &job.work) {
            (WriteStrategy::Plain, Work::Row(row)) if volume.geometry().parities() == 0 => {
                self.read_row(path, index, row.role, now);
            }
            (WriteStrategy::Plain, work) if !matches!(work, Work::Row(_) | Work::Check(_)) => {
                self.leave_memory(path, index, now);
            }
            _ => self.send_all(path, index, Op::Read, now),
        }
    }

    /// New data that need no parity leave the controller's memory, once for each copy.
    fn leave_memory(&mut self, path: &mut IoPath, index: JobId, now: Time) {
        let job = &self.state.jobs[index];
        let (array, id) = (&path.arrays[job.array], job.io);
        let through = !array.straight || array.mirrors;
        let Some(controller) = array.raid_controller().filter(|_| through) else {
            return self.write_phase(path, index, now);
        };
        let copies = u64::from(self.state.volume(job.array).geometry().copies());
        let bytes = job.written + self.state.jobs.bytes_of_mates(&path.ios, index);
        let chip = &mut path.controllers[controller].chip;
        let served = chip.memory.pass(now, copies * bytes);
        path.ios[id].charge(Part::Cache, served.end);
        self.step_job_at(path, index, Phase::Write, served.end, now);
    }

    /// Everything needed is in memory: the parity engine takes it in.
    pub(crate) fn compute_phase(&mut self, path: &mut IoPath, index: JobId, now: Time) {
        if self.turns.waits(&mut self.state, path, index, now) {
            return;
        }
        if self.state.jobs[index].flags.again {
            return self.plan_again(path, index, now);
        }
        if self.state.jobs[index].company == Company::Grown && self.reads_on(path, index, now) {
            return;
        }
        self.planner.follow_compute(&mut self.state, path, index);
        let job = &self.state.jobs[index];
        let (array, id) = (job.array, job.io);
        // Copies are compared by a core; what is read as it is needs no parity.
        let plain = job.strategy == WriteStrategy::Plain
            || self.state.volume(array).geometry().parities() == 0;
        let new = match job.work {
            Work::Recover | Work::Row(_) | Work::Check(_) => 0,
            _ if job.company != Company::Alone => job.new_bytes(),
            _ => path.ios[id].bytes,
        };
        let io = &mut path.ios[id];
        let taken_in = match job.strategy {
            // What it had read before the last unit of its stripe joined it is of no use.
            WriteStrategy::Full => new,
            _ => io.moved + new,
        };
        let Some(controller) = path.arrays[array].raid_controller() else {
            let made = if plain {
                0
            } else {
                job.written.saturating_sub(new)
            };
            let passed = taken_in + made;
            let done = self
                .turns
                .compute(&mut self.state, path, index, passed, now);
            return self.step_job_at(path, index, Phase::Write, done, now);
        };
        let chip = &mut path.controllers[controller].chip;
        let memory = chip.memory.pass(now, io.moved + job.written);
        if !plain {
            let parity = chip.parity.pass(now, taken_in);
            io.charge(Part::Raid, parity.end);
        }
        io.charge(Part::Cache, memory.end);
        let at = io.mark;
        self.step_job_at(path, index, Phase::Write, at, now);
    }

    /// Writes have joined a job since it planned its reads, which are back: true if it has to read
    /// more.
    fn reads_on(&mut self, path: &mut IoPath, index: JobId, now: Time) -> bool {
        let job = &mut self.state.jobs[index];
        let volume = self.state.volumes.of(job.array);
        job.plans();
        if job.planned != volume.places().changes() {
            self.plan_again(path, index, now);
            return true;
        }
        let more = self.planner.plan_on(job, volume);
        if more {
            self.turns.end(&mut self.state.jobs, path, index, now);
            self.send_all(path, index, Op::Read, now);
        }
        more
    }

    pub(crate) fn write_phase(&mut self, path: &mut IoPath, index: JobId, now: Time) {
        self.state.jobs.set_phase(index, Phase::Finish);
        self.state.jobs.begin_to_write(path, index, now);
        if !self.state.jobs.repair(index).lost.is_empty() {
            self.state.puncture_parity(path, index);
        }
        self.send_all(path, index, Op::Write, now);
    }

    fn send_all(&mut self, path: &mut IoPath, index: JobId, op: Op, now: Time) {
        let (io, array, stripe) = {
            let job = &self.state.jobs[index];
            (job.io, job.array, job.stripe)
        };
        path.ios[io].hold();
        let listed = self.state.jobs[index].transfers.are_listed()
            && self.state.volume(array).places().changes() == 0;
        let transfers = if listed {
            std::mem::take(&mut self.state.jobs[index].transfers)
        } else {
            let list = self.planner.list_of(&self.state, index, op);
            Transfers::all(list)
        };
        for &Transfer { role, start, end } in transfers.of(op) {
            self.state
                .send_to(path, op, index, (array, stripe, role), (start, end), now);
        }
        if listed {
            self.state.jobs[index].transfers = transfers;
        } else {
            self.planner.keep(transfers.into_list());
        }
        self.let_go(path, io, now);
    }

    /// A member's unit from any copy.
    fn read_row(&mut self, path: &mut IoPath, index: JobId, role: Role, now: Time) {
        let job = &self.state.jobs[index];
        let (io, array, stripe) = (job.io, job.array, job.stripe);
        let bytes = self.state.volume(array).geometry().unit();
        let Role::Data(column) = role else {
            return self.give_up(path, index, now);
        };
        let run = Run {
            stripe,
            column,
            start: 0,
            bytes,
        };
        let Some((_, drive, offset)) = self.state.volume(array).living_copy(path, array, &run, now)
        else {
            return self.give_up(path, index, now);
        };
        path.ios[io].pending += 1;
        let command =
            self.state
                .new_command(path, io, Op::Read, drive, ByteRange { offset, bytes }, now);
        path.attach(command, Target::Unit(index, role, 0), bytes);
        path.send(command, drive, now);
    }

    /// A job is done, and with it those of its run and those that have joined it; it is the last of
    /// them to come back.
    pub(crate) fn finish_job(&mut self, path: &mut IoPath, index: JobId, now: Time) {
        let mark = path.agenda.mark();
        while self.finish_next(path, index, now) {
            if path.agenda.rose(mark) {
                return path.agenda.below(mark, JobCall::Finish(index));
            }
        }
        while let Some(mate) = self.state.jobs.take_mate(index) {
            let mark = path.agenda.mark();
            self.finish_one(path, mate, now);
            if path.agenda.rose(mark) {
                return path.agenda.below(mark, JobCall::Finish(index));
            }
        }
        self.finish_one(path, index, now);
    }

    /// The next job that has joined one is done, if any is left.
    fn finish_next(&mut self, path: &mut IoPath, index: JobId, now: Time) -> bool {
        let Some(joined) = self.state.jobs.next_joined(path, index, now) else {
            return false;
        };
        if path.can_fail {
            self.state.refuse_what_is_lost(path, index, joined);
        }
        let io = self.state.jobs[joined].io;
        self.state.jobs.release(joined);
        self.child_returned(path, io, now);
        true
    }

    fn finish_one(&mut self, path: &mut IoPath, index: JobId, now: Time) {
        if path.can_fail && !self.state.jobs[index].work.is_in_slot() {
            self.state.refuse_what_is_lost(path, index, index);
            self.state.made_good(index);
            self.state.preserved.retain(|&kept| kept != index);
        }
        self.state.follow_finish(path, index);
        let mark = path.agenda.mark();
        self.unlock(path, index, now);
        if path.agenda.rose(mark) {
            return path.agenda.below(mark, JobCall::Unlocked(index));
        }
        self.unlocked(path, index, now);
    }

    /// A finished job has given its lock away: the next job in the queue learns of it.
    pub(crate) fn unlocked(&mut self, path: &mut IoPath, index: JobId, now: Time) {
        let job = &self.state.jobs[index];
        let io: IoId = job.io;
        if let Some(beside) = job.work.beside() {
            let array = job.array;
            self.state.jobs.beside_mut().note(array, beside, now);
        }
        self.heads.give(&mut self.state, path, index, now);
        self.state.jobs.release(index);
        self.child_returned(path, io, now);
    }
}

/// Bytes of a job's data that are less than a stripe unit each: these leave the cache by pages, a
/// whole unit as one piece.
fn in_parts(job: &Job, volume: &Volume) -> u64 {
    let sizes = job
        .extents()
        .iter()
        .map(|extent| u64::from(extent.end - extent.start));
    sizes
        .filter(|&bytes| bytes < volume.geometry().unit())
        .sum()
}
