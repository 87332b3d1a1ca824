//! Work in the background of an array: rebuild, copyback, patrol read, consistency check. One task is under
//! way at a time, the most urgent one; others wait, or are suspended where they are. Each goes row by row
//! (see `rows`), and leaves the drives to the host for a share of the time while the host wants them.

pub(crate) mod rebuild;
pub(crate) mod rows;
pub(crate) mod task;
mod tasks;
pub(crate) mod window;

use crate::ids::{ArrayId, DriveId, RowId, TaskId};
use crate::path::IoPath;
use crate::plan::Plan;
use crate::raid::background::task::Task;
use crate::raid::background::tasks::{Progress, Tasks};
use crate::raid::jobs::Stripes;
use crate::raid::member::State;
use crate::state::log::TaskPhase;
use raidlab_io::ByteRange;
use raidlab_kernel::{Table, Time};

/// The work in the background of all arrays.
#[derive(Debug)]
pub(crate) struct Background {
    of_array: Table<ArrayId, Tasks>,
    /// Numbers tasks.
    begun: TaskId,
    /// When the last rebuild was done, if none is running.
    rebuilt: Option<Time>,
}

impl Background {
    /// The arrays of a plan, without anything to do.
    pub fn new(plan: &Plan) -> Background {
        let arrays = plan.arrays.iter().zip(0..);
        let tasks = arrays.map(|(array, at)| Tasks::of(plan, ArrayId::new(at), array));
        Background {
            of_array: tasks.collect(),
            begun: TaskId::new(0),
            rebuilt: None,
        }
    }

    /// When the last rebuild was done, if none is running.
    pub fn rebuilt(&self) -> Option<Time> {
        self.rebuilt
    }

    /// What goes on for an array, if anything.
    pub(crate) fn task(&self, array: ArrayId) -> Option<Task> {
        self.tasks(array).by_urgency.first().map(|first| first.task)
    }

    fn tasks(&self, array: ArrayId) -> &Tasks {
        &self.of_array[array]
    }

    fn tasks_mut(&mut self, array: ArrayId) -> &mut Tasks {
        &mut self.of_array[array]
    }

    /// Takes out the tasks of an array that end before they are done; those of an array that is
    /// offline stay as they are.
    pub(crate) fn end_tasks(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        array: ArrayId,
        now: Time,
        ends: impl Fn(Task) -> bool,
    ) {
        let volume = stripes.state().volumes().get(array);
        if volume.is_none_or(|volume| volume.is_offline()) {
            return;
        }
        let of = |task: &Progress| ends(task.task);
        let tasks = &mut self.tasks_mut(array).by_urgency;
        let ended: Vec<Progress> = tasks.iter().copied().filter(of).collect();
        tasks.retain(|task| !of(task));
        for task in ended.iter().filter(|task| task.began.is_some()) {
            stripes
                .state_mut()
                .jobs_mut()
                .beside_mut()
                .note(array, task.task.beside(), now);
        }
        self.tasks(array).name_first(stripes);
        for task in &ended {
            task.log_given_up(stripes, path, array, now);
        }
    }

    /// No task of an array goes on: it is offline. They stay as far as they are.
    pub(crate) fn give_up(&self, stripes: &Stripes, path: &mut IoPath, array: ArrayId, now: Time) {
        for task in &self.tasks(array).by_urgency {
            task.log_given_up(stripes, path, array, now);
        }
    }

    /// A task joins those of an array; one that is offline has none, one without redundancy nothing to
    /// check.
    pub(crate) fn start_task(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        array: ArrayId,
        task: Task,
        now: Time,
    ) {
        let volume = stripes.state().volumes().get(array);
        if volume.is_some_and(|volume| volume.is_offline()) {
            let name = task.name(stripes, path, array);
            let subject = task.subject(stripes, path, array);
            let what = format!("no {name}: the array is offline");
            return path
                .log
                .note(now, task.event(TaskPhase::Refused), subject, what);
        }
        let of_the_medium = matches!(task, Task::Patrol | Task::Check);
        if of_the_medium && volume.is_some_and(|volume| !volume.geometry().is_redundant()) {
            let name = task.name(stripes, path, array);
            let why = "without redundancy there is nothing to compare with or repair from";
            let subject = task.subject(stripes, path, array);
            let what = format!("no {name}: {why}");
            return path
                .log
                .note(now, task.event(TaskPhase::Refused), subject, what);
        }
        let mut progress = Progress::new(self.next_id(), task);
        if let (Some(member), Some(volume)) = (task.member(), volume) {
            let first = match task {
                Task::Rebuild { .. } => self.tasks(array).first_row(volume),
                _ => 0,
            };
            progress.row = volume.geometry().next_row(member, RowId::new(first));
            progress.next = progress.row;
        }
        if volume.is_none() {
            return;
        }
        let later = |other: &Progress| task.urgency() < other.task.urgency();
        let tasks = self.tasks_mut(array);
        let place = tasks.by_urgency.iter().position(later);
        let place = place.unwrap_or(tasks.by_urgency.len());
        tasks.by_urgency.insert(place, progress);
        if place == 0 {
            // Rows in progress stop; its pause does not hold up what is more urgent.
            tasks.next_step = Time::NEVER;
            self.tasks(array).name_first(stripes);
            self.suspend(stripes, path, array, now);
        }
        self.tasks_mut(array).schedule_step(stripes, path, now);
    }

