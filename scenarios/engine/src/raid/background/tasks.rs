//! The tasks of one array: how far each is, which comes first, and when the next step is due.

use crate::ids::{ArrayId, DriveId, JobId, RowId, TaskId};
use crate::layout::Place;
use crate::path::IoPath;
use crate::plan::{ArrayPlan, Plan};
use crate::raid::background::task::Task;
use crate::raid::background::window::Rows;
use crate::raid::jobs::Stripes;
use crate::raid::volume::Volume;
use crate::state::event::RaidEvent;
use crate::state::log::TaskPhase;
use raidlab_kernel::{Nanos, Time};

/// A task and how far it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// Tells it from others of the array, and from itself before it was suspended.
    pub(super) id: TaskId,
    pub(super) task: Task,
    /// All rows before this one are in their place; of a patrol read and of a check they are groups:
    /// stripes or, without parity, units.
    pub(super) row: RowId,
    /// The next row to begin: those from `row` on are in progress.
    pub(super) next: RowId,
    /// Rows that have been read and wait to be followed by others.
    pub(super) owed: u32,
    /// When its first row did; none while it waits for the tasks before it.
    pub(super) began: Option<Time>,
    /// True if it has begun and waits for more urgent ones.
    pub(super) suspended: bool,
    /// What it has done since its last pause.
    pub(super) stint: Stint,
}

impl Progress {
    pub(super) fn new(id: TaskId, task: Task) -> Progress {
        Progress {
            id,
            task,
            row: RowId::new(0),
            next: RowId::new(0),
            owed: 0,
            began: None,
            suspended: false,
            stint: Stint::default(),
        }
    }

    /// The log says that it ends before it is done.
    pub(super) fn log_given_up(
        &self,
        stripes: &Stripes,
        path: &mut IoPath,
        array: ArrayId,
        now: Time,
    ) {
        let name = self.task.name(stripes, path, array);
        let what = match self.began {
            Some(began) => {
                let rows = self.task.rows(stripes, array).max(1);
                let share = 100.0 * self.row.number() as f64 / rows as f64;
                let took = now.since(began).seconds();
                format!("{name} given up after {took:.1} s, {share:.0} % done")
            }
            None => format!("{name} given up before it began"),
        };
        let subject = self.task.subject(stripes, path, array);
        let event = self.task.event(TaskPhase::GivenUp);
        path.log.note(now, event, subject, what);
    }

    /// What was in progress, and what was done from a row on, has to begin anew.
    pub(super) fn go_back(&mut self, row: RowId) {
        self.row = self.row.min(row);
        (self.next, self.owed) = (self.row, 0);
    }
}

/// Work from one pause to the next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stint {
    pub(super) began: Time,
    /// Rows that have begun, and those of them that did without asking whether the host wants the
    /// drives.
    pub(super) rows: u64,
    pub(super) unasked: u64,
    /// The host's commands wait before those of the rows that begin.
    pub(super) ahead: bool,
}

impl Stint {
    /// How long to pause behind it, so that the background has no more than its share of the time
    /// that the host wants, and moves no more than `pace` lets it.
    pub(super) fn pause(&self, share: f64, pace: Pace, now: Time) -> Nanos {
        let unasked = self.unasked as f64 / self.rows.max(1) as f64;
        let took = now.since(self.began).0 as f64;
        let for_host = match pace.while_wanted(self.unasked, took as u64) {
            Some(least) => least,
            None => (took * unasked * (1.0 - share) / share) as u64,
        };
        Nanos(for_host.max(pace.ahead(self.rows, took as u64)))
    }

    /// True if a stream may go on.
    pub(super) fn may_follow(&self, pace: Pace, now: Time) -> bool {
        pace.ahead(self.rows, now.since(self.began).0) < Pace::SLEEP
    }
}

