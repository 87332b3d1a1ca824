//! Rows of a task in the background: units of a member, or groups of a patrol read or a check. While one is written
//! others are read, so that neither the drives that are read nor the one that is written wait for the
//! other.
//!
//! While the host wants nothing, each that has been read is followed by the next one. While it wants
//! the drives, a slice begins side by side, before which the host's commands wait, and then the task
//! pauses; a task that has all of the time is followed always. What rows bring counts in their order:
//! a row holds its lock until all before it are in their place.

use crate::ids::{ArrayId, DriveId, JobId};
use crate::integrity::commands::Target;
use crate::layout::{Extent, Place, Role};
use crate::path::Path;
use crate::path::agenda::BackgroundCall;
use crate::plan::{ArrayPlan, DeclusteredPlan, Plan};
use crate::raid::background::{Background, Stint, Task, Tasks, task_rows};
use crate::raid::jobs::{Check, Phase, Row, Stripes, Work};
use crate::raid::member::State;
use raidlab_io::{Io, Op};
use raidlab_kernel::Time;
use raidlab_models::DeviceParams;

/// Bytes of a member in progress at once while the host wants nothing. Without an arm: half a MiB
/// read side by side, as much as such controllers write to a drive at once (assumed), and 2 MiB in
/// all, as the resync window of Linux md (`RESYNC_WINDOW` in drivers/md/raid1.c). With one: what
/// passes under a head in a revolution or more, so that no drive is left without a command while
/// another one comes to the same row; platters stand at any angle to each other (assumed).
const STREAM: [u64; 2] = [512 << 10, 2 << 20];
const MOST: [u64; 2] = [2 << 20, 16 << 20];
/// Bytes of a member that begin side by side while the host wants the drives: enough that an
/// arm moves there and back for a small part of the time (assumed).
const SLICE: [u64; 2] = [512 << 10, 16 << 20];
/// Bytes of data in progress for each drive of a declustered array, whose rebuild goes from all of
/// its drives to all of them (OpenZFS: `zfs_rebuild_vdev_limit`).
const SPREAD: u64 = 64 << 20;
/// Rows of a stream at least, however large they are (assumed).
const LEAST_ROWS: u64 = 4;
/// Smaller units count as this large: a drive's queue of commands is finite (assumed).
const LEAST_UNIT: u64 = 16 << 10;

/// How many rows of a task are in progress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    /// That begin side by side, and follow each other, while the host wants nothing.
    stream: u64,
    /// That begin side by side while it wants the drives.
    slice: u64,
    /// In progress at most: read, or waiting to be written in their order.
    pub most: u64,
}

impl Rows {
    /// For a stripe unit, on drives with arms or without.
    pub fn of(unit: u64, arms: bool) -> Rows {
        let unit = unit.max(LEAST_UNIT);
        let rows = |bytes: [u64; 2]| (bytes[usize::from(arms)] / unit).max(LEAST_ROWS);
        let (stream, slice) = (rows(STREAM), rows(SLICE));
        Rows {
            stream,
            slice,
            most: rows(MOST).max(4 * stream).max(slice),
        }
    }

    /// For a declustered array: enough that all of its drives have work.
    fn spread(array: &ArrayPlan, plan: DeclusteredPlan) -> Rows {
        let unit = array.stripe_unit_bytes.max(LEAST_UNIT);
        let (drives, width) = (array.drives.len() as u64, u64::from(plan.width));
        let columns = width - u64::from(array.level.parities());
        let rows = |bytes: u64, of: u64| (bytes * drives / of / unit).max(LEAST_ROWS);
        let stream = rows(SPREAD, columns.max(1));
        Rows {
            stream,
            slice: rows(SLICE[1], width),
            most: 4 * stream,
        }
    }

    /// For an array of a plan.
    pub fn of_array(plan: &Plan, array: &ArrayPlan) -> Rows {
        if let Some(spread) = array.declustered {
            return Rows::spread(array, spread);
        }
        let has_arm = |&drive: &u32| {
            let device = plan.drives[drive as usize].device;
            matches!(plan.devices[device as usize], DeviceParams::Hdd(_))
        };
        Rows::of(array.stripe_unit_bytes, array.drives.iter().any(has_arm))
    }
}

