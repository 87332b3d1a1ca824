//! A task in the background of an array: what it does, what it is called, how many rows it has.

use crate::ids::{ArrayId, DriveId, MemberId, RowId};
use crate::path::IoPath;
use crate::raid::jobs::Stripes;
use crate::state::log::{EventKind, TaskKind, TaskPhase};
use crate::state::slowest::Beside;

/// What goes on in the background of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// A member's data are computed anew, row by row.
    Rebuild { member: MemberId },
    /// A member's data are copied to the drive that replaces its spare.
    Copyback { member: MemberId, to: DriveId },
    /// Every unit is read, of all members at once, to meet unreadable sectors while they can be repaired.
    Patrol,
    /// Every stripe's parity is compared with its data, every unit's copies with each other, and
    /// made anew where they differ.
    Check,
}

impl Task {
    /// What it is to requests that meet it.
    pub fn beside(self) -> Beside {
        match self {
            Task::Rebuild { .. } => Beside::Rebuild,
            Task::Copyback { .. } => Beside::Copyback,
            Task::Patrol => Beside::Patrol,
            Task::Check => Beside::Check,
        }
    }

    /// What the log calls a phase of it.
    pub(super) fn event(self, phase: TaskPhase) -> EventKind {
        let kind = match self {
            Task::Rebuild { .. } => TaskKind::Rebuild,
            Task::Copyback { .. } => TaskKind::Copyback,
            Task::Patrol => TaskKind::PatrolRead,
            Task::Check => TaskKind::ConsistencyCheck,
        };
        EventKind::Task(kind, phase)
    }

    /// Less comes first: what makes the array whole again, then what only moves its data, then what only
    /// looks for faults.
    pub(super) fn urgency(self) -> u32 {
        match self {
            Task::Rebuild { .. } => 0,
            Task::Copyback { .. } => 1,
            Task::Patrol | Task::Check => 2,
        }
    }

    /// The member that it fills, if it fills one.
    pub fn member(self) -> Option<MemberId> {
        match self {
            Task::Rebuild { member } | Task::Copyback { member, .. } => Some(member),
            Task::Patrol | Task::Check => None,
        }
    }

    /// The first row from `row` on at which it has something to do.
    pub(super) fn next_row(self, stripes: &Stripes, array: ArrayId, row: RowId) -> RowId {
        let geometry = stripes.state().volume(array).geometry();
        let of = |member| geometry.next_row(member, row);
        self.member().map_or(row, of)
    }

    /// Rows that it has left from one on, counted as far as `most`.
    pub(super) fn rows_left(self, stripes: &Stripes, array: ArrayId, row: RowId, most: u64) -> u64 {
        let geometry = stripes.state().volume(array).geometry();
        let of = |member| geometry.rows_left(member, row, most);
        let all = self.rows(stripes, array);
        self.member().map_or(all - row.number(), of)
    }

    /// The drive or the array that a task of an array is about.
    pub(super) fn subject(self, stripes: &Stripes, path: &IoPath, array: ArrayId) -> String {
        let drive = match self {
            Task::Rebuild { member } => stripes.state().volume(array).places().of(member).drive(),
            Task::Copyback { to, .. } => to,
            Task::Patrol | Task::Check => return path.arrays[array].name.clone(),
        };
        path.drives[drive].name.clone()
    }

    /// What a task of an array is called in the log.
    pub(super) fn name(self, stripes: &Stripes, path: &IoPath, array: ArrayId) -> String {
        let drive = |drive: DriveId| &path.drives[drive].name;
        let name = &path.arrays[array].name;
        match self {
            Task::Rebuild { member } => {
                let member = stripes.state().volume(array).places().of(member);
                let name = drive(member.drive());
                match member.spare() {
                    Some(_) => format!("rebuild of {name} on distributed spare space"),
                    None => format!("rebuild on {name}"),
                }
            }
            Task::Copyback { to, .. } => format!("copyback to {}", drive(to)),
            Task::Patrol => format!("patrol read of {name}"),
            Task::Check => format!("consistency check of {name}"),
        }
    }

    /// The rows of a task; of a patrol read and of a check the groups, none without redundancy.
    pub(super) fn rows(self, stripes: &Stripes, array: ArrayId) -> u64 {
        let volume = stripes.state().volume(array);
        match self {
            Task::Patrol | Task::Check if volume.geometry().is_redundant() => volume.groups().0,
            Task::Patrol | Task::Check => 0,
            Task::Rebuild { .. } | Task::Copyback { .. } => volume.geometry().rows(),
        }
    }
}
