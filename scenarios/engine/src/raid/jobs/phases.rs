//! The phases of a job: plan, read, compute, write, finish.

use crate::integrity::commands::Target;
use crate::layout::{
    Extent, Role, Run, Stripe, Transfer, Unit, Want, WriteStrategy, parity_ranges, without,
};
use crate::path::Path;
use crate::path::agenda::Call;
use crate::raid::Stripes;
use crate::raid::jobs::{Destage, Job, NO_JOB, Phase, Row, Transfers, Work};
use crate::raid::volume::Volume;
use raidlab_kernel::{Io as IoRecord, IoId, Op, Part, Time};

impl Stripes {
    /// Whether nobody wants what a job in the background brings: its task is gone or suspended.
    fn is_unwanted(&self, index: u32) -> bool {
        let job = &self.jobs[index];
        let task = self.volume(job.array).task;
        task.is_none() || job.work.task() != task
    }

    /// Whether a job compares what it reads, and does not only look whether it can be read.
    fn compares(&self, index: u32) -> bool {
        let check = matches!(self.jobs[index].work, Work::Check(check) if check.compares);
        check && !self.is_unwanted(index)
    }

    /// Lists a job's transfers for a phase into the scratch list.
    fn list(&mut self, index: u32, writes: bool) -> Vec<Transfer> {
        let mut ranges = std::mem::take(&mut self.ranges);
        let mut transfers = std::mem::take(&mut self.transfers);
        let job = &self.jobs[index];
        let volume = self.volume(job.array);
        let repair = self.jobs.repair(index);
        match (&job.work, writes) {
            (work, true) if work.is_write() && volume.geometry.parities() == 0 => {
                transfers.clear();
                transfers.extend(job.extents.iter().map(|e| Transfer {
                    role: Role::Data(e.column),
                    start: e.start,
                    end: e.end,
                }));
            }
            (_, false) if job.strategy == WriteStrategy::Recover => {
                transfers.clone_from(&repair.reads)
            }
            (work, _) if work.is_write() => {
                parity_ranges(&job.extents, &mut ranges);
                let stripe = stripe_of(job, volume);
                if !writes {
                    stripe.reads(job.strategy, &ranges, &mut transfers);
                } else if repair.lost.is_empty() {
                    stripe.writes(&ranges, &mut transfers);
                } else {
                    stripe.writes(&without(&ranges, &repair.lost), &mut transfers);
                }
            }
            (&Work::Row(Row { role, .. }), false) => {
                transfers.clear();
                let (start, end) = (0, volume.geometry.unit() as u32);
                transfers.push(Transfer { role, start, end });
            }
            (Work::Check(check), writes) => {
                transfers.clear();
                let whole = [(0, volume.geometry.unit() as u32)];
                let parts = without(&whole, &repair.lost);
                let mut put = |role| {
                    let part = |&(start, end): &(u32, u32)| Transfer { role, start, end };
                    transfers.extend(parts.iter().map(part));
                };
                let stands = |role: &Role| volume.unit_of(job.stripe, *role).is_some();
                if !writes {
                    checked_data(job, volume).filter(stands).for_each(&mut put);
                }
                if !writes || check.differs {
                    checked_against(job, volume)
                        .filter(stands)
                        .for_each(&mut put);
                }
            }
            _ => transfers.clear(),
        }
        if writes && !repair.repairs.is_empty() {
            let differs = job.work.differs();
            let anew = |role| differs && checked_against(job, volume).any(|other| other == role);
            let repairs = repair.repairs.iter().filter(|t| !anew(t.role));
            transfers.extend(repairs);
        }
        self.ranges = ranges;
        transfers
    }

    /// The job has its stripe for itself: choose the write strategy; firmware for all its commands.
    pub(crate) fn plan_job(&mut self, path: &mut Path, index: u32, now: Time) {
        let Job {
            array, io, work, ..
        } = self.jobs[index];
        self.jobs[index].planned = self.volume(array).changes;
        let for_nothing = match work {
            // A stripe with units missing cannot be compared with its parity.
            Work::Check(_) if self.compares(index) => !self.is_whole(index),
            Work::Check(_) | Work::Row(_) => self.is_unwanted(index),
            _ => false,
        };
        if for_nothing {
            return self.give_up(path, index, now);
        }
        let commands = if work.is_write() && self.volume(array).changes == 0 {
            self.plan_once(path, index)
        } else {
            let strategy = self.strategy(index);
            let job = &mut self.jobs[index];
            (job.strategy, job.flags.listed) = (strategy, false);
            if strategy == WriteStrategy::Recover && self.plan_repair(index) {
                return self.give_up(path, index, now);
            }
            self.count_transfers(path, index)
        };
        if path.arrays[array as usize].straight && matches!(work, Work::Write | Work::WriteSlot(_))
        {
            // Counted when the request was taken up.
            return self.step_job_at(path, index, Phase::Read, now, now);
        }
        let copies = match work {
            Work::Recover => 1,
            _ => u64::from(self.volume(array).geometry.copies()),
        };
        let served = path.firmware(array, commands * copies, now);
        path.ios[io].charge_stay(Part::ControllerWait, Part::Controller, served);
        self.step_job_at(path, index, Phase::Read, served.end, now);
    }

