//! What jobs read and write: listed when they are planned.

use crate::ids::{ColumnId, CopyId, JobId, ParityId};
use crate::layout::{
    Extent, Repair, Role, Stripe, Transfer, Unit, Want, WriteStrategy, parity_ranges, without,
};
use crate::path::IoPath;
use crate::raid::jobs::prefetch::prefetch_transfers;
use crate::raid::jobs::state::StripeState;
use crate::raid::jobs::table::{Job, Transfers};
use crate::raid::jobs::work::{Row, Work};
use crate::raid::volume::Volume;
use raidlab_io::Op;

/// Lists that planning fills, used again and again.
#[derive(Debug)]
pub(super) struct Planner {
    ranges: Vec<(u32, u32)>,
    transfers: Vec<Transfer>,
}

impl Default for Planner {
    fn default() -> Planner {
        Planner {
            ranges: Vec::with_capacity(64),
            transfers: Vec::with_capacity(256),
        }
    }
}

impl Planner {
    /// A job's transfers of a phase, in the planner's memory: `keep` gives it back.
    pub(super) fn list(
        &mut self,
        job: &Job,
        repair: &Repair,
        volume: &Volume,
        op: Op,
    ) -> Vec<Transfer> {
        let mut transfers = std::mem::take(&mut self.transfers);
        let ranges = &mut self.ranges;
        let writes = op == Op::Write;
        match (&job.work, writes) {
            (work, true) if work.is_write() && volume.geometry().parities() == 0 => {
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
                parity_ranges(&job.extents, ranges);
                let stripe = stripe_of(job, volume);
                if !writes {
                    stripe.reads(job.strategy, ranges, &mut transfers);
                } else if repair.lost.is_empty() {
                    stripe.writes(ranges, &mut transfers);
                } else {
                    stripe.writes(&without(ranges, &repair.lost), &mut transfers);
                }
            }
            (&Work::Row(Row { role, .. }), false) => {
                transfers.clear();
                let (start, end) = (0, volume.geometry().unit() as u32);
                transfers.push(Transfer { role, start, end });
            }
            (Work::Check(check), writes) => {
                transfers.clear();
                let whole = [(0, volume.geometry().unit() as u32)];
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
        transfers
    }

    /// As `list`, of a job by its index.
    pub(super) fn list_of(&mut self, state: &StripeState, index: JobId, op: Op) -> Vec<Transfer> {
        let job = &state.jobs[index];
        let (repair, volume) = (state.jobs.repair(index), state.volumes.of(job.array));
        self.list(job, repair, volume, op)
    }

    /// The number of transfers of a job that has its strategy.
    pub(super) fn count(&mut self, state: &mut StripeState, path: &IoPath, index: JobId) -> u64 {
        let reads = self.list_of(state, index, Op::Read);
        let mut commands = reads.len();
        let job = &state.jobs[index];
        prefetch_transfers(path, state.volumes.of(job.array), job.stripe, &reads);
        self.keep(reads);
        let writes = self.list_of(state, index, Op::Write);
        commands += writes.len();
        state.jobs[index].written = bytes_of(&writes);
        self.keep(writes);
        commands as u64
    }

    /// Plans the repair of a job with the strategy `Recover`; true if it is for nothing.
    pub(super) fn plan_repair_of(&mut self, state: &mut StripeState, index: JobId) -> bool {
        let mut repair = state.jobs.take_repair(index);
        let job = &state.jobs[index];
        let volume = state.volumes.of(job.array);
        let for_nothing = self.plan_repair(job, &mut repair, volume);
        state.jobs.set_repair(index, repair);
        for_nothing
    }

    /// The tokens of the data follow what the parity engine does.
    pub(super) fn follow_compute(
        &mut self,
        state: &mut StripeState,
        path: &mut IoPath,
        index: JobId,
    ) {
        let Some(integrity) = &mut path.integrity else {
            return;
        };
        let job = &mut state.jobs[index];
        let volume = state.volumes.of(job.array);
        let geometry = volume.geometry();
        if job.strategy == WriteStrategy::Plain {
            return;
        }
        if geometry.parities() == 0 {
            integrity.jobs.make_copies(index, geometry.copies());
        } else {
            let ranges = self.computed(job, volume);
            integrity
                .jobs
                .compute(index, geometry.columns(), job.strategy, ranges);
        }
        if compares(job, volume) {
            let differs = integrity.jobs.differs(index, geometry.parities());
            if let Work::Check(check) = &mut job.work {
                check.differs = differs;
            }
        }
    }

    /// The memory of a list that is needed no more.
    pub(super) fn keep(&mut self, list: Vec<Transfer>) {
        self.transfers = list;
    }

    /// Plans a write to a stripe of an array whose units can all be read: what it will read and
    /// write depends on nothing else, so it is listed once. Gives the number of transfers.
    pub(super) fn plan_once(&mut self, job: &mut Job, volume: &Volume) -> u64 {
        let list = std::mem::take(&mut job.transfers).into_list();
        let (strategy, transfers) = list_write(job, volume, &mut self.ranges, list);
        let (reads, writes) = (transfers.of(Op::Read), transfers.of(Op::Write));
        let commands = (reads.len() + writes.len()) as u64;
        job.written = bytes_of(writes);
        job.strategy = strategy;
        job.transfers = transfers;
        commands
    }

    /// Plans anew a write whose reads have come back, since others have joined it meanwhile: what it
    /// has read it knows. True if there is more to read.
    pub(super) fn plan_on(&mut self, job: &mut Job, volume: &Volume) -> bool {
        let mut list = std::mem::take(&mut job.transfers).into_read();
        let known = list.len();
        parity_ranges(&job.extents, &mut self.ranges);
        {
            let stripe = whole_stripe(&job.extents, &list, volume);
            job.strategy = stripe.strategy(&self.ranges);
            stripe.reads(job.strategy, &self.ranges, &mut self.transfers);
        }
        list.extend_from_slice(&self.transfers);
        let reads = list.len();
        whole_stripe(&job.extents, &[], volume).append_writes(&self.ranges, &mut list);
        job.written = bytes_of(&list[reads..]);
        job.transfers = Transfers::behind(list, known, reads);
        reads > known
    }

    /// The strategy that a job takes.
    pub(super) fn strategy(&mut self, job: &Job, volume: &Volume) -> WriteStrategy {
        match job.work {
            Work::Recover => WriteStrategy::Recover,
            Work::Check(_) if volume.is_unsound(job.stripe, &job.extents) => WriteStrategy::Recover,
            Work::Check(_) if compares(job, volume) => WriteStrategy::Reconstruct,
            Work::Check(_) => WriteStrategy::Plain,
            Work::Row(row) => row_strategy(job, volume, row.role),
            _ => {
                parity_ranges(&job.extents, &mut self.ranges);
                stripe_of(job, volume).strategy(&self.ranges)
            }
        }
    }

    /// Finds out what a job with the strategy `Recover` reads and writes back. True if it is for nothing:
    /// what it wants is lost.
    pub(super) fn plan_repair(&mut self, job: &Job, repair: &mut Repair, volume: &Volume) -> bool {
        let whole = [(0, volume.geometry().unit() as u32)];
        parity_ranges(&job.extents, &mut self.ranges);
        let (want, ranges) = match job.work {
            Work::Recover => (Want::Extents, &self.ranges[..]),
            Work::Row(row) => (Want::Unit(row.role), &whole[..]),
            Work::Check(_) => (Want::All, &whole[..]),
            _ => (Want::Others, &self.ranges[..]),
        };
        stripe_of(job, volume).repair(want, ranges, repair);
        match job.work {
            Work::Recover => !repair.lost.is_empty(),
            Work::Row(_) | Work::Check(_) => repair.reads.is_empty(),
            _ => false,
        }
    }

    /// The ranges of a stripe's units (start, end) that a job computes.
    pub(super) fn computed(&mut self, job: &Job, volume: &Volume) -> &[(u32, u32)] {
        if matches!(job.work, Work::Row(_) | Work::Check(_)) {
            self.ranges.clear();
            self.ranges.push((0, volume.geometry().unit() as u32));
        } else {
            parity_ranges(&job.extents, &mut self.ranges);
        }
        &self.ranges
    }
}

/// Whether nobody wants what a job in the background brings: its task is gone or suspended.
pub(super) fn is_unwanted(job: &Job, volume: &Volume) -> bool {
    let task = volume.task();
    task.is_none() || job.work.task() != task
}

/// Whether a job compares what it reads, and does not only look whether it can be read.
pub(super) fn compares(job: &Job, volume: &Volume) -> bool {
    let check = matches!(job.work, Work::Check(check) if check.compares);
    check && !is_unwanted(job, volume)
}

/// Whether all units of a group that is checked stand.
pub(super) fn is_whole(job: &Job, volume: &Volume) -> bool {
    let mut roles = checked_data(job, volume).chain(checked_against(job, volume));
    roles.all(|role| volume.unit_of(job.stripe, role).is_some())
}

/// A unit is read as it is if it can be, or another copy of it; else it is computed.
fn row_strategy(job: &Job, volume: &Volume, role: Role) -> WriteStrategy {
    let end = volume.geometry().unit() as u32;
    let gives = |place| {
        volume
            .places()
            .unit(place)
            .is_some_and(|unit| unit.is_readable(0, end))
    };
    let given = match role {
        Role::Data(column) => {
            let mut copies = CopyId::first(volume.geometry().copies());
            copies.any(|copy| gives(volume.geometry().data(job.stripe, column, copy)))
        }
        role => gives(volume.place(job.stripe, role)),
    };
    if given {
        WriteStrategy::Plain
    } else {
        WriteStrategy::Recover
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
    if volume.geometry().parities() > 0 {
        parity_ranges(&job.extents, ranges);
    }
    let stripe = whole_stripe(&job.extents, &[], volume);
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

pub(super) fn bytes_of(transfers: &[Transfer]) -> u64 {
    transfers.iter().map(|t| u64::from(t.end - t.start)).sum()
}

/// A stripe whose units can all be read, as the planner sees it.
#[inline]
fn whole_stripe<'a>(
    extents: &'a [Extent],
    known: &'a [Transfer],
    volume: &Volume,
) -> Stripe<'a, impl Fn(Role) -> Option<Unit<'a>> + use<'a>> {
    Stripe {
        columns: volume.geometry().columns(),
        parities: volume.geometry().parities(),
        copies: volume.geometry().copies(),
        extents,
        known,
        rest_first: volume.host().in_pages(),
        unit: |_| Some(Unit::WHOLE),
    }
}

/// A job's stripe as the planner sees it.
#[inline]
fn stripe_of<'a>(
    job: &'a Job,
    volume: &'a Volume,
) -> Stripe<'a, impl Fn(Role) -> Option<Unit<'a>>> {
    Stripe {
        columns: volume.geometry().columns(),
        parities: volume.geometry().parities(),
        copies: volume.geometry().copies(),
        extents: &job.extents,
        known: &[],
        rest_first: volume.host().in_pages(),
        unit: |role| volume.unit_of(job.stripe, role),
    }
}

/// What a check believes: the data of a stripe or, without parity, the first copy of a unit.
fn checked_data<'a>(job: &'a Job, volume: &'a Volume) -> impl Iterator<Item = Role> + 'a {
    let (first, columns) = match job.extents.first() {
        None => (ColumnId::new(0), volume.geometry().columns()),
        Some(extent) => (extent.column, 1),
    };
    first.row(columns).map(Role::Data)
}

/// What it compares with them: parities, or the other copies.
fn checked_against<'a>(job: &'a Job, volume: &'a Volume) -> impl Iterator<Item = Role> + 'a {
    let parities = ParityId::first(volume.geometry().parities()).map(Role::Parity);
    let copies = job.extents.iter().flat_map(|extent| {
        let others = CopyId::first(volume.geometry().copies()).skip(1);
        others.map(move |copy| Role::Copy(extent.column, copy))
    });
    parities.chain(copies)
}