    fn next_id(&mut self) -> TaskId {
        let id = self.begun;
        self.begun = id.plus(1);
        id
    }

    /// The task behind an array's first one is no longer active: what it has begun does not count.
    fn suspend(&mut self, stripes: &mut Stripes, path: &mut IoPath, array: ArrayId, now: Time) {
        let second = self.tasks(array).by_urgency.get(1);
        if !second.is_some_and(|task| task.began.is_some() && !task.suspended) {
            return;
        }
        let id = self.next_id();
        let second = &mut self.tasks_mut(array).by_urgency[1];
        second.id = id;
        second.go_back(RowId::NONE);
        second.suspended = true;
        let task = second.task;
        let name = task.name(stripes, path, array);
        stripes
            .state_mut()
            .jobs_mut()
            .beside_mut()
            .note(array, task.beside(), now);
        let subject = task.subject(stripes, path, array);
        let what = format!("{name} suspended");
        path.log
            .note(now, task.event(TaskPhase::Suspended), subject, what);
    }

    /// An array's first task begins, or goes on behind a pause.
    pub(crate) fn go_on(
        &mut self,
        stripes: &mut Stripes,
        path: &mut IoPath,
        array: ArrayId,
        now: Time,
    ) {
        let Some(volume) = stripes.state().volumes().get(array) else {
            return;
        };
        let tasks = self.tasks_mut(array);
        if now < tasks.next_step {
            // Of a task that has been suspended since.
            return;
        }
        tasks.next_step = Time::NEVER;
        let Some(first) = tasks
            .by_urgency
            .first_mut()
            .filter(|_| !volume.is_offline())
        else {
            return;
        };
        let Progress { task, row, .. } = *first;
        let starts = match (first.began, first.suspended) {
            (None, _) => Some((TaskPhase::Begun, "begins")),
            (_, true) => Some((TaskPhase::Resumed, "goes on")),
            _ => None,
        };
        first.began.get_or_insert(now);
        first.suspended = false;
        if let Some((phase, starts)) = starts {
            let name = task.name(stripes, path, array);
            let subject = task.subject(stripes, path, array);
            path.log
                .note(now, task.event(phase), subject, format!("{name} {starts}"));
        }
        if row.number() >= task.rows(stripes, array) {
            return self.finish_task(stripes, path, array, now);
        }
        self.begin_step(stripes, path, array, now);
    }

    fn finish_task(&mut self, stripes: &mut Stripes, path: &mut IoPath, array: ArrayId, now: Time) {
        let done = self.tasks_mut(array).by_urgency.remove(0);
        stripes
            .state_mut()
            .jobs_mut()
            .beside_mut()
            .note(array, done.task.beside(), now);
        self.tasks(array).name_first(stripes);
        let took = now.since(done.began.unwrap_or(now)).seconds();
        self.tasks_mut(array).schedule_step(stripes, path, now);
        let subject = done.task.subject(stripes, path, array);
        let event = done.task.event(TaskPhase::Done);
        let volume = stripes.state_mut().volume_mut(array);
        match done.task {
            Task::Rebuild { member } => {
                let member = volume.places_mut().of_mut(member);
                if member.state() != State::Failed {
                    member.be_good();
                    let drive = member.drive();
                    let left = left_unreadable(stripes, path, array, drive);
                    self.rebuilt = Some(now);
                    let what = format!("rebuild done after {took:.1} s{left}");
                    path.log.note(now, event, subject, what);
                }
            }
            Task::Copyback { member, to } => {
                volume.places_mut().count_change();
                let spread = volume.places().of(member).spare().is_some();
                let spare = volume.places_mut().of_mut(member).move_to(to);
                if !spread {
                    path.cut_off(spare, member);
                }
                let left = left_unreadable(stripes, path, array, to);
                let what = format!("copyback done after {took:.1} s{left}");
                path.log.note(now, event, subject, what);
                if !spread {
                    self.be_spare(stripes, path, array, spare, now);
                }
            }
            Task::Patrol => {
                let what = format!("patrol read done after {took:.1} s");
                path.log.note(now, event, subject, what);
            }
            Task::Check => {
                let what = format!("consistency check done after {took:.1} s");
                path.log.note(now, event, subject, what);
            }
        }
    }

    /// The power fails: rows in progress are gone.
    pub(crate) fn power_fails(&mut self) {
        for tasks in &mut self.of_array {
            tasks.in_flight = 0;
            tasks.done.clear();
            let all = tasks.by_urgency.iter_mut();
            all.for_each(|task| task.go_back(RowId::NONE));
        }
    }

    /// The power is back: the tasks of all arrays go on.
    pub(crate) fn power_back(&mut self, stripes: &Stripes, path: &mut IoPath, now: Time) {
        for tasks in &mut self.of_array {
            tasks.schedule_step(stripes, path, now);
        }
    }
}

/// What the log says of sectors that a drive which has been filled does not give.
fn left_unreadable(stripes: &Stripes, path: &IoPath, array: ArrayId, drive: DriveId) -> String {
    let geometry = stripes.state().volume(array).geometry();
    let end = geometry.rows() * geometry.unit();
    let left = path.drives[drive]
        .health
        .unreadable
        .within(ByteRange::new(0, end));
    match left.iter().map(|range| range.bytes).sum() {
        0u64 => String::new(),
        bytes => {
            let name = &path.drives[drive].name;
            format!("; {bytes} bytes of {name} are unreadable")
        }
    }
}