    /// Plans a write to a stripe of an array whose units can all be read: what it will read and
    /// write depends on nothing else, so it is listed once. Gives the number of transfers.
    fn plan_once(&mut self, path: &Path, index: u32) -> u64 {
        let mut ranges = std::mem::take(&mut self.ranges);
        let list = std::mem::take(&mut self.jobs[index].transfers).into_list();
        let job = &self.jobs[index];
        let (strategy, transfers) = list_write(job, self.volume(job.array), &mut ranges, list);
        self.prefetch_transfers(path, index, transfers.of(Op::Read));
        let written = bytes_of(transfers.of(Op::Write));
        let commands = transfers.of(Op::Read).len() + transfers.of(Op::Write).len();
        let job = &mut self.jobs[index];
        (job.strategy, job.flags.listed) = (strategy, true);
        (job.transfers, job.written) = (transfers, written);
        self.ranges = ranges;
        commands as u64
    }

    /// The number of transfers of a job that has its strategy.
    fn count_transfers(&mut self, path: &Path, index: u32) -> u64 {
        let reads = self.list(index, false);
        let mut commands = reads.len();
        self.prefetch_transfers(path, index, &reads);
        self.transfers = reads;
        let writes = self.list(index, true);
        commands += writes.len();
        self.jobs[index].written = bytes_of(&writes);
        self.transfers = writes;
        commands as u64
    }

    /// The strategy that a job takes.
    pub(crate) fn strategy(&mut self, index: u32) -> WriteStrategy {
        let mut ranges = std::mem::take(&mut self.ranges);
        let job = &self.jobs[index];
        let volume = self.volume(job.array);
        let strategy = match job.work {
            Work::Recover => WriteStrategy::Recover,
            Work::Check(_) if volume.is_unsound(job.stripe, &job.extents) => WriteStrategy::Recover,
            Work::Check(_) if self.compares(index) => WriteStrategy::Reconstruct,
            Work::Check(_) => WriteStrategy::Plain,
            Work::Row(row) => self.row_strategy(index, row.role),
            _ => {
                parity_ranges(&job.extents, &mut ranges);
                stripe_of(job, volume).strategy(&ranges)
            }
        };
        self.ranges = ranges;
        strategy
    }

    /// Finds out what a job with the strategy `Recover` reads and writes back. True if it is for nothing:
    /// what it wants is lost.
    fn plan_repair(&mut self, index: u32) -> bool {
        let mut ranges = std::mem::take(&mut self.ranges);
        let mut repair = self.jobs.take_repair(index);
        let job = &self.jobs[index];
        let volume = self.volume(job.array);
        let whole = [(0, volume.geometry.unit() as u32)];
        parity_ranges(&job.extents, &mut ranges);
        let (want, ranges_of) = match job.work {
            Work::Recover => (Want::Extents, &ranges[..]),
            Work::Row(row) => (Want::Unit(row.role), &whole[..]),
            Work::Check(_) => (Want::All, &whole[..]),
            _ => (Want::Others, &ranges[..]),
        };
        stripe_of(job, volume).repair(want, ranges_of, &mut repair);
        let for_nothing = match job.work {
            Work::Recover => !repair.lost.is_empty(),
            Work::Row(_) | Work::Check(_) => repair.reads.is_empty(),
            _ => false,
        };
        self.jobs.set_repair(index, repair);
        self.ranges = ranges;
        for_nothing
    }

    /// Asks for the memory that the drives will need when these transfers come to them.
    fn prefetch_transfers(&self, path: &Path, index: u32, transfers: &[Transfer]) {
        let job = &self.jobs[index];
        let volume = self.volume(job.array);
        if volume.caching.is_none() {
            return;
        }
        for &Transfer { role, start, end } in transfers {
            self.prefetch_transfer(path, volume, job.stripe, role, (start, end));
        }
    }

