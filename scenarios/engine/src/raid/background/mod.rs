//! Work in the background of an array: rebuild, copyback, patrol read, consistency check. One task is under
//! way at a time, the most urgent one; others wait, or are suspended where they are. Each goes row by row
//! (see `rows`), and leaves the drives to the host for a share of the time while the host wants them.

pub(crate) mod rebuild;
pub(crate) mod rows;

use crate::path::Path;
use crate::raid::Raid;
use crate::raid::volume::State;
use crate::state::event::Event;
use raidlab_kernel::{Nanos, Time};

/// What goes on in the background of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// A member's data are computed anew, row by row.
    Rebuild { member: u32 },
    /// A member's data are copied to the drive that replaces its spare.
    Copyback { member: u32, to: u32 },
    /// Every unit is read, of all members at once, to meet unreadable sectors while they can be repaired.
    Patrol,
    /// Every stripe's parity is compared with its data, every unit's copies with each other, and
    /// made anew where they differ.
    Check,
}

impl Task {
    /// Less comes first: what makes the array whole again, then what only moves its data, then what only
    /// looks for faults.
    fn urgency(self) -> u32 {
        match self {
            Task::Rebuild { .. } => 0,
            Task::Copyback { .. } => 1,
            Task::Patrol | Task::Check => 2,
        }
    }
}

/// A task and how far it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Background {
    /// Tells it from others of the array, and from itself before it was suspended.
    pub id: u32,
    pub task: Task,
    /// All rows before this one are in their place; of a patrol read and of a check they are groups:
    /// stripes or, without parity, units.
    pub row: u64,
    /// The next row to begin: those from `row` on are in progress.
    pub next: u64,
    /// Rows that have been read and wait to be followed by others.
    pub owed: u32,
    /// When its first row did; none while it waits for the tasks before it.
    pub began: Option<Time>,
    /// True if it has begun and waits for more urgent ones.
    pub suspended: bool,
    /// What it has done since its last pause.
    pub stint: Stint,
}

impl Background {
    /// What was in progress, and what was done from a row on, has to begin anew.
    pub fn go_back(&mut self, row: u64) {
        self.row = self.row.min(row);
        (self.next, self.owed) = (self.row, 0);
    }
}

/// Work from one pause to the next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stint {
    pub began: Time,
    /// Rows that have begun, and those of them that did without asking whether the host wants the
    /// drives.
    pub rows: u64,
    pub unasked: u64,
}

impl Stint {
    /// How long to pause behind it, so that the background has no more than its share of the time
    /// that the host wants.
    fn pause(&self, share: f64, now: Time) -> Nanos {
        let unasked = self.unasked as f64 / self.rows.max(1) as f64;
        let took = now.since(self.began).0 as f64;
        Nanos((took * unasked * (1.0 - share) / share) as u64)
    }
}

