//! The phases of a job: plan, read, compute, write, finish.

use crate::ids::JobId;
use crate::integrity::commands::Target;
use crate::layout::{Extent, Role, Run, Transfer, WriteStrategy};
use crate::path::Path;
use crate::path::agenda::JobCall;
use crate::raid::jobs::plan::{bytes_of, compares, is_unwanted, is_whole};
use crate::raid::jobs::table::{Job, Phase, Transfers};
use crate::raid::jobs::{Stripes, Work, heads, joined, thread};
use crate::raid::volume::Volume;
use raidlab_io::{Io as IoRecord, IoId, Op, Part};
use raidlab_kernel::Time;

impl Stripes {
    /// The job has its stripe for itself: choose the write strategy; firmware for all its commands.
    pub(crate) fn plan_job(&mut self, path: &mut Path, index: JobId, now: Time) {
        let Job {
            array, io, work, ..
        } = self.jobs[index];
        if thread::waits(self, path, index, now) {
            return;
        }
        let volume = self.volumes.of(array);
        let job = &mut self.jobs[index];
        (job.planned, job.flags.grown) = (volume.changes(), false);
        let for_nothing = match work {
            // A stripe with units missing cannot be compared with its parity.
            Work::Check(_) if compares(job, volume) => !is_whole(job, volume),
            Work::Check(_) | Work::Row(_) => is_unwanted(job, volume),
            _ => false,
        };
        if for_nothing {
            thread::end(self, path, index, now);
            return self.give_up(path, index, now);
        }
        let commands = if work.is_write() && volume.changes() == 0 {
            let commands = self.planner.plan_once(job, volume);
            prefetch_transfers(path, volume, job.stripe, job.transfers.of(Op::Read));
            commands
        } else {
            let strategy = self.planner.strategy(job, volume);
            (job.strategy, job.flags.listed) = (strategy, false);
            if strategy == WriteStrategy::Recover && self.plan_repair(index) {
                thread::end(self, path, index, now);
                return self.give_up(path, index, now);
            }
            self.count_transfers(path, index)
        };
        if path.arrays[array].straight && matches!(work, Work::Write | Work::WriteSlot(_)) {
            // Counted when the request was taken up.
            return self.step_job_at(path, index, Phase::Read, now, now);
        }
        let copies = match work {
            Work::Recover => 1,
            _ => u64::from(self.volume(array).geometry().copies()),
        };
        let by_pages = match work.is_write() {
            true => copies * in_parts(&self.jobs[index], self.volume(array)),
            false => 0,
        };
        let served = path.firmware(array, commands * copies, by_pages, now);
        if !self.jobs[index].is_full_stripe() || served.end > now {
            // It comes back when it has what it needs.
            thread::end(self, path, index, now);
        }
        path.ios[io].charge_stay(Part::ControllerWait, Part::Controller, served);
        self.step_job_at(path, index, Phase::Read, served.end, now);
    }

    /// Plans the repair of a job with the strategy `Recover`; true if it is for nothing.
    fn plan_repair(&mut self, index: JobId) -> bool {
        let mut repair = self.jobs.take_repair(index);
        let job = &self.jobs[index];
        let volume = self.volumes.of(job.array);
        let for_nothing = self.planner.plan_repair(job, &mut repair, volume);
        self.jobs.set_repair(index, repair);
        for_nothing
    }

    /// A job's transfers of a phase, in the planner's memory.
    fn list(&mut self, index: JobId, op: Op) -> Vec<Transfer> {
        let job = &self.jobs[index];
        let (repair, volume) = (self.jobs.repair(index), self.volumes.of(job.array));
        self.planner.list(job, repair, volume, op)
    }

    /// The number of transfers of a job that has its strategy.
    fn count_transfers(&mut self, path: &Path, index: JobId) -> u64 {
        let reads = self.list(index, Op::Read);
        let mut commands = reads.len();
        let job = &self.jobs[index];
        prefetch_transfers(path, self.volumes.of(job.array), job.stripe, &reads);
        self.planner.keep(reads);
        let writes = self.list(index, Op::Write);
        commands += writes.len();
        self.jobs[index].written = bytes_of(&writes);
        self.planner.keep(writes);
        commands as u64
    }

    /// More is lost than the parities can make good: nothing is read or written.
    fn give_up(&mut self, path: &mut Path, index: JobId, now: Time) {
        let job = &mut self.jobs[index];
        job.flags.refused = true;
        job.phase = Phase::Finish;
        let (io, work) = (job.io, job.work);
        let parent = path.ios[io].parent;
        if parent != IoRecord::NONE && matches!(work, Work::Recover) {
            self.refuse(path, parent, 0);
        }
        self.step_job(path, index, now);
    }

