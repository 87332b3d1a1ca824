//! Work in the background of an array: rebuild on a spare or a new drive, copyback, patrol read,
//! consistency check. Each goes step by step, a step being neighbouring rows side by side, and leaves
//! the drives to the host for a share of the time while the host wants them.

use super::fate::Target;
use super::job::{Phase, Work};
use super::stripe::Role;
use super::volume::State;
use crate::system::{Event, System};
use raidlab_kernel::{Io, Nanos, Op, Time};

/// Bytes of a member that a step of a task reads or writes, and rows at most: neighbours cost the
/// drives one seek. Assumed: half a MiB, as much as such controllers write to a drive at once.
const STEP: u64 = 512 << 10;
const ROWS: u64 = 8;

/// What goes on in the background of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// A member's data are computed anew, row by row.
    Rebuild { member: u32 },
    /// A member's data are copied to the drive that replaces its spare.
    Copyback { member: u32, to: u32 },
    /// Every member is read, to meet unreadable sectors while they can be repaired.
    Patrol,
    /// Every stripe's parity is compared with its data, every unit's copies with each other, and
    /// made anew where they differ.
    Check,
}

/// A task and how far it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Background {
    /// Tells it from others of the array.
    pub id: u32,
    pub task: Task,
    /// The next row; of a check the next group: a stripe or, without parity, a unit.
    pub row: u64,
    /// Rows of the step under way.
    pub rows: u64,
    /// When its first step did; none while it waits for the tasks before it.
    pub began: Option<Time>,
    /// When the step under way began.
    pub step: Time,
}

impl System {
    /// Starts to rebuild a failed member if the array has a spare and enough is left.
    pub(crate) fn rebuild_on_spare(&mut self, array: u32, member: u32, now: Time) {
        let Some(volume) = self.raid.volumes[array as usize].as_mut() else {
            return;
        };
        if !volume.geometry.is_redundant() {
            return;
        }
        let Some(spare) = volume.spares.pop() else {
            return;
        };
        volume.members[member as usize].drive = spare;
        // Commands from when it last stood somewhere.
        self.cut_off(spare, member);
        if let Some(fate) = &mut self.raid.fate {
            fate.empty(spare);
        }
        self.rebuild(array, member, now);
    }

    /// Starts to rebuild a member on the drive that now stands there.
    pub(crate) fn rebuild(&mut self, array: u32, member: u32, now: Time) {
        if let Some(volume) = self.raid.volumes[array as usize].as_mut() {
            volume.changes += 1;
            volume.members[member as usize].state = State::Rebuilding(0);
        }
        self.raid.rebuilt = None;
        self.start_task(array, Task::Rebuild { member }, now);
    }

    /// The share of the rows that each rebuild under way has behind it.
    pub(crate) fn rebuilding(&self) -> Vec<f64> {
        let volumes = self.raid.volumes.iter().flatten();
        let shares = volumes.flat_map(|volume| {
            let rows = volume.geometry.rows().max(1) as f64;
            let rebuilds = volume.tasks.iter();
            let rebuilds = rebuilds.filter(|task| matches!(task.task, Task::Rebuild { .. }));
            rebuilds.map(move |task| task.row as f64 / rows)
        });
        shares.collect()
    }

    /// What a task of an array is called in the log.
    fn task_name(&self, array: u32, task: Task) -> String {
        let drive = |drive: u32| &self.drives[drive as usize].name;
        let name = &self.arrays[array as usize].name;
        match task {
            Task::Rebuild { member } => {
                let stands = self.volume(array).members[member as usize].drive;
                format!("rebuild on {}", drive(stands))
            }
            Task::Copyback { to, .. } => format!("copyback to {}", drive(to)),
            Task::Patrol => format!("patrol read of {name}"),
            Task::Check => format!("consistency check of {name}"),
        }
    }

    /// Tasks of an array end before they are done.
    pub(crate) fn give_up_tasks(&mut self, array: u32, tasks: &[Background], now: Time) {
        for task in tasks {
            let name = self.task_name(array, task.task);
            let what = match task.began {
                Some(began) => {
                    let rows = self.task_rows(array, task.task).max(1);
                    let share = 100.0 * task.row as f64 / rows as f64;
                    let took = now.since(began).seconds();
                    format!("{name} given up after {took:.1} s, {share:.0} % done")
                }
                None => format!("{name} given up before it began"),
            };
            self.log(now, what);
        }
    }

    /// The rows of a task, none without redundancy; of a check the groups.
    fn task_rows(&self, array: u32, task: Task) -> u64 {
        let volume = self.volume(array);
        match task {
            Task::Check => volume.groups().0,
            Task::Patrol => volume.geometry.rows() * u64::from(volume.geometry.members()),
            Task::Rebuild { .. } | Task::Copyback { .. } => volume.geometry.rows(),
        }
    }

    /// A task joins those of an array; one that is offline has none.
    pub(crate) fn start_task(&mut self, array: u32, task: Task, now: Time) {
        let volume = self.raid.volumes[array as usize].as_ref();
        if volume.is_some_and(|volume| volume.offline) {
            let name = self.task_name(array, task);
            return self.log(now, format!("no {name}: the array is offline"));
        }
        let id = self.raid.tasks_begun;
        self.raid.tasks_begun += 1;
        let background = Background {
            id,
            task,
            row: 0,
            rows: 1,
            began: None,
            step: now,
        };
        if let Some(volume) = self.raid.volumes[array as usize].as_mut() {
            volume.tasks.push(background);
            self.turn_at(array, now);
        }
    }

