//! Work in the background of an array: rebuild, copyback, patrol read, consistency check. One task is under
//! way at a time, the most urgent one; others wait, or are suspended where they are. Each goes row by row
//! (see `rows`), and leaves the drives to the host for a share of the time while the host wants them.

pub(crate) mod rebuild;
pub(crate) mod rows;
mod task;

use crate::ids::{ArrayId, DriveId, JobId};
use crate::path::Path;
use crate::plan::{ArrayPlan, Plan};
use crate::raid::background::rows::Rows;
pub(crate) use crate::raid::background::task::Task;
use crate::raid::jobs::Stripes;
use crate::raid::member::State;
use crate::raid::volume::Volume;
use crate::state::event::RaidEvent;
use crate::state::log::TaskPhase;
use raidlab_kernel::{Nanos, Table, Time};

/// A task and how far it is.
#[derive(Clone, Copy, Debug)]
struct Progress {
    /// Tells it from others of the array, and from itself before it was suspended.
    id: u32,
    task: Task,
    /// All rows before this one are in their place; of a patrol read and of a check they are groups:
    /// stripes or, without parity, units.
    row: u64,
    /// The next row to begin: those from `row` on are in progress.
    next: u64,
    /// Rows that have been read and wait to be followed by others.
    owed: u32,
    /// When its first row did; none while it waits for the tasks before it.
    began: Option<Time>,
    /// True if it has begun and waits for more urgent ones.
    suspended: bool,
    /// What it has done since its last pause.
    stint: Stint,
}

impl Progress {
    fn new(id: u32, task: Task) -> Progress {
        Progress {
            id,
            task,
            row: 0,
            next: 0,
            owed: 0,
            began: None,
            suspended: false,
            stint: Stint::default(),
        }
    }

    /// What was in progress, and what was done from a row on, has to begin anew.
    fn go_back(&mut self, row: u64) {
        self.row = self.row.min(row);
        (self.next, self.owed) = (self.row, 0);
    }
}

/// Work from one pause to the next.
#[derive(Clone, Copy, Debug, Default)]
struct Stint {
    began: Time,
    /// Rows that have begun, and those of them that did without asking whether the host wants the
    /// drives.
    rows: u64,
    unasked: u64,
    /// The host's commands wait before those of the rows that begin.
    ahead: bool,
}

impl Stint {
    /// How long to pause behind it, so that the background has no more than its share of the time
    /// that the host wants, and moves no more than `pace` lets it.
    fn pause(&self, share: f64, pace: Pace, now: Time) -> Nanos {
        let unasked = self.unasked as f64 / self.rows.max(1) as f64;
        let took = now.since(self.began).0 as f64;
        let for_host = match pace.while_wanted(self.unasked, took as u64) {
            Some(least) => least,
            None => (took * unasked * (1.0 - share) / share) as u64,
        };
        Nanos(for_host.max(pace.ahead(self.rows, took as u64)))
    }

    /// True if a stream may go on.
    fn may_follow(&self, pace: Pace, now: Time) -> bool {
        pace.ahead(self.rows, now.since(self.began).0) < Pace::SLEEP
    }
}

/// How fast rows of an array may follow each other.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// Time that each row has at least; 0 for no limit.
    row_ns: u64,
    /// Time that each has while the host wants the drives; 0 where a share of the time decides.
    wanted_row_ns: u64,
}

impl Pace {
    /// A stream that is so far ahead of its pace sleeps, as Linux md does for half a second
    /// (`md_do_sync` in drivers/md/md.c).
    const SLEEP: u64 = 500_000_000;

    fn of(array: &ArrayPlan) -> Pace {
        let row_ns = |rate: u64| {
            let unit = array.stripe_unit_bytes.saturating_mul(1_000_000_000);
            unit.checked_div(rate).unwrap_or(0)
        };
        Pace {
            row_ns: row_ns(array.background_bytes_per_s),
            wanted_row_ns: row_ns(array.md.least_bytes_per_s),
        }
    }

    /// The pause behind `rows` that began without asking and took `took`, so that the task keeps the
    /// speed that md grants it while the host wants the drives (`speed_limit_min` in drivers/md/md.c);
    /// none where a share of the time decides.
    fn while_wanted(self, rows: u64, took: u64) -> Option<u64> {
        let least = rows.saturating_mul(self.wanted_row_ns);
        (self.wanted_row_ns > 0).then(|| least.saturating_sub(took))
    }

    /// Nanoseconds by which `rows` that took `took` are ahead.
    fn ahead(self, rows: u64, took: u64) -> u64 {
        rows.saturating_mul(self.row_ns).saturating_sub(took)
    }
}