    /// New data that cannot be read back have nowhere to go: their write is refused. A job has written
    /// its own, or those of another one that has joined it.
    pub(super) fn refuse_what_is_lost(&mut self, path: &mut Path, index: JobId, of: JobId) {
        let volume = self.volumes.of(self.jobs[index].array);
        let own = self.jobs.own(of);
        let (stripe, lost) = (self.jobs[index].stripe, &self.jobs.repair(index).lost);
        let readable = |e: &Extent| volume.keeps(stripe, *e, lost);
        let parent = path.ios[self.jobs[of].io].parent;
        let waits = matches!(self.jobs[of].work, Work::Write) && parent != IoRecord::NONE;
        if waits && !own.iter().all(readable) {
            self.refuse(path, parent, 0);
        }
    }

    pub(crate) fn read_phase(&mut self, path: &mut Path, index: JobId, now: Time) {
        let job = &self.jobs[index];
        let volume = self.volumes.of(job.array);
        if job.planned != volume.changes() {
            // The firmware planned with a drive that is gone since.
            return self.plan_again(path, index, now);
        }
        self.jobs[index].phase = Phase::Compute;
        let job = &self.jobs[index];
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
    fn leave_memory(&mut self, path: &mut Path, index: JobId, now: Time) {
        let job = &self.jobs[index];
        let (array, id) = (&path.arrays[job.array], job.io);
        let through = !array.straight || array.mirrors;
        let Some(controller) = array.raid_controller().filter(|_| through) else {
            return self.write_phase(path, index, now);
        };
        let copies = u64::from(self.volume(job.array).geometry().copies());
        let bytes = job.written + self.jobs.bytes_of_mates(&path.ios, index);
        let chip = &mut path.controllers[controller].chip;
        let served = chip.memory.pass(now, copies * bytes);
        path.ios[id].charge(Part::Cache, served.end);
        self.step_job_at(path, index, Phase::Write, served.end, now);
    }

    /// Everything needed is in memory: the parity engine takes it in.
    pub(crate) fn compute_phase(&mut self, path: &mut Path, index: JobId, now: Time) {
        if thread::waits(self, path, index, now) {
            return;
        }
        if self.jobs[index].flags.again {
            return self.plan_again(path, index, now);
        }
        if self.jobs[index].flags.grown && self.reads_on(path, index, now) {
            return;
        }
        self.follow_compute(path, index);
        let job = &self.jobs[index];
        let (array, id) = (job.array, job.io);
        // Copies are compared by a core; what is read as it is needs no parity.
        let plain =
            job.strategy == WriteStrategy::Plain || self.volume(array).geometry().parities() == 0;
        let new = match job.work {
            Work::Recover | Work::Row(_) | Work::Check(_) => 0,
            _ if job.flags.joined => job.new_bytes(),
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
            return thread::compute(self, path, index, taken_in + made, now);
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
    fn reads_on(&mut self, path: &mut Path, index: JobId, now: Time) -> bool {
        let job = &mut self.jobs[index];
        let volume = self.volumes.of(job.array);
        job.flags.grown = false;
        if job.planned != volume.changes() {
            self.plan_again(path, index, now);
            return true;
        }
        let more = self.planner.plan_on(job, volume);
        if more {
            thread::end(self, path, index, now);
            self.send_all(path, index, Op::Read, now);
        }
        more
    }

    pub(crate) fn write_phase(&mut self, path: &mut Path, index: JobId, now: Time) {
        self.jobs.set_phase(index, Phase::Finish);
        joined::begin_to_write(self, path, index, now);
        if !self.jobs.repair(index).lost.is_empty() {
            self.puncture_parity(path, index);
        }
        self.send_all(path, index, Op::Write, now);
    }

    fn send_all(&mut self, path: &mut Path, index: JobId, op: Op, now: Time) {
        let (io, array, stripe) = {
            let job = &self.jobs[index];
            (job.io, job.array, job.stripe)
        };
        path.hold(io);
        let listed = self.jobs[index].flags.listed && self.volume(array).changes() == 0;
        let transfers = if listed {
            std::mem::take(&mut self.jobs[index].transfers)
        } else {
            let list = self.list(index, op);
            Transfers::all(list)
        };
        for &Transfer { role, start, end } in transfers.of(op) {
            self.send_to(path, op, index, (array, stripe, role), (start, end), now);
        }
        if listed {
            self.jobs[index].transfers = transfers;
        } else {
            self.planner.keep(transfers.into_list());
        }
        self.let_go(path, io, now);
    }

    /// A member's unit from any copy.
    fn read_row(&mut self, path: &mut Path, index: JobId, role: Role, now: Time) {
        let job = &self.jobs[index];
        let (io, array, stripe) = (job.io, job.array, job.stripe);
        let bytes = self.volume(array).geometry().unit();
        let Role::Data(column) = role else {
            return self.give_up(path, index, now);
        };
        let run = Run {
            stripe,
            column,
            start: 0,
            bytes,
        };
        let Some((_, drive, offset)) = self.volume(array).living_copy(path, array, &run, now)
        else {
            return self.give_up(path, index, now);
        };
        path.ios[io].pending += 1;
        let command = self.new_raid_command(path, io, Op::Read, drive, (offset, bytes), now);
        path.attach(command, Target::Unit(index, role, 0), bytes);
        path.send(command, drive, now);
    }

    /// The tokens of the data follow what the parity engine does.
    fn follow_compute(&mut self, path: &mut Path, index: JobId) {
        let Some(integrity) = &mut path.integrity else {
            return;
        };
        let job = &mut self.jobs[index];
        let volume = self.volumes.of(job.array);
        let geometry = volume.geometry();
        if job.strategy == WriteStrategy::Plain {
            return;
        }
        if geometry.parities() == 0 {
            integrity.make_copies(index, geometry.copies());
        } else {
            let ranges = self.planner.computed(job, volume);
            integrity.compute(index, geometry.columns(), job.strategy, ranges);
        }
        if compares(job, volume) {
            let differs = integrity.differs(index, geometry.parities());
            if let Work::Check(check) = &mut job.work {
                check.differs = differs;
            }
        }
    }

    /// A job is done, and with it those of its run and those that have joined it; it is the last of
    /// them to come back.
    pub(crate) fn finish_job(&mut self, path: &mut Path, index: JobId, now: Time) {
        let mark = path.agenda.mark();
        while joined::finish_next(self, path, index, now) {
            if path.agenda.rose(mark) {
                return path.agenda.below(mark, JobCall::Finish(index));
            }
        }
        while let Some(mate) = self.jobs.take_mate(index) {
            let mark = path.agenda.mark();
            self.finish_one(path, mate, now);
            if path.agenda.rose(mark) {
                return path.agenda.below(mark, JobCall::Finish(index));
            }
        }
        self.finish_one(path, index, now);
    }

    fn finish_one(&mut self, path: &mut Path, index: JobId, now: Time) {
        if path.can_fail && !self.jobs[index].work.is_in_slot() {
            self.refuse_what_is_lost(path, index, index);
            self.made_good(index);
            self.preserved.retain(|&kept| kept != index);
        }
        self.follow_finish(path, index);
        let mark = path.agenda.mark();
        self.unlock(path, index, now);
        if path.agenda.rose(mark) {
            return path.agenda.below(mark, JobCall::Unlocked(index));
        }
        self.unlocked(path, index, now);
    }

    /// A finished job has given its lock away: the next job in the queue learns of it.
    pub(crate) fn unlocked(&mut self, path: &mut Path, index: JobId, now: Time) {
        let job = &self.jobs[index];
        let io: IoId = job.io;
        if let Some(beside) = job.work.beside() {
            let array = job.array;
            self.jobs.note_beside(array, beside, now);
        }
        heads::give(self, path, index, now);
        self.jobs.release(index);
        self.child_returned(path, io, now);
    }

    /// What a job has recovered goes to the requests that wait for it; its tokens are dropped.
    fn follow_finish(&mut self, path: &mut Path, index: JobId) {
        let job = &self.jobs[index];
        let parent = path.ios[job.io].parent;
        let recovered = matches!(job.work, Work::Recover) && !job.flags.refused;
        let found = recovered && parent != IoRecord::NONE;
        let (array, stripe, extent) = (job.array, job.stripe, job.extents.first().copied());
        if let Some(extent) = extent.filter(|_| found && path.integrity.is_some()) {
            let unit = self.volume(array).geometry().offset(stripe, extent.column);
            let (_, offset) = self.redirects.origin(array, unit + u64::from(extent.start));
            if let Some(integrity) = &mut path.integrity {
                integrity.deliver_recovered(index, parent, extent, offset);
            }
        }
        if let Some(integrity) = &mut path.integrity {
            integrity.end_job(index);
        }
    }
}

/// Asks for the memory that the drives will need when these transfers come to them.
fn prefetch_transfers(path: &Path, volume: &Volume, stripe: u64, transfers: &[Transfer]) {
    if !volume.is_cached() {
        return;
    }
    for &Transfer { role, start, end } in transfers {
        prefetch_transfer(path, volume, stripe, role, (start, end));
    }
}

/// Asks for the memory that a drive will need of its map for a part of a unit.
#[inline]
pub(crate) fn prefetch_transfer(
    path: &Path,
    volume: &Volume,
    stripe: u64,
    role: Role,
    (start, end): (u32, u32),
) {
    let place = volume.place(stripe, role);
    let drive = volume.drive_at(place);
    let device = &path.drives[drive].device;
    device.prefetch_tables(place.offset + u64::from(start), u64::from(end - start));
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