    /// The next step of an array's first task.
    pub(crate) fn background(&mut self, array: u32, now: Time) {
        let Some(volume) = self.raid.volumes[array as usize].as_mut() else {
            return;
        };
        volume.stepping = false;
        let offline = volume.offline;
        let Some(first) = volume.tasks.first_mut().filter(|_| !offline) else {
            return;
        };
        first.step = now;
        let begins = first.began.is_none();
        first.began.get_or_insert(now);
        let Background { id, task, row, .. } = *first;
        if begins {
            let name = self.task_name(array, task);
            self.log(now, format!("{name} begins"));
        }
        if row >= self.task_rows(array, task) {
            return self.finish_task(array, now);
        }
        let member = match task {
            Task::Rebuild { member } | Task::Copyback { member, .. } => (member, row),
            Task::Patrol => {
                let rows = self.volume(array).geometry.rows();
                ((row / rows) as u32, row % rows)
            }
            Task::Check => return self.start_check(array, id, row, now),
        };
        self.start_rows(array, id, member, now);
    }

    /// A step of a check: one group.
    fn start_check(&mut self, array: u32, id: u32, group: u64, now: Time) {
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
    fn start_rows(&mut self, array: u32, id: u32, (member, first): (u32, u64), now: Time) {
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
                self.attach(command, Target::Unit(index, role, 0));
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

    fn step_done(&mut self, array: u32, now: Time) {
        let level = self.arrays[array as usize]
            .controller
            .map_or(0, |controller| {
                self.controllers[controller as usize].load.level()
            });
        let Some(volume) = self.raid.volumes[array as usize].as_mut() else {
            return;
        };
        let share = volume.background_share;
        let Some(task) = volume.tasks.first_mut() else {
            return;
        };
        task.row += task.rows;
        let took = now.since(task.step);
        // While the host wants the drives, the background has its share of the time.
        let pause = if level > 0 && share < 1.0 {
            Nanos((took.0 as f64 * (1.0 - share) / share) as u64)
        } else {
            Nanos::ZERO
        };
        self.turn_at(array, now + pause);
    }

    fn finish_task(&mut self, array: u32, now: Time) {
        let Some(volume) = self.raid.volumes[array as usize].as_mut() else {
            return;
        };
        let done = volume.tasks.remove(0);
        let more = !volume.tasks.is_empty();
        let took = now.since(done.began.unwrap_or(now)).seconds();
        if more {
            self.turn_at(array, now);
        }
        let Some(volume) = self.raid.volumes[array as usize].as_mut() else {
            return;
        };
        match done.task {
            Task::Rebuild { member } => {
                let member = &mut volume.members[member as usize];
                if member.state != State::Failed {
                    member.state = State::Good;
                    self.raid.rebuilt = Some(now);
                    self.log(now, format!("rebuild done after {took:.1} s"));
                }
            }
            Task::Copyback { member, to } => {
                volume.changes += 1;
                let member = &mut volume.members[member as usize];
                let spare = std::mem::replace(&mut member.drive, to);
                member.copy = None;
                volume.spares.push(spare);
                self.log(now, format!("copyback done after {took:.1} s"));
            }
            Task::Patrol => self.log(now, format!("patrol read done after {took:.1} s")),
            Task::Check => self.log(now, format!("consistency check done after {took:.1} s")),
        }
    }

    /// A new, empty drive stands where one has failed: it is rebuilt, or, where a spare has
    /// taken over, the spare's data are copied back.
    pub(crate) fn replace_drive(&mut self, drive: u32, now: Time) {
        let lost = self.lose(drive, now);
        self.raid.health[drive as usize] = Default::default();
        if let Some(fate) = &mut self.raid.fate {
            fate.empty(drive);
        }
        let name = self.drives[drive as usize].name.clone();
        self.log(now, format!("drive {name} replaced"));
        if let Some((array, member)) = lost {
            let volume = self.volume(array);
            if volume.offline || !volume.geometry.is_redundant() {
                let what = format!("nothing to rebuild {name} from: its data are lost");
                self.log(now, what);
            } else {
                self.rebuild(array, member, now);
            }
            return;
        }
        let home = self.arrays.iter().enumerate().find_map(|(array, built)| {
            let member = built.drives.iter().position(|&d| d == drive)?;
            Some((array as u32, member as u32))
        });
        if let Some((array, member)) = home {
            let task = Task::Copyback { member, to: drive };
            self.start_task(array, task, now);
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

    /// The background of an array has its next turn at `at`.
    pub(crate) fn turn_at(&mut self, array: u32, at: Time) {
        if let Some(volume) = self.raid.volumes[array as usize].as_mut() {
            let idle = !volume.stepping && volume.under_way == 0 && !volume.offline;
            if idle && !volume.tasks.is_empty() {
                volume.stepping = true;
                self.calendar.push(at, Event::Background(array));
            }
        }
    }

    /// A drive that is being filled has lost rows from `offset` on: its task goes on from there.
    pub(super) fn begin_copies_again(&mut self, drive: u32, offset: u64) {
        for volume in self.raid.volumes.iter_mut().flatten() {
            let unit = volume.geometry.unit();
            let (row, upto) = (offset / unit, offset / unit * unit);
            for task in &mut volume.tasks {
                match task.task {
                    Task::Rebuild { member } => {
                        let member = &mut volume.members[member as usize];
                        if member.drive == drive {
                            if let State::Rebuilding(done) = &mut member.state {
                                *done = upto.min(*done);
                                task.row = row.min(task.row);
                            }
                        }
                    }
                    Task::Copyback { member, to } if to == drive => {
                        let copy = &mut volume.members[member as usize].copy;
                        *copy = copy.map(|(to, done)| (to, upto.min(done)));
                        task.row = row.min(task.row);
                    }
                    _ => {}
                }
            }
        }
    }
}