/// The work in the background of one array, and the drives that wait for it.
#[derive(Debug)]
struct Tasks {
    /// Share of the time that they have while the host wants the drives.
    share: f64,
    pace: Pace,
    /// How many rows are in progress.
    rows: Rows,
    /// Share of the rows that is in place when a rebuild begins.
    rebuild_from: f64,
    /// By urgency, the first one running.
    by_urgency: Vec<Progress>,
    /// When the next step is due; never if none is.
    next_step: Time,
    /// Rows of the first task that are in progress.
    in_flight: u32,
    /// Jobs of those that are done, and hold their locks until all before them are.
    done: Vec<JobId>,
    /// Drives that take the place of those that fail, the next one last.
    spares: Vec<DriveId>,
}

impl Tasks {
    fn of(plan: &Plan, array: &ArrayPlan) -> Tasks {
        let rows = Rows::of_array(plan, array);
        Tasks {
            share: array.background_share,
            pace: Pace::of(array),
            rows,
            rebuild_from: array.rebuild_from,
            by_urgency: Vec::new(),
            next_step: Time::NEVER,
            in_flight: 0,
            done: Vec::with_capacity(rows.most as usize),
            spares: array
                .spares
                .iter()
                .rev()
                .copied()
                .map(DriveId::new)
                .collect(),
        }
    }
}

/// The work in the background of all arrays.
#[derive(Debug)]
pub(crate) struct Background {
    of_array: Table<ArrayId, Tasks>,
    /// Numbers tasks.
    begun: u32,
    /// When the last rebuild was done, if none is running.
    rebuilt: Option<Time>,
}