impl Background {
    /// As many rows of an array's first task begin as do so side by side.
    pub(super) fn begin_step(
        &mut self,
        stripes: &mut Stripes,
        path: &mut Path,
        array: ArrayId,
        now: Time,
    ) {
        let Tasks { rows, share, .. } = *self.tasks(array);
        let Some(first) = self.first_mut(array) else {
            return;
        };
        let busy = path.in_work_for(array) > 0;
        let most = if busy { rows.slice } else { rows.stream };
        let left = rows_left(stripes, array, (first.task, first.next), most);
        let unasked = most.min(left);
        first.stint = Stint {
            began: now,
            rows: 0,
            unasked,
            ahead: busy || share >= 1.0,
        };
        self.begin_rows(stripes, path, array, unasked as u32, now);
    }

    /// The next rows of an array's first task begin.
    fn begin_rows(
        &mut self,
        stripes: &mut Stripes,
        path: &mut Path,
        array: ArrayId,
        rows: u32,
        now: Time,
    ) {
        self.tasks_mut(array).in_flight += rows;
        self.begin_each(stripes, path, array, rows, now);
    }

    pub(crate) fn begin_each(
        &mut self,
        stripes: &mut Stripes,
        path: &mut Path,
        array: ArrayId,
        rows: u32,
        now: Time,
    ) {
        let mark = path.agenda.mark();
        for left in (0..rows).rev() {
            self.begin_row(stripes, path, array, now);
            if left > 0 && path.agenda.rose(mark) {
                return path
                    .agenda
                    .below(mark, BackgroundCall::BeginRows(array, left));
            }
        }
    }

    fn begin_row(&mut self, stripes: &mut Stripes, path: &mut Path, array: ArrayId, now: Time) {
        let Some(first) = self.first_mut(array) else {
            return;
        };
        let (id, task, row) = (first.id, first.task, first.next);
        first.next = next_row(stripes, array, task, row + 1);
        first.stint.rows += 1;
        let ahead = first.stint.ahead;
        let job = match task {
            Task::Rebuild { member } | Task::Copyback { member, .. } => {
                unit_job(stripes, path, array, id, (member, row), now)
            }
            Task::Patrol | Task::Check => {
                let check = Check {
                    task: id,
                    group: row,
                    compares: task == Task::Check,
                    differs: false,
                };
                group_job(stripes, path, array, check, now)
            }
        };
        if ahead && matches!(task, Task::Rebuild { .. } | Task::Copyback { .. }) {
            stripes.jobs_mut()[job].go_ahead();
        }
        stripes.begin(path, job, now);
    }

    /// A row goes on: it has been read, or is done.
    pub(crate) fn step_row(
        &mut self,
        stripes: &mut Stripes,
        path: &mut Path,
        job: JobId,
        now: Time,
    ) {
        match stripes.jobs()[job].phase() {
            Phase::Finish => self.finish_row(stripes, path, job, now),
            _ => self.write_row(stripes, path, job, now),
        }
    }

    /// A row is in memory: the drives it came from are free for another one.
    fn has_been_read(&mut self, stripes: &mut Stripes, path: &mut Path, index: JobId, now: Time) {
        let job = &stripes.jobs()[index];
        let (array, task) = (job.array(), job.work().task());
        let first = self.first_mut(array);
        if let Some(first) = first.filter(|first| task == Some(first.id)) {
            first.owed += 1;
            self.follow(stripes, path, array, now);
        }
    }

    /// Rows that have been read are followed by as many others while the host wants nothing, as far
    /// as the limit of rows in progress allows.
    fn follow(&mut self, stripes: &mut Stripes, path: &mut Path, array: ArrayId, now: Time) {
        let busy = path.in_work_for(array) > 0;
        self.follow_on(stripes, path, array, busy, now);
    }

    pub(crate) fn follow_on(
        &mut self,
        stripes: &mut Stripes,
        path: &mut Path,
        array: ArrayId,
        busy: bool,
        now: Time,
    ) {
        let Tasks {
            rows, share, pace, ..
        } = *self.tasks(array);
        let unasked = !busy || share >= 1.0;
        while let Some(first) = self.first_mut(array) {
            if first.owed == 0 || first.next - first.row >= rows.most {
                return;
            }
            first.owed -= 1;
            // What follows in a stream of its own has no priority.
            first.stint.ahead &= share >= 1.0;
            let (task, next) = (first.task, first.next);
            let free = unasked && first.stint.may_follow(pace, now);
            if free && next < task_rows(stripes, array, task) {
                let mark = path.agenda.mark();
                self.begin_rows(stripes, path, array, 1, now);
                if path.agenda.rose(mark) {
                    return path
                        .agenda
                        .below(mark, BackgroundCall::Follow { array, busy });
                }
            }
        }
    }

