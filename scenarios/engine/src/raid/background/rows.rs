//! Rows of a task in the background: units of a member, or groups of a patrol read or a check. While one is written
//! others are read, so that neither the drives that are read nor the one that is written wait for the
//! other.
//!
//! So many begin side by side as cost the drives one seek; each that has been read is followed by the
//! next one, unless the host wants the drives and the task has had its share. What they bring counts
//! in their order: a row holds its lock until all before it are in their place.

use crate::integrity::commands::Target;
use crate::layout::{Extent, Role};
use crate::path::Path;
use crate::path::agenda::Call;
use crate::raid::Raid;
use crate::raid::background::{Stint, Task};
use crate::raid::jobs::{Check, Row, Work};
use crate::raid::volume::State;
use raidlab_kernel::{Io, Op, Time};

use crate::raid::volume::{rows_in_flight, rows_of_step};

impl Raid {
    /// As many rows of an array's first task begin as do so side by side.
    pub(crate) fn begin_step(&mut self, path: &mut Path, array: u32, now: Time) {
        let volume = self.volume(array);
        let Some(first) = volume.tasks.first() else {
            return;
        };
        let left = self.task_rows(array, first.task) - first.next;
        let unasked = rows_of_step(volume.geometry.unit()).min(left);
        self.volume_mut(array).tasks[0].stint = Stint {
            began: now,
            rows: 0,
            unasked,
        };
        self.begin_rows(path, array, unasked as u32, now);
    }

    /// The next rows of an array's first task begin.
    fn begin_rows(&mut self, path: &mut Path, array: u32, rows: u32, now: Time) {
        self.volume_mut(array).in_flight += rows;
        self.begin_each(path, array, rows, now);
    }

    pub(crate) fn begin_each(&mut self, path: &mut Path, array: u32, rows: u32, now: Time) {
        let mark = path.agenda.mark();
        for left in (0..rows).rev() {
            self.begin_row(path, array, now);
            if left > 0 && path.agenda.rose(mark) {
                return path.agenda.below(mark, Call::BeginRows(array, left));
            }
        }
    }

    fn begin_row(&mut self, path: &mut Path, array: u32, now: Time) {
        let Some(first) = self.volume_mut(array).tasks.first_mut() else {
            return;
        };
        let (id, task, row) = (first.id, first.task, first.next);
        first.next += 1;
        first.stint.rows += 1;
        let job = match task {
            Task::Rebuild { member } | Task::Copyback { member, .. } => {
                self.unit_job(path, array, id, (member, row), now)
            }
            Task::Patrol | Task::Check => self.group_job(path, array, id, row, now),
        };
        self.begin(path, job, now);
    }

    /// A job for a unit of a member.
    fn unit_job(
        &mut self,
        path: &mut Path,
        array: u32,
        task: u32,
        (member, row): (u32, u64),
        now: Time,
    ) -> u32 {
        let geometry = &self.volume(array).geometry;
        let end = geometry.unit() as u32;
        let at = geometry.unit_at(member, row);
        let (stripe, role) = at.expect("every row of a member has a unit");
        let work = Work::Row(Row { task, row, role });
        let job = self.new_job(path, Io::NONE, array, stripe, work, now);
        let column = match role {
            Role::Data(column) => column,
            Role::Parity(_) | Role::Copy(..) => 0,
        };
        let start = 0;
        let extents = &mut self.jobs[job].extents;
        extents.push(Extent { column, start, end });
        job
    }

    /// A job that looks through a group.
    fn group_job(&mut self, path: &mut Path, array: u32, task: u32, group: u64, now: Time) -> u32 {
        let geometry = &self.volume(array).geometry;
        let (columns, end) = (u64::from(geometry.columns()), geometry.unit() as u32);
        let differs = false;
        let work = Work::Check(Check {
            task,
            group,
            differs,
        });
        if geometry.parities() > 0 {
            return self.new_job(path, Io::NONE, array, group, work, now);
        }
        let job = self.new_job(path, Io::NONE, array, group / columns, work, now);
        let (column, start) = ((group % columns) as u32, 0);
        let extents = &mut self.jobs[job].extents;
        extents.push(Extent { column, start, end });
        job
    }

    /// A row is in memory: the drives it came from are free for another one.
    fn has_been_read(&mut self, path: &mut Path, index: u32, id: u32, now: Time) {
        let array = self.jobs[index].array;
        let first = self.volume_mut(array).tasks.first_mut();
        if let Some(first) = first.filter(|task| task.id == id) {
            first.owed += 1;
            self.follow(path, array, now);
        }
    }

    /// Rows that have been read are followed by as many others while the host wants nothing, as far
    /// as so many may be in progress.
    fn follow(&mut self, path: &mut Path, array: u32, now: Time) {
        let busy = path.in_work_for(array) > 0;
        self.follow_on(path, array, busy, now);
    }

    pub(crate) fn follow_on(&mut self, path: &mut Path, array: u32, busy: bool, now: Time) {
        while let Some(volume) = self.volumes[array as usize].as_mut() {
            let free = !busy || volume.background_share >= 1.0;
            let window = rows_in_flight(volume.geometry.unit());
            let Some(first) = volume.tasks.first_mut() else {
                return;
            };
            if first.owed == 0 || first.next - first.row >= window {
                return;
            }
            first.owed -= 1;
            let (task, next) = (first.task, first.next);
            if free && next < self.task_rows(array, task) {
                let mark = path.agenda.mark();
                self.begin_rows(path, array, 1, now);
                if path.agenda.rose(mark) {
                    return path.agenda.below(mark, Call::Follow { array, busy });
                }
            }
        }
    }

