//! What goes on in the background of an array.

use crate::ids::DriveId;
use crate::state::log::{EventKind, TaskKind, TaskPhase};
use crate::state::slowest::Beside;

/// What goes on in the background of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// A member's data are computed anew, row by row.
    Rebuild { member: u32 },
    /// A member's data are copied to the drive that replaces its spare.
    Copyback { member: u32, to: DriveId },
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

    /// The member that it fills, if it fills one.
    pub fn member(self) -> Option<u32> {
        match self {
            Task::Rebuild { member } | Task::Copyback { member, .. } => Some(member),
            Task::Patrol | Task::Check => None,
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
}