impl Raid {
    /// What a task of an array is called in the log.
    fn task_name(&self, path: &Path, array: u32, task: Task) -> String {
        let drive = |drive: u32| &path.drives[drive as usize].name;
        let name = &path.arrays[array as usize].name;
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
    pub(crate) fn give_up_tasks(
        &mut self,
        path: &mut Path,
        array: u32,
        tasks: &[Background],
        now: Time,
    ) {
        for task in tasks {
            let name = self.task_name(path, array, task.task);
            let what = match task.began {
                Some(began) => {
                    let rows = self.task_rows(array, task.task).max(1);
                    let share = 100.0 * task.row as f64 / rows as f64;
                    let took = now.since(began).seconds();
                    format!("{name} given up after {took:.1} s, {share:.0} % done")
                }
                None => format!("{name} given up before it began"),
            };
            path.log(now, what);
        }
    }

    /// The rows of a task; of a patrol read and of a check the groups, none without redundancy.
    pub(crate) fn task_rows(&self, array: u32, task: Task) -> u64 {
        let volume = self.volume(array);
        match task {
            Task::Patrol | Task::Check if volume.geometry.is_redundant() => volume.groups().0,
            Task::Patrol | Task::Check => 0,
            Task::Rebuild { .. } | Task::Copyback { .. } => volume.geometry.rows(),
        }
    }

    /// A task joins those of an array; one that is offline has none, one without redundancy nothing to
    /// check.
    pub(crate) fn start_task(&mut self, path: &mut Path, array: u32, task: Task, now: Time) {
        let volume = self.volumes[array as usize].as_ref();
        if volume.is_some_and(|volume| volume.offline) {
            let name = self.task_name(path, array, task);
            return path.log(now, format!("no {name}: the array is offline"));
        }
        let of_the_medium = matches!(task, Task::Patrol | Task::Check);
        if of_the_medium && volume.is_some_and(|volume| !volume.geometry.is_redundant()) {
            let name = self.task_name(path, array, task);
            let why = "without redundancy there is nothing to compare with or repair from";
            return path.log(now, format!("no {name}: {why}"));
        }
        let id = self.tasks_begun;
        self.tasks_begun += 1;
        let background = Background {
            id,
            task,
            row: 0,
            next: 0,
            owed: 0,
            began: None,
            suspended: false,
            stint: Stint::default(),
        };
        let Some(volume) = self.volumes[array as usize].as_mut() else {
            return;
        };
        let later = |other: &Background| task.urgency() < other.task.urgency();
        let tasks = &mut volume.tasks;
        let place = tasks.iter().position(later).unwrap_or(tasks.len());
        tasks.insert(place, background);
        if place == 0 {
            // Rows in progress stop; its pause does not hold up what is more urgent.
            volume.next_step = Time::NEVER;
            self.suspend(path, array, now);
        }
        self.schedule_step(path, array, now);
    }

    /// The task behind an array's first one is no longer active: what it has begun does not count.
    fn suspend(&mut self, path: &mut Path, array: u32, now: Time) {
        let id = self.tasks_begun;
        let volume = self.volumes[array as usize].as_mut();
        let second = volume.and_then(|volume| volume.tasks.get_mut(1));
        if let Some(second) = second.filter(|task| task.began.is_some() && !task.suspended) {
            self.tasks_begun += 1;
            second.id = id;
            second.go_back(u64::MAX);
            second.suspended = true;
            let task = second.task;
            let name = self.task_name(path, array, task);
            path.log(now, format!("{name} suspended"));
        }
    }

    /// An array's first task begins, or goes on behind a pause.
    pub(crate) fn background(&mut self, path: &mut Path, array: u32, now: Time) {
        let Some(volume) = self.volumes[array as usize].as_mut() else {
            return;
        };
        if now < volume.next_step {
            // Of a task that has been suspended since.
            return;
        }
        volume.next_step = Time::NEVER;
        let offline = volume.offline;
        let Some(first) = volume.tasks.first_mut().filter(|_| !offline) else {
            return;
        };
        let Background { task, row, .. } = *first;
        let starts = match (first.began, first.suspended) {
            (None, _) => Some("begins"),
            (_, true) => Some("goes on"),
            _ => None,
        };
        first.began.get_or_insert(now);
        first.suspended = false;
        if let Some(starts) = starts {
            let name = self.task_name(path, array, task);
            path.log(now, format!("{name} {starts}"));
        }
        if row >= self.task_rows(array, task) {
            return self.finish_task(path, array, now);
        }
        self.begin_step(path, array, now);
    }

    /// No row of an array's first task is in progress: it leaves the drives to the host, or is
    /// done.
    pub(crate) fn pause(&mut self, path: &mut Path, array: u32, now: Time) {
        let volume = self.volume(array);
        if let Some(task) = volume.tasks.first() {
            let done = task.row >= self.task_rows(array, task.task);
            let pause = task.stint.pause(volume.background_share, now);
            self.schedule_step(path, array, if done { now } else { now + pause });
        }
    }

    fn finish_task(&mut self, path: &mut Path, array: u32, now: Time) {
        let Some(volume) = self.volumes[array as usize].as_mut() else {
            return;
        };
        let done = volume.tasks.remove(0);
        let more = !volume.tasks.is_empty();
        let took = now.since(done.began.unwrap_or(now)).seconds();
        if more {
            self.schedule_step(path, array, now);
        }
        let Some(volume) = self.volumes[array as usize].as_mut() else {
            return;
        };
        match done.task {
            Task::Rebuild { member } => {
                let member = &mut volume.members[member as usize];
                if member.state != State::Failed {
                    member.state = State::Good;
                    let drive = member.drive;
                    let left = self.left_unreadable(path, array, drive);
                    self.rebuilt = Some(now);
                    path.log(now, format!("rebuild done after {took:.1} s{left}"));
                }
            }
            Task::Copyback { member, to } => {
                volume.changes += 1;
                let place = &mut volume.members[member as usize];
                let spare = std::mem::replace(&mut place.drive, to);
                place.copy = None;
                // What it has of them is met anew.
                place.unreadable.clear();
                path.cut_off(spare, member);
                let left = self.left_unreadable(path, array, to);
                path.log(now, format!("copyback done after {took:.1} s{left}"));
                self.be_spare(path, array, spare, now);
            }
            Task::Patrol => path.log(now, format!("patrol read done after {took:.1} s")),
            Task::Check => path.log(now, format!("consistency check done after {took:.1} s")),
        }
    }

    /// What the log says of sectors that a drive which has been filled does not give.
    fn left_unreadable(&self, path: &Path, array: u32, drive: u32) -> String {
        let geometry = &self.volume(array).geometry;
        let end = geometry.rows() * geometry.unit();
        let left = path.drives[drive as usize].health.unreadable.within(0, end);
        match left.iter().map(|(start, end)| end - start).sum() {
            0u64 => String::new(),
            bytes => {
                let name = &path.drives[drive as usize].name;
                format!("; {bytes} bytes of {name} are unreadable")
            }
        }
    }

    /// The background of an array runs its next step at `at`.
    pub(crate) fn schedule_step(&mut self, path: &mut Path, array: u32, at: Time) {
        if let Some(volume) = self.volumes[array as usize].as_mut() {
            let idle = volume.next_step == Time::NEVER && volume.in_flight == 0 && !volume.offline;
            if idle && !volume.tasks.is_empty() {
                volume.next_step = at;
                path.calendar.push(at, Event::Background(array));
            }
        }
    }
}
