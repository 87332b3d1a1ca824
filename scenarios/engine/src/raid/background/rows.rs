//! Rows of a task in the background: units of a member, or groups of a patrol read or a check. While one is written
//! others are read, so that neither the drives that are read nor the one that is written wait for the
//! other.
//!
//! While the host wants nothing, each that has been read is followed by the next one. While it wants
//! the drives, a slice begins side by side, before which the host's commands wait, and then the task
//! pauses; a task that has all of the time is followed always. What rows bring counts in their order:
//! a row holds its lock until all before it are in their place.

use crate::ids::{ArrayId, ColumnId, JobId, MemberId, RowId, StripeId, TaskId};
use crate::integrity::commands::Target;
use crate::layout::{Extent, Role};
use crate::path::IoPath;
use crate::path::agenda::BackgroundCall;
use crate::raid::background::Background;
use crate::raid::background::task::Task;
use crate::raid::background::tasks::{Stint, Tasks};
use crate::raid::jobs::{Check, Phase, Row, Stripes, Work};
use crate::raid::member::State;
use raidlab_io::{ByteRange, Io, Op};
use raidlab_kernel::Time;
use raidlab_models::GroupId;

impl Background {
    /// As many rows of an array's first task begin as do so side by side.
    pub(super) fn begin_step(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        array: ArrayId,
        now: Time,
    ) {
        let Tasks { rows, share, .. } = *self.tasks(array);
        let Some(first) = self.tasks_mut(array).first_mut() else {
            return;
        };
        let busy = path.in_work_for(array) > 0;
        let most = if busy { rows.slice } else { rows.stream };
        let left = first.task.rows_left(stripes, array, first.next, most);
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
        path: &mut IoPath,
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
        path: &mut IoPath,
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

    fn begin_row(&mut self, stripes: &mut Stripes, path: &mut IoPath, array: ArrayId, now: Time) {
        let Some(first) = self.tasks_mut(array).first_mut() else {
            return;
        };
        let (id, task, row) = (first.id, first.task, first.next);
        first.next = task.next_row(stripes, array, row.plus(1));
        first.stint.rows += 1;
        let ahead = first.stint.ahead;
        let job = match task {
            Task::Rebuild { member } | Task::Copyback { member, .. } => {
                unit_job(stripes, path, array, id, (member, row), now)
            }
            Task::Patrol | Task::Check => {
                let check = Check {
                    task: id,
                    group: GroupId::new(row.number()),
                    compares: task == Task::Check,
                    differs: false,
                };
                group_job(stripes, path, array, check, now)
            }
        };
        if ahead && matches!(task, Task::Rebuild { .. } | Task::Copyback { .. }) {
            stripes.state_mut().jobs_mut()[job].go_ahead();
        }
        stripes.begin(path, job, now);
    }

    /// A row goes on: it has been read, or is done.
    pub(crate) fn step_row(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        job: JobId,
        now: Time,
    ) {
        match stripes.state().jobs()[job].phase() {
            Phase::Finish => self.finish_row(stripes, path, job, now),
            _ => self.write_row(stripes, path, job, now),
        }
    }

    /// A row is in memory: the drives it came from are free for another one.
    fn has_been_read(&mut self, stripes: &mut Stripes, path: &mut IoPath, index: JobId, now: Time) {
        let job = &stripes.state().jobs()[index];
        let (array, task) = (job.array(), job.work().task());
        let first = self.tasks_mut(array).first_mut();
        if let Some(first) = first.filter(|first| task == Some(first.id)) {
            first.owed += 1;
            self.follow(stripes, path, array, now);
        }
    }

    /// Rows that have been read are followed by as many others while the host wants nothing, as far
    /// as the limit of rows in progress allows.
    fn follow(&mut self, stripes: &mut Stripes, path: &mut IoPath, array: ArrayId, now: Time) {
        let busy = path.in_work_for(array) > 0;
        self.follow_on(stripes, path, array, busy, now);
    }

    pub(crate) fn follow_on(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        array: ArrayId,
        busy: bool,
        now: Time,
    ) {
        let Tasks {
            rows, share, pace, ..
        } = *self.tasks(array);
        let unasked = !busy || share >= 1.0;
        while let Some(first) = self.tasks_mut(array).first_mut() {
            if first.owed == 0 || first.next.since(first.row) >= rows.most {
                return;
            }
            first.owed -= 1;
            // What follows in a stream of its own has no priority.
            first.stint.ahead &= share >= 1.0;
            let (task, next) = (first.task, first.next);
            let free = unasked && first.stint.may_follow(pace, now);
            if free && next.number() < task.rows(stripes, array) {
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

    /// A row job has everything it wants in memory: it goes to the drive that wants it, and what could not
    /// be read back to where it was.
    fn write_row(&mut self, stripes: &mut Stripes, path: &mut IoPath, index: JobId, now: Time) {
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
        path: &mut IoPath,
        index: JobId,
        now: Time,
    ) {
        let job = &stripes.state().jobs()[index];
        let Work::Row(Row { row, role, .. }) = job.work() else {
            return stripes.write_phase(path, index, now);
        };
        let (array, io) = (job.array(), job.io());
        let unit = stripes.state().volume(array).geometry().unit();
        path.ios[io].hold();
        if let Some(drive) = self.tasks(array).filled_by(stripes, index) {
            path.ios[io].pending += 1;
            let range = ByteRange::new(row.number() * unit, unit);
            let command = stripes
                .state()
                .new_command(path, io, Op::Write, drive, range, now);
            path.attach(command, Target::Unit(index, role, 0), unit);
            match stripes.state().jobs()[index].goes_ahead() {
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
    fn finish_row(&mut self, stripes: &mut Stripes, path: &mut IoPath, index: JobId, now: Time) {
        let job = &stripes.state().jobs()[index];
        let (array, task) = (job.array(), job.work().task());
        let tasks = self.tasks_mut(array);
        tasks.done.push(index);
        tasks.in_flight -= 1;
        let offline = stripes.state().volume(array).is_offline();
        let first = tasks.by_urgency.first().filter(|_| !offline);
        let current = first.is_some_and(|first| task == Some(first.id));
        self.put_rows(stripes, path, array, current, now);
    }

    pub(crate) fn put_rows(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        array: ArrayId,
        current: bool,
        now: Time,
    ) {
        let mark = path.agenda.mark();
        while let Some(done) = self.tasks_mut(array).next_done(stripes, current) {
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
        path: &mut IoPath,
        array: ArrayId,
        current: bool,
        now: Time,
    ) {
        if self.tasks(array).in_flight > 0 {
            return;
        }
        if current {
            self.tasks_mut(array).pause(stripes, path, now);
        } else {
            // Its task is gone; the next one starts.
            self.tasks_mut(array).schedule_step(stripes, path, now);
        }
    }

    /// A row of the first task is in its place, with what it has brought. What it could not bring is
    /// unreadable there.
    fn take_over(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        array: ArrayId,
        index: JobId,
    ) {
        let row = stripes.state().jobs()[index].work().row();
        if let (Some(drive), Some(row)) = (self.tasks(array).filled_by(stripes, index), row) {
            let offset = row.number() * stripes.state().volume(array).geometry().unit();
            let lost = stripes.state().jobs().repair(index).lost.clone();
            stripes
                .state_mut()
                .volumes_mut()
                .puncture(&mut path.drives, drive, offset, &lost);
        }
        let volume = stripes.state_mut().volume_mut(array);
        let Some(task) = self.tasks_mut(array).first_mut() else {
            return;
        };
        task.row = task.task.member().map_or(task.row.plus(1), |member| {
            volume.geometry().next_row(member, task.row.plus(1))
        });
        let upto = task.row.number() * volume.geometry().unit();
        match task.task {
            Task::Rebuild { member } => {
                let member = volume.places_mut().of_mut(member);
                if member.state() != State::Failed {
                    member.rebuild_from(upto);
                }
            }
            Task::Copyback { member, to } => {
                volume.places_mut().of_mut(member).copy_up_to((to, upto));
            }
            Task::Patrol | Task::Check => {}
        }
    }
}

/// A job for a unit of a member.
fn unit_job(
    stripes: &mut Stripes,
    path: &mut IoPath,
    array: ArrayId,
    task: TaskId,
    (member, row): (MemberId, RowId),
    now: Time,
) -> JobId {
    let geometry = stripes.state().volume(array).geometry();
    let end = geometry.unit() as u32;
    let at = geometry.unit_at(member, row);
    let (stripe, role) = at.expect("every row of a member has a unit");
    let work = Work::Row(Row { task, row, role });
    let job = stripes
        .state_mut()
        .new_job(path, Io::NONE, array, stripe, work, now);
    let column = match role {
        Role::Data(column) => column,
        Role::Parity(_) | Role::Copy(..) => ColumnId::new(0),
    };
    let start = 0;
    let extents = stripes.state_mut().jobs_mut()[job].extents_mut();
    extents.push(Extent { column, start, end });
    job
}

/// A job that looks through a group.
fn group_job(
    stripes: &mut Stripes,
    path: &mut IoPath,
    array: ArrayId,
    check: Check,
    now: Time,
) -> JobId {
    let geometry = stripes.state().volume(array).geometry();
    let (columns, end) = (u64::from(geometry.columns()), geometry.unit() as u32);
    let (group, work) = (check.group, Work::Check(check));
    if geometry.parities() > 0 {
        return stripes.state_mut().new_job(
            path,
            Io::NONE,
            array,
            StripeId::new(group.number()),
            work,
            now,
        );
    }
    let job = stripes.state_mut().new_job(
        path,
        Io::NONE,
        array,
        StripeId::new(group.number() / columns),
        work,
        now,
    );
    let (column, start) = (ColumnId::new((group.number() % columns) as u32), 0);
    let extents = stripes.state_mut().jobs_mut()[job].extents_mut();
    extents.push(Extent { column, start, end });
    job
}