    /// The drive that a row job fills, if its task is the one that runs.
    fn filled_by(&self, stripes: &Stripes, index: JobId) -> Option<DriveId> {
        let job = &stripes.jobs()[index];
        let first = self.first(job.array())?;
        if job.work().task() != Some(first.id) {
            return None;
        }
        match first.task {
            Task::Rebuild { member } => {
                let volume = stripes.volume(job.array());
                let offset = job.work().row()? * volume.geometry().unit();
                Some(volume.drive_at(Place { member, offset }))
            }
            Task::Copyback { to, .. } => Some(to),
            Task::Patrol | Task::Check => None,
        }
    }

    /// A row job has everything it wants in memory: it goes to the drive that wants it, and what could not
    /// be read back to where it was.
    fn write_row(&mut self, stripes: &mut Stripes, path: &mut Path, index: JobId, now: Time) {
        let mark = path.agenda.mark();
        self.has_been_read(stripes, path, index, now);
        if path.agenda.rose(mark) {
            return path.agenda.below(mark, BackgroundCall::RowRead(index));
        }
        self.row_read(stripes, path, index, now);
    }

    /// A row job is read, after the calls that follow it. A group that is in memory is written
    /// where it differs and where it could not be read.
    pub(crate) fn row_read(
        &mut self,
        stripes: &mut Stripes,
        path: &mut Path,
        index: JobId,
        now: Time,
    ) {
        let job = &stripes.jobs()[index];
        let Work::Row(Row { row, role, .. }) = job.work() else {
            return stripes.write_phase(path, index, now);
        };
        let (array, io) = (job.array(), job.io());
        let unit = stripes.volume(array).geometry().unit();
        path.hold(io);
        if let Some(drive) = self.filled_by(stripes, index) {
            path.ios[io].pending += 1;
            let range = (row * unit, unit);
            let command = stripes.new_raid_command(path, io, Op::Write, drive, range, now);
            path.attach(command, Target::Unit(index, role, 0), unit);
            match stripes.jobs()[index].goes_ahead() {
                true => path.send_ahead(command, drive, now),
                false => path.send(command, drive, now),
            }
        }
        stripes.write_phase(path, index, now);
        stripes.let_go(path, io, now);
    }

    /// A row is done. It holds its lock until all before it are in their place: only then does what
    /// it brought count, and writes know of it. One of a task that is gone or suspended does not
    /// count any more, nor do those that waited for it.
    fn finish_row(&mut self, stripes: &mut Stripes, path: &mut Path, index: JobId, now: Time) {
        let job = &stripes.jobs()[index];
        let (array, task) = (job.array(), job.work().task());
        let tasks = self.tasks_mut(array);
        tasks.done.push(index);
        tasks.in_flight -= 1;
        let offline = stripes.volume(array).is_offline();
        let first = tasks.by_urgency.first().filter(|_| !offline);
        let current = first.is_some_and(|first| task == Some(first.id));
        self.put_rows(stripes, path, array, current, now);
    }

    pub(crate) fn put_rows(
        &mut self,
        stripes: &mut Stripes,
        path: &mut Path,
        array: ArrayId,
        current: bool,
        now: Time,
    ) {
        let mark = path.agenda.mark();
        while let Some(done) = self.next_done(stripes, array, current) {
            if current {
                self.take_over(stripes, path, array, done);
            }
            stripes.finish_job(path, done, now);
            if path.agenda.rose(mark) {
                return path
                    .agenda
                    .below(mark, BackgroundCall::Rows { array, current });
            }
        }
        if current {
            self.follow(stripes, path, array, now);
        }
        if path.agenda.rose(mark) {
            let done = BackgroundCall::RowsDone { array, current };
            return path.agenda.below(mark, done);
        }
        self.rows_done(stripes, path, array, current, now);
    }