    /// The task that a job in the background belongs to, if that is running.
    fn task_of(&self, index: u32) -> Option<Task> {
        let job = &self.jobs[index];
        let first = self.volume(job.array).tasks.first()?;
        (job.work.task() == Some(first.id)).then_some(first.task)
    }

    /// Whether nobody wants what a job in the background brings: its task is gone or suspended.
    pub(crate) fn is_unwanted(&self, index: u32) -> bool {
        self.task_of(index).is_none()
    }

    /// Whether a job compares what it reads, and does not only look whether it can be read.
    pub(crate) fn compares(&self, index: u32) -> bool {
        self.task_of(index) == Some(Task::Check)
    }

    /// The drive that a row job fills.
    fn filled_by(&self, index: u32) -> Option<u32> {
        let volume = self.volume(self.jobs[index].array);
        match self.task_of(index)? {
            Task::Rebuild { member } => Some(volume.members[member as usize].drive),
            Task::Copyback { to, .. } => Some(to),
            Task::Patrol | Task::Check => None,
        }
    }

    /// A row job has everything it wants in memory: it goes to the drive that wants it, and what could not
    /// be read back to where it was.
    pub(crate) fn write_row(&mut self, path: &mut Path, index: u32, task: u32, now: Time) {
        let mark = path.agenda.mark();
        self.has_been_read(path, index, task, now);
        if path.agenda.rose(mark) {
            return path.agenda.below(mark, Call::RowRead(index));
        }
        self.row_read(path, index, now);
    }

    /// The same, behind those that follow it. A group that is in memory is written where it differs and
    /// where it could not be read.
    pub(crate) fn row_read(&mut self, path: &mut Path, index: u32, now: Time) {
        let job = &self.jobs[index];
        let Work::Row(Row { row, role, .. }) = job.work else {
            return self.write_phase(path, index, now);
        };
        let (array, io) = (job.array, job.io);
        let unit = self.volume(array).geometry.unit();
        path.hold(io);
        if let Some(drive) = self.filled_by(index) {
            path.ios[io].pending += 1;
            let command =
                self.new_raid_command(path, io, Op::Write, drive, (row * unit, unit), now);
            path.attach(command, Target::Unit(index, role, 0), unit);
            path.send(command, drive, now);
        }
        self.write_phase(path, index, now);
        self.let_go(path, io, now);
    }

    /// A row is done. It holds its lock until all before it are in their place: only then does what
    /// it brought count, and writes know of it. One of a task that is gone or suspended does not
    /// count any more, nor do those that waited for it.
    pub(crate) fn finish_row(&mut self, path: &mut Path, index: u32, id: u32, now: Time) {
        let array = self.jobs[index].array;
        let Some(volume) = self.volumes[array as usize].as_mut() else {
            return;
        };
        volume.done.push(index);
        volume.in_flight -= 1;
        let first = volume.tasks.first().filter(|_| !volume.offline);
        let current = first.is_some_and(|task| task.id == id);
        self.put_rows(path, array, current, now);
    }

    pub(crate) fn put_rows(&mut self, path: &mut Path, array: u32, current: bool, now: Time) {
        let mark = path.agenda.mark();
        while let Some(done) = self.next_done(array, current) {
            if current {
                self.take_over(path, array, done);
            }
            self.finish_job(path, done, now);
            if path.agenda.rose(mark) {
                return path.agenda.below(mark, Call::Rows { array, current });
            }
        }
        if current {
            self.follow(path, array, now);
        }
        if path.agenda.rose(mark) {
            let done = Call::RowsDone { array, current };
            return path.agenda.below(mark, done);
        }
        self.rows_done(path, array, current, now);
    }

    pub(crate) fn rows_done(&mut self, path: &mut Path, array: u32, current: bool, now: Time) {
        if self.volume(array).in_flight > 0 {
            return;
        }
        if current {
            self.pause(path, array, now);
        } else {
            // Its task is gone; the next one starts.
            self.schedule_step(path, array, now);
        }
    }

    /// Takes the job whose row is the next to be in its place out of those that are done; any, if
    /// their order does not matter any more.
    fn next_done(&mut self, array: u32, in_order: bool) -> Option<u32> {
        let volume = self.volumes[array as usize].as_mut()?;
        let row = volume.tasks.first().map(|task| task.row);
        let jobs = &self.jobs;
        let mut done = volume.done.iter();
        let at = done.position(|&job| !in_order || jobs[job].work.row() == row)?;
        Some(volume.done.swap_remove(at))
    }

    /// A row of the first task is in its place, with what it has brought. What it could not bring is
    /// unreadable there.
    fn take_over(&mut self, path: &mut Path, array: u32, index: u32) {
        let row = self.jobs[index].work.row();
        if let (Some(drive), Some(row)) = (self.filled_by(index), row) {
            let offset = row * self.volume(array).geometry.unit();
            let lost = self.jobs.repair(index).lost.clone();
            self.puncture(path, drive, offset, &lost);
        }
        let volume = self.volume_mut(array);
        let Some(task) = volume.tasks.first_mut() else {
            return;
        };
        task.row += 1;
        let upto = task.row * volume.geometry.unit();
        match task.task {
            Task::Rebuild { member } => {
                let member = &mut volume.members[member as usize];
                if member.state != State::Failed {
                    member.state = State::Rebuilding(upto);
                }
            }
            Task::Copyback { member, to } => {
                volume.members[member as usize].copy = Some((to, upto));
            }
            Task::Patrol | Task::Check => {}
        }
    }
}