impl Background {
    /// The arrays of a plan, without anything to do.
    pub fn new(plan: &Plan) -> Background {
        let arrays = plan.arrays.iter();
        Background {
            of_array: arrays.map(|array| Tasks::of(plan, array)).collect(),
            begun: 0,
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

    /// The task of an array that runs, or would if the array were not offline.
    fn first(&self, array: ArrayId) -> Option<&Progress> {
        self.tasks(array).by_urgency.first()
    }

    fn first_mut(&mut self, array: ArrayId) -> Option<&mut Progress> {
        self.tasks_mut(array).by_urgency.first_mut()
    }

    /// Only jobs of an array's first task count; the array knows its number.
    fn name_first(&self, stripes: &mut Stripes, array: ArrayId) {
        let first = self.first(array).map(|first| first.id);
        if let Some(volume) = stripes.volumes_mut().get_mut(array) {
            volume.set_task(first);
        }
    }

    /// The drive or the array that a task of an array is about.
    fn task_subject(&self, stripes: &Stripes, path: &Path, array: ArrayId, task: Task) -> String {
        let drive = match task {
            Task::Rebuild { member } => stripes.volume(array).member(member).drive(),
            Task::Copyback { to, .. } => to,
            Task::Patrol | Task::Check => return path.arrays[array].name.clone(),
        };
        path.drives[drive].name.clone()
    }

    /// What a task of an array is called in the log.
    fn task_name(&self, stripes: &Stripes, path: &Path, array: ArrayId, task: Task) -> String {
        let drive = |drive: DriveId| &path.drives[drive].name;
        let name = &path.arrays[array].name;
        match task {
            Task::Rebuild { member } => {
                let member = stripes.volume(array).member(member);
                match member.spare() {
                    Some(_) => {
                        format!(
                            "rebuild of {} on distributed spare space",
                            drive(member.drive())
                        )
                    }
                    None => format!("rebuild on {}", drive(member.drive())),
                }
            }
            Task::Copyback { to, .. } => format!("copyback to {}", drive(to)),
            Task::Patrol => format!("patrol read of {name}"),
            Task::Check => format!("consistency check of {name}"),
        }
    }

    /// Takes out the tasks of an array that end before they are done; those of an array that is
    /// offline stay as they are.
    pub(crate) fn end_tasks(
        &mut self,
        stripes: &mut Stripes,
        path: &mut Path,
        array: ArrayId,
        now: Time,
        ends: impl Fn(Task) -> bool,
    ) {
        let volume = stripes.volumes().get(array);
        if volume.is_none_or(|volume| volume.is_offline()) {
            return;
        }
        let of = |task: &Progress| ends(task.task);
        let tasks = &mut self.tasks_mut(array).by_urgency;
        let ended: Vec<Progress> = tasks.iter().copied().filter(of).collect();
        tasks.retain(|task| !of(task));
        for task in ended.iter().filter(|task| task.began.is_some()) {
            stripes
                .jobs_mut()
                .note_beside(array, task.task.beside(), now);
        }
        self.name_first(stripes, array);
        self.log_given_up(stripes, path, array, &ended, now);
    }

    /// No task of an array goes on: it is offline. They stay as far as they are.
    pub(crate) fn give_up(&self, stripes: &Stripes, path: &mut Path, array: ArrayId, now: Time) {
        let tasks = &self.tasks(array).by_urgency;
        self.log_given_up(stripes, path, array, tasks, now);
    }

    fn log_given_up(
        &self,
        stripes: &Stripes,
        path: &mut Path,
        array: ArrayId,
        tasks: &[Progress],
        now: Time,
    ) {
        for task in tasks {
            let name = self.task_name(stripes, path, array, task.task);
            let what = match task.began {
                Some(began) => {
                    let rows = task_rows(stripes, array, task.task).max(1);
                    let share = 100.0 * task.row as f64 / rows as f64;
                    let took = now.since(began).seconds();
                    format!("{name} given up after {took:.1} s, {share:.0} % done")
                }
                None => format!("{name} given up before it began"),
            };
            let subject = self.task_subject(stripes, path, array, task.task);
            path.log(now, task.task.event(TaskPhase::GivenUp), subject, what);
        }
    }

    /// A task joins those of an array; one that is offline has none, one without redundancy nothing to
    /// check.
    pub(crate) fn start_task(
        &mut self,
        stripes: &mut Stripes,
        path: &mut Path,
        array: ArrayId,
        task: Task,
        now: Time,
    ) {
        let volume = stripes.volumes().get(array);
        if volume.is_some_and(|volume| volume.is_offline()) {
            let name = self.task_name(stripes, path, array, task);
            let subject = self.task_subject(stripes, path, array, task);
            let what = format!("no {name}: the array is offline");
            return path.log(now, task.event(TaskPhase::Refused), subject, what);
        }
        let of_the_medium = matches!(task, Task::Patrol | Task::Check);
        if of_the_medium && volume.is_some_and(|volume| !volume.geometry().is_redundant()) {
            let name = self.task_name(stripes, path, array, task);
            let why = "without redundancy there is nothing to compare with or repair from";
            let subject = self.task_subject(stripes, path, array, task);
            let what = format!("no {name}: {why}");
            return path.log(now, task.event(TaskPhase::Refused), subject, what);
        }
        let mut progress = Progress::new(self.next_id(), task);
        if let (Task::Rebuild { member } | Task::Copyback { member, .. }, Some(volume)) =
            (task, volume)
        {
            let first = match task {
                Task::Rebuild { .. } => self.first_row(volume, array),
                _ => 0,
            };
            progress.row = volume.geometry().next_row(member, first);
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
            self.name_first(stripes, array);
            self.suspend(stripes, path, array, now);
        }
        self.schedule_step(stripes, path, array, now);
    }

    /// The row that a rebuild begins with.
    fn first_row(&self, volume: &Volume, array: ArrayId) -> u64 {
        (volume.geometry().rows() as f64 * self.tasks(array).rebuild_from) as u64
    }

    fn next_id(&mut self) -> u32 {
        self.begun += 1;
        self.begun - 1
    }

    /// The task behind an array's first one is no longer active: what it has begun does not count.
    fn suspend(&mut self, stripes: &mut Stripes, path: &mut Path, array: ArrayId, now: Time) {
        let second = self.tasks(array).by_urgency.get(1);
        if !second.is_some_and(|task| task.began.is_some() && !task.suspended) {
            return;
        }
        let id = self.next_id();
        let second = &mut self.tasks_mut(array).by_urgency[1];
        second.id = id;
        second.go_back(u64::MAX);
        second.suspended = true;
        let task = second.task;
        let name = self.task_name(stripes, path, array, task);
        stripes.jobs_mut().note_beside(array, task.beside(), now);
        let subject = self.task_subject(stripes, path, array, task);
        let what = format!("{name} suspended");
        path.log(now, task.event(TaskPhase::Suspended), subject, what);
    }

    /// An array's first task begins, or goes on behind a pause.
    pub(crate) fn go_on(
        &mut self,
        stripes: &mut Stripes,
        path: &mut Path,
        array: ArrayId,
        now: Time,
    ) {
        let Some(volume) = stripes.volumes().get(array) else {
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
            let name = self.task_name(stripes, path, array, task);
            let subject = self.task_subject(stripes, path, array, task);
            path.log(now, task.event(phase), subject, format!("{name} {starts}"));
        }
        if row >= task_rows(stripes, array, task) {
            return self.finish_task(stripes, path, array, now);
        }
        self.begin_step(stripes, path, array, now);
    }

    /// No row of an array's first task is in progress: it leaves the drives to the host, or is
    /// done.
    fn pause(&mut self, stripes: &Stripes, path: &mut Path, array: ArrayId, now: Time) {
        let tasks = self.tasks(array);
        if let Some(task) = tasks.by_urgency.first() {
            let done = task.row >= task_rows(stripes, array, task.task);
            let pause = task.stint.pause(tasks.share, tasks.pace, now);
            self.schedule_step(stripes, path, array, if done { now } else { now + pause });
        }
    }

    fn finish_task(&mut self, stripes: &mut Stripes, path: &mut Path, array: ArrayId, now: Time) {
        let done = self.tasks_mut(array).by_urgency.remove(0);
        stripes
            .jobs_mut()
            .note_beside(array, done.task.beside(), now);
        self.name_first(stripes, array);
        let took = now.since(done.began.unwrap_or(now)).seconds();
        self.schedule_step(stripes, path, array, now);
        let subject = self.task_subject(stripes, path, array, done.task);
        let event = done.task.event(TaskPhase::Done);
        let volume = stripes.volume_mut(array);
        match done.task {
            Task::Rebuild { member } => {
                let member = volume.member_mut(member);
                if member.state() != State::Failed {
                    member.be_good();
                    let drive = member.drive();
                    let left = left_unreadable(stripes, path, array, drive);
                    self.rebuilt = Some(now);
                    let what = format!("rebuild done after {took:.1} s{left}");
                    path.log(now, event, subject, what);
                }
            }
            Task::Copyback { member, to } => {
                volume.count_change();
                let spread = volume.member(member).spare().is_some();
                let spare = volume.member_mut(member).move_to(to);
                if !spread {
                    path.cut_off(spare, member);
                }
                let left = left_unreadable(stripes, path, array, to);
                let what = format!("copyback done after {took:.1} s{left}");
                path.log(now, event, subject, what);
                if !spread {
                    self.be_spare(stripes, path, array, spare, now);
                }
            }
            Task::Patrol => {
                let what = format!("patrol read done after {took:.1} s");
                path.log(now, event, subject, what);
            }
            Task::Check => {
                let what = format!("consistency check done after {took:.1} s");
                path.log(now, event, subject, what);
            }
        }
    }

    /// The background of an array runs its next step at `at`.
    fn schedule_step(&mut self, stripes: &Stripes, path: &mut Path, array: ArrayId, at: Time) {
        if let Some(volume) = stripes.volumes().get(array) {
            let tasks = self.tasks_mut(array);
            let idle =
                tasks.next_step == Time::NEVER && tasks.in_flight == 0 && !volume.is_offline();
            if idle && !tasks.by_urgency.is_empty() {
                tasks.next_step = at;
                path.calendar.push(at, RaidEvent::Background(array).into());
            }
        }
    }

    /// The power fails: rows in progress are gone.
    pub(crate) fn power_fails(&mut self) {
        for tasks in &mut self.of_array {
            tasks.in_flight = 0;
            tasks.done.clear();
            let all = tasks.by_urgency.iter_mut();
            all.for_each(|task| task.go_back(u64::MAX));
        }
    }

    /// The power is back: the tasks of all arrays go on.
    pub(crate) fn power_back(&mut self, stripes: &Stripes, path: &mut Path, now: Time) {
        for array in self.of_array.ids() {
            self.schedule_step(stripes, path, array, now);
        }
    }
}

/// The rows of a task; of a patrol read and of a check the groups, none without redundancy.
fn task_rows(stripes: &Stripes, array: ArrayId, task: Task) -> u64 {
    let volume = stripes.volume(array);
    match task {
        Task::Patrol | Task::Check if volume.geometry().is_redundant() => volume.groups().0,
        Task::Patrol | Task::Check => 0,
        Task::Rebuild { .. } | Task::Copyback { .. } => volume.geometry().rows(),
    }
}

/// What the log says of sectors that a drive which has been filled does not give.
fn left_unreadable(stripes: &Stripes, path: &Path, array: ArrayId, drive: DriveId) -> String {
    let geometry = stripes.volume(array).geometry();
    let end = geometry.rows() * geometry.unit();
    let left = path.drives[drive].health.unreadable.within(0, end);
    match left.iter().map(|(start, end)| end - start).sum() {
        0u64 => String::new(),
        bytes => {
            let name = &path.drives[drive].name;
            format!("; {bytes} bytes of {name} are unreadable")
        }
    }
}