/// How fast rows of an array may follow each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
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
pub(super) struct Tasks {
    array: ArrayId,
    /// Share of the time that they have while the host wants the drives.
    pub(super) share: f64,
    pub(super) pace: Pace,
    /// How many rows are in progress.
    pub(super) rows: Rows,
    /// Share of the rows that is in place when a rebuild begins.
    rebuild_from: f64,
    /// By urgency, the first one running.
    pub(super) by_urgency: Vec<Progress>,
    /// When the next step is due; never if none is.
    pub(super) next_step: Time,
    /// Rows of the first task that are in progress.
    pub(super) in_flight: u32,
    /// Jobs of those that are done, and hold their locks until all before them are.
    pub(super) done: Vec<JobId>,
    /// Drives that take the place of those that fail, the next one last.
    pub(super) spares: Vec<DriveId>,
}

impl Tasks {
    pub(super) fn of(plan: &Plan, array: ArrayId, array_plan: &ArrayPlan) -> Tasks {
        let rows = Rows::of_array(plan, array_plan);
        Tasks {
            array,
            share: array_plan.background_share,
            pace: Pace::of(array_plan),
            rows,
            rebuild_from: array_plan.rebuild_from,
            by_urgency: Vec::new(),
            next_step: Time::NEVER,
            in_flight: 0,
            done: Vec::with_capacity(rows.most as usize),
            spares: array_plan
                .spares
                .iter()
                .rev()
                .copied()
                .map(DriveId::new)
                .collect(),
        }
    }

    /// The task that runs, or would if the array were not offline.
    pub(super) fn first(&self) -> Option<&Progress> {
        self.by_urgency.first()
    }

    pub(super) fn first_mut(&mut self) -> Option<&mut Progress> {
        self.by_urgency.first_mut()
    }

    /// Only jobs of the first task count; the array knows its number.
    pub(super) fn name_first(&self, stripes: &mut Stripes) {
        let first = self.first().map(|first| first.id);
        if let Some(volume) = stripes.state_mut().volumes_mut().get_mut(self.array) {
            volume.set_task(first);
        }
    }

    /// The row that a rebuild begins with.
    pub(super) fn first_row(&self, volume: &Volume) -> u64 {
        (volume.geometry().rows() as f64 * self.rebuild_from) as u64
    }

    /// No row of the first task is in progress: it leaves the drives to the host, or is
    /// done.
    pub(super) fn pause(&mut self, stripes: &Stripes, path: &mut IoPath, now: Time) {
        if let Some(task) = self.by_urgency.first() {
            let done = task.row.number() >= task.task.rows(stripes, self.array);
            let pause = task.stint.pause(self.share, self.pace, now);
            self.schedule_step(stripes, path, if done { now } else { now + pause });
        }
    }

    /// The background of the array runs its next step at `at`.
    pub(super) fn schedule_step(&mut self, stripes: &Stripes, path: &mut IoPath, at: Time) {
        if let Some(volume) = stripes.state().volumes().get(self.array) {
            let idle = self.next_step == Time::NEVER && self.in_flight == 0 && !volume.is_offline();
            if idle && !self.by_urgency.is_empty() {
                self.next_step = at;
                path.calendar
                    .push(at, RaidEvent::Background(self.array).into());
            }
        }
    }

    /// The drive that a row job fills, if its task is the one that runs.
    pub(super) fn filled_by(&self, stripes: &Stripes, index: JobId) -> Option<DriveId> {
        let job = &stripes.state().jobs()[index];
        let first = self.first()?;
        if job.work().task() != Some(first.id) {
            return None;
        }
        match first.task {
            Task::Rebuild { member } => {
                let volume = stripes.state().volume(job.array());
                let offset = job.work().row()?.number() * volume.geometry().unit();
                Some(volume.drive_at(Place { member, offset }))
            }
            Task::Copyback { to, .. } => Some(to),
            Task::Patrol | Task::Check => None,
        }
    }

    /// Takes the job whose row is the next to be in its place out of those that are done; any, if
    /// their order does not matter any more.
    pub(super) fn next_done(&mut self, stripes: &Stripes, in_order: bool) -> Option<JobId> {
        let row = self.by_urgency.first().map(|task| task.row);
        let mut done = self.done.iter();
        let at =
            done.position(|&job| !in_order || stripes.state().jobs()[job].work().row() == row)?;
        Some(self.done.swap_remove(at))
    }
}
