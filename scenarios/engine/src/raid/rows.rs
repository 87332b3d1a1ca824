//! A step of work in the background: neighbouring rows of a member side by side, or one group of a
//! check.

use super::background::Task;
use super::fate::Target;
use super::job::{Phase, Work};
use super::stripe::Role;
use super::volume::State;
use crate::system::System;
use raidlab_kernel::{Io, Op, Time};

/// Bytes of a member that a step of a task reads or writes, and rows at most: neighbours cost the
/// drives one seek. Assumed: half a MiB, as much as such controllers write to a drive at once.
const STEP: u64 = 512 << 10;
const ROWS: u64 = 8;

impl System {
    /// A step of a check: one group.
    pub(super) fn start_check(&mut self, array: u32, id: u32, group: u64, now: Time) {
        self.set_under_way(array, 1, 1);
        let geometry = &self.volume(array).geometry;
        let (columns, unit) = (u64::from(geometry.columns()), geometry.unit() as u32);
        let plain = geometry.parities() == 0;
        let stripe = if plain { group / columns } else { group };
        let job = self.new_job(Io::NONE, array, stripe, Work::Check, now);
        let record = &mut self.raid.jobs[job];
        record.group = id;
        if plain {
            record.extents.push(super::Extent {
                column: (group % columns) as u32,
                start: 0,
                end: unit,
            });
        }
        self.begin(job, now);
    }

    /// A step: neighbouring rows of a member, side by side.
    pub(super) fn start_rows(
        &mut self,
        array: u32,
        id: u32,
        (member, first): (u32, u64),
        now: Time,
    ) {
        let geometry = &self.volume(array).geometry;
        let most = (STEP / geometry.unit()).clamp(1, ROWS);
        let end = (first + most).min(geometry.rows());
        let here = |row: &u64| geometry.unit_at(member, *row).is_some();
        let count = (first..end).filter(here).count() as u32;
        self.set_under_way(array, count, end - first);
        if count == 0 {
            return self.step_done(array, now);
        }
        for row in first..end {
            self.start_row(array, id, (member, row), now);
        }
    }

    fn start_row(&mut self, array: u32, id: u32, (member, row): (u32, u64), now: Time) {
        let geometry = &self.volume(array).geometry;
        let Some((stripe, role)) = geometry.unit_at(member, row) else {
            return;
        };
        let unit = geometry.unit() as u32;
        let job = self.new_job(Io::NONE, array, stripe, Work::Row, now);
        let record = &mut self.raid.jobs[job];
        record.unit = (member, row, role);
        record.group = id;
        let column = match role {
            Role::Data(column) => column,
            Role::Parity(_) | Role::Copy(..) => 0,
        };
        record.extents.push(super::Extent {
            column,
            start: 0,
            end: unit,
        });
        self.begin(job, now);
    }

    /// What the row job of the array's task must write, and where.
    fn row_target(&self, array: u32, index: u32) -> Option<u32> {
        let volume = self.volume(array);
        let first = volume.tasks.first()?;
        if first.id != self.raid.jobs[index].group {
            return None;
        }
        match first.task {
            Task::Rebuild { member } => Some(volume.members[member as usize].drive),
            Task::Copyback { to, .. } => Some(to),
            Task::Patrol => {
                // What could not be read is written again where it was.
                let (member, row, _) = self.raid.jobs[index].unit;
                let member = &volume.members[member as usize];
                let place = row * volume.geometry.unit();
                (member.state == State::Good && member.unreadable.contains(&place))
                    .then_some(member.drive)
            }
            Task::Check => None,
        }
    }

    /// A row job has everything it wants in memory: it goes to the drive that wants it.
    pub(crate) fn write_row(&mut self, index: u32, now: Time) {
        let (array, io, (_, row, role)) = {
            let job = &self.raid.jobs[index];
            (job.array, job.io, job.unit)
        };
        self.raid.jobs[index].phase = Phase::Finish;
        let unit = self.volume(array).geometry.unit();
        self.hold(io);
        if let Some(drive) = self.row_target(array, index) {
            if !self.raid.jobs[index].refused {
                self.ios[io].pending += 1;
                let command = self.new_command(io, Op::Write, drive, row * unit, unit, now);
                self.attach(command, Target::Unit(index, role, 0), unit);
                self.send(command, drive, now);
            }
        }
        self.let_go(io, now);
    }

    /// A row or a stripe of the first task is done. It keeps its lock until all of its step are:
    /// only then does what they brought count, and writes know of it.
    pub(crate) fn finish_row(&mut self, index: u32, now: Time) {
        let (array, id) = (self.raid.jobs[index].array, self.raid.jobs[index].group);
        let Some(volume) = self.raid.volumes[array as usize].as_mut() else {
            return;
        };
        volume.done.push(index);
        volume.under_way -= 1;
        if volume.under_way > 0 {
            return;
        }
        let mut done = std::mem::take(&mut volume.done);
        let first = volume.tasks.first().filter(|_| !volume.offline);
        let current = first.is_some_and(|task| task.id == id);
        if current {
            for &job in &done {
                self.take_over(array, job);
            }
            self.advance(array);
        }
        for &job in &done {
            self.finish_job(job, now);
        }
        done.clear();
        if let Some(volume) = self.raid.volumes[array as usize].as_mut() {
            volume.done = done;
        }
        if current {
            self.step_done(array, now);
        } else {
            // Its task is gone; the next one takes its turn.
            self.turn_at(array, now);
        }
    }

    /// What a row has brought.
    fn take_over(&mut self, array: u32, index: u32) {
        let job = &self.raid.jobs[index];
        let (refused, (place, row, _)) = (job.refused, job.unit);
        let Some(volume) = self.raid.volumes[array as usize].as_mut() else {
            return;
        };
        let offset = row * volume.geometry.unit();
        match volume.tasks.first().map(|task| task.task) {
            // Lost for good: reads of it are refused.
            Some(Task::Rebuild { .. }) if refused => {
                volume.members[place as usize].unreadable.push(offset);
            }
            Some(Task::Patrol) if !refused => volume.members[place as usize].mended(offset),
            // A check's job has no unit of its own.
            _ => {}
        }
    }

    /// The rows of a step are in their place.
    fn advance(&mut self, array: u32) {
        let Some(volume) = self.raid.volumes[array as usize].as_mut() else {
            return;
        };
        let unit = volume.geometry.unit();
        let Some(task) = volume.tasks.first() else {
            return;
        };
        let upto = (task.row + task.rows) * unit;
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

    /// A step of so many jobs and rows begins.
    fn set_under_way(&mut self, array: u32, jobs: u32, rows: u64) {
        if let Some(volume) = self.raid.volumes[array as usize].as_mut() {
            volume.under_way = jobs;
            if let Some(task) = volume.tasks.first_mut() {
                task.rows = rows;
            }
        }
    }
}
