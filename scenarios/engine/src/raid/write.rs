//! The phases of a job: plan, read, compute, write, finish.

use super::fate::Target;
use super::geometry::Place;
use super::job::{Job, NO_JOB, NO_SLOT, Phase, Work};
use super::run::Run;
use super::stripe::{Extent, Role, Stripe, Transfer, Way, parity_ranges};
use super::volume::Volume;
use crate::system::System;
use raidlab_kernel::{Io as IoRecord, IoId, Op, Part, Time};

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
            alive: |role| volume.has(job.stripe, role),
        };
        match (job.work, writes) {
            (Work::Write | Work::Destage, true) if volume.geometry.parities() == 0 || job.lost => {
                transfers.clear();
                transfers.extend(job.extents.iter().map(|e| Transfer {
                    role: Role::Data(e.column),
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
            (Work::Row, false) => {
                transfers.clear();
                let (member, row, role) = job.unit;
                let (start, end) = (0, volume.geometry.unit() as u32);
                let offset = row * volume.geometry.unit();
                if volume.lives(Place { member, offset }) {
                    transfers.push(Transfer { role, start, end });
                } else {
                    transfers.extend(stripe.living().map(|role| Transfer { role, start, end }));
                }
            }
            (Work::Check, writes) => {
                transfers.clear();
                let (start, end) = (0, volume.geometry.unit() as u32);
                let mut put = |role| transfers.push(Transfer { role, start, end });
                if !writes {
                    checked_data(job, volume).for_each(&mut put);
                }
                if !writes || job.differs {
                    checked_against(job, volume).for_each(&mut put);
                }
            }
            _ => transfers.clear(),
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
            alive: |role| volume.has(job.stripe, role),
        }
        .way(&ranges);
        self.raid.ranges = ranges;
        let (array, io, work) = (job.array, job.io, job.work);
        self.raid.jobs[index].planned = self.volume(array).changes;
        let lost = self.volume(array).geometry.parities() > 0 && way.is_none();
        // A stripe with units missing cannot be compared with its parity.
        let checkable = work != Work::Check || self.is_whole(index);
        if !checkable || lost && !matches!(work, Work::Write | Work::Destage) {
            return self.give_up(index, now);
        }
        self.raid.jobs[index].lost = lost;
        self.raid.jobs[index].way = match work {
            Work::Recover => Way::Recover,
            Work::Check => Way::Reconstruct,
            Work::Row => self.row_way(index),
            _ => way.unwrap_or(Way::Plain),
        };
        let (mut commands, mut written) = (0, 0);
        for writes in [false, true] {
            let transfers = self.list(index, writes);
            commands += transfers.len() as u64;
            if writes {
                written = transfers.iter().map(|t| u64::from(t.end - t.start)).sum();
            } else {
                self.foresee_transfers(index, &transfers);
            }
            self.raid.transfers = transfers;
        }
        self.raid.jobs[index].written = written;
        if self.arrays[array as usize].straight && work == Work::Write {
            // Counted when the request was taken up.
            return self.step_job_at(index, Phase::Read, now, now);
        }
        let copies = u64::from(self.volume(array).geometry.copies());
        let served = self.firmware(array, commands * copies, now);
        self.ios[io].charge_stay(Part::ControllerWait, Part::Controller, served);
        self.step_job_at(index, Phase::Read, served.end, now);
    }

    /// Asks for the memory that the drives will need when these transfers come to them.
    fn foresee_transfers(&self, index: u32, transfers: &[Transfer]) {
        let job = &self.raid.jobs[index];
        let volume = self.volume(job.array);
        if volume.caching.is_none() {
            return;
        }
        for &Transfer { role, start, end } in transfers {
            self.foresee_transfer(volume, job.stripe, role, (start, end));
        }
    }

    /// Asks for the memory that a drive will need of its map for a part of a unit.
    #[inline]
    pub(crate) fn foresee_transfer(
        &self,
        volume: &Volume,
        stripe: u64,
        role: Role,
        (start, end): (u32, u32),
    ) {
        let place = volume.place(stripe, role);
        let drive = volume.members[place.member as usize].drive;
        let device = &self.drives[drive as usize].device;
        device.foresee(place.offset + u64::from(start), u64::from(end - start));
    }

    /// More is lost than the parities can make good: nothing is read or written.
    fn give_up(&mut self, index: u32, now: Time) {
        let job = &mut self.raid.jobs[index];
        job.refused = true;
        job.phase = Phase::Finish;
        let (io, work) = (job.io, job.work);
        let parent = self.ios[io].parent;
        if parent != IoRecord::NONE && work == Work::Recover {
            self.refuse(parent, 0);
        }
        self.step_job(index, now);
    }

    fn is_whole(&self, index: u32) -> bool {
        let job = &self.raid.jobs[index];
        let volume = self.volume(job.array);
        let mut roles = checked_data(job, volume).chain(checked_against(job, volume));
        roles.all(|role| volume.has(job.stripe, role))
    }

    /// New data that cannot be read back have nowhere to go: their write is refused.
    fn refuse_what_is_lost(&mut self, index: u32) {
        let job = &self.raid.jobs[index];
        let volume = self.volume(job.array);
        let kept = |e: &Extent| volume.keeps(job.stripe, e.column);
        let parent = self.ios[job.io].parent;
        if job.work == Work::Write && parent != IoRecord::NONE && !job.extents.iter().all(kept) {
            self.refuse(parent, 0);
        }
    }

    /// A member's own unit is read as it is if it can be, else computed.
    fn row_way(&self, index: u32) -> Way {
        let job = &self.raid.jobs[index];
        let volume = self.volume(job.array);
        let (member, row, _) = job.unit;
        let offset = row * volume.geometry.unit();
        if volume.lives(Place { member, offset }) || volume.geometry.parities() == 0 {
            Way::Plain
        } else {
            Way::Recover
        }
    }

    pub(crate) fn read_phase(&mut self, index: u32, now: Time) {
        let job = &self.raid.jobs[index];
        if job.planned != self.volume(job.array).changes {
            // The firmware planned with a drive that is gone since.
            return self.plan_again(index, now);
        }
        self.raid.jobs[index].phase = Phase::Compute;
        if self.raid.jobs[index].work == Work::Row && self.volume_is_plain(index) {
            return self.read_row(index, now);
        }
        if self.raid.jobs[index].way == Way::Plain && self.raid.jobs[index].work != Work::Row {
            return self.write_phase(index, now);
        }
        self.send_all(index, Op::Read, now);
    }

    /// Everything needed is in memory: the parity engine takes it in.
    pub(crate) fn compute_phase(&mut self, index: u32, now: Time) {
        if self.raid.jobs[index].again {
            return self.plan_again(index, now);
        }
        self.follow_compute(index);
        let job = &self.raid.jobs[index];
        let (array, id) = (job.array, job.io);
        // Copies are compared by a core.
        let plain = self.volume(array).geometry.parities() == 0;
        let new = match job.work {
            Work::Recover | Work::Row | Work::Check => 0,
            _ => self.ios[id].bytes,
        };
        let io = &mut self.ios[id];
        let taken_in = io.moved + new;
        let Some(controller) = self.arrays[array as usize].raid_controller() else {
            return self.compute_in_host(index, taken_in, now);
        };
        let chip = &mut self.controllers[controller as usize].chip;
        let memory = chip.memory.pass(now, io.moved + job.written);
        if !plain {
            let parity = chip.parity.pass(now, taken_in);
            io.charge(Part::Raid, parity.end);
        }
        io.charge(Part::Cache, memory.end);
        let at = io.mark;
        self.step_job_at(index, Phase::Write, at, now);
    }

    /// A thread of the host makes the parity of an array in the host.
    fn compute_in_host(&mut self, index: u32, taken_in: u64, now: Time) {
        let job = &self.raid.jobs[index];
        let (array, io) = (job.array, job.io);
        let Some(volume) = self.raid.volumes[array as usize].as_mut() else {
            return;
        };
        let served = volume.parity.pass(now, taken_in);
        self.ios[io].charge(Part::Raid, served.end);
        self.step_job_at(index, Phase::Write, served.end, now);
    }

    pub(crate) fn write_phase(&mut self, index: u32, now: Time) {
        self.set_phase(index, Phase::Finish);
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
            self.send_to(io, op, index, (array, stripe, role), (start, end), now);
        }
        self.raid.transfers = transfers;
        self.let_go(io, now);
    }

    fn volume_is_plain(&self, index: u32) -> bool {
        self.volume(self.raid.jobs[index].array).geometry.parities() == 0
    }

    /// A member's unit from any living copy.
    fn read_row(&mut self, index: u32, now: Time) {
        let (io, array, stripe, unit) = {
            let job = &self.raid.jobs[index];
            (job.io, job.array, job.stripe, job.unit)
        };
        let bytes = self.volume(array).geometry.unit();
        let Role::Data(column) = unit.2 else {
            return self.give_up(index, now);
        };
        let run = Run {
            stripe,
            column,
            start: 0,
            bytes,
        };
        let Some((_, drive, offset)) = self.living_copy(array, &run, now) else {
            return self.give_up(index, now);
        };
        self.ios[io].pending += 1;
        let command = self.new_command(io, Op::Read, drive, offset, bytes, now);
        self.attach(command, Target::Unit(index, unit.2, 0), bytes);
        self.send(command, drive, now);
    }

    /// The tokens of the data follow what the parity engine does.
    fn follow_compute(&mut self, index: u32) {
        let job = &self.raid.jobs[index];
        let geometry = &self.volume(job.array).geometry;
        let (columns, parities, unit) = (
            geometry.columns(),
            geometry.parities(),
            geometry.unit() as u32,
        );
        let whole = matches!(job.work, Work::Row | Work::Check);
        let mut ranges = std::mem::take(&mut self.raid.ranges);
        parity_ranges(&job.extents, &mut ranges);
        if whole {
            ranges.clear();
            ranges.push((0, unit));
        }
        if let Some(fate) = self.raid.fate.as_mut().filter(|_| job.way != Way::Plain) {
            if parities == 0 {
                fate.copy_anew(index);
            } else {
                fate.compute(index, columns, job.way, &ranges);
            }
            if job.work == Work::Check {
                let differs = fate.made_differs(index, parities);
                self.raid.jobs[index].differs = differs;
            }
        }
        self.raid.ranges = ranges;
    }

    /// A job is done, and with it those of its run; it is the last of them to come back.
    pub(crate) fn finish_job(&mut self, index: u32, now: Time) {
        while self.raid.jobs[index].mate != NO_JOB {
            let mate = self.take_mate(index);
            self.finish_one(mate, now);
        }
        self.finish_one(index, now);
    }

    fn finish_one(&mut self, index: u32, now: Time) {
        let io: IoId = self.raid.jobs[index].io;
        if self.raid.jobs[index].slot != NO_SLOT {
            if self.slot_written(index, now) {
                return;
            }
        } else if self.raid.watch {
            self.refuse_what_is_lost(index);
            self.made_good(index);
            self.raid.kept.retain(|&kept| kept != index);
        }
        self.follow_finish(index);
        self.unlock(index, now);
        self.raid.jobs.release(index);
        self.child_returned(io, now);
    }

    /// What a job has recovered goes to whoever waits for it; its tokens are dropped.
    fn follow_finish(&mut self, index: u32) {
        let job = &self.raid.jobs[index];
        let parent = self.ios[job.io].parent;
        let Some(volume) = self.raid.volumes[job.array as usize].as_ref() else {
            return;
        };
        if let Some(fate) = &mut self.raid.fate {
            if job.work == Work::Recover && !job.refused {
                for &extent in &job.extents {
                    let unit = volume.geometry.offset(job.stripe, extent.column);
                    fate.recovered(index, parent, extent, unit + u64::from(extent.start));
                }
            }
            fate.end_job(index);
        }
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