    pub(crate) fn rows_done(
        &mut self,
        stripes: &mut Stripes,
        path: &mut Path,
        array: ArrayId,
        current: bool,
        now: Time,
    ) {
        if self.tasks(array).in_flight > 0 {
            return;
        }
        if current {
            self.pause(stripes, path, array, now);
        } else {
            // Its task is gone; the next one starts.
            self.schedule_step(stripes, path, array, now);
        }
    }

    /// Takes the job whose row is the next to be in its place out of those that are done; any, if
    /// their order does not matter any more.
    fn next_done(&mut self, stripes: &Stripes, array: ArrayId, in_order: bool) -> Option<JobId> {
        let tasks = self.tasks_mut(array);
        let row = tasks.by_urgency.first().map(|task| task.row);
        let mut done = tasks.done.iter();
        let at = done.position(|&job| !in_order || stripes.jobs()[job].work().row() == row)?;
        Some(tasks.done.swap_remove(at))
    }

    /// A row of the first task is in its place, with what it has brought. What it could not bring is
    /// unreadable there.
    fn take_over(&mut self, stripes: &mut Stripes, path: &mut Path, array: ArrayId, index: JobId) {
        let row = stripes.jobs()[index].work().row();
        if let (Some(drive), Some(row)) = (self.filled_by(stripes, index), row) {
            let offset = row * stripes.volume(array).geometry().unit();
            let lost = stripes.jobs().repair(index).lost.clone();
            stripes
                .volumes_mut()
                .puncture(&mut path.drives, drive, offset, &lost);
        }
        let volume = stripes.volume_mut(array);
        let Some(task) = self.first_mut(array) else {
            return;
        };
        task.row = task.task.member().map_or(task.row + 1, |member| {
            volume.geometry().next_row(member, task.row + 1)
        });
        let upto = task.row * volume.geometry().unit();
        match task.task {
            Task::Rebuild { member } => {
                let member = volume.member_mut(member);
                if member.state() != State::Failed {
                    member.rebuild_from(upto);
                }
            }
            Task::Copyback { member, to } => {
                volume.member_mut(member).copy_up_to((to, upto));
            }
            Task::Patrol | Task::Check => {}
        }
    }
}

/// The first row from `row` on at which a task has something to do.
fn next_row(stripes: &Stripes, array: ArrayId, task: Task, row: u64) -> u64 {
    let geometry = stripes.volume(array).geometry();
    let of = |member| geometry.next_row(member, row);
    task.member().map_or(row, of)
}

/// Rows that a task has left from one on, counted as far as `most`.
fn rows_left(stripes: &Stripes, array: ArrayId, (task, row): (Task, u64), most: u64) -> u64 {
    let geometry = stripes.volume(array).geometry();
    let of = |member| geometry.rows_left(member, row, most);
    let all = task_rows(stripes, array, task);
    task.member().map_or(all - row, of)
}

/// A job for a unit of a member.
fn unit_job(
    stripes: &mut Stripes,
    path: &mut Path,
    array: ArrayId,
    task: u32,
    (member, row): (u32, u64),
    now: Time,
) -> JobId {
    let geometry = stripes.volume(array).geometry();
    let end = geometry.unit() as u32;
    let at = geometry.unit_at(member, row);
    let (stripe, role) = at.expect("every row of a member has a unit");
    let work = Work::Row(Row { task, row, role });
    let job = stripes.new_job(path, Io::NONE, array, stripe, work, now);
    let column = match role {
        Role::Data(column) => column,
        Role::Parity(_) | Role::Copy(..) => 0,
    };
    let start = 0;
    let extents = stripes.jobs_mut()[job].extents_mut();
    extents.push(Extent { column, start, end });
    job
}

/// A job that looks through a group.
fn group_job(
    stripes: &mut Stripes,
    path: &mut Path,
    array: ArrayId,
    check: Check,
    now: Time,
) -> JobId {
    let geometry = stripes.volume(array).geometry();
    let (columns, end) = (u64::from(geometry.columns()), geometry.unit() as u32);
    let (group, work) = (check.group, Work::Check(check));
    if geometry.parities() > 0 {
        return stripes.new_job(path, Io::NONE, array, group, work, now);
    }
    let job = stripes.new_job(path, Io::NONE, array, group / columns, work, now);
    let (column, start) = ((group % columns) as u32, 0);
    let extents = stripes.jobs_mut()[job].extents_mut();
    extents.push(Extent { column, start, end });
    job
}