    /// Asks for the memory that a drive will need of its map for a part of a unit.
    #[inline]
    pub(crate) fn prefetch_transfer(
        &self,
        path: &Path,
        volume: &Volume,
        stripe: u64,
        role: Role,
        (start, end): (u32, u32),
    ) {
        let place = volume.place(stripe, role);
        let drive = volume.members[place.member as usize].drive;
        let device = &path.drives[drive as usize].device;
        device.prefetch_tables(place.offset + u64::from(start), u64::from(end - start));
    }

    /// More is lost than the parities can make good: nothing is read or written.
    fn give_up(&mut self, path: &mut Path, index: u32, now: Time) {
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

    fn is_whole(&self, index: u32) -> bool {
        let job = &self.jobs[index];
        let volume = self.volume(job.array);
        let mut roles = checked_data(job, volume).chain(checked_against(job, volume));
        roles.all(|role| volume.unit_of(job.stripe, role).is_some())
    }

    /// New data that cannot be read back have nowhere to go: their write is refused.
    fn refuse_what_is_lost(&mut self, path: &mut Path, index: u32) {
        let job = &self.jobs[index];
        let volume = self.volume(job.array);
        let lost = &self.jobs.repair(index).lost;
        let readable = |e: &Extent| volume.keeps(job.stripe, *e, lost);
        let parent = path.ios[job.io].parent;
        let waits = matches!(job.work, Work::Write) && parent != IoRecord::NONE;
        if waits && !job.extents.iter().all(readable) {
            self.refuse(path, parent, 0);
        }
    }

    /// A unit is read as it is if it can be, or another copy of it; else it is computed.
    fn row_strategy(&self, index: u32, role: Role) -> WriteStrategy {
        let job = &self.jobs[index];
        let volume = self.volume(job.array);
        let end = volume.geometry.unit() as u32;
        let gives = |place| {
            volume
                .unit(place)
                .is_some_and(|unit| unit.is_readable(0, end))
        };
        let given = match role {
            Role::Data(column) => {
                let mut copies = 0..volume.geometry.copies();
                copies.any(|copy| gives(volume.geometry.data(job.stripe, column, copy)))
            }
            role => gives(volume.place(job.stripe, role)),
        };
        if given {
            WriteStrategy::Plain
        } else {
            WriteStrategy::Recover
        }
    }

    pub(crate) fn read_phase(&mut self, path: &mut Path, index: u32, now: Time) {
        let job = &self.jobs[index];
        if job.planned != self.volume(job.array).changes {
            // The firmware planned with a drive that is gone since.
            return self.plan_again(path, index, now);
        }
        self.jobs[index].phase = Phase::Compute;
        let job = &self.jobs[index];
        match (job.strategy, &job.work) {
            (WriteStrategy::Plain, Work::Row(row)) if self.volume_is_plain(index) => {
                self.read_row(path, index, row.role, now);
            }
            (WriteStrategy::Plain, work) if !matches!(work, Work::Row(_) | Work::Check(_)) => {
                self.write_phase(path, index, now);
            }
            _ => self.send_all(path, index, Op::Read, now),
        }
    }

    /// Everything needed is in memory: the parity engine takes it in.
    pub(crate) fn compute_phase(&mut self, path: &mut Path, index: u32, now: Time) {
        if self.jobs[index].flags.again {
            return self.plan_again(path, index, now);
        }
        self.follow_compute(path, index);
        let job = &self.jobs[index];
        let (array, id) = (job.array, job.io);
        // Copies are compared by a core; what is read as it is needs no parity.
        let plain =
            job.strategy == WriteStrategy::Plain || self.volume(array).geometry.parities() == 0;
        let new = match job.work {
            Work::Recover | Work::Row(_) | Work::Check(_) => 0,
            _ => path.ios[id].bytes,
        };
        let io = &mut path.ios[id];
        let taken_in = io.moved + new;
        let Some(controller) = path.arrays[array as usize].raid_controller() else {
            return self.compute_in_host(path, index, taken_in, now);
        };
        let chip = &mut path.controllers[controller as usize].chip;
        let memory = chip.memory.pass(now, io.moved + job.written);
        if !plain {
            let parity = chip.parity.pass(now, taken_in);
            io.charge(Part::Raid, parity.end);
        }
        io.charge(Part::Cache, memory.end);
        let at = io.mark;
        self.step_job_at(path, index, Phase::Write, at, now);
    }

    /// A thread of the host makes the parity of an array in the host.
    fn compute_in_host(&mut self, path: &mut Path, index: u32, taken_in: u64, now: Time) {
        let job = &self.jobs[index];
        let (array, io) = (job.array, job.io);
        let served = self.volume_mut(array).parity.pass(now, taken_in);
        path.ios[io].charge(Part::Raid, served.end);
        self.step_job_at(path, index, Phase::Write, served.end, now);
    }

    pub(crate) fn write_phase(&mut self, path: &mut Path, index: u32, now: Time) {
        self.set_phase(index, Phase::Finish);
        if !self.jobs.repair(index).lost.is_empty() {
            self.puncture_parity(path, index);
        }
        self.send_all(path, index, Op::Write, now);
    }

    fn send_all(&mut self, path: &mut Path, index: u32, op: Op, now: Time) {
        let (io, array, stripe) = {
            let job = &self.jobs[index];
            (job.io, job.array, job.stripe)
        };
        path.hold(io);
        let listed = self.jobs[index].flags.listed && self.volume(array).changes == 0;
        let transfers = if listed {
            std::mem::take(&mut self.jobs[index].transfers)
        } else {
            let list = self.list(index, op == Op::Write);
            Transfers::all(list)
        };
        for &Transfer { role, start, end } in transfers.of(op) {
            self.send_to(path, op, index, (array, stripe, role), (start, end), now);
        }
        if listed {
            self.jobs[index].transfers = transfers;
        } else {
            self.transfers = transfers.into_list();
        }
        self.let_go(path, io, now);
    }

    fn volume_is_plain(&self, index: u32) -> bool {
        self.volume(self.jobs[index].array).geometry.parities() == 0
    }

    /// A member's unit from any copy.
    fn read_row(&mut self, path: &mut Path, index: u32, role: Role, now: Time) {
        let job = &self.jobs[index];
        let (io, array, stripe) = (job.io, job.array, job.stripe);
        let bytes = self.volume(array).geometry.unit();
        let Role::Data(column) = role else {
            return self.give_up(path, index, now);
        };
        let run = Run {
            stripe,
            column,
            start: 0,
            bytes,
        };
        let Some((_, drive, offset)) = self.living_copy(path, array, &run, now) else {
            return self.give_up(path, index, now);
        };
        path.ios[io].pending += 1;
        let command = self.new_raid_command(path, io, Op::Read, drive, (offset, bytes), now);
        path.attach(command, Target::Unit(index, role, 0), bytes);
        path.send(command, drive, now);
    }

    /// The tokens of the data follow what the parity engine does.
    fn follow_compute(&mut self, path: &mut Path, index: u32) {
        if path.integrity.is_none() {
            return;
        }
        let job = &self.jobs[index];
        let geometry = &self.volume(job.array).geometry;
        let (columns, copies) = (geometry.columns(), geometry.copies());
        let (parities, unit) = (geometry.parities(), geometry.unit() as u32);
        let whole = matches!(job.work, Work::Row(_) | Work::Check(_));
        let compares = matches!(job.work, Work::Check(_)) && self.compares(index);
        let mut ranges = std::mem::take(&mut self.ranges);
        parity_ranges(&job.extents, &mut ranges);
        if whole {
            ranges.clear();
            ranges.push((0, unit));
        }
        if let Some(integrity) = path
            .integrity
            .as_mut()
            .filter(|_| job.strategy != WriteStrategy::Plain)
        {
            if parities == 0 {
                integrity.make_copies(index, copies);
            } else {
                integrity.compute(index, columns, job.strategy, &ranges);
            }
            if compares {
                let differs = integrity.differs(index, parities);
                if let Work::Check(check) = &mut self.jobs[index].work {
                    check.differs = differs;
                }
            }
        }
        self.ranges = ranges;
    }

    /// A job is done, and with it those of its run; it is the last of them to come back.
    pub(crate) fn finish_job(&mut self, path: &mut Path, index: u32, now: Time) {
        while self.jobs[index].run.mate != NO_JOB {
            let mate = self.take_mate(index);
            let mark = path.agenda.mark();
            self.finish_one(path, mate, now);
            if path.agenda.rose(mark) {
                return path.agenda.below(mark, Call::FinishJob(index));
            }
        }
        self.finish_one(path, index, now);
    }

    fn finish_one(&mut self, path: &mut Path, index: u32, now: Time) {
        let Job { array, work, .. } = self.jobs[index];
        if let Work::WriteSlot(at) = work {
            if self.slot_written(path, index, at, now) {
                return;
            }
        } else if let Work::Destage(Destage {
            slot: Some(slot), ..
        }) = work
        {
            self.slot_destaged(array, slot);
        } else if path.can_fail {
            self.refuse_what_is_lost(path, index);
            self.made_good(index);
            self.preserved.retain(|&kept| kept != index);
        }
        self.follow_finish(path, index);
        let mark = path.agenda.mark();
        self.unlock(path, index, now);
        if path.agenda.rose(mark) {
            return path.agenda.below(mark, Call::Unlocked(index));
        }
        self.unlocked(path, index, now);
    }

    /// A finished job has given its lock away: whoever waits for it hears of it.
    pub(crate) fn unlocked(&mut self, path: &mut Path, index: u32, now: Time) {
        let io: IoId = self.jobs[index].io;
        self.jobs.release(index);
        self.child_returned(path, io, now);
    }

    /// What a job has recovered goes to whoever waits for it; its tokens are dropped.
    fn follow_finish(&mut self, path: &mut Path, index: u32) {
        let job = &self.jobs[index];
        let parent = path.ios[job.io].parent;
        let recovered = matches!(job.work, Work::Recover) && !job.flags.refused;
        let found = recovered && parent != IoRecord::NONE;
        let (array, stripe, extent) = (job.array, job.stripe, job.extents.first().copied());
        if let Some(extent) = extent.filter(|_| found && path.integrity.is_some()) {
            let unit = self.volume(array).geometry.offset(stripe, extent.column);
            let (_, offset) = self.origin(array, unit + u64::from(extent.start));
            if let Some(integrity) = &mut path.integrity {
                integrity.deliver_recovered(index, parent, extent, offset);
            }
        }
        if let Some(integrity) = &mut path.integrity {
            integrity.end_job(index);
        }
    }
}

/// The strategy of a write to a stripe whose units can all be read, and its transfers in the memory
/// of a list.
fn list_write(
    job: &Job,
    volume: &Volume,
    ranges: &mut Vec<(u32, u32)>,
    mut list: Vec<Transfer>,
) -> (WriteStrategy, Transfers) {
    ranges.clear();
    if volume.geometry.parities() > 0 {
        parity_ranges(&job.extents, ranges);
    }
    let stripe = Stripe {
        columns: volume.geometry.columns(),
        parities: volume.geometry.parities(),
        copies: volume.geometry.copies(),
        extents: &job.extents,
        unit: |_| Some(Unit::WHOLE),
    };
    let strategy = stripe.strategy(ranges);
    stripe.reads(strategy, ranges, &mut list);
    let reads = list.len();
    let mut writes = 0;
    if strategy != WriteStrategy::Modify {
        stripe.append_writes(ranges, &mut list);
        writes = reads;
    }
    (strategy, Transfers::new(list, reads, writes))
}

fn bytes_of(transfers: &[Transfer]) -> u64 {
    transfers.iter().map(|t| u64::from(t.end - t.start)).sum()
}

/// A job's stripe as the planner sees it.
#[inline]
fn stripe_of<'a>(
    job: &'a Job,
    volume: &'a Volume,
) -> Stripe<'a, impl Fn(Role) -> Option<Unit<'a>>> {
    Stripe {
        columns: volume.geometry.columns(),
        parities: volume.geometry.parities(),
        copies: volume.geometry.copies(),
        extents: &job.extents,
        unit: |role| volume.unit_of(job.stripe, role),
    }
}

/// What a check believes: the data of a stripe or, without parity, the first copy of a unit.
fn checked_data<'a>(job: &'a Job, volume: &'a Volume) -> impl Iterator<Item = Role> + 'a {
    let all = 0..volume.geometry.columns();
    let columns = job.extents.first().map_or(all, |e| e.column..e.column + 1);
    columns.map(Role::Data)
}

/// What it compares with them: parities, or the other copies.
fn checked_against<'a>(job: &'a Job, volume: &'a Volume) -> impl Iterator<Item = Role> + 'a {
    let parities = (0..volume.geometry.parities()).map(Role::Parity);
    let copies = job.extents.iter().flat_map(|extent| {
        (1..volume.geometry.copies()).map(move |copy| Role::Copy(extent.column, copy))
    });
    parities.chain(copies)
}
